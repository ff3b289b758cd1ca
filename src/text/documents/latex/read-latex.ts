import { unpackSource } from "./archive.js";
import { flatten } from "./flatten.js";
import { expandMacros } from "./macros.js";
import { readLatexParts } from "./render.js";
import { buildText, type ReadResult } from "../text/document-text.js";

/** Minimum length of the text. A shorter source only says that the paper was withdrawn, or includes a PDF. */
const minTextChars = 1_000;

/**
 * Reads the text of a LaTeX source: sections with headings, formulas in LaTeX, tables row by row, and references. The
 * source is never run by TeX: the macros that it defines are expanded up to a limit, and no other command is executed.
 */
export function readLatex(bytes: Uint8Array): ReadResult {
  const unpacked = unpackSource(bytes);
  if ("reason" in unpacked) return { status: "unreadable", reason: unpacked.reason };
  const source = flatten(unpacked.files);
  if (source === undefined) return { status: "unreadable", reason: "The source contains no LaTeX document." };

  const { text, preamble, theorems } = expandMacros(source.preamble, source.body);
  const { parts, title, authors, abstract, hiddenChars, isCut } = readLatexParts(text, preamble, theorems);
  const textLength = parts.reduce((sum, part) => sum + part.text.length, 0);
  if (textLength < minTextChars) return { status: "unreadable", reason: "The LaTeX source has hardly any text." };
  const titleAndAuthors = [title === undefined ? "" : `# ${title}`, authors.join(", ")]
    .filter((line) => line !== "")
    .join("\n\n");
  const isPartial = source.isCut || isCut;
  const warnings = [
    ...(hiddenChars > 0 ? [`${hiddenChars} characters of hidden text were left out of the text.`] : []),
    ...(isPartial ? ["The LaTeX source was too long, so some of its text is missing."] : []),
  ];
  const details = {
    kind: "latex" as const,
    depth: isPartial ? ("partial" as const) : ("full" as const),
    title,
    abstract,
    warnings,
  };
  return {
    status: "ok",
    text: buildText([{ text: titleAndAuthors }, ...parts], {
      ...details,
      ...(authors.length === 0 ? {} : { authors }),
    }),
  };
}
