import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, estimateTokens, pieceEnd } from "../../../engine/lib/tokens.js";
import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { partsName } from "../../project-files/layout.js";

/**
 * A text up to this many tokens stands in the brief itself: measured, that costs a quarter of reading it from files.
 */
const inlineTokens = 60_000;
const partTokens = 6_000;

/** What stands where, a line a stretch of the text; at most 1,500 tokens. */
export function contents(
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
  /** What stands where, a line a part. */
  readonly outline: string;
}

/**
 * Writes a long text into the workspace as paper/01.txt and on, each at most 6,000 tokens: agents' tools cut longer
 * files silently.
 */
export async function writeParts(text: DocumentText, workspace: string): Promise<TextParts> {
  await mkdir(join(workspace, partsName), { recursive: true });
  const parts = split(text.text);
  const digits = String(parts.length).length < 2 ? 2 : String(parts.length).length;
  const files = parts.map((_, index) => `${partsName}/${String(index + 1).padStart(digits, "0")}.txt`);
  for (const [index, part] of parts.entries()) await writeFile(join(workspace, files[index] ?? ""), part.text);
  const outline = contents(
    text,
    parts.map((part, index) => ({ name: files[index] ?? "", start: part.at, end: part.at + part.text.length })),
  );
  return { files, outline };
}

/** Cuts at paragraph ends, else at line ends, else at words. Nothing is lost: the parts joined are the text. */
export function split(text: string): { at: number; text: string }[] {
  const parts: { at: number; text: string }[] = [];
  for (let at = 0; at < text.length;) {
    const end = pieceEnd(text, at, partTokens);
    parts.push({ at, text: text.slice(at, end) });
    at = end;
  }
  return parts;
}

/** As much of a text as a brief shows. */
export interface Excerpt {
  /** How much of the paper that is. */
  readonly depth: DocumentText["depth"];
  /** Undefined: the text is too long for the brief, and read in parts. */
  readonly shown?: string;
  /** Estimated tokens that are left out. */
  readonly left: number;
}

/**
 * What a brief shows of a text: all of it, or half as much each time that the unit filled a model's context too far
 * (`smaller`). Of less than all two thirds come from its beginning, where problem and method stand, one third from the
 * end of what comes before its references, where results and limits do.
 */
export function excerptOf(text: DocumentText | undefined, smaller: number): Excerpt | undefined {
  if (text === undefined) return undefined;
  const { text: all, depth } = text;
  const whole = estimateTokens(all);
  if (smaller === 0) return whole > inlineTokens ? { depth, left: 0 } : { depth, shown: all, left: 0 };
  const tokens = Math.floor(Math.min(inlineTokens, whole) / 2 ** smaller);
  if (whole <= tokens) return { depth, shown: all, left: 0 };
  const references = all.search(/\n#{0,3} ?(?:\d+\.? )?(?:references|bibliography)\s*\n/i);
  const body = references > all.length / 3 ? all.slice(0, references) : all;
  const most = Math.floor(Math.min(body.length, (tokens * all.length * 0.95) / whole));
  const [first, last] = [Math.floor((most * 2) / 3), Math.ceil(most / 3)];
  const ending = first + last >= body.length ? "" : `\n\n${body.slice(-last)}`;
  const shown = `${ending === "" ? body : body.slice(0, first)}\n\n${omitted}${ending}`;
  const left = whole - estimateTokens(ending === "" ? body : shown);
  return { depth: left > 0 && depth === "full" ? "partial" : depth, shown, left };
}

const omitted = "[… left out …]";
