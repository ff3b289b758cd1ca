import type { Node } from "./select.js";

/** Formulas nested deeper are given as their letters alone. */
const maxDepth = 100;

/**
 * A formula of MathML on one line, without white space: "x^2", "1/2", "√(x+1)". Its letters alone would say something
 * else: a half read as 12, a square as a factor.
 */
export function mathText(node: Node, depth = 0): string {
  if (node.type === "text") return node.data.replace(/\s+/g, "");
  if (!("children" in node)) return "";
  const name = nameOf(node);
  if (skipped.has(name)) return "";
  const all = node.children as Node[];
  const said = (each: Node): string => (depth >= maxDepth ? "" : mathText(each, depth + 1));
  const children = all.filter((each) => "attribs" in each);
  const [first = "", second = "", third = ""] = positional.has(name) ? children.map(said) : [];
  switch (name) {
    case "mfrac":
      return isBinomial(node) ? `(${first} ${second})` : `${grouped(first)}/${grouped(second)}`;
    case "msup":
    case "mover":
      return accents.test(second) ? first + second : `${first}${raised("^", second)}`;
    case "msub":
    case "munder":
      return `${first}${raised("_", second)}`;
    case "msubsup":
    case "munderover":
      return `${first}${raised("_", second)}${accents.test(third) ? third : raised("^", third)}`;
    case "mroot":
      return `${raised("^", second)}√${grouped(first)}`;
    case "msqrt":
      return `√${grouped(all.map(said).join(""))}`;
    case "mtr":
    case "mlabeledtr":
      return `${children.map(said).join(",")};`;
    default:
      return all.map(said).join("");
  }
}

const nameOf = (node: Node): string => ("name" in node ? node.name.replace(/^\w+:/, "").toLowerCase() : "");
const positional = new Set("mfrac msup msub msubsup mover munder munderover mroot".split(" "));
const skipped = new Set(["annotation", "annotation-xml", "mphantom"]);
/** Marks over a letter, and those behind one, which are not powers. */
const accents = /^(?:[′″‴'*†‡¯ˆ^~˜˙¨→]|\u20d7|\u02c7|\p{M}){0,3}$/u;

/** What a sign behind a rank holds: one character stands for itself. */
const raised = (sign: "^" | "_", text: string): string =>
  text === "" ? "" : [...text].length === 1 ? `${sign}${text}` : `${sign}{${text}}`;
const grouped = (text: string): string => (/^[\p{L}\p{M}\p{N}.,]*$/u.test(text) ? text : `(${text})`);
const isBinomial = (node: Node): boolean => "attribs" in node && /^0(?:\D|$)/.test(node.attribs["linethickness"] ?? "");
