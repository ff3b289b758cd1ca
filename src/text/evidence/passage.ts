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
 * The paper's own words around a quote, as people and agents read them: whole sentences on one line, or the row of a
 * table below its caption and head, a line each.
 */
export interface Passage {
  /** White space is flattened, page marks are left out, `[…]` stands where it was cut; nothing else is changed. */
  readonly passage: string;
  /** Where the quoted words stand in it, from and to, in order. */
  readonly quoted: readonly (readonly [number, number])[];
}

/** Most characters of a passage, unless the quote itself is longer. */
export const maxPassage = 700;
/** Most sentences between the first and the last fragment of an elided quote, both of theirs included. */
const maxSentences = 3;
/** Stands where a passage was cut. */
export const cutMark = "[…]";

/**
 * The passage around the fragments of one quote, which stand in `text` in their order: from the beginning of the
 * sentence in which the first begins to the end of the one in which the last ends. A wrong end only makes it longer.
 */
export function passageAround(text: string, found: readonly Span[]): Passage {
  const spans = found.map((span) => toBorders(text, span));
  const { start, end } = hullOf(spans);
  if (isRow(text, lineAt(text, start))) return passageOfRows(text, { start, end }, spans);
  const sentences = sentencesAround(text, { start, end });
  const whole = { start: sentences[0]?.start ?? start, end: sentences.at(-1)?.end ?? end };
  const passage = flattened(text, whole, spans);
  return below(leadOfList(text, paragraphAround(text, { start, end }).start, maxLevels), shortened(passage));
}

/** A quantity whose sign comes next, and what of one stands before a letter or digit. */
const numberBefore = /\d[\d.,]{0,20}\s?$/;
const signBefore = /(?:(?:\d[\d.,]{0,20}\s?)?[°′″]|[$€£])$/;

/** A span with the whole of the quantity that it begins or ends in: "3.8 °C" is not cut at its "C". */
function toBorders(text: string, { start, end }: Span): Span {
  const before = text.slice(Math.max(0, start - 30), start);
  const cut = /[°′″%‰]/.test(text[start] ?? "") ? numberBefore.exec(before) : signBefore.exec(before);
  const isUnit = /^[°′″]\p{L}/u.test(text.slice(end - 1, end + 1));
  return { start: start - (cut?.[0].length ?? 0), end: isUnit ? end + 1 : end };
}

/** Room that is left for the lines above a passage at least: of them the end is cut, not of the passage. */
const minAbove = 120;

/** A passage with lines above it, as far as there is room. */
function below(lead: string, { passage, quoted }: Passage): Passage {
  if (lead === "") return { passage, quoted };
  const room = Math.max(minAbove, maxPassage - passage.length - 1);
  const above = lead.length <= room ? lead : clipped(lead, room);
  const whole =
    passage.length + above.length < maxPassage
      ? { passage, quoted }
      : shortened({ passage, quoted }, maxPassage - above.length - 1);
  return {
    passage: `${above}\n${whole.passage}`,
    quoted: whole.quoted.map(([from, to]) => [from + above.length + 1, to + above.length + 1] as const),
  };
}

/** Points of a list that are passed on the way to its head, and lists within lists. */
const maxPoints = 400;
const maxLevels = 3;

/**
 * The sentence that opens a list: "The following did not occur:" says of each point whether it is so. A point that ends
 * with a colon opens the points below it.
 */
function leadOfList(text: string, at: number, levels: number): string {
  let line = lineAt(text, at);
  if (levels === 0 || !listMark.test(line.text)) return "";
  for (let passed = 0; passed < maxPoints; passed += 1) {
    const above = nextLine(text, line, -1);
    if (above === undefined) return "";
    const isPoint = listMark.test(above.text);
    const opens = /[:：]\s{0,9}$/u.test(above.text);
    const isInPoint = !isPoint && !opens && above.end + 1 === line.start && isPointAbove(text, above);
    if (opens || (!isPoint && !isInPoint)) {
      const own = lastSentence(text, above);
      const lead = leadOfList(text, above.start, levels - 1);
      return lead === "" ? own : `${lead}\n${own}`;
    }
    line = above;
  }
  return "";
}

/** Whether a line is the second or a later one of a list's point. */
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

/** Why the fragments of an elided quote stand too far apart to be shown in one passage; undefined where they do not. */
export function tooFarApart(text: string, spans: readonly Span[]): string | undefined {
  const hull = hullOf(spans);
  const isFar =
    hull.end - hull.start > maxPassage ||
    (!isRow(text, lineAt(text, hull.start)) && sentencesAround(text, hull).length > maxSentences);
  return isFar ? 'its parts around "…" stand too far apart; give two quotes' : undefined;
}

