import { describe, expect, test } from "vitest";
import { parseRrd } from "../../../src/research/project-files/rrd-file.js";
import { criteriaFrom, parseCriteria } from "../../../src/research/project-files/eligibility-criteria.js";
import type { Criterion } from "../../../src/research/generated/rrd.js";
import { criterionInFull, criterionText } from "../../../src/research/screening/eligibility/eligibility.js";
import { rrdWith } from "../../support/projects/research.js";

const problemsOf = (criteria: unknown) => {
  const rrd = rrdWith([]);
  const text = JSON.stringify({ ...rrd, requirements: { ...rrd.requirements, criteria } });
  return (parseRrd(text, "rrd.json").problems ?? []).map(({ pointer, message }) => `${pointer} ${message}`);
};
const include = (id: string, text: string) => ({ id, kind: "include", text });
const exclude = (id: string, text: string) => ({ id, kind: "exclude", text });

describe("criteria in rrd.json", () => {
  test("are valid in any script", () => {
    expect(
      problemsOf([include("c1", "随机对照试验"), exclude("c2", "دراسة على الحيوانات"), include("c3", "étude")]),
    ).toEqual([]);
    expect(problemsOf([])).toEqual([]);
  });

  test.each<[string, unknown, RegExp]>([
    [
      "of one id",
      [include("c1", "a trial"), exclude("c1", "mice")],
      /^\/requirements\/criteria\/1\/id "c1" is the id of/,
    ],
    [
      "that contradict each other",
      [include("c1", "Animal studies"), include("c2", "adults"), exclude("c3", "animal  studies.")],
      /^\/requirements\/criteria\/2\/text contradicts criterion c1: .* every paper would be excluded/,
    ],
    ["of 5,000 characters", [include("c1", "a".repeat(5_000))], /^\/requirements\/criteria\/0\/text .*1000/],
    [
      "of 25",
      Array.from({ length: 25 }, (_, index) => include(`c${index}`, `statement ${index}`)),
      /^\/requirements\/criteria .*20/,
    ],
    ["of another kind", [{ id: "c1", kind: "maybe", text: "x" }], /^\/requirements\/criteria\/0\/kind/],
    ["without an id", [{ kind: "include", text: "x" }], /^\/requirements\/criteria\/0.*id/],
    ["that say nothing", [include("c1", "…")], /^\/requirements\/criteria\/0\/text says nothing/],
    [
      "with more words than a brief has room for",
      Array.from({ length: 20 }, (_, index) => include(`c${index}`, `${"文".repeat(290)}${index}`)),
      /^\/requirements\/criteria have about \d+ tokens together; at most 1,200 are allowed/,
    ],
    ["that are no list", "include: trials", /^\/requirements\/criteria/],
  ])("%s are named with their place", (_, criteria, said) => {
    expect(problemsOf(criteria)).toEqual(expect.arrayContaining([expect.stringMatching(said)]));
  });
});

const pico =
  "Adults of 18 years or more with chronic heart failure, whose left ventricular ejection fraction is 40 % or less. ";

describe("criteria that a person types", () => {
  test("may be as long as those of a protocol: five of 900 characters", () => {
    const typed = ["people", "intervention", "comparator", "outcome", "design"].map(
      (part) => `include: ${part}: ${pico.repeat(9).slice(0, 880).trim()}`,
    );
    const read = parseCriteria(typed);
    expect("problem" in read ? read.problem : read.length).toBe(5);
  });

  test("are named in short where they are long, and stand in full where a person reads them", () => {
    const long: Criterion = { id: "c1", kind: "include", text: pico.repeat(8).trim() };
    expect(criterionInFull(long)).toContain(long.text);
    expect([...criterionText(long)].length).toBeLessThanOrEqual(300 + "c1 (include: )".length);
    expect(criterionText(long)).toMatch(/^c1 \(include: Adults .*…\)$/);
    expect(criterionText({ ...long, text: "adults" })).toBe("c1 (include: adults)");
  });

  test("are read in any case and spacing, each once", () => {
    expect(parseCriteria(["include: randomised  trials", "EXCLUDE:mice", "include: Randomised trials."])).toEqual([
      { id: "c1", kind: "include", text: "randomised trials" },
      { id: "c2", kind: "exclude", text: "mice" },
    ]);
  });

  test.each<[string[], RegExp]>([
    [["randomised trials"], /must begin with 'include:' or 'exclude:'/],
    [["include:  "], /has no words/],
    [[`include: ${"long ".repeat(1_000)}`], /has 4,999 characters; 1,000 are allowed/],
    [["include: mice", "exclude: mice"], /'mice' contradicts criterion c1/],
    [
      Array.from({ length: 21 }, (_, index) => `include: statement ${index}`),
      /there are 21 criteria; at most 20 are allowed/,
    ],
    [Array.from({ length: 20 }, (_, index) => `include: ${"文".repeat(280)} ${index}`), /they have about \d+ tokens/],
  ])("%j are refused with what to do", (typed, said) => {
    const read = parseCriteria(typed);
    expect("problem" in read ? read.problem : "none").toMatch(said);
  });

  test("come before an agent's proposals, of which only those stay that repeat and contradict nothing", () => {
    const given = [{ kind: "include" as const, text: "randomised trials" }];
    const proposed = [
      { kind: "exclude" as const, text: "Randomised trials" },
      { kind: "include" as const, text: "randomised trials" },
      { kind: "include" as const, text: "adults" },
      ...Array.from({ length: 30 }, (_, index) => ({ kind: "exclude" as const, text: `kind ${index}` })),
    ];
    const criteria = criteriaFrom(given, proposed);
    expect(criteria.slice(0, 3).map(({ id, kind, text }) => `${id} ${kind} ${text}`)).toEqual([
      "c1 include randomised trials",
      "c2 include adults",
      "c3 exclude kind 0",
    ]);
    expect(criteria).toHaveLength(20);
    expect(new Set(criteria.map(({ id }) => id)).size).toBe(20);
  });
});
