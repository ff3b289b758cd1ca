import { normalTitle } from "../normalise-title.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Likeness } from "./published-place.js";

/** A journal or conference in a form that can be compared with abbreviations of it. */
export interface Venue {
  /**
   * Every name that the record gives it, each as the words that tell it from others: the name as a whole comes first.
   */
  readonly names: readonly (readonly string[])[];
  readonly sort?: "journal" | "meeting";
  /** One word that stands for several: "CHI", "Amcis 2017 Proceedings". */
  readonly acronym?: string;
  /** It is in a language that some databases write and others translate: "Zhonghua wai ke za zhi". */
  readonly isTranslated?: true;
}

const servers =
  /\b(?:arxiv|biorxiv|medrxiv|chemrxiv|techrxiv|psyarxiv|socarxiv|eartharxiv|ssrn|research square|preprints?|authorea|osf|zenodo|corr|hal)\b/;
const smallWords = new Set(
  "a an and annu at by de del della der des di du e en et for from fuer fur i in int intl la le les of og och on the to und voor with y international annual ieee acm".split(
    " ",
  ),
);
/** What every meeting is called; "workshop" stays, as a conference's workshop is not the conference. */
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
 * Series that hold many meetings, and repositories that hold everybody's papers, say nothing of where a work was
 * published.
 */
const sayNothing =
  /^(?:lecture notes in|communications in computer and information science|.*\b(?:proceedings?|conference) series\b|ceur workshop|aip conference proceedings|procedia |advances in intelligent systems|unknown|pubmed|dblp|researchgate|figshare|hal$)|\b(?:repository|dspace|eprints|scholarworks|escholarship|research (?:explorer|portal|online)|universit\w+|theses|institutional)\b/;

/** Whether a name is that of a repository for preprints, where a work waits to be published elsewhere. */
export const isPreprintServer = (name: string): boolean => servers.test(normalTitle(name));

/** Reads the name of a venue; nothing where the name says nothing. */
export function venueOf(name: string | null | undefined): Venue | undefined {
  return nameOf(name?.slice(0, maxName));
}

/** Of what is longer, the beginning is compared. */
const maxName = 500;

function nameOf(name: string | undefined): Venue | undefined {
  // Embase puts the meeting at which an abstract was shown behind the journal that printed it.
  const [printed = "", shownAt = ""] = (name ?? "").split(/(?<=\S)\s*\.\s*Conference:\s*/i);
  // PubMed tells journals of one name apart as "Presse medicale (Paris, France : 1983)"; "CHI '23" carries the year.
  const named = printed.replace(/\s*\([^()]*: ?(?:1[89]|20)\d\d\)\s*$/, "");
  // IEEE Xplore turns names round: "System Sciences (HICSS), 2012 45th Hawaii International Conference on".
  const turned = named.replace(/^([^,]+),\s*(.+\b(?:on|of|for|in))\s*$/i, "$2 $1");
  const whole = turned.replace(numberWithin, "").replace(supplement, "").replace(ofAcronym, "$1 conference");
  const plain = withoutPlace(whole).replace(/['’]\d\d\b/g, " ");
  const bare = plain.replace(/\([^)]*\)|\[[^\]]*\]/g, " ");
  const normal = normalTitle(bare.trim() === "" ? plain : bare);
  if (normal === "" || sayNothing.test(normal)) return undefined;
  const sort: Venue["sort"] = meetings.test(normal) ? "meeting" : journals.test(normal) ? "journal" : undefined;
  const tells = (word: string) =>
    !smallWords.has(word) &&
    !/^\d+(?:st|nd|rd|th)?$/.test(word) &&
    !(sort === "meeting" && (meetingWords.has(word) || ordinals.has(word)));
  const wordsOf = (text: string) => normalTitle(text).split(" ").filter(tells).map(spelt);
  const words = wordsOf(normal);
  const [only] = words;
  if (only === undefined) return undefined;
  const meeting = shownAt === "" ? [] : (venueOf(shownAt)?.names ?? []);
  // "…, Oslo", and no year behind it that tells a place from a name.
  const head = plain.includes(",") ? plain.slice(0, plain.indexOf(",")) : "";
  const beforeComma = sort === "meeting" || wordsOf(head).length >= 3 ? [head] : [];
  // "Ann Int Med" is not international.
  const internal = / int /.test(normal) ? [normal.replace(" int ", " intern ")] : [];
  const others = [...[...namesIn(plain), ...beforeComma, ...internal].map(wordsOf), ...meeting];
  const isAcronym =
    words.length === 1 &&
    only.length <= 8 &&
    (sort === "meeting" ||
      plain.split(/[^\p{L}]+/u).some((word) => word.toLowerCase() === only && capitals.test(word)));
  const seen = new Set<string>();
  const names = [words, ...others].filter((each) => {
    const text = each.join(" ");
    return text !== "" && !seen.has(text) && seen.add(text);
  });
  const isTranslated = translatedName.test(normal) || undefined;
  return { names, ...withoutUndefined({ sort, acronym: isAcronym ? only : undefined, isTranslated }) };
}

