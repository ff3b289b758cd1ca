import { isCutAtColon, isLong, isSpelling, lacksSubtitle, matchTitles, sharedWords } from "./title-match.js";
import { type Authors, doiStem, type MatchFeatures } from "./match-features.js";
import {
  asMeant,
  compareIssues,
  comparePages,
  compareVolumes,
  hasOneRange,
  isBrief,
  isInSupplement,
  type Likeness,
  mayBeOneRange,
} from "./published-place.js";
import { compareVenues } from "./venue.js";

/**
 * Whether two records are one work, and why. `sure`: an identifier or the place in a journal says so, not the title
 * alone. `apart`: something speaks against it, so that no third record may join them either; `maybe`: what speaks
 * against it may be a slip, so that others outweigh it.
 */
export type Comparison =
  | { readonly same: true; readonly why: string; readonly sure?: true }
  | { readonly same: false; readonly apart?: string; readonly maybe?: true };

const unlike: Comparison = { same: false };
const apart = (why: string): Comparison => ({ same: false, apart: why });
const maybeApart = (why: string): Comparison => ({ same: false, apart: why, maybe: true });

/** Years between a preprint and what became of it. */
const maxYearsToPrint = 3;

/**
 * Compares two records, by the first of these rules that says anything:
 * 1. A notice about a work, such as a correction, is another work.
 * 2. A shared identifier makes one work, unless titles, authors and pages say that it was given to two.
 * 3. Without one the titles must agree; and two arXiv papers, two papers of PubMed and works of other authors stay
 *    apart.
 * 4. The same volume and first page make one work of one title, however its journal is called.
 * 5. Two DOIs of publishers and two venues stay apart; of published records also two volumes, issues or pages, unless
 *    one is a page or two of the same volume under the same long title, which is a slip.
 * 6. What is left is one work if title, authors and year tell enough; a preprint may be some years older than its
 *    article.
 */
export function compareRecords(one: MatchFeatures, other: MatchFeatures): Comparison {
  const [a, b] = [inPlace(one, other), inPlace(other, one)];
  if (a.notice !== b.notice) return apart("one is a notice about a work");
  const shared = a.keys.find((key) => b.keys.includes(key));
  if (shared !== undefined) return onOneKey(a, b, shared);
  if (a.title === undefined || b.title === undefined) return unlike;
  const titles = isCutInPlace(a, b) ? "cut" : matchTitles(a.title, b.title);
  if (titles === undefined) return isTranslated(a, b) ? translated : unlike;

  const stem = sharedStem(a, b);
  if (stem !== undefined && titles === "equal" && !isOtherEditorial(a, b))
    return { same: true, why: `versions of the DOI ${stem}`, sure: true };
  if (a.arxiv !== undefined && b.arxiv !== undefined) return apart(`arXiv ${a.arxiv} and ${b.arxiv}`);
  if (a.pmid !== undefined && b.pmid !== undefined) return apart(`PMID ${a.pmid} and ${b.pmid}`);

  const authors = compareAuthors(a.authors, b.authors);
  const venues = compareVenues(a.venue, b.venue);
  const isInPlace = standInOnePlace(a, b, titles, authors, venues);
  if (authors === "other" && !isInPlace) return unlike;
  const areTwoDois = a.published.length > 0 && b.published.length > 0;
  // Such a work has one DOI too many.
  const isOneTooMany = isInPlace && venues !== "other" && compareIssues(a.place, b.place) !== "other";
  if (areTwoDois && !isOneTooMany) return apart("two DOIs of publishers");
  if (isInPlace) return { same: true, why: `${said(titles, authors)}${yearsSaid(a, b)}`, sure: true };
  if (titles === "alike" || authors === "other") return unlike;
  // The abstract of a talk is another report than the article that came of it, and so is a letter under its title.
  if (a.title.marked !== b.title.marked && !standTogether(a, b, venues)) return unlike;
  if (titles === "less" && !isOneIssueOf(a, b, authors, venues)) return unlike;
  if (venues === "other") return maybeApart("two venues");
  return a.preprint || b.preprint ? asVersions(a, b, titles, authors) : asPublished(a, b, titles, authors, venues);
}

/** A title that was cut at its colon, on the same pages of one volume: a short one tells too little by itself. */
const isCutInPlace = (a: MatchFeatures, b: MatchFeatures): boolean =>
  a.title !== undefined &&
  b.title !== undefined &&
  isCutAtColon(a.title, b.title) &&
  comparePages(a.place, b.place) === "same" &&
  a.place.pages?.last === b.place.pages?.last &&
  compareVolumes(a.place, b.place) === "same" &&
  compareIssues(a.place, b.place) !== "other" &&
  compareVenues(a.venue, b.venue) === "same";

