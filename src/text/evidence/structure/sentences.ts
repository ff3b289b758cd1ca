/** A stretch of a text by its offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A line of a text without its end. */
export interface Line extends Span {
  readonly text: string;
}

/** Characters looked at on each side of a stretch for the ends of its paragraph. */
const reach = 4000;

/** A page's own mark, which readers of documents set. */
export const pageMark = /\[p\. ?\d{1,5}\]/g;
const isPageMark = new RegExp(`^${pageMark.source}$`);
/** Whether a line holds the mark of a page and nothing else. */
export const isPageLine = (line: string): boolean => isPageMark.test(line.trim());

/** The line at an offset. */
export function lineAt(text: string, at: number): Line {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const next = text.indexOf("\n", at);
  const end = next === -1 ? text.length : next;
  return { start, end, text: text.slice(start, end) };
}

/** Empty lines and marks of pages that are passed on the way to the next line of words. */
const maxPassed = 6;

/** The next line above (−1) or below (1) that holds more than white space and the mark of a page. */
export function nextLine(text: string, { start, end }: Line, step: 1 | -1): Line | undefined {
  let at = step === 1 ? end + 1 : start - 1;
  for (let passed = 0; passed < maxPassed && at >= 0 && at < text.length; passed += 1) {
    const line = lineAt(text, at);
    if (line.text.replace(pageMark, "").trim() !== "") return line;
    at = step === 1 ? line.end + 1 : line.start - 1;
  }
  return undefined;
}

/** How many cells a line has: bars between white space part them, save within brackets, as in P(a | b). */
export function cellsOf(line: string): readonly Span[] {
  const cells: Span[] = [];
  let [depth, from] = [0, 0];
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] as string;
    if ("([{".includes(char)) depth += 1;
    else if (")]}".includes(char)) depth = Math.max(0, depth - 1);
    if (char !== "|" || depth > 0 || !isBlank(line[at - 1]) || !isBlank(line[at + 1])) continue;
    cells.push({ start: from, end: at });
    from = at + 1;
  }
  cells.push({ start: from, end: line.length });
  return cells;
}

const isBlank = (char: string | undefined): boolean => char === undefined || /\s/.test(char);

/** Whether a line stands in a table: it has three cells, or two and another such line beside it. */
export function isRow(text: string, line: Line): boolean {
  if (!line.text.includes("|")) return false;
  const count = cellsOf(line.text).length;
  const isBeside = (other: Line | undefined) =>
    other !== undefined && other.text.includes("|") && cellsOf(other.text).length > 1;
  return count > 2 || (count === 2 && (isBeside(nextLine(text, line, -1)) || isBeside(nextLine(text, line, 1))));
}

