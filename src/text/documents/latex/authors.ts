import { argumentAt, commandAt, groupAt } from "./scan.js";

/** A placeholder for a superscript after a name or before an affiliation. */
const superscript = "\u0002";

/** Commands in author lists, from the document classes of publishers, whose arguments are not part of a name. */
const nonNameCommands = new Set(
  (
    "corref fnref tnoteref inst thanks footnote footnotemark authornote authornotemark orcid orcidlink orcidID " +
    "orcidicon email ead texttt url IEEEmembership IEEEauthorrefmark IEEEauthorblockA vspace hspace affiliation " +
    "altaffilmark altaffiltext refstepcounter label protect institute"
  ).split(" "),
);
const superscriptCommands = new Set(["textsuperscript", "sup"]);
/** Commands between two names, or between a name and its affiliation. */
const separatorCommands = new Set([
  "and",
  "And",
  "AND",
  "quad",
  "qquad",
  "enspace",
  "enskip",
  "hfill",
  "hfil",
  "\\",
  "tabularnewline",
]);

/**
 * Prepares the argument of `\author` for `namesIn`: removes notes, addresses, ORCIDs and memberships, and replaces each
 * superscript by a placeholder and each separator by a line end.
 */
export function markAuthors(latex: string): string {
  // Some classes have "\name Ann Bee \email a@b.c \addr ETH" without braces.
  const source = latex.replace(/\\(?:email|addr)(?![a-zA-Z{])[^\\]*(?:\\(?!name\b)(?:[a-z]+|.)[^\\]*)*/g, "\n");
  let text = "";
  for (let index = 0; index < source.length;) {
    const character = source[index] ?? "";
    if (character === "\\") {
      const command = commandAt(source, index);
      if (command === undefined) break;
      const { name, end } = command;
      const optionEnd = groupAt(source, end, "[")?.end ?? end;
      const argument = groupAt(source, optionEnd);
      if (superscriptCommands.has(name)) {
        // Templates number the authors: "1st Ann Bee". The number is not part of the name.
        const isOrdinal = /\d$/.test(text) && /^(?:th|st|nd|rd)$/.test(argument?.content.trim() ?? "");
        text = isOrdinal ? text.replace(/\d{1,2}$/, "") : text + superscript;
        index = argument?.end ?? end;
      } else if (nonNameCommands.has(name) || /^orcid[A-Za-z]$/.test(name)) index = argument?.end ?? optionEnd;
      else if (name === "begin" || name === "end") {
        const environment = groupAt(source, end);
        text += "\n";
        index = environment === undefined ? end : (groupAt(source, environment.end)?.end ?? environment.end);
      } else if (separatorCommands.has(name)) {
        text += "\n";
        index = groupAt(source, end, "[")?.end ?? end;
      } else {
        text += name === "name" ? "\n" : source.slice(index, end);
        index = end;
      }
    } else if (character === "$") {
      const close = source.indexOf("$", index + 1);
      text += superscript;
      index = close === -1 ? index + 1 : close + 1;
    } else if (character === "^") {
      text += superscript;
      index = argumentAt(source, index + 1)?.end ?? index + 1;
    } else {
      text += character === "&" ? "\n" : character;
      index += 1;
    }
  }
  return text;
}

const institution =
  /\b(?:universit|institut|department|dept|school|college|laborator|labs?$|research|cent(?:er|re)|faculty|(?:inc|corp|ltd|gmbh)\b|hospital|collaboration)/i;

/** The names in the text of an author list that `markAuthors` prepared, without affiliations. */
export function namesIn(authorText: string): string[] {
  const names = authorText
    .replace(/[^\S\n]+/g, " ")
    // Superscripts and footnote marks after names are removed.
    .replace(/(?<=[\p{L}.,}’)] ?)[\u0002*†‡§¶]+/gu, "")
    // A line that still begins with a superscript is an affiliation.
    .replace(/(?<=\n) ?(?:\u0002|\$?\^?\{?\d)[^\n]*/g, "")
    .split(/\n|,(?= ?\p{Lu})|\band\b|;/u)
    .map((name) =>
      name
        .replace(/[\d*†‡§$^{}\\\u0002]+/g, "")
        .trim()
        .replace(/ ?,$/, ""),
    )
    .filter((name) => /^\p{Lu}[\p{L}.'’-]*(?:\s[\p{L}.'’-]+){1,4}$/u.test(name) && !institution.test(name));
  return [...new Set(names)].slice(0, maxNames);
}

/** Maximum number of authors of a document. */
export const maxNames = 300;
