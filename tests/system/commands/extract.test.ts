import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { cli } from "../../support/processes/built-cli.js";
import { freshFolder } from "../../support/projects/research-folder.js";

/** Finds nothing reported in any paper. */
const secondAgent = `let brief = "";
for await (const part of process.stdin) brief += part;
const { unit } = JSON.parse(/<unit>\\n([\\s\\S]*?)\\n<\\/unit>/.exec(brief)[1]);
const ids = [...brief.matchAll(/^- ([\\w-]+) \\(/gm)].map(([, id]) => id);
const fields = Object.fromEntries(ids.map((id) => [id, { not_reported: true }]));
(await import("node:fs")).writeFileSync("result.json", JSON.stringify({ unit, fields }));
`;

test("fields are added, asked of a second agent, settled and taken out, and the documents follow", async () => {
  const cwd = freshFolder();
  expect((await cli(["demo", "--quiet"], cwd)).code).toBe(0);
  const [name = ""] = readdirSync(join(cwd, "researches"));
  const read = (file: string) => readFileSync(join(cwd, "researches", name, file), "utf8");
  const rrdOf = () => JSON.parse(read("rrd.json")) as Rrd;
  const table = async () => {
    const out = join(cwd, "papers.csv");
    expect((await cli(["export", "--as", "csv", "--to", out], cwd)).code).toBe(0);
    return readFileSync(out, "utf8");
  };
  const field = ["--field", "tendon friction: what is said of it"];
  const before = read("rrd.json");

  const unasked = await cli(["extract", "--agent", "baseline", ...field], cwd);
  expect(unasked).toMatchObject({ code: 2, err: expect.stringMatching(/looks for 1 field in \d+ papers: .*tokens/) });
  expect(unasked.err).toContain("add --yes to agree");
  expect(read("rrd.json")).toBe(before);
  expect(await cli(["extract", "--remove", "dose"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("'dose'"),
  });

  const asked = await cli(["extract", "--agent", "baseline", "--yes", ...field], cwd);
  expect([asked.code, asked.out.trim()]).toEqual([0, "<promise>COMPLETE</promise>"]);
  const shown = rrdOf().papers_pool.filter(({ extracted = [] }) => extracted[0]?.status === "verified");
  expect(shown.length).toBeGreaterThan(0);
  expect(read("research-report.md")).toContain("| Paper | tendon friction |");
  expect(read("report.html")).toContain("tendon friction");
  expect(await table()).toContain("tendon friction,tendon friction: passage,tendon friction: check\r\n");
  const lines = () =>
    read("ledger.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as LedgerLine);
  const units = lines().filter(({ unit }) => unit.startsWith("extract-first-")).length;

  // Nothing is left to ask: no agent is started.
  expect(await cli(["extract", "--agent", "baseline"], cwd)).toMatchObject({
    code: 0,
    err: expect.stringContaining("No agent is needed"),
  });
  expect(lines().filter(({ unit }) => unit.startsWith("extract-"))).toHaveLength(units);

  writeFileSync(join(cwd, "second.mjs"), secondAgent);
  const second = `cmd:${process.execPath} ${join(cwd, "second.mjs")}`;
  const both = await cli(["extract", "--agent", "baseline", "--second-reader", second, "--unconfined", "--yes"], cwd);
  expect(both.code).toBe(0);
  expect(lines().filter(({ role }) => role === "second-reader")).toHaveLength(units);
  expect(read("research-report.md")).toMatch(/tendon friction: \d+ of \d+ papers/);
  expect(read("report.html")).toContain("second.mjs (second)");
  expect(await table()).toContain(",differ");

  const [paper] = shown;
  const id = paper?.id ?? "";
  const settle = (...words: string[]) => cli(["settle", name, id, "tendon friction", ...words], cwd);
  expect(await settle("third")).toMatchObject({ code: 2, err: expect.stringContaining("neither first, second nor") });
  expect(await settle("second", "It only cites another paper.")).toMatchObject({
    code: 0,
    out: expect.stringContaining("not reported counts"),
  });
  expect(read("research-report.md")).toContain("a person chose this one");
  expect(await table()).toContain("differ; a person follows the second: It only cites another paper.");
  const quote = paper?.extracted?.[0]?.evidence?.[0]?.passage ?? "";
  for (const [own, says] of [
    [[], "give it with --value"],
    [["--value", "9876 N", "--quote", quote], "number not in the passage: 9876 N"],
    [["--value", "much", "--quote", "Nobody wrote these words here."], "not in the text"],
  ] as const)
    expect(await settle("own", ...own)).toMatchObject({ code: 2, err: expect.stringContaining(says) });
  expect((await settle("own", "--value", "much", "--quote", quote, "In short.")).code).toBe(0);
  expect(await table()).toContain("differ; the value is a person's own: In short.");
  expect(read("research-report.md")).toMatch(/a person's own:\*\* much ✓; a person chose this one/);
  expect((await settle("own", "--value", "little")).code).toBe(0);
  expect(read("research-report.md")).toContain("a person's own; without a passage:** little ?");
  expect((await cli(["validate", name], cwd)).code).toBe(0);

  expect((await cli(["extract", "--remove", "Tendon friction"], cwd)).code).toBe(0);
  expect(read("research-report.md")).not.toContain("tendon friction:");
  expect(await table()).not.toContain("tendon friction");
});
