import { describe, expect, it } from "vitest";
import { findQuote } from "../../src/research/evidence/find-quote.js";
import { disguised, Draw, forged, type QuoteClass } from "./quote-table.js";

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

/** The cases of a class that come out otherwise than they should, of how many. */
function wrong({ make }: QuoteClass, wanted: boolean): { readonly of: number; readonly failed: string[] } {
  const failed: string[] = [];
  for (let index = 0; index < casesEach; index += 1) {
    const { text, quote } = make(new Draw(seed * 7919 + index));
    const paper = `${around[0]} ${around[1]}\n\n${text}\n\n${around[2]} ${around[3]}`;
    const match = findQuote(paper, quote);
    const isEvidence = match.found && match.isCited !== true;
    if (isEvidence !== wanted) failed.push(`${JSON.stringify(quote)} in ${JSON.stringify(text)}`);
  }
  return { of: casesEach, failed };
}

describe("no forged quote is found", () => {
  it.each(forged.map((each) => [each.name, each] as const))("%s", (_, each) => {
    expect(wrong(each, false).failed).toEqual([]);
  });
});

describe("a true quote is found in spite of", () => {
  it.each(disguised.map((each) => [each.name, each] as const))("%s", (_, each) => {
    expect(wrong(each, true).failed).toEqual([]);
  });
});
