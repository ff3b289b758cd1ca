/** A part of a text, by its offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A line of a text, without the line end. */
export interface Line extends Span {
  readonly text: string;
}

/** Maximum length of the part of a paragraph before or after a span. */
const maxCharsBeside = 4000;

/** A page number such as "[p. 4]", which the readers of documents write at the beginning of a page. */
export const pageMark = /\[p\. ?\d{1,5}\]/g;

/** The text with single spaces and without page numbers. */
export const flatten = (text: string): string => text.replace(pageMark, " ").replace(/\s+/g, " ").trim();

const isPageMark = new RegExp(`^${pageMark.source}$`);
/** Whether a line consists of a page number such as "[p. 4]". */
export const isPageLine = (line: string): boolean => isPageMark.test(line.trim());

/** The line at an offset. */
export function lineAt(text: string, at: number): Line {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const next = text.indexOf("\n", at);
  const end = next === -1 ? text.length : next;
  return { start, end, text: text.slice(start, end) };
}

/** Maximum number of empty lines and page numbers between two lines of text. */
const maxSkippedLines = 6;

/** The next line above (−1) or below (1) that contains more than white space and a page number. */
export function nextLine(text: string, { start, end }: Line, step: 1 | -1): Line | undefined {
  let offset = step === 1 ? end + 1 : start - 1;
  for (let skipped = 0; skipped < maxSkippedLines && offset >= 0 && offset < text.length; skipped += 1) {
    const line = lineAt(text, offset);
    if (line.text.replace(pageMark, "").trim() !== "") return line;
    offset = step === 1 ? line.end + 1 : line.start - 1;
  }
  return undefined;
}

/**
 * The cells of a line, separated by bars with white space on both sides. A bar in brackets, as in P(a | b), is text.
 */
export function cellsOf(line: string): readonly Span[] {
  const cells: Span[] = [];
  let [depth, cellStart] = [0, 0];
  for (let index = 0; index < line.length; index += 1) {
    const char = line[index] as string;
    if ("([{".includes(char)) depth += 1;
    else if (")]}".includes(char)) depth = Math.max(0, depth - 1);
    if (char !== "|" || depth > 0 || !isBlank(line[index - 1]) || !isBlank(line[index + 1])) continue;
    cells.push({ start: cellStart, end: index });
    cellStart = index + 1;
  }
  cells.push({ start: cellStart, end: line.length });
  return cells;
}

const isBlank = (char: string | undefined): boolean => char === undefined || /\s/.test(char);

/** Whether a line is a row of a table: it has three cells, or it has two and so has the line above or below. */
export function isRow(text: string, line: Line): boolean {
  if (!line.text.includes("|")) return false;
  const cellCount = cellsOf(line.text).length;
  const hasCells = (other: Line | undefined) =>
    other !== undefined && other.text.includes("|") && cellsOf(other.text).length > 1;
  return (
    cellCount > 2 || (cellCount === 2 && (hasCells(nextLine(text, line, -1)) || hasCells(nextLine(text, line, 1))))
  );
}

