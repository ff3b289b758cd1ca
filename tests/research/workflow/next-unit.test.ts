import { describe, expect, it } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Paper, Rrd } from "../../../src/research/generated/rrd.js";
import type { Delayed, Unit } from "../../../src/engine/loop/types.js";
import { nextUnit as nextUnitOf } from "../../../src/research/workflow/next-unit.js";
import { decide, decisionOf, scoresOf, totalsOf } from "../../../src/research/papers/rubric/rubric.js";
import { saysComplete } from "../../../src/engine/loop/sentinel.js";
import { progressOf, searchKey, unitRefusals, untriedSources } from "../../../src/research/derived/status.js";
import { statusOf } from "../../../src/research/workflow/next-unit.js";
import { isLastUnit } from "../../../src/research/units/kinds.js";
import type { ResearchState } from "../../../src/research/units/unit-kind.js";
import { paper, rrdWith } from "../../support/projects/research.js";

const nextUnit = (state: ResearchState, busy: readonly Unit[], later: readonly Delayed[] = []) =>
  nextUnitOf(state, busy, later, "/my-research");

const line = (iteration: number, unit: string, outcome: LedgerLine["outcome"] = "accepted"): LedgerLine => ({
  iteration,
  at: "2026-03-04T05:06:07.890Z",
  unit,
  phase: "ANALYSIS",
  outcome,
});
const refusal = (iteration: number) => ({ iteration, at: "2026-03-04T05:06:07.890Z", reasons: ["it was empty"] });
const three = [refusal(1), refusal(2), refusal(3)];
const done = (id: string, over: Partial<Paper> = {}): Paper => paper(id, { status: "presented", ...over });
const wanted = { handoff: { product_ideation: { enabled: true } } };
const unwanted = { handoff: { product_ideation: { enabled: false } } };

const stateOf = (rrd: Rrd, ledger: readonly LedgerLine[] = []) => ({
  rrd,
  ledger,
  status: statusOf(rrd, ledger),
  agentNotes: new Map(),
});
const unit = (kind: Unit["kind"], id: string = kind): Unit => ({ kind, id, phase: "ANALYSIS", title: id });
const next = (rrd: Rrd, ledger: readonly LedgerLine[] = [], inFlight: readonly Unit[] = []) =>
  nextUnit(stateOf(rrd, ledger), inFlight);

type Over = { [Name in keyof Rrd["requirements"]]?: Rrd["requirements"][Name] | undefined };
const searching = (
  over: Over & { batches?: number; without?: number; tried?: string[] } = {},
  papers: Paper[] = [],
): Rrd => {
  const { batches, without, tried, ...requirements } = over;
  const rrd = rrdWith(papers, {
    phase: "DISCOVERY",
    statistics: { discovery_metrics: { batches, batches_without_new: without, sources_tried: tried } },
  });
  return {
    ...rrd,
    requirements: { ...rrd.requirements, target_papers: 3, sources: ["arXiv", "web"], ...requirements },
  };
};

