import { signs } from "../../documents/latex/symbols.js";

/** A TeX formula between two dollar signs, but not an amount of money: "$p < 0.05$", "$10^{-5}$". */
const formula =
  /\$(?=[^$]{0,80}[\p{L}\\^_=<>±×≤≥≈~+−-])(?![\s)])((?:[^$\n]|\n(?!\s{0,9}\n)){1,80})(?<![\s(])\$(?!\p{Nd})/gu;

/** A single TeX sign, also between two numbers: "16.7$\\pm$7.2". */
const singleSign = /\$\\([a-zA-Z]{2,12}) ?\$/g;

/** Letters and numbers with one of these signs are a formula. */
const formulaSign = /[\\^_=<>±×≤≥≈~+]/;

/** Whether the text between two dollar signs is about money: "$5 (in US$)", "$12 to NZ$". */
function isProse(content: string): boolean {
  const words = content.replace(/\\[a-zA-Z]{2,12}(?:\{[^{}]{1,20}\})?/g, "");
  if (/\p{L}{2}\s\p{L}{2}/u.test(words)) return true;
  return !formulaSign.test(content) && /\p{L}{2}/u.test(content) && /[\s()]/.test(content);
}

/** An invisible character. Shortened formulas are padded with it, so that offsets do not change. */
const padding = "\u2060";

/**
 * The text with simple formulas in plain characters: "$\\alpha \\leq \\frac{1}{2}$" becomes "α ≤ 1/2". The length does
 * not change, because invisible characters are added. Used for texts and for quotes.
 */
export const withPlainFormulas = (text: string): string =>
  text.includes("$")
    ? text.replace(singleSign, plainSign).replace(formula, (tex, content: string) => {
        if (isProse(content)) return tex;
        const plainText = content
          .replace(/\\(?:mathrm|mathbf|mathit|operatorname|text|mbox)\{([^{}]{1,20})\}/g, "$1")
          .replace(/\\(?:[,;!]|(?:left|right|displaystyle|rm)(?![a-zA-Z]))/g, "")
          .replace(/\^\{?\s?\\circ\s?\}?/g, "°")
          .replace(/\\[dt]?frac\{([^{}]{1,20})\}\{([^{}]{1,20})\}/g, "$1/$2")
          .replace(/\\([a-zA-Z]{2,12}) ?/g, (command, name: string) => signs[name] ?? command)
          .replace(/\\%/g, "%");
        return plainText.includes("\\") ? tex : plainText.padEnd(tex.length, padding);
      })
    : text;

const plainSign = (tex: string, name: string): string =>
  signs[name] === undefined ? tex : signs[name].padEnd(tex.length, padding);
