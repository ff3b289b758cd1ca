import { normalTitle } from "../normalise-title.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Likeness } from "./published-place.js";

/** A journal or conference in a form that can be compared with abbreviations of it. */
export interface Venue {
  /**
   * All names of the venue in the record, each as its distinctive words. The complete name is first.
   */
  readonly names: readonly (readonly string[])[];
  readonly sort?: "journal" | "meeting";
  /** The acronym, if the name is one: "CHI", "Amcis 2017 Proceedings". */
  readonly acronym?: string;
  /** Whether the name is in a language from which some databases translate: "Zhonghua wai ke za zhi". */
  readonly isTranslated?: true;
}

const servers =
  /\b(?:arxiv|biorxiv|medrxiv|chemrxiv|techrxiv|psyarxiv|socarxiv|eartharxiv|ssrn|research square|preprints?|authorea|osf|zenodo|corr|hal)\b/;
const smallWords = new Set(
  "a an and annu at by de del della der des di du e en et for from fuer fur i in int intl la le les of og och on the to und voor with y international annual ieee acm".split(
    " ",
  ),
);
/** Words in the names of all meetings. Not "workshop", because a conference's workshop is not the conference. */
const meetingWords = new Set("proceedings proc conference conf symposium symposia meeting congress".split(" "));
/** "Proceedings of the Thirty-Fifth …". */
const ordinals = new Set(
  (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth " +
    "sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth twenty thirty forty fifty"
  ).split(" "),
);
const meetings =
  /\b(?:conferences?|workshops?|symposi(?:um|a)|congress|meetings?|colloqui(?:um|a)|proceedings of the (?:\d|annual|international|\w+ (?:conference|workshop|symposium))|(?:19|20)\d\d proceedings)\b/;
const journals = /\b(?:journals?|transactions|letters|annals|magazine|bulletin|quarterly|archives)\b/;

/** Words of Chinese, Japanese and Korean names in Latin letters, and letters that are not Latin. */
const translatedName =
  /\b(?:zhonghua|zhongguo|za ?zhi|xue ?bao|yi ?xue|ke ?xue|da xue|nihon|nippon|gakkai|zasshi|igaku|rinsho|kenkyu|taehan|hanguk)\b|[^\p{Script=Latin}\p{N}\s]/u;

const capitals = /\p{Lu}.*\p{Lu}/u;

/**
 * Names of series with many meetings, and of repositories. They do not tell where a work was published.
 */
const uninformativeName =
  /^(?:lecture notes in|communications in computer and information science|.*\b(?:proceedings?|conference) series\b|ceur workshop|aip conference proceedings|procedia |advances in intelligent systems|unknown|pubmed|dblp|researchgate|figshare|hal$)|\b(?:repository|dspace|eprints|scholarworks|escholarship|research (?:explorer|portal|online)|universit\w+|theses|institutional)\b/;

/** Whether a name is that of a preprint server. */
export const isPreprintServer = (name: string): boolean => servers.test(normalTitle(name));

/** Parses the name of a venue; undefined if the name does not identify a venue. */
export function venueOf(name: string | null | undefined): Venue | undefined {
  return nameOf(name?.slice(0, maxNameChars));
}

/** Maximum characters of a name. Only the beginning of a longer name is compared. */
const maxNameChars = 500;

