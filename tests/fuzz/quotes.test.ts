import { describe, expect, it } from "vitest";
import { findQuote } from "../../src/text/evidence/find-quote.js";
import fc, { anyText } from "../support/runner/fast-check.js";
import { cases } from "./mutations.js";
import { tallyOf } from "./tally.js";

/**
 * What each piece says, written down by hand: no rule of Unicode's or of the finder's is asked. Nothing is said by
 * white space and punctuation; a number is one saying, however many pieces it has.
 */
const sayings: Readonly<Record<string, string>> = {
  ...Object.fromEntries([..."abnot"].map((letter) => [letter, letter])),
  é: "e",
  "e\u0301": "e",
  ﬁ: "fi",
  𝐛: "b",
  β: "beta",
  "=": "equal",
  "≠": "unequal",
  "=\u0338": "unequal",
  "\u0338=": "unequal",
  "=\u20d2": "equal, struck down",
  "∈": "in",
  "∉": "not in",
  "∈\u0338": "not in",
  "∃": "exists",
  "∄": "exists not",
  "⩽": "at most",
  "⩽\u0338": "not at most",
};
const inPieces = Object.keys(sayings).toSorted((a, b) => b.length - a.length);

/**
 * Few words, so that a text nearly holds a quote by chance; no bracket, ellipsis or run of dots, which may stand for
 * other words.
 */
const words = [
  ...[
    "a ",
    "a ",
    "b ",
    "ab ",
    "ab ",
    "1 ",
    "2 ",
    "0.5 ",
    "not ",
    "b\n",
    "a. ",
    "b, ",
    "é",
    "e\u0301",
    "ﬁ",
    "𝐛",
    "β ",
    "-",
    "’",
    "(",
    "%",
    " ",
  ],
  ...["= ", "=", "≠ ", "=\u0338 ", "\u0338= ", "=\u20d2 ", "∈ ", "∉ ", "∈\u0338", "∃ ", "∄ ", "⩽ ", "⩽\u0338 "],
  ...["1", "½ ", "½", "1⁄2 ", "3/4 ", "² "],
];
/** Two texts and a word, all of the same few words. */
const near = fc.shuffledSubarray(words, { minLength: 6, maxLength: 12 }).chain((few) => {
  const some = fc.array(fc.constantFrom(...few), { minLength: 12, maxLength: 40 });
  return fc.tuple(some, some, fc.constantFrom(...few));
});
const anyWord = anyText({ maxLength: 8 }).map((each) => each.replaceAll(/[[\]….]/gu, ""));
const anyWords = fc.array(
  fc.oneof(
    anyWord,
    fc.integer().map((number) => String(number)),
  ),
  { maxLength: 24 },
);

interface Saying {
  readonly said: string;
  readonly from: number;
  readonly to: number;
}

/**
 * What a text of these words says, piece by piece; a number of its digits, its point, its fraction and its power is
 * one. A ² of no number is a 2, as in H₂O.
 */
function read(text: string): Saying[] {
  const found: Saying[] = [];
  for (let at = 0; at < text.length;) {
    const number = /^(?:(?:\d+(?:\.\d+|[/⁄]\d+)?|½)(?:\s*²+)?|²+)/.exec(text.slice(at))?.[0];
    const piece = number ?? inPieces.find((each) => text.startsWith(each, at));
    const said =
      number === undefined
        ? sayings[piece ?? ""]
        : number
            .replace("⁄", "/")
            .replace("½", "1/2")
            .replaceAll(/\s/g, "")
            .replace(/^²+/, (twos) => "2".repeat(twos.length));
    const to = at + (piece ?? " ").length;
    if (said !== undefined) found.push({ said, from: at, to });
    at = to;
  }
  return found;
}
const saidBy = (text: string): string =>
  read(text)
    .map(({ said }) => said)
    .join(" ");
/** What the text says between two places, with all of a piece or number of which only a part lies there. */
const saidWithin = (text: string, { start, end }: { start: number; end: number }): string =>
  read(text)
    .filter(({ from, to }) => from < end && to > start)
    .map(({ said }) => said)
    .join(" ");
/**
 * Numbers raised behind a word of three letters, or behind a shorter one and its stop, may be marks of footnotes, which
 * a quote may leave out; several of them too.
 */
