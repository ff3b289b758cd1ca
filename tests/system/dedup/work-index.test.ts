import { expect, it } from "vitest";
import type { TitledPaper } from "../../../src/research/papers/paper-record.js";
import { workIndex } from "../../../src/research/papers/dedup/work-index.js";
import { compareRecords } from "../../../src/research/papers/dedup/same-work.js";
import { matchFeaturesOf } from "../../../src/research/papers/dedup/match-features.js";
import { otherPairs, samePairs } from "../../fixtures/pairs/labelled-pairs.js";
import { moreOther, moreSame } from "../../fixtures/pairs/more-labelled-pairs.js";

const records = [...samePairs, ...moreSame, ...otherPairs, ...moreOther].flatMap(([, a, b]): TitledPaper[] => [a, b]);

it("finds the same first twin, for the same reason, as comparing with every known work would", () => {
  const known = workIndex();
  const all: { id: string; traits: ReturnType<typeof matchFeaturesOf> }[] = [];
  let twins = 0;
  for (const [index, record] of records.entries()) {
    const traits = matchFeaturesOf(record);
    const whole = all
      .map(({ id, traits: other }) => ({ id, answer: compareRecords(other, traits) }))
      .find(({ answer }) => answer.same);
    const expected = whole?.answer.same === true ? { id: whole.id, why: whole.answer.why } : undefined;
    expect(known.twinOf(traits), JSON.stringify(record)).toEqual(expected);
    if (expected !== undefined) twins += 1;
    known.add(String(index), traits);
    all.push({ id: String(index), traits });
  }
  expect(twins).toBeGreaterThan(60);
});

it("a new work is compared with few of thousands, and never with those that it may not be", () => {
  const known = workIndex();
  const paper = (n: number): TitledPaper => ({
    title: `Grasping object ${n} of ${n * 7} by touch and sight`,
    authors: [`Ada Sample${n}`, "Bo Other"],
    date: "2024",
  });
  for (let n = 0; n < 5000; n++) known.add(`p${n}`, matchFeaturesOf(paper(n)));
  const asked: string[] = [];
  const ask = (may: boolean) => known.twinOf(matchFeaturesOf(paper(4321)), (id) => (asked.push(id), may));
  expect(ask(true)?.id).toBe("p4321");
  expect(asked.length).toBeLessThan(20);
  expect(ask(false)).toBeUndefined();
});

it("compares a new work with few of thousands whose titles begin alike, and still knows one by its DOI", () => {
  const known = workIndex();
  const paper = (n: number): TitledPaper => ({
    title: `Study number ${n} of all`,
    authors: ["Moreau, Lise"],
    date: "2024",
    identifiers: { doi: `10.1000/${n}` },
  });
  for (let n = 0; n < 3000; n++) known.add(`p${n}`, matchFeaturesOf(paper(n)));
  let asked = 0;
  const ask = (n: number) => known.twinOf(matchFeaturesOf(paper(n)), () => ((asked += 1), true))?.id;
  expect([ask(2999), ask(3000)]).toEqual(["p2999", undefined]);
  expect(asked).toBeLessThan(600);
});
