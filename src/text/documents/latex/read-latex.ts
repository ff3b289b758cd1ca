import { unpackSource } from "./archive.js";
import { flatten } from "./flatten.js";
import { expandMacros } from "./macros.js";
import { latexParts } from "./render.js";
import { buildText, type ReadResult } from "../text/document-text.js";

/** Shorter sources hold no text but a note that it was withdrawn, or a wrapper around a PDF. */
const minText = 1_000;

/**
 * The text of a LaTeX source: sections under their headings, formulas as LaTeX, tables row by row, references.
 * The source is read, never run: macros of its own are written out within bounds, everything else a command
 * could do is left out.
 */
export function readLatex(bytes: Uint8Array): ReadResult {
  const unpacked = unpackSource(bytes);
  if ("reason" in unpacked) return { status: "unreadable", reason: unpacked.reason };
  const source = flatten(unpacked.files);
  if (source === undefined) return { status: "unreadable", reason: "The source contains no LaTeX document." };

  const { text, preamble, theorems } = expandMacros(source.preamble, source.body);
  const { parts, title, authors, abstract, hidden, isCut } = latexParts(text, preamble, theorems);
  const length = parts.reduce((sum, part) => sum + part.text.length, 0);
  if (length < minText) return { status: "unreadable", reason: "The LaTeX source has hardly any text." };
  const lead = [title === undefined ? "" : `# ${title}`, authors.join(", ")].filter((line) => line !== "").join("\n\n");
  const cut = source.isCut || isCut;
  const warnings = [
    ...(hidden > 0 ? [`${hidden} characters of hidden text were left out of the text.`] : []),
    ...(cut ? ["The LaTeX source was longer than the reader's bounds and was cut."] : []),
  ];
  const details = {
    kind: "latex" as const,
    depth: cut ? ("partial" as const) : ("full" as const),
    title,
    abstract,
    warnings,
  };
  return {
    status: "ok",
    text: buildText([{ text: lead }, ...parts], { ...details, ...(authors.length === 0 ? {} : { authors }) }),
  };
}
