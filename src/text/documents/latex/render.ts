import { maxNames, namesIn } from "./authors.js";
import { readNamedCommand, skipOneSpace } from "./commands.js";
import { beginSection, headingLevels, readEnvironment } from "./environments.js";
import { argumentAt, commandAt, groupAt } from "./scan.js";
import { maxDepth, flushNotes, maxTextChars, appendMath, partsOf, append, type ReaderState } from "./reader-state.js";
import { accents, symbols } from "./symbols.js";
import type { Part } from "../text/document-text.js";

interface LatexParts {
  readonly parts: readonly Part[];
  readonly title?: string;
  readonly authors: readonly string[];
  readonly abstract?: string;
  /** Number of characters that a reader of the page would not see, such as white text or `\phantom`. */
  readonly hiddenChars: number;
  readonly isCut: boolean;
}

/** Reads the body of a document into parts, one for each section. */
export function readLatexParts(body: string, preamble: string, theorems: ReadonlyMap<string, string>): LatexParts {
  const keys = [...body.matchAll(/\\bibitem(?![a-zA-Z])/g)].flatMap(({ index }) => {
    const end = index + "\\bibitem".length;
    return groupAt(body, groupAt(body, end, "[")?.end ?? end)?.content.trim() ?? [];
  });
  const state: ReaderState = {
    theorems,
    citations: new Map(keys.map((key, index) => [key, index + 1])),
    parts: [{ pieces: [] }],
    counters: new Map(),
    labels: new Map(),
    read: readLatexText,
    isTable: false,
    isAppendix: false,
    currentNumber: "",
    hiddenChars: 0,
    textLength: 0,
    pendingNotes: [],
    authorText: "",
  };
  // The title and the authors may be in the preamble or in the body.
  for (const [end, name = ""] of [...preamble.matchAll(/\\([Tt]itle|[Aa]uthor|icmlauthor)\*?(?=\s*[[{])/g)]
    .map((match) => [match.index + match[0].length, match[1]] as const)
    .slice(0, maxNames))
    readCommand(preamble, { name, isStarred: false, end }, state, 0);
  readLatexText(body, state, 0);
  flushNotes(state);
  const parts = partsOf(state);
  const abstract = parts.find(({ label }) => label === "§ Abstract")?.text.replace(/^## Abstract\s*/, "");
  return {
    parts,
    title: state.title,
    authors: namesIn(state.authorText),
    abstract,
    hiddenChars: state.hiddenChars,
    isCut: state.textLength > maxTextChars,
  };
}

/** Reads LaTeX and appends its text to the last part of the state. */
function readLatexText(latex: string, state: ReaderState, depth: number): void {
  if (depth > maxDepth) return;
  for (let index = 0; index < latex.length && state.textLength <= maxTextChars;) {
    const next = nextSpecial(latex, index);
    if (next > index) readText(latex.slice(index, next), state);
    if (next >= latex.length) return;
    const character = latex[next];
    if (character === "\\") {
      const command = commandAt(latex, next);
      index = command === undefined ? next + 1 : readCommand(latex, command, state, depth);
    } else if (character === "$") index = readFormula(latex, next, state);
    else if (character === "~") {
      append(state, " ");
      index = next + 1;
    } else index = next + 1;
  }
}

const specialCharacters = /[\\$~{}]/g;
/** The index of the next character that is not plain text. */
function nextSpecial(latex: string, start: number): number {
  specialCharacters.lastIndex = start;
  return specialCharacters.exec(latex)?.index ?? latex.length;
}

/** Reads a text without commands: converts dashes and quotation marks, and puts footnotes after their paragraphs. */
function readText(latex: string, state: ReaderState): void {
  const plain = latex
    .replace(/---/g, "—")
    .replace(/--/g, "–")
    .replace(/``/g, "“")
    .replace(/''/g, "”")
    .replace(/`/g, "‘");
  const [first = "", ...paragraphs] = plain.split(/\n\s*\n/);
  append(state, first);
  for (const paragraph of paragraphs) {
    flushNotes(state);
    append(state, `\n\n${paragraph}`);
  }
}

/** Reads a formula that begins at `start` with one or two dollar signs. @returns its end. */
function readFormula(latex: string, start: number, state: ReaderState): number {
  const delimiter = latex.startsWith("$$", start) ? "$$" : "$";
  const contentStart = start + delimiter.length;
  let end = contentStart;
  // An empty line ends a formula, also in TeX. So a dollar sign without a second one does not change the rest of the
  // text.
  while (end < latex.length && !latex.startsWith(delimiter, end) && !latex.startsWith("\n\n", end))
    end += latex[end] === "\\" ? 2 : 1;
  if (!latex.startsWith(delimiter, end)) {
    append(state, delimiter);
    return contentStart;
  }
  appendMath(latex.slice(contentStart, end), delimiter === "$$", state);
  return end + delimiter.length;
}

/** Reads a command. @returns the index after the command and the arguments that were read. */
function readCommand(
  latex: string,
  { name, isStarred, end }: { name: string; isStarred: boolean; end: number },
  state: ReaderState,
  depth: number,
): number {
  const level = headingLevels[name];
  if (level !== undefined) return beginSection(latex, end, level, isStarred, state, depth);
  if (name === "begin") return readEnvironment(latex, end, state, depth);
  if (name === "[" || name === "(") {
    const close = latex.indexOf(name === "[" ? "\\]" : "\\)", end);
    appendMath(latex.slice(end, close === -1 ? latex.length : close), name === "[", state);
    return close === -1 ? latex.length : close + 2;
  }
  if (name === "\\") {
    append(state, "\n");
    return groupAt(latex, latex[end] === "*" ? end + 1 : end, "[")?.end ?? end;
  }
  const accent = accents[name];
  // Commands such as \b and \c are accents only before a letter.
  if (accent !== undefined) {
    const letter = argumentAt(latex, end);
    const plain = letter?.content.replace(/^\\([ij])$/, "$1").replace(/[{}\s]/g, "") ?? "";
    if (letter !== undefined && /^\p{L}$/u.test(plain)) {
      append(state, `${plain}${accent}`.normalize("NFC"));
      return letter.end;
    }
  }
  const symbol = symbols[name];
  if (symbol !== undefined) {
    append(state, symbol);
    return /^[a-zA-Z]/.test(name) ? skipOneSpace(latex, end) : end;
  }
  return readNamedCommand(latex, name, end, state, depth);
}
