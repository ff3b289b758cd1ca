import type { Paper } from "../generated/rrd.js";
import { authorsOf, partsOfName, surnameOf } from "../papers/authors.js";
import { many } from "../../engine/lib/words.js";
import { type Reading, readingOf } from "../papers/read-depth.js";
import { isIneligible } from "../screening/eligibility/eligibility.js";
import type { Statement } from "./statements.js";

/** How well a finding is carried, counted from the papers that it rests on. */
export interface Strength {
  /** 0 to 5, shown as ●●●○○ next to its words. */
  readonly level: number;
  /** Such as "2 papers that share no author, both read in full; 1 preprint". */
  readonly says: string;
  /** Papers that the finding rests on, without retracted and excluded ones. */
  readonly papers: number;
  /** Of these, groups that share no author with one another. */
  readonly independent: number;
  /** How the papers were read, the fullest first, with how many were. */
  readonly readings: readonly (readonly [reading: Reading, papers: number])[];
  readonly published: number;
  readonly preprints: number;
  /** Quotes that code found in the text, of those it rests on. */
  readonly quotesFound: number;
  readonly quotes: number;
  readonly retracted: readonly string[];
  /** Excluded by a criterion or a person, or waiting for a person. */
  readonly excluded: readonly string[];
  /** Corrected, or under an expression of concern, since they were published. */
  readonly corrected: readonly string[];
}