const footnotes = /(?<=\p{Ll}{3}|\p{Ll}{2}[.,(’])(?: ?[¹²³⁰⁴-⁹]{1,3}(?![\p{L}\p{N}])){1,20}/gu;
const withoutFootnotes = (text: string): string => text.replaceAll(footnotes, (marks) => " ".repeat(marks.length));
/**
 * What a quote of the passage may say: all of it, or without its footnotes, or with those right behind it, which the
 * finder leaves out of the quote and of the passage where another raised number follows.
 */
function mayBeSaid(text: string, { start, end }: { start: number; end: number }): string[] {
  const marks = /^(?: ?[¹²³⁰⁴-⁹]{1,3}){1,20}/.exec(text.slice(end))?.[0] ?? "";
  const behind =
    withoutFootnotes(text)
      .slice(end, end + marks.length)
      .trim() === ""
      ? marks
      : "";
  return [
    saidWithin(text, { start, end }),
    saidWithin(withoutFootnotes(text), { start, end }),
    saidWithin(text, { start, end: end + behind.length }),
  ];
}
const digits = (value: string): string => value.normalize("NFKD").replaceAll(/[^0-9]/g, "");

/** Some of the words, from four on: fewer say too little to be looked for. */
const stretch = (all: readonly string[], from: number, length: number): string[] => {
  const start = from % (all.length + 1);
  return all.slice(start, start + 4 + (length % 12));
};
/** The same words but for one. */
const withOther = (all: readonly string[], place: number, word: string): string[] =>
  all.with(place % Math.max(1, all.length), word);
const both = (kind: string, share: number) => ({ [`${kind}, found`]: share, [`${kind}, not found`]: share });

describe("a quote that is found", () => {
  it("says what the passage says, in letters, numbers and signs, in order and without others between them", () => {
    const tally = tallyOf("quotes of near words", cases());
    fc.assert(
      fc.property(near, fc.nat(), fc.nat(), ([all, other, word], from, length) => {
        const whole = all.join("");
        const part = stretch(all, from, length);
        const quotes = {
          any: other.slice(0, 6),
          stretch: part,
          "stretch with another word": part.length === 0 ? part : withOther(part, from + length, word),
          "stretch with more": [...part, ...other.slice(0, 1)],
        };
        for (const [kind, quote] of Object.entries(quotes)) {
          const match = findQuote(whole, quote.join(""));
          tally.count(`${kind}, ${match.found ? "found" : "not found"}`);
          if (match.found) expect(mayBeSaid(whole, match)).toContain(saidBy(quote.join("")));
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
      fc.property(
        near,
        fc.nat(),
        fc.nat(),
        fc.nat(),
        elision,
        fc.constantFrom("behind", "behind", "anywhere", "of other words"),
        ([all, other], from, next, length, between, place) => {
          const whole = all.join("");
          const start = from % Math.ceil((all.length + 1) / 2);
          const first = stretch(all, start, length % 5).join("");
          const rest = all.slice(start + 4 + (length % 5));
          const ofOne = stretch(place === "behind" ? rest : all, next, length % 7);
          const second = (place === "of other words" ? other.slice(0, 5) : ofOne).join("");
          const match = findQuote(whole, first + between + second);
          tally.count(match.found ? "found" : "not found");
          if (!match.found) return;
          const passages = mayBeSaid(whole, match);
          expect(passages.filter((passage) => passage.startsWith(saidBy(first)))).not.toEqual([]);
          expect(passages.filter((passage) => passage.endsWith(saidBy(second)))).not.toEqual([]);
          // A footnote's mark at the end of the first fragment may be left out of the passage, or begin the second.
          expect(Math.max(...passages.map(({ length: letters }) => letters))).toBeGreaterThanOrEqual(
            saidBy(withoutFootnotes(first)).length + saidBy(second).length,
          );
        },
      ),
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
        const quotes = {
          any: other,
          stretch: part,
          "stretch with another word": part.length === 0 ? part : withOther(part, from, other[0] ?? "7"),
        };
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

  it("has the very sign of the passage: no sign of mathematics stands for another, with a stroke or without", () => {
    const tally = tallyOf("quotes of signs", cases());
    // Arrows, operators, and the supplement of operators; not the minus, which is a kind of dash.
    const sign = fc
      .oneof(fc.integer({ min: 0x2190, max: 0x22ff }), fc.integer({ min: 0x2a00, max: 0x2aff }))
      .filter((code) => code !== 0x2212)
      .map((code) => String.fromCodePoint(code));
    const struck = fc
      .tuple(sign, fc.constantFrom("", "", "\u0338", "\u20d2", "\u20e5", "\u0336"))
      .map(([each, stroke]) => each + stroke);
    fc.assert(
      fc.property(struck, struck, fc.boolean(), (one, another, sameSign) => {
        const other = sameSign ? one.slice(0, 1) + another.slice(1) : another;
        const { found } = findQuote(`We saw that x ${one} y in all runs.`, `We saw that x ${other} y in all runs.`);
        tally.count(found ? "found" : "not found");
        // "=" with a stroke and "≠" are two ways to write one character, which Unicode calls canonically equal.
        expect(found).toBe(one.normalize() === other.normalize());
      }),
      { numRuns: cases() },
    );
    tally.close({ found: 0.05, "not found": 0.5 });
  });
});