/** British and American spelling in one form: "gynaecology". */
const spelt = (word: string): string => word.replace(/(?<=[^aeiou])[ao]e(?=[^aeiou])/g, "e");

/** What printed a work beside the journal's own issues; its volume is the journal's. */
const supplement = /[\s.,:;([-]+(?:suppl(?:ement(?:um|s)?)?\.?(?: \d+)?|English (?:edition|ed\.?))[)\]]?[\s.]*$/i;

/** "In Proceedings of ICIS 2012", "Proc. HICSS". */
const ofAcronym = /^\s*(?:in:? )?proc(?:eedings|\.)?\s+(?:of\s+)?(?:the\s+)?(\p{Lu}{3,8})(?:\W+(?:19|20)\d\d)?\s*$/iu;

/** Repositories of meetings number the papers: "ICIS 2009 Proceedings. Paper 45". */
const numberWithin = /[.,;:]?\s*\b(?:paper|article) (?:no\.? ?)?\d+\W*$/i;

/** "…, Oslo, Norway, 2016" without where and when a meeting was held. */
const withoutPlace = (name: string): string =>
  name.replace(/(?:,\s*\p{Lu}[\p{L} .-]{1,40}){1,3},?\s+(?:[^,]{1,30}\s)?(?:19|20)\d\d\b.{0,20}$/u, "");

/**
 * The names within a name: its title without the subtitle ("Stroke; a journal of cerebral circulation"), and its
 * translation next to it ("Hong Kong yi xue za zhi [Hong Kong medical journal]"). A full stop ends a name only behind a
 * whole word, as those of "Am. J. Med." do not.
 */
function namesIn(name: string): string[] {
  const inBrackets = [...name.matchAll(/\[([^\]]{6,})\]|\(([^)]{6,})\)/g)].map((match) => match[1] ?? match[2] ?? "");
  const outside = name.replace(/\([^)]*\)|\[[^\]]*\]/g, " ");
  const parts = outside.split(/\s*[:;=/|]\s*|\s+[-–—]\s+|-(?=the\b)|\s+for the\s+|(?<=\p{Ll}{4})\.\s*(?=\p{Lu})/iu);
  return [...(parts.length > 1 ? parts : []), ...inCapitals(outside), ...behindOneWord(outside), ...inBrackets];
}

/** Web of Science: "J PHYSIOL-LONDON", "CANCER-AM CANCER SOC". */
const inCapitals = (name: string): string[] => {
  const [head = "", tail] = /\p{Ll}/u.test(name) ? [] : name.split(/-(.+)/);
  return tail === undefined ? [] : [head, tail];
};

/** A name of one word with its subtitle behind it: "Allergy European Journal of Allergy and Clinical Immunology". */
const behindOneWord = (name: string): string[] => {
  const [, head, tail] = /^(\p{L}+)\s+(\p{Lu}\p{L}+\s+Journal (?:of|for) .*)$/u.exec(name.trim()) ?? [];
  return head === undefined || tail === undefined || smallWords.has(head.toLowerCase()) ? [] : [head, tail];
};

/**
 * Of two names: the same venue, abbreviated or not; another one; or `unknown` where an acronym leaves it open, or where
 * only a name within agrees: "Stroke; a journal of cerebral circulation" is "Stroke", but "Circulation: Heart Failure"
 * is not "Circulation".
 */