/** What a paper is by the record: a preprint server or a journal; undefined where the record does not tell. */
export function publicationOf(paper: Paper): "preprint" | "published" | undefined {
  const { publication_type: type, venue, identifiers, source, volume, url } = paper;
  const says = `${type ?? ""} ${venue ?? ""}`.toLowerCase();
  const doi = identifiers?.doi ?? "";
  if (/preprint|posted-content|arxiv|biorxiv|medrxiv|ssrn|preprints\.org|techrxiv/.test(says)) return "preprint";
  if (/^10\.(?:48550|1101|64898|2139|20944|36227|31234|21203)\//.test(doi)) return "preprint";
  if (/journal|proceedings|conference|article|book|chapter/.test(says) || volume) return "published";
  if (venue?.trim() || doi !== "") return "published";
  const isArxiv = identifiers?.arxiv !== undefined || /arxiv/i.test(`${source ?? ""} ${url ?? ""}`);
  return isArxiv ? "preprint" : undefined;
}

/** What one group of authors has found is at best moderately sure, however well it is published and read. */
const mostOfOneGroup = 3;

/** What the signs of a strength count, for a reader who meets them the first time. */
export const strengthSays =
  "One ● each for: a paper that stands; a quote that was found in its text; a second paper by other authors; a third one, or one that is published; and all of them read in full, with no correction since. At most ●●●○○ where all share authors, and ●○○○○ where no quote was found.";

/** The strength of a finding, as `strengthSays`. A retracted paper carries nothing, nor does one not included. */
export function strengthOf(statement: Statement, papers: ReadonlyMap<string, Paper>): Strength {
  const ids = [...new Set([...statement.quotes.map(({ paper }) => paper.id), ...statement.papers.map(({ id }) => id)])];
  const all = ids.flatMap((id) => papers.get(id) ?? []);
  const standing = all.filter((paper) => paper.retracted !== true && !isIneligible(paper));
  const retracted = all.filter((paper) => paper.retracted === true).map(({ id }) => id);
  const excluded = all.filter((paper) => paper.retracted !== true && isIneligible(paper)).map(({ id }) => id);
  const isCorrected = ({ updates = [] }: Paper) =>
    updates.some(({ type }) => type === "correction" || type === "concern" || type === "addendum");
  const corrected = standing.filter(isCorrected).map(({ id }) => id);
  const stand = new Set(standing.map(({ id }) => id));
  const quotes = statement.quotes.filter(({ paper }) => stand.has(paper.id));
  const quotesFound = quotes.filter(({ status }) => status === "verified").length;
  const independent = groupsOf(standing);
  const theirs = standing.map(readingOf);
  const readings = readingOrder.flatMap((reading) => {
    const count = theirs.filter((each) => each === reading).length;
    return count === 0 ? [] : [[reading, count] as const];
  });
  const readInFull = theirs.filter((reading) => reading === "full" || reading === "partial").length;
  const kinds = standing.map(publicationOf);
  const published = kinds.filter((kind) => kind === "published").length;
  const preprints = kinds.filter((kind) => kind === "preprint").length;
  const points = [
    standing.length > 0,
    quotesFound > 0,
    independent > 1,
    independent > 2 || (independent > 0 && published > 0),
    standing.length > 0 && readInFull === standing.length && corrected.length === 0,
  ];
  const most = quotesFound === 0 ? Math.min(1, standing.length) : independent > 1 ? 5 : mostOfOneGroup;
  const level = Math.min(most, points.filter(Boolean).length);
  const strength = { papers: standing.length, independent, readings, published, preprints, quotesFound };
  return {
    level,
    says: says({ ...strength, retracted, excluded, corrected, quotes: quotes.length }),
    ...strength,
    quotes: quotes.length,
    retracted,
    excluded,
    corrected,
  };
}

const readingOrder: readonly Reading[] = ["full", "partial", "abstract", "title", "unrecorded", "unread"];

/** How papers were read: one alone, all of several, or some of them where `one` does not do behind their number. */
const readingWords: Readonly<Record<Reading, { readonly one: string; readonly all: string; readonly some?: string }>> =
  {
    full: { one: "read in full", all: "all read in full" },
    partial: { one: "read in part", all: "all read in part" },
    abstract: { one: "from the abstract alone", all: "from the abstracts alone" },
    title: { one: "known by its title only", all: "all known by title only", some: "known by title only" },
    unrecorded: { one: "read to an extent not recorded", all: "all read to an extent not recorded" },
    unread: { one: "not read", all: "none of them read" },
  };

function says(of: Omit<Strength, "level" | "says">): string {
  const { papers, independent, readings, published, preprints, quotesFound, quotes, retracted, excluded, corrected } =
    of;
  if (papers === 0 && excluded.length > 0) return "rests on papers that are not included";
  if (papers === 0 && retracted.length > 0) return "rests on retracted papers alone";
  if (papers === 0) return "names no source";
  const who =
    papers === 1
      ? "1 paper"
      : independent === papers
        ? `${papers} papers that share no author`
        : `${papers} papers, ${independent === 1 ? "all sharing authors" : `${independent} groups that share no author`}`;
  const depths = readings.map(([reading, count]) => {
    const { one, all, some } = readingWords[reading];
    return papers === 1 ? one : count === papers ? all : `${count} ${some ?? one}`;
  });
  const kinds = [
    ...(published > 0 ? [papers === 1 ? "published" : `${published} published`] : []),
    ...(preprints > 0 ? [papers === 1 ? "a preprint" : many(preprints, "preprint")] : []),
  ];
  return [
    [who, ...depths, ...kinds].join(", "),
    ...(quotes === 0 ? ["no quote"] : quotesFound < quotes ? [`${quotesFound} of ${many(quotes, "quote")} found`] : []),
    ...(corrected.length > 0 ? [`${many(corrected.length, "paper")} corrected since`] : []),
    ...(retracted.length > 0 ? [`${many(retracted.length, "retracted paper")} not counted`] : []),
    ...(excluded.length > 0 ? [`${many(excluded.length, "paper")} not included`] : []),
  ].join("; ");
}

/** How many groups of papers share no author with one another. Bounded by the papers of one finding. */
function groupsOf(papers: readonly Paper[]): number {
  const groups: Set<string>[] = [];
  for (const paper of papers) {
    const names = new Set(authorsOf(paper.authors).map(nameKey));
    // A paper without known authors may be anybody's: it is not a group of its own where others are.
    if (names.size === 0 && papers.length > 1) continue;
    const joined = groups.filter((group) => [...names].some((name) => group.has(name)));
    for (const group of joined) for (const name of group) names.add(name);
    groups.splice(0, groups.length, ...groups.filter((group) => !joined.includes(group)), names);
  }
  return Math.max(groups.length, papers.length > 0 ? 1 : 0);
}

/**
 * Surname and first initial: "Paré, Guy" and "G. Paré" are one author. A name that ends in letters behind a given name
 * and a surname is told apart by those too.
 */
function nameKey(author: string): string {
  const surname = surnameOf(author) ?? author.toLowerCase();
  const { rest, initials } = partsOfName(author);
  if (initials !== undefined && rest.trim().includes(" ")) return author.toLowerCase().replace(/\s+/g, " ");
  const first = (author.split(",")[1] ?? rest).trim();
  return `${surname} ${(initials ?? first).slice(0, 1).toLowerCase()}`;
}

/** ●●●○○. */
export const signs = (level: number): string => {
  const full = Math.max(0, Math.min(5, Math.round(level)));
  return "●".repeat(full) + "○".repeat(5 - full);
};

/** How sure an answer is, from what carries its findings. */
export interface Sureness {
  /** The middle of the findings' strengths in a word or two. */
  readonly words: string;
  /** Why, a clause each. */
  readonly because: readonly string[];
}

const levelWords = ["not supported", "weak", "limited", "moderate", "good", "strong"] as const;

/** What an answer's sureness is counted from. */
export interface SurenessFacts {
  readonly findings: readonly { readonly strength: Strength }[];
  /** What the papers agree on. */
  readonly agreed: readonly { readonly strength: Strength }[];
  /** The figure of quotes, where papers were read. */
  readonly quotes?: { readonly value: string; readonly label: string };
  /** How many papers of the pool are retracted. */
  readonly retracted: number;
  /** How often each paper was judged, as a clause. */
  readonly judged?: string;
}

export function surenessOf({ findings, agreed, quotes, retracted, judged }: SurenessFacts): Sureness {
  const because = [
    ...(quotes === undefined
      ? []
      : [quotes.value === "0" ? "no quotes were kept, so no claim was checked" : `${quotes.value} ${quotes.label}`]),
    ...(retracted === 0
      ? []
      : [
          `${many(retracted, "paper")} ${retracted === 1 ? "is retracted and carries" : "are retracted and carry"} nothing`,
        ]),
    ...(judged === undefined ? [] : [judged]),
  ];
  if (!findings.some(({ strength }) => strength.papers > 0))
    return {
      words: "not known",
      because: [...(findings.length === 0 ? [] : ["the findings name no papers"]), ...because],
    };
  const levels = findings.map(({ strength }) => strength.level).toSorted((a, b) => a - b);
  const middle = levels[Math.floor((levels.length - 1) / 2)] ?? 0;
  const isBySeveral = ({ strength }: { readonly strength: Strength }) => strength.independent > 1;
  const several = findings.filter(isBySeveral).length;
  const points = agreed.filter(isBySeveral).length;
  // An answer that nobody has found twice is limited, whatever each of its findings is.
  const level = several === 0 ? Math.min(middle, 2) : middle;
  const carried =
    several === 0
      ? `no finding rests on two papers by different authors${points === 0 ? "" : `, only ${many(points, "point")} of agreement ${points === 1 ? "does" : "do"}`}`
      : `${several} of ${many(findings.length, "finding")} ${several === 1 ? "rests" : "rest"} on two or more papers by different authors`;
  return { words: levelWords[level] ?? "", because: [carried, ...because] };
}

/** In plain words, for a terminal and a file: "limited: no finding rests on …". */
export const surenessText = ({ words, because }: Sureness): string =>
  `${[words, because.join("; ")].filter((part) => part !== "").join(": ")}.`;
