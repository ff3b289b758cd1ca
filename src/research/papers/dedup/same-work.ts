import { isCutAtColon, isLong, isSpelling, lacksSubtitle, matchTitles, sharedWords } from "./title-match.js";
import { type Authors, doiStem, type MatchFeatures } from "./match-features.js";
import {
  correctedPlace,
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
 * Whether two records are one work, and why. `sure`: because of an identifier or the place in a journal, not only
 * because of the title. `apart`: the reason why they are two works, so that no third record may connect them. `maybe`:
 * this reason may be an error in a record, so that other pairs of records can outweigh it.
 */
export type Comparison =
  | { readonly same: true; readonly why: string; readonly sure?: true }
  | { readonly same: false; readonly apart?: string; readonly maybe?: true };

const notSame: Comparison = { same: false };
const differentWorks = (why: string): Comparison => ({ same: false, apart: why });
const maybeDifferent = (why: string): Comparison => ({ same: false, apart: why, maybe: true });

/** Maximum number of years between a preprint and its published version. */
const maxYearsToPrint = 3;

/**
 * Compares two records by the first of these rules that applies:
 * 1. A notice about a work, such as a correction, is another work.
 * 2. Records with a shared identifier are one work, unless titles, authors and pages show that two works have it.
 * 3. Without a shared identifier, the titles must agree. Records with two arXiv ids, two PubMed ids or other authors
 * are two works.
 * 4. Records with equal titles, volumes and first pages are one work, even with other names of the journal.
 * 5. Records with two publisher DOIs or two venues are two works; also published records with two volumes, issues or
 * pages, unless one is one or two pages in the same volume under the same long title, which is an error.
 * 6. The others are one work if title, authors and year are distinctive enough. A preprint may be some years older than
 * its article.
 */
export function compareRecords(one: MatchFeatures, other: MatchFeatures): Comparison {
  const [a, b] = [withPlaceLike(one, other), withPlaceLike(other, one)];
  if (a.isNotice !== b.isNotice) return differentWorks("one is a notice about a work");
  const sharedKey = a.keys.find((key) => b.keys.includes(key));
  if (sharedKey !== undefined) return compareWithSharedKey(a, b, sharedKey);
  if (a.title === undefined || b.title === undefined) return notSame;
  const titles = isCutOnSamePages(a, b) ? "cut" : matchTitles(a.title, b.title);
  if (titles === undefined) return isTranslation(a, b) ? translation : notSame;

  const stem = sharedStem(a, b);
  if (stem !== undefined && titles === "equal" && !isOtherEditorial(a, b))
    return { same: true, why: `versions of the DOI ${stem}`, sure: true };
  if (a.arxiv !== undefined && b.arxiv !== undefined) return differentWorks(`arXiv ${a.arxiv} and ${b.arxiv}`);
  if (a.pmid !== undefined && b.pmid !== undefined) return differentWorks(`PMID ${a.pmid} and ${b.pmid}`);

  const authors = compareAuthors(a.authors, b.authors);
  const venues = compareVenues(a.venue, b.venue);
  const areInOnePlace = haveOnePlace(a, b, titles, authors, venues);
  if (authors === "other" && !areInOnePlace) return notSame;
  const areTwoDois = a.publisherDois.length > 0 && b.publisherDois.length > 0;
  // One work can have two DOIs by an error; its other fields then agree.
  const hasExtraDoi = areInOnePlace && venues !== "other" && compareIssues(a.place, b.place) !== "other";
  if (areTwoDois && !hasExtraDoi) return differentWorks("two DOIs of publishers");
  if (areInOnePlace) return { same: true, why: `${agreementText(titles, authors)}${yearsText(a, b)}`, sure: true };
  if (titles === "alike" || authors === "other") return notSame;
  // The abstract of a talk, or a letter, is another report than the article with the same title.
  if (a.title.textKind !== b.title.textKind && !areInOneIssueOrMeeting(a, b, venues)) return notSame;
  if (titles === "less" && !isSameInIssue(a, b, authors, venues)) return notSame;
  if (venues === "other") return maybeDifferent("two venues");
  return a.isPreprint || b.isPreprint
    ? comparePreprints(a, b, titles, authors)
    : comparePublished(a, b, titles, authors, venues);
}

/**
 * Whether one title was cut at its colon, and the pages are the same. A short title alone is not distinctive enough.
 */
const isCutOnSamePages = (a: MatchFeatures, b: MatchFeatures): boolean =>
  a.title !== undefined &&
  b.title !== undefined &&
  isCutAtColon(a.title, b.title) &&
  comparePages(a.place, b.place) === "same" &&
  a.place.pages?.last === b.place.pages?.last &&
  compareVolumes(a.place, b.place) === "same" &&
  compareIssues(a.place, b.place) !== "other" &&
  compareVenues(a.venue, b.venue) === "same";

/** Whether both are in one volume of a journal, or in the proceedings of one meeting. */
const areInOneIssueOrMeeting = (a: MatchFeatures, b: MatchFeatures, venues: Likeness): boolean =>
  compareVolumes(a.place, b.place) === "same" ||
  (venues === "same" && a.venue?.sort === "meeting" && b.venue?.sort === "meeting" && yearsApart(a, b) === 0);

const translation: Comparison = {
  same: true,
  why: "the same authors and the same pages of a journal, under a title in another language",
  sure: true,
};

/**
 * Whether one title is a translation of the other: other words, but the same authors and pages of one issue. Some
 * databases translate titles. At least three pages are needed, because a page can contain several abstracts.
 */
function isTranslation(a: MatchFeatures, b: MatchFeatures): boolean {
  if (a.title === undefined || b.title === undefined || a.isNotice || isWeakTitle(a, b)) return false;
  const haveTwoIds = (name: "arxiv" | "pmid") => a[name] !== undefined && b[name] !== undefined;
  if (haveTwoIds("arxiv") || haveTwoIds("pmid") || (a.publisherDois.length > 0 && b.publisherDois.length > 0))
    return false;
  return (
    sharedWords(a.title, b.title) < 0.34 &&
    hasOneRange(a.place, b.place) &&
    hasArticleLength(a.place) &&
    a.place.pages?.letters === "" &&
    b.place.pages?.letters === "" &&
    compareVolumes(a.place, b.place) === "same" &&
    compareIssues(a.place, b.place) !== "other" &&
    compareVenues(a.venue, b.venue) !== "other" &&
    a.year !== undefined &&
    a.year === b.year &&
    a.authors.count >= 2 &&
    a.authors.count === b.authors.count &&
    [...a.authors.firstAuthorWords].some((word) => b.authors.firstAuthorWords.has(word)) &&
    compareAuthors(a.authors, b.authors) === "all"
  );
}

/** Maximum number of pages of an article. Abstracts in a supplement may have the pages of the whole supplement. */
const maxPages = 100;
const hasArticleLength = ({ pages }: MatchFeatures["place"]): boolean =>
  pages !== undefined && pages.last - pages.first < maxPages;

/**
 * The record with volume, issue and pages in the right fields, if the other record shows that they are in wrong ones.
 */
function withPlaceLike(record: MatchFeatures, other: MatchFeatures): MatchFeatures {
  const place = correctedPlace(record.place, other.place);
  return place === record.place ? record : { ...record, place };
}

type Titles = NonNullable<ReturnType<typeof matchTitles>>;
/** Whether two titles differ only in spelling or because one was cut. */
const isNearTitle = (titles: Titles): boolean => titles === "near" || titles === "cut";
type AuthorMatch = "all" | "first" | "unknown";

/** Compares two records with a shared identifier. Services have wrong identifiers, so other fields must agree too. */
function compareWithSharedKey(a: MatchFeatures, b: MatchFeatures, key: string): Comparison {
  const same: Comparison = { same: true, why: `the same ${key.startsWith("id ") ? "id" : key}`, sure: true };
  const authors = compareAuthors(a.authors, b.authors);
  if (a.title === undefined || b.title === undefined)
    return authors === "all" || authors === "first"
      ? same
      : differentWorks(`${key} stands on a record without a title`);
  const sharedShare = sharedWords(a.title, b.title);
  const [aPart, bPart] = [a.title.partNumber, b.title.partNumber];
  if (aPart !== undefined && bPart !== undefined && aPart !== bPart && sharedShare < 1)
    return differentWorks(`${key} stands on two parts`);
  const twoWorks = differentWorks(`${key} stands on two works`);
  if (a.title.isGeneric && b.title.isGeneric && authors === "other") return twoWorks;
  // The abstracts of a supplement have its DOI, and a page can contain several of them.
  const areOnOtherPages = comparePages(a.place, b.place) === "other";
  const areAbstracts = (isInSupplement(a.place) || isInSupplement(b.place)) && !hasOneRange(a.place, b.place);
  if (sharedShare < 0.8 && (areOnOtherPages || areAbstracts) && matchTitles(a.title, b.title) === undefined)
    return twoWorks;
  const minShare = { all: yearsApart(a, b) <= 1 ? 0 : 0.2, first: 0.2, unknown: 0.34, other: 0.8 }[authors];
  return sharedShare >= minShare ? same : twoWorks;
}

/**
 * Whether two records with matching titles have the same volume and first page, at most one year apart (three years if
 * all else is equal). If one title is longer, the authors must agree. If the titles are only similar, or the volume is
 * unknown or wrong, the first and last pages must be equal, because a page can contain several abstracts.
 */
function haveOnePlace(
  a: MatchFeatures,
  b: MatchFeatures,
  titles: Titles,
  authors: AuthorMatch | "other",
  venues: Likeness,
): boolean {
  if (comparePages(a.place, b.place) !== "same") return false;
  const isOneVolume = compareVolumes(a.place, b.place) === "same";
  // An error in the year: a journal does not have two volumes with one number within three years.
  const isYearError =
    isOneVolume && titles === "equal" && authors === "all" && venues !== "other" && !isWeakTitle(a, b);
  if (yearsApart(a, b) > (isYearError ? 3 : 1)) return false;
  if (isWeakTitle(a, b) && (authors === "other" || isOtherEditorial(a, b))) return false;
  const isOneRange = hasOneRange(a.place, b.place);
  if (isConferenceAbstract(a, b, titles, authors)) return true;
  if (!isOneVolume) return isOneRange && (titles === "equal" || isNearTitle(titles)) && authors === "all";
  if (titles === "equal" && authors === "other") return venues !== "other" && !areLetters(a, b);
  if (titles === "equal") return true;
  if (isNearTitle(titles)) return authors !== "other";
  if (titles === "less" && authors === "all" && a.authors.count === b.authors.count && venues !== "other") return true;
  const hasSameFirstAuthor = authors === "all" || authors === "first";
  const isOneText = isOneRange || (authors === "all" && venues === "same" && mayBeOneRange(a.place, b.place));
  return hasSameFirstAuthor && (titles === "longer" || a.isNotice || isOneText);
}

/**
 * Whether both are the abstract of a talk or poster on one page, such as "A655": one record has the meeting as its
 * venue, the other one the journal that printed it.
 */
const isConferenceAbstract = (
  a: MatchFeatures,
  b: MatchFeatures,
  titles: Titles,
  authors: AuthorMatch | "other",
): boolean =>
  titles === "equal" &&
  authors === "all" &&
  !isWeakTitle(a, b) &&
  yearsApart(a, b) === 0 &&
  (a.venue?.sort === "meeting") !== (b.venue?.sort === "meeting") &&
  a.place.pages?.letters !== "" &&
  a.place.pages?.letters === b.place.pages?.letters &&
  compareVolumes(a.place, b.place) !== "other";

/** Whether both are letters by other authors. Letters on one article have its title, and a page can contain several. */
const areLetters = (a: MatchFeatures, b: MatchFeatures): boolean =>
  isBrief(a.place) &&
  isBrief(b.place) &&
  !isSameSurname(a.authors, b.authors) &&
  ![...a.authors.words].some((word) => b.authors.words.has(word));

/** Whether both are editorials or similar texts of two issues, which can have the same title, author and page. */
const isOtherEditorial = (a: MatchFeatures, b: MatchFeatures): boolean =>
  isWeakTitle(a, b) &&
  [compareVolumes, compareIssues, comparePages].some((compare) => compare(a.place, b.place) === "other");

/**
 * Compares records of which at least one is a preprint. Its venue, volume and pages do not count, and it may be older.
 */
function comparePreprints(a: MatchFeatures, b: MatchFeatures, titles: Titles, authors: AuthorMatch): Comparison {
  const years = yearsApart(a, b);
  if (years > (authors === "all" ? maxYearsToPrint : 1)) return notSame;
  if (isWeakTitle(a, b) && (authors !== "all" || years > 1)) return notSame;
  if (titles !== "equal" && authors !== "all") return notSame;
  if (titles === "longer" && years > 1) return notSame;
  const kinds = a.isPreprint && b.isPreprint ? "two preprints" : "preprint and published version";
  return { same: true, why: `${kinds}: ${agreementText(titles, authors)}${yearsText(a, b)}` };
}

function comparePublished(
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
  if (isOneVolume && titles === "equal" && authors === "all" && isSameInVolume(a, b))
    return { same: true, why: `${agreementText(titles, authors)}, in one volume of a journal${yearsText(a, b)}` };
  if (volumes === "other" && !(pages === "same" && issues === "same")) return maybeDifferent("two volumes");
  if (issues === "other" && pages !== "same") return maybeDifferent("two issues");
  if (pages === "other") return maybeDifferent("other pages");
  if (years > 1) return notSame;
  // Societies publish texts with the same title every year.
  if (years === 1 && a.authors.isKnown && b.authors.isKnown && a.authors.isGroup !== b.authors.isGroup) return notSame;
  // A journal article can be online in one year and in an issue of the next year; a meeting's article can't.
  const isMeeting = a.venue?.sort === "meeting" || b.venue?.sort === "meeting";
  const hasLittleEvidence = isWeakTitle(a, b) || (a.authors.count === 1 && b.authors.count === 1);
  if (years === 1 && (isMeeting || authors === "first" || (hasLittleEvidence && venues !== "same"))) return notSame;
  if (isWeakTitle(a, b)) {
    if (authors !== "all" || years > 0) return notSame;
    if (venues === "unknown" && a.title?.isGeneric === true) return notSame;
  }
  const isOneIssue = pages === "same" || (volumes === "same" && issues === "same");
  if (isNearTitle(titles) && (authors === "unknown" || (years > 0 && !isOneIssue))) return notSame;
  if (titles === "longer" && !(authors === "all" && years === 0 && (isOneIssue || isSameWithSubtitle(a, b, venues))))
    return notSame;
  return { same: true, why: `${agreementText(titles, authors)}${yearsText(a, b)}` };
}

/** Whether both are by the same authors in one issue. Then a title with one or two words less is the same work. */
const isSameInIssue = (a: MatchFeatures, b: MatchFeatures, authors: AuthorMatch, venues: Likeness): boolean =>
  authors === "all" &&
  a.authors.count === b.authors.count &&
  a.authors.count > 1 &&
  venues === "same" &&
  yearsApart(a, b) === 0 &&
  compareVolumes(a.place, b.place) === "same" &&
  compareIssues(a.place, b.place) !== "other" &&
  comparePages(a.place, b.place) === "unknown";

/**
 * Whether a longer title is the same work: the same journal, the same number of authors, and either at least three
 * authors and long titles, or two authors and only a subtitle more.
 */
const isSameWithSubtitle = (a: MatchFeatures, b: MatchFeatures, venues: Likeness): boolean =>
  venues === "same" &&
  a.year !== undefined &&
  b.year !== undefined &&
  a.authors.count === b.authors.count &&
  (a.authors.count >= 3
    ? [a.title, b.title].every((title) => title !== undefined && isLong(title))
    : a.authors.count === 2 && (lacksSubtitle(a.title, b.title) || lacksSubtitle(b.title, a.title)));

/**
 * Whether records in one volume are one work in spite of other pages: a long title, several authors, and one record of
 * at most two pages, so that its place has an error. Two longer texts can be parts of a series.
 */
function isSameInVolume(a: MatchFeatures, b: MatchFeatures): boolean {
  const areDistinctive = [a.title, b.title].every((title) => title !== undefined && !title.isGeneric && isLong(title));
  const [few, many] = [Math.min(a.authors.count, b.authors.count), Math.max(a.authors.count, b.authors.count)];
  return (
    areDistinctive && few >= 2 && few / many > 0.5 && yearsApart(a, b) === 0 && (isBrief(a.place) || isBrief(b.place))
  );
}

/** Whether one of the titles is not distinctive. */
const isWeakTitle = (a: MatchFeatures, b: MatchFeatures): boolean =>
  [a.title, b.title].some((title) => title === undefined || title.isGeneric || title.isShort);

const yearsApart = (a: MatchFeatures, b: MatchFeatures): number =>
  a.year === undefined || b.year === undefined ? 0 : Math.abs(a.year - b.year);

/** The common stem of two DOIs, which are versions of one work. */
const sharedStem = (a: MatchFeatures, b: MatchFeatures): string | undefined => {
  const stems = b.keys.filter((key) => key.startsWith("doi ")).map((key) => doiStem(key.slice(4)));
  return a.keys
    .filter((key) => key.startsWith("doi "))
    .map((key) => doiStem(key.slice(4)))
    .find((stem) => stems.includes(stem));
};

/**
 * `all`: the same authors; `first`: only the first author is the same; `unknown`: one record has no authors, or only a
 * group.
 */
export function compareAuthors(a: Authors, b: Authors): AuthorMatch | "other" {
  if (!a.isKnown || !b.isKnown) return "unknown";
  // One database names a group, another one its members.
  if (a.isGroup !== b.isGroup && ![...a.words].some((word) => b.words.has(word))) return "unknown";
  const [few, many] = a.words.size <= b.words.size ? [a.words, b.words] : [b.words, a.words];
  const sharedShare = [...few].filter((word) => many.has(word)).length / Math.max(few.size, 1);
  const haveSameFirst = [...a.firstAuthorWords].some((word) => b.firstAuthorWords.has(word)) || isSameSurname(a, b);
  const isList = a.count > 1 || b.count > 1;
  // "Hall, Laura" and "Hall, Gillian".
  const haveOtherInitials =
    a.surname !== undefined &&
    a.surname === b.surname &&
    a.initial !== undefined &&
    b.initial !== undefined &&
    a.initial !== b.initial;
  if (!isList) return haveSameFirst && !haveOtherInitials ? "all" : "other";
  // Only surnames agree: half of the words.
  if (haveOtherInitials && sharedShare <= 0.5) return "other";
  if (sharedShare >= 0.5 && haveSimilarCount(a, b)) return "all";
  if (!haveSameFirst) return sharedShare >= 0.75 && few.size >= 3 ? "all" : "other";
  return Math.min(a.count, b.count) > 1 && sharedShare < 0.3 ? "other" : "first";
}

/** Whether two surnames differ only in spelling, such as "Goodhip" for "Goodship", with the same initial. */
const isSameSurname = (a: Authors, b: Authors): boolean =>
  a.surname !== undefined &&
  b.surname !== undefined &&
  a.initial !== undefined &&
  a.initial === b.initial &&
  Math.min(a.surname.length, b.surname.length) >= 6 &&
  isSpelling(a.surname, b.surname);

/** Whether the numbers of authors can be equal. Some sources cut lists, but not to a single author. */
const haveSimilarCount = (a: Authors, b: Authors): boolean =>
  a.count === b.count || Math.min(a.count, b.count) >= 2 || isUnseparatedList(a) || isUnseparatedList(b);

/** Whether several names are not separated: "Tan A.Schulze A.O'Donnell C. P.". */
const isUnseparatedList = ({ count, words }: Authors): boolean => count === 1 && words.size >= 3;

const agreementText = (titles: Titles, authors: AuthorMatch | "other"): string => {
  const title = {
    equal: "the same title",
    near: "the same title in another spelling",
    cut: "the same title, cut short in one",
    longer: "the same title, longer in one",
    less: "the same title except one or two words, the same page",
    alike: "most words of the title, the same pages",
  }[titles];
  return `${title} and ${{ all: "the same authors", first: "the same first author", unknown: "no authors to compare", other: "the same place in a journal" }[authors]}`;
};

const yearsText = (a: MatchFeatures, b: MatchFeatures): string =>
  a.year === undefined || b.year === undefined
    ? ""
    : a.year === b.year
      ? `, ${a.year}`
      : `, ${Math.min(a.year, b.year)} and ${Math.max(a.year, b.year)}`;
