/** Where a text stops being JSON. Line and column count from 1. */
interface SyntaxProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
}

/**
 * The first syntax error of a text that JSON.parse refused. Node's own message leaves the place out for most errors
 * ("Unexpected token 'x', ..."), and a person with a file of 5,000 lines needs it.
 */
export function locateSyntaxError(text: string): SyntaxProblem {
  const found = scan(text);
  const before = text.slice(0, found.at);
  const line = before.split("\n").length;
  const column = found.at - before.lastIndexOf("\n");
  return found.hint === undefined
    ? { line, column, message: found.message }
    : { line, column, message: found.message, hint: found.hint };
}

const endsEarly = "the file ends in the middle";

/** Whether a text that is to be an object is no more than the beginning of one. */
export const isUnfinished = (text: string): boolean =>
  !text.trimEnd().endsWith("}") || scan(text).message === endsEarly;

interface Found {
  readonly at: number;
  readonly message: string;
  readonly hint?: string;
}

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const white = /[ \t\r\n]*/y;
// oxlint-disable-next-line no-control-regex -- control characters are just what JSON forbids in a string
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** Walks tokens with a stack of open brackets; what may come next is all it has to know. */
function scan(text: string): Found {
  const open: ("{" | "[")[] = [];
  let at = 0;
  let expect: "value" | "value or end" | "name" | "name or end" | "comma or end" = "value";

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };

  for (;;) {
    at += match(white)?.length ?? 0;
    const next = text[at];
    if (next === undefined)
      return { at, message: open.length > 0 ? endsEarly : "the file is empty", hint: "Part of it is missing." };

    if (expect === "comma or end") {
      const top = open.at(-1);
      if (top === undefined)
        return { at, message: "there is more text after the end", hint: "A closing bracket may stand too early." };
      if (next === ",") expect = top === "{" ? "name" : "value";
      else if (next === (top === "{" ? "}" : "]")) open.pop();
      else
        return {
          at,
          message: `a comma or '${top === "{" ? "}" : "]"}' belongs here`,
          hint: "A comma may be missing at the end of the line before.",
        };
      at += 1;
      continue;
    }

    const closes = expect.endsWith("or end") && next === (open.at(-1) === "{" ? "}" : "]");
    if (closes) {
      open.pop();
      at += 1;
      expect = "comma or end";
      continue;
    }
    if (next === "}" || next === "]")
      return { at, message: `'${next}' does not belong here`, hint: "There may be an extra comma before it." };

    const quoted = next === '"' ? match(string) : undefined;
    if (next === '"' && quoted === undefined) {
      return {
        at,
        message: "a string begins here that does not end correctly",
        hint: 'It may lack its closing ", or hold a line break or a single \\.',
      };
    }
    if (expect.startsWith("name")) {
      if (quoted === undefined)
        return { at, message: "the name of a field belongs here", hint: 'Names stand in double quotes: "name": …' };
      at += quoted.length;
      at += match(white)?.length ?? 0;
      if (text[at] !== ":") return { at, message: "a colon belongs here, after the name of the field" };
      at += 1;
      expect = "value";
      continue;
    }
    if (next === "{" || next === "[") {
      open.push(next);
      at += 1;
      expect = next === "{" ? "name or end" : "value or end";
      continue;
    }
    const value = quoted ?? match(scalar);
    if (value === undefined) return { at, message: "a value belongs here", hint: hintForValue(next) };
    at += value.length;
    expect = "comma or end";
  }
}

function hintForValue(next: string): string {
  if (next === "/" || next === "#") return "JSON has no comments.";
  if (next === "<" || next === "=" || next === ">") return "It may be the mark of a merge conflict.";
  if (next === ",") return "There may be an extra comma.";
  return 'Strings stand in double quotes: "…".';
}

/**
 * Lists and objects that what an agent sends may hold. A parsed one takes a hundred bytes, so five megabytes of
 * brackets would take 500.
 */
export const maxBrackets = 100_000;

