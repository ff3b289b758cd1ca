// How well PDFs are read: sentences of another reader's text that are found in ours, and lines that run over two
// columns. `--data` names a folder of PDFs, each with that text next to it (`<name>.txt`, as `pdftotext -enc UTF-8`
// writes it); without it pdftotext is asked.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { mustRun, thousands } from "../../measure.mjs";

export const row = {
  name: "documents",
  what: "sentences of PDFs as pdftotext has them, lists of references left out, found in our text; lines spliced of two columns",
  hold: "≥ 95 % found",
  command: "npm run bench -- documents --data <folder>",
  async run({ data } = {}) {
    if (data === undefined) return { ours: "not measured: name a folder with --data" };
    const files = readdirSync(data).filter((name) => /\.pdf$/i.test(name));
    if (files.length === 0) return { ours: `not measured: ${data} has no PDFs` };
    const { finder, reader } = await load({
      finder: "src/text/evidence/find-quote.ts",
      reader: "src/text/documents/pdf/read-pdf.ts",
    });
    const scores = [];
    for (const file of files.toSorted()) scores.push(await scoreOf(join(data, file), finder.findQuote, reader.readPdf));
    const sum = (name) => scores.reduce((total, score) => total + score[name], 0);
    const share = ({ found, of }) => `${thousands(found)}/${thousands(of)}`;
    const all = { found: sum("found"), of: sum("of") };
    return {
      ours: [
        `sentences found ${share(all)}`,
        `lines spliced of two columns ${sum("spliced")}/${thousands(sum("lines"))}`,
        ...scores
          .filter(({ of }) => of > 0)
          .map((score) => `${score.name} (${score.depth}, ${score.spliced} spliced) ${share(score)}`),
      ].join("; "),
    };
  },
};

async function scoreOf(path, findQuote, readPdf) {
  const beside = path.replace(/\.pdf$/i, ".txt");
  const other = existsSync(beside)
    ? readFileSync(beside, "utf8")
    : (await mustRun("pdftotext", ["-enc", "UTF-8", path, "-"])).stdout;
  const sentences = sentencesOf(withoutReferences(other));
  const name = basename(path).replace(/\.pdf$/i, "");
  const read = await readPdf(readFileSync(path));
  if (read.status !== "ok") return { name, depth: read.status, found: 0, of: sentences.length, spliced: 0, lines: 0 };
  // Ours without its lists too: a sentence that stands in one only is not found, and none is refused for standing in
  // one.
  const own = withoutReferences(read.text.text);
  const text = { ...read.text, text: own, marks: read.text.marks.filter(({ at }) => at < own.length) };
  const missed = sentences.filter((sentence) => !findQuote(text, sentence).found);
  const lines = own.split("\n");
  const spliced = splicedOf(lines, other);
  if (process.env.RR_MISSED !== undefined) {
    for (const sentence of missed) console.error(JSON.stringify({ name, sentence, ...findQuote(text, sentence) }));
    for (const line of spliced) console.error(JSON.stringify({ name, spliced: line }));
  }
  return {
    name,
    depth: read.text.depth,
    found: sentences.length - missed.length,
    of: sentences.length,
    spliced: spliced.length,
    lines: lines.length,
  };
}

const heading = /^(?:#+ )?(?:\d{1,2}\.? |[IVX]{1,5}\.? )?(?:references|bibliography|literature cited|参考文献)$/i;
const behind =
  /^(?:#+ )?(?:[A-Z]\.? |\d{1,2}\.? |[IVX]{1,5}\.? )?(?:appendi(?:x|ces)|supplementa|acknowledg|about the authors?)/i;

/** Without the lists of references: from the last heading of one to that of an appendix, else to the end. */
function withoutReferences(text) {
  const lines = text.split(/\n|\f/);
  const start = lines.findLastIndex((line) => heading.test(line.trim()));
  if (start === -1) return lines.join("\n");
  const next = lines.slice(start + 1).findIndex((line) => behind.test(line.trim()));
  return [...lines.slice(0, start), ...(next === -1 ? [] : lines.slice(start + 1 + next))].join("\n");
}

/** Whole sentences of at least eight words within one paragraph, or of fifteen characters of Chinese or Japanese. */
function sentencesOf(text) {
  return text.split(/\n\s*\n/).flatMap((paragraph) => {
    const western = (paragraph.match(westernSentence) ?? []).filter(
      (each) => each.split(/\s+/).length >= 8 && !entryOfList.test(each),
    );
    const eastern = (paragraph.match(/(?<=^|。)[^。]{15,200}。/gu) ?? []).filter((each) =>
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{5}/u.test(each),
    );
    return [...western, ...eastern];
  });
}

const shortened = String.raw`(?<=\b(?:al|e\.g|i\.e|cf|vs|Figs?|Eqs?|Secs?|Tab|Refs?|No|resp|\p{Lu}))\.`;
const westernSentence = new RegExp(
  String.raw`(?<=^|[.!?]["”’)\]]?\s)["“‘(]?\p{Lu}(?:[^.!?]|[.!?](?!\s|$)|${shortened}){30,600}[.!?](?=\s+["“‘([]?\p{Lu}|\s*$)`,
  "gu",
);
/** What a list of references holds that columns have torn from its heading. */
const entryOfList = /\bURL\b|https?:\/\/|\b\p{Lu}\. \p{Lu}\p{L}+, \p{Lu}\./u;

/** Lines whose left part and right part both stand in the other text, and not in one sentence there. */
function splicedOf(lines, other) {
  const known = new Set();
  const words = wordsOf(other);
  for (let at = 0; at + 3 <= words.length; at += 1) known.add(words.slice(at, at + 3).join(" "));
  return lines.filter((line) => {
    const own = wordsOf(line);
    const has = own.slice(2).map((_, at) => known.has(own.slice(at, at + 3).join(" ")));
    // Of the trigrams the two that cross the cut are unknown, and at least two on either side are known.
    return has.some(
      (_, at) =>
        at >= 2 &&
        at + 3 < has.length &&
        !has[at] &&
        !has[at + 1] &&
        has[at - 1] &&
        has[at - 2] &&
        has[at + 2] &&
        has[at + 3],
    );
  });
}

const wordsOf = (text) =>
  text
    .normalize("NFKC")
    .replace(/-\s*\n\s*/g, "")
    .toLowerCase()
    .match(/\p{L}+/gu) ?? [];
