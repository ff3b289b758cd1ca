import {
  isRow,
  type Line,
  lineAt,
  listMark,
  nextLine,
  flatten,
  pageMark,
  paragraphAround,
  sentencesAround,
  type Span,
} from "./structure/sentences.js";
import { columnsOf, rowContext, withColumns } from "./structure/table-rows.js";

export type { Span } from "./structure/sentences.js";

/**
 * The paper's own words around a quote, for people and agents: complete sentences on one line, or the row of a table
 * below its caption and head, one line each.
 */
export interface Passage {
  /** The text with single spaces, without page marks, and with `[…]` where it was cut; otherwise unchanged. */
  readonly passage: string;
  /** The ranges of the quoted words in it, in order. */
  readonly quoted: readonly (readonly [number, number])[];
}

/** Maximum length of a passage, unless the quote itself is longer. */
export const maxPassageChars = 700;
/** Maximum number of sentences from the first fragment of a quote to the last one. */
const maxSentences = 3;
/** The mark where a passage was cut. */
export const cutMark = "[…]";

/**
 * The passage around the fragments of a quote in `text`: from the beginning of the first fragment's sentence to the end
 * of the last one's. If a sentence end is not recognized, the passage is only longer.
 */
export function passageAround(text: string, fragments: readonly Span[]): Passage {
  const spans = fragments.map((span) => withWholeQuantities(text, span));
  const { start, end } = extentOf(spans);
  if (isRow(text, lineAt(text, start))) return passageOfRows(text, { start, end }, spans);
  const sentences = sentencesAround(text, { start, end });
  const extent = { start: sentences[0]?.start ?? start, end: sentences.at(-1)?.end ?? end };
  const passage = flattenPassage(text, extent, spans);
  const lead = leadOfList(text, paragraphAround(text, { start, end }).start, maxListDepth);
  return withLinesAbove(lead, shortenPassage(passage));
}

/** A number before its sign. */
const numberBefore = /\d[\d.,]{0,20}\s?$/;
/** A sign before a letter or digit. */
const signBefore = /(?:(?:\d[\d.,]{0,20}\s?)?[°′″]|[$€£])$/;

/** A span extended to complete quantities: "3.8 °C" is not cut before its "C". */
function withWholeQuantities(text: string, { start, end }: Span): Span {
  const before = text.slice(Math.max(0, start - 30), start);
  const cut = /[°′″%‰]/.test(text[start] ?? "") ? numberBefore.exec(before) : signBefore.exec(before);
  const isUnit = /^[°′″]\p{L}/u.test(text.slice(end - 1, end + 1));
  return { start: start - (cut?.[0].length ?? 0), end: isUnit ? end + 1 : end };
}

/** The lines above a passage may always have this length. If they are longer, they are cut before the passage is. */
const minCharsAbove = 120;

/** A passage with lines above it, within the maximum length. */
function withLinesAbove(lead: string, { passage, quoted }: Passage): Passage {
  if (lead === "") return { passage, quoted };
  const maxChars = Math.max(minCharsAbove, maxPassageChars - passage.length - 1);
  const above = lead.length <= maxChars ? lead : clipText(lead, maxChars);
  const shortPassage =
    passage.length + above.length < maxPassageChars
      ? { passage, quoted }
      : shortenPassage({ passage, quoted }, maxPassageChars - above.length - 1);
  return {
    passage: `${above}\n${shortPassage.passage}`,
    quoted: shortPassage.quoted.map(([from, to]) => [from + above.length + 1, to + above.length + 1] as const),
  };
}

/** Maximum number of lines between a point of a list and the sentence before the list. */
const maxPoints = 400;
/** Maximum depth of nested lists. */
const maxListDepth = 3;

/**
 * The sentence before a list: "The following did not occur:" changes the meaning of each point. In a nested list, also
 * the point above that ends with a colon. Empty if the line at `offset` is not a point of a list.
 */
function leadOfList(text: string, offset: number, maxDepth: number): string {
  let line = lineAt(text, offset);
  if (maxDepth === 0 || !listMark.test(line.text)) return "";
  for (let pointCount = 0; pointCount < maxPoints; pointCount += 1) {
    const above = nextLine(text, line, -1);
    if (above === undefined) return "";
    const isPoint = listMark.test(above.text);
    const endsWithColon = /[:：]\s{0,9}$/u.test(above.text);
    const isInPoint = !isPoint && !endsWithColon && above.end + 1 === line.start && continuesPoint(text, above);
    if (endsWithColon || (!isPoint && !isInPoint)) {
      const sentence = lastSentence(text, above);
      const lead = leadOfList(text, above.start, maxDepth - 1);
      return lead === "" ? sentence : `${lead}\n${sentence}`;
    }
    line = above;
  }
  return "";
}

/** Whether a line continues a point of a list. */
function continuesPoint(text: string, line: Line): boolean {
  let above = line.start === 0 ? undefined : lineAt(text, line.start - 1);
  for (let lineCount = 0; lineCount < 12 && above !== undefined && above.text.trim() !== ""; lineCount += 1) {
    if (listMark.test(above.text)) return true;
    above = above.start === 0 ? undefined : lineAt(text, above.start - 1);
  }
  return false;
}

