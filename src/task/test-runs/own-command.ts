/** A test script's own way of calling its framework, so that a run of the tests is the one that its author means. */

/** Words of a script that are no part of a command. */
const separators = /^(?:&&|\|\||[;|&()\n])/;

/** A word of a script, with its quotes, and where it stands. */
interface Word {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** It ends a command. */
  readonly isEnd: boolean;
}

/** The words of a command line, as the shell divides it; each character is looked at once. */
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
function kept(words: readonly Word[], drop: RegExp, valued: RegExp | undefined): Word[] {
  const isValue = (index: number): boolean =>
    valued?.test(words[index - 1]?.text ?? "") === true && !/^["']?-/.test(words[index]?.text ?? "-");
  return words.filter(
    ({ text }, index) => !drop.test(text) && !isValue(index) && valued?.test(text.split("=", 1)[0] ?? "") !== true,
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
  { drop, valued, command }: { readonly drop: RegExp; readonly valued?: RegExp; readonly command?: string },
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
