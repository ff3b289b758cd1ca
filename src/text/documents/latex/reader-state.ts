import { type Part, tidyText } from "../text/document-text.js";

/** Maximum depth of nested arguments and environments, such as a footnote in a caption in a table. */
export const maxDepth = 12;
/** Maximum length of the text of a document. */
export const maxTextChars = 6 * 1024 * 1024;

/** The state of the reader while it reads a document. */
export interface ReaderState {
  readonly theorems: ReadonlyMap<string, string>;
  /** The number of each entry in the bibliography, by its key. */
  readonly citations: ReadonlyMap<string, number>;
  readonly parts: { label?: string; heading?: string; pieces: string[] }[];
  readonly counters: Map<string, number>;
  /** The number that each label refers to, such as "2.1". */
  readonly labels: Map<string, string>;
  /** Reads LaTeX and appends its text to the last part. */
  readonly read: (latex: string, state: ReaderState, depth: number) => void;
  isAppendix: boolean;
  isTable: boolean;
  /** What a `\label` at the current position refers to, such as "2.1" or "Figure 3". */
  currentNumber: string;
  /** Number of characters that a reader of the page would not see. */
  hiddenChars: number;
  /** Length of the text so far. */
  textLength: number;
  /** Footnotes of the current paragraph. */
  pendingNotes: string[];
  title?: string;
  /** The text of all author commands so far. */
  authorText: string;
}

/** Appends a text to the last part. */
export function append(state: ReaderState, piece: string): void {
  state.textLength += piece.length;
  if (state.textLength <= maxTextChars) state.parts.at(-1)?.pieces.push(piece);
}

/** The text of a piece of LaTeX, such as an argument. Its footnotes are appended after the current paragraph. */
export function inlineText(latex: string, state: ReaderState, depth: number): string {
  const inner: ReaderState = { ...state, parts: [{ pieces: [] }], pendingNotes: [] };
  state.read(latex, inner, depth + 1);
  state.hiddenChars = inner.hiddenChars;
  state.textLength = inner.textLength;
  state.pendingNotes.push(...inner.pendingNotes);
  return tidyText(inner.parts.flatMap(({ pieces }) => pieces).join(""));
}

/** Appends the footnotes of a paragraph after it. In the paragraph, they would interrupt sentences. */
export function flushNotes(state: ReaderState): void {
  for (const note of state.pendingNotes.splice(0)) append(state, `\n\nFootnote: ${note}\n\n`);
}

/** Adds 1 to a counter. @returns the new number. */
export function increment(state: ReaderState, name: string): string {
  const number = (state.counters.get(name) ?? 0) + 1;
  state.counters.set(name, number);
  return String(number);
}

/** Appends a formula between dollar signs; a displayed formula gets a line of its own. */
export function appendMath(content: string, isDisplayed: boolean, state: ReaderState): void {
  const label = /\\label\s*\{([^{}]*)\}/.exec(content)?.[1];
  if (label !== undefined) state.labels.set(label.trim(), increment(state, "equation"));
  const plain = content
    .replace(/\\(?:label|tag)\s*\{[^{}]*\}|\\(?:nonumber|notag)(?![a-zA-Z])/g, "")
    .replace(/\s+/g, " ")
    .trim();
  if (plain !== "") append(state, isDisplayed ? `\n$${plain}$\n` : `$${plain}$`);
}

/** A placeholder for the number of a label: the number may not be known before the end of the document. */
export const numberPlaceholder = (label: string): string => `\u0001${label.trim()}\u0001`;

/** The text of all parts, with the numbers of labels in place of the placeholders. */
export function partsOf(state: ReaderState): Part[] {
  const withNumbers = (text: string) =>
    text.replace(/\u0001([^\u0001]*)\u0001/g, (_, label: string) => state.labels.get(label) ?? "?");
  return state.parts
    .map(({ label, heading, pieces }) => ({
      label,
      text: `${heading === undefined ? "" : `## ${heading}\n\n`}${tidyText(withNumbers(pieces.join("")))}`,
    }))
    .filter(({ text }) => text.trim() !== "");
}
