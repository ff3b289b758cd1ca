import type { Paper } from "../generated/rrd.js";
import { authorsOf, partsOfName, surnameOf } from "../papers/authors.js";
import { quantity } from "../../engine/lib/words.js";
import { type Reading, readingOf } from "../papers/read-depth.js";
import { isIneligible } from "../screening/eligibility/eligibility.js";
import type { Statement } from "./statements.js";

/** The strength of a finding's evidence, computed from its papers. */
export interface Strength {
  /** 0 to 5, shown as ●●●○○ beside its text. */
  readonly level: number;
  /** The text, such as "2 papers that share no author, both read in full; 1 preprint". */
  readonly says: string;
  /** Number of papers, without retracted and excluded ones. */
  readonly papers: number;
  /** Number of groups of these papers that share no author. */
  readonly independent: number;
  /** How the papers were read, the most complete first, with the numbers of papers. */
  readonly readings: readonly (readonly [reading: Reading, papers: number])[];
  readonly published: number;
  readonly preprints: number;
  /** Number of cited quotes that were found in the text. */
  readonly quotesFound: number;
  readonly quotes: number;
  readonly retracted: readonly string[];
  /** Papers that are excluded by a criterion or the user, or wait for the user. */
  readonly excluded: readonly string[];
  /** Papers with a correction or an expression of concern since publication. */
  readonly corrected: readonly string[];
}

/**
 * Whether a paper is a preprint or published; undefined if unknown. Published: its record names a venue, or a service
 * knows its DOI. If no service checked the record, its DOI and its type prove nothing.
 */