function nameOf(name: string | undefined): Venue | undefined {
  // Embase adds the meeting of an abstract after the journal that printed it.
  const [printedName = "", meetingName = ""] = (name ?? "").split(/(?<=\S)\s*\.\s*Conference:\s*/i);
  // PubMed adds place and year to journals with the same name: "Presse medicale (Paris, France : 1983)".
  const withoutYear = printedName.replace(/\s*\([^()]*: ?(?:1[89]|20)\d\d\)\s*$/, "");
  // IEEE Xplore has names in another order: "System Sciences (HICSS), 2012 45th Hawaii International Conference on".
  const inNaturalOrder = withoutYear.replace(/^([^,]+),\s*(.+\b(?:on|of|for|in))\s*$/i, "$2 $1");
  const withoutSupplement = inNaturalOrder
    .replace(paperNumber, "")
    .replace(supplement, "")
    .replace(acronymProceedings, "$1 conference");
  const plain = withoutPlace(withoutSupplement).replace(/['’]\d\d\b/g, " ");
  const withoutBrackets = plain.replace(/\([^)]*\)|\[[^\]]*\]/g, " ");
  const normal = normalTitle(withoutBrackets.trim() === "" ? plain : withoutBrackets);
  if (normal === "" || uninformativeName.test(normal)) return undefined;
  const sort: Venue["sort"] = meetings.test(normal) ? "meeting" : journals.test(normal) ? "journal" : undefined;
  const isDistinctive = (word: string) =>
    !smallWords.has(word) &&
    !/^\d+(?:st|nd|rd|th)?$/.test(word) &&
    !(sort === "meeting" && (meetingWords.has(word) || ordinals.has(word)));
  const wordsOf = (text: string) => normalTitle(text).split(" ").filter(isDistinctive).map(oneSpelling);
  const words = wordsOf(normal);
  const [firstWord] = words;
  if (firstWord === undefined) return undefined;
  const meeting = meetingName === "" ? [] : (venueOf(meetingName)?.names ?? []);
  // A place may follow the comma: "…, Oslo". Without a year, it can't be distinguished from a part of the name.
  const head = plain.includes(",") ? plain.slice(0, plain.indexOf(",")) : "";
  const beforeComma = sort === "meeting" || wordsOf(head).length >= 3 ? [head] : [];
  // "Int" in "Ann Int Med" is "internal", not "international".
  const withIntern = / int /.test(normal) ? [normal.replace(" int ", " intern ")] : [];
  const otherNames = [...[...namesIn(plain), ...beforeComma, ...withIntern].map(wordsOf), ...meeting];
  const isAcronym =
    words.length === 1 &&
    firstWord.length <= 8 &&
    (sort === "meeting" ||
      plain.split(/[^\p{L}]+/u).some((word) => word.toLowerCase() === firstWord && capitals.test(word)));
  const usedNames = new Set<string>();
  const names = [words, ...otherNames].filter((candidate) => {
    const text = candidate.join(" ");
    return text !== "" && !usedNames.has(text) && usedNames.add(text);
  });
  const isTranslated = translatedName.test(normal) || undefined;
  return { names, ...withoutUndefined({ sort, acronym: isAcronym ? firstWord : undefined, isTranslated }) };
}

/** British and American spelling in one form: "gynecology" for "gynaecology". */
const oneSpelling = (word: string): string => word.replace(/(?<=[^aeiou])[ao]e(?=[^aeiou])/g, "e");

/** The mark of a supplement or a translated edition, which has the volumes of the journal. */
const supplement = /[\s.,:;([-]+(?:suppl(?:ement(?:um|s)?)?\.?(?: \d+)?|English (?:edition|ed\.?))[)\]]?[\s.]*$/i;

/** "In Proceedings of ICIS 2012", "Proc. HICSS". */
const acronymProceedings =
  /^\s*(?:in:? )?proc(?:eedings|\.)?\s+(?:of\s+)?(?:the\s+)?(\p{Lu}{3,8})(?:\W+(?:19|20)\d\d)?\s*$/iu;

/** The number of a paper in a repository of meetings: "ICIS 2009 Proceedings. Paper 45". */
const paperNumber = /[.,;:]?\s*\b(?:paper|article) (?:no\.? ?)?\d+\W*$/i;

/** A name without place and year of the meeting: "…, Oslo, Norway, 2016". */
const withoutPlace = (name: string): string =>
  name.replace(/(?:,\s*\p{Lu}[\p{L} .-]{1,40}){1,3},?\s+(?:[^,]{1,30}\s)?(?:19|20)\d\d\b.{0,20}$/u, "");

/**
 * The names within a name: the part before a subtitle ("Stroke; a journal of cerebral circulation"), and a translation
 * ("Hong Kong yi xue za zhi [Hong Kong medical journal]"). A full stop ends a name only after a complete word, and not
 * after an abbreviation as in "Am. J. Med.".
 */
function namesIn(name: string): string[] {
  const inBrackets = [...name.matchAll(/\[([^\]]{6,})\]|\(([^)]{6,})\)/g)].map((match) => match[1] ?? match[2] ?? "");
  const withoutBrackets = name.replace(/\([^)]*\)|\[[^\]]*\]/g, " ");
  const parts = withoutBrackets.split(
    /\s*[:;=/|]\s*|\s+[-–—]\s+|-(?=the\b)|\s+for the\s+|(?<=\p{Ll}{4})\.\s*(?=\p{Lu})/iu,
  );
  return [
    ...(parts.length > 1 ? parts : []),
    ...splitCapitalName(withoutBrackets),
    ...splitAfterOneWord(withoutBrackets),
    ...inBrackets,
  ];
}

/** Splits names of Web of Science: "J PHYSIOL-LONDON", "CANCER-AM CANCER SOC". */
const splitCapitalName = (name: string): string[] => {
  const [head = "", tail] = /\p{Ll}/u.test(name) ? [] : name.split(/-(.+)/);
  return tail === undefined ? [] : [head, tail];
};

/** Splits a name of one word and its subtitle: "Allergy European Journal of Allergy and Clinical Immunology". */
const splitAfterOneWord = (name: string): string[] => {
  const [, head, tail] = /^(\p{L}+)\s+(\p{Lu}\p{L}+\s+Journal (?:of|for) .*)$/u.exec(name.trim()) ?? [];
  return head === undefined || tail === undefined || smallWords.has(head.toLowerCase()) ? [] : [head, tail];
};

