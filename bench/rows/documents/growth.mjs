// How the CPU time of the quote finder and of the readers grows when what is repeated doubles, regular expressions
// included, which the tests do not count. Linear work doubles, quadratic work grows fourfold.
import { load } from "../../../scripts/bundle.mjs";
import { size } from "../../measure.mjs";

/** Characters repeated; twice as many are compared with them. */
const length = size(50_000, 500);
/** Milliseconds: what takes less at twice the length is too short to be measured, and harms nobody. */
const ofInterest = 80;

export const row = {
  name: "growth",
  what: "CPU time of the quote finder and the readers when a hostile repeat doubles in length, the worst of all kinds",
  hold: "≤ 3 times",
  command: "npm run bench -- growth",
  async run() {
    const parts = await load({
      finder: "src/text/evidence/find-quote.ts",
      numbers: "src/text/evidence/numbers/quantities.ts",
      html: "src/text/documents/html/read-html.ts",
      jats: "src/text/documents/jats/read-jats.ts",
      latex: "src/text/documents/latex/read-latex.ts",
      markdown: "src/text/documents/text/markdown.ts",
      repeats: "tests/support/documents/long-repeats.ts",
    });
    const kinds = parts.repeats.longRepeats;
    const told = [];
    for (const [name, work] of Object.entries(works(parts))) {
      let worst = { growth: 0 };
      for (const kind of kinds) {
        const of = (size) => cpu(() => work(kind.repeat(Math.ceil(size / kind.length))));
        if ((await of(2 * length)) < ofInterest) continue;
        const growthAt = async (size) => {
          // The better of two: other programs only ever add to it.
          const twice = Math.min(await of(2 * size), await of(2 * size));
          return { growth: twice / Math.min(await of(size), await of(size)), twice };
        };
        let { growth, twice } = await growthAt(length);
        if (twice < ofInterest) continue;
        // Once more where it is longer: collecting garbage begins at some length.
        if (growth > 2.5) growth = Math.min(growth, (await growthAt(4 * length)).growth);
        if (growth > worst.growth) worst = { growth, kind, twice };
      }
      const at = worst.growth === 0 ? "" : ` (${JSON.stringify(worst.kind)}, ${Math.round(worst.twice)} ms)`;
      told.push(`${name} ${worst.growth === 0 ? `below ${ofInterest} ms` : worst.growth.toFixed(1)}${at}`);
    }
    return { ours: `${kinds.length} kinds of ${length.toLocaleString("en")} characters; ${told.join("; ")}` };
  },
};

async function cpu(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const sentence = "The gripper held nine of the wet spheres in 4.9 s.";

function works({ finder, numbers, html, jats, latex, markdown }) {
  const prose = `${sentence} `.repeat(20);
  return {
    "a text": (piece) => {
      finder.findQuote(`${sentence} ${piece}`, sentence.replace("nine", "eight"));
      numbers.quantitiesIn(piece);
    },
    "a quote": (piece) => finder.findQuote(sentence, `${sentence} ${piece}`),
    "a quote and its text": (piece) => finder.findQuote(`It ${piece}${piece}`, piece),
    "a page": (piece) => html.readHtml(`<html><body><p>${prose}</p>${piece}</body></html>`),
    "a tag": (piece) => html.readHtml(`<html><body><p>${prose}</p><p ${piece}>x</p></body></html>`),
    "a style sheet": (piece) => html.readHtml(`<html><head><style>${piece}</style></head><body>${prose}</body></html>`),
    "an article in JATS": (piece) => jats.readJats(`<article><body><p>${prose}</p>${piece}</body></article>`),
    "a source in LaTeX": (piece) =>
      latex.readLatex(Buffer.from(`\\documentclass{article}\\begin{document}${prose}\n${piece}\n\\end{document}`)),
    "a plain text": (piece) => markdown.readMarkdown(`${prose}\n${piece}`, "markdown"),
  };
}
