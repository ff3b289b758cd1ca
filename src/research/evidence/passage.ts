/** A stretch of a text by its offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

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
 * sentence in which the first begins to the end of the one in which the last ends. Looks at some thousand characters
 * on each side, however long the text is.
 */
export function passageAround(text: string, spans: readonly Span[]): Passage {
  const { start, end } = hullOf(spans);
  if (isRow(text, start)) return passageOfRows(text, { start, end }, spans);
  const sentences = sentencesAround(text, { start, end });
  const whole = { start: sentences[0]?.start ?? start, end: sentences.at(-1)?.end ?? end };
  const passage = shortened(flattened(text, whole, spans));
  const lead = leadOfList(text, whole.start);
  return lead === "" || lead.length + passage.passage.length >= maxPassage ? passage : below(lead, passage);
}

/** A passage with a line above it. */
const below = (lead: string, { passage, quoted }: Passage): Passage => ({
  passage: `${lead}\n${passage}`,
  quoted: quoted.map(([from, to]) => [from + lead.length + 1, to + lead.length + 1] as const),
});

/** Points of a list that are passed on the way to its head. */
const maxPoints = 40;

/** The line that opens a list: "The following did not occur:" says of each point whether it is so. */
function leadOfList(text: string, at: number): string {
  let line = lineAt(text, at);
  for (let passed = 0; passed < maxPoints && listMark.test(line.text); passed += 1) {
    const above = line.start === 0 ? undefined : nextLine(text, line.start - 1, -1);
    if (above === undefined) return "";
    if (!listMark.test(above.text) && /:\s{0,9}$/.test(above.text)) return lastSentence(text, above);
    line = above;
  }
  return "";
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
    (!isRow(text, hull.start) && sentencesAround(text, hull).length > maxSentences);
  return isFar ? 'its parts around "…" stand too far apart; give two quotes' : undefined;
}

