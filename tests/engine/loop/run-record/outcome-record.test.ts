import { describe, expect, test } from "vitest";
import { defaultHistoryLimits } from "../../../../src/engine/lib/history-limits.js";
import { outcomeRecord } from "../../../../src/engine/loop/run-record/outcome-record.js";
import type { Outcome } from "../../../../src/engine/loop/types.js";
import { accepted, failed, live, refused, unit } from "../runs.js";

const at = new Date("2026-01-02T03:04:05.678Z");
const change = { in: "papers", id: "p1", set: { status: "read" } };
const record = (outcome: Outcome) =>
  outcomeRecord(unit("p1"), live({}).run, outcome, {
    at,
    prepareMs: 1_200,
    answer: { answer: "abc" },
    changes: [change],
    ledger: { sentinel: "absent" },
    redact: (text: string) => text,
    memory: defaultHistoryLimits,
  });

describe("the record of an outcome", () => {
  test("holds the workflow's changes, then the observation, which says what a refused one left", () => {
    for (const [outcome, left] of [[accepted, {}] as const, [refused, { answer: "abc" }] as const]) {
      const { iteration, changes } = record(outcome);
      const observation = { iteration, unit: "p1", outcome: outcome.outcome, said: expect.any(String), ...left };
      expect(changes).toEqual([change, { in: "loop", set: {}, add: { observations: [observation] } }]);
    }
  });

  test("holds no observation where no agent started to work, or the result is only noted", () => {
    expect(record(failed("network")).changes).toEqual([change]);
    expect(record({ outcome: "noted", summary: "A draft." }).changes).toEqual([change]);
  });

  test("says in the ledger's line what the workflow adds, and last why nothing was accepted", () => {
    const added = (outcome: Outcome) => Object.entries(record(outcome).ledger).slice(-3);
    expect(added(refused).slice(1)).toEqual([
      ["sentinel", "absent"],
      ["reasons", refused.outcome === "refused" ? refused.reasons : []],
    ]);
    expect(added(failed("idle"))).toEqual([
      ["sentinel", "absent"],
      ["failure", "idle"],
      ["reasons", ["It was idle."]],
    ]);
    expect(record(accepted).ledger).not.toHaveProperty("reasons");
    expect(record(accepted)).toMatchObject({
      at: at.toISOString(),
      ledger: { at: at.toISOString(), unit: "p1", outcome: "accepted", prepare_seconds: 1.2 },
    });
  });
});
