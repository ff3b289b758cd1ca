import { estimateTokens } from "../../../engine/lib/tokens.js";

/** A shortened text. */
export interface TruncatedText {
  readonly text: string;
  /** The number of omitted lines; 0 if the text is complete. */
  readonly omittedLines: number;
}

/** Shares of the tokens for the beginning and the end of a text. Signatures get the rest. */
const headShare = 0.5;
const tailShare = 0.25;
/** Longer lines are cut, because minified code may be in one line. */
const maxLineChars = 2000;

/**
 * Lines that describe the content: definitions in programming languages, headings in Markdown and LaTeX, with one rule
 * for each family of languages.
 */
const signaturePattern =
  /^\s*(?:(?:export|public|private|protected|internal|static|async|abstract|final|pub(?:\(\w+\))?|default|declare|override)\s+)*(?:function|class|interface|type|enum|struct|trait|impl|module|namespace|package|def|fn|func|fun|sub|proc|record|protocol|extension|macro_rules!|template|const\s+\w+\s*=\s*(?:async\s*)?(?:\(|function))\b|^#{1,6}\s|^\\(?:chapter|(?:sub)*section)\b|^[A-Za-z_][\w\s*:<>,&]*\([^;]*\)\s*\{\s*$/;

/**
 * The text, if it fits into so many tokens. Otherwise its beginning, the signatures of omitted parts, and its end, with
 * a note for each gap.
 */
export function truncate(text: string, tokens: number): TruncatedText {
  if (estimateTokens(text) <= tokens) return { text, omittedLines: 0 };
  const lines = text.split("\n").map(shortenLine);
  const shownLines = new Set<number>();
  let remainingTokens = tokens;
  const takeLine = (index: number, maxTokens: number): boolean => {
    const cost = estimateTokens(`${lines[index] ?? ""}\n`);
    if (cost > maxTokens) return false;
    shownLines.add(index);
    remainingTokens -= cost;
    return true;
  };
  const maxHeadTokens = tokens * headShare;
  for (let index = 0; index < lines.length && takeLine(index, maxHeadTokens - (tokens - remainingTokens)); index += 1);
  const tokensBeforeTail = remainingTokens;
  for (let index = lines.length - 1; !shownLines.has(index) && index >= 0; index -= 1)
    if (!takeLine(index, tokens * tailShare - (tokensBeforeTail - remainingTokens))) break;
  // Each signature may open two gaps, with a note of some tokens.
  for (const [index, line] of lines.entries())
    if (!shownLines.has(index) && signaturePattern.test(line) && !takeLine(index, remainingTokens - 2 * noteTokens))
      break;
  const parts: string[] = [];
  let omittedCount = 0;
  for (const [index, line] of lines.entries()) {
    if (!shownLines.has(index)) omittedCount += 1;
    else {
      if (omittedCount > 0) parts.push(omissionNote(omittedCount));
      omittedCount = 0;
      parts.push(line);
    }
  }
  if (omittedCount > 0) parts.push(omissionNote(omittedCount));
  return { text: parts.join("\n"), omittedLines: lines.length - shownLines.size };
}

const noteTokens = 8;
const omissionNote = (lines: number): string => `[… ${lines} ${lines === 1 ? "line" : "lines"} left out …]`;

const shortenLine = (line: string): string =>
  line.length <= maxLineChars
    ? line
    : `${line.slice(0, maxLineChars)} [… ${line.length - maxLineChars} characters left out …]`;
