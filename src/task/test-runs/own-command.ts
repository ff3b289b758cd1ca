/**
 * Functions that change the project's test script so that it writes a report, and otherwise runs as its author means.
 */

/** Words of a script that end a command. */
const separators = /^(?:&&|\|\||[;|&()\n])/;

/** A word of a script, with its quotes, and its position. */
interface Word {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** The word ends a command. */
  readonly isEnd: boolean;
}

/** The words of a command line, as the shell splits it. A comment ends a command. Reads each character once. */
function wordsOf(line: string): Word[] {
  const words: Word[] = [];
  let index = 0;
  while (index < line.length) {
    const separator = separators.exec(line.slice(index, index + 2))?.[0];
    if (separator !== undefined) {
      words.push({ text: separator, from: index, to: index + separator.length, isEnd: true });
      index += separator.length;
      continue;
    }
    if (/\s/.test(line[index] ?? "")) {
      index += 1;
      continue;
    }
    const from = index;
    if (line[index] === "#") {
      const next = line.indexOf("\n", index);
      index = next === -1 ? line.length : next;
      words.push({ text: line.slice(from, index), from, to: index, isEnd: true });
      continue;
    }
    let quote = "";
    for (; index < line.length; index += 1) {
      const character = line[index] ?? "";
      if (character === "\\" && quote !== "'") index += 1;
      else if (quote !== "") quote = character === quote ? "" : quote;
      else if (character === '"' || character === "'") quote = character;
      else if (/[\s;|&()]/.test(character) && line[index - 1] !== ">") break;
    }
    words.push({ text: line.slice(from, index), from, to: Math.min(index, line.length), isEnd: false });
  }
  return words;
}

/** Programs that only start another program of the project. They are removed, because they may use the network. */
const starterPrograms = /^(?:npx|bunx|yarn|pnpm)$/;

