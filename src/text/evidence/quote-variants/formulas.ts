import { signs } from "../../documents/latex/symbols.js";

/** A formula as TeX writes it, between two signs of the dollar, and no money: "$p < 0.05$", "$10^{-5}$". */
const formula =
  /\$(?=[^$]{0,80}[\p{L}\\^_=<>±×≤≥≈~+−-])(?![\s)])((?:[^$\n]|\n(?!\s{0,9}\n)){1,80})(?<![\s(])\$(?!\p{Nd})/gu;

/** One sign of TeX's by itself, between two numbers as well: "16.7$\\pm$7.2". */
const loneSign = /\$\\([a-zA-Z]{2,12}) ?\$/g;

/** What makes a formula of letters and numbers. */
const sign = /[\\^_=<>±×≤≥≈~+]/;

/** Words between two signs of the dollar are prose that speaks of money: "$5 (in US$)", "$12 to NZ$". */
function isProse(inside: string): boolean {
  const words = inside.replace(/\\[a-zA-Z]{2,12}(?:\{[^{}]{1,20}\})?/g, "");
  if (/\p{L}{2}\s\p{L}{2}/u.test(words)) return true;
  return !sign.test(inside) && /\p{L}{2}/u.test(inside) && /[\s()]/.test(inside);
}

/** Stands for nothing; what is made shorter is filled up with it, so that offsets stay. */
const nothing = "\u2060";

/**
 * The simple formulas of a text in the signs that people write: "$\\alpha \\leq \\frac{1}{2}$" as "α ≤ 1/2". Of the
 * same length: what falls away becomes characters that nobody sees. The same for a text and its quotes.
 */
export const inSigns = (text: string): string =>
  text.includes("$")
    ? text.replace(loneSign, inOneSign).replace(formula, (whole, inside: string) => {
        if (isProse(inside)) return whole;
        const said = inside
          .replace(/\\(?:mathrm|mathbf|mathit|operatorname|text|mbox)\{([^{}]{1,20})\}/g, "$1")
          .replace(/\\(?:[,;!]|(?:left|right|displaystyle|rm)(?![a-zA-Z]))/g, "")
          .replace(/\^\{?\s?\\circ\s?\}?/g, "°")
          .replace(/\\[dt]?frac\{([^{}]{1,20})\}\{([^{}]{1,20})\}/g, "$1/$2")
          .replace(/\\([a-zA-Z]{2,12}) ?/g, (command, name: string) => signs[name] ?? command)
          .replace(/\\%/g, "%");
        return said.includes("\\") ? whole : said.padEnd(whole.length, nothing);
      })
    : text;

const inOneSign = (whole: string, name: string): string =>
  signs[name] === undefined ? whole : signs[name].padEnd(whole.length, nothing);
