/**
 * What stands between a character and the one before it. `either`: a hyphen or accent was dropped there, so a space may be or not.
 * `number`: nothing, but another number begins: "1½" reads as "1 1/2" and is not eleven halves.
 */
export const GAP_NONE = 0;
export const GAP_SPACE = 1;
export const GAP_EITHER = 2;
export const GAP_NUMBER = 3;

/** A text in the form in which quotes are compared: no white space, case, accents, ligatures; one kind of quotation mark and dash. */
export interface Normalised {
  readonly chars: string;
  /** For each character: the gap before it. */
  readonly gaps: Uint8Array;
  /** For each character: where what it came from begins and ends in the original text. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Bracketed citations that were taken out, by the position in `chars` that they stood before. */
  readonly citations: ReadonlyMap<number, string>;
}

/** `[12]`, `[3, 4]`, `[5–8]`, and the page marks `[p. 4]` that our own reader sets. */
const bracketed = /\[\s*(?:p\. ?\d{1,5}|\d{1,3}[a-z]?(?:\s*[,;\u2010-\u2015\u2212-]\s*\d{1,3}[a-z]?){0,20})\s*\]/y;
/** Markdown emphasis and code: agents quote the words without it. Only pairs that hug whole words, so `A*` and `5*3` stay. */
const emphasis = /(?<![\p{L}\p{N}*_`\\])(\*\*|__|\*|_|`)(?=[^\s*_`])[^*_`\n]{0,200}[^\s*_`](\1)(?![\p{L}\p{N}*_`])/gu;
/** Heading and list marks at the start of a line. A dash before a number stays: it may be a minus. */
const lineMarks = /(?<=^|\n) *(?:#{1,6} |• ?|[-*+] (?=[^\d.\s]))/g;

const isLetter = (char: string | undefined) =>
  char !== undefined && (/[a-zA-Z]/.test(char) || (char > "\u007f" && /\p{L}/u.test(char)));
const isDash = (char: string) => char === "-" || (char >= "\u2010" && char <= "\u2015") || char === "\u2212";
const isSpace = (char: string) => char === " " || char === "\n" || (char !== "" && /\s/.test(char));

/** Normalises a text or a quote; the same rules for both. Linear in the length. */
export function normalise(text: string): Normalised {
  const dropped = marksToDrop(text);
  const struckOut = new Map(
    overlay.test(text) ? [...text.matchAll(struck)].map((match) => [match.index, match[0]]) : [],
  );
  const chars: string[] = [];
  const gaps: number[] = [];
  const from: number[] = [];
  const to: number[] = [];
  const citations = new Map<number, string>();
  let gap = GAP_NONE;
  let lastRank: string | undefined;

  for (let at = 0; at < text.length;) {
    const char = text[at] as string;
    if (dropped.has(at)) {
      at += 1;
      continue;
    }
    if (isSpace(char)) {
      if (gap === GAP_NONE) gap = GAP_SPACE;
      at += 1;
      continue;
    }
    if (char === "[") {
      bracketed.lastIndex = at;
      const whole = bracketed.exec(text)?.[0];
      if (whole !== undefined) {
        const numbers = whole.replace(/\s+/g, "").replace(/[\u2010-\u2015\u2212]/g, "-");
        if (!numbers.startsWith("[p")) citations.set(chars.length, (citations.get(chars.length) ?? "") + numbers);
        if (gap === GAP_NONE) gap = GAP_EITHER;
        at += whole.length;
        continue;
      }
    }
    const struckRun = struckOut.get(at);
    if (struckRun !== undefined) {
      push(struckForm(struckRun), at, at + struckRun.length);
      at += struckRun.length;
      continue;
    }
    if (isDash(char)) {
      const end = endOfDashes(text, at);
      if (joinsLetters(text, at, end)) gap = GAP_EITHER;
      else push("-", at, at + 1);
      at = end;
      continue;
    }
    const code = text.codePointAt(at) as number;
    const end = at + (code > 0xffff ? 2 : 1);
    const plain = code < 0x80 ? asciiForm(char) : plainForm(code);
    const rank = rankOf(code, plain);
    if (rank !== undefined && isDigit(chars.at(-1)) && (rank !== lastRank || rank === alone)) {
      // 10⁵ is not 105, while CO₂ is CO2 and a footnote's number is just a number.
      if (rank === raised || rank === lowered) push(rank, at, end);
      else if (gap === GAP_NONE) gap = GAP_NUMBER;
    }
    lastRank = rank;
    if (plain === "" && !isCombining(code)) gap = GAP_EITHER;
    push(plain, at, end);
    at = end;
  }
  return {
    chars: chars.join(""),
    gaps: Uint8Array.from(gaps),
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    citations,
  };

  function push(plain: string, start: number, end: number): void {
    // One entry a UTF-16 unit, so that positions found by indexOf are positions in the arrays.
    for (let unit = 0; unit < plain.length; unit += 1) {
      chars.push(plain[unit] as string);
      gaps.push(unit === 0 ? gap : GAP_NONE);
      from.push(start);
      to.push(end);
      gap = GAP_NONE;
    }
  }
}

function marksToDrop(text: string): Set<number> {
  const drop = new Set<number>();
  for (const match of text.matchAll(emphasis)) {
    const mark = match[1] as string;
    for (let offset = 0; offset < mark.length; offset += 1) {
      drop.add(match.index + offset);
      drop.add(match.index + match[0].length - mark.length + offset);
    }
  }
  for (const match of text.matchAll(lineMarks))
    for (let offset = 0; offset < match[0].trimEnd().length; offset += 1) drop.add(match.index + offset);
  return drop;
}

function endOfDashes(text: string, at: number): number {
  let end = at;
  while (end < text.length && isDash(text[end] as string)) end += 1;
  return end;
}

const pageMark = /\s*\[p\. ?\d{1,5}\]\s*/y;

/** A dash between letters, at the end of a line or page or not: "effec-\ntive", "state-of-the-art". Before a digit it may be a minus and is kept. */
function joinsLetters(text: string, start: number, end: number): boolean {
  pageMark.lastIndex = end;
  let [before, after] = [start - 1, end + (pageMark.exec(text)?.[0].length ?? 0)];
  while (before >= 0 && isSpace(text[before] as string)) before -= 1;
  while (after < text.length && isSpace(text[after] as string)) after += 1;
  return isLetter(text[before]) && isLetter(text[after]);
}

/** Strokes, bars and rings over a character. They are no accents: ≠ is = with one, and says the opposite. */
const overlays = "\\u0334-\\u0338\\u20d2\\u20d3\\u20d8-\\u20da\\u20dd-\\u20e0\\u20e2-\\u20e6\\u20ea\\u20eb";
/** A symbol with such a stroke, which PDFs set before it as often as behind it. */
const struck = new RegExp(`\\p{S}[${overlays}]+|[${overlays}]+\\p{S}`, "gu");
const overlay = new RegExp(`[${overlays}]`, "u");

/** In one order, and as one character where there is one for it: "=" and U+0338, either first, are "≠". */
function struckForm(run: string): string {
  const parts = [...run];
  const strokes = parts.filter((part) => overlay.test(part));
  return withoutAccents(parts.filter((part) => !overlay.test(part)).join("") + strokes.join(""));
}

/** An accent that belongs to the letter before it. */
const isCombining = (code: number) => code >= 0x300 && code < 0x370 && !(code >= 0x334 && code <= 0x338);
/** Accents that PDFs set as characters of their own. */
const isAccent = (code: number) =>
  isCombining(code) ||
  code === 0xb4 ||
  code === 0xa8 ||
  code === 0xb8 ||
  code === 0xaf ||
  (code >= 0x2c6 && code <= 0x2c7) ||
  (code >= 0x2d8 && code <= 0x2dd);
const isInvisible = (code: number) =>
  code === 0xad ||
  (code >= 0x200b && code <= 0x200f) ||
  code === 0x2060 ||
  code === 0xfeff ||
  (code >= 0xfe00 && code <= 0xfe0f);

const quotationMarks = /^["'\u2018-\u201f\u2032\u2033\u2039\u203a\u00ab\u00bb\u300c-\u300f]$/u;
const superscript = /^[\u00b2\u00b3\u00b9\u2070-\u209c]$/u;
const specials = new Map([
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
]);
const cache = new Map<number, string>();

/** Whether a character is a digit that makes numbers with those beside it. */
export const isDigit = (char: string | undefined): boolean => char !== undefined && /\p{Nd}/u.test(char);

const raised = "^";
const lowered = "_";
const alone = "alone";

/** Digits of one rank make one number; ½ and ① are numbers by themselves. Undefined for what is no number. */
function rankOf(code: number, plain: string): string | undefined {
  if (code < 0x80) return code >= 0x30 && code <= 0x39 ? "line" : undefined;
  const char = String.fromCodePoint(code);
  if (superscript.test(char)) return code < 0x2080 ? raised : lowered;
  if (!isDigit(plain[0])) return undefined;
  return isDigit(char) ? "line" : alone;
}

function plainForm(code: number): string {
  let plain = cache.get(code);
  if (plain === undefined) {
    plain = formOf(code, String.fromCodePoint(code));
    cache.set(code, plain);
  }
  return plain;
}

function formOf(code: number, char: string): string {
  if (isAccent(code) || isInvisible(code)) return "";
  if (quotationMarks.test(char)) return "'";
  return specials.get(code) ?? withoutAccents(char);
}

const withoutAccents = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/[\u0300-\u0333\u0339-\u036f\s]/g, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(/[\u2018\u2019]/g, "'")
    .replace("\u2044", "/");

const asciiForm = (char: string) => (char === '"' || char === "`" ? "'" : char.toLowerCase());
