/** The place of a syntax error. Line and column count from 1. */
interface SyntaxProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
}

/**
 * The first syntax error of a text that JSON.parse refused. Node's message does not contain the place for most errors
 * ("Unexpected token 'x', ..."), but a person with a file of 5,000 lines needs it.
 */
export function locateSyntaxError(text: string): SyntaxProblem {
  const problem = scan(text);
  const textBefore = text.slice(0, problem.offset);
  const line = textBefore.split("\n").length;
  const column = problem.offset - textBefore.lastIndexOf("\n");
  return problem.hint === undefined
    ? { line, column, message: problem.message }
    : { line, column, message: problem.message, hint: problem.hint };
}

const endOfFileMessage = "the file ends in the middle";

/** Whether a text is only the beginning of an object. */
export const isUnfinished = (text: string): boolean =>
  !text.trimEnd().endsWith("}") || scan(text).message === endOfFileMessage;

interface ScanProblem {
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const whiteSpace = /[ \t\r\n]*/y;
// oxlint-disable-next-line no-control-regex -- control characters are just what JSON forbids in a string
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** Scans the tokens with a stack of open brackets. `expected` says which token may come next. */
function scan(text: string): ScanProblem {
  const openBrackets: ("{" | "[")[] = [];
  let offset = 0;
  let expected: "value" | "value or end" | "name" | "name or end" | "comma or end" = "value";

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = offset;
    return pattern.exec(text)?.[0];
  };

  for (;;) {
    offset += match(whiteSpace)?.length ?? 0;
    const next = text[offset];
    if (next === undefined)
      return {
        offset,
        message: openBrackets.length > 0 ? endOfFileMessage : "the file is empty",
        hint: "Part of it is missing.",
      };

    if (expected === "comma or end") {
      const innermost = openBrackets.at(-1);
      if (innermost === undefined)
        return { offset, message: "there is more text after the end", hint: "A closing bracket may stand too early." };
      if (next === ",") expected = innermost === "{" ? "name" : "value";
      else if (next === (innermost === "{" ? "}" : "]")) openBrackets.pop();
      else
        return {
          offset,
          message: `a comma or '${innermost === "{" ? "}" : "]"}' belongs here`,
          hint: "A comma may be missing at the end of the line before.",
        };
      offset += 1;
      continue;
    }

    const isClosing = expected.endsWith("or end") && next === (openBrackets.at(-1) === "{" ? "}" : "]");
    if (isClosing) {
      openBrackets.pop();
      offset += 1;
      expected = "comma or end";
      continue;
    }
    if (next === "}" || next === "]")
      return { offset, message: `'${next}' does not belong here`, hint: "There may be an extra comma before it." };

    const stringText = next === '"' ? match(string) : undefined;
    if (next === '"' && stringText === undefined) {
      return {
        offset,
        message: "a string begins here that does not end correctly",
        hint: 'It may lack its closing ", or hold a line break or a single \\.',
      };
    }
    if (expected.startsWith("name")) {
      if (stringText === undefined)
        return { offset, message: "the name of a field belongs here", hint: 'Names stand in double quotes: "name": …' };
      offset += stringText.length;
      offset += match(whiteSpace)?.length ?? 0;
      if (text[offset] !== ":") return { offset, message: "a colon belongs here, after the name of the field" };
      offset += 1;
      expected = "value";
      continue;
    }
    if (next === "{" || next === "[") {
      openBrackets.push(next);
      offset += 1;
      expected = next === "{" ? "name or end" : "value or end";
      continue;
    }
    const value = stringText ?? match(scalar);
    if (value === undefined) return { offset, message: "a value belongs here", hint: hintForValue(next) };
    offset += value.length;
    expected = "comma or end";
  }
}

function hintForValue(next: string): string {
  if (next === "/" || next === "#") return "JSON has no comments.";
  if (next === "<" || next === "=" || next === ">") return "It may be the mark of a merge conflict.";
  if (next === ",") return "There may be an extra comma.";
  return 'Strings stand in double quotes: "…".';
}

/**
 * Maximum number of lists and objects in a JSON text of an agent. Each takes a hundred bytes of memory, so five
 * megabytes of brackets would take 500 megabytes.
 */
export const maxBrackets = 100_000;

/** Whether a JSON text opens more than `maxBrackets` brackets. Does not parse the text. */
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

