import { describe, expect, it } from "vitest";
import { findQuote } from "../../src/evidence/find-quote.js";
import fc from "../support/fast-check.js";
import { cases } from "./mutations.js";
import { tallyOf } from "./tally.js";

/** Few words, so that a text nearly holds a quote by chance; no bracket, ellipsis or run of dots, which may stand for other words. */
const words = ["a ", "a ", "b ", "ab ", "ab ", "1 ", "2 ", "0.5 ", "not ", "b\n", "a. ", "b, ", "é", "ﬁ", "-", "’", "(", "%", " "];
const near = fc.array(fc.constantFrom(...words), { minLength: 12, maxLength: 40 });
const anyWord = fc.string({ unit: "binary", maxLength: 8 }).map((each) => each.replaceAll(/[[\]….]/gu, ""));
const anyWords = fc.array(
  fc.oneof(
    anyWord,
    fc.integer().map((number) => String(number)),
  ),
  { maxLength: 24 },
);

/** Letters and digits alone, by rules of their own: the finder's normalisation is not asked. */
const bare = (value: string): string =>
  value
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .replaceAll(/ß/g, "ss")
    .replaceAll("æ", "ae")
    .replaceAll("œ", "oe")
    .replaceAll("ø", "o")
    .replaceAll("ł", "l")
    .replaceAll("ı", "i");
const digits = (value: string): string => value.normalize("NFKD").replaceAll(/[^0-9]/g, "");

/** Some of the words, from four on: fewer say too little to be looked for. */
const stretch = (all: readonly string[], from: number, length: number): string[] => {
  const start = from % (all.length + 1);
  return all.slice(start, start + 4 + (length % 12));
};
/** The same words but for one. */
const withOther = (all: readonly string[], place: number, word: string): string[] => all.with(place % Math.max(1, all.length), word);
const both = (kind: string, share: number) => ({ [`${kind}, found`]: share, [`${kind}, not found`]: share });

describe("a quote that is found", () => {
  it("has its letters and digits in the passage, in order and without others between them", () => {
    const tally = tallyOf("quotes of near words", cases());
    fc.assert(
      fc.property(near, near, fc.nat(), fc.nat(), fc.constantFrom(...words), (all, other, from, length, word) => {
        const whole = all.join("");
        const part = stretch(all, from, length);
        const quotes = {
          any: other.slice(0, 6),
          stretch: part,
          "stretch with another word": part.length === 0 ? part : withOther(part, from + length, word),
          "stretch with more": [...part, ...other.slice(0, 2)],
        };
        for (const [kind, quote] of Object.entries(quotes)) {
          const match = findQuote(whole, quote.join(""));
          tally.count(`${kind}, ${match.found ? "found" : "not found"}`);
          if (match.found) expect(bare(whole.slice(match.start, match.end))).toBe(bare(quote.join("")));
        }
      }),
      { numRuns: cases() },
    );
    tally.close({
      ...both("stretch", 0.1),
      ...both("stretch with another word", 0.01),
      ...both("stretch with more", 0.01),
      "any, not found": 0.5,
    });
  });

  it("with words left out has its fragments at both ends of the passage, in their order", () => {
    const tally = tallyOf("quotes with words left out", cases());
    const elision = fc.constantFrom("…", " ... ", " […] ", "[...]", " (…) ");
    fc.assert(
      fc.property(near, near, fc.nat(), fc.nat(), fc.nat(), elision, fc.boolean(), (all, other, from, next, length, between, ofOne) => {
        const whole = all.join("");
        const first = stretch(all, from % Math.ceil((all.length + 1) / 2), length % 5).join("");
        const second = (ofOne ? stretch(all, next, length % 7) : other.slice(0, 5)).join("");
        const match = findQuote(whole, first + between + second);
        tally.count(match.found ? "found" : "not found");
        if (!match.found) return;
        const passage = bare(whole.slice(match.start, match.end));
        expect(passage.startsWith(bare(first))).toBe(true);
        expect(passage.endsWith(bare(second))).toBe(true);
        expect(passage.length).toBeGreaterThanOrEqual(bare(first).length + bare(second).length);
      }),
      { numRuns: cases() },
    );
    tally.close({ found: 0.02, "not found": 0.1 });
  });

  it("has its digits in the passage, in any text", () => {
    const tally = tallyOf("quotes of any text", cases());
    fc.assert(
      fc.property(anyWords, anyWords, fc.nat(), fc.nat(), (all, other, from, length) => {
        const whole = all.join(" ");
        const part = stretch(all, from, length);
        const quotes = { any: other, stretch: part, "stretch with another word": part.length === 0 ? part : withOther(part, from, other[0] ?? "7") };
        for (const [kind, quote] of Object.entries(quotes)) {
          const match = findQuote(whole, quote.join(" "));
          tally.count(`${kind}, ${match.found ? "found" : "not found"}`);
          if (match.found) expect(digits(whole.slice(match.start, match.end))).toBe(digits(quote.join(" ")));
        }
      }),
      { numRuns: cases() },
    );
    tally.close({ ...both("stretch", 0.1), "stretch with another word, not found": 0.1 });
  });
});
