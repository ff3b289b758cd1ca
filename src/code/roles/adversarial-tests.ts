import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { detectTests, type Framework } from "../../task/test-runs/detect.js";
import { entriesOf, manifestOf, textOf } from "../../task/place/project.js";
import { adversaryFolder, keptTestsFolder } from "../project-files/layout.js";
import type { AdversaryResult } from "../generated/result-adversary.js";

/** How an adversary's tests are laid into a project, so that its framework finds them and nothing else changes. */
interface Layout {
  /** For the adversary: where its files will stand, and what it may use. */
  readonly words: string;
  /** Where a file of this name goes, relative to the project. */
  at(name: string): string;
}

const inFolder = (name: string): string => `${adversaryFolder}/${name}`;

const layouts: Readonly<Record<Framework | "command", Layout>> = {
  vitest: { words: js("vitest"), at: (name) => inFolder(named(name, /\.(?:test|spec)\.[cm]?[jt]sx?$/, ".test.js")) },
  jest: { words: js("jest"), at: (name) => inFolder(named(name, /\.(?:test|spec)\.[cm]?[jt]sx?$/, ".test.js")) },
  mocha: { words: js("mocha"), at: (name) => inFolder(named(name, /\.[cm]?js$/, ".cjs")) },
  "node:test": { words: js("node:test"), at: (name) => inFolder(named(name, /\.test\.[cm]?js$/, ".test.mjs")) },
  pytest: { words: python("pytest"), at: (name) => inFolder(pythonName(name)) },
  unittest: { words: python("unittest"), at: (name) => inFolder(pythonName(name)) },
  cargo: {
    words: "They are integration tests of cargo, each file a crate of its own in tests/: use the library by its name.",
    at: (name) => `tests/ralph_adversarial_${name.replace(/\.rs$/, "").replace(/\W/g, "_")}.rs`,
  },
  go: {
    words: "They stand in the project's root and belong to the package there; names of files end with _test.go.",
    at: (name) => `ralph_adversarial_${name.replace(/(?:_test)?\.go$/, "").replace(/\W/g, "_")}_test.go`,
  },
  command: {
    words: "Nothing runs them: say in findings what you found by reading, and leave tests empty.",
    at: inFolder,
  },
};

function js(framework: string): string {
  return `They are files of ${framework} in the folder ${adversaryFolder}/ of the project's root, so the project's modules are at "../…".`;
}

function python(framework: string): string {
  return `They are files of ${framework} in the folder ${adversaryFolder}/; they are run from the project's root, so its modules are imported by their usual names.`;
}

const named = (name: string, wanted: RegExp, ending: string): string =>
  wanted.test(name) ? name : `${name.replace(/\.[^.]*$/, "")}${ending}`;

const pythonName = (name: string): string => {
  const plain = name.replace(/\.py$/, "").replace(/\W/g, "_");
  return `${plain.startsWith("test_") ? plain : `test_${plain}`}.py`;
};

const layoutOf = (folder: string, testCommand: string | undefined): Layout =>
  layouts[testCommand === undefined ? (detectTests(folder)[0]?.framework ?? "command") : "command"];

/** Where the adversary's tests run, in words for its brief. */
export function whereTestsRun(folder: string, testCommand: string | undefined): string {
  const { dependencies, devDependencies } = manifestOf(folder) ?? {};
  const has = [
    ...("fast-check" in { ...dependencies, ...devDependencies } ? ["fast-check"] : []),
    ...(entriesOf(folder).some(
      (name) => /requirements.*\.txt$|pyproject\.toml$/.test(name) && /\bhypothesis\b/.test(textOf(join(folder, name))),
    )
      ? ["Hypothesis"]
      : []),
    ...(/\bproptest\b/.test(textOf(join(folder, "Cargo.toml"))) ? ["proptest"] : []),
  ];
  const library =
    has.length === 0
      ? " No library for property tests is installed."
      : ` For property tests ${has.join(", ")} is installed.`;
  return `${layoutOf(folder, testCommand).words}${library}`;
}

/** Makes the folder of a file; false where it can't be one of the project's own, such as a link that an agent left. */
function madeFolderOf(folder: string, path: string): boolean {
  const within = dirname(path);
  try {
    mkdirSync(join(folder, within), { recursive: true });
    return realpathSync(join(folder, within)) === join(realpathSync(folder), within);
  } catch {
    return false;
  }
}

/**
 * Lays the tests into the project; `remove` takes them out again, or keeps them in a folder of their own. A file that
 * stands there already is left alone, and its test is left out; so is one whose folder leads out of the project.
 */
export function layTests(folder: string, { tests }: AdversaryResult, testCommand: string | undefined) {
  const layout = layoutOf(folder, testCommand);
  sweepTests(folder);
  const written: string[] = [];
  for (const { file, content } of testCommand === undefined ? tests : []) {
    const path = layout.at(file.replace(/^\.+/, ""));
    if (!madeFolderOf(folder, path) || existsSync(join(folder, path))) continue;
    writeFileSync(join(folder, path), content, { flag: "wx" });
    written.push(path);
  }
  return {
    written,
    remove(keep: boolean): void {
      for (const path of written) {
        if (keep && path.startsWith(`${adversaryFolder}/`)) {
          const kept = path.replace(adversaryFolder, keptTestsFolder);
          // A test may have deleted itself.
          if (!existsSync(join(folder, path)) || !madeFolderOf(folder, kept)) continue;
          rmSync(join(folder, kept), { recursive: true, force: true });
          renameSync(join(folder, path), join(folder, kept));
        } else if (!keep) rmSync(join(folder, path), { force: true });
      }
      sweepTests(folder);
    },
  };
}

/** Takes away what a kill left of an adversary's tests. */
export function sweepTests(folder: string): void {
  rmSync(join(folder, adversaryFolder), { recursive: true, force: true });
  for (const [within, pattern] of [
    ["tests", /^ralph_adversarial_\w+\.rs$/],
    [".", /^ralph_adversarial_\w+_test\.go$/],
  ] as const) {
    if (lstatSync(join(folder, within), { throwIfNoEntry: false })?.isDirectory() !== true) continue;
    for (const name of readdirSync(join(folder, within)))
      if (pattern.test(name)) rmSync(join(folder, within, name), { force: true });
  }
}
