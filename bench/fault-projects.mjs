// Small repositories with their tests, made of sources that lie on this machine, for the bench of the memory of fixes.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fastGlob from "fast-glob";
import { Absent, root } from "./measure.mjs";

/**
 * The repositories: `make` writes one, `sources` are the files that are mutated, `test` runs the tests. The first one
 * served to choose the rules of the memory, the others only to count.
 */
export const repositories = [
  {
    name: "semver, JavaScript, node:test",
    sources: ["lib/{classes,functions,ranges,internal}/*.js"],
    test: [process.execPath, "--test"],
    make(folder) {
      cpSync(join(root, "node_modules/semver"), join(folder, "lib"), { recursive: true });
      rmSync(join(folder, "lib/bin"), { recursive: true });
      put(folder, "package.json", JSON.stringify({ private: true, scripts: { test: "node --test" } }));
      const said = `const semver = require("../lib/index.js");\nconst said = (call) => {\n  try {\n    return JSON.parse(JSON.stringify(call() ?? null));\n  } catch (error) {\n    return error.message;\n  }\n};\n`;
      const asked = calls.semver.map((call) => `said(() => semver.${call})`);
      put(folder, "test/ask.js", `${said}console.log(JSON.stringify([${asked.join(", ")}]));\n`);
      const values = JSON.parse(execute(process.execPath, ["test/ask.js"], folder));
      rmSync(join(folder, "test/ask.js"));
      const tests = calls.semver.map(
        (call, at) =>
          `test(${JSON.stringify(call)}, () => assert.deepEqual(${asked[at]}, ${JSON.stringify(values[at])}));\n`,
      );
      const head = `const assert = require("node:assert");\nconst { test } = require("node:test");\n`;
      put(folder, "test/semver.test.js", head + said + tests.join(""));
    },
  },
  {
    name: "modules of Python's library, unittest",
    sources: ["kit/*.py"],
    test: ["python3", "-m", "unittest", "discover", "-q"],
    make(folder) {
      const names = ["textwrap", "shlex", "fnmatch", "heapq", "bisect", "colorsys", "graphlib", "fractions", "string"];
      const library = execute("python3", ["-c", "import textwrap; print(textwrap.__file__)"]);
      put(folder, "kit/__init__.py", "");
      for (const name of names)
        put(folder, `kit/${name}.py`, readFileSync(join(dirname(library), `${name}.py`), "utf8"));
      put(folder, "pyproject.toml", '[project]\nname = "kit"\nversion = "1"\n');
      put(folder, "tests/__init__.py", "");
      for (const [name, some] of Object.entries(calls.python)) {
        const script = `import json\nfrom kit import ${name}\nprint(json.dumps([repr(each) for each in [${some.join(",\n")}]]))`;
        const values = JSON.parse(execute("python3", ["-c", script], folder));
        const tests = some.map(
          (call, at) =>
            `    def test_${at}(self):\n        self.assertEqual(repr(${call}), ${JSON.stringify(values[at])})\n`,
        );
        const head = `import unittest\nfrom kit import ${name}\n\n\nclass ${name.toUpperCase()}(unittest.TestCase):\n`;
        put(folder, `tests/test_${name}.py`, head + tests.join("\n"));
      }
      put(folder, ".gitignore", "__pycache__/\n");
    },
  },
  {
    name: "modules of this repository with their tests, TypeScript, vitest",
    sources: [
      "src/text/evidence/{passage.ts,numbers/*.ts,quote-variants/rows.ts}",
      "src/engine/lib/{markup,minhash}.ts",
    ],
    test: [process.execPath, "node_modules/vitest/vitest.mjs", "run"],
    make(folder) {
      for (const name of ["src/text", "src/engine/lib"])
        cpSync(join(root, name), join(folder, name), { recursive: true });
      const tests = ["near-numbers", "passage", "rows"].map((name) => `text/evidence/${name}`);
      for (const name of [...tests, ...["markup", "minhash"].map((each) => `engine/lib/${each}`)])
        cpSync(join(root, `tests/${name}.test.ts`), join(folder, `tests/${name}.test.ts`));
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      const scripts = { test: "vitest run" };
      put(folder, "package.json", JSON.stringify({ private: true, type: "module", scripts }));
      put(folder, ".gitignore", "node_modules\n");
    },
  },
];

function put(folder, name, text) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

function execute(command, args, cwd) {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  } catch (error) {
    throw error.code === "ENOENT" ? new Absent(`${command} is not installed`) : error;
  }
}

