import { maxNames, namesIn } from "./authors.js";
import { swallowed, wordCommand } from "./commands.js";
import { environment, levels, section } from "./environments.js";
import { argumentAt, commandAt, groupAt } from "./scan.js";
import { deepest, flushNotes, maxText, math, partsOf, say, type Walk } from "./walk.js";
import { accents, symbols } from "./symbols.js";
import type { Part } from "../text/document-text.js";

interface LatexParts {
  readonly parts: readonly Part[];
  readonly title?: string;
  readonly authors: readonly string[];
  readonly abstract?: string;
  /** Characters that a reader of the page would not see: white on white, phantoms. */
  readonly hidden: number;
  readonly isCut: boolean;
}

/** The body of a document as parts, one a section. */
export function latexParts(body: string, preamble: string, theorems: ReadonlyMap<string, string>): LatexParts {
  const keys = [...body.matchAll(/\\bibitem(?![a-zA-Z])/g)].flatMap(({ index }) => {
    const at = index + "\\bibitem".length;
    return groupAt(body, groupAt(body, at, "[")?.end ?? at)?.content.trim() ?? [];
  });
  const walk: Walk = {
    theorems,
    citations: new Map(keys.map((key, index) => [key, index + 1])),
    parts: [{ pieces: [] }],
    counters: new Map(),
    labels: new Map(),
    write,
    isTable: false,
    isAppendix: false,
    current: "",
    hidden: 0,
    length: 0,
    notes: [],
    authors: "",
  };
  // Title and authors may stand before or after the beginning of the document.
  for (const [found, name = ""] of [...preamble.matchAll(/\\([Tt]itle|[Aa]uthor|icmlauthor)\*?(?=\s*[[{])/g)]
    .map((match) => [match.index + match[0].length, match[1]] as const)
    .slice(0, maxNames))
    command(preamble, { name, star: false, end: found }, walk, 0);
  write(body, walk, 0);
  flushNotes(walk);
  const parts = partsOf(walk);
  const abstract = parts.find(({ label }) => label === "§ Abstract")?.text.replace(/^## Abstract\s*/, "");
  return {
    parts,
    title: walk.title,
    authors: namesIn(walk.authors),
    abstract,
    hidden: walk.hidden,
    isCut: walk.length > maxText,
  };
}

function write(latex: string, walk: Walk, depth: number): void {
  if (depth > deepest) return;
  for (let at = 0; at < latex.length && walk.length <= maxText;) {
    const next = nextSpecial(latex, at);
    if (next > at) text(latex.slice(at, next), walk);
    if (next >= latex.length) return;
    const character = latex[next];
    if (character === "\\") {
      const found = commandAt(latex, next);
      at = found === undefined ? next + 1 : command(latex, found, walk, depth);
    } else if (character === "$") at = formula(latex, next, walk);
    else if (character === "~") {
      say(walk, " ");
      at = next + 1;
    } else at = next + 1;
  }
}

const special = /[\\$~{}]/g;
function nextSpecial(latex: string, at: number): number {
  special.lastIndex = at;
  return special.exec(latex)?.index ?? latex.length;
}

function text(raw: string, walk: Walk): void {
  const plain = raw.replace(/---/g, "—").replace(/--/g, "–").replace(/``/g, "“").replace(/''/g, "”").replace(/`/g, "‘");
  const [first = "", ...paragraphs] = plain.split(/\n\s*\n/);
  say(walk, first);
  for (const paragraph of paragraphs) {
    flushNotes(walk);
    say(walk, `\n\n${paragraph}`);
  }
}

function formula(latex: string, at: number, walk: Walk): number {
  const mark = latex.startsWith("$$", at) ? "$$" : "$";
  const from = at + mark.length;
  let end = from;
  // An empty line ends a formula for TeX too: a dollar sign that nobody closed must not take the rest of the text.
  while (end < latex.length && !latex.startsWith(mark, end) && !latex.startsWith("\n\n", end))
    end += latex[end] === "\\" ? 2 : 1;
  if (!latex.startsWith(mark, end)) {
    say(walk, mark);
    return from;
  }
  math(latex.slice(from, end), mark === "$$", walk);
  return end + mark.length;
}

/** What a command says, and where the text goes on. */
function command(
  latex: string,
  { name, star, end }: { name: string; star: boolean; end: number },
  walk: Walk,
  depth: number,
): number {
  const level = levels[name];
  if (level !== undefined) return section(latex, end, level, star, walk, depth);
  if (name === "begin") return environment(latex, end, walk, depth);
  if (name === "[" || name === "(") {
    const close = latex.indexOf(name === "[" ? "\\]" : "\\)", end);
    math(latex.slice(end, close === -1 ? latex.length : close), name === "[", walk);
    return close === -1 ? latex.length : close + 2;
  }
  if (name === "\\") {
    say(walk, "\n");
    return groupAt(latex, latex[end] === "*" ? end + 1 : end, "[")?.end ?? end;
  }
  const accent = accents[name];
  // \b and \c are accents only before a letter.
  if (accent !== undefined) {
    const letter = argumentAt(latex, end);
    const plain = letter?.content.replace(/^\\([ij])$/, "$1").replace(/[{}\s]/g, "") ?? "";
    if (letter !== undefined && /^\p{L}$/u.test(plain)) {
      say(walk, `${plain}${accent}`.normalize("NFC"));
      return letter.end;
    }
  }
  const symbol = symbols[name];
  if (symbol !== undefined) {
    say(walk, symbol);
    return /^[a-zA-Z]/.test(name) ? swallowed(latex, end) : end;
  }
  return wordCommand(latex, name, end, walk, depth);
}