/** Whether a JSON text opens more brackets than that; found without parsing it. */
export function hasTooManyBrackets(text: string): boolean {
  if (text.length <= maxBrackets) return false;
  let [count, isString] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) isString = !isString;
    else if (code === 0x5c && isString) at += 1;
    else if ((code === 0x5b || code === 0x7b) && !isString && ++count > maxBrackets) return true;
  }
  return false;
}

/** What we write has some ten levels. JSON.stringify, and every walk that calls itself, breaks at a few thousand. */
export const maxLevels = 100;

/** A pointer of a hundred names helps nobody. */
const namesShown = 3;

/**
 * The place, as a JSON pointer of at most three names, of what is nested deeper than a hundred levels in a value;
 * undefined where nothing is.
 */
export const tooDeepAt = (value: unknown): string | undefined =>
  deepAt(value, maxLevels)?.slice(0, namesShown).join("");

/** Calls itself, but no deeper than the levels that are allowed. */
function deepAt(value: unknown, levels: number): readonly string[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return [];
  const fields = value as Record<string, unknown>;
  for (const name in fields) {
    const below = deepAt(fields[name], levels - 1);
    if (below !== undefined) return [`/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, ...below];
  }
  return undefined;
}

/**
 * The first name that stands twice in one object of a valid JSON text, in its quotes. JSON.parse takes the last of them
 * without a word.
 */
export function repeatedName(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  const colon = /\s*:/y;
  let start: number | undefined;
  for (const { 0: mark, index } of text.matchAll(/\\.|["{}[\]]/gs)) {
    if (mark === '"' && start === undefined) start = index;
    else if (mark === '"') {
      const [from, names] = [start as number, open.at(-1)];
      start = undefined;
      colon.lastIndex = index + 1;
      if (names === undefined || !colon.test(text)) continue;
      const name = JSON.parse(text.slice(from, index + 1)) as string;
      if (names.has(name)) return JSON.stringify(name.slice(0, 60));
      names.add(name);
    } else if (start !== undefined) continue;
    else if (mark === "{") open.push(new Set());
    else if (mark === "[") open.push(undefined);
    else if (mark === "}" || mark === "]") open.pop();
  }
  return undefined;
}

/**
 * The lines, from 1, of what these JSON pointers name in a valid JSON text; where one names nothing that is there, the
 * line of the nearest thing around it.
 */
export function linesOf(text: string, pointers: readonly string[]): number[] {
  const around = (pointer: string): string[] =>
    pointer === "" ? [""] : [pointer, ...around(pointer.slice(0, pointer.lastIndexOf("/")))];
  const wanted = new Set(pointers.flatMap(around));
  const places = new Map<string, number>();
  // Only what is wanted has a pointer: those of a whole file would be many times its size.
  const open: {
    readonly pointer: string | undefined;
    readonly isList: boolean;
    name: string | undefined;
    at: number;
  }[] = [];
  let [line, counted] = [1, 0];
  for (const { 0: mark, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]|[^\s"{}[\],:]+/gs)) {
    for (; counted < index; counted += 1) if (text.charCodeAt(counted) === 0x0a) line += 1;
    const top = open.at(-1);
    if (mark === "}" || mark === "]") open.pop();
    else if (mark === ",") {
      if (top !== undefined) [top.name, top.at] = [undefined, top.at + 1];
    } else if (top?.isList === false && top.name === undefined) top.name = JSON.parse(mark) as string;
    else {
      const name = top?.isList === true ? String(top.at) : top?.name?.replaceAll("~", "~0").replaceAll("/", "~1");
      const pointer = top === undefined ? "" : top.pointer === undefined ? undefined : `${top.pointer}/${name}`;
      const known = pointer !== undefined && wanted.has(pointer) ? pointer : undefined;
      if (known !== undefined) places.set(known, line);
      if (mark === "{" || mark === "[") open.push({ pointer: known, isList: mark === "[", name: undefined, at: 0 });
    }
  }
  return pointers.map((pointer) => around(pointer).flatMap((each) => places.get(each) ?? [])[0] ?? 1);
}