/** What the tests of the first two repositories call; what is expected is what the sources answer as they stand. */
const calls = {
  semver: [
    ...['valid("1.2.3")', 'valid("v1.2")', 'valid("=1.2.3-beta.1+b")', 'clean("  =v1.2.3   ")', 'clean("a1")'],
    ...['inc("1.2.3", "major")', 'inc("1.2.3-rc.1", "patch")', 'inc("1.2.3", "prerelease", "beta")'],
    ...['inc("1.2.3-beta.4", "prerelease", "beta")', 'inc("1.2.3", "preminor", "x", "1")', 'inc("1.2.3", "none")'],
    ...['diff("1.2.3", "1.3.0")', 'diff("1.2.3-a", "1.2.3-b")', 'diff("1.0.0-1", "2.0.0")', 'diff("1.0.0", "1.0.0")'],
    ...['compare("1.2.3", "1.2.4")', 'compare("1.2.3-a.1", "1.2.3-a.b")', 'compare("1.2.3-a", "1.2.3")'],
    ...['compareBuild("1.0.0+a.1", "1.0.0+a.2")', 'compareBuild("1.0.0+1", "1.0.0")', 'rcompare("1.0.0", "2.0.0")'],
    ...['cmp("1.0.0", ">=", "1.0.0")', 'cmp("1.0.0", "!==", "1.0.0")', 'cmp("1.0.0", "<", "2.0.0")'],
    ...['coerce("v3.4 replaces v3.3.1")', 'coerce("42.6.7.9.3-alpha")', 'coerce("1.2.3.4", { rtl: true })'],
    ...['satisfies("1.2.3", "^1.2")', 'satisfies("2.0.0-rc.1", ">=1.0.0")', 'satisfies("1.2.3-b", "~1.2.3-a")'],
    ...['satisfies("1.4.0", "1.2.x || >=1.4.0 <2")', 'satisfies("0.2.5", "^0.2.3")', 'satisfies("0.3.0", "^0.2.3")'],
    ...['validRange("1.2 - 2.3.4")', 'validRange("^0.0.1")', 'validRange("~1")', 'validRange("x")', 'validRange("<a")'],
    ...['maxSatisfying(["1.2.3", "1.9.0", "2.0.0"], "^1")', 'minSatisfying(["1.2.3", "1.9.0", "2.0.0"], "^1")'],
    ...['minVersion(">1.2.3")', 'minVersion(">=1.0.0-0 <1.0.0")', 'gtr("2.0.0", "^1.0.0")', 'ltr("0.9.0", "^1.0.0")'],
    ...['outside("1.5.0", "^1.0.0", ">")', 'intersects("^1.2", "<1.3")', 'intersects("<1", ">2")'],
    ...['simplifyRange(["1.0.0", "1.1.0", "1.2.0", "2.0.0"], "1.0.0 || 1.1.0 || 1.2.0")'],
    ...['subset("^1.2.3", "^1")', 'subset(">2 <1", "3")', 'subset("1 || 2", ">=1 <2")', 'toComparators("1.2 || >3")'],
    ...['sort(["2.0.0", "1.0.0", "1.0.0-a"])', 'prerelease("1.2.3-a.1")', 'major("3.2.1")'],
  ],
  python: {
    textwrap: [
      ...['textwrap.wrap("The quick brown fox jumps over the lazy dog", 12)', 'textwrap.fill("a  b\\tc d", 4)'],
      ...[
        'textwrap.shorten("Hello wide world", 12)',
        'textwrap.dedent("  a\\n    b\\n  c")',
        'textwrap.indent("a\\n\\nb", "> ")',
      ],
      ...['textwrap.wrap("extraordinarily-long-hyphenated words", 10)', 'textwrap.wrap("x" * 25, 10)'],
      ...['textwrap.wrap("One two. Three four.", 40, fix_sentence_endings=True)'],
      ...[
        'textwrap.wrap("a b c d e f g", 3, max_lines=2, placeholder="")',
        'textwrap.wrap("", 5)',
        'textwrap.dedent("\\ta\\n\\t b")',
      ],
    ],
    shlex: [
      ...[
        'shlex.split("a \'b c\' \\"d e\\" f\\\\\\\\ g")',
        'shlex.quote("it\'s")',
        'shlex.quote("plain")',
        'shlex.join(["a b", "c"])',
      ],
      ...[
        'shlex.split("a # b", comments=True)',
        'list(shlex.shlex("a && b; c", punctuation_chars=True))',
        'shlex.split("")',
      ],
    ],
    fnmatch: [
      ...['fnmatch.fnmatch("a.py", "*.py")', 'fnmatch.translate("a[!b]?*")', 'fnmatch.filter(["a", "b1", "b2"], "b?")'],
      ...['fnmatch.fnmatchcase("A", "a")', 'fnmatch.translate("[a-c]x[")', 'fnmatch.translate("**a*b")'],
    ],
    heapq: [
      ...["heapq.nsmallest(2, [5, 1, 4, 2])", "heapq.nlargest(2, [5, 1, 4, 2], key=lambda x: -x)"],
      ...["list(heapq.merge([1, 4], [2, 3]))", "list(heapq.merge([4, 1], [3, 2], reverse=True))"],
      ...["heapq.nlargest(1, [3, 9])", "heapq.nsmallest(9, [3, 1])", "list(heapq.merge(['b'], ['aa'], key=len))"],
    ],
    bisect: ["bisect.bisect_left([1, 2, 2, 3], 2)", "bisect.bisect_right([1, 2, 2, 3], 2)", "bisect.bisect([1], 0)"],
    colorsys: [
      ...[
        "colorsys.rgb_to_hsv(0.2, 0.4, 0.4)",
        "colorsys.hsv_to_rgb(0.5, 0.5, 0.4)",
        "colorsys.rgb_to_hls(0.2, 0.4, 0.4)",
      ],
      ...[
        "colorsys.hls_to_rgb(0.5, 0.3, 0.3)",
        "colorsys.rgb_to_yiq(0.2, 0.4, 0.4)",
        "colorsys.yiq_to_rgb(0.2, 0.1, 0.1)",
      ],
    ],
    graphlib: [
      ...['list(graphlib.TopologicalSorter({"d": ["b", "c"], "b": ["a"], "c": ["a"]}).static_order())'],
      ...["list(graphlib.TopologicalSorter({1: [2], 3: [2], 2: []}).static_order())"],
    ],
    fractions: [
      ...[
        "fractions.Fraction(3, 6)",
        'fractions.Fraction("1.25")',
        "fractions.Fraction(1, 3) + fractions.Fraction(1, 6)",
      ],
      ...[
        "fractions.Fraction(7, 2) // fractions.Fraction(2)",
        "fractions.Fraction(7, 2) % 2",
        "round(fractions.Fraction(7, 3), 1)",
      ],
      ...[
        "fractions.Fraction(22, 7).limit_denominator(5)",
        "fractions.Fraction(1, 2) ** 2",
        "fractions.Fraction(1, 2) < 0.7",
      ],
    ],
    string: [
      ...['string.capwords("hello  big world")', 'string.Template("$a and ${b} $$").substitute(a=1, b=2)'],
      ...[
        'string.Formatter().format("{0!r:>5}{x[1]}", "a", x=[1, 2])',
        'string.Template("$a $b").safe_substitute(a=1)',
      ],
    ],
  },
};

