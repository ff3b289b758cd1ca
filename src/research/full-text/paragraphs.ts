import { abstractLocator, hashOf } from "../../text/evidence/check-evidence.js";
import type { Searchable } from "../../text/evidence/find-quote.js";
import { cutMark } from "../../text/evidence/passage.js";
import {
  isRow,
  lineAt,
  nextLine,
  flatten,
  paragraphAround,
  type Span,
} from "../../text/evidence/structure/sentences.js";
import { passageFields, type PassagePiece, piecesOf, quotedWords } from "../../text/evidence/quoted.js";
import type { Evidence, Paper } from "../generated/rrd.js";
import { searchUntrusted } from "./reader-process.js";
import { lastCachedText } from "./text-cache.js";

/** Maximum number of papers whose texts are read: one text can have several megabytes. */
const maxPapers = 200;
/** Maximum number of characters of table rows that are shown on each side of the quoted rows. */
const maxContextChars = 3000;

/** The complete paragraphs of quotes whose passages were shortened, with the quoted words marked. */
export type Paragraphs = ReadonlyMap<unknown, readonly PassagePiece[]>;

/** The paragraphs for a project's evidence, from the cached texts. */
export async function paragraphsOf(cacheDir: string, papers: readonly Paper[]): Promise<Paragraphs> {
  const paragraphs = new Map<Evidence, readonly PassagePiece[]>();
  const withCutPassages = papers.filter(({ analysis }) => analysis?.evidence?.some(isCut)).slice(0, maxPapers);
  for (const { id, abstract, text_sha256, analysis } of withCutPassages) {
    const cutEvidence = (analysis?.evidence ?? []).filter(isCut);
    const stored = await lastCachedText(cacheDir, id);
    const texts: readonly (Searchable & { readonly sha256: string })[] = [
      ...(stored === undefined ? [] : [stored]),
      ...(abstract == null ? [] : [{ text: abstract, sha256: hashOf(abstract) }]),
    ];
    for (const text of texts) {
      const textEvidence = cutEvidence.filter(
        (item) =>
          (item.text_sha256 ?? text_sha256) === text.sha256 && (text === stored) === (item.locator !== abstractLocator),
      );
      if (textEvidence.length === 0) continue;
      const search = await searchUntrusted("findQuotes", text, textEvidence.map(quotedWords));
      if ("cut" in search) continue;
      for (const [index, item] of textEvidence.entries()) {
        const match = search.value[index];
        if (match?.found === true) paragraphs.set(item, markedParagraph(item, contextAround(text.text, match)));
      }
    }
  }
  return paragraphs;
}

const isCut = ({ status, passage }: Evidence): boolean => status === "verified" && passage?.includes(cutMark) === true;

/**
 * Splits a paragraph into pieces; the quoted words of the passage are marked, as far as they occur in the same order.
 */
function markedParagraph(evidence: Evidence, paragraph: string): readonly PassagePiece[] {
  const quoted: [number, number][] = [];
  for (const { text, isQuoted } of piecesOf(evidence)) {
    const position = isQuoted ? paragraph.indexOf(text, quoted.at(-1)?.[1] ?? 0) : -1;
    if (position !== -1) quoted.push([position, position + text.length]);
  }
  return piecesOf(passageFields({ passage: paragraph, quoted }));
}

/** The paragraph around a span, on one line. In a table, the rows around it, one per line. */
function contextAround(text: string, span: Span): string {
  const row = lineAt(text, span.start);
  if (!isRow(text, row)) {
    const { start, end } = paragraphAround(text, span);
    return flatten(text.slice(start, end));
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
  return rows.map((line) => flatten(line.text)).join("\n");
}

const isNear = (line: Span, { start, end }: Span): boolean =>
  start - line.start < maxContextChars && line.end - end < maxContextChars;
