import { nameSuffix as suffix, partsOfName } from "./authors.js";

/** The parts of an author's name for citation formats; or the complete name of a group. */
export type AuthorName =
  | {
      readonly family: string;
      readonly given?: string;
      /** A particle such as "van der", "de la": written before the family name, but ignored in sorting. */
      readonly particle?: string;
      /** For example "Jr." or "III". */
      readonly suffix?: string;
    }
  | { readonly literal: string };

/** Words in names of collaborations, institutes and companies. */
const groupWord =
  /\b(?:collaboration|consortium|group|groups|team|network|initiative|committee|council|association|society|organi[sz]ation|foundation|institute|institutes|institution|university|college|school|department|laborator(?:y|ies)|labs?|cent(?:er|re)s?|ministry|agency|office|bureau|commission|project|program(?:me)?|alliance|investigators|contributors|authors|developers|inc|ltd|llc|gmbh|corporation|corp|company)\b\.?/i;
/** Words and characters that occur in names of groups but not of persons. */
const groupConnector = /(?:^the\s)|\s(?:of|for|the|and|on|in)\s|[&/\d]/i;

/** Particles with a capital letter. They belong to the family name: "Vincent Van Gogh", "Vivi De La Rue". */
const capitalParticles = new Set(
  "De Del Della Delle Di Da Dos Das Du La Los Van Von Den Der Ten Ter Vander Ver".split(" "),
);
/** Vietnamese surnames. In such names Van, La and Du are given names: "Duc Van Nguyen". */
const vietnameseSurnames = new Set(
  "Nguyen Tran Le Pham Hoang Huynh Phan Vu Vo Dang Bui Do Ho Ngo Duong Ly Dinh Trinh Truong Dao Doan Lam Mai".split(
    " ",
  ),
);

/**
 * Splits a name: "Jan van der Berg", "van der Berg, Jan", "Lee, Ann, Jr.", PubMed's "van Dijk JP". Names of groups,
 * names of one word and names in scripts without spaces are not split. `groups`: names of groups by their source.
 */
export function personName(name: string, groups: readonly string[] = []): AuthorName {
  const text = name.trim().replace(/\s+/g, " ");
  if (groups.includes(text)) return { literal: text };
  const pieces = text.split(/ ?, ?/).filter((piece) => piece !== "");
  if (isGroup(text, pieces)) return { literal: text };
  const [first = "", second, third] = pieces;
  if (second === undefined) return withoutComma(first);
  const otherPieces = third === undefined ? [second] : [second, third];
  const suffixText = otherPieces.find((piece) => suffix.test(piece));
  const given = otherPieces.find((piece) => piece !== suffixText);
  // For example "Ann Lee, Jr."
  if (given === undefined) return withSuffix(withoutComma(first), suffixText);
  if (suffixText !== undefined) return withSuffix(fromParts(first, given), suffixText);
  // A suffix without a comma: "Smith Jr., John", PubMed's "Smith, John 3rd". "Silva Junior" is a family name.
  const [family, familySuffix] = withoutSuffix(first);
  const [givenName, givenSuffix] = withoutSuffix(given);
  return withSuffix(fromParts(family, givenName), familySuffix ?? givenSuffix);
}

function withoutSuffix(text: string): readonly [rest: string, suffixText?: string] {
  const [, rest, last] = /^(.+) (\S+)$/.exec(text) ?? [];
  return rest !== undefined && last !== undefined && suffix.test(last) && !/^junior|^senior/i.test(last)
    ? [rest, last]
    : [text];
}

/** Whether a name would be split, if nothing says that it is a group's. */
export const looksLikePerson = (name: string): boolean => !("literal" in personName(name));

/** Whether a name contains a word for a collaboration, an institute or a company. */
export const isGroupName = (name: string): boolean => groupWord.test(name);

function isGroup(text: string, pieces: readonly string[]): boolean {
  if (pieces.length === 0 || pieces.length > 3) return true;
  if (isGroupName(text)) return true;
  if (pieces.length > 1) return pieces.length === 3 && !pieces.slice(1).some((piece) => suffix.test(piece));
  return !text.includes(" ") || groupConnector.test(withoutSuffix(text)[0]);
}

const withSuffix = (name: AuthorName, suffixText: string | undefined): AuthorName =>
  suffixText === undefined || "literal" in name ? name : { ...name, suffix: suffixText };

/** A name with this family name, which can start with a particle. */
function fromParts(text: string, given: string): AuthorName {
  const words = text.split(" ");
  const length = words.slice(0, -1).findIndex((word) => !isParticle(word));
  const particles = length === -1 ? words.length - 1 : length;
  return {
    family: words.slice(particles).join(" "),
    given,
    ...(particles === 0 ? {} : { particle: words.slice(0, particles).join(" ") }),
  };
}

/** Splits a name without a comma: "Jan van der Berg", "Jan Berg Jr.", "van Dijk JP". */
function withoutComma(text: string): AuthorName {
  const words = text.split(" ");
  const last = words.at(-1) ?? "";
  if (words.length > 2 && suffix.test(last)) return withSuffix(withoutComma(words.slice(0, -1).join(" ")), last);
  const { rest, initials } = partsOfName(text);
  if (initials !== undefined) return fromParts(rest, initials);
  if (words.length === 1) return { literal: text };
  // BibTeX's rule: the family name starts at the first particle, which is never the first word.
  const particleIndex = words.findIndex((word, index) => index > 0 && index < words.length - 1 && isParticle(word));
  if (particleIndex !== -1)
    return fromParts(words.slice(particleIndex).join(" "), words.slice(0, particleIndex).join(" "));
  const capitalIndex = words.findIndex(
    (word, index) => index > 0 && index < words.length - 1 && capitalParticles.has(word),
  );
  const familyIndex = capitalIndex === -1 || vietnameseSurnames.has(last) ? words.length - 1 : capitalIndex;
  return { family: words.slice(familyIndex).join(" "), given: words.slice(0, familyIndex).join(" ") };
}

/** Whether a word is in lower case: "van", "der", "de", "d'". */
const isParticle = (word: string): boolean => /^\p{Ll}[\p{Ll}'’]*$/u.test(word);
