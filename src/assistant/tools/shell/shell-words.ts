/** One character of a word, and the quotes around it. `command`: `text` is the whole script of a `$(…)`. */
interface QuotedChar {
  readonly text: string;
  readonly quote: "none" | "double" | "single" | "command";
}

export type Word = readonly QuotedChar[];

/** One program with its arguments, as they are written in the line. */
export interface SimpleCommand {
  readonly words: readonly Word[];
  /** Files to which its output is written. */
  readonly outputFiles: readonly Word[];
  /** The number of subshells that contain it. */
  readonly level: number;
  /** It reads the output of the previous command. */
  readonly isPiped: boolean;
}

/**
 * The simple commands of a command line, in order. Quotes and backslashes are removed like in a POSIX shell; a `$(…)`
 * is one character of its word. https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
 */
export function splitCommands(line: string): SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let [words, writesTo, word]: [Word[], Word[], QuotedChar[] | undefined] = [[], [], undefined];
  let [isRedirected, level, isPiped] = [false, 0, false];
  const add = (text: string, quote: QuotedChar["quote"]): void => {
    word ??= [];
    if (quote === "command") word.push({ text, quote });
    else for (const character of text) word.push({ text: character, quote });
  };
  const endWord = (): void => {
    if (word !== undefined) (isRedirected ? writesTo : words).push(word);
    if (word !== undefined) isRedirected = false;
    word = undefined;
  };
  const endCommand = (operator: string): void => {
    endWord();
    if (words.length > 0 || writesTo.length > 0) commands.push({ words, outputFiles: writesTo, level, isPiped });
    [words, writesTo, isRedirected, isPiped] = [[], [], false, operator === "|"];
  };
  for (let index = 0; index < line.length; index += 1) {
    const character = line[index] ?? "";
    const next = line[index + 1] ?? "";
    const isSubstitution = character === "`" || (/[$<>]/.test(character) && next === "(");
    if (character === "\\") {
      if (next !== "\n") add(next, "single");
      index += 1;
    } else if (character === "'" || (character === "$" && next === "'")) {
      const start = character === "'" ? index + 1 : index + 2;
      const end = line.indexOf("'", start);
      const text = line.slice(start, end === -1 ? undefined : end);
      add(character === "'" ? text : decodeEscapes(text), "single");
      word ??= [];
      index = end === -1 ? line.length : end;
    } else if (character === '"') {
      word ??= [];
      for (index += 1; index < line.length && line[index] !== '"'; index += 1) {
        if (line[index] === "\\" && /["\\$`\n]/.test(line[index + 1] ?? "")) add(line[(index += 1)] ?? "", "single");
        else if (line[index] === "`" || (line[index] === "$" && line[index + 1] === "(")) {
          const end = endOfSubstitution(line, index);
          add(scriptInside(line, index, end), "command");
          index = end - 1;
        } else add(line[index] ?? "", "double");
      }
    } else if (isSubstitution) {
      const end = endOfSubstitution(line, index);
      add(scriptInside(line, index, end), "command");
      index = end - 1;
    } else if (character === "$" && next === "{") {
      const end = line.indexOf("}", index);
      add(line.slice(index, end === -1 ? undefined : end + 1), "none");
      index = end === -1 ? line.length : end;
    } else if (character === "#" && word === undefined) {
      const end = line.indexOf("\n", index);
      index = end === -1 ? line.length : end - 1;
    } else if (character === ">") {
      // In `2>`, the number is a stream and not a word.
      if (word?.every(({ text, quote }) => quote === "none" && /\d/.test(text)) === true) word = undefined;
      endWord();
      isRedirected = true;
      while (/[>&|]/.test(line[index + 1] ?? "")) index += 1;
    } else if (character === "<") endWord();
    else if (/[;&|\n()]/.test(character)) {
      const operator = character === "|" && next === "|" ? "||" : character;
      endCommand(operator);
      if (operator === "||") index += 1;
      level = Math.max(0, level + (character === "(" ? 1 : character === ")" ? -1 : 0));
    } else if (/\s/.test(character)) endWord();
    else add(character, "none");
  }
  endCommand("");
  return commands;
}

/** The end of a command substitution that begins at `start`. */
function endOfSubstitution(line: string, start: number): number {
  if (line[start] === "`") {
    const end = line.indexOf("`", start + 1);
    return end === -1 ? line.length : end + 1;
  }
  let depth = 0;
  for (let index = start + 1; index < line.length; index += 1) {
    if (line[index] === "(") depth += 1;
    else if (line[index] === ")" && (depth -= 1) === 0) return index + 1;
  }
  return line.length;
}

const scriptInside = (line: string, start: number, end: number): string =>
  line.slice(start + (line[start] === "`" ? 1 : 2), end).replace(/[`)]$/, "");

/** Replaces the escapes in `$'…'`. */
const decodeEscapes = (text: string): string =>
  text.replace(/\\(?:x([\da-f]{1,2})|([0-7]{1,3})|(.))/gi, (_, hex?: string, octal?: string, other = "") =>
    hex === undefined
      ? octal === undefined
        ? other
        : String.fromCharCode(Number.parseInt(octal, 8))
      : String.fromCharCode(Number.parseInt(hex, 16)),
  );

/** The values that the expansion of a word needs. */
export interface ShellContext {
  readonly home: string;
  /** All possible values of a variable. */
  variable(name: string): readonly string[];
  /** The possible output of a script in `$(…)`. */
  output(script: string): readonly string[];
}

/** Stands for a quoted pattern character, which has no special meaning. */
const quotedPatternChar = "\uE000";
/** Whether a text is a pattern of file names. */
export const isPattern = (text: string): boolean => /[*?[]/.test(text);
/** Maximum number of fields of one word. */
const maxFields = 256;

/** The fields of a word after the expansion of braces, a tilde, variables and spaces. Patterns are not expanded. */
export function fieldsOf(word: Word, context: ShellContext): string[] {
  return expandBraces(word)
    .flatMap((alternative) => valuesOf(expandHome(alternative, context.home), context))
    .slice(0, maxFields);
}

/** Returns the word once for each alternative in its braces. */
function expandBraces(word: Word, depth = 0): Word[] {
  const isPlain = (quotedChar: QuotedChar | undefined, text: string) =>
    quotedChar?.quote === "none" && quotedChar.text === text;
  for (let start = 0; start < word.length && depth < 8; start += 1) {
    if (!isPlain(word[start], "{")) continue;
    const cuts: number[] = [];
    let braceDepth = 0;
    for (let at = start; at < word.length; at += 1) {
      if (isPlain(word[at], "{")) braceDepth += 1;
      else if (isPlain(word[at], ",") && braceDepth === 1) cuts.push(at);
      else if (isPlain(word[at], "}") && (braceDepth -= 1) === 0) {
        if (cuts.length === 0) break;
        const ends = [start, ...cuts, at];
        return ends
          .slice(1)
          .map((end, index) => [
            ...word.slice(0, start),
            ...word.slice((ends[index] ?? 0) + 1, end),
            ...word.slice(at + 1),
          ])
          .flatMap((expanded) => expandBraces(expanded, depth + 1))
          .slice(0, maxFields);
      }
    }
  }
  return [word];
}

/** Replaces `~` or `~name` at the beginning of a word by the home folder. */
function expandHome(word: Word, home: string): Word {
  const [first] = word;
  if (first?.quote !== "none" || first.text !== "~") return word;
  const end = word.findIndex(({ text }) => text === "/");
  const name = textOf(word.slice(1, end === -1 ? undefined : end));
  const folder = name === "" || name === "+" ? home : name === "root" ? "/root" : `/home/${name}`;
  return [...[...folder].map((text) => ({ text, quote: "single" as const })), ...(end === -1 ? [] : word.slice(end))];
}

/** The text of a word without its quotes. */
export const textOf = (word: Word): string => word.map(({ text }) => text).join("");

function valuesOf(word: Word, context: ShellContext): string[] {
  let results = [""];
  let isSplit = false;
  const append = (values: readonly string[]): void => {
    results = results.flatMap((prefix) => values.map((value) => prefix + value)).slice(0, maxFields);
  };
  for (let index = 0; index < word.length; index += 1) {
    const { text, quote } = word[index] ?? { text: "", quote: "none" };
    if (quote === "command") append(context.output(text));
    else if (quote === "single" || text !== "$")
      append([quote !== "none" && isPattern(text) ? quotedPatternChar : text]);
    else {
      const remainingText = textOf(word.slice(index));
      const [expression = "$", bracedName, plainName] = /^\$(?:\{([^}]*)\}|(\w+|[@*#?]))/.exec(remainingText) ?? [];
      isSplit ||= quote === "none";
      append(expression === "$" ? ["$"] : valueOf(bracedName ?? plainName ?? "", context));
      index += expression.length - 1;
    }
  }
  return isSplit ? results.flatMap((value) => value.split(/\s+/)).filter(Boolean) : results;
}

/** The possible values of `${…}`. Forms that modify a value return the unmodified value. */
function valueOf(expression: string, context: ShellContext): readonly string[] {
  const [, name = "", operator = "", alternative = ""] =
    /^!?(\w+(?!\w)|[@*])(?::?([-=+?]))?(.*)$/s.exec(expression) ?? [];
  const values = context.variable(name);
  const isSet = values.some((value) => value !== "");
  const alternativeValues = () =>
    splitCommands(alternative).flatMap(({ words }) => words.flatMap((word) => fieldsOf(word, context)));
  if (operator === "+") return isSet ? alternativeValues() : [""];
  if (isSet) return values;
  // `${X:?}` ends the shell if X is empty.
  if (operator === "?") return [];
  return operator === "-" || operator === "=" ? alternativeValues() : [""];
}
