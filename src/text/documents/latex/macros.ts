import { argumentAt, commandAt, groupAt, skipSpace } from "./scan.js";

interface Macro {
  readonly parameterCount: number;
  /** The default value of the first parameter, if it is optional. */
  readonly defaultArgument?: string;
  readonly body: string;
}

/** Maximum number of uses of macros that are expanded. A macro may expand itself without end. */
const maxExpansions = 20_000;
/** Maximum length of all expanded macros. */
const maxExpandedChars = 6 * 1024 * 1024;
const maxBodyChars = 2_000;
const maxMacros = 3_000;

interface ExpandedSource {
  readonly text: string;
  /** The text before the document. The title and authors in it may use macros. */
  readonly preamble: string;
  /** For each theorem-like environment, its heading, such as "Lemma". */
  readonly theorems: ReadonlyMap<string, string>;
}

/** Removes the macro definitions of a source, and replaces the uses of macros by their bodies. */
export function expandMacros(preamble: string, body: string): ExpandedSource {
  const macros = new Map<string, Macro>();
  const theorems = new Map<string, string>();
  const preambleText = takeDefinitions(preamble, macros, theorems);
  const bodyText = takeDefinitions(body, macros, theorems);
  return { text: expand(bodyText, macros), preamble: expand(preambleText, macros), theorems };
}

const definitionCommands = new Set([
  "newcommand",
  "renewcommand",
  "providecommand",
  "DeclareRobustCommand",
  "DeclareMathOperator",
  "def",
  "gdef",
  "newtheorem",
]);

/** Adds the definitions in a text to `macros` and `theorems`. @returns the text without the definitions. */
function takeDefinitions(text: string, macros: Map<string, Macro>, theorems: Map<string, string>): string {
  let remainingText = "";
  let lastEnd = 0;
  for (const match of text.matchAll(
    /\\(newcommand|renewcommand|providecommand|DeclareRobustCommand|DeclareMathOperator|gdef|def|newtheorem)(?![a-zA-Z])\*?/g,
  )) {
    const [token, name = ""] = match;
    if (match.index < lastEnd || !definitionCommands.has(name)) continue;
    const end = readDefinition(text, match.index + token.length, name, macros, theorems);
    if (end === undefined) continue;
    remainingText += text.slice(lastEnd, match.index);
    lastEnd = end;
  }
  return remainingText + text.slice(lastEnd);
}

/** Reads a definition whose command ends at `start`. @returns its end; undefined if it is not a definition. */
function readDefinition(
  text: string,
  start: number,
  kind: string,
  macros: Map<string, Macro>,
  theorems: Map<string, string>,
): number | undefined {
  const name = argumentAt(text, start);
  if (name === undefined) return undefined;
  if (kind === "newtheorem") {
    const counter = groupAt(text, name.end, "[");
    const heading = groupAt(text, counter?.end ?? name.end);
    if (heading === undefined) return undefined;
    theorems.set(name.content.trim(), heading.content);
    return groupAt(text, heading.end, "[")?.end ?? heading.end;
  }
  const command = /^\s*\\([a-zA-Z@]+)\s*$/.exec(name.content)?.[1];
  let bodyStart = name.end;
  let parameterCount = 0;
  let defaultArgument: string | undefined;
  if (kind === "def" || kind === "gdef") {
    const parameters = /^\s*(?:((?:#[1-9])+)\s*)?(?=\{)/.exec(text.slice(bodyStart, bodyStart + 60));
    if (parameters === null) return undefined;
    parameterCount = (parameters[1]?.length ?? 0) / 2;
    bodyStart += parameters[0].length;
  } else if (kind !== "DeclareMathOperator") {
    const countOption = groupAt(text, bodyStart, "[");
    parameterCount = Number(countOption?.content ?? 0);
    bodyStart = countOption?.end ?? bodyStart;
    const defaultOption = countOption === undefined ? undefined : groupAt(text, bodyStart, "[");
    defaultArgument = defaultOption?.content;
    bodyStart = defaultOption?.end ?? bodyStart;
  }
  const bodyGroup = argumentAt(text, bodyStart);
  if (bodyGroup === undefined) return undefined;
  if (
    command !== undefined &&
    Number.isInteger(parameterCount) &&
    parameterCount <= 9 &&
    bodyGroup.content.length <= maxBodyChars &&
    macros.size < maxMacros
  ) {
    const body = kind === "DeclareMathOperator" ? `\\operatorname{${bodyGroup.content}}` : bodyGroup.content;
    macros.set(command, { parameterCount, body, defaultArgument });
  }
  return bodyGroup.end;
}

function expand(text: string, macros: ReadonlyMap<string, Macro>): string {
  if (macros.size === 0) return text;
  let expansionCount = 0;
  let expandedChars = 0;
  const expandIn = (source: string, depth: number): string => {
    const pieces: string[] = [];
    let lastEnd = 0;
    for (let start = source.indexOf("\\"); start !== -1; start = source.indexOf("\\", lastEnd)) {
      pieces.push(source.slice(lastEnd, start));
      const command = commandAt(source, start);
      const macro = command === undefined ? undefined : macros.get(command.name);
      if (
        command === undefined ||
        macro === undefined ||
        depth > 10 ||
        expansionCount >= maxExpansions ||
        expandedChars > maxExpandedChars
      ) {
        lastEnd = command?.end ?? start + 1;
        pieces.push(source.slice(start, lastEnd));
        continue;
      }
      const use = expandOnce(source, command.isStarred ? command.end - 1 : command.end, macro);
      expansionCount += 1;
      expandedChars += use.text.length;
      const expanded = expandIn(use.text, depth + 1);
      const nextCharacter = source[use.end] ?? "";
      // A command name at the end must not join with the word after the macro.
      const needsSpace = /\\[a-zA-Z@]+$/.test(expanded) && /[a-zA-Z@]/.test(nextCharacter);
      pieces.push(needsSpace ? `${expanded} ` : expanded);
      lastEnd = use.end;
    }
    pieces.push(source.slice(lastEnd));
    return pieces.join("");
  };
  return expandIn(text, 0);
}

/** The body of a macro with the arguments after `start` filled in, and the end of the last argument. */
function expandOnce(
  source: string,
  start: number,
  { parameterCount, defaultArgument, body }: Macro,
): { text: string; end: number } {
  const args: string[] = [];
  let end = parameterCount === 0 ? skipSpace(source, start) : start;
  if (defaultArgument !== undefined) {
    const option = groupAt(source, end, "[");
    args.push(option?.content ?? defaultArgument);
    end = option?.end ?? end;
  }
  while (args.length < parameterCount) {
    const argument = argumentAt(source, end);
    if (argument === undefined) break;
    args.push(argument.content);
    end = argument.end;
  }
  return { text: body.replace(/#([1-9])/g, (_, number: string) => args[Number(number) - 1] ?? ""), end };
}
