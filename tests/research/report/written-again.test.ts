import { expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { reportModel } from "../../../src/research/report/model.js";
import { paper, rrdWith } from "../../support/projects/research.js";

const now = new Date("2026-11-22T12:00:00Z");
const line = (more: Partial<LedgerLine>): LedgerLine => ({
  iteration: 1,
  at: now.toISOString(),
  unit: "report",
  phase: "ANALYSIS",
  outcome: "accepted",
  ...more,
});
const ledger = [line({ outcome: "reset" }), line({ iteration: 2, agent: "baseline", duration_seconds: 1 })];
const modelOf = (over: Partial<Rrd>) =>
  reportModel({
    rrd: { ...rrdWith([paper("one", { status: "presented" })]), phase: "COMPLETE", ...over },
    ledger,
    queries: [],
    answers: [],
    now,
  });
const textOf = (model: ReturnType<typeof modelOf>) => JSON.stringify([model.day, model.agents, model.figures]);

test("a report that is only written again names the day, the reader and the time of the work, not its own", () => {
  const timing = {
    analysis: { started_at: "2026-01-19T10:00:00Z", ended_at: "2026-01-19T16:17:00Z", duration_seconds: 22_620 },
    complete: { ended_at: "2026-01-20T11:45:25Z" },
  };
  const known = modelOf({ timing, statistics: { stated: { agent: "Research-Ralph (codex)" } } });
  expect([known.day, known.agents]).toEqual(["2026-01-20", ["Research-Ralph (codex)"]]);
  expect(textOf(known)).toContain("6h 17m");

  const unknown = modelOf({ timing: null });
  expect([unknown.day, unknown.agents]).toEqual(["", ["another program"]]);
  expect(textOf(unknown)).not.toMatch(/<1s|agent time/);
});
