import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
let packed: string[];

beforeAll(async () => {
  // Without scripts: `prepare` would rebuild dist/ under the feet of tests that run it.
  const { stdout } = await execa("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  packed = files.map(({ path }) => path);
});

describe("the package", () => {
  test.each([
    "package.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "prompt.md",
    "AGENTS.md",
    "CLAUDE.md",
    "bin/ralph.sh",
    "bin/skill.sh",
    "schemas/rrd.schema.json",
    "schemas/result-analysis.schema.json",
  ])("has %s, which it needs at run time or a user looks for", (path) => {
    expect(packed).toContain(path);
  });

  test("has the demo's corpus", () => {
    expect(packed.filter((path) => path.startsWith("demo/corpus/")).length).toBeGreaterThanOrEqual(12);
  });

  test("has none of the tests, sources, benchmarks or researches", () => {
    expect(packed.filter((path) => /^(tests|src|bench|scripts|docs|researches|\.ci|\.e2e)\//.test(path))).toEqual([]);
  });
});
