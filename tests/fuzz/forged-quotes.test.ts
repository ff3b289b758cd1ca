import { describe, expect, it } from "vitest";
import { findQuote, type QuoteMatch } from "../../src/text/evidence/find-quote.js";
import { disguised, Draw, type QuoteClass, refused, shown } from "./quote-table.js";

/**
 * Of each class; the whole table is some 500 forged and 500 true quotes in the full run, a tenth of them in `npm test`.
 */
const casesEach = Number(process.env["RR_FUZZ_CASES"] ?? 1500) >= 1000 ? 40 : 4;
const seed = Number(process.env["RR_SEED"] ?? 1);

const around = [
  "We begin with the parts of the machine and their makers.",
  "Its cables were drawn along the frame.",
  "The room was swept each morning.",
  "A list of parts is kept by the second author.",
];

/** The cases of a class that come out otherwise than `isRight` wants, each with its text. */
function wrong({ make }: QuoteClass, isRight: (match: QuoteMatch, paper: string) => boolean): string[] {
  const failed: string[] = [];
  for (let index = 0; index < casesEach; index += 1) {
    const { text, quote } = make(new Draw(seed * 7919 + index));
    const paper = `${around[0]} ${around[1]}\n\n${text}\n\n${around[2]} ${around[3]}`;
    if (!isRight(findQuote(paper, quote), paper)) failed.push(`${JSON.stringify(quote)} in ${JSON.stringify(text)}`);
  }
  return failed;
}

const isEvidence = (match: QuoteMatch): boolean => match.found && match.isCited !== true;

const flat = (text: string): string =>
  text
    .replace(/\[p\. \d+\]/g, " ")
    .replace(/\s+/g, " ")
    .trim();

/** Whether every line of a passage is made of whole sentences or whole lines of the paper. */
function isWhole(match: QuoteMatch, paper: string): boolean {
  if (!match.found) return true;
  const whole = flat(paper);
  const rows = new Set(paper.split("\n").map(flat));
  return match.passage.split("\n").every((line) => {
    if (rows.has(line)) return true;
    const at = whole.indexOf(line);
    const before = whole.slice(0, Math.max(0, at));
    const behind = whole.slice(at + line.length);
    return (
      at !== -1 && /(?:^|[.?!:。]["”)]* )$/.test(before) && /^(?:$| )/.test(behind) && /[.?!:。]["”)]*$/.test(line)
    );
  });
}

describe("no forged quote is found", () => {
  it.each(refused.map((each) => [each.name, each] as const))("%s", (_, each) => {
    expect(wrong(each, (match) => !isEvidence(match))).toEqual([]);
  });
});

describe("what a quote leaves out stands in its passage", () => {
  it.each(shown.map((each) => [each.name, each] as const))("%s", (_, each) => {
    expect(wrong(each, isWhole)).toEqual([]);
  });
});

describe("a true quote is found in spite of", () => {
  it.each(disguised.map((each) => [each.name, each] as const))("%s", (_, each) => {
    expect(wrong(each, isEvidence)).toEqual([]);
  });
});
