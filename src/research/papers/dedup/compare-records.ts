import type { TitledPaper } from "../paper-record.js";
import { matchTitles, sharedWords } from "./title-match.js";
import { type Authors, doiStem, type MatchFeatures, matchFeaturesOf } from "./match-features.js";
import { compareVenues } from "./venue.js";

/** Whether two records are one work, and why. `apart`: something speaks against it, so that no third record may join them either. */
type Comparison = { readonly same: true; readonly why: string } | { readonly same: false; readonly apart?: string };

const unlike: Comparison = { same: false };
const apart = (why: string): Comparison => ({ same: false, apart: why });

/** Years between a preprint and what became of it. */
const maxYearsToPrint = 3;

/** Whether two records are the same work, its preprint and its published version included. */
export const samePaper = (a: TitledPaper, b: TitledPaper): boolean =>
  compareRecords(matchFeaturesOf(a), matchFeaturesOf(b)).same;

/**
 * Compares two records. A shared identifier makes them one work unless titles and authors say that it was given to two by mistake; without one
 * they need the same title, first author and year, and nothing that tells them apart: other DOIs, venues, volumes, pages or parts.
 */
export function compareRecords(a: MatchFeatures, b: MatchFeatures): Comparison {
  if (a.notice !== b.notice) return apart("one is a notice about a work");
  const shared = a.keys.find((key) => b.keys.includes(key));
  if (shared !== undefined) return onOneKey(a, b, shared);
  if (a.title === undefined || b.title === undefined) return unlike;
  const titles = matchTitles(a.title, b.title);
  if (titles === undefined) return unlike;

  const stem = sharedStem(a, b);
  if (stem !== undefined && titles === "equal") return { same: true, why: `versions of the DOI ${stem}` };
  if (a.arxiv !== undefined && b.arxiv !== undefined) return apart(`arXiv ${a.arxiv} and ${b.arxiv}`);
  if (a.pmid !== undefined && b.pmid !== undefined) return apart(`PMID ${a.pmid} and ${b.pmid}`);

  const authors = compareAuthors(a.authors, b.authors);
  if (authors === "other") return unlike;
  if (compareVenues(a.venue, b.venue) === "other") return apart("two venues");
  if (a.published.length > 0 && b.published.length > 0 && !inOnePlace(a, b)) return apart("two DOIs of publishers");
  return a.preprint || b.preprint ? asVersions(a, b, titles, authors) : asPublished(a, b, titles, authors);
}

type Titles = NonNullable<ReturnType<typeof matchTitles>>;
type AuthorMatch = "all" | "first" | "unknown";

/** Two records with one identifier: services copy identifiers wrongly, so something else has to agree. */
function onOneKey(a: MatchFeatures, b: MatchFeatures, key: string): Comparison {
  const same: Comparison = { same: true, why: `the same ${key.startsWith("id ") ? "id" : key}` };
  if (a.title === undefined || b.title === undefined) {
    const names = compareAuthors(a.authors, b.authors);
    return names === "all" || names === "first" ? same : apart(`${key} stands on a record without a title`);
  }
  if (
    a.title.part !== undefined &&
    b.title.part !== undefined &&
    a.title.part !== b.title.part &&
    sharedWords(a.title, b.title) < 1
  )
    return apart(`${key} stands on two parts`);
  const shared = sharedWords(a.title, b.title);
  const names = compareAuthors(a.authors, b.authors);
  if (a.title.generic && b.title.generic && names === "other") return apart(`${key} stands on two works`);
  const needed = { all: yearsApart(a, b) <= 1 ? 0 : 0.2, first: 0.2, unknown: 0.34, other: 0.8 }[names];
  return shared >= needed ? same : apart(`${key} stands on two works`);
}

/** At least one is a preprint: its venue, volume and pages say nothing, and years may pass until it is printed. */
function asVersions(a: MatchFeatures, b: MatchFeatures, titles: Titles, authors: AuthorMatch): Comparison {
  const years = yearsApart(a, b);
  if (years > (authors === "all" ? maxYearsToPrint : 1)) return unlike;
  if (isWeak(a, b) && (authors !== "all" || years > 1)) return unlike;
  if (titles !== "equal" && authors !== "all") return unlike;
  if (titles === "longer" && years > 1) return unlike;
  const kinds = a.preprint && b.preprint ? "two preprints" : "preprint and published version";
  return { same: true, why: `${kinds}: ${said(titles, authors)}${yearsSaid(a, b)}` };
}

