import type { Line } from "./layout.js";

/** Characters of TeX's encoding T1 (Cork) whose codes are control characters. */
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
/** The same for OT1, TeX's older encoding. */
const ot1: Readonly<Record<string, string>> = {
  "\x0b": "ff",
  "\x0c": "fi",
  "\x0d": "fl",
  "\x0e": "ffi",
  "\x0f": "ffl",
};

/** Corrects characters that pdf.js got wrong because their font does not name them. */
export class Characters {
  /** Fonts that were recognised to use OT1. */
  readonly #ot1Fonts = new Set<string>();

  /**
   * The corrected text. `falseCharacters` (see `DrawnText`) become U+FFFD. TeX's bitmap fonts (Type 3) have no
   * character names: their ligatures, quotes and dashes come as control characters, which would be dropped later
   * ("dened" for "defined"). TeX's epsilon comes as U+000F, because its name is not in pdf.js's list of glyph names.
   */
  correct(text: string, font: string, falseCharacters: ReadonlySet<string> | undefined): string {
    const marked =
      falseCharacters === undefined
        ? text
        : Array.from(text, (character) => (falseCharacters.has(character) ? "\ufffd" : character)).join("");
    // eslint-disable-next-line no-control-regex
    if (!/[\x0b-\x1f]/.test(marked)) return marked;
    // eslint-disable-next-line no-control-regex
    if (/(?<=\p{Ll})[\x0b-\x0f]|[\x0b-\x0f](?=\p{Ll})/u.test(marked)) this.#ot1Fonts.add(font);
    const isOt1 = this.#ot1Fonts.has(font);
    return (
      marked
        // eslint-disable-next-line no-control-regex
        .replace(/(?<=^|[\p{L}\s])\x0f(?=$|[^\p{L}\x00-\x1f])/gu, (code, index: number) =>
          isOt1 && /\p{Ll}/u.test(marked[index - 1] ?? "") ? code : "ϵ",
        )
        // eslint-disable-next-line no-control-regex
        .replace(/(?<=\p{L})[\x0b-\x0f\x1b-\x1f]|[\x0b-\x0f\x1b-\x1f](?=\p{Ll})/gu, (code) =>
          isOt1 ? (ot1[code] ?? code) : (t1[code] ?? code),
        )
        // eslint-disable-next-line no-control-regex
        .replace(/[\x10-\x16]/g, (code) => (isOt1 ? code : (t1[code] ?? code)))
    );
  }
}

/** The first part of the Korean syllables. Every Korean text contains some of them. */
const koreanSyllable = /[\uac00-\ud3ff]/;
/** The last part of the Korean syllables. Mathematical letters look like these if only 16 bits of their code remain. */
const cutLetter = /[\ud400-\ud7ff]/u;

/**
 * Restores letters of formulas. If a font names its letters by their codes (u1D6FC), pdf.js only uses the last 16 bits,
 * and α (U+1D6FC) becomes the Korean 훼 (U+D6FC). Korean documents are not changed.
 */
export function withMathLetters(pages: readonly (readonly Line[])[]): readonly (readonly Line[])[] {
  const hasMatch = (pattern: RegExp) => pages.some((lines) => lines.some(({ text }) => pattern.test(text)));
  if (!hasMatch(cutLetter) || hasMatch(koreanSyllable)) return pages;
  return pages.map((lines) =>
    lines.map((line) => ({
      ...line,
      text: Array.from(line.text, (letter) =>
        cutLetter.test(letter) ? String.fromCodePoint(0x10000 + letter.charCodeAt(0)) : letter,
      ).join(""),
    })),
  );
}
