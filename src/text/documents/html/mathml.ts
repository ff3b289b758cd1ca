import type { Node } from "./select.js";

/** Maximum depth of nested elements; what is nested deeper is left out. */
const maxDepth = 100;

/**
 * A MathML formula on one line, without white space: "x^2", "1/2", "√(x+1)". Its characters alone would be wrong: "1/2"
 * would become "12".
 */
export function mathText(node: Node, depth = 0): string {
  if (node.type === "text") return node.data.replace(/\s+/g, "");
  if (!("children" in node)) return "";
  const name = nameOf(node);
  if (skippedElements.has(name)) return "";
  const children = node.children as Node[];
  const textOf = (child: Node): string => (depth >= maxDepth ? "" : mathText(child, depth + 1));
  const elements = children.filter((child) => "attribs" in child);
  const [first = "", second = "", third = ""] = elementsWithArguments.has(name) ? elements.map(textOf) : [];
  switch (name) {
    case "mfrac":
      return isBinomial(node) ? `(${first} ${second})` : `${inBrackets(first)}/${inBrackets(second)}`;
    case "msup":
    case "mover":
      return accents.test(second) ? first + second : `${first}${scriptText("^", second)}`;
    case "msub":
    case "munder":
      return `${first}${scriptText("_", second)}`;
    case "msubsup":
    case "munderover":
      return `${first}${scriptText("_", second)}${accents.test(third) ? third : scriptText("^", third)}`;
    case "mroot":
      return `${scriptText("^", second)}√${inBrackets(first)}`;
    case "msqrt":
      return `√${inBrackets(children.map(textOf).join(""))}`;
    case "mtr":
    case "mlabeledtr":
      return `${elements.map(textOf).join(",")};`;
    default:
      return children.map(textOf).join("");
  }
}

const nameOf = (node: Node): string => ("name" in node ? node.name.replace(/^\w+:/, "").toLowerCase() : "");
/** Elements in which the position of a child says what it is, such as numerator and denominator. */
const elementsWithArguments = new Set("mfrac msup msub msubsup mover munder munderover mroot".split(" "));
const skippedElements = new Set(["annotation", "annotation-xml", "mphantom"]);
/** Accents over a letter, and marks after a letter that are not powers, such as a prime. */
const accents = /^(?:[′″‴'*†‡¯ˆ^~˜˙¨→]|\u20d7|\u02c7|\p{M}){0,3}$/u;

/** A superscript or subscript: "^2", and with braces if it has several characters: "^{10}". */
const scriptText = (sign: "^" | "_", text: string): string =>
  text === "" ? "" : [...text].length === 1 ? `${sign}${text}` : `${sign}{${text}}`;
/** The text, in brackets if it is not only letters and digits. */
const inBrackets = (text: string): string => (/^[\p{L}\p{M}\p{N}.,]*$/u.test(text) ? text : `(${text})`);
const isBinomial = (node: Node): boolean => "attribs" in node && /^0(?:\D|$)/.test(node.attribs["linethickness"] ?? "");