function lastSentence(text: string, { start, end }: Line): string {
  const at = start + Math.max(0, text.slice(start, end).trimEnd().length - 1);
  const sentence = sentencesAround(text, { start: at, end: at + 1 })[0];
  return sentence === undefined ? "" : flatten(text.slice(sentence.start, sentence.end));
}

/** The reason why the fragments of a quote are too far apart for one passage; undefined if they are not. */
export function tooFarApart(text: string, spans: readonly Span[]): string | undefined {
  const extent = extentOf(spans);
  const isTooLong =
    extent.end - extent.start > maxPassageChars ||
    (!isRow(text, lineAt(text, extent.start)) && sentencesAround(text, extent).length > maxSentences);
  return isTooLong ? 'its parts around "…" are too far apart; give two quotes' : undefined;
}

/** The span from the beginning of the first span to the end of the last one. */
const extentOf = (spans: readonly Span[]): Span => ({ start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 });

/** The quoted rows below the caption, head and groups of their table, within the maximum length. */
function passageOfRows(text: string, { start, end }: Span, spans: readonly Span[]): Passage {
  const first = lineAt(text, start);
  const last = lineAt(text, Math.max(start, end - 1));
  const to = isRow(text, last) ? last.end : (sentencesAround(text, { start: end - 1, end }).at(-1)?.end ?? last.end);
  const rows = flattenPassage(text, { start: first.start, end: Math.max(to, end) }, spans);
  const { caption, head, groups } = rowContext(text, first);
  const lines = [caption, ...head, ...groups].filter((line) => line !== "");
  const isLong = rows.passage.length + lines.reduce((sum, line) => sum + line.length + 1, 0) > maxPassageChars;
  if (!isLong || first.start !== last.start) return withLinesAbove(lines.join("\n"), shortenPassage(rows));
  // In a long row, only the quoted columns are shown, also in the head.
  const [from, until] = [rows.quoted[0]?.[0] ?? 0, rows.quoted.at(-1)?.[1] ?? rows.passage.length];
  const columns = columnsOf(rows.passage, { start: from, end: until });
  const withoutOtherColumns = (row: string) => withColumns(row, columns, cutMark);
  return withLinesAbove(
    [caption, ...head.map(withoutOtherColumns), ...groups].filter((line) => line !== "").join("\n"),
    shortenPassage(rows, maxPassageChars / 2),
  );
}

/** A text that is cut at a space, with a mark at its end. */
function clipText(text: string, maxChars: number): string {
  const cut = text.slice(0, maxChars - cutMark.length - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 1))} ${cutMark}`;
}

/** A part of the text on one line without page marks, and the positions of the spans in it. */
function flattenPassage(text: string, { start, end }: Span, spans: readonly Span[]): Passage {
  const source = text.slice(start, end).replace(pageMark, (mark) => " ".repeat(mark.length));
  const positions = new Int32Array(source.length + 1);
  const parts: string[] = [];
  let isAfterSpace = true;
  for (let at = 0; at < source.length; at += 1) {
    positions[at] = parts.length;
    const isSpace = /\s/.test(source[at] as string);
    if (!isSpace || !isAfterSpace) parts.push(isSpace ? " " : (source[at] as string));
    isAfterSpace = isSpace;
  }
  const passage = parts.join("").trimEnd();
  positions[source.length] = passage.length;
  const positionOf = (offset: number): number =>
    Math.min(passage.length, positions[Math.max(0, Math.min(source.length, offset - start))] as number);
  return {
    passage,
    quoted: spans.map((span) => {
      const to = positionOf(span.end);
      return [positionOf(span.start), passage[to - 1] === " " ? to - 1 : to] as const;
    }),
  };
}

/** A passage of at most `maxChars`, unless the quote is longer. The side with more text is cut at a space. */
export function shortenPassage({ passage, quoted }: Passage, maxChars = maxPassageChars): Passage {
  const [from, to] = [quoted[0]?.[0] ?? 0, quoted.at(-1)?.[1] ?? passage.length];
  if (passage.length <= maxChars) return { passage, quoted };
  const freeChars = Math.max(0, maxChars - (to - from) - 2 * (cutMark.length + 1));
  const charsAfter = Math.min(passage.length - to, Math.max(freeChars - from, freeChars / 2));
  const charsBefore = Math.min(from, freeChars - charsAfter);
  const begin = from - charsBefore <= 0 ? 0 : wordStart(passage, from - charsBefore, from);
  const end = to + charsAfter >= passage.length ? passage.length : wordEnd(passage, to, to + charsAfter);
  const lead = begin === 0 ? "" : `${cutMark} `;
  const shift = lead.length - begin;
  return {
    passage: `${lead}${passage.slice(begin, end)}${end === passage.length ? "" : ` ${cutMark}`}`,
    quoted: quoted.map(([first, last]) => [first + shift, last + shift] as const),
  };
}

/** The first beginning of a word after an offset, at most `latest`. */
function wordStart(text: string, offset: number, latest: number): number {
  const space = text.indexOf(" ", Math.floor(offset));
  return space === -1 || space >= latest ? latest : space + 1;
}

/** The last end of a word before an offset, at least `earliest`. */
function wordEnd(text: string, earliest: number, offset: number): number {
  const space = text.lastIndexOf(" ", Math.floor(offset));
  return space <= earliest ? earliest : space;
}
