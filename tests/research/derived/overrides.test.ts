import { describe, expect, test } from "vitest";
import type { Answer, Criterion, Exclusion, Override, Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { parseRrd } from "../../../src/research/project-files/rrd-file.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { decidedExamples } from "../../../src/research/derived/decided-examples.js";
import { eligibilityOf, isIneligible } from "../../../src/research/screening/eligibility/eligibility.js";
import { hasOpenOverride, withOverride, withOverrides } from "../../../src/research/derived/overrides.js";
import fc from "../../support/runner/fast-check.js";
import { paper, rrdWith, scoresOfAll } from "../../support/projects/research.js";

const criteria: Criterion[] = [
  { id: "c1", kind: "include", text: "randomised trial" },
  { id: "c2", kind: "exclude", text: "animal study" },
];
const { execution, strategic: blue_ocean } = scoresOfAll(3);
const points = { execution, blue_ocean };
const because = (decision: Override["decision"]): Override => ({ decision, why: "A reason." });
const answer = (criterion: string, given: Answer["answer"], stage: Answer["stage"] = "full_text"): Answer => ({
  criterion,
  stage,
  answer: given,
});

describe("what answers come to", () => {
  test.each([
    ["yes", "no", undefined, []],
    ["no", "no", "c1", []],
    ["yes", "yes", "c2", []],
    ["no", "yes", "c1", []],
    ["unclear", "yes", "c2", []],
    ["unclear", "no", undefined, ["c1"]],
    ["unclear", "unclear", undefined, ["c1", "c2"]],
  ] as const)("include %s and exclude %s: excluded by %s, open %j", (first, second, by, open) => {
    const found = eligibilityOf(criteria, [answer("c1", first), answer("c2", second)]);
    expect([found.excludedBy?.id, found.open.map(({ id }) => id)]).toEqual([by, open]);
  });

  test("what was not answered is open, and an answer to no criterion says nothing", () => {
    expect(eligibilityOf(criteria, [answer("c9", "no")]).open).toHaveLength(2);
    expect(eligibilityOf([], [answer("c1", "no")])).toEqual({ open: [] });
  });
});

const anyOverride = fc.constantFrom(because("include"), because("exclude"), because("not_retrieved"));

/** Papers as projects hold them: unread, read, excluded, waiting, retracted, with and without a person's word. */
const anyPaper = (index: number): fc.Arbitrary<Paper> =>
  fc
    .record({
      kind: fc.constantFrom("pending", "presented", "rejected", "excluded", "waiting", "retracted"),
      override: fc.option(anyOverride, { nil: undefined }),
      isScreened: fc.boolean(),
    })
    .map(({ kind, override, isScreened }) => {
      const screened = isScreened ? [answer("c1", "yes", "screening"), answer("c2", "unclear", "screening")] : [];
      const read = { analysis: { summary: "It works." }, iteration: 3, read_depth: "full" as const };
      const over: Partial<Paper> =
        kind === "pending"
          ? {}
          : kind === "presented"
            ? { ...read, status: "presented", decision: "PRESENT", score: 30, score_breakdown: points }
            : kind === "rejected"
              ? { ...read, status: "rejected", decision: "REJECT", score: 10, score_breakdown: scoresNested(1) }
              : kind === "excluded"
                ? {
                    ...read,
                    status: "rejected",
                    decision: "REJECT",
                    score: null,
                    held_scores: points,
                    excluded_by: "c2",
                  }
                : kind === "waiting"
                  ? { ...read, status: "waiting", decision: null, score: null, held_scores: points }
                  : { status: "rejected", decision: "REJECT", retracted: true, iteration: 2, score: null };
      return paper(`p${index}`, {
        ...over,
        ...(screened.length === 0 ? {} : { answers: screened }),
        ...(override === undefined ? {} : { override }),
      });
    });
const scoresNested = (each: number) => ({
  execution: scoresOfAll(each).execution,
  blue_ocean: scoresOfAll(each).strategic,
});

const anyExclusion = (index: number): fc.Arbitrary<Exclusion> =>
  fc
    .record({
      stage: fc.constantFrom("screened", "duplicate", "window", "retracted", "notice"),
      criterion: fc.option(fc.constantFrom("c1", "c2", "gone"), { nil: undefined }),
      override: fc.option(anyOverride, { nil: undefined }),
    })
    .map(({ stage, criterion, override }) => ({
      id: `x${index}`,
      title: `Excluded ${index}`,
      reason: "A reason.",
      stage: stage as NonNullable<Exclusion["stage"]>,
      ...(stage === "duplicate" ? { duplicate_of: "p0" } : {}),
      ...(criterion === undefined || stage !== "screened" ? {} : { criterion }),
      ...(override === undefined ? {} : { override }),
    }));

const some = <Value>(of: (index: number) => fc.Arbitrary<Value>) =>
  fc.integer({ min: 0, max: 8 }).chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => of(index))));
