import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, estimateTokens, pieceEnd } from "../../../engine/lib/tokens.js";
import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { partsName } from "../../project-files/layout.js";

/** A text with up to this many tokens is part of the brief: measured, this costs a quarter of reading it from files. */
const maxInlineTokens = 60_000;
/** Maximum tokens of one file of a longer text. */
const maxPartTokens = 6_000;

/**
 * An outline with one line for each stretch of the text: its name, its range of headings or pages, and its first words.
 * At most 1,500 tokens.
 */
export function outlineOf(
  text: DocumentText,
  stretches: readonly { readonly name: string; readonly start: number; readonly end: number }[],
): string {
  const lines = stretches.map(({ name, start, end }) => {
    const labels = text.marks.filter((mark) => mark.at >= start && mark.at < end).map((mark) => mark.label);
    const range = labels.length > 1 ? `${labels[0]} to ${labels.at(-1)}` : (labels[0] ?? "");
    return `${name}: ${range} ${clip(text.text.slice(start, end).trim().split("\n")[0] ?? "", 20)}`;
  });
  return clip(lines.join("\n"), 1_500);
}

interface TextParts {
  /** Paths relative to the workspace, in reading order. */
  readonly files: readonly string[];
  /** An outline with one line for each file. */
  readonly outline: string;
}

/**
 * Writes a long text into the workspace as paper/01.txt, paper/02.txt …, each with at most 6,000 tokens: the tools of
 * agents cut longer files without a notice.
 */
export async function writeTextParts(text: DocumentText, workspace: string): Promise<TextParts> {
  await mkdir(join(workspace, partsName), { recursive: true });
  const parts = splitText(text.text);
  const digits = String(parts.length).length < 2 ? 2 : String(parts.length).length;
  const files = parts.map((_, index) => `${partsName}/${String(index + 1).padStart(digits, "0")}.txt`);
  for (const [index, part] of parts.entries()) await writeFile(join(workspace, files[index] ?? ""), part.text);
  const outline = outlineOf(
    text,
    parts.map((part, index) => ({ name: files[index] ?? "", start: part.at, end: part.at + part.text.length })),
  );
  return { files, outline };
}

/**
 * Splits a text at ends of paragraphs, otherwise at ends of lines, otherwise between words. The joined parts are the
 * text.
 */
export function splitText(text: string): { at: number; text: string }[] {
  const parts: { at: number; text: string }[] = [];
  for (let partStart = 0; partStart < text.length;) {
    const end = pieceEnd(text, partStart, maxPartTokens);
    parts.push({ at: partStart, text: text.slice(partStart, end) });
    partStart = end;
  }
  return parts;
}

/** The part of a text that a brief shows. */
export interface Excerpt {
  /** The depth of reading: the full text, a part, or an abstract. */
  readonly depth: DocumentText["depth"];
  /** Undefined if the text is too long for the brief and is read from files. */
  readonly shown?: string;
  /** Estimated tokens that are left out. */
  readonly omittedTokens: number;
}

/**
 * The part of a text that a brief shows: all of it, or half as much for each time that the unit exceeded a model's
 * context (`contextOverflows`). If a part is left out, two thirds of the excerpt come from the beginning, with problem
 * and method, and one third from the end before the references, with results and limitations.
 */
export function excerptOf(text: DocumentText | undefined, contextOverflows: number): Excerpt | undefined {
  if (text === undefined) return undefined;
  const { text: fullText, depth } = text;
  const allTokens = estimateTokens(fullText);
  if (contextOverflows === 0)
    return allTokens > maxInlineTokens ? { depth, omittedTokens: 0 } : { depth, shown: fullText, omittedTokens: 0 };
  const maxTokens = Math.floor(Math.min(maxInlineTokens, allTokens) / 2 ** contextOverflows);
  if (allTokens <= maxTokens) return { depth, shown: fullText, omittedTokens: 0 };
  const references = fullText.search(/\n#{0,3} ?(?:\d+\.? )?(?:references|bibliography)\s*\n/i);
  const body = references > fullText.length / 3 ? fullText.slice(0, references) : fullText;
  const maxChars = Math.floor(Math.min(body.length, (maxTokens * fullText.length * 0.95) / allTokens));
  const [headChars, tailChars] = [Math.floor((maxChars * 2) / 3), Math.ceil(maxChars / 3)];
  const ending = headChars + tailChars >= body.length ? "" : `\n\n${body.slice(-tailChars)}`;
  const shown = `${ending === "" ? body : body.slice(0, headChars)}\n\n${omissionMark}${ending}`;
  const omittedTokens = allTokens - estimateTokens(ending === "" ? body : shown);
  return { depth: omittedTokens > 0 && depth === "full" ? "partial" : depth, shown, omittedTokens };
}

const omissionMark = "[… left out …]";
