/** One character of a word: as it is written, and how it is quoted. `command`: the script of a `$(…)`, as one. */
interface Sign {
  readonly text: string;
  readonly quote: "none" | "double" | "single" | "command";
}

export type Word = readonly Sign[];

/** One program with its arguments, as far as they can be known without running anything. */
export interface SimpleCommand {
  readonly words: readonly Word[];
  /** Files that its output is written to. */
  readonly writesTo: readonly Word[];
  /** How many subshells it stands in. */
  readonly level: number;
  /** It reads what the command before it writes. */
  readonly isPiped: boolean;
}

/**
 * The simple commands of a command line, in their order. Quotes and backslashes are taken off as a POSIX shell does;
 * what stands in `$(…)` is a sign of its word.
 * https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
 */
export function simpleCommands(line: string): SimpleCommand[] {
  const found: SimpleCommand[] = [];
  let [words, writesTo, word]: [Word[], Word[], Sign[] | undefined] = [[], [], undefined];
  let [redirects, level, isPiped] = [false, 0, false];
  const add = (text: string, quote: Sign["quote"]): void => {
    word ??= [];
    if (quote === "command") word.push({ text, quote });
    else for (const each of text) word.push({ text: each, quote });
  };
  const endWord = (): void => {
    if (word !== undefined) (redirects ? writesTo : words).push(word);
    if (word !== undefined) redirects = false;
    word = undefined;
  };
  const endCommand = (operator: string): void => {
    endWord();
    if (words.length > 0 || writesTo.length > 0) found.push({ words, writesTo, level, isPiped });
    [words, writesTo, redirects, isPiped] = [[], [], false, operator === "|"];
  };
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? "";
    const next = line[at + 1] ?? "";
    const isSubstitution = character === "`" || (/[$<>]/.test(character) && next === "(");
    if (character === "\\") {
      if (next !== "\n") add(next, "single");
      at += 1;
    } else if (character === "'" || (character === "$" && next === "'")) {
      const from = character === "'" ? at + 1 : at + 2;
      const end = line.indexOf("'", from);
      const text = line.slice(from, end === -1 ? undefined : end);
      add(character === "'" ? text : unescaped(text), "single");
      word ??= [];
      at = end === -1 ? line.length : end;
    } else if (character === '"') {
      word ??= [];
      for (at += 1; at < line.length && line[at] !== '"'; at += 1) {
        if (line[at] === "\\" && /["\\$`\n]/.test(line[at + 1] ?? "")) add(line[(at += 1)] ?? "", "single");
        else if (line[at] === "`" || (line[at] === "$" && line[at + 1] === "(")) {
          const end = endOf(line, at);
          add(insideOf(line, at, end), "command");
          at = end - 1;
        } else add(line[at] ?? "", "double");
      }
    } else if (isSubstitution) {
      const end = endOf(line, at);
      add(insideOf(line, at, end), "command");
      at = end - 1;
    } else if (character === "$" && next === "{") {
      const end = line.indexOf("}", at);
      add(line.slice(at, end === -1 ? undefined : end + 1), "none");
      at = end === -1 ? line.length : end;
    } else if (character === "#" && word === undefined) {
      const end = line.indexOf("\n", at);
      at = end === -1 ? line.length : end - 1;
    } else if (character === ">") {
      // `2>` names a stream, and is not a word.
      if (word?.every(({ text, quote }) => quote === "none" && /\d/.test(text)) === true) word = undefined;
      endWord();
      redirects = true;
      while (/[>&|]/.test(line[at + 1] ?? "")) at += 1;
    } else if (character === "<") endWord();
    else if (/[;&|\n()]/.test(character)) {
      const operator = character === "|" && next === "|" ? "||" : character;
      endCommand(operator);
      if (operator === "||") at += 1;
      level = Math.max(0, level + (character === "(" ? 1 : character === ")" ? -1 : 0));
    } else if (/\s/.test(character)) endWord();
    else add(character, "none");
  }
  endCommand("");
  return found;
}

/** Where a command substitution that begins at `at` ends. */
function endOf(line: string, at: number): number {
  if (line[at] === "`") {
    const end = line.indexOf("`", at + 1);
    return end === -1 ? line.length : end + 1;
  }
  let open = 0;
  for (let to = at + 1; to < line.length; to += 1) {
    if (line[to] === "(") open += 1;
    else if (line[to] === ")" && (open -= 1) === 0) return to + 1;
  }
  return line.length;
}

const insideOf = (line: string, at: number, end: number): string =>
  line.slice(at + (line[at] === "`" ? 1 : 2), end).replace(/[`)]$/, "");

/** What stands in `$'…'`. */
const unescaped = (text: string): string =>
  text.replace(/\\(?:x([\da-f]{1,2})|([0-7]{1,3})|(.))/gi, (_, hex?: string, octal?: string, other = "") =>
    hex === undefined
      ? octal === undefined
        ? other
        : String.fromCharCode(Number.parseInt(octal, 8))
      : String.fromCharCode(Number.parseInt(hex, 16)),
  );

/** What is known where a word is expanded. */
export interface Known {
  readonly home: string;
  /** What a variable may hold; of several values each. */
  variable(name: string): readonly string[];
  /** What a script in `$(…)` would print, where that can be told. */
  output(script: string): readonly string[];
}

/** A sign of a pattern that was quoted, and means itself. */
const quotedSign = "\uE000";
/** A pattern of file names. */
export const isPattern = (text: string): boolean => /[*?[]/.test(text);
/** More fields than this of one word are not looked at. */
const mostFields = 256;

/** The fields that a word becomes: braces, a tilde, variables and spaces in them. Patterns stay. */
export function fieldsOf(word: Word, known: Known): string[] {
  return bracesOf(word)
    .flatMap((each) => valuesOf(withHome(each, known.home), known))
    .slice(0, mostFields);
}

/** A word once for each of the alternatives in its braces. */
function bracesOf(word: Word, depth = 0): Word[] {
  const isPlain = (sign: Sign | undefined, text: string) => sign?.quote === "none" && sign.text === text;
  for (let from = 0; from < word.length && depth < 8; from += 1) {
    if (!isPlain(word[from], "{")) continue;
    const cuts: number[] = [];
    let open = 0;
    for (let at = from; at < word.length; at += 1) {
      if (isPlain(word[at], "{")) open += 1;
      else if (isPlain(word[at], ",") && open === 1) cuts.push(at);
      else if (isPlain(word[at], "}") && (open -= 1) === 0) {
        if (cuts.length === 0) break;
        const ends = [from, ...cuts, at];
        return ends
          .slice(1)
          .map((end, index) => [
            ...word.slice(0, from),
            ...word.slice((ends[index] ?? 0) + 1, end),
            ...word.slice(at + 1),
          ])
          .flatMap((each) => bracesOf(each, depth + 1))
          .slice(0, mostFields);
      }
    }
  }
  return [word];
}

/** `~` and `~name` at the beginning of a word, as the home that they are. */
function withHome(word: Word, home: string): Word {
  const [first] = word;
  if (first?.quote !== "none" || first.text !== "~") return word;
  const end = word.findIndex(({ text }) => text === "/");
  const name = textOf(word.slice(1, end === -1 ? undefined : end));
  const folder = name === "" || name === "+" ? home : name === "root" ? "/root" : `/home/${name}`;
  return [...[...folder].map((text) => ({ text, quote: "single" as const })), ...(end === -1 ? [] : word.slice(end))];
}

/** A word as it is written, without its quotes. */
export const textOf = (word: Word): string => word.map(({ text }) => text).join("");

function valuesOf(word: Word, known: Known): string[] {
  let all = [""];
  let splits = false;
  const append = (values: readonly string[]): void => {
    all = all.flatMap((before) => values.map((value) => before + value)).slice(0, mostFields);
  };
  for (let at = 0; at < word.length; at += 1) {
    const { text, quote } = word[at] ?? { text: "", quote: "none" };
    if (quote === "command") append(known.output(text));
    else if (quote === "single" || text !== "$") append([quote !== "none" && isPattern(text) ? quotedSign : text]);
    else {
      const rest = textOf(word.slice(at));
      const [written = "$", braced, plain] = /^\$(?:\{([^}]*)\}|(\w+|[@*#?]))/.exec(rest) ?? [];
      splits ||= quote === "none";
      append(written === "$" ? ["$"] : valueOf(braced ?? plain ?? "", known));
      at += written.length - 1;
    }
  }
  return splits ? all.flatMap((each) => each.split(/\s+/)).filter(Boolean) : all;
}

/** What `${…}` may be: of the forms that change a value, the value itself. */
function valueOf(written: string, known: Known): readonly string[] {
  const [, name = "", operator = "", other = ""] = /^!?(\w+(?!\w)|[@*])(?::?([-=+?]))?(.*)$/s.exec(written) ?? [];
  const values = known.variable(name);
  const isSet = values.some((value) => value !== "");
  const instead = () => simpleCommands(other).flatMap(({ words }) => words.flatMap((word) => fieldsOf(word, known)));
  if (operator === "+") return isSet ? instead() : [""];
  if (isSet) return values;
  // `${X:?}` ends the shell where X is empty.
  if (operator === "?") return [];
  return operator === "-" || operator === "=" ? instead() : [""];
}
