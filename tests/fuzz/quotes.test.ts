import fc from "../support/fast-check.js";
import { describe, expect, it } from "vitest";
import { findQuote } from "../../src/evidence/find-quote.js";
import { cases } from "./mutations.js";

/** Few letters, so that a text nearly holds a quote by chance; no bracket and no ellipsis, which may stand for other words. */
const near = fc.array(fc.constantFrom("a", "b", "ab", "1", "2", "0.5", "-", " ", "  ", "\n", ".", ", ", "é", "ﬁ", "not ", "’", "(", "%"), {
  maxLength: 40,
});
const text = near.map((parts) => parts.join(""));
const anything = fc.string({ unit: "binary", maxLength: 80 }).map((each) => each.replaceAll(/[[\]….]/gu, ""));

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

describe("a quote that is found", () => {
  it("has its letters and digits in the passage, in order and without others between them", () => {
    fc.assert(
      fc.property(text, text, fc.nat(), fc.nat(), (whole, quote, from, length) => {
        const start = from % (whole.length + 1);
        for (const each of [quote, whole.slice(start, start + (length % 30)), whole.slice(start, start + (length % 30)) + quote.slice(0, 3)]) {
          const match = findQuote(whole, each);
          if (match.found) expect(bare(whole.slice(match.start, match.end))).toBe(bare(each));
        }
      }),
      { numRuns: cases() },
    );
  });

  it("has its digits in the passage, in any text", () => {
    fc.assert(
      fc.property(anything, anything, fc.nat(), (whole, quote, from) => {
        // By characters: half of one stands in no text.
        for (const each of [quote, [...whole].slice(from % (whole.length + 1)).join("")]) {
          const match = findQuote(whole, each);
          if (match.found) expect(digits(whole.slice(match.start, match.end))).toBe(digits(each));
        }
      }),
      { numRuns: cases() },
    );
  });
});
