import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { expectedPapers, openRefusals, countContextOverflows } from "../../../src/research/derived/status.js";
import { paper, rrdWith } from "../../support/projects/research.js";

let count = 0;
const line = (unit: string, outcome: LedgerLine["outcome"], over: Partial<LedgerLine> = {}): LedgerLine => ({
  iteration: (count += 1),
  at: "2026-01-01T00:00:00Z",
  unit,
  phase: "ANALYSIS",
  outcome,
  ...over,
});
const full = (unit: string) => line(unit, "failed", { failure: "context" });

describe("how often a unit filled a model's context", () => {
  test("is counted of that unit alone, and of that failure alone", () => {
    expect(countContextOverflows([], "p1")).toBe(0);
    expect(
      countContextOverflows(
        [full("p1"), full("p2"), line("p1", "failed", { failure: "crashed" }), line("p1", "refused"), full("p1")],
        "p1",
      ),
    ).toBe(2);
  });

  test.each(["accepted", "reset"] as const)("is counted anew after it was %s", (outcome) => {
    expect(countContextOverflows([full("p1"), full("p1"), line("p1", outcome), full("p1")], "p1")).toBe(1);
    expect(countContextOverflows([full("p1"), full("p1"), line("p2", outcome), full("p1")], "p1")).toBe(3);
    expect(countContextOverflows([full("p1"), line("p1", outcome)], "p1")).toBe(0);
  });

  test("is four at most, as less of a paper would be worth no reading", () => {
    expect(
      countContextOverflows(
        Array.from({ length: 4 }, () => full("p1")),
        "p1",
      ),
    ).toBe(4);
    expect(
      countContextOverflows(
        Array.from({ length: 5 }, () => full("p1")),
        "p1",
      ),
    ).toBe(4);
  });

  test("does not count what a reset has taken back", () => {
    const before = [line("p2", "accepted"), full("p1"), full("p1")];
    const to = before[0]?.iteration ?? 0;
    expect(countContextOverflows([...before, line("*", "reset", { to }), full("p1")], "p1")).toBe(1);
  });
});

describe("a refused iteration is open", () => {
  test("until its unit is accepted later", () => {
    const [one, two, other] = [line("p1", "refused"), line("p1", "refused"), line("p2", "refused")];
    expect(openRefusals([one, two, other])).toEqual(new Set([one.iteration, two.iteration, other.iteration]));
    const accepted = line("p1", "accepted");
    const again = line("p1", "refused");
    expect(openRefusals([one, two, other, accepted, again])).toEqual(new Set([other.iteration, again.iteration]));
  });

  test("and one that failed or was accepted is none", () => {
    const [failed, accepted] = [full("p1"), line("p2", "accepted")];
    expect(openRefusals([failed, accepted])).toEqual(new Set());
    // Of a machine whose lines were merged: the number tells, not the place.
    const refused = line("p3", "refused", { iteration: 7 });
    expect(openRefusals([refused, line("p3", "accepted", { iteration: 7 })])).toEqual(new Set());
  });
});

test.each([
  ["the share that was kept so far, of records that a person brought alone", ["a.ris", "zotero:"], 10 + 45],
  ["what is wanted, of a search that may bring more", ["a.ris", "arXiv"], 250],
])("a pool will hold %s", (_, sources, wanted) => {
  const rrd = rrdWith(Array.from({ length: 10 }, (__, index) => paper(`p${index}`)));
  rrd.requirements = { ...rrd.requirements, sources, target_papers: 250 };
  rrd.statistics = { ...rrd.statistics, discovery_metrics: { flow: { screened: 20, not_screened: 90 } } };
  expect(expectedPapers(rrd)).toBe(wanted);
});
