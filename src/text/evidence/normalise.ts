import { pageMark } from "./structure/sentences.js";

// Kinds of gaps between a character and the previous one.

/** No gap. */
export const GAP_NONE = 0;
/** A space. */
export const GAP_SPACE = 1;
/** A dash or an accent was removed here, so it is not known whether there is a space. */
export const GAP_EITHER = 2;
/** No space, but another number begins: "1½" is "1 1/2", and not "11/2". */
export const GAP_NUMBER = 3;
/**
 * The hyphen of a compound or at the end of a line was removed. The word continues, so no quote begins or ends here.
 */
export const GAP_HYPHEN = 4;

/**
 * A text in the form in which quotes are compared: without white space, capitals, accents and ligatures, and with one
 * kind of quotation mark and dash.
 */
export interface Normalised {
  /** The original text. */
  readonly source: string;
  readonly chars: string;
  /** For each character: the gap before it. */
  readonly gaps: Uint8Array;
  /** For each character: the offset in `source` at which its original begins. */
  readonly from: Int32Array;
  /** For each character: the offset in `source` at which its original ends. */
  readonly to: Int32Array;
  /**
   * The parts that were removed: citations, page numbers, borders of cells, footnote marks. The key is the position in
   * `chars` of the next character.
   */
  readonly removedParts: ReadonlyMap<number, string>;
}

/**
 * Parts of a text to be read as white space, by their offset. `text` is compared between text and quote; it is empty
 * for a part that is not compared, such as a running head.
 */
export type Extras = ReadonlyMap<number, { readonly text: string; readonly end: number }>;

/** Citations such as `[12]`, `[3, 4]` and `[5–8]`, and page numbers such as `[p. 4]` from the readers of documents. */
const citationOrPage =
  /\[\s{0,3}(?:p\. ?\d{1,5}|\d{1,3}[a-z]?(?:\s{0,3}[,;\u2010-\u2015\u2212\ufe63\uff0d-]\s{0,3}\d{1,3}[a-z]?){0,20})\s{0,3}\]/y;
/**
 * Markdown emphasis and code; agents quote the words without it. Only pairs of marks around complete words, so `A*` and
 * `5*3` are not changed.
 */
