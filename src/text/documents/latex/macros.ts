import { argumentAt, commandAt, groupAt, skipSpace } from "./scan.js";

interface Macro {
  readonly parameters: number;
  /** Of the first parameter, where it is optional. */
  readonly standard?: string;
  readonly body: string;
}

/** Macros that grow without end, by themselves or each other, stop here. */
const maxExpansions = 20_000;
const maxExpanded = 6 * 1024 * 1024;
const maxBody = 2_000;
const maxMacros = 3_000;

interface Expanded {
  readonly text: string;
  /** What stands before the document, where its title and authors may be made of macros. */
  readonly preamble: string;
  /** Of theorem-like environments: name to heading. */
  readonly theorems: ReadonlyMap<string, string>;
}

/**
 * Takes a text's own macros out of it: their definitions go, their uses are written out. Nothing else is carried
 * out.
 */
export function expandMacros(preamble: string, body: string): Expanded {
  const macros = new Map<string, Macro>();
  const theorems = new Map<string, string>();
  const head = collect(preamble, macros, theorems);
  const rest = collect(body, macros, theorems);
  return { text: expand(rest, macros), preamble: expand(head, macros), theorems };
}

const definers = new Set([
  "newcommand",
  "renewcommand",
  "providecommand",
  "DeclareRobustCommand",
  "DeclareMathOperator",
  "def",
  "gdef",
  "newtheorem",
]);

/** Reads every definition and answers with the text without them. */
function collect(text: string, macros: Map<string, Macro>, theorems: Map<string, string>): string {
  let kept = "";
  let at = 0;
  for (const match of text.matchAll(
    /\\(newcommand|renewcommand|providecommand|DeclareRobustCommand|DeclareMathOperator|gdef|def|newtheorem)(?![a-zA-Z])\*?/g,
  )) {
    const [token, name = ""] = match;
    if (match.index < at || !definers.has(name)) continue;
    const end = define(text, match.index + token.length, name, macros, theorems);
    if (end === undefined) continue;
    kept += text.slice(at, match.index);
    at = end;
  }
  return kept + text.slice(at);
}

function define(
  text: string,
  start: number,
  kind: string,
  macros: Map<string, Macro>,
  theorems: Map<string, string>,
): number | undefined {
  const name = argumentAt(text, start);
  if (name === undefined) return undefined;
  if (kind === "newtheorem") {
    const shared = groupAt(text, name.end, "[");
    const heading = groupAt(text, shared?.end ?? name.end);
    if (heading === undefined) return undefined;
    theorems.set(name.content.trim(), heading.content);
    return groupAt(text, heading.end, "[")?.end ?? heading.end;
  }
  const command = /^\s*\\([a-zA-Z@]+)\s*$/.exec(name.content)?.[1];
  let at = name.end;
  let parameters = 0;
  let standard: string | undefined;
  if (kind === "def" || kind === "gdef") {
    const pattern = /^\s*(?:((?:#[1-9])+)\s*)?(?=\{)/.exec(text.slice(at, at + 60));
    if (pattern === null) return undefined;
    parameters = (pattern[1]?.length ?? 0) / 2;
    at += pattern[0].length;
  } else if (kind !== "DeclareMathOperator") {
    const count = groupAt(text, at, "[");
    parameters = Number(count?.content ?? 0);
    at = count?.end ?? at;
    const option = count === undefined ? undefined : groupAt(text, at, "[");
    standard = option?.content;
    at = option?.end ?? at;
  }
  const body = argumentAt(text, at);
  if (body === undefined) return undefined;
  if (
    command !== undefined &&
    Number.isInteger(parameters) &&
    parameters <= 9 &&
    body.content.length <= maxBody &&
    macros.size < maxMacros
  ) {
    const written = kind === "DeclareMathOperator" ? `\\operatorname{${body.content}}` : body.content;
    macros.set(command, { parameters, body: written, standard });
  }
  return body.end;
}

function expand(text: string, macros: ReadonlyMap<string, Macro>): string {
  if (macros.size === 0) return text;
  let expansions = 0;
  let made = 0;
  const write = (source: string, depth: number): string => {
    const pieces: string[] = [];
    let at = 0;
    for (let next = source.indexOf("\\"); next !== -1; next = source.indexOf("\\", at)) {
      pieces.push(source.slice(at, next));
      const command = commandAt(source, next);
      const macro = command === undefined ? undefined : macros.get(command.name);
      if (
        command === undefined ||
        macro === undefined ||
        depth > 10 ||
        expansions >= maxExpansions ||
        made > maxExpanded
      ) {
        at = command?.end ?? next + 1;
        pieces.push(source.slice(next, at));
        continue;
      }
      const filled = fill(source, command.star ? command.end - 1 : command.end, macro);
      expansions += 1;
      made += filled.text.length;
      const written = write(filled.text, depth + 1);
      const follows = source[filled.end] ?? "";
      // Without a space a name that ends the macro would run into the word that follows.
      pieces.push(/\\[a-zA-Z@]+$/.test(written) && /[a-zA-Z@]/.test(follows) ? `${written} ` : written);
      at = filled.end;
    }
    pieces.push(source.slice(at));
    return pieces.join("");
  };
  return write(text, 0);
}

function fill(source: string, from: number, { parameters, standard, body }: Macro): { text: string; end: number } {
  const given: string[] = [];
  let end = parameters === 0 ? skipSpace(source, from) : from;
  if (standard !== undefined) {
    const option = groupAt(source, end, "[");
    given.push(option?.content ?? standard);
    end = option?.end ?? end;
  }
  while (given.length < parameters) {
    const argument = argumentAt(source, end);
    if (argument === undefined) break;
    given.push(argument.content);
    end = argument.end;
  }
  return { text: body.replace(/#([1-9])/g, (_, number: string) => given[Number(number) - 1] ?? ""), end };
}
