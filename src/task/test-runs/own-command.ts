/** A test script's own way of calling its framework, so that a run of the tests is the one that its author means. */

/** Words of a script that are not part of a command. */
const separators = /^(?:&&|\|\||[;|&()\n])/;

/** A word of a script, with its quotes, and where it stands. */
interface Word {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** It ends a command. */
  readonly isEnd: boolean;
}

/** The words of a command line, as the shell divides it; a comment ends a command. Each character is looked at once. */
function wordsOf(line: string): Word[] {
  const words: Word[] = [];
  let at = 0;
  while (at < line.length) {
    const separator = separators.exec(line.slice(at, at + 2))?.[0];
    if (separator !== undefined) {
      words.push({ text: separator, from: at, to: at + separator.length, isEnd: true });
      at += separator.length;
      continue;
    }
    if (/\s/.test(line[at] ?? "")) {
      at += 1;
      continue;
    }
    const from = at;
    if (line[at] === "#") {
      const next = line.indexOf("\n", at);
      at = next === -1 ? line.length : next;
      words.push({ text: line.slice(from, at), from, to: at, isEnd: true });
      continue;
    }
    let quote = "";
    for (; at < line.length; at += 1) {
      const character = line[at] ?? "";
      if (character === "\\" && quote !== "'") at += 1;
      else if (quote !== "") quote = character === quote ? "" : quote;
      else if (character === '"' || character === "'") quote = character;
      else if (/[\s;|&()]/.test(character) && line[at - 1] !== ">") break;
    }
    words.push({ text: line.slice(from, at), from, to: Math.min(at, line.length), isEnd: false });
  }
  return words;
}

/** Programs that only start another one that is installed in the project; without them no network is asked. */
const starters = /^(?:npx|bunx|yarn|pnpm)$/;

