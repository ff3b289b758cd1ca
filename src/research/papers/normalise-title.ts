/**
 * A title in one form: no case, accents, punctuation or mark-up; Greek letters by their names, whichever way they are
 * written.
 */
export const normalTitle = (title: string): string =>
  // Most titles are plain; the rest costs four times as much.
  /^[\x20-\x7e]*$/.test(title) && !/[\\&]/.test(title) ? plainTitle(title) : anyTitle(title);

const plainTitle = (title: string): string =>
  title
    .replace(/<[^<>]+>/g, " ")
    .toLowerCase()
    .replace(/[^a-z\d]+/g, " ")
    .trim();

const anyTitle = (title: string): string =>
  withoutLatex(title)
    .replace(/<[^<>]+>|&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,6});/g, " ")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[ßøæœłđðþıα-ω]/gu, (letter) => spelt[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Letters that no accent can be taken off, and those of formulas. */
const spelt: Readonly<Record<string, string>> = {
  ß: "ss",
  ø: "o",
  æ: "ae",
  œ: "oe",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  ...Object.fromEntries(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi chi psi omega"
      .split(" ")
      .map((name, index) => [String.fromCodePoint(0x3b1 + index), name]),
  ),
};

/**
 * `Schr\"{o}dinger` as "Schrodinger", `$\mathcal{O}(n)$` as "O(n)"; other commands keep their names, as `\alpha` does.
 */
const withoutLatex = (title: string): string =>
  title.includes("\\")
    ? title
        .replace(
          /\\(?:["'`^~=.]|[Hcvubdkrt](?![a-zA-Z]))\s*(?:\{\\?(\p{L}*)\}|\\?(\p{L}))/gu,
          (_, braced?: string, bare?: string) => braced ?? bare ?? "",
        )
        .replace(/\\(ss|[oOlL]|ae|AE|oe|OE|aa|AA|[ij])(?![a-zA-Z])\s?/g, "$1")
        .replace(
          /\\(?:math|text|operatorname|emph|mbox|boldsymbol|bm|pmb|hbox|rm|bf|it|sf|tt|em|sc|cal)[a-z]*\*?(?![a-zA-Z])/g,
          " ",
        )
        .replace(/\\(ell|hbar)\b/g, (_, name: string) => name[name === "ell" ? 1 : 0] ?? "")
        .replace(/[{}]/g, "")
    : title;
