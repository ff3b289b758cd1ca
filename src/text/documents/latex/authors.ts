import { argumentAt, commandAt, groupAt } from "./scan.js";

/** Stands for what is raised behind a name, or before an affiliation. */
const raised = "\u0002";

/** Commands of the classes of publishers that stand in a list of authors and are not part of a name. */
const asides = new Set(
  (
    "corref fnref tnoteref inst thanks footnote footnotemark authornote authornotemark orcid orcidlink orcidID " +
    "orcidicon email ead texttt url IEEEmembership IEEEauthorrefmark IEEEauthorblockA vspace hspace affiliation " +
    "altaffilmark altaffiltext refstepcounter label protect institute"
  ).split(" "),
);
const raises = new Set(["textsuperscript", "sup"]);
/** What stands between names, or between a name and its affiliation. */
const parts = new Set([
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
 * The argument of `\author` without what classes set into it besides names: notes, addresses, ORCIDs, memberships. What
 * is raised becomes a mark, and what parts names a line end.
 */
export function authorsSource(latex: string): string {
  // "\name Ann Bee \email a@b.c \addr ETH"
  const plain = latex.replace(/\\(?:email|addr)(?![a-zA-Z{])[^\\]*(?:\\(?!name\b)(?:[a-z]+|.)[^\\]*)*/g, "\n");
  let text = "";
  for (let at = 0; at < plain.length;) {
    const character = plain[at] ?? "";
    if (character === "\\") {
      const command = commandAt(plain, at);
      if (command === undefined) break;
      const { name, end } = command;
      const option = groupAt(plain, end, "[")?.end ?? end;
      const argument = groupAt(plain, option);
      if (raises.has(name)) {
        // "1st Ann Bee" is a template's.
        const isOrdinal = /\d$/.test(text) && /^(?:th|st|nd|rd)$/.test(argument?.content.trim() ?? "");
        text = isOrdinal ? text.replace(/\d{1,2}$/, "") : text + raised;
        at = argument?.end ?? end;
      } else if (asides.has(name) || /^orcid[A-Za-z]$/.test(name)) at = argument?.end ?? option;
      else if (name === "begin" || name === "end") {
        const environment = groupAt(plain, end);
        text += "\n";
        at = environment === undefined ? end : (groupAt(plain, environment.end)?.end ?? environment.end);
      } else if (parts.has(name)) {
        text += "\n";
        at = groupAt(plain, end, "[")?.end ?? end;
      } else {
        text += name === "name" ? "\n" : plain.slice(at, end);
        at = end;
      }
    } else if (character === "$") {
      const close = plain.indexOf("$", at + 1);
      text += raised;
      at = close === -1 ? at + 1 : close + 1;
    } else if (character === "^") {
      text += raised;
      at = argumentAt(plain, at + 1)?.end ?? at + 1;
    } else {
      text += character === "&" ? "\n" : character;
      at += 1;
    }
  }
  return text;
}

const institution =
  /\b(?:universit|institut|department|dept|school|college|laborator|labs?$|research|cent(?:er|re)|faculty|(?:inc|corp|ltd|gmbh)\b|hospital|collaboration)/i;

/** The names in a list of authors. Affiliations, which stand behind marks, are left out. */
export function namesIn(written: string): string[] {
  const names = written
    .replace(/[^\S\n]+/g, " ")
    // Behind a name, its mark goes.
    .replace(/(?<=[\p{L}.,}’)] ?)[\u0002*†‡§¶]+/gu, "")
    // Affiliations stand on lines of their own, each behind its mark.
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

/** Authors of one document that are kept. */
export const maxNames = 300;
