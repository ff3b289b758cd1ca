import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  goodAgent,
  library,
  paper,
  paperText,
  reading,
  researchFolder,
  rrdWith,
} from "../../support/projects/research.js";

const forged = { claim: "It works.", quote: "Nobody wrote these words in any paper.", locator: null };
const agent = goodAgent((unit) =>
  unit["kind"] === "paper" && unit["unit"] === "p1"
    ? { result: { ...reading("p1"), evidence: [forged, forged, forged] } }
    : undefined,
);

test("where only refused papers are left, the report is written and names them, and the run ends blocked", async () => {
  const { run, folder } = researchFolder(rrdWith([paper("p1"), paper("p2")]));
  const { verdict, rrd } = await run(agent);
  expect(verdict).toMatchObject({
    verdict: "blocked",
    reason: expect.stringContaining("refused 3 times (author2026)"),
  });
  expect(rrd.phase).toBe("ANALYSIS");
  const report = readFileSync(join(folder, "research-report.md"), "utf8");
  expect(report).toContain("1 paper is not read, because every result for it was refused");
  // Once more nothing is done again, and a person's word completes it.
  const again = await run(agent);
  expect([again.verdict.verdict, again.rrd.loop?.iteration]).toEqual(["blocked", rrd.loop?.iteration]);
});

test("an agent that invents for papers that nobody can read gets nothing into the state", async () => {
  const asked: unknown[] = [];
  const inventing = goodAgent((unit) => {
    if (unit["kind"] === "paper") asked.push(unit["unit"]);
    return undefined;
  });
  const unreadable = library({
    text: async ({ id }) =>
      id === "p3" ? { text: paperText(id) } : { unavailable: "the file is a scan without text" },
  });
  const titles = [paper("p1", { abstract: null }), paper("p2", { abstract: "" }), paper("p3")];
  const { verdict, rrd } = await researchFolder(rrdWith(titles), unreadable).run(inventing);
  expect(asked).toEqual(["p3"]);
  expect(verdict.verdict).toBe("complete");
  expect(rrd.insights?.every(({ paper_id }) => paper_id === "p3")).toBe(true);
  for (const one of rrd.papers_pool.slice(0, 2))
    expect(one).toMatchObject({ status: "not_retrieved", analysis: null, score: null, decision: null });
});