/** Exchanges in a line of source, one of which makes a mutant. */
const exchanges = [
  [" === ", " !== "],
  [" == ", " != "],
  [" !== ", " === "],
  [" < ", " >= "],
  [" > ", " <= "],
  [" <= ", " > "],
  [" >= ", " < "],
  [" + ", " - "],
  [" - ", " + "],
  [" * ", " + "],
  [" && ", " || "],
  [" || ", " && "],
  [" and ", " or "],
  [" or ", " and "],
  ["true", "false"],
  ["True", "False"],
  ["not ", ""],
  [" 1", " 2"],
  [" 0", " 1"],
  [" += 1", " += 2"],
];

/** A generator of numbers from 0 up to 1, the same for the same seed. */
export function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * At most `most` mutants of the repository in `folder` that its tests notice, each of another line: the file, its text
 * with the mutant, and the line, counted from 0.
 */
export function mutantsOf({ sources, test: [command, ...args] }, folder, most, random) {
  execFileSync(command, args, { cwd: folder, stdio: "ignore" });
  const places = fastGlob
    .sync(sources, { cwd: folder })
    .toSorted()
    .flatMap((file) => {
      const lines = readFileSync(join(folder, file), "utf8").split("\n");
      return lines.flatMap((line, at) =>
        /^\s*(?:\/\/|\*|\/\*|#|"""|import |from )/.test(line)
          ? []
          : [{ file, lines, at, fit: exchanges.filter(([what]) => line.includes(what)) }],
      );
    });
  const open = places.filter(({ fit }) => fit.length > 0);
  const mutants = [];
  while (mutants.length < most && open.length > 0) {
    const [{ file, lines, at, fit }] = open.splice(Math.floor(random() * open.length), 1);
    const [what, by] = fit[Math.floor(random() * fit.length)];
    const text = lines.with(at, lines[at].replace(what, by)).join("\n");
    writeFileSync(join(folder, file), text);
    // A mutant that never ends counts as not noticed; it is ended with all that it has started.
    const limited = ["-s", "KILL", "30", command, ...args];
    let noticed = false;
    try {
      execFileSync("timeout", limited, { cwd: folder, stdio: "ignore" });
    } catch (error) {
      noticed = error.signal === null && error.status !== 137;
    }
    writeFileSync(join(folder, file), lines.join("\n"));
    if (noticed)
      mutants.push({
        id: `${file}:${at + 1} ${what.trim()} → ${by.trim()}`.trim(),
        file,
        at,
        text,
        whole: lines.join("\n"),
      });
  }
  return mutants;
}

/** A repository made once, to be copied: `{ folder, remove }`. */
export function madeOnce(repository) {
  const folder = mkdtempSync(join(tmpdir(), "faults-"));
  repository.make(folder);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A copy of a made repository as a repository of git. */
export function copyTo(made, folder) {
  mkdirSync(folder);
  for (const name of readdirSync(made))
    cpSync(join(made, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  execFileSync("git", ["init", "-q", folder]);
}
