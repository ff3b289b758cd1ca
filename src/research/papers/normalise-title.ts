import { windows1252 } from "../../text/documents/text/decode.js";
import { withoutReferences } from "../../text/entities.js";

/** Simplifies a title: without case, accents, punctuation and mark-up, and with the names of Greek letters. */
export function normalTitle(title: string): string {
  // Most titles are plain ASCII, or become so without dashes and quotation marks. The complete method is four times
  // slower.
  const isSimple = !/\\|&[#a-z]/i.test(title);
  if (isSimple && /^[\n\x20-\x7e]*$/.test(title)) return plainTitle(title);
  const plain = isSimple ? title.replace(separators, " ") : title;
  return isSimple && /^[\n\x20-\x7e]*$/.test(plain) ? plainTitle(plain) : anyTitle(title);
}

/** Dashes, quotation marks and signs that only separate words. */
const separators =
  /[\u00a0\u00a7\u00a9\u00ae\u00b0\u00b1\u00b7\u00d7\u00f7\u2009\u2010-\u2016\u2018-\u2022\u202f\u2212\u2264\u2265]/g;

const plainTitle = (title: string): string =>
  (/[<?]/.test(title) ? title.replace(/<[^<>]+>/g, " ").replace(/(?<=[A-Za-z])\?(?=[a-z])/g, "") : title)
    .toLowerCase()
    .replace(/[^a-z\d]+/g, " ")
    .trim();

const anyTitle = (title: string): string =>
  withoutReferences(
    repairedUtf8(withoutLatex(title))
      .replace(escapedTag, " ")
      .replace(/<[^<>]+>/g, " "),
  )
    // A question mark or U+FFFD for a letter that a database could not store.
    .replace(/\ufffd|(?<=\p{L})\?(?=\p{Ll})/gu, "")
    // A sharp s next to a hyphen stands for a beta.
    .replace(/\u00df(?=-)|(?<=-)\u00df(?!\p{L})/gu, "\u03b2")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[ßøæœłđðþı√α-ω]/gu, (letter) => letterNames[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** An escaped tag such as `&lt;i&gt;`, also if it was escaped twice. */
const escapedTag = /&(?:amp;)?lt;\/?[a-z][a-z:]{0,15}&(?:amp;)?gt;/gi;

/** The bytes of characters in Windows-1252. */
const windows1252Codes = new Map([...windows1252].map((letter, index) => [letter, 0x80 + index]));
const continuation = `[\\u0080-\\u00bf${[...windows1252Codes.keys()].join("")}]`;
const encodedTwice = new RegExp(
  `[\\u00c2-\\u00df]${continuation}|[\\u00e0-\\u00ef]${continuation}{2}|[\\u00f0-\\u00f4]${continuation}{3}`,
  "g",
);

/** Repairs UTF-8 text that was decoded as Latin-1 or Windows-1252, such as "Ã¼" for "ü". */
function repairedUtf8(text: string): string {
  if (!/[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u02dc\u2013-\u203a\u20ac\u2122]/.test(text)) return text;
  return text.replace(encodedTwice, (letters) => {
    const bytes = Buffer.from([...letters].map((letter) => windows1252Codes.get(letter) ?? letter.charCodeAt(0)));
    const decoded = bytes.toString("utf8");
    return decoded.includes("\ufffd") ? letters : decoded;
  });
}

/** Replacements of letters that have no separate accent, and of letters in formulas. */
const letterNames: Readonly<Record<string, string>> = {
  ß: "ss",
  ø: "o",
  æ: "ae",
  œ: "oe",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  "√": "sqrt ",
  ...Object.fromEntries(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi chi psi omega"
      .split(" ")
      .map((name, index) => [String.fromCodePoint(0x3b1 + index), name]),
  ),
};

/**
 * Removes LaTeX: `Schr\"{o}dinger` becomes "Schrodinger", `$\mathcal{O}(n)$` becomes "O(n)". Other commands keep their
 * names, such as `\alpha`.
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
