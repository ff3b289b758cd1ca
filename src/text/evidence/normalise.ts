import { pageMark } from "./structure/sentences.js";

/**
 * What stands between a character and the one before it. `either`: a dash or accent was dropped there, so a space may
 * be or not.
 * `number`: nothing, but another number begins: "1½" reads as "1 1/2" and is not eleven halves. `hyphen`: the hyphen of
 * a compound or of a line's end was dropped; the word goes on, so a quote neither begins nor ends there.
 */
export const GAP_NONE = 0;
export const GAP_SPACE = 1;
export const GAP_EITHER = 2;
export const GAP_NUMBER = 3;
export const GAP_HYPHEN = 4;

/**
 * A text in the form in which quotes are compared: no white space, case, accents, ligatures; one kind of quotation mark
 * and dash.
 */
export interface Normalised {
  /** What it was made from. */
  readonly source: string;
  readonly chars: string;
  /** For each character: the gap before it. */
  readonly gaps: Uint8Array;
  /** For each character: where what it came from begins and ends in the original text. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /**
   * What was taken out (citations, page marks, cell borders, footnote marks), by the position in `chars` that it stood
   * before.
   */
  readonly notes: ReadonlyMap<number, string>;
}

/** Pieces of a text to be read as white space: by their offset, what they say and where they end. */
export type Extras = ReadonlyMap<number, { readonly says: string; readonly end: number }>;

/** `[12]`, `[3, 4]`, `[5–8]`, and the page marks `[p. 4]` that our own reader sets. */
const bracketed =
  /\[\s{0,3}(?:p\. ?\d{1,5}|\d{1,3}[a-z]?(?:\s{0,3}[,;\u2010-\u2015\u2212\ufe63\uff0d-]\s{0,3}\d{1,3}[a-z]?){0,20})\s{0,3}\]/y;
/**
 * Markdown emphasis and code: agents quote the words without it. Only pairs that hug whole words, so `A*` and `5*3`
 * stay.
 */