/**
 * Maximum number of levels of a JSON value. The files of this program have some ten levels; JSON.stringify and
 * recursive functions overflow at a few thousand.
 */
export const maxLevels = 100;

/** Maximum number of names of a pointer in a message. */
const maxPointerNames = 3;

/**
 * The JSON pointer, of at most three names, to a part of a value that is nested deeper than `maxLevels`; undefined if
 * there is no such part.
 */
export const tooDeepAt = (value: unknown): string | undefined =>
  pathOfTooDeep(value, maxLevels)?.slice(0, maxPointerNames).join("");

/** Recursive, but never deeper than `levels`. */
function pathOfTooDeep(value: unknown, levels: number): readonly string[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return [];
  const fields = value as Record<string, unknown>;
  for (const name in fields) {
    const innerPath = pathOfTooDeep(fields[name], levels - 1);
    if (innerPath !== undefined) return [`/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, ...innerPath];
  }
  return undefined;
}

/**
 * The first name, in quotes, that occurs twice in one object of a valid JSON text. JSON.parse silently takes the last
 * value of such a name.
 */
export function findRepeatedName(text: string): string | undefined {
  const openBrackets: (Set<string> | undefined)[] = [];
  const colon = /\s*:/y;
  let start: number | undefined;
  for (const { 0: mark, index } of text.matchAll(/\\.|["{}[\]]/gs)) {
    if (mark === '"' && start === undefined) start = index;
    else if (mark === '"') {
      const [from, names] = [start as number, openBrackets.at(-1)];
      start = undefined;
      colon.lastIndex = index + 1;
      if (names === undefined || !colon.test(text)) continue;
      const name = JSON.parse(text.slice(from, index + 1)) as string;
      if (names.has(name)) return JSON.stringify(name.slice(0, 60));
      names.add(name);
    } else if (start !== undefined) continue;
    else if (mark === "{") openBrackets.push(new Set());
    else if (mark === "[") openBrackets.push(undefined);
    else if (mark === "}" || mark === "]") openBrackets.pop();
  }
  return undefined;
}

/**
 * The line numbers, from 1, of the values that these JSON pointers name in a valid JSON text. For a pointer to a
 * missing value it is the line of the nearest parent that exists.
 */
export function linesOf(text: string, pointers: readonly string[]): number[] {
  const withParents = (pointer: string): string[] =>
    pointer === "" ? [""] : [pointer, ...withParents(pointer.slice(0, pointer.lastIndexOf("/")))];
  const wantedPointers = new Set(pointers.flatMap(withParents));
  const lineByPointer = new Map<string, number>();
  // Only wanted values get a pointer: the pointers of a whole file would be many times its size.
  const openBrackets: {
    readonly pointer: string | undefined;
    readonly isList: boolean;
    name: string | undefined;
    index: number;
  }[] = [];
  let [line, scannedOffset] = [1, 0];
  for (const { 0: mark, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]|[^\s"{}[\],:]+/gs)) {
    for (; scannedOffset < index; scannedOffset += 1) if (text.charCodeAt(scannedOffset) === 0x0a) line += 1;
    const innermost = openBrackets.at(-1);
    if (mark === "}" || mark === "]") openBrackets.pop();
    else if (mark === ",") {
      if (innermost !== undefined) [innermost.name, innermost.index] = [undefined, innermost.index + 1];
    } else if (innermost?.isList === false && innermost.name === undefined) innermost.name = JSON.parse(mark) as string;
    else {
      const name =
        innermost?.isList === true
          ? String(innermost.index)
          : innermost?.name?.replaceAll("~", "~0").replaceAll("/", "~1");
      const pointer =
        innermost === undefined ? "" : innermost.pointer === undefined ? undefined : `${innermost.pointer}/${name}`;
      const wantedPointer = pointer !== undefined && wantedPointers.has(pointer) ? pointer : undefined;
      if (wantedPointer !== undefined) lineByPointer.set(wantedPointer, line);
      if (mark === "{" || mark === "[")
        openBrackets.push({ pointer: wantedPointer, isList: mark === "[", name: undefined, index: 0 });
    }
  }
  return pointers.map(
    (pointer) => withParents(pointer).flatMap((ancestor) => lineByPointer.get(ancestor) ?? [])[0] ?? 1,
  );
}
