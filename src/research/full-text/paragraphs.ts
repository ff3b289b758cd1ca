import { abstractLocator, hashOf } from "../evidence/check-evidence.js";
import type { Searchable } from "../evidence/find-quote.js";
import { cutMark } from "../evidence/passage.js";
import { type PassagePiece, piecesOf, quotedWords } from "../evidence/quoted.js";
import type { Evidence, Paper } from "../generated/rrd.js";
import { searchUntrusted } from "./reader-process.js";
import { keptText } from "./text-cache.js";

/** Papers whose texts are read for this at most: one text is up to some megabytes. */
const maxPapers = 200;
/** Characters on each side of the quoted words. */
const reach = 3000;

/** The whole paragraphs of quotes whose passages were cut, the quoted words marked. */
export type Paragraphs = ReadonlyMap<unknown, readonly PassagePiece[]>;

/** Those of a project's quotes, by their evidence, from the texts that are kept. */
export async function paragraphsOf(cacheDir: string, papers: readonly Paper[]): Promise<Paragraphs> {
  const paragraphs = new Map<Evidence, readonly PassagePiece[]>();
  const concerned = papers.filter(({ analysis }) => analysis?.evidence?.some(isCut)).slice(0, maxPapers);
  for (const { id, abstract, text_sha256, analysis } of concerned) {
    const cut = (analysis?.evidence ?? []).filter(isCut);
    const stored = await keptText(cacheDir, id);
    const texts: readonly (Searchable & { readonly sha256: string })[] = [
      ...(stored === undefined ? [] : [stored]),
      ...(abstract == null ? [] : [{ text: abstract, sha256: hashOf(abstract) }]),
    ];
    for (const text of texts) {
      const wanted = cut.filter(
        (each) =>
          (each.text_sha256 ?? text_sha256) === text.sha256 && (text === stored) === (each.locator !== abstractLocator),
      );
      if (wanted.length === 0) continue;
      const search = await searchUntrusted("findQuotes", text, wanted.map(quotedWords));
      if ("cut" in search) continue;
      for (const [index, each] of wanted.entries()) {
        const match = search.value[index];
        if (match?.found === true) paragraphs.set(each, marked(each, paragraphAround(text.text, match)));
      }
    }
  }
  return paragraphs;
}

const isCut = ({ status, passage }: Evidence): boolean => status === "verified" && passage?.includes(cutMark) === true;

/** A blank line; where a sentence goes on below it in a small letter it parts no paragraphs. */
const parting = /\n[^\S\n]*\n(?!\s{0,6}(?:\[p\. ?\d{1,5}\]\s{0,6})?\p{Ll})/gu;

/** A paragraph with the quoted words of a passage marked, as far as they stand in it in their order. */
function marked(evidence: Evidence, paragraph: string): readonly PassagePiece[] {
  const quoted: [number, number][] = [];
  for (const { text, isQuoted } of piecesOf(evidence)) {
    const from = isQuoted ? paragraph.indexOf(text, quoted.at(-1)?.[1] ?? 0) : -1;
    if (from !== -1) quoted.push([from, from + text.length]);
  }
  return piecesOf({ passage: paragraph, quoted });
}

/** The paragraph around a stretch on one line; around a row the table, a line each. */
function paragraphAround(text: string, { start, end }: { readonly start: number; readonly end: number }): string {
  const first = Math.max(0, start - reach);
  const above = [...text.slice(first, start).matchAll(parting)].at(-1);
  const below = text.slice(end, end + reach).search(parting);
  const from = above === undefined ? first : first + above.index + above[0].length;
  const to = below === -1 ? Math.min(text.length, end + reach) : end + below;
  const lines = text.slice(from, to).split("\n");
  const shown = lines.some((line) => line.includes(" | ")) ? lines : [lines.join(" ")];
  const flat = shown.map((line) => line.replace(/\s+/g, " ").trim()).filter((line) => line !== "");
  return [
    ...(above === undefined && first > 0 ? [cutMark] : []),
    ...flat,
    ...(below === -1 && to < text.length ? [cutMark] : []),
  ].join("\n");
}