/** One volume of a journal, or the proceedings of one meeting. */
const standTogether = (a: MatchFeatures, b: MatchFeatures, venues: Likeness): boolean =>
  compareVolumes(a.place, b.place) === "same" ||
  (venues === "same" && a.venue?.sort === "meeting" && b.venue?.sort === "meeting" && yearsApart(a, b) === 0);

const translated: Comparison = {
  same: true,
  why: "the same authors and the same pages of a journal, under a title in another language",
  sure: true,
};

/**
 * Titles that share next to nothing, on the same pages of one issue, by the same authors: databases translate a title
 * or keep it in its language. Abstracts, of which several may stand on a page, take up less.
 */
function isTranslated(a: MatchFeatures, b: MatchFeatures): boolean {
  if (a.title === undefined || b.title === undefined || a.notice || isWeak(a, b)) return false;
  const areIdsOther = (name: "arxiv" | "pmid") => a[name] !== undefined && b[name] !== undefined;
  if (areIdsOther("arxiv") || areIdsOther("pmid") || (a.published.length > 0 && b.published.length > 0)) return false;
  return (
    sharedWords(a.title, b.title) < 0.34 &&
    hasOneRange(a.place, b.place) &&
    isOfArticle(a.place) &&
    a.place.pages?.letters === "" &&
    b.place.pages?.letters === "" &&
    compareVolumes(a.place, b.place) === "same" &&
    compareIssues(a.place, b.place) !== "other" &&
    compareVenues(a.venue, b.venue) !== "other" &&
    a.year !== undefined &&
    a.year === b.year &&
    a.authors.count >= 2 &&
    a.authors.count === b.authors.count &&
    [...a.authors.first].some((word) => b.authors.first.has(word)) &&
    compareAuthors(a.authors, b.authors) === "all"
  );
}

/** Most pages of one article; a supplement's abstracts may carry the pages of the whole. */
const maxPages = 100;
const isOfArticle = ({ pages }: MatchFeatures["place"]): boolean =>
  pages !== undefined && pages.last - pages.first < maxPages;

/** A record with volume, issue and pages in the columns that the other one shows to be theirs. */
function inPlace(record: MatchFeatures, other: MatchFeatures): MatchFeatures {
  const place = asMeant(record.place, other.place);
  return place === record.place ? record : { ...record, place };
}

type Titles = NonNullable<ReturnType<typeof matchTitles>>;
/** One title, but for slips or its end. */
const isNearly = (titles: Titles): boolean => titles === "near" || titles === "cut";
type AuthorMatch = "all" | "first" | "unknown";

/** Two records with one identifier: services copy identifiers wrongly, so something else has to agree. */
function onOneKey(a: MatchFeatures, b: MatchFeatures, key: string): Comparison {
  const same: Comparison = { same: true, why: `the same ${key.startsWith("id ") ? "id" : key}`, sure: true };
  const names = compareAuthors(a.authors, b.authors);
  if (a.title === undefined || b.title === undefined)
    return names === "all" || names === "first" ? same : apart(`${key} stands on a record without a title`);
  const shared = sharedWords(a.title, b.title);
  const [part, other] = [a.title.part, b.title.part];
  if (part !== undefined && other !== undefined && part !== other && shared < 1)
    return apart(`${key} stands on two parts`);
  const areTwo = apart(`${key} stands on two works`);
  if (a.title.generic && b.title.generic && names === "other") return areTwo;
  // The abstracts of a supplement carry its one DOI, and several may stand on one page.
  const areOnOtherPages = comparePages(a.place, b.place) === "other";
  const areAbstracts = (isInSupplement(a.place) || isInSupplement(b.place)) && !hasOneRange(a.place, b.place);
  if (shared < 0.8 && (areOnOtherPages || areAbstracts) && matchTitles(a.title, b.title) === undefined) return areTwo;
  const needed = { all: yearsApart(a, b) <= 1 ? 0 : 0.2, first: 0.2, unknown: 0.34, other: 0.8 }[names];
  return shared >= needed ? same : areTwo;
}

/**
 * The same volume and first page, at most a year apart, or three where all else is the same: one work if its titles
 * agree, and the authors where one title has more than the other. Several abstracts may stand on one page, so titles
 * that are only alike need the same first and last page; so does a volume that is unknown or written wrongly.
 */
