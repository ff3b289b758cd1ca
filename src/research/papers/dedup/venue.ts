import { normalTitle } from "../normalise-title.js";
import { given } from "../../../engine/lib/given.js";

/** A journal or conference in a form that can be compared with abbreviations of it. */
export interface Venue {
  /** Words that tell it from others. */
  readonly words: readonly string[];
  readonly sort?: "journal" | "meeting";
  /** One word in capitals, which may stand for anything: "CHI". */
  readonly acronym?: string;
}

const servers =
  /\b(?:arxiv|biorxiv|medrxiv|chemrxiv|techrxiv|psyarxiv|socarxiv|eartharxiv|ssrn|research square|preprints?|authorea|osf|zenodo|corr|hal)\b/;
const smallWords = new Set(
  "a an and at by de der des di du et for from in la le of on the to und with y international annual ieee acm".split(
    " ",
  ),
);
/** What every meeting is called; "workshop" stays, as a conference's workshop is not the conference. */
const meetingWords = new Set("proceedings proc conference conf symposium symposia meeting congress".split(" "));
const meetings =
  /\b(?:conferences?|workshops?|symposi(?:um|a)|congress|meetings?|colloqui(?:um|a)|proceedings of the (?:\d|annual|international|\w+ (?:conference|workshop|symposium)))\b/;
const journals = /\b(?:journals?|transactions|letters|annals|magazine|bulletin|quarterly|archives)\b/;

const capitals = /\p{Lu}.*\p{Lu}/u;

/** Series that hold many meetings, and repositories that hold everybody's papers, say nothing of where a work was published. */
const sayNothing =
  /^(?:lecture notes in|communications in computer and information science|.*\b(?:proceedings?|conference) series\b|ceur workshop|aip conference proceedings|procedia |advances in intelligent systems|unknown|pubmed|dblp|researchgate|figshare|hal$)|\b(?:repository|dspace|eprints|scholarworks|escholarship|research (?:explorer|portal|online)|universit\w+|theses|institutional)\b/;

/** Whether a name is that of a repository for preprints, where a work waits to be published elsewhere. */
export const isPreprintServer = (name: string): boolean => servers.test(normalTitle(name));

/** Reads the name of a venue; nothing where the name says nothing. */
export function venueOf(name: string | null | undefined): Venue | undefined {
  // "BMJ (Clinical research ed.)" and "CHI '23" carry what others leave out.
  const plain = withoutPlace(name ?? "")
    .replace(/\([^)]*\)|\[[^\]]*\]/g, " ")
    .replace(/['’]\d\d\b/g, " ");
  const normal = normalTitle(plain);
  if (normal === "" || sayNothing.test(normal)) return undefined;
  const sort: Venue["sort"] = meetings.test(normal) ? "meeting" : journals.test(normal) ? "journal" : undefined;
  const tells = (word: string) =>
    !smallWords.has(word) && !/^\d+(?:st|nd|rd|th)?$/.test(word) && !(sort === "meeting" && meetingWords.has(word));
  const words = normal.split(" ").filter(tells);
  const [only] = words;
  if (only === undefined) return undefined;
  const isAcronym =
    words.length === 1 &&
    only.length <= 8 &&
    plain.split(/[^\p{L}]+/u).some((word) => word.toLowerCase() === only && capitals.test(word));
  const acronym = isAcronym ? only : undefined;
  return { words, ...given({ sort, acronym }) };
}

/** "…, Oslo, Norway, 2016" without where and when a meeting was held. */
const withoutPlace = (name: string): string =>
  name.replace(/(?:,\s*\p{Lu}[\p{L} .-]{1,40}){1,3},?\s+(?:[^,]{1,30}\s)?(?:19|20)\d\d\b.{0,20}$/u, "");

/** Of two names: the same venue, abbreviated or not; another one; or `unknown` where an acronym leaves it open. */
export function compareVenues(a: Venue | undefined, b: Venue | undefined): "same" | "other" | "unknown" {
  if (a === undefined || b === undefined) return "unknown";
  if (a.words.join(" ") === b.words.join(" ")) return "same";
  if (a.acronym !== undefined || b.acronym !== undefined) return acronymMatches(a, b) ? "same" : "unknown";
  if (a.sort !== undefined && b.sort !== undefined && a.sort !== b.sort) return "other";
  const [short, long] = a.words.length <= b.words.length ? [a.words, b.words] : [b.words, a.words];
  let at = 0;
  let matched = 0;
  for (const word of short) {
    const found = long.findIndex((other, index) => index >= at && abbreviates(word, other));
    if (found < 0) continue;
    matched += 1;
    at = found + 1;
  }
  // "Lancet" is not "Lancet Oncology", nor "Information Systems" the "European Journal of Information Systems".
  return matched === short.length && matched / long.length > 0.7 ? "same" : "other";
}

/** Whether one word abbreviates the other, as "natl" does "national": the same first letter, and all letters in order. */
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
  const initials = other.words.map((word) => word[0]).join("");
  return initials === acronym || initials.startsWith(acronym) || other.words.includes(acronym);
};