const hullOf = (spans: readonly Span[]): Span => ({ start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 });

/** The quoted rows below the caption, the head and the groups of their table, as far as there is room. */
function passageOfRows(text: string, { start, end }: Span, spans: readonly Span[]): Passage {
  const first = lineAt(text, start);
  const last = lineAt(text, Math.max(start, end - 1));
  const to = isRow(text, last) ? last.end : (sentencesAround(text, { start: end - 1, end }).at(-1)?.end ?? last.end);
  const own = flattened(text, { start: first.start, end: Math.max(to, end) }, spans);
  const { caption, head, groups } = aboveRow(text, first);
  const lines = [caption, ...head, ...groups].filter((line) => line !== "");
  const isLong = own.passage.length + lines.reduce((sum, line) => sum + line.length + 1, 0) > maxPassage;
  if (!isLong || first.start !== last.start) return below(lines.join("\n"), shortened(own));
  // Of a long row the columns are shown that are quoted, in the head as well.
  const [from, until] = [own.quoted[0]?.[0] ?? 0, own.quoted.at(-1)?.[1] ?? own.passage.length];
  const columns = columnsOf(own.passage, { start: from, end: until });
  const cut = (row: string) => inColumns(row, columns, cutMark);
  return below(
    [caption, ...head.map(cut), ...groups].filter((line) => line !== "").join("\n"),
    shortened(own, maxPassage / 2),
  );
}

const flat = (text: string): string => text.replace(pageMark, " ").replace(/\s+/g, " ").trim();

function clipped(text: string, room: number): string {
  const cut = text.slice(0, room - cutMark.length - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 1))} ${cutMark}`;
}

/** A stretch on one line, without page marks, and where the spans stand in it then. */
function flattened(text: string, { start, end }: Span, spans: readonly Span[]): Passage {
  const source = text.slice(start, end).replace(pageMark, (mark) => " ".repeat(mark.length));
  const places = new Int32Array(source.length + 1);
  const parts: string[] = [];
  let isApart = true;
  for (let at = 0; at < source.length; at += 1) {
    places[at] = parts.length;
    const isSpace = /\s/.test(source[at] as string);
    if (!isSpace || !isApart) parts.push(isSpace ? " " : (source[at] as string));
    isApart = isSpace;
  }
  const passage = parts.join("").trimEnd();
  places[source.length] = passage.length;
  const placeOf = (offset: number): number =>
    Math.min(passage.length, places[Math.max(0, Math.min(source.length, offset - start))] as number);
  return {
    passage,
    quoted: spans.map((span) => {
      const to = placeOf(span.end);
      return [placeOf(span.start), passage[to - 1] === " " ? to - 1 : to] as const;
    }),
  };
}

/**
 * A passage of at most `max` characters, unless the quote is longer: the side farther from the quote is cut at a
 * space.
 */
export function shortened({ passage, quoted }: Passage, max = maxPassage): Passage {
  const [from, to] = [quoted[0]?.[0] ?? 0, quoted.at(-1)?.[1] ?? passage.length];
  if (passage.length <= max) return { passage, quoted };
  const room = Math.max(0, max - (to - from) - 2 * (cutMark.length + 1));
  const behind = Math.min(passage.length - to, Math.max(room - from, room / 2));
  const before = Math.min(from, room - behind);
  const begin = from - before <= 0 ? 0 : wordFrom(passage, from - before, from);
  const end = to + behind >= passage.length ? passage.length : wordTo(passage, to, to + behind);
  const lead = begin === 0 ? "" : `${cutMark} `;
  const shift = lead.length - begin;
  return {
    passage: `${lead}${passage.slice(begin, end)}${end === passage.length ? "" : ` ${cutMark}`}`,
    quoted: quoted.map(([first, last]) => [first + shift, last + shift] as const),
  };
}

/** The first beginning of a word from an offset on. */
function wordFrom(text: string, at: number, latest: number): number {
  const space = text.indexOf(" ", Math.floor(at));
  return space === -1 || space >= latest ? latest : space + 1;
}

/** The last end of a word up to an offset. */
function wordTo(text: string, earliest: number, at: number): number {
  const space = text.lastIndexOf(" ", Math.floor(at));
  return space <= earliest ? earliest : space;
}