function standInOnePlace(
  a: MatchFeatures,
  b: MatchFeatures,
  titles: Titles,
  authors: AuthorMatch | "other",
  venues: Likeness,
): boolean {
  if (comparePages(a.place, b.place) !== "same") return false;
  const isOneVolume = compareVolumes(a.place, b.place) === "same";
  // A slip in the year: no journal has two volumes of one number within three years.
  const isSlip = isOneVolume && titles === "equal" && authors === "all" && venues !== "other" && !isWeak(a, b);
  if (yearsApart(a, b) > (isSlip ? 3 : 1)) return false;
  if (isWeak(a, b) && (authors === "other" || isOtherEditorial(a, b))) return false;
  const isOneRange = hasOneRange(a.place, b.place);
  if (isShownThere(a, b, titles, authors)) return true;
  if (!isOneVolume) return isOneRange && (titles === "equal" || isNearly(titles)) && authors === "all";
  if (titles === "equal" && authors === "other") return venues !== "other" && !areLetters(a, b);
  if (titles === "equal") return true;
  if (isNearly(titles)) return authors !== "other";
  if (titles === "less" && authors === "all" && a.authors.count === b.authors.count && venues !== "other") return true;
  const isNamed = authors === "all" || authors === "first";
  const isOneText = isOneRange || (authors === "all" && venues === "same" && mayBeOneRange(a.place, b.place));
  return isNamed && (titles === "longer" || a.notice || isOneText);
}

/**
 * A talk's or poster's abstract on one page, "A655", named by its meeting in one record and by the journal that printed
 * it in the other.
 */
const isShownThere = (a: MatchFeatures, b: MatchFeatures, titles: Titles, authors: AuthorMatch | "other"): boolean =>
  titles === "equal" &&
  authors === "all" &&
  !isWeak(a, b) &&
  yearsApart(a, b) === 0 &&
  (a.venue?.sort === "meeting") !== (b.venue?.sort === "meeting") &&
  a.place.pages?.letters !== "" &&
  a.place.pages?.letters === b.place.pages?.letters &&
  compareVolumes(a.place, b.place) !== "other";

/** Letters on one article carry its title, and several may stand on a page: by people of whom none wrote the other. */
const areLetters = (a: MatchFeatures, b: MatchFeatures): boolean =>
  isBrief(a.place) &&
  isBrief(b.place) &&
  !isOneName(a.authors, b.authors) &&
  ![...a.authors.words].some((word) => b.authors.words.has(word));

/** Each issue has a text of that name, by the same editor, on the same page. */
const isOtherEditorial = (a: MatchFeatures, b: MatchFeatures): boolean =>
  isWeak(a, b) &&
  [compareVolumes, compareIssues, comparePages].some((compare) => compare(a.place, b.place) === "other");

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

function asPublished(
  a: MatchFeatures,
  b: MatchFeatures,
  titles: Titles,
  authors: AuthorMatch,
  venues: Likeness,
): Comparison {
  const volumes = compareVolumes(a.place, b.place);
  const issues = compareIssues(a.place, b.place);
  const pages = comparePages(a.place, b.place);
  const years = yearsApart(a, b);
  const isOneVolume = venues === "same" && volumes === "same" && issues !== "other";
  if (isOneVolume && titles === "equal" && authors === "all" && isPageOfVolume(a, b))
    return { same: true, why: `${said(titles, authors)}, in one volume of a journal${yearsSaid(a, b)}` };
  if (volumes === "other" && !(pages === "same" && issues === "same")) return maybeApart("two volumes");
  if (issues === "other" && pages !== "same") return maybeApart("two issues");
  if (pages === "other") return maybeApart("other pages");
  if (years > 1) return unlike;
  // Societies give one title to what they issue again in the next year.
  if (years === 1 && a.authors.known && b.authors.known && a.authors.group !== b.authors.group) return unlike;
  // A journal's article may be online in one year and in an issue of the next; a meeting's may not.
  const isMeeting = a.venue?.sort === "meeting" || b.venue?.sort === "meeting";
  const tellsLittle = isWeak(a, b) || (a.authors.count === 1 && b.authors.count === 1);
  if (years === 1 && (isMeeting || authors === "first" || (tellsLittle && venues !== "same"))) return unlike;
  if (isWeak(a, b)) {
    if (authors !== "all" || years > 0) return unlike;
    if (venues === "unknown" && a.title?.generic === true) return unlike;
  }
  const isOneIssue = pages === "same" || (volumes === "same" && issues === "same");
  if (isNearly(titles) && (authors === "unknown" || (years > 0 && !isOneIssue))) return unlike;
  if (titles === "longer" && !(authors === "all" && years === 0 && (isOneIssue || isOneList(a, b, venues))))
    return unlike;
  return { same: true, why: `${said(titles, authors)}${yearsSaid(a, b)}` };
}

