/** These begin with "if" and take arguments, or are a sign of a formula; no `\fi` ends them. */
const noConditional =
  /^if(?:f|then\w*|toggle|bool|blank|str\w*|def\w*|undef\w*|csdef|csundef|num\w*comp|pgf\w*|package\w*)$/;

interface Frame {
  /** What the condition is known to be; undefined where both branches stay. */
  readonly is: boolean | undefined;
  isElse: boolean;
}

/**
 * Leaves out the branches that are not typeset: of `\iffalse`, `\if0`, and of conditions that the source makes and sets
 * itself (`\newif\ifdraft \draftfalse`). Of conditions that only TeX could decide both branches stay.
 */
export function withoutFalseBranches(text: string): string {
  const values = new Map<string, boolean>([
    ["false", false],
    ["true", true],
  ]);
  const frames: Frame[] = [];
  let kept = "";
  let at = 0;
  // Counted, not looked for: among fifty thousand open conditions each look took as many steps.
  let untypeset = 0;
  const isTypeset = () => untypeset === 0;
  const isOut = (frame: Frame | undefined) => frame?.is !== undefined && frame.is === frame.isElse;
  const tokens =
    /\\(?:newif\s*\\if([a-zA-Z@]+)|let\s*\\if([a-zA-Z@]+)\s*(?:=\s*)?\\if(true|false)|(if[a-zA-Z@]*|else|fi)|([a-zA-Z@]+)(true|false))(?![a-zA-Z@])/g;
  for (const match of text.matchAll(tokens)) {
    const [token, made, given, givenValue, word, set, setValue] = match;
    const wasTypeset = isTypeset();
    const end = match.index + token.length;
    const say = (until: number) => {
      if (wasTypeset) kept += text.slice(at, until);
      at = end;
    };
    if (made !== undefined || given !== undefined) {
      say(match.index);
      values.set(made ?? given ?? "", givenValue === "true");
    } else if (set !== undefined) {
      if (!values.has(set)) continue;
      say(match.index);
      if (wasTypeset) values.set(set, setValue === "true");
    } else if (word === "fi") {
      const frame = frames.pop();
      say(frame?.is === undefined ? end : match.index);
      if (isOut(frame)) untypeset -= 1;
    } else if (word === "else") {
      const frame = frames.at(-1);
      say(frame?.is === undefined ? end : match.index);
      if (frame === undefined || frame.isElse) continue;
      untypeset -= isOut(frame) ? 1 : 0;
      frame.isElse = true;
      untypeset += isOut(frame) ? 1 : 0;
    } else if (word !== undefined && !noConditional.test(word)) {
      // `\if0` compares the 0 with what follows it.
      const digit = word === "if" ? /^\s*([01])(.)/s.exec(text.slice(end, end + 5)) : null;
      const is = digit === null ? values.get(word.slice(2)) : digit[1] === digit[2];
      say(is === undefined ? end : match.index);
      if (digit !== null) at = end + digit[0].length - (digit[1] === digit[2] ? 0 : 1);
      frames.push({ is, isElse: false });
      if (is === false) untypeset += 1;
    }
  }
  // Without its end a branch would take the rest of the text with it.
  return frames.some(({ is }) => is !== undefined) ? text : kept + text.slice(at);
}