function publicationOf(paper: Paper): "preprint" | "published" | undefined {
  const { publication_type: type, venue, identifiers, source, volume, url, updates_check: check } = paper;
  const typeAndVenue = `${type ?? ""} ${venue ?? ""}`.toLowerCase();
  const doi = identifiers?.doi ?? "";
  if (/preprint|posted-content|arxiv|biorxiv|medrxiv|ssrn|preprints\.org|techrxiv/.test(typeAndVenue))
    return "preprint";
  if (/^10\.(?:48550|1101|64898|2139|20944|36227|31234|21203)\//.test(doi)) return "preprint";
  const isKnown = doi !== "" && check !== undefined && check.checked_by.length > 0;
  if (venue?.trim() || volume || isKnown) return "published";
  const isArxiv = identifiers?.arxiv !== undefined || /arxiv/i.test(`${source ?? ""} ${url ?? ""}`);
  return isArxiv ? "preprint" : undefined;
}

/** The maximum level of a finding if all its papers are from one group of authors. */
const maxLevelOfOneGroup = 3;

/** The explanation of the signs for readers. */
export const strengthExplanation =
  "One ● each for: a paper that is neither retracted nor excluded; a quote that was found in its text; a second paper by other authors; a third one, or one that is published (its record names a venue, or a service knows its DOI); and all of them read in full, with no correction since. At most ●●●○○ if all papers share authors, and ●○○○○ if no quote was found.";

/** The strength of a finding, as explained in `strengthExplanation`. Retracted and excluded papers do not count. */
export function strengthOf(statement: Statement, papers: ReadonlyMap<string, Paper>): Strength {
  const ids = [...new Set([...statement.quotes.map(({ paper }) => paper.id), ...statement.papers.map(({ id }) => id)])];
  const citedPapers = ids.flatMap((id) => papers.get(id) ?? []);
  const countingPapers = citedPapers.filter((paper) => paper.retracted !== true && !isIneligible(paper));
  const retracted = citedPapers.filter((paper) => paper.retracted === true).map(({ id }) => id);
  const excluded = citedPapers.filter((paper) => paper.retracted !== true && isIneligible(paper)).map(({ id }) => id);
  const isCorrected = ({ updates = [] }: Paper) =>
    updates.some(({ type }) => type === "correction" || type === "concern" || type === "addendum");
  const corrected = countingPapers.filter(isCorrected).map(({ id }) => id);
  const countingIds = new Set(countingPapers.map(({ id }) => id));
  const quotes = statement.quotes.filter(({ paper }) => countingIds.has(paper.id));
  const quotesFound = quotes.filter(({ status }) => status === "verified").length;
  const independent = groupsOf(countingPapers);
  const paperReadings = countingPapers.map(readingOf);
  const readings = readingOrder.flatMap((reading) => {
    const count = paperReadings.filter((paperReading) => paperReading === reading).length;
    return count === 0 ? [] : [[reading, count] as const];
  });
  const readCount = paperReadings.filter((reading) => reading === "full" || reading === "partial").length;
  const kinds = countingPapers.map(publicationOf);
  const published = kinds.filter((kind) => kind === "published").length;
  const preprints = kinds.filter((kind) => kind === "preprint").length;
  const points = [
    countingPapers.length > 0,
    quotesFound > 0,
    independent > 1,
    independent > 2 || (independent > 0 && published > 0),
    countingPapers.length > 0 && readCount === countingPapers.length && corrected.length === 0,
  ];
  const maxLevel = quotesFound === 0 ? Math.min(1, countingPapers.length) : independent > 1 ? 5 : maxLevelOfOneGroup;
  const level = Math.min(maxLevel, points.filter(Boolean).length);
  const strength = { papers: countingPapers.length, independent, readings, published, preprints, quotesFound };
  return {
    level,
    says: strengthText({ ...strength, retracted, excluded, corrected, quotes: quotes.length }),
    ...strength,
    quotes: quotes.length,
    retracted,
    excluded,
    corrected,
  };
}

const readingOrder: readonly Reading[] = ["full", "partial", "abstract", "title", "unrecorded", "unread"];

/** The text for how papers were read: for one paper, for all of several, or after the number of some of them. */
const readingWords: Readonly<Record<Reading, { readonly one: string; readonly all: string; readonly some?: string }>> =
  {
    full: { one: "read in full", all: "all read in full" },
    partial: { one: "read in part", all: "all read in part" },
    abstract: { one: "from the abstract alone", all: "from the abstracts alone" },
    title: { one: "known by its title only", all: "all known by title only", some: "known by title only" },
    unrecorded: { one: "read to an extent not recorded", all: "all read to an extent not recorded" },
    unread: { one: "not read", all: "none of them read" },
  };

function strengthText(facts: Omit<Strength, "level" | "says">): string {
  const { papers, independent, readings, published, preprints, quotesFound, quotes, retracted, excluded, corrected } =
    facts;
  if (papers === 0 && excluded.length > 0) return "rests on papers that are not included";
  if (papers === 0 && retracted.length > 0) return "rests on retracted papers alone";
  if (papers === 0) return "names no source";
  const subject =
    papers === 1
      ? "1 paper"
      : independent === papers
        ? `${papers} papers that share no author`
        : `${papers} papers, ${independent === 1 ? "all sharing authors" : `${independent} groups that share no author`}`;
  const depths = readings.map(([reading, count]) => {
    const { one, all, some } = readingWords[reading];
    return papers === 1 ? one : count === papers ? all : `${count} ${some ?? one}`;
  });
  const unknown = papers - published - preprints;
  const kinds = [
    ...(published > 0 ? [papers === 1 ? "published" : `${published} published`] : []),
    ...(unknown > 0 ? [`${papers === 1 || unknown === papers ? "" : `${unknown} `}not known whether published`] : []),
    ...(preprints > 0 ? [papers === 1 ? "a preprint" : quantity(preprints, "preprint")] : []),
  ];
  return [
    [subject, ...depths, ...kinds].join(", "),
    ...(quotes === 0
      ? ["no quote"]
      : quotesFound < quotes
        ? [`${quotesFound} of ${quantity(quotes, "quote")} found`]
        : []),
    ...(corrected.length > 0 ? [`${quantity(corrected.length, "paper")} corrected since`] : []),
    ...(retracted.length > 0 ? [`${quantity(retracted.length, "retracted paper")} not counted`] : []),
    ...(excluded.length > 0 ? [`${quantity(excluded.length, "paper")} not included`] : []),
  ].join("; ");
}

/** The number of groups of papers that share no author. The number of papers of a finding is small. */
function groupsOf(papers: readonly Paper[]): number {
  const groups: Set<string>[] = [];
  for (const paper of papers) {
    const names = new Set(authorsOf(paper.authors).map(nameKey));
    // The authors of a paper may be unknown. Then it may be by the same authors as another paper, so it is not counted.
    if (names.size === 0 && papers.length > 1) continue;
    const overlapping = groups.filter((group) => [...names].some((name) => group.has(name)));
    for (const group of overlapping) for (const name of group) names.add(name);
    groups.splice(0, groups.length, ...groups.filter((group) => !overlapping.includes(group)), names);
  }
  return Math.max(groups.length, papers.length > 0 ? 1 : 0);
}

/**
 * The surname and first initial: "Paré, Guy" and "G. Paré" are the same author. If initials follow a given name and a
 * surname, the complete name is compared.
 */
function nameKey(author: string): string {
  const surname = surnameOf(author) ?? author.toLowerCase();
  const { rest, initials } = partsOfName(author);
  if (initials !== undefined && rest.trim().includes(" ")) return author.toLowerCase().replace(/\s+/g, " ");
  const first = (author.split(",")[1] ?? rest).trim();
  return `${surname} ${(initials ?? first).slice(0, 1).toLowerCase()}`;
}

/** ●●●○○. */
export const signsOf = (level: number): string => {
  const filled = Math.max(0, Math.min(5, Math.round(level)));
  return "●".repeat(filled) + "○".repeat(5 - filled);
};

/** How sure an answer is, computed from its findings. */
export interface Sureness {
  /** The median strength of the findings, in one or two words. */
  readonly words: string;
  /** The reasons, a clause each. */
  readonly because: readonly string[];
}

const levelWords = ["not supported", "weak", "limited", "moderate", "good", "strong"] as const;

/** The data for computing how sure an answer is. */
export interface SurenessFacts {
  readonly findings: readonly { readonly strength: Strength }[];
  /** The points on which the papers agree. */
  readonly agreed: readonly { readonly strength: Strength }[];
  /** The figure of quotes, if papers were read. */
  readonly quotes?: { readonly value: string; readonly label: string };
  /** Number of retracted papers in the pool. */
  readonly retracted: number;
  /** How often each paper was judged, a clause. */
  readonly judgingText?: string;
}

export function surenessOf({ findings, agreed, quotes, retracted, judgingText }: SurenessFacts): Sureness {
  const because = [
    ...(quotes === undefined
      ? []
      : [quotes.value === "0" ? "no quotes were kept, so no claim was checked" : `${quotes.value} ${quotes.label}`]),
    ...(retracted === 0
      ? []
      : [`${quantity(retracted, "paper")} ${retracted === 1 ? "is" : "are"} retracted and not counted`]),
    ...(judgingText === undefined ? [] : [judgingText]),
  ];
  if (!findings.some(({ strength }) => strength.papers > 0))
    return {
      words: "not known",
      because: [...(findings.length === 0 ? [] : ["the findings name no papers"]), ...because],
    };
  const levels = findings.map(({ strength }) => strength.level).toSorted((a, b) => a - b);
  const median = levels[Math.floor((levels.length - 1) / 2)] ?? 0;
  const isBySeveral = ({ strength }: { readonly strength: Strength }) => strength.independent > 1;
  const supportedBySeveral = findings.filter(isBySeveral).length;
  const points = agreed.filter(isBySeveral).length;
  // An answer without a finding from two groups of authors is limited at best.
  const level = supportedBySeveral === 0 ? Math.min(median, 2) : median;
  const supportText =
    supportedBySeveral === 0
      ? `no finding rests on two papers by different authors${points === 0 ? "" : `, only ${quantity(points, "point")} of agreement ${points === 1 ? "does" : "do"}`}`
      : `${supportedBySeveral} of ${quantity(findings.length, "finding")} ${supportedBySeveral === 1 ? "rests" : "rest"} on two or more papers by different authors`;
  return { words: levelWords[level] ?? "", because: [supportText, ...because] };
}

/** How sure an answer is as text, for a terminal and a file: "limited: no finding rests on …". */
export const surenessText = ({ words, because }: Sureness): string =>
  `${[words, because.join("; ")].filter((part) => part !== "").join(": ")}.`;