/** Whether a word calls this program, by its name or its path. */
const isCallOf = (program: string, word: string): boolean =>
  new RegExp(`(?:^|/)_?${program}(?:\\.[cm]?js)?$`).test(word.replace(/^["']|["']$/g, ""));

/**
 * The words without those that `drop` matches, and without the options that `optionsWithValue` matches and their
 * values.
 */
function withoutOptions(words: readonly Word[], drop: RegExp, optionsWithValue: RegExp): Word[] {
  const isValue = (index: number): boolean =>
    (optionsWithValue.test(words[index - 1]?.text ?? "") && !/^["']?-/.test(words[index]?.text ?? "-")) ||
    // A number after an option that is dropped is the value of that option, not a path.
    (drop.test(words[index - 1]?.text ?? "") && /^\d+$/.test(words[index]?.text ?? ""));
  return words.filter(
    ({ text }, index) => !drop.test(text) && !isValue(index) && !optionsWithValue.test(text.split("=", 1)[0] ?? ""),
  );
}

/**
 * Changes the call of `program` in a script: it adds `args`, and removes words that `drop` matches and options that
 * `valued` matches. The value of such an option follows "=" or is the next word. Everything before the call, such as
 * variables and a build, stays. Undefined if the script does not call the program itself.
 */
export function withArguments(
  script: string,
  program: string,
  args: readonly string[],
  { drop, valued, command }: { readonly drop: RegExp; readonly valued: RegExp; readonly command?: string },
): string | undefined {
  const words = wordsOf(script);
  const callIndex = words.findIndex(({ text }) => isCallOf(program, text));
  const callWord = words[callIndex];
  if (callWord === undefined) return undefined;
  const firstIndex = words.slice(0, callIndex).findLastIndex(({ isEnd }) => isEnd) + 1;
  const endIndex = words.findIndex(({ isEnd }, index) => index > callIndex && isEnd);
  const before = words.slice(firstIndex, callIndex);
  // "npm run jest" calls a script, and npm would take the arguments for itself.
  if (before.some(({ text }) => text === "npm" || text === "run")) return undefined;
  const starterIndex = before.findIndex(({ text }) => starterPrograms.test(text));
  const variables = before.slice(0, starterIndex === -1 ? before.length : starterIndex);
  const callWords = withoutOptions(words.slice(callIndex + 1, endIndex === -1 ? words.length : endIndex), drop, valued);
  const separatorIndex = callWords.findIndex(({ text }) => text === "--");
  const [options, afterSeparator] =
    separatorIndex === -1 ? [callWords, []] : [callWords.slice(0, separatorIndex), callWords.slice(separatorIndex)];
  const hasCommand = command === undefined || options.some(({ text }) => text === command);
  const textsOf = (words: readonly Word[]) => words.map(({ text }) => text);
  const call = [
    ...textsOf(variables),
    callWord.text,
    ...(hasCommand ? [] : [command]),
    ...textsOf(options),
    ...args,
    ...textsOf(afterSeparator),
  ].join(" ");
  const from = words[firstIndex]?.from ?? 0;
  const to = endIndex === -1 ? script.length : (words[endIndex]?.from ?? script.length);
  return `${script.slice(0, from)}${call}${endIndex === -1 ? "" : " "}${script.slice(to)}`;
}

/** Programs that run a script of the package. npm and bun do this only with "run". */
const scriptRunners = /^(?:npm|pnpm|yarn|bun)$/;

/** Maximum number of expanded calls, because scripts that call one another could grow without end. */
const maxCalls = 50;

/** Maximum characters of a command line for a shell. Linux limits an argument to 128 KiB. */
const maxLineChars = 100_000;

/**
 * Replaces calls of the package's other scripts by their text, with the scripts before and after them, so that the call
 * of the test program is visible. Only plain calls are replaced. A script that calls itself stays as it is, and so does
 * the whole script if the result would be too long for a shell.
 */
export function withScripts(script: string, scriptOf: (name: string) => string | undefined): string {
  const fullLine = expandScripts(script, { scriptOf, within: ["test"], budget: { calls: maxCalls } });
  return fullLine.length > maxLineChars ? script : fullLine;
}

interface Expansion {
  readonly scriptOf: (name: string) => string | undefined;
  /** Names of the scripts that call this script, directly or indirectly. */
  readonly within: readonly string[];
  readonly budget: { calls: number };
}

function expandScripts(script: string, { scriptOf, within: callers, budget }: Expansion): string {
  const words = wordsOf(script);
  const calls: { readonly from: number; readonly to: number; readonly text: string }[] = [];
  for (let index = 0; index < words.length;) {
    let endIndex = index;
    while (endIndex < words.length && words[endIndex]?.isEnd !== true) endIndex += 1;
    const call = scriptCall(words.slice(index, endIndex));
    const [first, last] = [words[index], words[endIndex - 1]];
    const body = call && !callers.includes(call.name) ? scriptOf(call.name) : undefined;
    if (call !== undefined && body !== undefined && first !== undefined && last !== undefined && budget.calls > 0) {
      budget.calls -= 1;
      const scripts = [
        scriptOf(`pre${call.name}`),
        [body, ...call.rest.map(({ text }) => text)].join(" "),
        scriptOf(`post${call.name}`),
      ];
      const options = { scriptOf, within: [...callers, call.name], budget };
      const expandedScripts = scripts.flatMap((script) =>
        script === undefined ? [] : [expandScripts(script, options)],
      );
      // After a comment of the shell, a closing bracket on the same line would belong to the comment.
      const text = expandedScripts.map((script) => `(${script}${script.includes("#") ? "\n" : ""})`).join(" && ");
      const isAfterPipe = expandedScripts.length > 1 && words[index - 1]?.text.startsWith("|") === true;
      calls.push({ from: first.from, to: last.to, text: isAfterPipe ? `(${text})` : text });
    }
    index = endIndex + 1;
  }
  return calls.reduceRight(
    (text, { from, to, text: replacement }) => text.slice(0, from) + replacement + text.slice(to),
    script,
  );
}

/** The script that a command calls, and the arguments for it. */
function scriptCall(command: readonly Word[]): { readonly name: string; readonly rest: readonly Word[] } | undefined {
  const [program, ...words] = command;
  if (program === undefined || !scriptRunners.test(program.text)) return undefined;
  const isNamed = /^run(?:-script)?$/.test(words[0]?.text ?? "");
  if (!isNamed && /^(?:npm|bun)$/.test(program.text)) return undefined;
  const afterRun = isNamed ? words.slice(1) : words;
  const nameIndex = afterRun.findIndex(({ text }) => !/^(?:-s|--silent|--if-present)$/.test(text));
  const name = afterRun[nameIndex]?.text;
  if (name === undefined || name.startsWith("-")) return undefined;
  const args = afterRun.slice(nameIndex + 1);
  // npm takes options before "--" for itself.
  if (program.text === "npm" && args[0] !== undefined && args[0].text !== "--") return undefined;
  return { name: name.replace(/^["']|["']$/g, ""), rest: args[0]?.text === "--" ? args.slice(1) : args };
}

/** A command line with the scripts that npm runs before and after it. If one of them fails, stdout says so. */
export function withSteps(line: string, { pretest, posttest }: TestSteps): string {
  const stepLines = (name: string, script: string | undefined) =>
    script === undefined
      ? []
      : [`(${script}\n) || { status=$?; echo "The script ${name} of package.json failed."; exit $status; }`];
  const lines = [...stepLines("pretest", pretest), `(${line}\n) || exit $?`, ...stepLines("posttest", posttest)];
  return lines.length === 1 ? line : lines.join("\n");
}

/** The scripts that npm runs before and after the script "test". */
export interface TestSteps {
  readonly pretest?: string;
  readonly posttest?: string;
}
