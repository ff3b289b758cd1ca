import {
  isRow,
  type Line,
  lineAt,
  listMark,
  nextLine,
  pageMark,
  paragraphAround,
  sentencesAround,
  type Span,
} from "./structure/sentences.js";
import { aboveRow, columnsOf, inColumns } from "./structure/table-rows.js";

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

/** Maximum characters of a passage, unless the quote itself is longer. */
export const maxPassage = 700;
/** Maximum number of sentences of a quote with omissions, with those of its first and last fragment. */
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
  const passage = flattened(text, extent, spans);
  return withLinesAbove(leadOfList(text, paragraphAround(text, { start, end }).start, maxLevels), shortened(passage));
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

/** Minimum characters for the lines above a passage. They are shortened at their end, before the passage is. */
const minAbove = 120;

/** A passage with lines above it, within the maximum length. */
function withLinesAbove(lead: string, { passage, quoted }: Passage): Passage {
  if (lead === "") return { passage, quoted };
  const maxChars = Math.max(minAbove, maxPassage - passage.length - 1);
  const above = lead.length <= maxChars ? lead : clipped(lead, maxChars);
  const shortPassage =
    passage.length + above.length < maxPassage
      ? { passage, quoted }
      : shortened({ passage, quoted }, maxPassage - above.length - 1);
  return {
    passage: `${above}\n${shortPassage.passage}`,
    quoted: shortPassage.quoted.map(([from, to]) => [from + above.length + 1, to + above.length + 1] as const),
  };
}

/** Maximum number of points of a list between a point and its head. */
const maxPoints = 400;
/** Maximum depth of lists within lists. */
const maxLevels = 3;

/**
 * The sentence before a list: "The following did not occur:" changes the meaning of each point. A point that ends with
 * a colon is the head of the points below it.
 */
function leadOfList(text: string, at: number, levels: number): string {
  let line = lineAt(text, at);
  if (levels === 0 || !listMark.test(line.text)) return "";
  for (let pointCount = 0; pointCount < maxPoints; pointCount += 1) {
    const above = nextLine(text, line, -1);
    if (above === undefined) return "";
    const isPoint = listMark.test(above.text);
    const endsWithColon = /[:：]\s{0,9}$/u.test(above.text);
    const isInPoint = !isPoint && !endsWithColon && above.end + 1 === line.start && isPointAbove(text, above);
    if (endsWithColon || (!isPoint && !isInPoint)) {
      const sentence = lastSentence(text, above);
      const lead = leadOfList(text, above.start, levels - 1);
      return lead === "" ? sentence : `${lead}\n${sentence}`;
    }
    line = above;
  }
  return "";
}

/** Whether a line continues a point of a list. */
function isPointAbove(text: string, line: Line): boolean {
  let above = line.start === 0 ? undefined : lineAt(text, line.start - 1);
  for (let passed = 0; passed < 12 && above !== undefined && above.text.trim() !== ""; passed += 1) {
    if (listMark.test(above.text)) return true;
    above = above.start === 0 ? undefined : lineAt(text, above.start - 1);
  }
  return false;
}

function lastSentence(text: string, { start, end }: Line): string {
  const at = start + Math.max(0, text.slice(start, end).trimEnd().length - 1);
  const sentence = sentencesAround(text, { start: at, end: at + 1 })[0];
  return sentence === undefined ? "" : flat(text.slice(sentence.start, sentence.end));
}

/** The reason why the fragments of a quote are too far apart for one passage; undefined if they are not. */
export function tooFarApart(text: string, spans: readonly Span[]): string | undefined {
  const hull = extentOf(spans);
  const isFar =
    hull.end - hull.start > maxPassage ||
    (!isRow(text, lineAt(text, hull.start)) && sentencesAround(text, hull).length > maxSentences);
  return isFar ? 'its parts around "…" stand too far apart; give two quotes' : undefined;
}

const extentOf = (spans: readonly Span[]): Span => ({ start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 });

/** The quoted rows below the caption, head and groups of their table, within the maximum length. */
function passageOfRows(text: string, { start, end }: Span, spans: readonly Span[]): Passage {
  const first = lineAt(text, start);
  const last = lineAt(text, Math.max(start, end - 1));
  const to = isRow(text, last) ? last.end : (sentencesAround(text, { start: end - 1, end }).at(-1)?.end ?? last.end);
  const rows = flattened(text, { start: first.start, end: Math.max(to, end) }, spans);
  const { caption, head, groups } = aboveRow(text, first);
  const lines = [caption, ...head, ...groups].filter((line) => line !== "");
  const isLong = rows.passage.length + lines.reduce((sum, line) => sum + line.length + 1, 0) > maxPassage;
  if (!isLong || first.start !== last.start) return withLinesAbove(lines.join("\n"), shortened(rows));
  // In a long row, only the quoted columns are shown, also in the head.
  const [from, until] = [rows.quoted[0]?.[0] ?? 0, rows.quoted.at(-1)?.[1] ?? rows.passage.length];
  const columns = columnsOf(rows.passage, { start: from, end: until });
  const withoutOtherColumns = (row: string) => inColumns(row, columns, cutMark);
  return withLinesAbove(
    [caption, ...head.map(withoutOtherColumns), ...groups].filter((line) => line !== "").join("\n"),
    shortened(rows, maxPassage / 2),
  );
}

const flat = (text: string): string => text.replace(pageMark, " ").replace(/\s+/g, " ").trim();

function clipped(text: string, maxChars: number): string {
  const cut = text.slice(0, maxChars - cutMark.length - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 1))} ${cutMark}`;
}

/** A part of the text on one line without page marks, and the positions of the spans in it. */
function flattened(text: string, { start, end }: Span, spans: readonly Span[]): Passage {
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
  const placeOf = (offset: number): number =>
    Math.min(passage.length, positions[Math.max(0, Math.min(source.length, offset - start))] as number);
  return {
    passage,
    quoted: spans.map((span) => {
      const to = placeOf(span.end);
      return [placeOf(span.start), passage[to - 1] === " " ? to - 1 : to] as const;
    }),
  };
}

/** A passage of at most `max` characters, unless the quote is longer. The side with more text is cut at a space. */
export function shortened({ passage, quoted }: Passage, max = maxPassage): Passage {
  const [from, to] = [quoted[0]?.[0] ?? 0, quoted.at(-1)?.[1] ?? passage.length];
  if (passage.length <= max) return { passage, quoted };
  const freeChars = Math.max(0, max - (to - from) - 2 * (cutMark.length + 1));
  const charsAfter = Math.min(passage.length - to, Math.max(freeChars - from, freeChars / 2));
  const charsBefore = Math.min(from, freeChars - charsAfter);
  const begin = from - charsBefore <= 0 ? 0 : wordFrom(passage, from - charsBefore, from);
  const end = to + charsAfter >= passage.length ? passage.length : wordTo(passage, to, to + charsAfter);
  const lead = begin === 0 ? "" : `${cutMark} `;
  const shift = lead.length - begin;
  return {
    passage: `${lead}${passage.slice(begin, end)}${end === passage.length ? "" : ` ${cutMark}`}`,
    quoted: quoted.map(([first, last]) => [first + shift, last + shift] as const),
  };
}

/** The first beginning of a word at or after an offset. */
function wordFrom(text: string, at: number, latest: number): number {
  const space = text.indexOf(" ", Math.floor(at));
  return space === -1 || space >= latest ? latest : space + 1;
}

/** The last end of a word at or before an offset. */
function wordTo(text: string, earliest: number, at: number): number {
  const space = text.lastIndexOf(" ", Math.floor(at));
  return space <= earliest ? earliest : space;
}
