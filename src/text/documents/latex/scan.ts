/** Options are short; a bracket that nobody closed is not an option. */
const maxOption = 1_000;
/** Up to this length a text is searched again for each brace's partner. */
const shortText = 2_000;

/** What stands between an opening and its closing, and where the text goes on. */
export interface Group {
  readonly content: string;
  readonly end: number;
}

/** Skips spaces and at most one line end, as TeX does before an argument. */
export function skipSpace(text: string, at: number): number {
  let next = at;
  let lines = 0;
  for (; next < text.length && /\s/.test(text[next] ?? ""); next += 1) {
    if (text[next] === "\n" && (lines += 1) > 1) return at;
  }
  return next;
}

/** The group that begins at `at`, after spaces, with `open`; undefined where none does or it is not closed. */
export function groupAt(text: string, at: number, open: "{" | "[" = "{"): Group | undefined {
  const start = skipSpace(text, at);
  if (text[start] !== open) return undefined;
  const end =
    open === "{" && text.length > shortText ? (partnersOf(text).get(start) ?? -1) : closing(text, start, open);
  return end === -1 ? undefined : { content: text.slice(start + 1, end), end: end + 1 };
}

function closing(text: string, start: number, open: "{" | "["): number {
  const close = open === "{" ? "}" : "]";
  let depth = 0;
  const last = open === "[" ? Math.min(text.length, start + maxOption) : text.length;
  for (let next = start; next < last; next += 1) {
    const character = text[next];
    if (character === "\\") next += 1;
    // Within brackets, braces hide a closing bracket.
    else if (character === open || (open === "[" && character === "{")) depth += 1;
    else if (character === close || (open === "[" && character === "}")) {
      depth -= 1;
      if (depth === 0) return next;
    }
  }
  return -1;
}

const partners = new Map<string, ReadonlyMap<number, number>>();
const maxKept = 64;

/**
 * Where each opening brace of a text is closed; kept for the last few texts, as a search for each takes quadratic time
 * on unclosed ones.
 */
function partnersOf(text: string): ReadonlyMap<number, number> {
  const kept = partners.get(text);
  if (kept !== undefined) {
    // The text around the macros that are written out now must not be the next to go.
    partners.delete(text);
    partners.set(text, kept);
    return kept;
  }
  const found = new Map<number, number>();
  const open: number[] = [];
  const braces = /\\[\s\S]?|[{}]/g;
  for (let match = braces.exec(text); match !== null; match = braces.exec(text)) {
    if (match[0] === "{") open.push(match.index);
    else if (match[0] === "}") {
      const start = open.pop();
      if (start !== undefined) found.set(start, match.index);
    }
  }
  const [oldest] = partners.keys();
  if (partners.size >= maxKept && oldest !== undefined) partners.delete(oldest);
  partners.set(text, found);
  return found;
}

/** An argument: a group, a command or one character. */
export function argumentAt(text: string, at: number): Group | undefined {
  const group = groupAt(text, at);
  if (group !== undefined) return group;
  const start = skipSpace(text, at);
  const command = commandAt(text, start);
  if (command !== undefined) return { content: text.slice(start, command.end), end: command.end };
  const character = text[start];
  return character === undefined || character === "}" || character === "{"
    ? undefined
    : { content: character, end: start + 1 };
}

/** Skips `count` arguments and any options before or between them. */
export function skipArguments(text: string, at: number, count: number): number {
  let end = groupAt(text, at, "[")?.end ?? at;
  for (let index = 0; index < count; index += 1) {
    const argument = groupAt(text, end);
    if (argument === undefined) break;
    end = groupAt(text, argument.end, "[")?.end ?? argument.end;
  }
  return end;
}

/** The command that begins at `at`: its name without the backslash, and a star where it has one. */
export function commandAt(
  text: string,
  at: number,
): { readonly name: string; readonly star: boolean; readonly end: number } | undefined {
  if (text[at] !== "\\" || at + 1 >= text.length) return undefined;
  let end = at + 1;
  while (end < text.length && isLetter(text.charCodeAt(end))) end += 1;
  if (end === at + 1) return { name: text[at + 1] ?? "", star: false, end: at + 2 };
  const star = text[end] === "*";
  return { name: text.slice(at + 1, end), star, end: star ? end + 1 : end };
}

const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 64;

/**
 * The body of an environment whose `\begin{name}` ends at `at`; to the end of the text where it is not closed. Inner
 * ones of its name count.
 */
export function bodyAt(text: string, at: number, name: string): Group {
  const [open, close] = [`\\begin{${name}}`, `\\end{${name}}`];
  let depth = 1;
  let inner = text.indexOf(open, at);
  for (let next = at; ;) {
    const end = text.indexOf(close, next);
    if (end === -1) return { content: text.slice(at), end: text.length };
    for (; inner !== -1 && inner < end; inner = text.indexOf(open, inner + open.length)) depth += 1;
    depth -= 1;
    next = end + close.length;
    if (depth === 0) return { content: text.slice(at, end), end: next };
  }
}
