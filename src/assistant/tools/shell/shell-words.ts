/** A word of a command: as the shell takes it, and whether a part of it was quoted. */
interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** One program with its arguments, as far as they can be known without running anything. */
export interface SimpleCommand {
  readonly words: readonly string[];
  /** Files that its output is written to. */
  readonly writesTo: readonly string[];
}

/** Programs that start the one named behind them, and which of their options take a word of their own. */
const starters: Readonly<Record<string, string>> = {
  sudo: "ughpCDRrTt",
  doas: "uC",
  env: "uCS",
  nice: "n",
  ionice: "cnp",
  timeout: "ks",
  stdbuf: "ioe",
  xargs: "adEILnPs",
  nohup: "",
  time: "",
  command: "",
  builtin: "",
  exec: "a",
  setsid: "",
  busybox: "",
};

const shells: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash", "eval"]);
/** Words that stand before a command and are not commands. */
const keywords: ReadonlySet<string> = new Set([
  ..."if then else elif fi do done while until for case esac in ! { } time function".split(" "),
]);

const baseOf = (program: string): string => program.replace(/^.*[\\/]/, "").toLowerCase();

/**
 * The simple commands of a command line, those in quotes for another shell, in `$(…)` and behind `sudo` and the like
 * included. Quotes and backslashes are taken off as a POSIX shell does; variables stay as they are written.
 * https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
 */
export function simpleCommands(line: string, depth = 0): SimpleCommand[] {
  if (depth > 8) return [];
  const found: SimpleCommand[] = [];
  let words: Word[] = [];
  let writesTo: string[] = [];
  const inner: string[] = [];
  let text = "";
  let isQuoted = false;
  let isWord = false;
  let redirects = false;
  const endWord = (): void => {
    if (isWord && redirects) writesTo.push(text);
    else if (isWord) words.push({ text, isQuoted });
    if (isWord) redirects = false;
    [text, isQuoted, isWord] = ["", false, false];
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0 || writesTo.length > 0) found.push(...unwrapped(words, writesTo, depth));
    [words, writesTo, redirects] = [[], [], false];
  };
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? "";
    const next = line[at + 1] ?? "";
    if (character === "\\") {
      if (next !== "\n") [text, isWord, isQuoted] = [text + next, true, true];
      at += 1;
    } else if (character === "'") {
      const end = line.indexOf("'", at + 1);
      text += line.slice(at + 1, end === -1 ? undefined : end);
      [isWord, isQuoted, at] = [true, true, end === -1 ? line.length : end];
    } else if (character === '"') {
      [isWord, isQuoted] = [true, true];
      for (at += 1; at < line.length && line[at] !== '"'; at += 1) {
        if (line[at] === "\\" && /["\\$`\n]/.test(line[at + 1] ?? "")) at += 1;
        else if (line[at] === "`" || (line[at] === "$" && line[at + 1] === "(")) {
          const end = endOf(line, at);
          inner.push(insideOf(line, at, end));
          text += line.slice(at, end);
          at = end - 1;
          continue;
        }
        text += line[at] ?? "";
      }
    } else if (character === "`" || ((character === "$" || character === "<" || character === ">") && next === "(")) {
      const end = endOf(line, at);
      inner.push(insideOf(line, at, end));
      text += line.slice(at, end);
      [isWord, at] = [true, end - 1];
    } else if (character === "#" && !isWord) {
      const end = line.indexOf("\n", at);
      at = end === -1 ? line.length : end - 1;
    } else if (character === ">") {
      // `2>` names a stream, and is not a word.
      if (/^\d+$/.test(text) && !isQuoted) [text, isWord] = ["", false];
      endWord();
      redirects = true;
      while (/[>&|]/.test(line[at + 1] ?? "")) at += 1;
    } else if (character === "<") endWord();
    else if (/[;&|\n()]/.test(character)) endCommand();
    else if (/\s/.test(character)) endWord();
    else [text, isWord] = [text + character, true];
  }
  endCommand();
  return [...found, ...inner.flatMap((each) => simpleCommands(each, depth + 1))];
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

/** The program that a command starts in the end, behind assignments, keywords and programs that start others. */
function unwrapped(words: readonly Word[], writesTo: readonly string[], depth: number): SimpleCommand[] {
  const found: SimpleCommand[] = [];
  let rest = words;
  for (;;) {
    while (
      rest[0] !== undefined &&
      !rest[0].isQuoted &&
      (/^[A-Za-z_]\w*\+?=/.test(rest[0].text) || keywords.has(rest[0].text))
    )
      rest = rest.slice(1);
    found.push({ words: rest.map(({ text }) => text), writesTo });
    const program = baseOf(rest[0]?.text ?? "");
    const takesWord = Object.hasOwn(starters, program) ? starters[program] : undefined;
    if (takesWord === undefined) break;
    rest = rest.slice(1);
    while (rest[0]?.text.startsWith("-") === true) {
      const [{ text }] = rest as [Word];
      rest = rest.slice(/^-[A-Za-z]$/.test(text) && takesWord.includes(text[1] ?? "") ? 2 : 1);
    }
    // A duration stands before the program.
    if (program === "timeout") rest = rest.slice(1);
  }
  const [program, ...more] = rest.map(({ text }) => text);
  if (shells.has(baseOf(program ?? ""))) {
    const script =
      baseOf(program ?? "") === "eval" ? more.join(" ") : more[more.findIndex((each) => /^-\w*c$/.test(each)) + 1];
    if (more.some((each) => /^-\w*c$/.test(each)) || baseOf(program ?? "") === "eval")
      found.push(...simpleCommands(script ?? "", depth + 1));
  }
  return found;
}