const emphasis =
  /(?<![\p{L}\p{N}*_`\\])(\*\*|__|\*|_|`)(?=[^\s*_`])[^*_`\n]{0,200}[^\s*_`([{](\1)(?![\p{L}\p{N}*_`])/gu;
/** Heading and list marks at the start of a line. A dash before a number stays: it may be a minus. */
const lineMarks = /(?<=^|\n) {0,12}(?:#{1,6} |[-*+>] (?=[^\d.\s]))/g;
const bullets = /[•◦▪▫‣⁃●○■□◆◇►▸▶❖✓✔★☆※☐☑⇒‧・\u2794-\u27be\uf076\uf0a7\uf0a8\uf0b7\uf0d8\uf0fc]/u;

const isLetter = (char: string | undefined): boolean =>
  char !== undefined && (/[a-zA-Z]/.test(char) || (char > "\u007f" && /\p{L}/u.test(char)));
const isDash = (char: string) =>
  char === "-" || (char >= "\u2010" && char <= "\u2015") || "\u2212\ufe63\uff0d".includes(char) || char === maqaf;
/** The hyphen of Hebrew. */
const maqaf = "\u05be";
const isSpace = (char: string | undefined): boolean =>
  char === " " || char === "\n" || char === "\u0085" || (char !== undefined && char !== "\ufeff" && /\s/.test(char));
const isAsciiDigit = (char: string | undefined): boolean => char !== undefined && char >= "0" && char <= "9";

const perCent = /per\s?cent(?!\p{L})/iuy;

/** Signs that are typed in several characters where a keyboard has no better. */
const typed: Readonly<Record<string, string>> = { "<=": "≤", ">=": "≥", "!=": "≠", "=/=": "≠", "->": "→" };
const typedSign = /\+\/[-−–]|\+-(?=\s?\d)|(?<=\s)\+[-−–](?=\s\p{L})|<=|>=|!=|=\/=|->/uy;

/** What a text is read as, character by character. Joining an array of so many strings took half of all the time. */
class Written {
  length = 0;
  #units: Uint16Array;
  #gaps: Uint8Array;
  #from: Int32Array;
  #to: Int32Array;

  /** Nearly every character stands for one; of others the arrays grow. */
  constructor(room: number) {
    this.#units = new Uint16Array(room);
    this.#gaps = new Uint8Array(room);
    this.#from = new Int32Array(room);
    this.#to = new Int32Array(room);
  }

  /** One entry a UTF-16 unit, so that positions found in the characters are positions in the arrays. */
  add(plain: string, gap: number, from: number, to: number): void {
    if (this.length + plain.length > this.#units.length) this.#grow(2 * (this.length + plain.length));
    for (let unit = 0; unit < plain.length; unit += 1) {
      this.#units[this.length] = plain.charCodeAt(unit);
      this.#gaps[this.length] = unit === 0 ? gap : GAP_NONE;
      this.#from[this.length] = from;
      this.#to[this.length] = to;
      this.length += 1;
    }
  }

  #grow(room: number): void {
    const grown = new Written(room);
    grown.#units.set(this.#units);
    grown.#gaps.set(this.#gaps);
    grown.#from.set(this.#from);
    grown.#to.set(this.#to);
    [this.#units, this.#gaps, this.#from, this.#to] = [grown.#units, grown.#gaps, grown.#from, grown.#to];
  }

  /** A character by its place from the end, −1 for the last. */
  at(place: number): string | undefined {
    return this.length + place < 0 ? undefined : String.fromCharCode(this.#units[this.length + place] as number);
  }

  last(count: number): string {
    return String.fromCharCode(...this.#units.subarray(Math.max(0, this.length - count), this.length));
  }

  /** The last character comes from as far as this. */
  widen(to: number): void {
    this.#to[this.length - 1] = to;
  }

  all(): Pick<Normalised, "chars" | "gaps" | "from" | "to"> {
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
 * Normalises a text or a quote; the same rules for both. `extras` are read as white space, and noted. Linear in the
 * length.
 */
export function normalise(source: string, extras?: Extras): Normalised {
  const text = extras === undefined ? source : withBlanks(source, extras);
  const dropped = marksToDrop(text);
  const struckOut = new Map(
    overlay.test(text) ? [...text.matchAll(struck)].map((match) => [match.index, match[0]]) : [],
  );
  const written = new Written(text.length);
  const notes = new Map<number, string>();
  let gap = GAP_NONE;
  let lastRank: string | undefined;
  /** Where the brace closes that holds a power, as in `10^{-5}`. */
  let brace = -1;
  /** Where a Greek letter ended by which a symbol begins: of "βsub" readers make "β sub" as well. */
  let afterGreek = -1;

  for (let at = 0; at < text.length;) {
    const char = text[at] as string;
    const extra = extras?.get(at);
    if (extra !== undefined) {
      note(extra.says);
      if (gap === GAP_NONE) gap = GAP_SPACE;
      lastRank = undefined;
      at = extra.end;
      continue;
    }
    if ((char === "p" || char === "P") && isDigit(written.at(-1))) {
      perCent.lastIndex = at;
      const whole = perCent.exec(text)?.[0];
      if (whole !== undefined) {
        push("%", at, at + whole.length);
        lastRank = undefined;
        at += whole.length;
        continue;
      }
    }
    // Four of five characters: a small letter stands for itself, but an x may be a product and one struck out may not.
    if (char >= "a" && char <= "z" && char !== "x" && !struckOut.has(at)) {
      push(char, at, at + 1);
      lastRank = undefined;
      at += 1;
      continue;
    }
    if (dropped.has(at) || at === brace) {
      at += 1;
      continue;
    }
    if (isSpace(char)) {
      if (gap === GAP_NONE) gap = GAP_SPACE;
      lastRank = undefined;
      at += 1;
      continue;
    }
    if (char === "[") {
      bracketed.lastIndex = at;
      const whole = bracketed.exec(text)?.[0];
      if (whole !== undefined) {
        note(whole.replace(/\s/g, "").replace(/[\u2010-\u2015\u2212\ufe63\uff0d]/g, "-"));
        if (gap === GAP_NONE) gap = GAP_EITHER;
        at += whole.length;
        continue;
      }
    }
    if ((char === "[" || char === "]") && !boundsInterval(text, at)) {
      push(char === "[" ? "(" : ")", at, at + 1);
      at += 1;
      continue;
    }
    const struckRun = struckOut.get(at);
    if (struckRun !== undefined) {
      push(struckForm(struckRun), at, at + struckRun.length);
      at += struckRun.length;
      continue;
    }
    const sign = typedAt(text, at);
    if (sign !== undefined) {
      push(typed[sign] ?? "±", at, at + sign.length);
      at += sign.length;
      continue;
    }
    if (isDash(char)) {
      at = dash(at);
      continue;
    }
    if (isMark(at)) {
      // A quote may not make two cells of one number.
      if (char === "|" && isDigit(written.at(-1)) && /^\s?\d{3}(?!\d)/.test(text.slice(at + 1, at + 6))) note("|");
      if (gap === GAP_NONE) gap = GAP_SPACE;
      at += 1;
      continue;
    }
    if (char === "{" && (written.at(-1) === raised || written.at(-1) === lowered) && gap === GAP_NONE) {
      const close = text.slice(at, at + 13).indexOf("}");
      if (close !== -1) {
        brace = at + close;
        at += 1;
        continue;
      }
    }
    const code = text.codePointAt(at) as number;
    const composed = code < 0x1100 ? undefined : composedAt(text, at);
    if (composed !== undefined) {
      push(composed.normalize("NFKC"), at, at + composed.length);
      lastRank = undefined;
      at += composed.length;
      continue;
    }
    const end = at + (code > 0xffff ? 2 : 1);
    // ".05" is 0.05.
    if (char === "." && isAsciiDigit(text[end]) && opensNumber(text[at - 1]) && !isDigit(written.at(-1)))
      push("0", at, end);
    if (isInvisible(code) || (code === 0xac && text[end] === "\n")) {
      // A soft hyphen at a line's end breaks a word as a hyphen does; some readers write it as "¬".
      const next = code === 0xad || code === 0xac ? endOfSpaces(text, end) : end;
      if (next > end && isLetter(text[at - 1]) && isLetter(text[next])) gap = GAP_HYPHEN;
      at = next > end && gap === GAP_HYPHEN ? next : end;
      continue;
    }
    const contextual = code < 0x80 && !"xXA*".includes(char) ? undefined : inContext(at, code);
    const plain = contextual ?? (code < 0x80 ? asciiForm(char) : plainForm(code));
    const rank = contextual === undefined ? rankOf(code, plain) : undefined;
    if ((rank === raised || rank === lowered) && rank !== lastRank) push(rank, at, end);
    else if (
      rank !== undefined &&
      isDigit(written.at(-1)) &&
      (rank !== lastRank || rank === single) &&
      gap === GAP_NONE
    )
      gap = GAP_NUMBER;
    lastRank = rank;
    if (plain === "" && !isCombining(code)) gap = GAP_EITHER;
    // Two single marks are a double one; behind a number they are inches.
    if (plain === "'" && gap === GAP_NONE && written.at(-1) === "'" && !isDigit(written.at(-2))) {
      written.widen(end);
      at = end;
      continue;
    }
    push(plain, at, end);
    if (contextual !== undefined && isGreek(code)) afterGreek = end;
    at = end;
  }
  return { source, ...written.all(), notes };

  function push(plain: string, start: number, end: number): void {
    if (start === afterGreek && gap === GAP_NONE && isLetter(plain)) gap = GAP_HYPHEN;
    written.add(plain, gap, start, end);
    if (plain !== "") gap = GAP_NONE;
  }

  function note(says: string): void {
    notes.set(written.length, `${notes.get(written.length) ?? ""}${says} `);
  }

  /**
   * Whether a sign is the mark of a list's point or the border of a table's cell; "P(a|b)" keeps its own, and "a · b"
   * is a product.
   */
  function isMark(at: number): boolean {
    const sign = text[at] as string;
    const isApart = isSpace(text[at + 1] ?? " ");
    if (sign !== "|" && sign !== "·" && sign !== "∙") return isApart && bullets.test(sign);
    if (!isApart || !isSpace(text[at - 1] ?? " ")) return false;
    return sign === "|" || (isLetter(text[at + 2]) && /^[^\s]{2}|^\S \p{L}{2}/u.test(text.slice(at + 2, at + 6)));
  }

  function dash(start: number): number {
    const end = endOfDashes(text, start);
    const spaced = isSpace(text[start - 1] ?? " ");
    if (joinsLetters(text, start, end)) {
      const after = endOfSpaces(text, end);
      const isBreak = end - start > 1 || text[start] === "\u2014" || text[start] === "\u2015";
      const goesOn = after === end || text.slice(end, after).includes("\n");
      gap = spaced || isBreak || !goesOn ? GAP_EITHER : GAP_HYPHEN;
    } else if (
      spaced &&
      text[start - 2] !== "|" &&
      isSpace(text[end]) &&
      isLetter(text[end + 1]) &&
      ":;,.)".includes(written.at(-1) ?? ":")
    ) {
      // A list mark that stands in a line, or a dash behind a bracket; before a number it may be a minus.
      if (gap === GAP_NONE) gap = GAP_SPACE;
    } else {
      // "3 × 10−5" is what readers make of a raised −5.
      const isPower = isAsciiDigit(text[endOfSpaces(text, end)]) && /[×x·*]10$/.test(written.last(3));
      if (isPower) push(raised, start, end);
      push("-", start, start + 1);
    }
    lastRank = undefined;
    return end;
  }

  /** What a character stands for where its neighbours decide it; undefined where they don't. */
  function inContext(at: number, code: number): string | undefined {
    const [before, after] = [text[at - 1], text[at + 1]];
    if (code === 0x78 || code === 0x58) {
      const next = text[endOfSpaces(text, at + 1)];
      const isApart = !isLetter(before) && (isSpace(after) || isAsciiDigit(after));
      // "1.30 x EVLW" and "3 x 5".
      const isFactor = isApart && (isAsciiDigit(next) || (isSpace(before) && isLetter(next)));
      return isDigit(written.at(-1)) && (isFactor || (gap === GAP_NONE && !isLetter(after))) ? "×" : undefined;
    }
    // "5 * 3" and "3·10⁵" are products; the point of "0·5" is that of "0.5".
    if (code === 0xb7 || code === 0x2a || code === 0x2217 || code === 0x2219 || code === 0x22c5) {
      // "0.7* 10.9" are two cells of a table.
      const isEven = isSpace(before) === isSpace(after);
      if (!isEven || !isDigit(written.at(-1)) || !isAsciiDigit(text[endOfSpaces(text, at + 1)])) return undefined;
      const isPower = /^\s?10(?:[⁻⁰¹²³⁴-⁹^]|[-−]\d)/.test(text.slice(at + 1, at + 6));
      return code === 0xb7 && !isPower && gap === GAP_NONE && isAsciiDigit(after) ? "." : "×";
    }
    if (code === 0x223c) return "~";
    // An accent on its own that stands for an apostrophe: "patient´s".
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
      return greek.get(withoutAccents(String.fromCodePoint(code)));
    }
    if (!isDigit(written.at(-1))) {
      return gap === GAP_NONE && code === 0x2032 && written.at(-1) === "′" ? "′" : undefined;
    }
    if (code === 0xba || code === 0x2da) return "°";
    if (code === 0x2032) return "′";
    if (code === 0x2033) return "′′";
    // A raised 0 is how many a PDF sets a degree; 10⁰ is a power.
    if (code === 0x2070 && gap === GAP_NONE && rankOf(text.codePointAt(at + 1) ?? 0, "") === undefined)
      return /(?:^|\D)10$/.test(written.last(3)) ? undefined : "°";
    return undefined;
  }
}

/**
 * The same as `normalise` with these extras, made of what was normalised without: a text is read once. Running heads,
 * over which a word may go on, need a reading of their own.
 */
export function withoutExtras(whole: Normalised, extras: Extras): Normalised {
  if ([...extras.values()].some(({ says }) => says === "")) return normalise(whole.source, extras);
  const { source, chars, from, to, notes } = whole;
  const gaps = Uint8Array.from(whole.gaps);
  const dropped: number[] = [];
  const said = new Map(notes);
  for (const [at, { says, end }] of [...extras].sort(([a], [b]) => a - b)) {
    const first = Math.max(countBelow(from, at), (dropped.at(-1) ?? -1) + 1);
    let index = first;
    for (; index < from.length && (from[index] as number) < end; index += 1) {
      dropped.push(index);
      // What an extra holds is said by it as a whole.
      if (index > first) said.delete(index);
    }
    if (gaps[index] === GAP_NONE) gaps[index] = GAP_SPACE;
    said.set(first, `${said.get(first) ?? ""}${says} `);
  }
  return kept({ source, chars, gaps, from, to, notes: said }, dropped);
}

/** What is read as a plain keyboard writes it. */
export interface PlainTyping {
  readonly lowersRanks: boolean;
  /** False where a comma is a decimal point. */
  readonly joinsGroups: boolean;
}

/** The spaces that a typesetter sets between thousands. */
const isGroupSign = (source: string): boolean => /^[\u2009\u202f\u00a0]$/.test(source);
const thinGroup = /\p{Nd}[\u2009\u202f\u00a0]\p{Nd}{3}/u;

/**
 * The same with ranks set on the line and thousands joined, for quotes that were typed on a plain keyboard: "10⁻⁵" is
 * read as "10-5", "η_p²" as "ηp2", "12,345" as "12345". A quote keeps its ranks: one that raises a number is not that
 * of a text which does not.
 */
export function onOneLine(normalised: Normalised, { lowersRanks, joinsGroups }: PlainTyping): Normalised {
  const { source, chars, gaps, from, to } = normalised;
  const dropped: number[] = [];
  for (const { index, 0: sign } of chars.matchAll(lowersRanks ? /[\^_,']/g : /[,']/g))
    if (sign === raised || sign === lowered || (joinsGroups && groupsAt(normalised, index + 1))) dropped.push(index);
  const joined = dropped.map((index) => index + 1);
  if (joinsGroups && thinGroup.test(source))
    for (const { index } of chars.matchAll(/\p{Nd}(?=\p{Nd}{3})/gu)) {
      const isThin = gaps[index + 1] !== GAP_NONE && isGroupSign(source.slice(to[index], from[index + 1]));
      if (isThin && groupsAt(normalised, index + 1)) joined.push(index + 1);
    }
  if (joined.length === 0) return normalised;
  const closed = Uint8Array.from(gaps);
  for (const index of joined) closed[index] = GAP_NONE;
  return kept({ ...normalised, gaps: closed }, dropped);
}

/** What stays without the characters at these positions, which rise. */
function kept({ source, chars, gaps, from, to, notes }: Normalised, dropped: readonly number[]): Normalised {
  return {
    source,
    chars: without(dropped, chars.length, (start, end) => chars.slice(start, end)).join(""),
    gaps: withoutEach(gaps, dropped),
    from: withoutEach(from, dropped),
    to: withoutEach(to, dropped),
    notes: movedNotes(notes, (at) => at - countBelow(dropped, at)),
  };
}

/** The notes at their new places; those that come to one place stand there in their order. */
function movedNotes(notes: Normalised["notes"], placeOf: (at: number) => number): Map<number, string> {
  const moved = new Map<number, string>();
  for (const [at, says] of [...notes].sort(([a], [b]) => a - b))
    moved.set(placeOf(at), `${moved.get(placeOf(at)) ?? ""}${says}`);
  return moved;
}

/** The stretches between positions that are left out. */
function without<Piece>(
  dropped: readonly number[],
  length: number,
  take: (start: number, end: number) => Piece,
): Piece[] {
  const ends = [...dropped, length];
  return ends.map((end, index) => take(index === 0 ? 0 : (ends[index - 1] as number) + 1, end));
}

function withoutEach<Numbers extends Uint8Array | Int32Array>(all: Numbers, dropped: readonly number[]): Numbers {
  const kept = all.slice(0, all.length - dropped.length) as Numbers;
  let at = 0;
  for (const piece of without(dropped, all.length, (start, end) => all.subarray(start, end))) {
    kept.set(piece, at);
    at += piece.length;
  }
  return kept;
}

/** How many of the numbers, which rise, are below a limit. */
function countBelow(numbers: ArrayLike<number>, limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether three digits that end a number begin at a position, behind one to three that begin it or are a group. */
export function groupsAt({ chars, gaps }: Normalised, at: number): boolean {
  const joined = (position: number) => isDigit(chars[position]) && gaps[position] === GAP_NONE;
  if (!isDigit(chars[at]) || !joined(at + 1) || !joined(at + 2) || joined(at + 3)) return false;
  let first = ",'".includes(chars[at - 1] ?? " ") ? at - 1 : at;
  const end = first;
  while (first > 0 && end - first < 4 && isDigit(chars[first - 1]) && (first === end || joined(first))) first -= 1;
  return end - first === 3 || (end > first && end - first < 3 && chars[first] !== "0");
}

const intervalBehind = /\[[\d\s.,;:+\u2010-\u2015\u2212\ufe63\uff0d-]{0,40}(?:[\])]|$)/y;
const intervalBefore = /(?:^|[[(])[\d\s.,;:+\u2010-\u2015\u2212\ufe63\uff0d-]{0,40}$/;

/** Whether a square bracket is that of an interval: "[95% CI]" is "(95% CI)", but [0, 1) is not (0, 1). */
function boundsInterval(text: string, at: number): boolean {
  intervalBehind.lastIndex = at;
  return text[at] === "[" ? intervalBehind.test(text) : intervalBefore.test(text.slice(Math.max(0, at - 41), at));
}

/** Spaces for the extras, so that a word goes on behind a running head; offsets stay. */
function withBlanks(source: string, extras: Extras): string {
  const pieces: string[] = [];
  let done = 0;
  for (const [at, { end }] of [...extras].sort(([a], [b]) => a - b)) {
    if (at < done) continue;
    pieces.push(source.slice(done, at), " ".repeat(end - at));
    done = end;
  }
  pieces.push(source.slice(done));
  return pieces.join("");
}

function typedAt(text: string, at: number): string | undefined {
  const char = text[at];
  if (char === undefined || !"<>!+-=".includes(char)) return undefined;
  typedSign.lastIndex = at;
  return typedSign.exec(text)?.[0];
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

function endOfSpaces(text: string, at: number): number {
  let end = at;
  while (end < text.length && isSpace(text[end])) end += 1;
  return end;
}

const pageMarkAt = new RegExp(pageMark.source, "y");

/**
 * A dash between letters, at the end of a line or page or not: "effec-\ntive", "state-of-the-art". Before a digit it
 * may be a minus and is kept.
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

/** Strokes, bars and rings over a character. They are not accents: ≠ is = with one, and says the opposite. */
const overlays = "\\u0334-\\u0338\\u20d2\\u20d3\\u20d8-\\u20da\\u20dd-\\u20e0\\u20e2-\\u20e6\\u20ea\\u20eb";
/** A symbol with such strokes, which PDFs set before it as often as behind it; no sign has more than four. */
const struck = new RegExp(`\\p{S}[${overlays}]{1,4}|[${overlays}]{1,4}\\p{S}`, "gu");
const overlay = new RegExp(`[${overlays}]`, "u");

/** In one order, and as one character where there is one for it: "=" and U+0338, either first, are "≠". */
function struckForm(run: string): string {
  const parts = [...run];
  const strokes = parts.filter((part) => overlay.test(part));
  return withoutAccents(parts.filter((part) => !overlay.test(part)).join("") + strokes.join(""));
}

/** An accent that belongs to the letter before it. */
const isCombining = (code: number) =>
  (code >= 0x300 && code < 0x370 && !(code >= 0x334 && code <= 0x338)) ||
  (code >= 0x591 && code <= 0x5c7 && code !== 0x5be && code !== 0x5c0 && code !== 0x5c3 && code !== 0x5c6) ||
  (code >= 0x64b && code <= 0x65f) ||
  code === 0x670;
/** Accents that PDFs set as characters of their own. */
const isAccent = (code: number) =>
  isCombining(code) ||
  code === 0xb4 ||
  code === 0xa8 ||
  code === 0xb8 ||
  code === 0xaf ||
  (code >= 0x2c6 && code <= 0x2c7) ||
  (code >= 0x2d8 && code <= 0x2dd);
/**
 * Marks of direction, joiners, fillers, variation selectors, tags and control characters: nobody sees them; and ® © ™:
 * nobody says them.
 */
const isInvisible = (code: number) =>
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
  // One letter in two shapes.
  [0x3c2, "σ"],
  [0x64a, "ی"],
  [0x649, "ی"],
  [0x643, "ک"],
  // One sign in several.
  [0x2a7d, "≤"],
  [0x2266, "≤"],
  [0x2a7e, "≥"],
  [0x2267, "≥"],
]);
const cache = new Map<number, string>();

const isGreek = (code: number) =>
  (code >= 0x386 && code <= 0x3f6) ||
  code === 0xb5 ||
  code === 0x2126 ||
  (code >= 0x1d6a8 && code <= 0x1d7cb) ||
  (code >= 0x1f00 && code <= 0x1fff);
/** Where the next letter stands on one side, accents that are set apart being passed by; four at most. */
function letterBeside(text: string, at: number, step: 1 | -1): number {
  let beside = at + step;
  for (let passed = 0; passed < 4 && isCombining(text.charCodeAt(beside)); passed += 1) beside += step;
  return beside;
}
const greek = new Map(
  (
    "α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi ο omicron " +
    "π pi ρ rho σ sigma ς sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega"
  )
    .split(" ")
    .flatMap((each, index, all): [string, string][] => (index % 2 === 0 ? [[each, all[index + 1] as string]] : [])),
);

/** Whether a character is a digit that makes numbers with those next to it. */
export const isDigit = (char: string | undefined): boolean => char !== undefined && /\p{Nd}/u.test(char);

const raised = "^";
const lowered = "_";
const single = "alone";

/**
 * Signs of one rank belong together; ½ and ① are numbers by themselves. Undefined for what is neither raised, lowered
 * nor a number.
 */
function rankOf(code: number, plain: string): string | undefined {
  if (code < 0x80) return code >= 0x30 && code <= 0x39 ? "line" : undefined;
  if (code === 0xb2 || code === 0xb3 || code === 0xb9 || code === 0xaa) return raised;
  if (code >= 0x2070 && code <= 0x209c) return code < 0x2080 ? raised : lowered;
  if (code >= 0x1d2c && code <= 0x1d6a) return code < 0x1d62 ? raised : lowered;
  if (!isDigit(plain[0])) return undefined;
  return isDigit(String.fromCodePoint(code)) ? "line" : single;
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
  if (isAccent(code)) return "";
  if (quotationMarks.test(char)) return "'";
  return specials.get(code) ?? digitOf(code, char) ?? withoutAccents(char);
}

/** The digit of another script, as 4 for ٤; undefined for any other character. */
function digitOf(code: number, char: string): string | undefined {
  if (code < 0x660 || code >= 0xff00 || !isDigit(char)) return undefined;
  let zero = code;
  while (code - zero < 9 && isDigit(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}

const composable =
  /[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\u3041-\u30ff\uff66-\uff9d][\u3099\u309a\uff9e\uff9f]/y;

/** A syllable of Korean or Japanese that is written in its parts. */
function composedAt(text: string, at: number): string | undefined {
  composable.lastIndex = at;
  return composable.exec(text)?.[0];
}

/** Whether a number may begin behind a character: nothing, white space, a bracket or a relation. */
const opensNumber = (before: string | undefined): boolean =>
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