export function compareVenues(a: Venue | undefined, b: Venue | undefined): Likeness {
  if (a === undefined || b === undefined) return "unknown";
  const [one = [], other = []] = [a.names[0], b.names[0]];
  if (isInFull(one, other)) return "same";
  if (a.acronym !== undefined || b.acronym !== undefined) {
    if (acronymMatches(a, b)) return "same";
    const areMeetings = a.acronym !== undefined && b.acronym !== undefined && a.sort === "meeting" && b.sort === a.sort;
    return areMeetings || areOfTwoSorts(a, b) ? "other" : "unknown";
  }
  if (a.names.some((name) => b.names.some((its) => isInFull(name, its) || beginsWith(name, its)))) return "unknown";
  if (areOfTwoSorts(a, b)) return "other";
  if (isShortFor(one, other)) return isBeginning(one, other) ? "unknown" : "same";
  return a.isTranslated === b.isTranslated ? "other" : "unknown";
}

/** "European Journal of Cancer Prevention" is another journal than "European Journal of Cancer". */
const isBeginning = (a: readonly string[], b: readonly string[]): boolean => {
  const length = Math.min(a.length, b.length);
  return isInFull(a.slice(0, length), b.slice(0, length));
};

const areOfTwoSorts = (a: Venue, b: Venue): boolean =>
  a.sort !== undefined && b.sort !== undefined && a.sort !== b.sort;

/** Whether two names agree word for word, abbreviated or not. */
const isInFull = (a: readonly string[], b: readonly string[]): boolean =>
  a.join("") === b.join("") || (a.length > 1 && b.length > 1 && agrees(a, b));

/** Word by word, or a word stands for several by their first letters: "Ann NY Acad Sci", "J. AIS". */
function agrees(a: readonly string[], b: readonly string[]): boolean {
  // Pairs of places up to which both names agree; a place is looked at once, however many ways lead to it.
  const places: [number, number][] = [[0, 0]];
  const seen = new Set<string>();
  for (const [i, j] of places) {
    const [one, other] = [a[i], b[j]];
    if (one === undefined && other === undefined) return true;
    if (one === undefined || other === undefined || seen.has(`${i} ${j}`)) continue;
    seen.add(`${i} ${j}`);
    if (abbreviates(one, other)) places.push([i + 1, j + 1]);
    if (standsFor(one, b, j)) places.push([i + 1, j + one.length]);
    if (standsFor(other, a, i)) places.push([i + other.length, j + 1]);
  }
  return false;
}

/** Whether a word is made of the first letters of those that begin at `from`. */
const standsFor = (word: string, words: readonly string[], from: number): boolean =>
  word.length >= 2 && [...word].every((letter, index) => words[from + index]?.[0] === letter);

/**
 * Whether one name of four words or more is how the other begins: "… public health and the nation's health"; of shorter
 * ones, such as "Journal of Neurology", other journals begin so.
 */
function beginsWith(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  return short.length >= 4 && short.every((word, index) => abbreviates(word, long[index] ?? ""));
}

/** The same where a few words of the longer one are left out: "Lancet" is not "Lancet Oncology". */
function isShortFor(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  let at = 0;
  for (const word of short) {
    const found = long.findIndex((other, index) => index >= at && abbreviates(word, other));
    if (found < 0) return false;
    at = found + 1;
  }
  return short.length / long.length > 0.7;
}

/**
 * Whether one word abbreviates the other, as "natl" does "national": the same first letter, and all letters in order.
 */
function abbreviates(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short[0] !== long[0]) return false;
  let at = 0;
  for (const letter of short) {
    at = long.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

const acronymMatches = (a: Venue, b: Venue): boolean => {
  const [acronym, other] = a.acronym === undefined ? [b.acronym, a] : [a.acronym, b];
  if (acronym === undefined) return false;
  return other.names.some((words) => {
    const initials = words.map((word) => word[0]).join("");
    // "JAMA Internal Medicine" is not "JAMA"; a meeting's name may have its acronym within.
    const isNamed = words.includes(acronym) && (words.length === 1 || other.sort === "meeting");
    return initials === acronym || initials.startsWith(acronym) || isNamed;
  });
};
