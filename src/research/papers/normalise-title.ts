/**
 * A title in one form: no case, accents, punctuation or mark-up; Greek letters by their names, whichever way they are
 * written.
 */
export function normalTitle(title: string): string {
  // Most titles are plain, some but for their dashes and quotation marks; the rest costs four times as much.
  const isSimple = !/\\|&[#a-z]/i.test(title);
  if (isSimple && /^[\n\x20-\x7e]*$/.test(title)) return plainTitle(title);
  const plain = isSimple ? title.replace(marks, " ") : title;
  return isSimple && /^[\n\x20-\x7e]*$/.test(plain) ? plainTitle(plain) : anyTitle(title);
}

/** Dashes, quotation marks and signs that only part words. */
const marks =
  /[\u00a0\u00a7\u00a9\u00ae\u00b0\u00b1\u00b7\u00d7\u00f7\u2009\u2010-\u2016\u2018-\u2022\u202f\u2212\u2264\u2265]/g;

const plainTitle = (title: string): string =>
  (/[<?]/.test(title) ? title.replace(/<[^<>]+>/g, " ").replace(/(?<=[A-Za-z])\?(?=[a-z])/g, "") : title)
    .toLowerCase()
    .replace(/[^a-z\d]+/g, " ")
    .trim();

const anyTitle = (title: string): string =>
  withoutEntities(decodedOnce(withoutLatex(title)).replace(escapedTag, " "))
    .replace(/<[^<>]+>|&(?:amp|lt|gt|quot|apos|nbsp);/g, " ")
    // A letter that a database could not write.
    .replace(/\ufffd|(?<=\p{L})\?(?=\p{Ll})/gu, "")
    // A sharp s before or behind a hyphen is meant as a beta.
    .replace(/\u00df(?=-)|(?<=-)\u00df(?!\p{L})/gu, "\u03b2")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[ßøæœłđðþı√α-ω]/gu, (letter) => spelt[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** `&lt;i&gt;`, and what was escaped twice. */
const escapedTag = /&(?:amp;)?lt;\/?[a-z][a-z:]{0,15}&(?:amp;)?gt;/gi;

/** `&#233;`, `&#xe9;` and `&eacute;` as the letter. */
const withoutEntities = (text: string): string =>
  text.includes("&")
    ? text
        .replace(/&#(?:x([\da-f]{1,5})|(\d{1,6}));/gi, (_, hex?: string, decimal?: string) => {
          const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
          return code < 0x11_0000 && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : " ";
        })
        .replace(/&([a-z])(?:acute|grave|circ|uml|tilde|cedil|ring|caron|slash);/gi, "$1")
        .replace(/&([a-z]{2})lig;/gi, "$1")
    : text;

/** What Windows-1252 writes for the bytes 0x80 to 0x9f. */
const windows = new Map(
  [
    ..."\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178",
  ].map((letter, index) => [letter, 0x80 + index]),
);
const rest = `[\\u0080-\\u00bf${[...windows.keys()].join("")}]`;
const encodedTwice = new RegExp(
  `[\\u00c2-\\u00df]${rest}|[\\u00e0-\\u00ef]${rest}{2}|[\\u00f0-\\u00f4]${rest}{3}`,
  "g",
);

/** UTF-8 that was read as Latin-1 or Windows-1252, such as "Ã¼" for "ü", read as what it is. */
function decodedOnce(text: string): string {
  if (!/[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u02dc\u2013-\u203a\u20ac\u2122]/.test(text)) return text;
  return text.replace(encodedTwice, (letters) => {
    const bytes = Buffer.from([...letters].map((letter) => windows.get(letter) ?? letter.charCodeAt(0)));
    const read = bytes.toString("utf8");
    return read.includes("\ufffd") ? letters : read;
  });
}

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
  "√": "sqrt ",
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