/** Whether a word names this program, by its path too. */
const isCall = (program: string, word: string): boolean =>
  new RegExp(`(?:^|/)_?${program}(?:\\.[cm]?js)?$`).test(word.replace(/^["']|["']$/g, ""));

/** The words of a call but those that `drop` matches, and the options that `valued` matches with their values. */
function kept(words: readonly Word[], drop: RegExp, valued: RegExp): Word[] {
  const isValue = (index: number): boolean =>
    (valued.test(words[index - 1]?.text ?? "") && !/^["']?-/.test(words[index]?.text ?? "-")) ||
    // Of an option that may stand alone: a number is its own, and no path.
    (drop.test(words[index - 1]?.text ?? "") && /^\d+$/.test(words[index]?.text ?? ""));
  return words.filter(
    ({ text }, index) => !drop.test(text) && !isValue(index) && !valued.test(text.split("=", 1)[0] ?? ""),
  );
}

/**
 * The script with these arguments added to its call of `program`, and without words of that call that `drop` matches
 * and options that `valued` matches, whose values follow after "=" or as the next word; what stands before the call,
 * such as variables and a build, stays. Undefined where the script calls it by another script, or not at all.
 */
export function withArguments(
  script: string,
  program: string,
  args: readonly string[],
  { drop, valued, command }: { readonly drop: RegExp; readonly valued: RegExp; readonly command?: string },
): string | undefined {
  const words = wordsOf(script);
  const at = words.findIndex(({ text }) => isCall(program, text));
  const found = words[at];
  if (found === undefined) return undefined;
  const first = words.slice(0, at).findLastIndex(({ isEnd }) => isEnd) + 1;
  const end = words.findIndex(({ isEnd }, index) => index > at && isEnd);
  const before = words.slice(first, at);
  // "npm run jest" names a script, and npm keeps arguments for itself.
  if (before.some(({ text }) => text === "npm" || text === "run")) return undefined;
  const started = before.findIndex(({ text }) => starters.test(text));
  const variables = before.slice(0, started === -1 ? before.length : started);
  const own = kept(words.slice(at + 1, end === -1 ? words.length : end), drop, valued);
  const rest = own.findIndex(({ text }) => text === "--");
  const [options, others] = rest === -1 ? [own, []] : [own.slice(0, rest), own.slice(rest)];
  const isNamed = command === undefined || options.some(({ text }) => text === command);
  const textsOf = (all: readonly Word[]) => all.map(({ text }) => text);
  const call = [
    ...textsOf(variables),
    found.text,
    ...(isNamed ? [] : [command]),
    ...textsOf(options),
    ...args,
    ...textsOf(others),
  ].join(" ");
  const from = words[first]?.from ?? 0;
  const to = end === -1 ? script.length : (words[end]?.from ?? script.length);
  return `${script.slice(0, from)}${call}${end === -1 ? "" : " "}${script.slice(to)}`;
}

/** What runs a script of the package; of npm and bun only with "run". */
const runners = /^(?:npm|pnpm|yarn|bun)$/;

/** Calls that are followed: scripts that call one another several times would grow without an end. */
const maxCalls = 50;

/** Characters of a command line that is handed to a shell: Linux starts no program with an argument of over 128 KiB. */
const maxLine = 100_000;

/**
 * A script of a package with the package's other scripts that it calls in their place, those before and after them
 * included, as far as it calls them plainly: so the call of the test program is seen. What is called by anything else
 * stays as it is, and so does a script that calls itself, or one that would become too long for a shell.
 */
export function withScripts(script: string, scriptOf: (name: string) => string | undefined): string {
  const whole = expanded(script, { scriptOf, within: ["test"], budget: { calls: maxCalls } });
  return whole.length > maxLine ? script : whole;
}

interface Expansion {
  readonly scriptOf: (name: string) => string | undefined;
  /** The scripts that this one is part of. */
  readonly within: readonly string[];
  readonly budget: { calls: number };
}

function expanded(script: string, { scriptOf, within, budget }: Expansion): string {
  const words = wordsOf(script);
  const calls: { readonly from: number; readonly to: number; readonly text: string }[] = [];
  for (let at = 0; at < words.length;) {
    let end = at;
    while (end < words.length && words[end]?.isEnd !== true) end += 1;
    const called = calledBy(words.slice(at, end));
    const [first, last] = [words[at], words[end - 1]];
    const body = called && !within.includes(called.name) ? scriptOf(called.name) : undefined;
    if (called !== undefined && body !== undefined && first !== undefined && last !== undefined && budget.calls > 0) {
      budget.calls -= 1;
      const all = [
        scriptOf(`pre${called.name}`),
        [body, ...called.rest.map(({ text }) => text)].join(" "),
        scriptOf(`post${called.name}`),
      ];
      const how = { scriptOf, within: [...within, called.name], budget };
      const inner = all.flatMap((each) => (each === undefined ? [] : [expanded(each, how)]));
      // Behind a comment of the shell a bracket would belong to it.
      const text = inner.map((each) => `(${each}${each.includes("#") ? "\n" : ""})`).join(" && ");
      const isBound = inner.length > 1 && words[at - 1]?.text.startsWith("|") === true;
      calls.push({ from: first.from, to: last.to, text: isBound ? `(${text})` : text });
    }
    at = end + 1;
  }
  return calls.reduceRight((text, { from, to, text: by }) => text.slice(0, from) + by + text.slice(to), script);
}

/** The script that a command runs by name, and what is handed on to it. */
function calledBy(command: readonly Word[]): { readonly name: string; readonly rest: readonly Word[] } | undefined {
  const [program, ...words] = command;
  if (program === undefined || !runners.test(program.text)) return undefined;
  const isNamed = /^run(?:-script)?$/.test(words[0]?.text ?? "");
  if (!isNamed && /^(?:npm|bun)$/.test(program.text)) return undefined;
  const others = isNamed ? words.slice(1) : words;
  const at = others.findIndex(({ text }) => !/^(?:-s|--silent|--if-present)$/.test(text));
  const name = others[at]?.text;
  if (name === undefined || name.startsWith("-")) return undefined;
  const rest = others.slice(at + 1);
  // npm keeps options before "--" for itself.
  if (program.text === "npm" && rest[0] !== undefined && rest[0].text !== "--") return undefined;
  return { name: name.replace(/^["']|["']$/g, ""), rest: rest[0]?.text === "--" ? rest.slice(1) : rest };
}

/** A command line with the scripts that npm runs before and after it; that one of them failed is said on stdout. */
export function withSteps(line: string, { pretest, posttest }: TestSteps): string {
  const step = (name: string, script: string | undefined) =>
    script === undefined
      ? []
      : [`(${script}\n) || { status=$?; echo "The script ${name} of package.json failed."; exit $status; }`];
  const steps = [...step("pretest", pretest), `(${line}\n) || exit $?`, ...step("posttest", posttest)];
  return steps.length === 1 ? line : steps.join("\n");
}

/** The scripts that npm runs before and after the script "test". */
export interface TestSteps {
  readonly pretest?: string;
  readonly posttest?: string;
}
