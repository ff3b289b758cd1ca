import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
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
    "bin/sandbox-relay.mjs",
    "schemas/rrd.schema.json",
    "schemas/result-analysis.schema.json",
  ])("has %s, which it needs at run time or a user looks for", (path) => {
    expect(packed).toContain(path);
  });

  test("has the demo's corpus", () => {
    expect(packed.filter((path) => path.startsWith("demo/corpus/")).length).toBeGreaterThanOrEqual(12);
  });

  test("has none of the tests, sources, benchmarks or projects, but the report of the sample", () => {
    expect(packed.filter((path) => /^(tests|src|bench|scripts|researches|\.ci|\.e2e)\//.test(path))).toEqual([
      expect.stringMatching(/^researches\/sample-[^/]+\/research-report\.md$/),
    ]);
  });

  test("has no page that is printed whole by a command", () => {
    const generated = /^<!-- Generated from /;
    const pages = packed.filter((path) => path.endsWith(".md"));
    expect(readFileSync(join(root, "docs/cli.md"), "utf8")).toMatch(generated);
    expect(pages.filter((page) => generated.test(readFileSync(join(root, page), "utf8")))).toEqual([]);
  });

  test("has every file that its pages link to", () => {
    const pages = packed.filter((path) => /^(README|CONTRIBUTING|CHANGELOG|docs\/.+)\.md$/.test(path));
    const links = pages.flatMap((page) =>
      [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link = ""]) => link.split("#")[0] ?? "")
        .filter((link) => link !== "" && !/^https?:/.test(link))
        .map((link) => join(dirname(page), link)),
    );

    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !packed.includes(link))).toEqual([]);
  });
});
