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

/** The place of an adversary's tests in a project, where the test framework finds them. */
interface Layout {
  /** A text for the adversary: where its files will be, and what they may use. */
  readonly description: string;
  /** The path for a file of this name, relative to the project. */
  pathFor(name: string): string;
}

const inAdversaryFolder = (name: string): string => `${adversaryFolder}/${name}`;

const layouts: Readonly<Record<Framework | "command", Layout>> = {
  vitest: {
    description: javascriptText("vitest"),
    pathFor: (name) => inAdversaryFolder(withTestEnding(name, /\.(?:test|spec)\.[cm]?[jt]sx?$/, ".test.js")),
  },
  jest: {
    description: javascriptText("jest"),
    pathFor: (name) => inAdversaryFolder(withTestEnding(name, /\.(?:test|spec)\.[cm]?[jt]sx?$/, ".test.js")),
  },
  mocha: {
    description: javascriptText("mocha"),
    pathFor: (name) => inAdversaryFolder(withTestEnding(name, /\.[cm]?js$/, ".cjs")),
  },
  "node:test": {
    description: javascriptText("node:test"),
    pathFor: (name) => inAdversaryFolder(withTestEnding(name, /\.test\.[cm]?js$/, ".test.mjs")),
  },
  pytest: { description: pythonText("pytest"), pathFor: (name) => inAdversaryFolder(pythonName(name)) },
  unittest: { description: pythonText("unittest"), pathFor: (name) => inAdversaryFolder(pythonName(name)) },
  cargo: {
    description:
      "They are integration tests of cargo, each file a crate of its own in tests/: use the library by its name.",
    pathFor: (name) => `tests/ralph_adversarial_${name.replace(/\.rs$/, "").replace(/\W/g, "_")}.rs`,
  },
  go: {
    description: "They stand in the project's root and belong to the package there; names of files end with _test.go.",
    pathFor: (name) => `ralph_adversarial_${name.replace(/(?:_test)?\.go$/, "").replace(/\W/g, "_")}_test.go`,
  },
  command: {
    description: "Nothing runs them: say in findings what you found by reading, and leave tests empty.",
    pathFor: inAdversaryFolder,
  },
};

function javascriptText(framework: string): string {
  return `They are files of ${framework} in the folder ${adversaryFolder}/ of the project's root, so the project's modules are at "../…".`;
}

function pythonText(framework: string): string {
  return `They are files of ${framework} in the folder ${adversaryFolder}/; they are run from the project's root, so its modules are imported by their usual names.`;
}

const withTestEnding = (name: string, endingPattern: RegExp, ending: string): string =>
  endingPattern.test(name) ? name : `${name.replace(/\.[^.]*$/, "")}${ending}`;

const pythonName = (name: string): string => {
  const base = name.replace(/\.py$/, "").replace(/\W/g, "_");
  return `${base.startsWith("test_") ? base : `test_${base}`}.py`;
};

const layoutOf = (folder: string, testCommand: string | undefined): Layout =>
  layouts[testCommand === undefined ? (detectTests(folder)[0]?.framework ?? "command") : "command"];

/** A text about the place of the adversary's tests, for its brief. */
export function whereTestsRun(folder: string, testCommand: string | undefined): string {
  const { dependencies, devDependencies } = manifestOf(folder) ?? {};
  const libraries = [
    ...("fast-check" in { ...dependencies, ...devDependencies } ? ["fast-check"] : []),
    ...(entriesOf(folder).some(
      (name) => /requirements.*\.txt$|pyproject\.toml$/.test(name) && /\bhypothesis\b/.test(textOf(join(folder, name))),
    )
      ? ["Hypothesis"]
      : []),
    ...(/\bproptest\b/.test(textOf(join(folder, "Cargo.toml"))) ? ["proptest"] : []),
  ];
  const library =
    libraries.length === 0
      ? " No library for property tests is installed."
      : ` For property tests ${libraries.join(", ")} is installed.`;
  return `${layoutOf(folder, testCommand).description}${library}`;
}

/** Creates the folder of a file. Returns false if the folder leads out of the project, for example by a link. */
function makeFolderOf(folder: string, path: string): boolean {
  const subfolder = dirname(path);
  try {
    mkdirSync(join(folder, subfolder), { recursive: true });
    return realpathSync(join(folder, subfolder)) === join(realpathSync(folder), subfolder);
  } catch {
    return false;
  }
}

/**
 * Writes the tests into the project. `remove` removes them again, or moves them to a separate folder. A test is left
 * out if its file exists already, or if its folder leads out of the project.
 */
export function placeTests(folder: string, { tests }: AdversaryResult, testCommand: string | undefined) {
  const layout = layoutOf(folder, testCommand);
  removeRemainingTests(folder);
  const written: string[] = [];
  for (const { file, content } of testCommand === undefined ? tests : []) {
    const path = layout.pathFor(file.replace(/^\.+/, ""));
    if (!makeFolderOf(folder, path) || existsSync(join(folder, path))) continue;
    writeFileSync(join(folder, path), content, { flag: "wx" });
    written.push(path);
  }
  return {
    written,
    remove(shouldKeep: boolean): void {
      for (const path of written) {
        if (shouldKeep && path.startsWith(`${adversaryFolder}/`)) {
          const keptPath = path.replace(adversaryFolder, keptTestsFolder);
          // A test may have deleted itself.
          if (!existsSync(join(folder, path)) || !makeFolderOf(folder, keptPath)) continue;
          rmSync(join(folder, keptPath), { recursive: true, force: true });
          renameSync(join(folder, path), join(folder, keptPath));
        } else if (!shouldKeep) rmSync(join(folder, path), { force: true });
      }
      removeRemainingTests(folder);
    },
  };
}

/** Removes tests of an adversary that remained in the project after a kill. */
export function removeRemainingTests(folder: string): void {
  rmSync(join(folder, adversaryFolder), { recursive: true, force: true });
  for (const [subfolder, pattern] of [
    ["tests", /^ralph_adversarial_\w+\.rs$/],
    [".", /^ralph_adversarial_\w+_test\.go$/],
  ] as const) {
    if (lstatSync(join(folder, subfolder), { throwIfNoEntry: false })?.isDirectory() !== true) continue;
    for (const name of readdirSync(join(folder, subfolder)))
      if (pattern.test(name)) rmSync(join(folder, subfolder, name), { force: true });
  }
}