describe("discovery", () => {
  it("comes first, batch by batch, until the pool holds the target", () => {
    expect(next(searching())).toEqual({
      kind: "discovery",
      id: "discovery-1",
      phase: "DISCOVERY",
      title: "Discovery, batch 1",
    });
    expect(next(rrdWith([]))).toMatchObject({ id: "discovery-1" });
    for (const statistics of [{}, null])
      expect(next({ ...searching(), statistics })).toMatchObject({ id: "discovery-1" });
    expect(next(searching({ batches: 4 }, [paper("p1"), paper("p2")]))).toMatchObject({ id: "discovery-5" });
    expect(next(searching({ batches: 4 }, [paper("p1"), paper("p2"), paper("p3")]))).toMatchObject({ kind: "paper" });
  });

  it("says how many of a person's own records were screened", () => {
    const rrd = searching({ batches: 1, sources: ["list:export.ris"] });
    const flow = { screened: 14, not_screened: 54 };
    const statistics = { discovery_metrics: { ...rrd.statistics?.discovery_metrics, flow } };
    expect(next({ ...rrd, statistics } as Rrd)).toMatchObject({
      title: "Discovery, batch 2 (14 of 68 records screened)",
    });
  });

  it("is over after two batches without a new paper once every source was tried, and after five whatever was tried", () => {
    const isOver = (without: number, tried: string[]) =>
      statusOf(searching({ batches: 9, without, tried }), []).isDiscoveryOver;
    expect([1, 2].map((without) => isOver(without, ["ARXIV", "web"]))).toEqual([false, true]);
    expect([2, 4, 5, 6].map((without) => isOver(without, ["arXiv"]))).toEqual([false, false, true, true]);
    expect(untriedSources(searching({ tried: ["ARXIV"] }))).toEqual(["web"]);
    expect(untriedSources(searching({ sources: undefined }))).toEqual([]);
    expect(untriedSources({ ...searching(), statistics: null })).toEqual(["arXiv", "web"]);
    expect(untriedSources({ ...searching(), statistics: {} })).toEqual(["arXiv", "web"]);
  });

  it("searches for what target, sources and keywords say, and for nothing else", () => {
    const rrd = searching();
    expect(searchKey(rrd)).toMatch(/^[0-9a-f]{16}$/);
    expect(searchKey({ ...rrd, description: "Another." })).toBe(searchKey(rrd));
    const others = [
      { target_papers: 4 },
      { sources: ["arXiv"] },
      { keywords: ["other"] },
      { sources: undefined },
      { keywords: undefined },
    ];
    const all = others.map((over) => searchKey(searching(over as Partial<Rrd["requirements"]>)));
    expect(new Set([searchKey(rrd), ...all]).size).toBe(6);
    expect(searchKey(searching({ sources: undefined }))).toBe(searchKey(searching({ sources: [] })));
    expect(searchKey(searching({ keywords: undefined as never }))).toBe(searchKey(searching({ keywords: [] })));
  });

  it("that found nothing is blocked, with what each source said and what was never tried", () => {
    const rrd = searching({ batches: 5, without: 5, tried: ["arXiv"] });
    const metrics = { ...rrd.statistics?.discovery_metrics, source_failure_reasons: { arXiv: "arXiv: HTTP 403." } };
    expect(next({ ...rrd, statistics: { discovery_metrics: metrics } })).toEqual({
      verdict: "blocked",
      reason: expect.stringMatching(
        /^No source brought a paper \(arXiv: HTTP 403; never tried: web\); .*'research-ralph reset \/my-research --unit discovery'/,
      ),
    });
    const none = searching({ batches: 2, without: 2, tried: ["arXiv", "web"] });
    expect(next(none)).toMatchObject({ reason: expect.stringContaining("(nothing matched the keywords)") });
    const excluded = ["a", "b"].map((id) => ({ id, reason: "off topic", stage: "screened" as const }));
    expect(next({ ...none, excluded })).toMatchObject({
      reason: expect.stringMatching(
        /^All 2 records that came were left out.*'research-ralph screen \/my-research --all'/,
      ),
    });
    for (const statistics of [{}, null]) {
      expect(next({ ...searching(), phase: "ANALYSIS", statistics })).toMatchObject({
        reason: expect.stringContaining("(never tried: arXiv, web)"),
      });
    }
  });
});

