import { abstractLocator, hashOf } from "../../text/evidence/check-evidence.js";
import type { Searchable } from "../../text/evidence/find-quote.js";
import { cutMark } from "../../text/evidence/passage.js";
import {
  isRow,
  lineAt,
  nextLine,
  pageMark,
  paragraphAround,
  type Span,
} from "../../text/evidence/structure/sentences.js";
import { keptPassage, type PassagePiece, piecesOf, quotedWords } from "../../text/evidence/quoted.js";
import type { Evidence, Paper } from "../generated/rrd.js";
import { searchUntrusted } from "./reader-process.js";
import { keptText } from "./text-cache.js";

/** Papers whose texts are read for this at most: one text is up to some megabytes. */
const maxPapers = 200;
/** Characters of rows that are shown on each side of the quoted ones. */
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
        if (match?.found === true) paragraphs.set(each, marked(each, wholeAround(text.text, match)));
      }
    }
  }
  return paragraphs;
}

const isCut = ({ status, passage }: Evidence): boolean => status === "verified" && passage?.includes(cutMark) === true;

/** A paragraph with the quoted words of a passage marked, as far as they stand in it in their order. */
function marked(evidence: Evidence, paragraph: string): readonly PassagePiece[] {
  const quoted: [number, number][] = [];
  for (const { text, isQuoted } of piecesOf(evidence)) {
    const from = isQuoted ? paragraph.indexOf(text, quoted.at(-1)?.[1] ?? 0) : -1;
    if (from !== -1) quoted.push([from, from + text.length]);
  }
  return piecesOf(keptPassage({ passage: paragraph, quoted }));
}

/** The paragraph around a stretch on one line; around a row the rows of its table, a line each. */
function wholeAround(text: string, span: Span): string {
  const row = lineAt(text, span.start);
  if (!isRow(text, row)) {
    const { start, end } = paragraphAround(text, span);
    return flat(text.slice(start, end));
  }
  const rows = [row];
  for (const step of [-1, 1] as const)
    for (
      let line = nextLine(text, row, step);
      line !== undefined && isRow(text, line) && isNear(line, span);
      line = nextLine(text, line, step)
    )
      if (step === 1) rows.push(line);
      else rows.unshift(line);
  return rows.map((line) => flat(line.text)).join("\n");
}

const isNear = (line: Span, { start, end }: Span): boolean => start - line.start < reach && line.end - end < reach;
const flat = (text: string): string => text.replace(pageMark, " ").replace(/\s+/g, " ").trim();
