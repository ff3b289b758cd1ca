import fc from "../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import { findQuote } from "../../../src/text/evidence/find-quote.js";

/**
 * No word is the beginning, end or concatenation of others, so a quote that differs in words differs for a reader too.
 */
const vocabulary =
  "policy grasp tactile sensor friction torque simulation transfer gripper reward episode latency baseline contact finger rotation object variance".split(
    " ",
  );
const word = fc.constantFrom(...vocabulary);
const decimal = fc
  .tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 999 }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(3, "0")}`);
const token = fc.oneof({ weight: 5, arbitrary: word }, { weight: 1, arbitrary: decimal });
const tokens = fc.array(token, { minLength: 20, maxLength: 120 });
/** What a PDF puts between words. */
const gap = fc.constantFrom(" ", "\n", "  ", " [12] ", " [3, 4]\n", "\n\n[p. 7]\n");
const runs = { numRuns: 150 };

/** A stretch of at least six tokens. */
const slice = (all: readonly string[], from: number, length: number) => {
  const start = from % Math.max(1, all.length - 6);
  return { start, words: all.slice(start, start + 6 + (length % 10)) };
};

describe("findQuote", () => {
  it("finds every stretch of a text, whatever a PDF puts between the words", () => {
    fc.assert(
      fc.property(
        tokens,
        fc.array(gap, { minLength: 120, maxLength: 120 }),
        fc.nat(),
        fc.nat(),
        (all, gaps, from, length) => {
          const text = all.map((each, index) => each + gaps[index]).join("");
          expect(findQuote(text, slice(all, from, length).words.join(" ")).found).toBe(true);
        },
      ),
      runs,
    );
  });

  it("finds words that were broken with a hyphen at any letter", () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 6, maxLength: 40 }), fc.nat(), (all, cut) => {
        const text = all.map((each) => `${each.slice(0, 2 + (cut % 3))}-\n${each.slice(2 + (cut % 3))}`).join(" ");
        expect(findQuote(text, all.join(" ")).found).toBe(true);
      }),
      runs,
    );
  });

  it("never finds a stretch in which one digit was changed", () => {
    fc.assert(
      fc.property(
        tokens,
        decimal,
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 9 }),
        (all, number, from, at, shift) => {
          const text = [...all, "gripper", number, "episode", "latency"].join(" ");
          const place = [...number].findIndex((char, index) => index >= at % number.length && char !== ".");
          const digit = Math.max(place, number.length - 1 - (at % 3));
          const changed = [...number]
            .map((char, index) => (index === digit ? String((Number(char) + shift) % 10) : char))
            .join("");
          const before = all.slice(-1 - (from % 4)).join(" ");
          fc.pre(changed !== number);
          expect(findQuote(text, `${before} gripper ${changed} episode latency`).found).toBe(false);
        },
      ),
      runs,
    );
  });

  it("never finds a stretch from which or to which a word such as 'not' was taken or added", () => {
    fc.assert(
      fc.property(
        tokens,
        fc.nat(),
        fc.nat(),
        fc.nat(),
        fc.constantFrom("not", "no", "never", "fails"),
        (all, from, length, at, negation) => {
          const { start, words } = slice(all, from, length);
          const place = 1 + (at % (words.length - 1));
          const negated = [...words.slice(0, place), negation, ...words.slice(place)].join(" ");
          expect(findQuote(all.join(" "), negated).found).toBe(false);

          const text = [...all.slice(0, start), negated, ...all.slice(start + words.length)].join(" ");
          fc.pre(!` ${text} `.includes(` ${words.join(" ")} `));
          expect(findQuote(text, words.join(" ")).found).toBe(false);
        },
      ),
      runs,
    );
  });

  it("never finds words in an order in which they do not stand", () => {
    fc.assert(
      fc.property(tokens, fc.nat(), fc.nat(), fc.nat(), (all, from, length, swap) => {
        const { words } = slice(all, from, length);
        const place = swap % (words.length - 1);
        const swapped = words
          .map((each, index) => (index === place ? words[place + 1] : index === place + 1 ? words[place] : each))
          .join(" ");
        fc.pre(!` ${all.join(" ")} `.includes(` ${swapped} `));
        expect(findQuote(all.join(" "), swapped).found).toBe(false);
      }),
      runs,
    );
  });

  it("takes any text and any quote, and answers with offsets inside the text", () => {
    const anything = fc.string({ unit: "binary", maxLength: 200 });
    fc.assert(
      fc.property(anything, anything, fc.nat(), (text, quote, cut) => {
        for (const each of [quote, text.slice(cut % (text.length + 1))]) {
          const match = findQuote(text, each);
          if (match.found) {
            expect(0 <= match.start && match.start < match.end && match.end <= text.length).toBe(true);
            for (const [from, to] of match.quoted)
              expect(0 <= from && from <= to && to <= match.passage.length).toBe(true);
          } else expect(match.nearest.length).toBeLessThanOrEqual(300);
        }
      }),
      runs,
    );
  });
});