/** Authors do not give one issue of a journal two works of which one title has a word or two less. */
const isOneIssueOf = (a: MatchFeatures, b: MatchFeatures, authors: AuthorMatch, venues: Likeness): boolean =>
  authors === "all" &&
  a.authors.count === b.authors.count &&
  a.authors.count > 1 &&
  venues === "same" &&
  yearsApart(a, b) === 0 &&
  compareVolumes(a.place, b.place) === "same" &&
  compareIssues(a.place, b.place) !== "other" &&
  comparePages(a.place, b.place) === "unknown";

/**
 * Three authors or more do not give one journal two works in a year, of which one's long title begins the other's; nor
 * do two, where all that the other has more is its subtitle.
 */
const isOneList = (a: MatchFeatures, b: MatchFeatures, venues: Likeness): boolean =>
  venues === "same" &&
  a.year !== undefined &&
  b.year !== undefined &&
  a.authors.count === b.authors.count &&
  (a.authors.count >= 3
    ? [a.title, b.title].every((title) => title !== undefined && isLong(title))
    : a.authors.count === 2 && (lacksSubtitle(a.title, b.title) || lacksSubtitle(b.title, a.title)));

/**
 * Authors do not give one issue of a journal two works under one long title. Where one of the two records is a page or
 * two, one place has a slip; two texts of several pages may be parts of a series, and another issue may hold the
 * article of an abstract.
 */
function isPageOfVolume(a: MatchFeatures, b: MatchFeatures): boolean {
  const isTelling = [a.title, b.title].every((title) => title !== undefined && !title.generic && isLong(title));
  const [few, many] = [Math.min(a.authors.count, b.authors.count), Math.max(a.authors.count, b.authors.count)];
  return isTelling && few >= 2 && few / many > 0.5 && yearsApart(a, b) === 0 && (isBrief(a.place) || isBrief(b.place));
}

/** A title that does not tell much by itself. */
const isWeak = (a: MatchFeatures, b: MatchFeatures): boolean =>
  [a.title, b.title].some((title) => title === undefined || title.generic || title.short);

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

/**
 * `all`: the same people; `first`: the same first author, the others differ; `unknown`: one record names nobody, or
 * a group.
 */
export function compareAuthors(a: Authors, b: Authors): AuthorMatch | "other" {
  if (!a.known || !b.known) return "unknown";
  // A database names the group that others name the people of.
  if (a.group !== b.group && ![...a.words].some((word) => b.words.has(word))) return "unknown";
  const [few, many] = a.words.size <= b.words.size ? [a.words, b.words] : [b.words, a.words];
  const shared = [...few].filter((word) => many.has(word)).length / Math.max(few.size, 1);
  const sameFirst = [...a.first].some((word) => b.first.has(word)) || isOneName(a, b);
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

/** One surname with a slip of the pen in it, "Goodhip" for "Goodship", and the same initial behind it. */
const isOneName = (a: Authors, b: Authors): boolean =>
  a.surname !== undefined &&
  b.surname !== undefined &&
  a.initial !== undefined &&
  a.initial === b.initial &&
  Math.min(a.surname.length, b.surname.length) >= 6 &&
  isSpelling(a.surname, b.surname);

/** Lists are cut by some sources, but a single author next to several is another list. */
const sameCount = (a: Authors, b: Authors): boolean =>
  a.count === b.count || Math.min(a.count, b.count) >= 2 || isRunTogether(a) || isRunTogether(b);

/** "Tan A.Schulze A.O'Donnell C. P.": several names without anything between them. */
const isRunTogether = ({ count, words }: Authors): boolean => count === 1 && words.size >= 3;

const said = (titles: Titles, authors: AuthorMatch | "other"): string => {
  const title = {
    equal: "the same title",
    near: "the same title but for its spelling",
    cut: "the same title, cut short in one",
    longer: "the same title, one with more behind it",
    less: "the same title but for a word or two, the same page",
    alike: "most words of the title, the same pages",
  }[titles];
  return `${title} and ${{ all: "the same authors", first: "the same first author", unknown: "no authors to compare", other: "the same place in a journal" }[authors]}`;
};

const yearsSaid = (a: MatchFeatures, b: MatchFeatures): string =>
  a.year === undefined || b.year === undefined
    ? ""
    : a.year === b.year
      ? `, ${a.year}`
      : `, ${Math.min(a.year, b.year)} and ${Math.max(a.year, b.year)}`;