const hullOf = (spans: readonly Span[]): Span => ({ start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 });

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
/** Abbreviations behind whose point the segmenter ends a sentence, and initials. Too many only lengthen a passage. */
const abbreviated =
  /(?:(?<!\p{L})(?:\p{L}|al|vs|Figs?|Tabs?|Drs?|Nos?|St|approx|ca|cf|resp|incl|Refs?|Eqs?|Inc|Ltd|Co|Corp|Mr|Mrs|Ms|Prof|spp?|var|min|max|wk|yr|mo|hrs?|sec|pp|vol|eds?|Suppl|Dept|Univ)|\p{L}\.\p{L})\.[\s"'”’)\]]{0,9}$/iu;
/** What begins a sentence behind a point: a capital, or a letter of a script without them, with its marks before. */
const beginning = /^[\s"'“‘«„¿¡([{*_]{0,9}(?:\p{Lu}|\p{Lt}|\p{Lo})/u;
/** Characters looked at on each side for the ends of a paragraph. */
const reach = 4000;

/** The sentences from the one in which a stretch begins to the one in which it ends. */
function sentencesAround(text: string, { start, end }: Span): Span[] {
  const block = blockAround(text, { start, end });
  const sentences: Span[] = [];
  let from = block.start;
  const flat = text.slice(block.start, block.end).replace(/\s/g, " ");
  for (const { index, segment } of segmenter.segment(flat)) {
    const at = block.start + index + segment.length;
    const isEnd =
      !abbreviated.test(segment) &&
      (!/\.[\s"'”’)\]\d]{0,9}$/u.test(segment) || beginning.test(flat.slice(at - block.start, at - block.start + 12)));
    if (!isEnd && at < block.end) continue;
    if (at > start && from < end) sentences.push({ start: from, end: at });
    from = at;
  }
  return sentences;
}

/** A page's own mark, which readers of documents set. */
const pageMark = /\[p\. ?\d{1,5}\]/g;

/**
 * The paragraph that a stretch stands in, without headings and rows of tables. A sentence that a page's end or a figure
 * parts goes on where the next paragraph begins in a small letter.
 */
function blockAround(text: string, { start, end }: Span): Span {
  let first = lineAt(text, start);
  while (first.start > 0 && start - first.start < reach) {
    const above = nextLine(text, first.start - 1, -1);
    if (above === undefined || !goesOn(text, above, first)) break;
    first = above;
  }
  let last = lineAt(text, Math.max(start, end - 1));
  while (last.end < text.length && last.end - end < reach) {
    const below = nextLine(text, last.end + 1, 1);
    if (below === undefined || !goesOn(text, last, below)) break;
    last = below;
  }
  return { start: Math.max(first.start, start - reach), end: Math.min(last.end, end + reach) };
}

/** The line at an offset, or the next one in a direction that holds more than white space and the mark of a page. */
function nextLine(text: string, at: number, step: 1 | -1): Line | undefined {
  for (let line = lineAt(text, at), passed = 0; passed < 6; passed += 1) {
    if (line.text.replace(pageMark, "").trim() !== "") return line;
    const next = step === 1 ? line.end + 1 : line.start - 1;
    if (next < 0 || next >= text.length) return undefined;
    line = lineAt(text, next);
  }
  return undefined;
}

/** The mark of a list's point at the beginning of a line. */
const listMark = /^\s{0,8}(?:[-*•+–]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]) /u;

const isRowOrHeading = (line: string): boolean => line.includes(" | ") || /^#{1,6} /.test(line);

/** Whether a paragraph goes on from one line to the next that holds words. */
function goesOn(text: string, above: Line, below: Line): boolean {
  if (isRowOrHeading(above.text) || isRowOrHeading(below.text) || listMark.test(below.text)) return false;
  const between = text.slice(above.end, below.start);
  // A word that is broken there goes on, below a page's head or not.
  if (between === "\n" || /\p{L}[-‐­]\s{0,4}$/u.test(above.text.slice(-4))) return true;
  if (!/^\s{0,9}(?:\[p\. ?\d{1,5}\]\s{0,9})?\p{Ll}/u.test(below.text.slice(0, 40))) return false;
  return between.search(pageMark) !== -1 || !/[.!?:。！？][\s"'”’)\]]{0,12}$/u.test(above.text.slice(-12));
}

/** Whether an offset stands in a row of a table. */
const isRow = (text: string, at: number): boolean => lineAt(text, at).text.includes(" | ");

interface Line extends Span {
  readonly text: string;
}

function lineAt(text: string, at: number): Line {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const next = text.indexOf("\n", at);
  const end = next === -1 ? text.length : next;
  return { start, end, text: text.slice(start, end) };
}

const cellsIn = (line: string): number => line.split("|").filter((cell) => cell.trim() !== "").length;
/** Rows that the head of a table has at most. */
const maxHeadRows = 3;

/** The quoted rows below the caption and the head of their table, as far as there is room. */
function passageOfRows(text: string, { start, end }: Span, spans: readonly Span[]): Passage {
  const rows = { start: lineAt(text, start).start, end: lineAt(text, end).end };
  const top = topOfTable(text, rows.start);
  const head: Line[] = [];
  for (
    let line = lineAt(text, top);
    line.end < rows.start && head.length < maxHeadRows;
    line = lineAt(text, line.end + 1)
  ) {
    head.push(line);
    if (cellsIn(line.text) >= cellsIn(lineAt(text, start).text) - 1) break;
  }
  const own = flattened(text, rows, spans);
  const room = () => maxPassage - own.passage.length - above.reduce((sum, each) => sum + each.length + 1, 0);
  const above: string[] = [];
  for (const each of [head.map(({ text: row }) => flat(row)).join("\n"), captionAbove(text, top)])
    if (each !== "" && room() > cutMark.length * 4)
      above.unshift(each.length < room() ? each : clipped(each, room() - 1));
  return above.length === 0 ? shortened(own) : below(above.join("\n"), own);
}

/** Where the first row of a table begins. */
function topOfTable(text: string, row: number): number {
  let top = row;
  while (top > 0) {
    const line = lineAt(text, top - 1);
    if (!line.text.includes("|")) return top;
    top = line.start;
  }
  return top;
}

/** Longer paragraphs above a table are not its caption. */
const maxCaption = 600;

/** The line above a table that says what it shows, a blank line between them or not; empty where there is none. */
function captionAbove(text: string, top: number): string {
  const above = text.slice(Math.max(0, top - maxCaption - 2), top).trimEnd();
  const caption = above.slice(above.lastIndexOf("\n") + 1).replace(/^#{1,6} /, "");
  return caption.length <= maxCaption && text.slice(0, top).trimEnd().length - caption.length >= 0 ? flat(caption) : "";
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
  let passage = "";
  for (let at = 0; at < source.length; at += 1) {
    places[at] = passage.length;
    const char = source[at] as string;
    if (!/\s/.test(char)) passage += char;
    else if (passage !== "" && !passage.endsWith(" ")) passage += " ";
  }
  passage = passage.trimEnd();
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
 * A passage of at most `max` characters, unless the quote is longer: the side farther from the quote is cut, at a space.
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
