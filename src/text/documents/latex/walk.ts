import type { Part } from "../text/document-text.js";

/** Footnotes in captions in tables: deeper is not text that people wrote. */
export const deepest = 12;
export const maxText = 6 * 1024 * 1024;

/** What is known while a document is read from its beginning to its end. */
export interface Walk {
  readonly theorems: ReadonlyMap<string, string>;
  /** Number of each entry of the bibliography by its key. */
  readonly citations: ReadonlyMap<string, number>;
  readonly parts: { label?: string; heading?: string; pieces: string[] }[];
  readonly counters: Map<string, number>;
  /** What each label stands for: "2.1". */
  readonly labels: Map<string, string>;
  /** Reads a piece of LaTeX into the walk's last part. */
  readonly write: (latex: string, walk: Walk, depth: number) => void;
  isAppendix: boolean;
  isTable: boolean;
  /** What a label here would stand for. */
  current: string;
  /** Characters that a reader of the page would not see. */
  hidden: number;
  length: number;
  notes: string[];
  title?: string;
  authors: string;
}

export function say(walk: Walk, piece: string): void {
  walk.length += piece.length;
  if (walk.length <= maxText) walk.parts.at(-1)?.pieces.push(piece);
}

/** A piece of LaTeX as text by itself. Its footnotes wait for the end of the paragraph that it stands in. */
export function inline(latex: string, walk: Walk, depth: number): string {
  const inner: Walk = { ...walk, parts: [{ pieces: [] }], notes: [] };
  walk.write(latex, inner, depth + 1);
  walk.hidden = inner.hidden;
  walk.length = inner.length;
  walk.notes.push(...inner.notes);
  return tidy(inner.parts.flatMap(({ pieces }) => pieces).join(""));
}

/** A footnote in the middle of a sentence would keep the sentence from being found. */
export function flushNotes(walk: Walk): void {
  for (const note of walk.notes.splice(0)) say(walk, `\n\nFootnote: ${note}\n\n`);
}

export function count(walk: Walk, name: string): string {
  const number = (walk.counters.get(name) ?? 0) + 1;
  walk.counters.set(name, number);
  return String(number);
}

/** A formula as it stands; a displayed one on a line of its own. */
export function math(content: string, isDisplayed: boolean, walk: Walk): void {
  const label = /\\label\s*\{([^{}]*)\}/.exec(content)?.[1];
  if (label !== undefined) walk.labels.set(label.trim(), count(walk, "equation"));
  const plain = content
    .replace(/\\(?:label|tag)\s*\{[^{}]*\}|\\(?:nonumber|notag)(?![a-zA-Z])/g, "")
    .replace(/\s+/g, " ")
    .trim();
  if (plain !== "") say(walk, isDisplayed ? `\n$${plain}$\n` : `$${plain}$`);
}

const mark = "\u0001";
/** Stands for a label's number until all labels are known. */
export const reference = (label: string): string => `${mark}${label.trim()}${mark}`;

/** The parts as text, references to labels filled in. */
export function partsOf(walk: Walk): Part[] {
  const fill = (text: string) =>
    text.replace(/\u0001([^\u0001]*)\u0001/g, (_, label: string) => walk.labels.get(label) ?? "?");
  return walk.parts
    .map(({ label, heading, pieces }) => ({
      label,
      text: `${heading === undefined ? "" : `## ${heading}\n\n`}${tidy(fill(pieces.join("")))}`,
    }))
    .filter(({ text }) => text.trim() !== "");
}

export const tidy = (text: string): string =>
  text
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
