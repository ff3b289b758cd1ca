/** Maximum length of an option. An opening bracket without a closing one is not an option. */
const maxOptionChars = 1_000;
/** In a text of at most this length, each closing brace is searched without a cache. */
const maxUncachedChars = 2_000;

/** The text between two brackets or braces, and the index after them. */
export interface Group {
  readonly content: string;
  readonly end: number;
}

/** Skips spaces and at most one line end, as TeX does before an argument. */
export function skipSpace(text: string, start: number): number {
  let index = start;
  let lineEnds = 0;
  for (; index < text.length && /\s/.test(text[index] ?? ""); index += 1) {
    if (text[index] === "\n" && (lineEnds += 1) > 1) return start;
  }
  return index;
}

/** The group that begins with `open` at `from` or after spaces. Undefined if it is missing or not closed. */
export function groupAt(text: string, from: number, open: "{" | "[" = "{"): Group | undefined {
  const start = skipSpace(text, from);
  if (text[start] !== open) return undefined;
  const end =
    open === "{" && text.length > maxUncachedChars
      ? (closingBracesOf(text).get(start) ?? -1)
      : findClosing(text, start, open);
  return end === -1 ? undefined : { content: text.slice(start + 1, end), end: end + 1 };
}

/** The index of the bracket that closes the one at `start`; -1 if it is missing. */
function findClosing(text: string, start: number, open: "{" | "["): number {
  const close = open === "{" ? "}" : "]";
  let depth = 0;
  const last = open === "[" ? Math.min(text.length, start + maxOptionChars) : text.length;
  for (let index = start; index < last; index += 1) {
    const character = text[index];
    if (character === "\\") index += 1;
    // A closing bracket in braces does not end an option.
    else if (character === open || (open === "[" && character === "{")) depth += 1;
    else if (character === close || (open === "[" && character === "}")) {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return -1;
}

/** For each of the last texts, the closing brace of each opening brace. */
const closingBracesCache = new Map<string, ReadonlyMap<number, number>>();
const maxCachedTexts = 64;

/**
 * For each opening brace of a text, the index of its closing brace. The result is cached: without it, many unclosed
 * braces would take quadratic time.
 */
function closingBracesOf(text: string): ReadonlyMap<number, number> {
  const cached = closingBracesCache.get(text);
  if (cached !== undefined) {
    // Move it to the end: the first entry of the cache is removed next.
    closingBracesCache.delete(text);
    closingBracesCache.set(text, cached);
    return cached;
  }
  const closingBraces = new Map<number, number>();
  const openBraces: number[] = [];
  const pattern = /\\[\s\S]?|[{}]/g;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    if (match[0] === "{") openBraces.push(match.index);
    else if (match[0] === "}") {
      const start = openBraces.pop();
      if (start !== undefined) closingBraces.set(start, match.index);
    }
  }
  const [oldest] = closingBracesCache.keys();
  if (closingBracesCache.size >= maxCachedTexts && oldest !== undefined) closingBracesCache.delete(oldest);
  closingBracesCache.set(text, closingBraces);
  return closingBraces;
}

/** The argument at `from` or after spaces: a group, a command or one character. */
export function argumentAt(text: string, from: number): Group | undefined {
  const group = groupAt(text, from);
  if (group !== undefined) return group;
  const start = skipSpace(text, from);
  const command = commandAt(text, start);
  if (command !== undefined) return { content: text.slice(start, command.end), end: command.end };
  const character = text[start];
  return character === undefined || character === "}" || character === "{"
    ? undefined
    : { content: character, end: start + 1 };
}

/** Skips `count` arguments, and all options before or between them. */
export function skipArguments(text: string, start: number, count: number): number {
  let end = groupAt(text, start, "[")?.end ?? start;
  for (let index = 0; index < count; index += 1) {
    const argument = groupAt(text, end);
    if (argument === undefined) break;
    end = groupAt(text, argument.end, "[")?.end ?? argument.end;
  }
  return end;
}

/** The command that begins at `start`: its name without the backslash, and whether a star follows the name. */
export function commandAt(
  text: string,
  start: number,
): { readonly name: string; readonly isStarred: boolean; readonly end: number } | undefined {
  if (text[start] !== "\\" || start + 1 >= text.length) return undefined;
  let end = start + 1;
  while (end < text.length && isLetter(text.charCodeAt(end))) end += 1;
  if (end === start + 1) return { name: text[start + 1] ?? "", isStarred: false, end: start + 2 };
  const isStarred = text[end] === "*";
  return { name: text.slice(start + 1, end), isStarred, end: isStarred ? end + 1 : end };
}

/** Whether a character code may be in the name of a command: a-z, A-Z and "@". */
const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 64;

/**
 * The body of an environment whose `\begin{name}` ends at `start`. It may contain environments with the same name. If
 * it is not closed, it ends at the end of the text.
 */
export function bodyAt(text: string, start: number, name: string): Group {
  const [beginCommand, endCommand] = [`\\begin{${name}}`, `\\end{${name}}`];
  let depth = 1;
  let inner = text.indexOf(beginCommand, start);
  for (let next = start; ;) {
    const end = text.indexOf(endCommand, next);
    if (end === -1) return { content: text.slice(start), end: text.length };
    for (; inner !== -1 && inner < end; inner = text.indexOf(beginCommand, inner + beginCommand.length)) depth += 1;
    depth -= 1;
    next = end + endCommand.length;
    if (depth === 0) return { content: text.slice(start, end), end: next };
  }
}

export const documentBegin = "\\begin{document}";

/** The body of a complete document; any other text as it is. */
export function documentBody(text: string): string {
  const begin = text.indexOf(documentBegin);
  if (begin === -1) return text;
  const end = text.indexOf("\\end{document}", begin);
  return text.slice(begin + documentBegin.length, end === -1 ? undefined : end);
}
