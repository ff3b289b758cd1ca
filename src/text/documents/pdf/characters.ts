import type { Line } from "./layout.js";

/** Letters of TeX's fonts by their numbers, in its encoding T1 (Cork) and in its older one, OT1. */
const t1: Readonly<Record<string, string>> = {
  "\x10": "“",
  "\x11": "”",
  "\x12": "„",
  "\x13": "«",
  "\x14": "»",
  "\x15": "–",
  "\x16": "—",
  "\x1b": "ff",
  "\x1c": "fi",
  "\x1d": "fl",
  "\x1e": "ffi",
  "\x1f": "ffl",
};
const ot1: Readonly<Record<string, string>> = {
  "\x0b": "ff",
  "\x0c": "fi",
  "\x0d": "fl",
  "\x0e": "ffi",
  "\x0f": "ffl",
};

/** Tells which characters a font's codes stand for, where the font itself does not. */
export class Characters {
  /** Fonts that have shown a letter of TeX's older encoding. */
  readonly #older = new Set<string>();

  /**
   * Text without what stands for no character. The numbers of glyphs that a font says nothing of become U+FFFD. TeX's
   * drawn fonts (Type 3) name nothing: their ligatures, quotes and dashes are control characters, which would go
   * without a trace ("dened" for "defined"). TeX's name of its epsilon is the one of its formulas that no list of
   * glyph names has.
   */
  of(text: string, font: string, unknown: ReadonlySet<string> | undefined): string {
    const known =
      unknown === undefined ? text : Array.from(text, (each) => (unknown.has(each) ? "\ufffd" : each)).join("");
    // eslint-disable-next-line no-control-regex
    if (!/[\x0b-\x1f]/.test(known)) return known;
    // eslint-disable-next-line no-control-regex
    if (/(?<=\p{Ll})[\x0b-\x0f]|[\x0b-\x0f](?=\p{Ll})/u.test(known)) this.#older.add(font);
    const isOlder = this.#older.has(font);
    return (
      known
        // eslint-disable-next-line no-control-regex
        .replace(/(?<=^|[\p{L}\s])\x0f(?=$|[^\p{L}\x00-\x1f])/gu, (all, at: number) =>
          isOlder && /\p{Ll}/u.test(known[at - 1] ?? "") ? all : "ϵ",
        )
        // eslint-disable-next-line no-control-regex
        .replace(/(?<=\p{L})[\x0b-\x0f\x1b-\x1f]|[\x0b-\x0f\x1b-\x1f](?=\p{Ll})/gu, (code) =>
          isOlder ? (ot1[code] ?? code) : (t1[code] ?? code),
        )
        // eslint-disable-next-line no-control-regex
        .replace(/[\x10-\x16]/g, (code) => (isOlder ? code : (t1[code] ?? code)))
    );
  }
}

/** Hangul by its first half, of which no Korean text is without. */
const hangul = /[\uac00-\ud3ff]/;
const cutLetter = /[\ud400-\ud7ff]/u;

/**
 * The letters of formulas that pdf.js has cut to their last 16 bits: where a font of formulas names its letters by
 * their codes (u1D6FC), its α of U+1D6FC comes out as the Korean 훼 of U+D6FC.
 */
export function withMathLetters(pages: readonly (readonly Line[])[]): readonly (readonly Line[])[] {
  const holds = (letters: RegExp) => pages.some((lines) => lines.some(({ text }) => letters.test(text)));
  if (!holds(cutLetter) || holds(hangul)) return pages;
  return pages.map((lines) =>
    lines.map((line) => ({
      ...line,
      text: Array.from(line.text, (each) =>
        cutLetter.test(each) ? String.fromCodePoint(0x10000 + each.charCodeAt(0)) : each,
      ).join(""),
    })),
  );
}