describe("papers", () => {
  it("are read by priority, those without one as of priority 3, and not while another reads them", () => {
    const rrd = rrdWith([
      paper("p1", { priority: 2 }),
      { ...paper("p2"), priority: undefined },
      paper("p3", { priority: 3 }),
      paper("p4", { priority: 4 }),
    ]);
    expect(statusOf(rrd, []).readablePapers.map(({ id }) => id)).toEqual(["p4", "p2", "p3", "p1"]);
    expect(next(rrd)).toEqual({ kind: "paper", id: "p4", phase: "ANALYSIS", title: "On the matter of p4" });
    expect(next(rrd, [], [unit("paper", "p4")])).toMatchObject({ id: "p2" });
    expect(next(rrdWith([paper("p1")]), [], [unit("paper", "p1")])).toBe("wait");
    expect(next(rrdWith([paper("p1", { status: "analyzing" })]))).toMatchObject({ id: "p1" });
  });

  it("put off are not read now; only when no other is left the run is blocked, with the reasons", () => {
    const late = (id: string, reason = "example.org is busy."): Delayed => ({
      unit: unit("paper", id),
      reason,
      until: 0,
    });
    const two = rrdWith([paper("p1", { priority: 5 }), paper("p2")]);
    expect(nextUnit(stateOf(two), [], [late("p1")])).toMatchObject({ id: "p2" });
    expect(nextUnit(stateOf(two), [unit("paper", "p9")], [late("p1"), late("p2")])).toBe("wait");
    expect(nextUnit(stateOf(two), [], [late("p1"), late("p2", "b.org is away")])).toEqual({
      verdict: "blocked",
      reason: expect.stringMatching(
        /^The text of 2 papers is not available now \(p1, p2\): example\.org is busy; b\.org is away\. Run again later to read them in full; 'research-ralph run \/my-research --abstracts' /,
      ),
    });
    const many = rrdWith(["p1", "p2", "p3", "p4"].map((id) => paper(id)));
    expect(
      nextUnit(
        stateOf(many),
        [],
        ["p1", "p2", "p3", "p4"].map((id) => late(id)),
      ),
    ).toMatchObject({ reason: expect.stringContaining("(p1, p2, p3, …): example.org is busy. Run again") });
    const three = ["p1", "p2", "p3"].map((id, n) => late(id, `host ${n} is away`));
    expect(
      nextUnit(
        stateOf(rrdWith(["p1", "p2", "p3", "p4"].map((id) => paper(id)))),
        [],
        [...three, late("p4", "host 3 is away")],
      ),
    ).toMatchObject({
      reason: expect.stringContaining("(p1, p2, p3, …): host 0 is away; host 1 is away; host 2 is away. Run"),
    });
    expect(nextUnit(stateOf(rrdWith(three.map((each) => paper(each.unit.id)))), [], three)).toMatchObject({
      reason: expect.stringContaining("(p1, p2, p3):"),
    });
    // A paper that was read meanwhile, or is gone, holds nothing up.
    expect(
      nextUnit(stateOf(rrdWith([done("p1"), paper("p2")])), [], [late("p1"), late("p7"), late("p2")]),
    ).toMatchObject({
      reason: expect.stringMatching(/^The text of one paper is not available now \(p2\).* read it in full/),
    });
  });

  it("refused three times are given up; when only such are left the run is blocked, with how to try again", () => {
    const refused = (id: string) => paper(id, { refusals: three });
    expect(next(rrdWith([refused("p1"), paper("p2", { refusals: [refusal(1), refusal(2)] })]))).toMatchObject({
      id: "p2",
    });
    // The report is written all the same, of what could be read.
    expect(next(rrdWith([refused("p1"), done("p2")]))).toMatchObject({ kind: "report" });
    expect(next(rrdWith([refused("p1")]))).toEqual({
      verdict: "blocked",
      reason: expect.stringMatching(
        /^One paper is left whose results were refused 3 times \(p1\); 'research-ralph reset \/my-research --paper p1'.*decide \/my-research p1 exclude "why"' leaves it out\.$/,
      ),
    });
    expect(nextUnitOf(stateOf(rrdWith([refused("p1")])), [], [], "/r/hands")).toMatchObject({
      reason: expect.stringContaining("'research-ralph reset /r/hands --paper p1' tries it again"),
    });
    expect(next(rrdWith(["p1", "p2", "p3"].map(refused)))).toMatchObject({
      reason: expect.stringContaining("3 papers are left whose results were refused 3 times (p1, p2, p3);"),
    });
    const four = next(rrdWith(["p1", "p2", "p3", "p4"].map(refused)));
    expect(four).toMatchObject({
      reason: expect.stringMatching(/\(p1, p2, p3, …\);.* --paper p1' tries that one again/),
    });
  });
});

describe("report and ideas", () => {
  const rrd = (over: Partial<Rrd> = wanted) => rrdWith([done("p1"), done("p2")], over);
  const read = [line(1, "p1"), line(2, "p2")];

  it("follow in this order, the ideas only where they are wanted, and then the research is complete", () => {
    expect(next(rrd(), read)).toEqual({ kind: "report", id: "report", phase: "ANALYSIS", title: "Report" });
    expect(next(rrd(), [...read, line(3, "report")])).toEqual({
      kind: "ideas",
      id: "ideas",
      phase: "IDEATION",
      title: "Product ideas",
    });
    expect(next(rrd(), [...read, line(3, "report"), line(4, "ideas")])).toEqual({
      verdict: "complete",
      reason: "All 2 papers are read, the report and the ideas are written.",
    });
    const unread = [paper("p2", { status: "rejected", retracted: true }), paper("p3", { status: "not_retrieved" })];
    expect(next(rrdWith([done("p1"), ...unread], unwanted), [...read, line(3, "report")])).toEqual({
      verdict: "complete",
      reason: "1 of 3 papers is read, 1 is retracted, 1 could not be retrieved and the report is written.",
    });
    const override = { decision: "exclude" as const, why: "An essay.", at: "2026-11-22T00:00:00.000Z" };
    const excluded = paper("p4", { status: "rejected", override });
    expect(next(rrdWith([done("p1"), excluded], unwanted), [line(1, "p1"), line(3, "report")])).toEqual({
      verdict: "complete",
      reason: "1 of 2 papers is read, 1 is excluded by a person without a reading and the report is written.",
    });
    const waiting = paper("p5", { status: "waiting", analysis: { summary: "It may fit." } });
    const withWaiting = rrdWith([done("p1"), waiting], unwanted);
    expect(next(withWaiting, [line(1, "p1"), line(2, "p5"), line(3, "report")])).toEqual({
      verdict: "complete",
      reason: "All 2 papers are read and the report is written; 1 paper waits for a person's decision.",
    });
    for (const handoff of [unwanted.handoff, undefined, {}]) {
      expect(next({ ...rrd(), handoff }, [...read, line(3, "report")])).toEqual({
        verdict: "complete",
        reason: "All 2 papers are read and the report is written.",
      });
    }
  });

  it("are made again once something that they rest on is newer", () => {
    expect(next(rrd(), [line(1, "p1"), line(2, "report"), line(3, "p2"), line(4, "ideas")])).toMatchObject({
      kind: "report",
    });
    expect(next(rrd(), [...read, line(3, "ideas"), line(4, "report")])).toMatchObject({ kind: "ideas" });
  });

  it("stand where the phase of a folder without a ledger says so; a paper that was read since knows better", () => {
    const phases = (ledger: readonly LedgerLine[]) =>
      (["ANALYSIS", "IDEATION", "COMPLETE"] as const).map((phase) => statusOf({ ...rrd(), phase }, ledger).phase);
    expect(phases([])).toEqual(["ANALYSIS", "IDEATION", "COMPLETE"]);
    expect(phases([line(1, "p1")])).toEqual(["ANALYSIS", "ANALYSIS", "ANALYSIS"]);
    expect(statusOf(rrdWith([done("p1")], { ...unwanted, phase: "IDEATION" }), []).phase).toBe("COMPLETE");
    expect(statusOf(rrdWith([], { phase: "COMPLETE" }), []).done).not.toContain("report");
    expect(statusOf(rrdWith([done("p1"), paper("p2")], { phase: "COMPLETE" }), []).phase).toBe("ANALYSIS");
    expect(statusOf(searching(), []).phase).toBe("DISCOVERY");
    expect(statusOf({ ...searching({}, [paper("p1")]), phase: "ANALYSIS" }, []).phase).toBe("ANALYSIS");
  });

  it("wait for every unit in flight, and are given up after three refusals", () => {
    expect(next(rrd(), read, [unit("paper", "p9")])).toBe("wait");
    const refused = {
      ...rrd(),
      refusals: three.map((each, n) => ({
        ...each,
        unit: "report",
        reasons: [["it was late", "it was late", "it was empty"][n] ?? ""],
      })),
    };
    expect(next(refused, read)).toEqual({
      verdict: "blocked",
      reason: expect.stringMatching(
        /^Report was refused 3 times, the last time because it was empty; 'research-ralph reset \/my-research --unit report'/,
      ),
    });
    expect(next({ ...refused, refusals: refused.refusals.slice(1) }, read)).toMatchObject({ kind: "report" });
    expect(
      next({ ...refused, refusals: refused.refusals.map((each) => ({ ...each, reasons: [] })) }, read),
    ).toMatchObject({ reason: expect.stringContaining("because of its form;") });
    // While a search is under way nothing else is searched.
    expect(next(searching(), [], [unit("discovery", "discovery-1")])).toBe("wait");
  });

  it("refusals of a unit count from its last acceptance", () => {
    const refusals = [
      ...[1, 4].map((iteration) => ({ ...refusal(iteration), unit: "report" })),
      { ...refusal(5), unit: "ideas" },
    ];
    expect(unitRefusals({ ...rrd(), refusals }, [], "report").map(({ iteration }) => iteration)).toEqual([1, 4]);
    expect(
      unitRefusals({ ...rrd(), refusals }, [line(3, "report")], "report").map(({ iteration }) => iteration),
    ).toEqual([4]);
    expect(unitRefusals({ ...rrd(), refusals }, [line(4, "report")], "report")).toEqual([]);
    expect(unitRefusals(rrd(), [], "report")).toEqual([]);
  });

  it("of which the last is the ideas, or the report where no ideas are wanted and no paper was given up", () => {
    const isLast = (kind: Unit["kind"], over: { handoff: Rrd["handoff"] | undefined }, papers = [done("p1")]) =>
      isLastUnit(stateOf({ ...rrdWith(papers), ...over }), unit(kind));
    expect([
      isLast("ideas", wanted),
      isLast("report", wanted),
      isLast("report", unwanted),
      isLast("report", { handoff: undefined }),
    ]).toEqual([true, false, true, true]);
    expect([isLast("report", { handoff: {} }), isLast("paper", unwanted), isLast("discovery", unwanted)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(isLast("report", unwanted, [paper("p1", { refusals: three })])).toBe(false);
  });
});

it("progress counts decided papers, of those the research will hold", () => {
  const papers = [done("p1"), paper("p2"), paper("p3", { status: "analyzing" }), paper("p4", { status: "rejected" })];
  expect(progressOf(rrdWith(papers))).toEqual({
    done: 2,
    total: 4,
    noun: "paper",
    counts: { included: 1, rejected: 1 },
  });
  expect(progressOf(rrdWith([...papers, paper("p5", { status: "waiting" })])).counts).toEqual({
    included: 1,
    rejected: 1,
    waiting_for_you: 1,
  });
  expect(progressOf({ ...searching({ target_papers: 9 }, papers), phase: "ANALYSIS" })).toMatchObject({
    done: 2,
    total: 4,
  });
  expect(progressOf(searching({ target_papers: 9 }, papers))).toMatchObject({ done: 2, total: 9 });
  expect(progressOf(searching({ target_papers: 2 }, papers))).toMatchObject({ done: 2, total: 4 });
  expect(progressOf(searching({ target_papers: undefined }))).toEqual({ done: 0, total: 20, noun: "paper" });
});

describe("scores", () => {
  const both = rrdWith([]);
  const one = rrdWith([], { mission: { blue_ocean_scoring: false } });
  const totals = (execution: number, strategic?: number) => ({
    execution,
    combined: execution + (strategic ?? 0),
    ...(strategic === undefined ? {} : { strategic }),
  });
  const execution = { novelty: 1, feasibility: 1, time_to_poc: 1, value_market: 1, defensibility: 1, adoption: 1 };
  const blue_ocean = { market_creation: 2, first_mover_window: 2, network_effects: 2, strategic_clarity: 2 };

  it("present from 35 on, whatever the file asks for", () => {
    const strict: Rrd = { ...both, mission: { ...both.mission, min_combined_score: 45 } };
    expect([34.9, 35, 45].map((combined) => decisionOf(strict, { execution: 20, strategic: 10, combined }))).toEqual([
      "EXTRACT_INSIGHTS",
      "PRESENT",
      "PRESENT",
    ]);
    expect(decisionOf({ ...both, mission: { min_blue_ocean_score: 15 } }, totals(10, 14))).toBe("REJECT");
    expect(decisionOf({ ...both, mission: { min_blue_ocean_score: 14 } }, totals(10, 14))).toBe("EXTRACT_INSIGHTS");
    expect(decisionOf({ ...both, mission: {} }, totals(12, 12))).toBe("EXTRACT_INSIGHTS");
    expect(decisionOf({ ...both, mission: undefined }, totals(18))).toBe("PRESENT");
  });

  it("decide together with what is known of the paper, which says why it changed the decision", () => {
    expect(decide(both, totals(30, 20), { retracted: true })).toEqual({
      decision: "REJECT",
      because: "the paper was retracted",
    });
    expect(decide(both, totals(0, 0), { retracted: true })).toEqual({ decision: "REJECT" });
    expect(decide(both, totals(30, 20), { retracted: false })).toEqual({ decision: "PRESENT" });
    const abstract = { read_depth: "abstract" } as const;
    expect(decide(both, totals(30, 20), abstract)).toEqual({
      decision: "EXTRACT_INSIGHTS",
      because: "only the abstract could be read",
    });
    expect(decide({ ...both, mission: undefined }, totals(30), abstract)).toMatchObject({
      decision: "EXTRACT_INSIGHTS",
    });
    expect(decide({ ...both, mission: { present_abstract_only: true } }, totals(30, 20), abstract)).toEqual({
      decision: "PRESENT",
    });
    expect(decide(both, totals(0, 0), abstract)).toEqual({ decision: "REJECT" });
    expect(decide(both, totals(30, 20), { read_depth: "full" })).toEqual({ decision: "PRESENT" });
  });

  it("are read whole from either shape, or not at all", () => {
    const of = (score_breakdown: unknown) => scoresOf({}, { ...paper("p1"), score_breakdown } as Paper);
    expect(of({ execution, blue_ocean })).toEqual({ execution, strategic: blue_ocean });
    expect(of({ ...execution, ...blue_ocean })).toMatchObject({ execution, strategic: blue_ocean });
    expect(Object.keys(of({ execution }) ?? {})).toEqual(["execution"]);
    for (const none of [
      null,
      undefined,
      { execution: 18 },
      { execution: null },
      { blue_ocean },
      { ...execution, adoption: "5" },
      { novelty: 3 },
    ]) {
      expect(of(none)).toBeUndefined();
    }
    expect(Object.keys(of({ execution, blue_ocean: { market_creation: 1 } }) ?? {})).toEqual(["execution"]);
  });

  it("of the strategic rubric count where it is used, and were given", () => {
    expect(totalsOf(both, { execution, strategic: blue_ocean })).toEqual({ execution: 6, strategic: 8, combined: 14 });
    expect(totalsOf(both, { execution })).toEqual({ execution: 6, combined: 6 });
    expect(totalsOf(one, { execution, strategic: blue_ocean })).toEqual({ execution: 6, combined: 6 });
    expect(totalsOf({ ...both, mission: undefined }, { execution, strategic: blue_ocean })).toEqual({
      execution: 6,
      combined: 6,
    });
  });
});

it("the sentinel that something follows is no sentinel", () => {
  expect(saysComplete("<promise>COMPLETE</promise>*x*")).toBe(false);
  expect(saysComplete("<promise>*COMPLETE*</promise>")).toBe(false);
});
