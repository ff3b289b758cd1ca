import fc from "../../support/runner/fast-check.js";
import { expect, test } from "vitest";
import { occurrences } from "../../../src/text/evidence/occurrences.js";

/** Every place, one after the other. */
const places = (haystack: string, needle: string): number[] =>
  needle === "" ? [] : [...haystack].flatMap((_, at) => (haystack.startsWith(needle, at) ? [at] : []));

/** Few letters, so that texts repeat themselves and places overlap. */
const letters = (maxLength: number) => fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength });

test("every place is found once and in order, whether a text repeats itself or not", () => {
  fc.assert(
    fc.property(letters(300), letters(4), fc.nat(60), fc.nat(400), (text, short, length, start) => {
      const needle = length > 30 ? text.slice(start, start + length) : short;
      expect([...occurrences(text, needle)]).toEqual(places(text, needle));
    }),
    { numRuns: 500 },
  );
});

test("a text that repeats the needle's beginning without end gives each place and no more of them than are bounded", () => {
  const needle = `${"ab".repeat(40)}c`;
  const haystack = `${"ab".repeat(3000)}c${"ab".repeat(3000)}c`;
  expect([...occurrences(haystack, needle)]).toEqual([6000 - 80, 12_001 - 80]);
  const given = [...occurrences("a".repeat(20_000), "a".repeat(100))];
  expect(given).toEqual(Array.from({ length: 64 + 1600 }, (_, at) => at));
});