/**
 * Compares two venues, also with abbreviated names. `unknown` if an acronym does not tell, or if only a name within the
 * name agrees: "Stroke; a journal of cerebral circulation" is "Stroke", but "Circulation: Heart Failure" is not
 * "Circulation".
 */
export function compareVenues(a: Venue | undefined, b: Venue | undefined): Likeness {
  if (a === undefined || b === undefined) return "unknown";
  const [firstName = [], secondName = []] = [a.names[0], b.names[0]];
  if (isSameName(firstName, secondName)) return "same";
  if (a.acronym !== undefined || b.acronym !== undefined) {
    if (acronymMatches(a, b)) return "same";
    const areMeetings = a.acronym !== undefined && b.acronym !== undefined && a.sort === "meeting" && b.sort === a.sort;
    return areMeetings || haveTwoSorts(a, b) ? "other" : "unknown";
  }
  if (a.names.some((name) => b.names.some((otherName) => isSameName(name, otherName) || isLongPrefix(name, otherName))))
    return "unknown";
  if (haveTwoSorts(a, b)) return "other";
  if (isShortForm(firstName, secondName)) return isPrefix(firstName, secondName) ? "unknown" : "same";
  return a.isTranslated === b.isTranslated ? "other" : "unknown";
}

/**
 * Whether one name is the beginning of the other: "European Journal of Cancer Prevention" is another journal than
 * "European Journal of Cancer".
 */
const isPrefix = (a: readonly string[], b: readonly string[]): boolean => {
  const length = Math.min(a.length, b.length);
  return isSameName(a.slice(0, length), b.slice(0, length));
};

const haveTwoSorts = (a: Venue, b: Venue): boolean => a.sort !== undefined && b.sort !== undefined && a.sort !== b.sort;

/** Whether all words of two names agree, possibly abbreviated. */
const isSameName = (a: readonly string[], b: readonly string[]): boolean =>
  a.join("") === b.join("") || (a.length > 1 && b.length > 1 && matchesByWords(a, b));

/** Whether names agree word by word. A word can be the initials of several words: "Ann NY Acad Sci", "J. AIS". */
function matchesByWords(a: readonly string[], b: readonly string[]): boolean {
  // Pairs of positions up to which both names agree. Each pair is visited once.
  const places: [number, number][] = [[0, 0]];
  const usedNames = new Set<string>();
  for (const [i, j] of places) {
    const [aWord, bWord] = [a[i], b[j]];
    if (aWord === undefined && bWord === undefined) return true;
    if (aWord === undefined || bWord === undefined || usedNames.has(`${i} ${j}`)) continue;
    usedNames.add(`${i} ${j}`);
    if (abbreviates(aWord, bWord)) places.push([i + 1, j + 1]);
    if (isMadeOfInitials(aWord, b, j)) places.push([i + 1, j + aWord.length]);
    if (isMadeOfInitials(bWord, a, i)) places.push([i + bWord.length, j + 1]);
  }
  return false;
}

/** Whether a word consists of the first letters of the words from index `from`. */
const isMadeOfInitials = (word: string, words: readonly string[], from: number): boolean =>
  word.length >= 2 && [...word].every((letter, index) => words[from + index]?.[0] === letter);

/**
 * Whether one name is the beginning of the other and has at least four words: "… public health and the nation's
 * health". Shorter names, such as "Journal of Neurology", are the beginning of other journals' names.
 */
function isLongPrefix(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  return short.length >= 4 && short.every((word, index) => abbreviates(word, long[index] ?? ""));
}

/** Whether one name is the other without a few words. "Lancet" is not "Lancet Oncology". */
function isShortForm(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  let position = 0;
  for (const word of short) {
    const wordIndex = long.findIndex((secondName, index) => index >= position && abbreviates(word, secondName));
    if (wordIndex < 0) return false;
    position = wordIndex + 1;
  }
  return short.length / long.length > 0.7;
}

/**
 * Whether one word is an abbreviation of the other, such as "natl" of "national": the same first letter, and all
 * letters in the same order.
 */
function abbreviates(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short[0] !== long[0]) return false;
  let position = 0;
  for (const letter of short) {
    position = long.indexOf(letter, position) + 1;
    if (position === 0) return false;
  }
  return true;
}

const acronymMatches = (a: Venue, b: Venue): boolean => {
  const [acronym, otherVenue] = a.acronym === undefined ? [b.acronym, a] : [a.acronym, b];
  if (acronym === undefined) return false;
  return otherVenue.names.some((words) => {
    const initials = words.map((word) => word[0]).join("");
    // "JAMA Internal Medicine" is not "JAMA"; a meeting's name may have its acronym within.
    const hasAcronym = words.includes(acronym) && (words.length === 1 || otherVenue.sort === "meeting");
    return initials === acronym || initials.startsWith(acronym) || hasAcronym;
  });
};
