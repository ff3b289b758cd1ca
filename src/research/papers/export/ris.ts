import type { AuthorName } from "../person-name.js";
import type { CitedWork, WorkKind } from "./cited-work.js";

const types: Readonly<Record<WorkKind, string>> = {
  article: "JOUR",
  conference: "CPAPER",
  chapter: "CHAP",
  book: "BOOK",
  thesis: "THES",
  report: "RPRT",
  preprint: "UNPB",
  other: "GEN",
};

/**
 * Works as RIS, for Zotero, EndNote and screening tools. A value is never folded: readers break words at the fold. What
 * became of a paper and the tags of its insights are keywords; `L1` is the PDF.
 */
export const risOf = (works: readonly CitedWork[]): string => works.map(entry).join("");

function entry(work: CitedWork): string {
  const { date = [], pages } = work;
  const [first, last] = pages?.split(/ ?[-–—]+ ?/) ?? [];
  const inVolume = work.kind !== "preprint" && work.kind !== "other";
  const tags: [string, string | undefined][] = [
    ["TY", types[work.kind]],
    ...work.authors.map((name): [string, string] => ["AU", authorText(name)]),
    ["TI", work.title],
    ["AB", work.abstract],
    [work.kind === "article" ? "JO" : "T2", work.venue],
    ["VL", inVolume ? work.volume : undefined],
    ["IS", inVolume ? work.issue : undefined],
    ["SP", inVolume ? first : undefined],
    ["EP", inVolume ? last : undefined],
    ["PY", work.year === undefined ? undefined : String(work.year).padStart(4, "0")],
    ["DA", date.length > 1 ? `${date.map((part) => String(part).padStart(2, "0")).join("/")}` : undefined],
    ["DO", work.doi],
    ["UR", work.url],
    ["L1", work.pdf],
    ...[work.decision, ...work.tags].map((word): [string, string | undefined] => ["KW", word]),
    ["N1", [work.retracted ? "Retracted." : "", `research-ralph: ${work.id}`].filter(Boolean).join(" ")],
    ["ID", work.key],
  ];
  const lines = tags.filter(([, value]) => value !== undefined && value !== "");
  return `${lines.map(([tag, value]) => `${tag}  - ${value}\r\n`).join("")}ER  - \r\n\r\n`;
}

/** "van der Berg, Jan, Jr."; readers split at commas, so that a group's name has none. */
function authorText(name: AuthorName): string {
  if ("literal" in name) return withoutCommas(name.literal);
  const { family, given, particle, suffix } = name;
  const last = withoutCommas(particle === undefined ? family : `${particle} ${family}`);
  return [last, given, suffix].filter((part) => part !== undefined).join(", ");
}

const withoutCommas = (text: string): string => text.replace(/ ?, ?/g, " ").trim();
