import { normalTitle } from "../normalise-title.js";
import { given } from "../../../engine/lib/given.js";
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
}

const servers =
  /\b(?:arxiv|biorxiv|medrxiv|chemrxiv|techrxiv|psyarxiv|socarxiv|eartharxiv|ssrn|research square|preprints?|authorea|osf|zenodo|corr|hal)\b/;
const smallWords = new Set(
  "a an and annu at by de del della der des di du e en et for from i in int intl la le les of on the to und with y international annual ieee acm".split(
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
  // Embase puts the meeting at which an abstract was shown behind the journal that printed it.
  const [printed = "", shownAt = ""] = (name ?? "").split(/(?<=\S)\s*\.\s*Conference:\s*/i);
  // PubMed tells journals of one name apart as "Presse medicale (Paris, France : 1983)"; "CHI '23" carries the year.
  const named = printed.replace(/\s*\([^()]*: ?(?:1[89]|20)\d\d\)\s*$/, "");
  // IEEE Xplore turns names round: "System Sciences (HICSS), 2012 45th Hawaii International Conference on".
  const turned = named.replace(/^([^,]+),\s*(.+\b(?:on|of|for|in))\s*$/i, "$2 $1");
  const plain = withoutPlace(turned.replace(numberWithin, "")).replace(/['’]\d\d\b/g, " ");
  const bare = plain.replace(/\([^)]*\)|\[[^\]]*\]/g, " ");
  const normal = normalTitle(bare.trim() === "" ? plain : bare);
  if (normal === "" || sayNothing.test(normal)) return undefined;
  const sort: Venue["sort"] = meetings.test(normal) ? "meeting" : journals.test(normal) ? "journal" : undefined;
  const tells = (word: string) =>
    !smallWords.has(word) &&
    !/^\d+(?:st|nd|rd|th)?$/.test(word) &&
    !(sort === "meeting" && (meetingWords.has(word) || ordinals.has(word)));
  const words = normal.split(" ").filter(tells);
  const [only] = words;
  if (only === undefined) return undefined;
  const wordsOf = (text: string) => normalTitle(text).split(" ").filter(tells);
  const meeting = shownAt === "" ? [] : (venueOf(shownAt)?.names ?? []);
  // "…, Oslo", and no year behind it that tells a place from a name.
  const beforeComma = sort === "meeting" && plain.includes(",") ? [plain.slice(0, plain.indexOf(","))] : [];
  const others = [...[...namesIn(plain), ...beforeComma].map(wordsOf), ...meeting];
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
  return { names, ...given({ sort, acronym: isAcronym ? only : undefined }) };
}

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
  const parts = outside.split(/\s*[:;=/|]\s*|\s+[-–—]\s+|-(?=the\b)|(?<=\p{Ll}{4})\.\s*(?=\p{Lu})/u);
  return [...(parts.length > 1 ? parts : []), ...inBrackets];
}

/**
 * Of two names: the same venue, abbreviated or not; another one; or `unknown` where an acronym leaves it open, or where
 * only a name within agrees: "Stroke; a journal of cerebral circulation" is "Stroke", but "Circulation: Heart Failure"
 * is not "Circulation".
 */
export function compareVenues(a: Venue | undefined, b: Venue | undefined): Likeness {
  if (a === undefined || b === undefined) return "unknown";
  const [one = [], other = []] = [a.names[0], b.names[0]];
  if (isInFull(one, other)) return "same";
  if (a.acronym !== undefined || b.acronym !== undefined) return acronymMatches(a, b) ? "same" : "unknown";
  if (a.names.some((name) => b.names.some((its) => isInFull(name, its) || beginsWith(name, its)))) return "unknown";
  if (a.sort !== undefined && b.sort !== undefined && a.sort !== b.sort) return "other";
  return isShortFor(one, other) ? "same" : "other";
}

/** Whether two names agree word for word, abbreviated or not. */
const isInFull = (a: readonly string[], b: readonly string[]): boolean =>
  a.join("") === b.join("") ||
  (a.length > 1 && a.length === b.length && a.every((word, index) => abbreviates(word, b[index] ?? "")));

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
    return initials === acronym || initials.startsWith(acronym) || words.includes(acronym);
  });
};