/** The mark of a list's point at the beginning of a line. */
export const listMark = /^\s{0,8}(?:[-*+–•◦▪▫‣⁃●○■□]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s/u;

/** A heading as readers of documents mark it. */
export const markedHeading = /^#{1,6} /;
/** One as a PDF has it: by its number, or a word or two that begin with a capital. */
const plainHeading =
  /^(?:(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.) \p{Lu}[^.!?]{0,80}|\p{Lu}\p{Ll}{2,20}(?: (?:and|of) \p{Lu}?\p{Ll}{2,20})?:?)$/u;

const endsSentence = (line: string): boolean => /[.!?。！？؟।][\s"'”’»)\]*\d]{0,12}$/u.test(line.slice(-16));
const firstWord = (line: string): string => line.slice(0, 40).replace(pageMark, "").trimStart();
const beginsSmall = (line: string): boolean => /^\p{Ll}/u.test(firstWord(line));
const beginsCapital = (line: string): boolean => /^\p{Lu}/u.test(firstWord(line));

/** Whether a line is a heading: marked, or nothing before it goes on in it and a capital follows it. */
function isHeading(text: string, line: Line, below: Line): boolean {
  if (markedHeading.test(line.text)) return true;
  if (!plainHeading.test(line.text.trim()) || !beginsCapital(below.text)) return false;
  const above = line.start === 0 ? "" : lineAt(text, line.start - 1).text;
  return above.trim() === "" || endsSentence(above) || markedHeading.test(above);
}

/**
 * Whether a paragraph goes on from one line of words to the next. Where nobody can tell it does: a sentence may be
 * parted by a page's end and head, or by a figure, and too much only lengthens a passage.
 */
function goesOn(text: string, above: Line, below: Line): boolean {
  if (listMark.test(below.text) || markedHeading.test(below.text) || isHeading(text, above, below)) return false;
  if (isRow(text, above) || isRow(text, below)) return false;
  if (below.start === above.end + 1 || beginsSmall(below.text)) return true;
  if (isOfHead(text, above, below)) return false;
  // A point of a list closes with its paragraph, stop or not.
  return !endsSentence(above.text) && !(listMark.test(above.text) && beginsCapital(below.text));
}

/** Maximum length of a document's head in characters. */
const maxHead = 1000;

/** Whether an empty line below a line ends the document's head: its title, authors and date, which have no stop. */
function isOfHead(text: string, above: Line, below: Line): boolean {
  if (above.end > maxHead || text.slice(above.end, below.start).trim() !== "") return false;
  if (!/[\p{L}\p{N})]$/u.test(above.text.trimEnd()) || !/^[\p{Lu}\p{Lo}\d]/u.test(firstWord(below.text))) return false;
  return !text.slice(0, above.end).split("\n").some(endsSentence);
}

/** The paragraph that a stretch stands in, over the ends of pages and without headings and rows of tables. */
export function paragraphAround(text: string, { start, end }: Span): Span {
  let first = lineAt(text, start);
  while (first.start > 0 && start - first.start < reach) {
    const above = nextLine(text, first, -1);
    if (above === undefined || !goesOn(text, above, first)) break;
    first = above;
  }
  let last = lineAt(text, Math.max(start, end - 1));
  while (last.end < text.length && last.end - end < reach) {
    const below = nextLine(text, last, 1);
    if (below === undefined || !goesOn(text, last, below)) break;
    last = below;
  }
  return { start: Math.max(first.start, start - reach), end: Math.min(last.end, end + reach) };
}

let segmenter: Intl.Segmenter | undefined;
/** Made with the first passage: it takes milliseconds, and many programs show none. */
const segmentsOf = (text: string): Intl.Segments =>
  (segmenter ??= new Intl.Segmenter("en", { granularity: "sentence" })).segment(text);

/**
 * Abbreviations behind whose point the segmenter ends a sentence, and initials, not the letter of a degree. Too many
 * only lengthen a passage.
 */
const abbreviated =
  /(?:(?<![\p{L}°])(?:\p{L}|al|vs|Figs?|Tabs?|Drs?|Dra|Nos?|St|approx|ca|cf|resp|incl|Refs?|Eqs?|Inc|Ltd|Co|Corp|Mr|Mrs|Ms|Prof|subsp|spp?|var|min|max|wk|yr|mo|hrs?|secs?|chap|ch|pp|vol|conc|eds?|Suppl|Dept|Univ|bzw|sog|Mio|Mrd|Nr|Abb|EE|UU|Sra?)|\p{L}\.\p{L})\.[\s"'”’)\]]{0,9}$/iu;
/** What begins a sentence behind a point: a capital, or a letter of a script without them, with its marks before. */
const beginning = /^[\s"'“‘«„¿¡([{*_]{0,9}(?:\p{Lu}|\p{Lt}|\p{Lo})/u;
/** What closes a sentence behind its stop: brackets, citations, raised numbers, marks of emphasis. */
const closing = /^(?:\s?\[[\d,;–\- ]{1,40}\]|["'”’»)\]*_]|[¹²³⁰⁴-⁹]|\d{1,3}(?=\s)){0,9}\s{0,9}/u;

/**
 * The space between the end of a sentence and a number that begins the next one, in which the segmenter sees no end:
 * "640 owners. 71 percent would". The stop is behind a word that is hardly an abbreviation, a year, or what closes; a
 * small word or a percent sign follows the number, so that it is neither a decimal nor a raised number.
 */
const spaceBeforeNumber =
  /(?<=(?:(?<!\p{L})\p{Ll}{3,40}|\p{L}{6}|\p{Lu}{2}|(?<!\d)\d{4}|[%)\]”"’])[.!?]["'”’»)\]]{0,3})\s{1,3}(?=\d[\d.,]{0,15}(?:\s?[%‰]|[\s-]\p{Ll}{2}))/gu;
/** Abbreviations of three letters or more before a number alone. */
const abbreviatedBeforeNumber =
  /(?<!\p{L})(?:sect?|art|cap|p[aá]g|núm|env|vgl|inkl|exkl|mind|zzgl|aprox|рис|табл|стр)\.$/iu;

/** Characters before a number in which an open bracket is looked for. */
const bracketReach = 300;

/** The beginnings of sentences at numbers. In brackets stand citations and parts of a sentence. */
function* beginningsAtNumbers(flat: string): Generator<number> {
  for (const { index, 0: space } of flat.matchAll(spaceBeforeNumber)) {
    const before = flat.slice(Math.max(0, index - bracketReach), index);
    if (before.lastIndexOf("(") > before.lastIndexOf(")") || before.lastIndexOf("[") > before.lastIndexOf("]"))
      continue;
    const last = before.slice(-40);
    if (!abbreviated.test(last) && !abbreviatedBeforeNumber.test(last)) yield index + space.length;
  }
}

/** The sentences from the one in which a stretch begins to the one in which it ends. */
export function sentencesAround(text: string, { start, end }: Span): Span[] {
  const block = paragraphAround(text, { start, end });
  const flat = text.slice(block.start, block.end).replace(/\s/g, " ");
  const sentences: Span[] = [];
  const ends = [...beginningsAtNumbers(flat)];
  for (const { index, segment } of segmentsOf(flat)) ends.push(endOf(flat, index, segment) ?? 0);
  let from = 0;
  for (const to of ends.toSorted((a, b) => a - b)) {
    if (to <= from) continue;
    if (block.start + to > start && block.start + from < end)
      sentences.push({ start: block.start + from, end: block.start + to });
    from = to;
  }
  return sentences;
}

/** Where a sentence ends that the segmenter ends here; undefined where it goes on. */
function endOf(flat: string, index: number, segment: string): number | undefined {
  const end = index + segment.length;
  if (end === flat.length) return end;
  const stop = /[.!?。！？؟।][^.!?。！？؟।]{0,12}$/u.exec(segment);
  const closed =
    stop === null
      ? end
      : index +
        stop.index +
        1 +
        (closing.exec(flat.slice(index + stop.index + 1, index + stop.index + 60))?.[0].length ?? 0);
  const to = Math.max(end, closed);
  // A paper shouts in names alone: "Yahoo! Answers", "Jeopardy! Questions".
  if (stop?.[0].startsWith("!") === true && to < flat.length) return undefined;
  if (stop?.[0].startsWith(".") !== true) return to;
  return abbreviated.test(segment) || (to < flat.length && !beginning.test(flat.slice(to, to + 12))) ? undefined : to;
}