const emphasis =
  /(?<![\p{L}\p{N}*_`\\])(\*\*|__|\*|_|`)(?=[^\s*_`])[^*_`\n]{0,200}[^\s*_`([{](\1)(?![\p{L}\p{N}*_`])/gu;
/**
 * Marks of headings and lists at the beginning of a line. A dash before a number is not one: it may be a minus sign.
 */
const lineMarks = /(?<=^|\n) {0,12}(?:#{1,6} |[-*+>] (?=[^\d.\s]))/g;
const bullets = /[•◦▪▫‣⁃●○■□◆◇►▸▶❖✓✔★☆※☐☑⇒‧・\u2794-\u27be\uf076\uf0a7\uf0a8\uf0b7\uf0d8\uf0fc]/u;

const isLetter = (char: string | undefined): boolean =>
  char !== undefined && (/[a-zA-Z]/.test(char) || (char > "\u007f" && /\p{L}/u.test(char)));
/** The Hebrew hyphen. */
const maqaf = "\u05be";
const isDash = (char: string) =>
  char === "-" || (char >= "\u2010" && char <= "\u2015") || "\u2212\ufe63\uff0d".includes(char) || char === maqaf;
const isSpace = (char: string | undefined): boolean =>
  char === " " || char === "\n" || char === "\u0085" || (char !== undefined && char !== "\ufeff" && /\s/.test(char));
const isAsciiDigit = (char: string | undefined): boolean => char !== undefined && char >= "0" && char <= "9";

const perCent = /per\s?cent(?!\p{L})/iuy;

/** Signs that people type as several characters because keyboards do not have them. */
const typedSigns: Readonly<Record<string, string>> = { "<=": "≤", ">=": "≥", "!=": "≠", "=/=": "≠", "->": "→" };
const typedSignPattern = /\+\/[-−–]|\+-(?=\s?\d)|(?<=\s)\+[-−–](?=\s\p{L})|<=|>=|!=|=\/=|->/uy;

/** Builds a normalised text. Typed arrays, because joining an array of many strings would take twice as long. */
class NormalisedBuilder {
  length = 0;
  #units: Uint16Array;
  #gaps: Uint8Array;
  #from: Int32Array;
  #to: Int32Array;

  /**
   * The length of the source is enough in most cases; the arrays grow if a character has several characters as form.
   */
  constructor(capacity: number) {
    this.#units = new Uint16Array(capacity);
    this.#gaps = new Uint8Array(capacity);
    this.#from = new Int32Array(capacity);
    this.#to = new Int32Array(capacity);
  }

  /** Adds the characters for the source text from `from` to `to`. The arrays have one entry for each UTF-16 unit. */
  add(chars: string, gap: number, from: number, to: number): void {
    if (this.length + chars.length > this.#units.length) this.#grow(2 * (this.length + chars.length));
    for (let unit = 0; unit < chars.length; unit += 1) {
      this.#units[this.length] = chars.charCodeAt(unit);
      this.#gaps[this.length] = unit === 0 ? gap : GAP_NONE;
      this.#from[this.length] = from;
      this.#to[this.length] = to;
      this.length += 1;
    }
  }

  #grow(capacity: number): void {
    const larger = new NormalisedBuilder(capacity);
    larger.#units.set(this.#units);
    larger.#gaps.set(this.#gaps);
    larger.#from.set(this.#from);
    larger.#to.set(this.#to);
    [this.#units, this.#gaps, this.#from, this.#to] = [larger.#units, larger.#gaps, larger.#from, larger.#to];
  }

  /** A character by its index from the end: −1 is the last one. */
  at(index: number): string | undefined {
    return this.length + index < 0 ? undefined : String.fromCharCode(this.#units[this.length + index] as number);
  }

  /** The last `count` characters. */
  last(count: number): string {
    return String.fromCharCode(...this.#units.subarray(Math.max(0, this.length - count), this.length));
  }

  /** Sets the end of the last character in the source. */
  extendLast(to: number): void {
    this.#to[this.length - 1] = to;
  }

  result(): Pick<Normalised, "chars" | "gaps" | "from" | "to"> {
    const { length } = this;
    return {
      chars: Buffer.from(this.#units.buffer, 0, 2 * length).toString("utf16le"),
      gaps: this.#gaps.slice(0, length),
      from: this.#from.slice(0, length),
      to: this.#to.slice(0, length),
    };
  }
}

/**
 * Normalises a text or a quote, with the same rules for both. `extras` are read as white space and added to
 * `removedParts`. Linear in the length.
 */
export function normalise(source: string, extras?: Extras): Normalised {
  const text = extras === undefined ? source : withSpacesForExtras(source, extras);
  const markup = markupPositions(text);
  const overlaid = new Map(
    overlay.test(text) ? [...text.matchAll(overlaidSymbol)].map((match) => [match.index, match[0]]) : [],
  );
  const built = new NormalisedBuilder(text.length);
  const removedParts = new Map<number, string>();
  let gap = GAP_NONE;
  let lastLevel: string | undefined;
  /** The index of the "}" that ends a power or an index, as in `10^{-5}`. */
  let closingBrace = -1;
  /** The index after the last Greek letter that was replaced by its name. In PDFs, "βsub" and "β sub" are the same. */
  let greekEnd = -1;

  for (let at = 0; at < text.length;) {
    const char = text[at] as string;
    const extra = extras?.get(at);
    if (extra !== undefined) {
      addRemoved(extra.text);
      if (gap === GAP_NONE) gap = GAP_SPACE;
      lastLevel = undefined;
      at = extra.end;
      continue;
    }
    if ((char === "p" || char === "P") && isDigit(built.at(-1))) {
      perCent.lastIndex = at;
      const percentWord = perCent.exec(text)?.[0];
      if (percentWord !== undefined) {
        push("%", at, at + percentWord.length);
        lastLevel = undefined;
        at += percentWord.length;
        continue;
      }
    }
    // The fast path for small letters, which are four of five characters. An x may be a multiplication sign.
    if (char >= "a" && char <= "z" && char !== "x" && !overlaid.has(at)) {
      push(char, at, at + 1);
      lastLevel = undefined;
      at += 1;
      continue;
    }
    if (markup.has(at) || at === closingBrace) {
      at += 1;
      continue;
    }
    if (isSpace(char)) {
      if (gap === GAP_NONE) gap = GAP_SPACE;
      lastLevel = undefined;
      at += 1;
      continue;
    }
    if (char === "[") {
      citationOrPage.lastIndex = at;
      const citation = citationOrPage.exec(text)?.[0];
      if (citation !== undefined) {
        addRemoved(citation.replace(/\s/g, "").replace(/[\u2010-\u2015\u2212\ufe63\uff0d]/g, "-"));
        if (gap === GAP_NONE) gap = GAP_EITHER;
        at += citation.length;
        continue;
      }
    }
    if ((char === "[" || char === "]") && !isIntervalBracket(text, at)) {
      push(char === "[" ? "(" : ")", at, at + 1);
      at += 1;
      continue;
    }
    const symbol = overlaid.get(at);
    if (symbol !== undefined) {
      push(overlaidForm(symbol), at, at + symbol.length);
      at += symbol.length;
      continue;
    }
    const sign = typedSignAt(text, at);
    if (sign !== undefined) {
      push(typedSigns[sign] ?? "±", at, at + sign.length);
      at += sign.length;
      continue;
    }
    if (isDash(char)) {
      at = readDash(at);
      continue;
    }
    if (isListMarkOrBorder(at)) {
      // Without this, a quote could make one number with a thousands separator out of two cells.
      const isBeforeThousands = /^\s?\d{3}(?!\d)/.test(text.slice(at + 1, at + 6));
      if (char === "|" && isDigit(built.at(-1)) && isBeforeThousands) addRemoved("|");
      if (gap === GAP_NONE) gap = GAP_SPACE;
      at += 1;
      continue;
    }
    if (char === "{" && (built.at(-1) === superscriptSign || built.at(-1) === subscriptSign) && gap === GAP_NONE) {
      const close = text.slice(at, at + 13).indexOf("}");
      if (close !== -1) {
        closingBrace = at + close;
        at += 1;
        continue;
      }
    }
    const code = text.codePointAt(at) as number;
    const syllable = code < 0x1100 ? undefined : syllableAt(text, at);
    if (syllable !== undefined) {
      push(syllable.normalize("NFKC"), at, at + syllable.length);
      lastLevel = undefined;
      at += syllable.length;
      continue;
    }
    const end = at + (code > 0xffff ? 2 : 1);
    // ".05" is read as 0.05.
    if (char === "." && isAsciiDigit(text[end]) && canPrecedeNumber(text[at - 1]) && !isDigit(built.at(-1)))
      push("0", at, end);
    if (isIgnored(code) || (code === 0xac && text[end] === "\n")) {
      // A soft hyphen at the end of a line divides a word like a hyphen. Some programs write it as "¬".
      const next = code === 0xad || code === 0xac ? endOfSpaces(text, end) : end;
      if (next > end && isLetter(text[at - 1]) && isLetter(text[next])) gap = GAP_HYPHEN;
      at = next > end && gap === GAP_HYPHEN ? next : end;
      continue;
    }
    const contextual = code < 0x80 && !"xXA*".includes(char) ? undefined : formInContext(at, code);
    const form = contextual ?? (code < 0x80 ? asciiForm(char) : plainForm(code));
    const level = contextual === undefined ? levelOf(code, form) : undefined;
    if ((level === superscriptSign || level === subscriptSign) && level !== lastLevel) push(level, at, end);
    else if (
      level !== undefined &&
      isDigit(built.at(-1)) &&
      (level !== lastLevel || level === singleNumber) &&
      gap === GAP_NONE
    )
      gap = GAP_NUMBER;
    lastLevel = level;
    if (form === "" && !isCombining(code)) gap = GAP_EITHER;
    // Two single quotation marks are a double one. After a number, they mean inches.
    if (form === "'" && gap === GAP_NONE && built.at(-1) === "'" && !isDigit(built.at(-2))) {
      built.extendLast(end);
      at = end;
      continue;
    }
    push(form, at, end);
    if (contextual !== undefined && isGreek(code)) greekEnd = end;
    at = end;
  }
  return { source, ...built.result(), removedParts };

  function push(form: string, start: number, end: number): void {
    if (start === greekEnd && gap === GAP_NONE && isLetter(form)) gap = GAP_HYPHEN;
    built.add(form, gap, start, end);
    if (form !== "") gap = GAP_NONE;
  }

  function addRemoved(part: string): void {
    removedParts.set(built.length, `${removedParts.get(built.length) ?? ""}${part} `);
  }

  /**
   * Whether a sign is a list mark or a border between the cells of a table. The bar in "P(a|b)" and the multiplication
   * sign in "a · b" are not.
   */
  function isListMarkOrBorder(at: number): boolean {
    const sign = text[at] as string;
    const isBeforeSpace = isSpace(text[at + 1] ?? " ");
    if (sign !== "|" && sign !== "·" && sign !== "∙") return isBeforeSpace && bullets.test(sign);
    if (!isBeforeSpace || !isSpace(text[at - 1] ?? " ")) return false;
    return sign === "|" || (isLetter(text[at + 2]) && /^[^\s]{2}|^\S \p{L}{2}/u.test(text.slice(at + 2, at + 6)));
  }

  /** Reads one or several dashes. @returns their end. */
  function readDash(start: number): number {
    const end = endOfDashes(text, start);
    const isAfterSpace = isSpace(text[start - 1] ?? " ");
    if (joinsLetters(text, start, end)) {
      const after = endOfSpaces(text, end);
      const isLongDash = end - start > 1 || text[start] === "\u2014" || text[start] === "\u2015";
      const wordContinues = after === end || text.slice(end, after).includes("\n");
      gap = isAfterSpace || isLongDash || !wordContinues ? GAP_EITHER : GAP_HYPHEN;
    } else if (
      isAfterSpace &&
      text[start - 2] !== "|" &&
      isSpace(text[end]) &&
      isLetter(text[end + 1]) &&
      ":;,.)".includes(built.at(-1) ?? ":")
    ) {
      // A list mark within a line, or a dash after a bracket. Before a number, it may be a minus sign.
      if (gap === GAP_NONE) gap = GAP_SPACE;
    } else {
      // In "3 × 10−5", the reader of the document has lost that −5 is a power.
      const isPower = isAsciiDigit(text[endOfSpaces(text, end)]) && /[×x·*]10$/.test(built.last(3));
      if (isPower) push(superscriptSign, start, end);
      push("-", start, start + 1);
    }
    lastLevel = undefined;
    return end;
  }

  /** The form of a character that depends on the characters beside it. Undefined if it does not depend on them. */
  function formInContext(at: number, code: number): string | undefined {
    const [before, after] = [text[at - 1], text[at + 1]];
    if (code === 0x78 || code === 0x58) {
      const next = text[endOfSpaces(text, at + 1)];
      const isNotInWord = !isLetter(before) && (isSpace(after) || isAsciiDigit(after));
      // The x in "1.30 x EVLW" and "3 x 5" is a multiplication sign.
      const isFactor = isNotInWord && (isAsciiDigit(next) || (isSpace(before) && isLetter(next)));
      return isDigit(built.at(-1)) && (isFactor || (gap === GAP_NONE && !isLetter(after))) ? "×" : undefined;
    }
    // "5 * 3" and "3·10⁵" are products; "0·5" is "0.5".
    if (code === 0xb7 || code === 0x2a || code === 0x2217 || code === 0x2219 || code === 0x22c5) {
      // In "0.7* 10.9", two cells of a table, the sign has a space on one side only.
      const hasEqualSides = isSpace(before) === isSpace(after);
      if (!hasEqualSides || !isDigit(built.at(-1)) || !isAsciiDigit(text[endOfSpaces(text, at + 1)])) return undefined;
      const isPower = /^\s?10(?:[⁻⁰¹²³⁴-⁹^]|[-−]\d)/.test(text.slice(at + 1, at + 6));
      return code === 0xb7 && !isPower && gap === GAP_NONE && isAsciiDigit(after) ? "." : "×";
    }
    if (code === 0x223c) return "~";
    // A separate accent may be used as an apostrophe: "patient´s".
    if (code === 0xb4)
      return isLetter(before) && /^(?:s|t|re|ve|ll|d|m)(?!\p{L})/u.test(text.slice(at + 1, at + 4)) ? "'" : undefined;
    // "5 Å" is a length, "Åström" a name.
    if (code === 0xc5 || code === 0x212b) return isLetter(before) || isLetter(after) ? undefined : "å";
    if (code === 0x41) return after === "\u030a" && !isLetter(before) && !isLetter(text[at + 2]) ? "å" : undefined;
    if (
      isGreek(code) &&
      !isGreek(text.codePointAt(letterBeside(text, at, -1)) ?? 0) &&
      !isGreek(text.codePointAt(letterBeside(text, at + (code > 0xffff ? 1 : 0), 1)) ?? 0)
    ) {
      if (gap === GAP_NONE && isLetter(before)) gap = GAP_EITHER;
      return greekNames.get(withoutAccents(String.fromCodePoint(code)));
    }
    if (!isDigit(built.at(-1))) {
      return gap === GAP_NONE && code === 0x2032 && built.at(-1) === "′" ? "′" : undefined;
    }
    if (code === 0xba || code === 0x2da) return "°";
    if (code === 0x2032) return "′";
    if (code === 0x2033) return "′′";
    // Many PDFs have a superscript 0 as degree sign; but in 10⁰, it is a power.
    if (code === 0x2070 && gap === GAP_NONE && levelOf(text.codePointAt(at + 1) ?? 0, "") === undefined)
      return /(?:^|\D)10$/.test(built.last(3)) ? undefined : "°";
    return undefined;
  }
}

/**
 * Removes extras from a text that was normalised without them. The result is the same as `normalise(source, extras)`,
 * but faster. If there are running heads, the text is normalised again, because a word may continue after one.
 */
export function withoutExtras(complete: Normalised, extras: Extras): Normalised {
  if ([...extras.values()].some(({ text }) => text === "")) return normalise(complete.source, extras);
  const { source, chars, from, to } = complete;
  const gaps = Uint8Array.from(complete.gaps);
  const positions: number[] = [];
  const removedParts = new Map(complete.removedParts);
  for (const [start, { text, end }] of [...extras].sort(([a], [b]) => a - b)) {
    const first = Math.max(countBelow(from, start), (positions.at(-1) ?? -1) + 1);
    let index = first;
    for (; index < from.length && (from[index] as number) < end; index += 1) {
      positions.push(index);
      // A removed part within the extra is already in its text.
      if (index > first) removedParts.delete(index);
    }
    if (gaps[index] === GAP_NONE) gaps[index] = GAP_SPACE;
    removedParts.set(first, `${removedParts.get(first) ?? ""}${text} `);
  }
  return withoutPositions({ source, chars, gaps, from, to, removedParts }, positions);
}

/** How numbers are read that were typed on a usual keyboard. */
export interface PlainNumbers {
  /** Whether superscripts and subscripts are read as usual characters. */
  readonly flattensScripts: boolean;
  /** Whether thousands separators are ignored. False if the text has decimal commas. */
  readonly joinsThousands: boolean;
}

/** Whether a gap is one of the special spaces between thousands. */
const isThousandsSpace = (gapText: string): boolean => /^[\u2009\u202f\u00a0]$/.test(gapText);
const numberWithThousandsSpace = /\p{Nd}[\u2009\u202f\u00a0]\p{Nd}{3}/u;

/**
 * The same text with form numbers, for quotes that were typed on a usual keyboard: "10⁻⁵" becomes "10-5", "η_p²"
 * becomes "ηp2", and "12,345" becomes "12345". The scripts of a quote are not flattened: if a quote has a power, the
 * text must have it too. A script after a digit is flattened only if the two make no other number: "4¹" is not 41.
 */
export function withPlainNumbers(
  normalised: Normalised,
  { flattensScripts, joinsThousands }: PlainNumbers,
): Normalised {
  const { source, chars, gaps, from, to } = normalised;
  const positions: number[] = [];
  for (const { index, 0: sign } of chars.matchAll(flattensScripts ? /[\^_,']/g : /[,']/g)) {
    const isSeparator = joinsThousands && isThousandsGroup(normalised, index + 1);
    const isScript = sign === superscriptSign || sign === subscriptSign;
    if ((isScript && !makesNumber(normalised, index)) || isSeparator) positions.push(index);
  }
  const positionsWithoutGap = positions.map((index) => index + 1);
  if (joinsThousands && numberWithThousandsSpace.test(source))
    for (const { index } of chars.matchAll(/\p{Nd}(?=\p{Nd}{3})/gu)) {
      const hasSpace = gaps[index + 1] !== GAP_NONE && isThousandsSpace(source.slice(to[index], from[index + 1]));
      if (hasSpace && isThousandsGroup(normalised, index + 1)) positionsWithoutGap.push(index + 1);
    }
  if (positionsWithoutGap.length === 0) return normalised;
  const newGaps = Uint8Array.from(gaps);
  for (const index of positionsWithoutGap) newGaps[index] = GAP_NONE;
  return withoutPositions({ ...normalised, gaps: newGaps }, positions);
}

/** Whether the digits beside a script sign would be read as one number. "× 10⁶" may lose its power in a PDF. */
const makesNumber = ({ chars }: Normalised, index: number): boolean =>
  isDigit(chars[index - 1]) &&
  isDigit(chars[index + 1]) &&
  !/[×x·*]10$/.test(chars.slice(Math.max(0, index - 3), index));

/** Removes the characters at these positions, which are in ascending order. */
function withoutPositions(
  { source, chars, gaps, from, to, removedParts }: Normalised,
  positions: readonly number[],
): Normalised {
  return {
    source,
    chars: piecesBetween(positions, chars.length, (start, end) => chars.slice(start, end)).join(""),
    gaps: withoutItems(gaps, positions),
    from: withoutItems(from, positions),
    to: withoutItems(to, positions),
    removedParts: moveParts(removedParts, (position) => position - countBelow(positions, position)),
  };
}

/** The removed parts with new positions. Parts that get the same position are joined in their order. */
function moveParts(
  removedParts: Normalised["removedParts"],
  newPosition: (position: number) => number,
): Map<number, string> {
  const movedParts = new Map<number, string>();
  for (const [oldPosition, part] of [...removedParts].sort(([a], [b]) => a - b)) {
    const position = newPosition(oldPosition);
    movedParts.set(position, `${movedParts.get(position) ?? ""}${part}`);
  }
  return movedParts;
}

/** The pieces between the removed positions. */
function piecesBetween<Piece>(
  removedPositions: readonly number[],
  length: number,
  slice: (start: number, end: number) => Piece,
): Piece[] {
  const ends = [...removedPositions, length];
  return ends.map((end, index) => slice(index === 0 ? 0 : (ends[index - 1] as number) + 1, end));
}

function withoutItems<Numbers extends Uint8Array | Int32Array>(
  numbers: Numbers,
  removedPositions: readonly number[],
): Numbers {
  const result = numbers.slice(0, numbers.length - removedPositions.length) as Numbers;
  let length = 0;
  for (const piece of piecesBetween(removedPositions, numbers.length, (start, end) => numbers.subarray(start, end))) {
    result.set(piece, length);
    length += piece.length;
  }
  return result;
}

/** Counts the numbers below a limit by binary search; they are in ascending order. */
function countBelow(numbers: ArrayLike<number>, limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Whether the three digits from a position are the last group of a number with thousands, such as the 345 of 12,345.
 */
export function isThousandsGroup({ chars, gaps }: Normalised, position: number): boolean {
  const continuesNumber = (index: number) => isDigit(chars[index]) && gaps[index] === GAP_NONE;
  const hasThreeDigits = isDigit(chars[position]) && continuesNumber(position + 1) && continuesNumber(position + 2);
  if (!hasThreeDigits || continuesNumber(position + 3)) return false;
  const groupEnd = ",'".includes(chars[position - 1] ?? " ") ? position - 1 : position;
  let groupStart = groupEnd;
  while (
    groupStart > 0 &&
    groupEnd - groupStart < 4 &&
    isDigit(chars[groupStart - 1]) &&
    (groupStart === groupEnd || continuesNumber(groupStart))
  )
    groupStart -= 1;
  const groupLength = groupEnd - groupStart;
  return groupLength === 3 || (groupLength > 0 && groupLength < 3 && chars[groupStart] !== "0");
}

const intervalAfter = /\[[\d\s.,;:+\u2010-\u2015\u2212\ufe63\uff0d-]{0,40}(?:[\])]|$)/y;
const intervalBefore = /(?:^|[[(])[\d\s.,;:+\u2010-\u2015\u2212\ufe63\uff0d-]{0,40}$/;

/** Whether a square bracket is part of an interval. "[95% CI]" is the same as "(95% CI)", but [0, 1) is not (0, 1). */
function isIntervalBracket(text: string, at: number): boolean {
  intervalAfter.lastIndex = at;
  return text[at] === "[" ? intervalAfter.test(text) : intervalBefore.test(text.slice(Math.max(0, at - 41), at));
}

/**
 * The text with spaces in place of the extras, so that a word can continue after a running head. Offsets stay the same.
 */
function withSpacesForExtras(source: string, extras: Extras): string {
  const pieces: string[] = [];
  let lastEnd = 0;
  for (const [start, { end }] of [...extras].sort(([a], [b]) => a - b)) {
    if (start < lastEnd) continue;
    pieces.push(source.slice(lastEnd, start), " ".repeat(end - start));
    lastEnd = end;
  }
  pieces.push(source.slice(lastEnd));
  return pieces.join("");
}

/** The sign of several characters that begins at an offset, such as "<=". */
function typedSignAt(text: string, at: number): string | undefined {
  const char = text[at];
  if (char === undefined || !"<>!+-=".includes(char)) return undefined;
  typedSignPattern.lastIndex = at;
  return typedSignPattern.exec(text)?.[0];
}

/** The offsets of all characters of Markdown marks, which are not read. */
function markupPositions(text: string): Set<number> {
  const positions = new Set<number>();
  for (const match of text.matchAll(emphasis)) {
    const mark = match[1] as string;
    for (let offset = 0; offset < mark.length; offset += 1) {
      positions.add(match.index + offset);
      positions.add(match.index + match[0].length - mark.length + offset);
    }
  }
  for (const match of text.matchAll(lineMarks))
    for (let offset = 0; offset < match[0].trimEnd().length; offset += 1) positions.add(match.index + offset);
  return positions;
}

function endOfDashes(text: string, at: number): number {
  let end = at;
  while (end < text.length && isDash(text[end] as string)) end += 1;
  return end;
}

function endOfSpaces(text: string, at: number): number {
  let end = at;
  while (end < text.length && isSpace(text[end])) end += 1;
  return end;
}

const pageMarkAt = new RegExp(pageMark.source, "y");

/**
 * Whether a dash is between letters, also at the end of a line or page: "effec-\ntive", "state-of-the-art". Before a
 * digit, it may be a minus sign.
 */
function joinsLetters(text: string, start: number, end: number): boolean {
  let before = start - 1;
  while (before >= 0 && isSpace(text[before])) before -= 1;
  if (!isLetter(text[before]) && !isLetter(text[letterBeside(text, before + 1, -1)])) return false;
  let after = endOfSpaces(text, end);
  pageMarkAt.lastIndex = after;
  const mark = pageMarkAt.exec(text)?.[0];
  if (mark !== undefined) after = endOfSpaces(text, after + mark.length);
  return isLetter(text[after]);
}

/** Combining strokes, bars and rings. They are not accents: ≠ is "=" with a stroke, and means the opposite. */
const overlays = "\\u0334-\\u0338\\u20d2\\u20d3\\u20d8-\\u20da\\u20dd-\\u20e0\\u20e2-\\u20e6\\u20ea\\u20eb";
/** A symbol with at most four overlays. In PDFs, they are before or after the symbol. */
const overlaidSymbol = new RegExp(`\\p{S}[${overlays}]{1,4}|[${overlays}]{1,4}\\p{S}`, "gu");
const overlay = new RegExp(`[${overlays}]`, "u");

/** A symbol followed by its overlays; one character if possible. "=" and U+0338, in any order, become "≠". */
function overlaidForm(symbol: string): string {
  const characters = [...symbol];
  const overlaysOfSymbol = characters.filter((character) => overlay.test(character));
  return withoutAccents(
    characters.filter((character) => !overlay.test(character)).join("") + overlaysOfSymbol.join(""),
  );
}

/** Whether a character is an accent that belongs to the letter before it. */
const isCombining = (code: number) =>
  (code >= 0x300 && code < 0x370 && !(code >= 0x334 && code <= 0x338)) ||
  (code >= 0x591 && code <= 0x5c7 && code !== 0x5be && code !== 0x5c0 && code !== 0x5c3 && code !== 0x5c6) ||
  (code >= 0x64b && code <= 0x65f) ||
  code === 0x670;
/** Whether a character is an accent, combining or separate. PDFs often contain separate accents. */
const isAccent = (code: number) =>
  isCombining(code) ||
  code === 0xb4 ||
  code === 0xa8 ||
  code === 0xb8 ||
  code === 0xaf ||
  (code >= 0x2c6 && code <= 0x2c7) ||
  (code >= 0x2d8 && code <= 0x2dd);
/**
 * Whether a character is not compared: direction marks, joiners, fillers, variation selectors, tags and control
 * characters, which are invisible, and ®, © and ™, which people leave out.
 */
const isIgnored = (code: number) =>
  (code < 0x20 && code !== 0x9 && !(code >= 0xa && code <= 0xd)) ||
  code === 0x7f ||
  code === 0x640 ||
  code === 0x115f ||
  code === 0x1160 ||
  code === 0xfffc ||
  code === 0xad ||
  code === 0xae ||
  code === 0xa9 ||
  code === 0x2122 ||
  code === 0x61c ||
  code === 0x180e ||
  (code >= 0x200b && code <= 0x200f) ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x2069) ||
  code === 0xfeff ||
  (code >= 0xfe00 && code <= 0xfe0f) ||
  (code >= 0xe0000 && code <= 0xe01ef);

const quotationMarks =
  /^["'\u02b9\u02bc\u05f3\u05f4\u2018-\u201f\u2032\u2033\u2039\u203a\u00ab\u00bb\u275b-\u275e\u300c-\u300f\u301d-\u301f\uff02\uff07]$/u;
/** Forms that Unicode's compatibility decomposition does not give. */
const specialForms = new Map([
  [0x131, "i"],
  [0xdf, "ss"],
  [0x1e9e, "ss"],
  [0xf8, "o"],
  [0xd8, "o"],
  [0x142, "l"],
  [0x141, "l"],
  [0xe6, "ae"],
  [0xc6, "ae"],
  [0x153, "oe"],
  [0x152, "oe"],
  // Two forms of the same letter.
  [0x3c2, "σ"],
  [0x64a, "ی"],
  [0x649, "ی"],
  [0x643, "ک"],
  // Several forms of the same sign.
  [0x2a7d, "≤"],
  [0x2266, "≤"],
  [0x2a7e, "≥"],
  [0x2267, "≥"],
  [0x2236, ":"],
]);
/** The results of `plainForm`. */
const formCache = new Map<number, string>();

const isGreek = (code: number) =>
  (code >= 0x386 && code <= 0x3f6) ||
  code === 0xb5 ||
  code === 0x2126 ||
  (code >= 0x1d6a8 && code <= 0x1d7cb) ||
  (code >= 0x1f00 && code <= 0x1fff);
/**
 * The index of the letter before (−1) or after (1) an index. At most four combining accents between them are skipped.
 */
function letterBeside(text: string, at: number, step: 1 | -1): number {
  let beside = at + step;
  for (let skipped = 0; skipped < 4 && isCombining(text.charCodeAt(beside)); skipped += 1) beside += step;
  return beside;
}
/** The names of Greek letters. A letter alone is read as its name, because people write both. */
const greekNames = new Map(
  (
    "α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi ο omicron " +
    "π pi ρ rho σ sigma ς sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega"
  )
    .split(" ")
    .flatMap((word, index, words): [string, string][] => (index % 2 === 0 ? [[word, words[index + 1] as string]] : [])),
);

/** Whether a character is a decimal digit, of any script. */
export const isDigit = (char: string | undefined): boolean => char !== undefined && /\p{Nd}/u.test(char);

/** Written before a superscript. */
const superscriptSign = "^";
/** Written before a subscript. */
const subscriptSign = "_";
/** The level of characters that are complete numbers, such as ½ and ①. */
const singleNumber = "single number";

/**
 * The level of a digit, superscript or subscript: characters with the same level form one number. Undefined for other
 * characters.
 */
function levelOf(code: number, form: string): string | undefined {
  if (code < 0x80) return code >= 0x30 && code <= 0x39 ? "line" : undefined;
  if (code === 0xb2 || code === 0xb3 || code === 0xb9 || code === 0xaa) return superscriptSign;
  if (code >= 0x2070 && code <= 0x209c) return code < 0x2080 ? superscriptSign : subscriptSign;
  if (code >= 0x1d2c && code <= 0x1d6a) return code < 0x1d62 ? superscriptSign : subscriptSign;
  if (!isDigit(form[0])) return undefined;
  return isDigit(String.fromCodePoint(code)) ? "line" : singleNumber;
}

/** The characters that are compared instead of a character outside ASCII. */
function plainForm(code: number): string {
  let form = formCache.get(code);
  if (form === undefined) {
    form = formOf(code, String.fromCodePoint(code));
    formCache.set(code, form);
  }
  return form;
}

function formOf(code: number, char: string): string {
  if (isAccent(code)) return "";
  if (quotationMarks.test(char)) return "'";
  return specialForms.get(code) ?? digitOf(code, char) ?? withoutAccents(char);
}

/** The ASCII digit for a digit of another script, such as 4 for ٤. Undefined for other characters. */
function digitOf(code: number, char: string): string | undefined {
  if (code < 0x660 || code >= 0xff00 || !isDigit(char)) return undefined;
  let zero = code;
  while (code - zero < 9 && isDigit(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}

const syllablePattern =
  /[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\u3041-\u30ff\uff66-\uff9d][\u3099\u309a\uff9e\uff9f]/y;

/** The Korean or Japanese syllable at an index that consists of several characters. */
function syllableAt(text: string, at: number): string | undefined {
  syllablePattern.lastIndex = at;
  return syllablePattern.exec(text)?.[0];
}

/** Whether a number may begin after this character: after nothing, white space, a bracket or a relation. */
const canPrecedeNumber = (before: string | undefined): boolean =>
  before === undefined || isSpace(before) || "([<>=≤≥±~≈$".includes(before);

const withoutAccents = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/[\u0300-\u0333\u0339-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\s]/g, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(/[\u2018\u2019]/g, "'")
    .replace("\u2212", "-")
    .replace("\u2044", "/");

const asciiForm = (char: string) => (char === '"' || char === "`" ? "'" : char.toLowerCase());