function asPublished(a: MatchFeatures, b: MatchFeatures, titles: Titles, authors: AuthorMatch): Comparison {
  const [volumes, issues, pages] = [
    compare(a.volume, b.volume),
    compare(a.issue, b.issue),
    comparePages(a.firstPage, b.firstPage),
  ];
  const years = yearsApart(a, b);
  const venues = compareVenues(a.venue, b.venue);
  const printed = inOnePlace(a, b);
  if (volumes === "other" && !(pages === "same" && issues === "same")) return apart("two volumes");
  if (issues === "other" && pages !== "same") return apart("two issues");
  if (pages === "other") return apart("other pages");
  if (years > 1) return unlike;
  // A journal's article may be online in one year and in an issue of the next; a meeting's may not.
  const isMeeting = a.venue?.sort === "meeting" || b.venue?.sort === "meeting";
  if (years === 1 && !printed && (isMeeting || authors === "first" || (isWeak(a, b) && venues !== "same")))
    return unlike;
  if (
    isWeak(a, b) &&
    !(authors === "all" && years === 0 && (printed || venues !== "unknown" || a.title?.generic !== true))
  )
    return unlike;
  if (titles === "near" && (years > 0 || authors === "unknown")) return unlike;
  if (
    titles === "longer" &&
    !(authors === "all" && years === 0 && (pages === "same" || (volumes === "same" && issues === "same")))
  )
    return unlike;
  return { same: true, why: `${said(titles, authors)}${yearsSaid(a, b)}` };
}

/** The same volume and page of what may be the same journal: such a work has one DOI too many. */
const inOnePlace = (a: MatchFeatures, b: MatchFeatures): boolean =>
  compareVenues(a.venue, b.venue) !== "other" &&
  compare(a.volume, b.volume) === "same" &&
  comparePages(a.firstPage, b.firstPage) === "same";

/** A title that does not tell much by itself. */
const isWeak = (a: MatchFeatures, b: MatchFeatures): boolean =>
  [a.title, b.title].some((title) => title === undefined || title.generic || title.short);

const compare = (a: string | undefined, b: string | undefined): "same" | "other" | "unknown" =>
  a === undefined || b === undefined ? "unknown" : a === b ? "same" : "other";

/** "e123" is what others write as 123; "S12" and "P12" are two pages. */
const comparePages = (a: string | undefined, b: string | undefined): ReturnType<typeof compare> => {
  const hasLetter = [a, b].map((page) => /^\p{L}/u.test(page ?? ""));
  return hasLetter[0] === hasLetter[1]
    ? compare(a, b)
    : compare(a?.replace(/^\p{L}+/u, ""), b?.replace(/^\p{L}+/u, ""));
};

const yearsApart = (a: MatchFeatures, b: MatchFeatures): number =>
  a.year === undefined || b.year === undefined ? 0 : Math.abs(a.year - b.year);

/** The stem that versions of one DOI share. Exact DOIs are keys already. */
const sharedStem = (a: MatchFeatures, b: MatchFeatures): string | undefined => {
  const stems = b.keys.filter((key) => key.startsWith("doi ")).map((key) => doiStem(key.slice(4)));
  return a.keys
    .filter((key) => key.startsWith("doi "))
    .map((key) => doiStem(key.slice(4)))
    .find((stem) => stems.includes(stem));
};

/** `all`: the same people; `first`: the same first author, the others differ; `unknown`: one record names nobody. */
function compareAuthors(a: Authors, b: Authors): AuthorMatch | "other" {
  if (!a.known || !b.known) return "unknown";
  const [few, many] = a.words.size <= b.words.size ? [a.words, b.words] : [b.words, a.words];
  const shared = [...few].filter((word) => many.has(word)).length / Math.max(few.size, 1);
  const sameFirst = [...a.first].some((word) => b.first.has(word));
  const isList = a.count > 1 || b.count > 1;
  // "Hall, Laura" and "Hall, Gillian".
  const others =
    a.surname !== undefined &&
    a.surname === b.surname &&
    a.initial !== undefined &&
    b.initial !== undefined &&
    a.initial !== b.initial;
  if (!isList) return sameFirst && !others ? "all" : "other";
  // Surnames alone: half of all words.
  if (others && shared <= 0.5) return "other";
  if (shared >= 0.5 && sameCount(a, b)) return "all";
  if (!sameFirst) return shared >= 0.75 && few.size >= 3 ? "all" : "other";
  return Math.min(a.count, b.count) > 1 && shared < 0.3 ? "other" : "first";
}

/** Lists are cut by some sources, but a single author beside several is another list. */
const sameCount = (a: Authors, b: Authors): boolean =>
  a.count === b.count || Math.min(a.count, b.count) >= 2 || isRunTogether(a) || isRunTogether(b);

/** "Tan A.Schulze A.O'Donnell C. P.": several names without anything between them. */
const isRunTogether = ({ count, words }: Authors): boolean => count === 1 && words.size >= 3;

const said = (titles: Titles, authors: AuthorMatch): string => {
  const title = {
    equal: "the same title",
    near: "the same title but for its spelling",
    longer: "the same title, one with more behind it",
  }[titles];
  return `${title} and ${{ all: "the same authors", first: "the same first author", unknown: "no authors to compare" }[authors]}`;
};

const yearsSaid = (a: MatchFeatures, b: MatchFeatures): string =>
  a.year === undefined || b.year === undefined
    ? ""
    : a.year === b.year
      ? `, ${a.year}`
      : `, ${Math.min(a.year, b.year)} and ${Math.max(a.year, b.year)}`;
