import { beforeAll, describe, expect, it } from "vitest";
import { createColors } from "picocolors";
import { MarkdownPrinter } from "../../src/assistant/dialogue/markdown.js";
import { readHtml } from "../../src/text/documents/html/read-html.js";
import { readJats } from "../../src/text/documents/jats/read-jats.js";
import { readLatex } from "../../src/text/documents/latex/read-latex.js";
import { linesOf } from "../../src/text/documents/pdf/layout.js";
import { joinPages } from "../../src/text/documents/pdf/pages.js";
import { readPdf } from "../../src/text/documents/pdf/read-pdf.js";
import { readMarkdown } from "../../src/text/documents/text/markdown.js";
import { countWork } from "../support/runner/count-work.js";
import { costlyLongPdfs, longPdfs } from "../support/documents/long-pdfs.js";
import { longRepeats } from "../support/documents/long-repeats.js";

const prose = "The gripper learned to grasp objects that it had never felt before. ".repeat(20);

const places: Readonly<Record<string, (text: string) => unknown>> = {
  "the body of a page": (text) => readHtml(`<html><body><p>${prose}</p>${text}</body></html>`),
  "a tag of a page": (text) => readHtml(`<html><body><p>${prose}</p><p ${text}>x</p></body></html>`),
  "a style sheet": (text) => readHtml(`<html><head><style>${text}</style></head><body><p>${prose}</p></body></html>`),
  "an article in JATS": (text) =>
    readJats(`<article><front><article-meta></article-meta></front><body><p>${prose}</p>${text}</body></article>`),
  "a source in LaTeX": (text) =>
    readLatex(Buffer.from(`\\documentclass{article}\\begin{document}${prose}\n${text}\n\\end{document}`)),
  "a plain text": (text) => readMarkdown(`${prose}\n${text}`, "markdown"),
  "an answer on a terminal": (text) => {
    const setter = new MarkdownPrinter({ colors: createColors(false), columns: () => 80, write: () => undefined });
    for (let at = 0; at < text.length; at += 20) setter.add(text.slice(at, at + 20));
    setter.end();
  },
  "the lines of a PDF": (text) => {
    const words = Array.from({ length: Math.ceil(text.length / 20) }, (_, index) =>
      text.slice(index * 20, index * 20 + 20),
    );
    const runs = words.map((word, index) => ({
      text: word,
      x: 60 + 110 * (index % 5),
      y: 800 - 12 * Math.floor(index / 5),
      width: 100,
      height: 10,
    }));
    return joinPages([linesOf(runs)]);
  },
};

/** All kinds in the long run of the property tests, one in forty in `npm test`. */
const isLongRun = Number(process.env["RR_FUZZ_CASES"] ?? 1500) >= 1000;
const tried = longRepeats.filter((repeat, index) => isLongRun || index % 40 === 0 || repeat === "x* [");

const [small, large] = [1000, 4000];
/** Linear work grows by 4, and by somewhat more where a table grows; quadratic work by 16. */
const maxGrowth = 7;
/** Blocks of code carried out: below this a reading does nothing that could grow. */
const ofInterest = 60_000;

/**
 * The growth where it is above the bound, undefined otherwise. Now and then V8 drops a count, of the small as of the
 * large (one measurement in some thousands); what grows too fast does so each of three times.
 */
async function tooFast(measure: () => Promise<number>): Promise<number | undefined> {
  let growth = 0;
  for (let time = 0; time < 3; time += 1) {
    growth = await measure();
    if (growth <= maxGrowth) return undefined;
  }
  return growth;
}

// Steps within a regular expression are not among them: V8 does not count those.
describe("the work of a reader, counted in blocks of code carried out", () => {
  beforeAll(async () => {
    // What is loaded and set up at the first reading is not counted.
    for (const read of Object.values(places)) await read("x ".repeat(50));
  });

  it("is counted so that quadratic work shows", async () => {
    const quadratic = (n: number) => () => {
      let sum = 0;
      for (let a = 0; a < n; a += 1) for (let b = 0; b < n; b += 1) sum += b % 2 === 0 ? 1 : 2;
      return sum;
    };
    expect((await countWork(quadratic(1200))) / (await countWork(quadratic(300)))).toBeGreaterThan(14);
  });

  it("is tried with a hundred kinds of repeats and more", () => {
    expect(longRepeats.length).toBeGreaterThan(150);
  });

  it.each(Object.keys(places))(
    "grows with the length of what is repeated, not with its square, in %s",
    async (place) => {
      const read = places[place];
      const grown: string[] = [];
      for (const repeat of tried) {
        const times = (length: number) => repeat.repeat(Math.ceil(length / repeat.length));
        const growth = await tooFast(async () => {
          const more = await countWork(() => read?.(times(large)));
          return more < ofInterest ? 0 : more / (await countWork(() => read?.(times(small))));
        });
        if (growth !== undefined) grown.push(`${JSON.stringify(repeat)}: ${growth.toFixed(1)}`);
      }
      expect(grown).toEqual([]);
    },
  );

  // The work for a PDF of one of them is taken off: to open any costs as much as a hundred lines of text, and some
  // thousands of blocks more or less from one time to the next.
  it.each([
    ["many things", longPdfs, isLongRun ? 500 : 400],
    ["many costly things", costlyLongPdfs, isLongRun ? 30 : 20],
  ] as const)("grows with the number of what a PDF holds, not with its square, in PDFs of %s", async (_, pdfs, few) => {
    const kinds = Object.entries(pdfs).filter((__, index) => isLongRun || index % 30 === 0);
    expect(Object.keys(longPdfs).length).toBeGreaterThan(70);
    const grown: string[] = [];
    for (const [kind, make] of kinds) {
      const workOf = (times: number) => countWork(() => readPdf(make(times)));
      await workOf(1);
      const growth = await tooFast(async () => {
        const alone = await workOf(1);
        const more = (await workOf(4 * few)) - alone;
        return more < ofInterest ? 0 : more / Math.max(1, (await workOf(few)) - alone);
      });
      if (growth !== undefined) grown.push(`${kind}: ${growth.toFixed(1)}`);
    }
    expect(grown).toEqual([]);
  });
});
