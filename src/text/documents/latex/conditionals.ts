/** Names that begin with "if" but need no `\fi`: commands with arguments, and `\iff`, a sign in formulas. */
const otherIfCommand =
  /^if(?:f|then\w*|toggle|bool|blank|str\w*|def\w*|undef\w*|csdef|csundef|num\w*comp|pgf\w*|package\w*)$/;

/** A condition whose `\fi` was not read yet. */
interface OpenCondition {
  /** The value of the condition. Undefined if only TeX could know it; then both branches stay. */
  readonly isTrue: boolean | undefined;
  /** Whether its `\else` was read. */
  isInElse: boolean;
}

/**
 * Removes the branches that are not typeset. The values of `\iffalse` and `\if0` are known, and those of conditions
 * that the source itself defines and sets (`\newif\ifdraft \draftfalse`). Both branches of other conditions stay.
 */
export function withoutFalseBranches(text: string): string {
  const values = new Map<string, boolean>([
    ["false", false],
    ["true", true],
  ]);
  const openConditions: OpenCondition[] = [];
  let typesetText = "";
  let lastEnd = 0;
  // The number of open conditions in a false branch. A search in the list would be slow for fifty thousand conditions.
  let falseBranches = 0;
  const isInFalseBranch = (condition: OpenCondition | undefined) =>
    condition?.isTrue !== undefined && condition.isTrue === condition.isInElse;
  const tokens =
    /\\(?:newif\s*\\if([a-zA-Z@]+)|let\s*\\if([a-zA-Z@]+)\s*(?:=\s*)?\\if(true|false)|(if[a-zA-Z@]*|else|fi)|([a-zA-Z@]+)(true|false))(?![a-zA-Z@])/g;
  for (const match of text.matchAll(tokens)) {
    const [token, newName, letName, letValue, command, setName, setValue] = match;
    const isTypeset = falseBranches === 0;
    const end = match.index + token.length;
    const copyUntil = (index: number) => {
      if (isTypeset) typesetText += text.slice(lastEnd, index);
      lastEnd = end;
    };
    if (newName !== undefined || letName !== undefined) {
      copyUntil(match.index);
      values.set(newName ?? letName ?? "", letValue === "true");
    } else if (setName !== undefined) {
      if (!values.has(setName)) continue;
      copyUntil(match.index);
      if (isTypeset) values.set(setName, setValue === "true");
    } else if (command === "fi") {
      const condition = openConditions.pop();
      copyUntil(condition?.isTrue === undefined ? end : match.index);
      if (isInFalseBranch(condition)) falseBranches -= 1;
    } else if (command === "else") {
      const condition = openConditions.at(-1);
      copyUntil(condition?.isTrue === undefined ? end : match.index);
      if (condition === undefined || condition.isInElse) continue;
      falseBranches -= isInFalseBranch(condition) ? 1 : 0;
      condition.isInElse = true;
      falseBranches += isInFalseBranch(condition) ? 1 : 0;
    } else if (command !== undefined && !otherIfCommand.test(command)) {
      // `\if0` is true if the character after it is 0 too.
      const compared = command === "if" ? /^\s*([01])(.)/s.exec(text.slice(end, end + 5)) : null;
      const isTrue = compared === null ? values.get(command.slice(2)) : compared[1] === compared[2];
      copyUntil(isTrue === undefined ? end : match.index);
      if (compared !== null) lastEnd = end + compared[0].length - (compared[1] === compared[2] ? 0 : 1);
      openConditions.push({ isTrue, isInElse: false });
      if (isTrue === false) falseBranches += 1;
    }
  }
  // If a condition has no end, its branch would include the rest of the text; then nothing is removed.
  return openConditions.some(({ isTrue }) => isTrue !== undefined) ? text : typesetText + text.slice(lastEnd);
}
