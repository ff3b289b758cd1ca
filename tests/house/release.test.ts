import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { packageFile } from "../../src/engine/lib/package-root.js";
import { prepare } from "../../scripts/release.mjs";
import { freshFolder } from "../support/projects/research-folder.js";

interface Form {
  readonly description?: string;
  readonly body?: readonly { readonly type: string; readonly attributes: { readonly label: string } }[];
}

interface Job {
  readonly steps: readonly { readonly run?: string }[];
}

const text = (...path: string[]) => readFileSync(join(...path), "utf8");

function tree(changelog: string, changes: Readonly<Record<string, string>> = {}): string {
  const root = freshFolder();
  for (const folder of [".changes", ".claude-plugin"]) mkdirSync(join(root, folder));
  writeFileSync(join(root, "CHANGELOG.md"), changelog);
  writeFileSync(join(root, ".changes/README.md"), "How to write one.\n");
  for (const [name, words] of Object.entries(changes)) writeFileSync(join(root, ".changes", name), words);
  writeFileSync(join(root, ".claude-plugin/plugin.json"), '{ "version": "0.1.0" }\n');
  writeFileSync(join(root, "CITATION.cff"), "cff-version: 1.2.0\nversion: 0.1.0\n");
  return root;
}

test("a release moves each change into the changelog once, and writes its version everywhere", () => {
  const first = "# Changelog\n\nDates.\n\n## 0.1.0 – 2026-11-29\n\nThe first version.\n";
  const root = tree(first, { "b.md": "Two is new.\n", "a.md": "Changed: one is another.\n" });
  prepare(root, "0.2.0", "2026-12-24");
  expect(text(root, "CHANGELOG.md")).toBe(
    first.replace("## 0.1.0", "## 0.2.0 – 2026-12-24\n\n- Changed: one is another.\n- Two is new.\n\n## 0.1.0"),
  );
  expect(existsSync(join(root, ".changes/a.md"))).toBe(false);
  expect(existsSync(join(root, ".changes/README.md"))).toBe(true);
  expect(text(root, ".claude-plugin/plugin.json")).toContain('"version": "0.2.0"');
  expect(text(root, "CITATION.cff")).toBe("cff-version: 1.2.0\nversion: 0.2.0\ndate-released: 2026-12-24\n");
  expect(() => prepare(root, "0.3.0", "2026-12-25")).toThrow("Nothing has changed");
  expect(() => prepare(root, "0.2.0", "2026-12-25")).toThrow("is released");
  expect(() => prepare(root, "next", "2026-12-25")).toThrow("not a version");
});

test("a version whose section is written already gets its date", () => {
  const root = tree("# Changelog\n\n## 0.1.0 – unreleased\n\nThe first version.\n");
  prepare(root, "0.1.0", "2026-12-24");
  expect(text(root, "CHANGELOG.md")).toBe("# Changelog\n\n## 0.1.0 – 2026-12-24\n\nThe first version.\n");
});

test("what changed stands behind what such a section says, and before the section that follows", () => {
  const old = "## 0.1.0 – 2026-11-29\n\nThe first version.\n";
  const root = tree(`# Changelog\n\n## 0.2.0 – unreleased\n\nFaster.\n\n${old}`, {
    "a.md": "One is new,\nand small.\n",
  });
  prepare(root, "0.2.0", "2026-12-24");
  expect(text(root, "CHANGELOG.md")).toBe(
    `# Changelog\n\n## 0.2.0 – 2026-12-24\n\nFaster.\n\n- One is new,\n  and small.\n\n${old}`,
  );
});

test("the version is the same wherever it stands", () => {
  const { version } = JSON.parse(text(packageFile("package.json"))) as { version: string };
  expect(text(packageFile(".claude-plugin/plugin.json"))).toContain(`"version": "${version}"`);
  expect(text(packageFile("CITATION.cff"))).toMatch(new RegExp(`^version: ${version}$`, "m"));
  expect(text(packageFile("CITATION.cff"))).toMatch(/^cff-version: 1\.2\.0$/m);
});

test("forms of issues can be parsed, ask for what doctor says, and the workflow runs what .ci/run runs", () => {
  const forms = packageFile(".github/ISSUE_TEMPLATE");
  const parsed = readdirSync(forms).map((name) => [name, parse(text(forms, name)) as Form] as const);
  for (const [name, { body = [], description }] of parsed.filter(([file]) => file !== "config.yml")) {
    expect(description, name).toMatch(/^[A-Z]/);
    for (const { type, attributes } of body) expect([type, attributes.label.length > 0]).toEqual(["textarea", true]);
    expect(JSON.stringify(body)).toContain("research-ralph doctor --json");
  }
  const { jobs } = parse(text(packageFile(".github/workflows/ci.yml"))) as { jobs: Record<string, Job> };
  const runs = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = [] }) => run));
  expect(runs).toEqual([".ci/run"]);
  expect(statSync(packageFile(".ci/run")).mode & 0o111).not.toBe(0);
});
