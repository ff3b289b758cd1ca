import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { problemsOf } from "../../../src/engine/storage/schema-check.js";
import { judgeTests } from "../../../src/task/criteria/tests.js";
import { detectTests, type Framework } from "../../../src/task/test-runs/detect.js";
import { runTests } from "../../../src/task/test-runs/run-tests.js";
import { cases, writeProject } from "../../fixtures/test-projects/projects.js";
import { placeOnHost } from "../../task/place.js";
import { expected } from "../../task/test-runs/expected.js";

/** How it is seen that the tool is there. */
const probes = {
  vitest: ["node", "--version"],
  "node:test": ["node", "--version"],
  unittest: ["python3", "-c", "import unittest"],
  pytest: ["python3", "-m", "pytest", "--version"],
  cargo: ["cargo", "--version"],
  go: ["go", "version"],
} as const;

const isThere = async ([command, ...args]: readonly string[]): Promise<boolean> =>
  (await execa(command ?? "", args, { reject: false, timeout: 30_000 })).exitCode === 0;

/** Frameworks that stop a test themselves; of others the run as a whole is ended. */
const stopsTests: ReadonlySet<string> = new Set(["vitest", "node:test"]);

for (const framework of Object.keys(probes) as (keyof typeof probes & Framework)[]) {
  const there = await isThere(probes[framework]);
  describe.skipIf(!there)(`the real ${framework}${there ? "" : " (skipped: it is not installed)"}`, () => {
    it.each(cases)("of a project with tests that are %s", async (which) => {
      const place = placeOnHost();
      writeProject(place.cwd, framework, which);
      if (framework === "vitest") symlinkSync(packageFile("node_modules"), join(place.cwd, "node_modules"));
      expect(detectTests(place.cwd)[0]?.framework).toBe(framework);
      const ms = which === "slow" && !stopsTests.has(framework) ? 8_000 : 120_000;
      const results = await runTests({ ...detectTests(place.cwd)[0], framework }, place, ms);
      const wanted = expected[framework][which];
      expect(problemsOf("test-results", results)).toEqual([]);
      expect(results.tests.map(({ status }) => status).toSorted()).toEqual(wanted.statuses.toSorted());
      const [broken] = results.tests.filter(({ error }) => error !== undefined);
      expect(broken?.error?.type).toBe(wanted.error);
      if (which === "failing") expect(broken?.error?.source_location?.line).toBe(wanted.line);
      expect(judgeTests(results, [], place.cwd)).toMatchObject({ passed: wanted.passed, failing: wanted.failing });
      // A file that never loaded may not be deleted; of what does not compile, only a test.
      if (which === "crashed")
        expect(judgeTests(results, [], place.cwd).tests).toEqual(
          framework === "cargo" ? [] : [expect.stringMatching(/sample[\w.]* could not be loaded$/)],
        );
      rmSync(place.cwd, { recursive: true, force: true });
    });
  });
}

const hasPython = await isThere(probes.unittest);
it.skipIf(!hasPython)(
  `unittest finds each test once, in packages and in plain folders${hasPython ? "" : " (skipped: it is not installed)"}`,
  async () => {
    const text = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n";
    const namesIn = async (...files: readonly string[]) => {
      const place = placeOnHost();
      for (const name of files) {
        mkdirSync(dirname(join(place.cwd, name)), { recursive: true });
        writeFileSync(join(place.cwd, name), name.endsWith("__init__.py") ? "" : text);
      }
      const { tests } = await runTests({ framework: "unittest" }, place, 60_000);
      rmSync(place.cwd, { recursive: true, force: true });
      return tests.map(({ test_name }) => test_name);
    };
    expect(await namesIn("tests/__init__.py", "tests/unit/__init__.py", "tests/unit/test_x.py")).toEqual([
      "tests.unit.test_x.T.test_a",
    ]);
    expect(await namesIn("tests/test_x.py")).toEqual(["test_x.T.test_a"]);
    expect(await namesIn("tests/unit/deep/test_x.py")).toEqual(["test_x.T.test_a"]);
  },
);