/** The mark at the beginning of a line that is a point of a list. */
export const listMark = /^\s{0,8}(?:[-*+–•◦▪▫‣⁃●○■□]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s/u;

/** A heading with "#", which the readers of documents write. */
export const markedHeading = /^#{1,6} /;
/** A heading in a PDF, without a mark: it has a number, or it is one or two words with capitals. */
const plainHeading =
  /^(?:(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.) \p{Lu}[^.!?]{0,80}|\p{Lu}\p{Ll}{2,20}(?: (?:and|of) \p{Lu}?\p{Ll}{2,20})?:?)$/u;

const endsSentence = (line: string): boolean => /[.!?。！？؟।][\s"'”’»)\]*\d]{0,12}$/u.test(line.slice(-16));
const lineBeginning = (line: string): string => line.slice(0, 40).replace(pageMark, "").trimStart();
const beginsWithSmall = (line: string): boolean => /^\p{Ll}/u.test(lineBeginning(line));
const beginsWithCapital = (line: string): boolean => /^\p{Lu}/u.test(lineBeginning(line));

/**
 * Whether a line is a heading: it has a mark, or it looks like one, the text above it is complete, and the line below
 * it begins with a capital.
 */
function isHeading(text: string, line: Line, below: Line): boolean {
  if (markedHeading.test(line.text)) return true;
  if (!plainHeading.test(line.text.trim()) || !beginsWithCapital(below.text)) return false;
  const above = line.start === 0 ? "" : lineAt(text, line.start - 1).text;
  return above.trim() === "" || endsSentence(above) || markedHeading.test(above);
}

/**
 * Whether a paragraph continues in the next line. True if it is not certain: a page end or a figure may divide a
 * sentence, and a paragraph that is too long only makes the passage longer.
 */
function paragraphContinues(text: string, above: Line, below: Line): boolean {
  if (listMark.test(below.text) || markedHeading.test(below.text) || isHeading(text, above, below)) return false;
  if (isRow(text, above) || isRow(text, below)) return false;
  if (below.start === above.end + 1 || beginsWithSmall(below.text)) return true;
  if (endsDocumentHead(text, above, below)) return false;
  // A point of a list may end without a full stop.
  return !endsSentence(above.text) && !(listMark.test(above.text) && beginsWithCapital(below.text));
}

/** Maximum length of a document's head: its title, authors and date. */
const maxHeadChars = 1000;

/** Whether a line ends the document's head, or a part of it. An empty line follows, and no line has a full stop. */
function endsDocumentHead(text: string, above: Line, below: Line): boolean {
  if (above.end > maxHeadChars || text.slice(above.end, below.start).trim() !== "") return false;
  if (!/[\p{L}\p{N})]$/u.test(above.text.trimEnd()) || !/^[\p{Lu}\p{Lo}\d]/u.test(lineBeginning(below.text)))
    return false;
  return !text.slice(0, above.end).split("\n").some(endsSentence);
}

/** The paragraph around a span. It may continue on the next page, and ends at headings and at rows of tables. */
export function paragraphAround(text: string, { start, end }: Span): Span {
  let first = lineAt(text, start);
  while (first.start > 0 && start - first.start < maxCharsBeside) {
    const above = nextLine(text, first, -1);
    if (above === undefined || !paragraphContinues(text, above, first)) break;
    first = above;
  }
  let last = lineAt(text, Math.max(start, end - 1));
  while (last.end < text.length && last.end - end < maxCharsBeside) {
    const below = nextLine(text, last, 1);
    if (below === undefined || !paragraphContinues(text, last, below)) break;
    last = below;
  }
  return { start: Math.max(first.start, start - maxCharsBeside), end: Math.min(last.end, end + maxCharsBeside) };
}

/** Created when it is first needed, because that takes some milliseconds. */
let segmenter: Intl.Segmenter | undefined;
const segmentsOf = (text: string): Intl.Segments =>
  (segmenter ??= new Intl.Segmenter("en", { granularity: "sentence" })).segment(text);

/**
 * Abbreviations and initials at the end of a text. After their point, the segmenter ends a sentence, which is wrong.
 * The letter of a degree is not an initial. If the pattern matches too often, passages only become longer.
 */
const abbreviationAtEnd =
  /(?:(?<![\p{L}°])(?:\p{L}|al|vs|Figs?|Tabs?|Drs?|Dra|Nos?|St|approx|ca|cf|resp|incl|Refs?|Eqs?|Inc|Ltd|Co|Corp|Mr|Mrs|Ms|Prof|subsp|spp?|var|min|max|wk|yr|mo|hrs?|secs?|chap|ch|pp|vol|conc|eds?|Suppl|Dept|Univ|bzw|sog|Mio|Mrd|Nr|Abb|EE|UU|Sra?)|\p{L}\.\p{L})\.[\s"'”’)\]]{0,9}$/iu;
/**
 * The beginning of a sentence: a capital, or a letter of a script without capitals, perhaps after marks and brackets.
 */
const sentenceStart = /^[\s"'“‘«„¿¡([{*_]{0,9}(?:\p{Lu}|\p{Lt}|\p{Lo})/u;
/** What may follow the full stop of a sentence: brackets, citations, superscript numbers, marks of emphasis. */
const sentenceClosing = /^(?:\s?\[[\d,;–\- ]{1,40}\]|["'”’»)\]*_]|[¹²³⁰⁴-⁹]|\d{1,3}(?=\s)){0,9}\s{0,9}/u;

/**
 * The space between two sentences if the second one begins with a number: "640 owners. 71 percent would". The segmenter
 * does not divide there. Before the full stop is a word that is probably not an abbreviation, a year, or a bracket.
 * After the number is a small word or a percent sign, so that it is not a decimal or a superscript.
 */
const spaceBeforeNumber =
  /(?<=(?:(?<!\p{L})\p{Ll}{3,40}|\p{L}{6}|\p{Lu}{2}|(?<!\d)\d{4}|[%)\]”"’])[.!?]["'”’»)\]]{0,3})\s{1,3}(?=\d[\d.,]{0,15}(?:\s?[%‰]|[\s-]\p{Ll}{2}))/gu;
/** More abbreviations that are used before a number. */
const abbreviatedBeforeNumber =
  /(?<!\p{L})(?:sect?|art|cap|p[aá]g|núm|env|vgl|inkl|exkl|mind|zzgl|aprox|рис|табл|стр)\.$/iu;

/** Maximum distance between an opening bracket and a number in the brackets. */
const maxBracketChars = 300;

/** The offsets of sentences that begin with a number. A number in brackets does not begin a sentence. */
function* sentencesWithNumber(flat: string): Generator<number> {
  for (const { index, 0: space } of flat.matchAll(spaceBeforeNumber)) {
    const before = flat.slice(Math.max(0, index - maxBracketChars), index);
    if (before.lastIndexOf("(") > before.lastIndexOf(")") || before.lastIndexOf("[") > before.lastIndexOf("]"))
      continue;
    const textBefore = before.slice(-40);
    if (!abbreviationAtEnd.test(textBefore) && !abbreviatedBeforeNumber.test(textBefore)) yield index + space.length;
  }
}

/** The sentences that contain a span or a part of it. */
export function sentencesAround(text: string, { start, end }: Span): Span[] {
  const paragraph = paragraphAround(text, { start, end });
  const flat = text.slice(paragraph.start, paragraph.end).replace(/\s/g, " ");
  const sentences: Span[] = [];
  const ends = [...sentencesWithNumber(flat)];
  for (const { index, segment } of segmentsOf(flat)) ends.push(sentenceEnd(flat, index, segment) ?? 0);
  let sentenceStartOffset = 0;
  for (const sentenceEndOffset of ends.toSorted((a, b) => a - b)) {
    if (sentenceEndOffset <= sentenceStartOffset) continue;
    const sentence = { start: paragraph.start + sentenceStartOffset, end: paragraph.start + sentenceEndOffset };
    if (sentence.end > start && sentence.start < end) sentences.push(sentence);
    sentenceStartOffset = sentenceEndOffset;
  }
  return sentences;
}

/** The end of the sentence that ends with a segment; undefined if the sentence continues after the segment. */
function sentenceEnd(flat: string, index: number, segment: string): number | undefined {
  const segmentEnd = index + segment.length;
  if (segmentEnd === flat.length) return segmentEnd;
  const stop = /[.!?。！？؟।][^.!?。！？؟।]{0,12}$/u.exec(segment);
  const afterStop = stop === null ? segmentEnd : index + stop.index + 1;
  const closingLength =
    stop === null ? 0 : (sentenceClosing.exec(flat.slice(afterStop, afterStop + 59))?.[0].length ?? 0);
  const end = Math.max(segmentEnd, afterStop + closingLength);
  // In papers, "!" is usually in a name: "Yahoo! Answers", "Jeopardy! Questions".
  if (stop?.[0].startsWith("!") === true && end < flat.length) return undefined;
  if (stop?.[0].startsWith(".") !== true) return end;
  const isFollowedByStart = end === flat.length || sentenceStart.test(flat.slice(end, end + 12));
  return abbreviationAtEnd.test(segment) || !isFollowedByStart ? undefined : end;
}
