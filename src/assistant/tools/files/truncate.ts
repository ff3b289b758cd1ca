import { estimateTokens } from "../../../engine/lib/tokens.js";

/** A part of a text that fits, and what was left out of it. */
export interface Truncated {
  readonly text: string;
  /** Lines that are not in it; 0 where all are. */
  readonly linesLeftOut: number;
}

/** Shares of the room that head and tail may take; signatures have what they leave. */
const headShare = 0.5;
const tailShare = 0.25;
/** A longer line is cut: minified code is one line. In characters. */
const maxLine = 2000;

/**
 * Lines that say what the rest is about: definitions in programming languages, headings of Markdown and LaTeX. With a
 * rule a family of languages; a line that only looks like one does no harm.
 */
const signature =
  /^\s*(?:(?:export|public|private|protected|internal|static|async|abstract|final|pub(?:\(\w+\))?|default|declare|override)\s+)*(?:function|class|interface|type|enum|struct|trait|impl|module|namespace|package|def|fn|func|fun|sub|proc|record|protocol|extension|macro_rules!|template|const\s+\w+\s*=\s*(?:async\s*)?(?:\(|function))\b|^#{1,6}\s|^\\(?:chapter|(?:sub)*section)\b|^[A-Za-z_][\w\s*:<>,&]*\([^;]*\)\s*\{\s*$/;

/**
 * The text where it fits into so many tokens; else its head, the signatures of what is left out, and its tail, each gap
 * with a note of the lines that are missing.
 */
export function truncate(text: string, tokens: number): Truncated {
  if (estimateTokens(text) <= tokens) return { text, linesLeftOut: 0 };
  const lines = text.split("\n").map(shortened);
  const taken = new Set<number>();
  let left = tokens;
  const take = (place: number, room: number): boolean => {
    const cost = estimateTokens(`${lines[place] ?? ""}\n`);
    if (cost > room) return false;
    taken.add(place);
    left -= cost;
    return true;
  };
  const head = tokens * headShare;
  for (let place = 0; place < lines.length && take(place, head - (tokens - left)); place += 1);
  const beforeTail = left;
  for (let place = lines.length - 1; !taken.has(place) && place >= 0; place -= 1)
    if (!take(place, tokens * tailShare - (beforeTail - left))) break;
  // Each may open two gaps, with a note of some tokens.
  for (const [place, line] of lines.entries())
    if (!taken.has(place) && signature.test(line) && !take(place, left - 2 * noteTokens)) break;
  const out: string[] = [];
  let missing = 0;
  for (const [place, line] of lines.entries()) {
    if (!taken.has(place)) missing += 1;
    else {
      if (missing > 0) out.push(note(missing));
      missing = 0;
      out.push(line);
    }
  }
  if (missing > 0) out.push(note(missing));
  return { text: out.join("\n"), linesLeftOut: lines.length - taken.size };
}

const noteTokens = 8;
const note = (lines: number): string => `[… ${lines} ${lines === 1 ? "line" : "lines"} left out …]`;

const shortened = (line: string): string =>
  line.length <= maxLine ? line : `${line.slice(0, maxLine)} [… ${line.length - maxLine} characters left out …]`;
