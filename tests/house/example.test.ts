import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LedgerLine } from "../../src/engine/generated/ledger.js";
import type { Rrd } from "../../src/research/generated/rrd.js";
import { packageFile } from "../../src/engine/lib/package-root.js";
import { parseRrd } from "../../src/research/project-files/rrd-file.js";
import { problemsOf } from "../../src/engine/storage/schema-check.js";
import { inconsistencies } from "../../src/research/derived/inconsistencies.js";
import { markdownOf } from "../../src/research/report/documents/markdown.js";
import { reportModel } from "../../src/research/report/model.js";
import { doubtsOf } from "../../src/research/report/narrative/check.js";
import { readReportInput } from "../../src/research/report/read-report.js";
import { derive } from "../../src/research/workflow/derive.js";

const researches = packageFile("researches");
const name = "sample-sim2real-transfer-dexterous-manipulation-2026-11-22";
const read = (file: string): string => readFileSync(join(researches, name, file), "utf8");

describe("the example research of the repository", () => {
  it("is valid, complete, and says nothing that its records contradict", () => {
    const { ok: rrd } = parseRrd(read("rrd.json"), "rrd.json") as { ok: Rrd };
    const ledger = read("ledger.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as LedgerLine);
    expect(rrd.phase).toBe("COMPLETE");
    expect(inconsistencies(rrd)).toEqual([]);
    expect(derive(rrd, ledger)).toEqual(rrd);
    for (const line of ledger) expect(problemsOf("ledger", line)).toEqual([]);
    expect(problemsOf("product-ideas", JSON.parse(read("product-ideas.json")))).toEqual([]);
  });

  it("shows every path: presented, insights, rejected, a duplicate, a retraction, an unreadable paper, hidden orders", () => {
    const rrd = JSON.parse(read("rrd.json")) as Rrd;
    expect(new Set(rrd.papers_pool.map(({ status }) => status))).toEqual(
      new Set(["presented", "insights_extracted", "rejected"]),
    );
    expect(rrd.excluded?.some(({ duplicate_of }) => duplicate_of !== undefined)).toBe(true);
    expect(rrd.papers_pool.some(({ retracted }) => retracted === true)).toBe(true);
    expect(rrd.papers_pool.some(({ read_depth }) => read_depth === "abstract")).toBe(true);
    expect(
      rrd.papers_pool.some(({ warnings }) => warnings?.some((warning) => warning.includes("orders to AI readers"))),
    ).toBe(true);
  });

  it("names no folder of the machine it was made on, and is marked as a sample", () => {
    for (const file of readdirSync(join(researches, name)).filter((each) => each !== ".ralph")) {
      expect(read(file), file).not.toMatch(/\/(?:home|root|tmp|Users|work)\//);
    }
    expect(read("research-report.md")).toContain("sample_");
    expect(existsSync(join(researches, name, "references.bib"))).toBe(true);
  });
});

it("its report says at once what was asked, what was found and how sure it is, and every sentence is carried", async () => {
  const folder = join(researches, name);
  const { input, notices } = await readReportInput(folder, new Date("2026-11-23T00:00:00Z"));
  const model = reportModel(input);
  expect(notices).toEqual([]);
  expect(doubtsOf(model)).toEqual([]);
  expect(problemsOf("report", JSON.parse(read("report.json")))).toEqual([]);
  expect(model.findings.every(({ quotes, strength }) => quotes.length > 0 && strength.level > 0)).toBe(true);
  const screen = read("research-report.md").split("\n").slice(0, 30).join("\n");
  for (const said of [model.question, model.answer[0]?.text ?? "", "papers read", "●●●○○ 1 paper, read in full"])
    expect(screen).toContain(said);
  // What is shipped is what this version renders of it, but for the day.
  const [shipped, now] = [read("research-report.md"), markdownOf(model)].map((text) =>
    text.replace(/on 2026-11-2\d/, ""),
  );
  expect(shipped).toBe(now);
});
