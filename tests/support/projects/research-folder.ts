import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import type { Paper, Rrd } from "../../../src/research/generated/rrd.js";

/** A fresh folder for a command to stand in. */
export const freshFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "rr-commands-")));

export const paper = (id: string, status: Paper["status"], more: Partial<Paper> = {}): Paper => ({
  id,
  title: `Paper ${id}`,
  status,
  ...more,
});

export const line = (iteration: number, unit: string, more: Partial<LedgerLine> = {}): LedgerLine => ({
  iteration,
  at: "2026-03-01T10:00:00.000Z",
  unit,
  phase: "ANALYSIS",
  outcome: "accepted",
  ...more,
});

/** Writes a research under ./researches and returns its folder. */
export function makeResearch(
  cwd: string,
  name: string,
  rrd: Partial<Rrd> = {},
  ledger: readonly LedgerLine[] = [],
): string {
  const folder = join(cwd, "researches", name);
  mkdirSync(folder, { recursive: true });
  const whole: Rrd = {
    project: `Research: ${name}`,
    requirements: { target_papers: 4 },
    phase: "ANALYSIS",
    papers_pool: [],
    ...rrd,
  };
  writeFileSync(join(folder, "rrd.json"), `${JSON.stringify(whole, null, 2)}\n`);
  if (ledger.length > 0)
    writeFileSync(join(folder, "ledger.jsonl"), ledger.map((each) => `${JSON.stringify(each)}\n`).join(""));
  return folder;
}

/** A finished research of another program, with one paper. */
export function finishedResearch(cwd: string, name: string): string {
  const folder = makeResearch(cwd, name, { phase: "COMPLETE", papers_pool: [paper("p1", "presented")] });
  writeFileSync(join(folder, "research-report.md"), "# The report\n");
  return folder;
}

/**
 * A research that needs no network: two of the sample papers, then the report, then ideas. Five iterations of the unit
 * agent.
 */
export const sampleResearch = (cwd: string, name = "grasping-2026-03-01"): string =>
  makeResearch(cwd, name, {
    phase: "DISCOVERY",
    mission: { blue_ocean_scoring: true },
    requirements: { target_papers: 2, sources: ["samples"], keywords: ["dexterous manipulation"] },
    handoff: { product_ideation: { enabled: true, min_ideas: 3, max_ideas: 12 } },
  });

/** What stands in a project's files, read at each call, and how a person saves its rrd.json. `at`: its folder. */
export function recordsOf(at: () => string) {
  const textOf = (name: string) => readFileSync(join(at(), name), "utf8");
  const lines = <Line>(name: string): Line[] =>
    textOf(name)
      .trim()
      .split("\n")
      .map((row) => JSON.parse(row) as Line);
  const rrd = () => JSON.parse(textOf("rrd.json")) as Rrd;
  return {
    lines,
    answers: () => lines<Answer>("answers.jsonl"),
    rrd,
    save: (change: (before: Rrd) => Rrd) => writeFileSync(join(at(), "rrd.json"), JSON.stringify(change(rrd()))),
  };
}