const anyProject: fc.Arbitrary<Rrd> = fc
  .record({ papers: some(anyPaper), excluded: some(anyExclusion) })
  .map(({ papers, excluded }) => {
    const rrd = rrdWith(papers as Paper[]);
    return { ...rrd, requirements: { ...rrd.requirements, criteria }, excluded: excluded as Exclusion[] };
  });

const sum = (counts: Readonly<Record<string, number>> = {}) => Object.values(counts).reduce((a, b) => a + b, 0);

describe("whatever stands in a project", () => {
  test("each stage of the flow gives out what came in, and the file stays valid", () => {
    fc.assert(
      fc.property(anyProject, (rrd) => {
        const after = derive(rrd, []);
        const { screening, full_text: read } = after.statistics?.discovery_metrics?.flow ?? {};
        expect(screening?.screened).toBe((screening?.passed ?? 0) + sum(screening?.excluded));
        expect(read?.sought).toBe((screening?.passed ?? 0) + (read?.added ?? 0));
        const missing = after.papers_pool.filter(({ status }) => status === "not_retrieved").length;
        expect(read?.not_retrieved ?? 0).toBe(missing);
        const outs = [read?.not_read, missing, sum(read?.excluded), read?.waiting, read?.included];
        expect(read?.sought).toBe(outs.reduce<number>((total, count) => total + (count ?? 0), 0));
        for (const count of [...outs, read?.added]) expect(count).toBeGreaterThanOrEqual(0);
        expect(parseRrd(JSON.stringify(after), "rrd.json").problems).toBeUndefined();
      }),
    );
  });

  test("an override is applied once: a second time changes nothing, and none is left open", () => {
    fc.assert(
      fc.property(anyProject, (rrd) => {
        const once = withOverrides(rrd);
        expect(withOverrides(once)).toEqual(once);
        expect(hasOpenOverride(once)).toBe(false);
        expect(once.papers_pool.length + (once.excluded?.length ?? 0)).toBe(
          rrd.papers_pool.length + (rrd.excluded?.length ?? 0),
        );
        for (const { override, status, score, retracted } of once.papers_pool) {
          if (override?.decision === "exclude") expect([status, score]).toEqual(["rejected", null]);
          if (override?.decision === "include" && retracted !== true)
            expect(["pending", "presented"]).toContain(status);
          if (override?.decision === "not_retrieved" && retracted !== true)
            expect([status, score]).toEqual(["not_retrieved", null]);
          if (retracted === true) expect(status).toBe("rejected");
        }
      }),
    );
  });

  test("nobody's decision changes nothing", () => {
    fc.assert(
      fc.property(anyProject, (rrd) => {
        const without = <One extends object>(one: One): One =>
          Object.fromEntries(Object.entries(one).filter(([name]) => name !== "override")) as One;
        const plain: Rrd = {
          ...rrd,
          papers_pool: rrd.papers_pool.map(without),
          excluded: (rrd.excluded ?? []).map(without),
        };
        expect(withOverrides(plain)).toBe(plain);
      }),
    );
  });

  test("a paper that a person could not get keeps its points back, and including it has them count", () => {
    const read = { analysis: {}, iteration: 1, status: "presented", decision: "PRESENT", score: 30 } as const;
    const rrd = rrdWith([paper("p1", { ...read, score_breakdown: points })]);
    const without = withOverrides(withOverride(rrd, "p1", because("not_retrieved")));
    expect(without.papers_pool[0]).toMatchObject({
      status: "not_retrieved",
      score: null,
      held_scores: points,
      not_retrieved: { reason: "A person could not get it: A reason." },
    });
    expect(isIneligible(without.papers_pool[0] as Paper)).toBe(true);
    const [back] = withOverrides(withOverride(without, "p1", because("include"))).papers_pool;
    expect(back).toMatchObject({ status: "presented", score: 30 });
    expect(back?.not_retrieved).toBeUndefined();
  });

  test("deciding the same again changes nothing, not even the time of the decision", () => {
    const rrd = withOverrides(withOverride(rrdWith([paper("p1")]), "p1", because("exclude")));
    const later = { ...because("exclude"), at: "2030-01-01T00:00:00.000Z" };
    expect(withOverride(rrd, "p1", later)).toBe(rrd);
    for (const other of [{ why: "Another." }, { criterion: "c1" }, { decision: "include" as const }])
      expect(withOverride(rrd, "p1", { ...later, ...other }).papers_pool[0]?.override).toMatchObject(other);
  });

  test("points decide nothing on a paper that a person includes", () => {
    const low = { status: "rejected", decision: "REJECT", score: 10, score_breakdown: scoresNested(1) } as const;
    const read = { analysis: {}, iteration: 1, read_depth: "abstract", override: because("include") } as const;
    const [after] = withOverrides(rrdWith([paper("p1", { ...low, ...read })])).papers_pool;
    expect(after).toMatchObject({ status: "presented", decision: "PRESENT", score: 10 });
  });

  test("excluding a paper without a text and including it again leaves it without a text", () => {
    const not_retrieved = { reason: "It has no address.", cure: "Add its file.", tried: "" };
    const before = rrdWith([paper("a", { status: "not_retrieved", iteration: 3, analysis: null, not_retrieved })]);
    const excluded = withOverrides(withOverride(before, "a", because("exclude")));
    expect(excluded.papers_pool[0]?.status).toBe("rejected");
    const included = withOverrides(withOverride(excluded, "a", because("include")));
    expect(included.papers_pool[0]).toMatchObject({ status: "not_retrieved", decision: null, not_retrieved });
    expect(withOverrides(included)).toEqual(included);
  });

  test("excluding a paper and including it again gives back its status and its points", () => {
    const before = paper("p1", {
      status: "presented",
      decision: "PRESENT",
      score: 30,
      score_breakdown: points,
      analysis: {},
      iteration: 1,
    });
    const rrd = rrdWith([before]);
    const excluded = withOverrides(withOverride(rrd, "p1", because("exclude")));
    expect(excluded.papers_pool[0]).toMatchObject({ status: "rejected", score: null, score_breakdown: null });
    const back = withOverrides(withOverride(excluded, "p1", because("include")));
    expect(back.papers_pool[0]).toEqual({ ...before, override: because("include") });
  });
});

describe("a person's decision as an example for the order", () => {
  test("beats the score and the criteria", () => {
    const low = { status: "rejected", decision: "REJECT", score: 10, score_breakdown: scoresNested(1) } as const;
    const rrd: Rrd = {
      ...rrdWith([
        paper("low", low),
        paper("wanted", { ...low, override: because("include") }),
        paper("unwanted", { status: "rejected", override: because("exclude") }),
        paper("waits", { status: "waiting" }),
      ]),
      excluded: [
        { id: "old", title: "Old", reason: "old", stage: "window" },
        { id: "not", title: "Not", reason: "old", stage: "window", override: because("exclude") },
      ],
    };
    expect(decidedExamples(rrd).map(({ id, kept }) => [id, kept])).toEqual([
      ["low", false],
      ["wanted", true],
      ["unwanted", false],
      ["waits", true],
      ["not", false],
    ]);
  });
});

test("a decision on a record that is gone changes nothing", () => {
  const rrd = rrdWith([paper("p1")]);
  expect(withOverride(rrd, "p2", because("include"))).toBe(rrd);
});
