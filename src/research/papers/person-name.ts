import { nameSuffix as suffix, partsOfName } from "./authors.js";

/** An author's name in its parts, as citation formats want it; or a group, whose name stays whole. */
export type AuthorName =
  | {
      readonly family: string;
      readonly given?: string;
      /** "van der", "de la": written before the family name, and left out when it is sorted. */
      readonly particle?: string;
      /** "Jr.", "III". */
      readonly suffix?: string;
    }
  | { readonly literal: string };

/** Words of the names of collaborations, institutes and companies. */
const groupWord =
  /\b(?:collaboration|consortium|group|groups|team|network|initiative|committee|council|association|society|organi[sz]ation|foundation|institute|institutes|institution|university|college|school|department|laborator(?:y|ies)|labs?|cent(?:er|re)s?|ministry|agency|office|bureau|commission|project|program(?:me)?|alliance|investigators|contributors|authors|developers|inc|ltd|llc|gmbh|corporation|corp|company)\b\.?/i;
/** Words that stand between those of a group's name and in no person's. */
const groupGlue = /(?:^the\s)|\s(?:of|for|the|and|on|in)\s|[&/\d]/i;

/** Capital particles, which belong to the family name: "Vincent Van Gogh", "Vivi De La Rue". */
const capitalParticles = new Set(
  "De Del Della Delle Di Da Dos Das Du La Los Van Von Den Der Ten Ter Vander Ver".split(" "),
);
/** In Vietnamese names Van, La and Du are given names: "Duc Van Nguyen". */
const vietnamese = new Set(
  "Nguyen Tran Le Pham Hoang Huynh Phan Vu Vo Dang Bui Do Ho Ngo Duong Ly Dinh Trinh Truong Dao Doan Lam Mai".split(
    " ",
  ),
);

/**
 * Splits a name as sources write it: "Jan van der Berg", "van der Berg, Jan", "Lee, Ann, Jr.", PubMed's "van Dijk JP".
 * A group's name, a name of one word and one in a script without spaces stay whole.
 */
export function personName(name: string): AuthorName {
  const text = name.trim().replace(/\s+/g, " ");
  const pieces = text.split(/ ?, ?/).filter((piece) => piece !== "");
  if (isGroup(text, pieces)) return { literal: text };
  const [first = "", second, third] = pieces;
  if (second === undefined) return inOneRow(first);
  const rest = third === undefined ? [second] : [second, third];
  const end = rest.find((piece) => suffix.test(piece));
  const given = rest.find((piece) => piece !== end);
  // "Ann Lee, Jr."
  if (given === undefined) return withSuffix(inOneRow(first), end);
  return withSuffix(asFamily(first, given), end);
}

/** Whether a name is that of a collaboration, an institute or a company, as a word of it says. */
export const isGroupName = (name: string): boolean => groupWord.test(name);

function isGroup(text: string, pieces: readonly string[]): boolean {
  if (pieces.length === 0 || pieces.length > 3) return true;
  if (isGroupName(text)) return true;
  if (pieces.length > 1) return pieces.length === 3 && !pieces.slice(1).some((piece) => suffix.test(piece));
  return !text.includes(" ") || groupGlue.test(text);
}

const withSuffix = (name: AuthorName, end: string | undefined): AuthorName =>
  end === undefined || "literal" in name ? name : { ...name, suffix: end };

/** A family name, which may begin with its particle. */
function asFamily(text: string, given: string): AuthorName {
  const words = text.split(" ");
  const length = words.slice(0, -1).findIndex((word) => !isParticle(word));
  const particles = length === -1 ? words.length - 1 : length;
  return {
    family: words.slice(particles).join(" "),
    given,
    ...(particles === 0 ? {} : { particle: words.slice(0, particles).join(" ") }),
  };
}

/** "Jan van der Berg", "Jan Berg Jr.", "van Dijk JP". */
function inOneRow(text: string): AuthorName {
  const words = text.split(" ");
  const last = words.at(-1) ?? "";
  if (words.length > 2 && suffix.test(last)) return withSuffix(inOneRow(words.slice(0, -1).join(" ")), last);
  const { rest, initials } = partsOfName(text);
  if (initials !== undefined) return asFamily(rest, initials);
  if (words.length === 1) return { literal: text };
  // BibTeX's rule: what stands behind the first particle is the family name; a particle is never the first word.
  const lower = words.findIndex((word, index) => index > 0 && index < words.length - 1 && isParticle(word));
  if (lower !== -1) return asFamily(words.slice(lower).join(" "), words.slice(0, lower).join(" "));
  const capital = words.findIndex((word, index) => index > 0 && index < words.length - 1 && capitalParticles.has(word));
  const from = capital === -1 || vietnamese.has(last) ? words.length - 1 : capital;
  return { family: words.slice(from).join(" "), given: words.slice(0, from).join(" ") };
}

/** A word without a capital: "van", "der", "de", "d'". */
const isParticle = (word: string): boolean => /^\p{Ll}[\p{Ll}'’]*$/u.test(word);
