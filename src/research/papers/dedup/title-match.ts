import { normalTitle } from "../normalise-title.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** The parts of a title, for comparisons with many titles. */
export interface TitleParts {
  readonly words: readonly string[];
  /** The words without spaces, because hyphens and spaces differ between sources. */
  readonly compact: string;
  /** `compact` without abbreviations in brackets, such as "(aHUS)", which some databases remove. */
  readonly withoutAbbreviations?: string;
  /** Titles within the title, without spaces: the original title and its translation, or the part after a heading. */
  readonly innerTitles: readonly string[];
  /** The part before the subtitle, without spaces. */
  readonly beforeSubtitle?: string;
  /** The part before the first colon, without spaces: a heading or the title. */
  readonly beforeColon?: string;
  /** The first letters of the words, which are equal in other spellings. */
  readonly initials: string;
  /** The numbers of the work within a series: "2" for "Part II". */
  readonly partNumber?: string;
  /** Whether many works have this title: "Editorial", "Introduction to the minitrack …". */
  readonly isGeneric: boolean;
  /** Whether it is about another work: a correction, a reply, a review. */
  readonly isNotice: boolean;
  /** Whether it is a correction. `words` are then those of the corrected title. */
  readonly isCorrection: boolean;
  /** Whether it is a record of several letters: "(multiple letters) [1]". */
  readonly isLetterExchange: boolean;
  /** For a reply ("… - Reply"), the title of the other work, without spaces. */
  readonly repliedTitle?: string;
  /** The kind of text by a note of a database: "… [abstract]", "… [letter; comment]". */
  readonly textKind?: "abstract" | "letter";
  /** Whether its end is missing: it ends with dots. */
  readonly isCutOff: boolean;
  /** Whether it is so short that other works can have it too. */
  readonly isShort: boolean;
}

/**
 * Notes that databases add after a title: "[Review] [33 refs]", "(Provisional record)", "[Chinese]".
 */
const databaseNote =
  /[.\s]*(?:[[(](?:\d+ ref(?:erence)?s?\b[^\])]*|(?:systematic |cochrane )?review|see comments?|corrected(?: and republished)?|(?:provisional|structured|brief) (?:record|abstract)|(?:retracted|withdrawn) (?:article|paper|chapter)\b[^\])]*|author['\u2019]?s transl(?:ation)?\.?|(?:(?:article )?in )?(?:arabic|chinese|czech|danish|dutch|finnish|french|german|hebrew|hungarian|italian|japanese|korean|norwegian|persian|polish|portuguese|russian|serbian|spanish|swedish|turkish)(?:, english abstract)?|in process citation|project(?: record)?|reprinted from\b[^\])]*)[\])]|\[(?!(?:abstract|addendum|comment|correct|corrigend|editorial|errat|letter|poster|reply|response|retract|summary|withdraw))\p{L}+(?:[,;/&] ?\p{L}+)*\])[.\s\]]*$/iu;
/** The note for several letters that Scopus stores as one record. */
const lettersNote = /(?:\[\d{1,2}\]\s?)?\((?:multiple|several|two) letters\)(?:\s?\[\d{1,2}\])?[.\s]*$/i;
const abstractNote =
  /[.\s]*[[(](?:(?:meeting|conference|poster|congress|extended) )?(?:abstracts?\b[^\])]{0,20}|poster)[\])][.\s]*$/i;
/** Medline's notes for texts without an abstract. */
const letterNote =
  /[.\s]*[[(](?:letter|editorial|comment|news)(?:[;,] ?(?:letter|editorial|comment|news))*[\])][.\s]*$/i;
/** Notes before a title: a search engine's format ("[PDF]") and the number of a congress abstract. */
const prefixNote =
  /^\s*(?:\[(?:html|pdf|book|citation|doc|b|c)\]\s*)+|^\s*(?:abstract|poster|oral presentation)\s+(?:no\.?\s*)?\p{Lu}{0,4}[-.]?\d{1,5}\s*[:.\u2013-]\s+/iu;
/** A note of Cinahl: "… including commentary by Smith J with author response". */
const withCommentary = /\s*(?:\.{3}|\u2026)\s*including commentary by\b.*$/is;
const replyNote = /[-\u2013\u2014:;.,[(]\s?(?:(?:the )?authors?['\u2019]?s? )?repl(?:y|ies)\W*$/i;
/** Notes up to the end of the title, often cut: ".[Erratum appears in J. Touch 2009 Sep;9(9):2205 Note: …". */
const endNote =
  /[.\s]*\[(?:published )?(?:errat(?:um|a)|corrections?|corrected|comments?|reply|retraction|republished|update[ds]?|summary for patients|original report|reprint(?:ed)?)(?:\]\s*\[published erratum)?(?: appears?)? (?:in|from|of)\b.*$/is;
/**
 * The reference to the corrected work in a correction: "(vol 360, pg 542, 2009)", "(Journal of Touch (2009) 360
 * (542-544))".
 */
const correctionReference =
  /\((?:vol|v)\.? ?\w+, ?(?:pp?g?|art)\.? ?\w+, ?\d{4}\)|\([^()]+\((?:19|20)\d\d\) ?\d+ ?:?\d* ?\(\w+[-–]\w+\)\)/i;
/** The beginning of such a reference at the end of a cut title. */
const cutReference = /\s*\([^()]{4,}\([^()]*$/;
const correctionPrefix =
  /^\W*(?:author |publisher )?(?:correction|corrigend\w+|errat(?:um|a))\W+(?:(?:to|for|in|of)\b\W*)?/i;
const retractedPrefix = /^\s*\[?(?:retracted|withdrawn)(?:\s+article)?\]?\s*:?\s+/i;
const noTitle =
  /^(?:|unknown|untitled|n a|title|none|null|(?:no|without|missing) title(?: \w+)?|title (?:not|un)\s?\w+|not available|sans titre|ohne titel|10 \d{4,9} .*)$/;
const noticeTitle =
  /^(?:(?:author|publisher) )?(?:correction|corrigend\w+|errat(?:um|a)|addendum|retraction|expression of concern|withdrawal notice|reply|comment|commentary|rejoinder|response|letter|book review|review of|editorial|discussion of|peer review (?:report|history|file)|(?:referee|reviewer) (?:report|comments?)|decision letter|berichtigung|rectificatif|fe de erratas)\b/;
/** Words that, added to a title, show that it is another work. */
const otherWorkWords =
  /\b(?:correction|corrigend\w+|errat(?:um|a)|addendum|retraction|concern|withdrawal|reply|comment|comments|commentary|rejoinder|response|letter|editorial|protocol|poster|abstract|summary|synopsis|highlights|update|supplement\w*|dataset|slides|appendix|rationale|design|follow|baseline|pilot|secondary|subgroups?|substudy|extension|interim|months?|years?|weeks?|days?)\b/;
/** The persons or animals that a work is about. "… in children" and "… in adults" are often two works in one issue. */
const population =
  /^(?:adolescen(?:ts?|ce)|adults?|adulthood|aged|animals?|boys?|child(?:ren|hood)?|dogs?|elderly|females?|girls?|humans?|infan(?:ts?|cy)|males?|man|men|mice|neonat(?:es?|al)|newborns?|older|pa?ediatrics?|pregnan(?:t|cy)|rabbits?|rats?|teenagers?|toddlers?|volunteers?|wom[ae]n|young(?:er)?|youths?)$/;
/** Whether words added to a title name persons or animals: "in healthy older adults". */
const namesPopulation = (addedWords: string): boolean =>
  /^(?:in|among|amongst|for|of|with)\s/.test(addedWords) &&
  addedWords
    .split(" ")
    .slice(0, 5)
    .some((word) => population.test(word));
/** Added words that show another work only if nothing else is added: "Demo: …", but not "…: a tutorial". */
const talkKind =
  /^(?:demo(?:nstration)?|tutorial|keynote|reproducibility)(?: (?:abstract|companion|paper|session|talk|track))*$/;
const genericTitle =
  /^(?:(?:guest )?editorial|(?:from|by) the editors?(?: in chief)?|in this issue|(?:guest )?editors? s? ?(?:note|introduction|comments?|page|corner|choice|desk|message)|introduction|preface|foreword|book reviews?|front matter|back matter|(?:table of )?contents|letters? to the editor|in memoriam|obituary|news|abstracts?|keynote|index|errat(?:um|a)|corrigend\w+|correction|reply|response|comment|commentary|discussion|conclusions?|announcements?|call for papers|message from .*|(?:an )?introduction to (?:the |this )?(?:special|mini ?track|track|theme|section|issue|workshop|symposium).*|(?:annual|committee) report.*|proceedings of .*|.* mini ?track|author index|list of reviewers|acknowledge?ment.*)$/;

const periodical =
  /\b(?:annals|archives|bulletin|communications|conference|congress|journal|letters|magazine|proceedings|review|reviews|symposium|transactions)\b/;

const roman: Readonly<Record<string, string>> = Object.fromEntries(
  "i ii iii iv v vi vii viii ix x xi xii".split(" ").map((numeral, index) => [numeral, String(index + 1)]),
);
const numberWords: Readonly<Record<string, string>> = {
  one: "1",
  two: "2",
  three: "3",
  four: "4",
  five: "5",
  first: "1",
  second: "2",
  third: "3",
};
const partWord =
  /\b(?:part|volume|vol|chapter|phase|stage|section|paper|study|book|episode|edition|round|number|no) (\w+)\b/g;

/**
 * The parts of a title; undefined if the text is not a title, such as "UNKNOWN" or the journal's name. `venue`: the
 * journal's name.
 */
export function titleParts(rawTitle: string, venue?: string | null): TitleParts | undefined {
  const title = shortenTitle(rawTitle);
  const withoutPrefixes = title.replace(prefixNote, "").replace(retractedPrefix, "").replace(withCommentary, "");
  const withoutDatabaseNotes = withoutNotes(withoutPrefixes.replace(abstractNote, "").replace(letterNote, ""));
  const withoutAllNotes = withoutDatabaseNotes.trim() === "" ? withoutPrefixes : withoutDatabaseNotes;
  const mainTitle = correctedTitle(withoutAllNotes) ?? withoutAllNotes;
  const normal = normalTitle(mainTitle);
  if (noTitle.test(normal) || isOnlyVenue(normal, venue)) return undefined;
  const allWords = normal.split(" ");
  // Some databases remove an article at the beginning.
  const words = allWords.length > 3 && /^(?:the|a|an)$/.test(allWords[0] ?? "") ? allWords.slice(1) : allWords;
  const partNumber = partOf(normal, words);
  const question = mainTitle.replace(replyNote, "");
  const repliedTitle = question === mainTitle ? undefined : joinWords(normalTitle(question).split(" "));
  return {
    words,
    // "and" is removed, because some sources write "&" instead.
    compact: joinWords(words) || normal,
    innerTitles: repliedTitle === undefined ? titlesIn(mainTitle) : [repliedTitle],
    initials: words.flatMap((word) => (isContentWord(word) ? [word[0]] : [])).join(""),
    ...withoutUndefined({
      partNumber,
      repliedTitle,
      withoutAbbreviations: titleWithoutAbbreviations(mainTitle),
      beforeSubtitle: headOf(mainTitle),
      beforeColon: leadOf(mainTitle),
    }),
    isLetterExchange: lettersNote.test(title),
    ...withoutUndefined({ textKind: textKindOf(title) }),
    isGeneric: genericTitle.test(normal),
    isNotice: mainTitle !== withoutAllNotes || noticeTitle.test(normal) || correctionReference.test(title),
    isCorrection: mainTitle !== withoutAllNotes,
    isCutOff: /(?:…|\.\.\.)[^\p{L}\d]*$/u.test(title),
    isShort: words.length < 3 && !unspacedScript.test(normal),
  };
}

/** Maximum number of characters that are used of a title. */
const maxTitleChars = 2_000;

/** A title without long sequences of spaces and dots, on which the patterns above would be slow. */
const shortenTitle = (title: string): string =>
  title
    .replace(/\s+/g, " ")
    .replace(/(?: ?\.){4,}/g, "...")
    .slice(0, maxTitleChars);

const textKindOf = (title: string): TitleParts["textKind"] =>
  abstractNote.test(title) ? "abstract" : letterNote.test(title) ? "letter" : undefined;

/**
 * The corrected title in the title of a correction, if it has at least four words. Databases name the corrected work in
 * several ways, before or after its title.
 */
function correctedTitle(title: string): string | undefined {
  const withoutReference = title.replace(correctionReference, "");
  const [titlePart, hasReference] = [withoutReference.replace(correctionPrefix, ""), withoutReference !== title];
  if (titlePart === withoutReference && !hasReference) return undefined;
  const correctedPart = titlePart === withoutReference ? titlePart : titlePart.replace(cutReference, "");
  const words = normalTitle(correctedPart).split(" ").length;
  // "Correction of gait after stroke" is not a correction.
  const isCorrectedTitle =
    hasReference || /^\W*(?:author |publisher )?(?:corrigend|errat(?:um|a)\b|correction\s*(?:to\b|:))/i.test(title);
  return isCorrectedTitle && words >= 4 ? correctedPart : undefined;
}

/** The part of a title before its subtitle, if it has at least four words. */
function headOf(title: string): string | undefined {
  const [beforeSubtitle = "", rest] = title.split(/\s*[:?!]\s+|\s+[-\u2013\u2014]\s+|(?<=\p{Ll}{3})\.\s+(?=\p{Lu})/u);
  const words = rest === undefined ? [] : normalTitle(beforeSubtitle).split(" ");
  return words.length < 4 ? undefined : joinWords(/^(?:the|a|an)$/.test(words[0] ?? "") ? words.slice(1) : words);
}

/** Whether the first title is the second one without its subtitle, and has at least five distinctive words. */
export const lacksSubtitle = (short: TitleParts | undefined, long: TitleParts | undefined): boolean =>
  short !== undefined &&
  long?.beforeSubtitle !== undefined &&
  short.compact === long.beforeSubtitle &&
  new Set(short.words.filter(isDistinctive)).size >= 5;

/** Whether one title is the part of the other before its first colon, of any length. "…: Part 2" is another work. */
export const isCutAtColon = (a: TitleParts, b: TitleParts): boolean =>
  [a, b].every(({ isGeneric, isNotice }) => !isGeneric && !isNotice) &&
  a.partNumber === b.partNumber &&
  (a.compact === b.beforeColon || b.compact === a.beforeColon);

function leadOf(title: string): string | undefined {
  const [beforeColon = "", rest] = title.split(/:\s/);
  return rest === undefined ? undefined : joinWords(normalTitle(beforeColon).split(" "));
}

function titleWithoutAbbreviations(title: string): string | undefined {
  const shortTitle = title.replace(/\s\((?=[^()]*\p{Lu}[^()]*\p{Lu})[\p{L}\d-]{2,9}\)(?=[\s:;,.]|$)/gu, "");
  const words = shortTitle === title ? [] : normalTitle(shortTitle).split(" ");
  return words.length < 4 ? undefined : joinWords(/^(?:the|a|an)$/.test(words[0] ?? "") ? words.slice(1) : words);
}

const joinWords = (words: readonly string[]): string =>
  words.flatMap((word) => (word === "and" ? [] : [equivalents[word] ?? word])).join("");

/** Replacements for words that databases write in several ways: numbers and abbreviations. */
const equivalents: Readonly<Record<string, string>> = {
  versus: "vs",
  ...Object.fromEntries(
    "two three four five six seven eight nine ten".split(" ").map((word, index) => [word, `${index + 2}`]),
  ),
  ...Object.fromEntries("ii iii iv".split(" ").map((numeral, index) => [numeral, `${index + 2}`])),
};

function withoutNotes(title: string): string {
  let result = (title.includes("[") ? title.replace(endNote, "") : title).replace(lettersNote, "");
  for (let previous = ""; previous !== result && /[\])][.\s]*$/.test(result);)
    [previous, result] = [result, result.replace(databaseNote, "")];
  return result.trim() === "" ? title : result;
}

/**
 * The titles within a title: "Original; translation", "Original [Translation]", "Original = Translation", or the part
 * after a heading, "Research: …".
 */
function titlesIn(title: string): readonly string[] {
  const afterHeading = /^[^:.]{3,40}[:.]\s+(?=\S)(.*)$/s.exec(title)?.[1] ?? "";
  const parts = /\S\s*[;=[\]/]\s*\S/.test(title) ? title.split(/[;=[\]/]/) : [];
  // "OP0123 …": the number of an abstract in its book.
  const afterNumber = /^\(?\p{Lu}{0,3}\d{2,5}\)?\s+(\S.*)$/su.exec(title)?.[1] ?? "";
  const allWords = [...(parts.length < 2 ? [] : parts), afterHeading, afterNumber].map((text) =>
    normalTitle(text).split(" "),
  );
  return allWords.filter((words) => words.length >= 4 || unspacedScript.test(words.join(" "))).map(joinWords);
}

/** Scripts without spaces, in which a title is one word. */
const unspacedScript = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}]{6}/u;

function isOnlyVenue(title: string, venue: string | null | undefined): boolean {
  const name = normalTitle(venue ?? "");
  // PsycINFO has the title of a book in the field for the journal.
  if (title === name && !periodical.test(name)) return false;
  const rest = name.includes(" ") ? title.replaceAll(name, " ") : title;
  return (
    rest !== title && !/\p{L}/u.test(rest.replace(/\b(?:volume|vol|issue|number|no|paper|article|the|of|and)\b/g, " "))
  );
}

function partOf(normal: string, words: readonly string[]): string | undefined {
  const partNumbers = [...normal.matchAll(partWord)].map(
    ([, number = ""]) => roman[number] ?? numberWords[number] ?? number,
  );
  const last = words.at(-1) ?? "";
  const allWords = [
    ...partNumbers.filter((number) => /^(?:\d+|[a-e])$/.test(number)),
    ...(roman[last] === undefined ? [] : [roman[last]]),
  ];
  return allWords.length === 0 ? undefined : [...new Set(allWords)].join(",");
}

/**
 * Compares two titles. `equal`: equal except for case, accents, spaces and punctuation. `near`: other spelling, or
 * without an abbreviation in brackets. `cut`: one is long and its end is missing. `longer`: one contains the other and
 * has for example an additional subtitle or translation. `less`: one or two words of one are missing in the other.
 * `alike`: most words are equal. Undefined: other titles.
 */
export function matchTitles(
  a: TitleParts,
  b: TitleParts,
): "equal" | "near" | "cut" | "longer" | "less" | "alike" | undefined {
  if (a.isCorrection !== b.isCorrection) return undefined;
  if (a.compact === b.compact) return "equal";
  if (a.partNumber !== b.partNumber && a.partNumber !== undefined && b.partNumber !== undefined) return undefined;
  if (a.isNotice !== b.isNotice) return undefined;
  const [short, long] = a.compact.length <= b.compact.length ? [a, b] : [b, a];
  const addedWords =
    short.words.length < 4 && !unspacedScript.test(short.compact) ? undefined : wordsAdded(short, long);
  if (addedWords !== undefined && isCut(short, long)) return "cut";
  if ((short.withoutAbbreviations ?? short.compact) === (long.withoutAbbreviations ?? long.compact)) return "near";
  if (long.partNumber !== short.partNumber)
    return addedWords === undefined && isNearSpelling(short, long) ? "near" : undefined;
  // Words such as "an update" usually show another work, but not on the same pages.
  if (addedWords !== undefined)
    return otherWorkWords.test(addedWords) || talkKind.test(addedWords) || namesPopulation(addedWords)
      ? "alike"
      : "longer";
  if (isNearSpelling(short, long)) return short.words.filter(isContentWord).length < 4 ? "alike" : "near";
  if (lacksWords(short, long) || lacksWords(long, short)) return "less";
  return wordSimilarity(short, long) >= minWordSimilarity ? "alike" : undefined;
}

/** Whether a title is another one without one or two words, and has at least five distinctive words. */
function lacksWords(shorter: TitleParts, longer: TitleParts): boolean {
  const missingCount = longer.words.length - shorter.words.length;
  if (missingCount < 1 || missingCount > 2 || new Set(shorter.words.filter(isDistinctive)).size < 5) return false;
  const extraWords: string[] = [];
  let position = 0;
  for (const word of longer.words)
    if (word === shorter.words[position]) position += 1;
    else extraWords.push(word);
  return (
    position === shorter.words.length &&
    !extraWords.some(
      (word) => /^\d+$|^(?:not?|non|without)$/.test(word) || otherWorkWords.test(word) || population.test(word),
    )
  );
}

/** Whether the shorter title is long and lost its end: it ends within a word or with dots. */
function isCut(short: TitleParts, long: TitleParts): boolean {
  if (!isLong(short) || !long.compact.startsWith(short.compact)) return false;
  const last = short.words.at(-1) ?? "";
  const sameWord = long.words[short.words.length - 1] ?? "";
  return (
    short.isCutOff ||
    (sameWord !== last && sameWord.startsWith(last) && !/^(?:e?s|ed)$/.test(sameWord.slice(last.length)))
  );
}

/** The additional words of the longer title; undefined if it does not contain the shorter one. */
function wordsAdded(short: TitleParts, long: TitleParts): string | undefined {
  if (long.compact.startsWith(short.compact)) return long.words.slice(short.words.length).join(" ");
  const [shortText, longText] = [` ${short.words.join(" ")} `, ` ${long.words.join(" ")} `];
  return longText.includes(shortText) ? longText.replace(shortText, " ").trim() : undefined;
}

/** Minimum similarity. Two translations of one title have about two thirds of their words in common. */
const minWordSimilarity = 0.6;

/** Similarity of two titles by their distinctive words (Dice coefficient), 0 to 1. */
function wordSimilarity(a: TitleParts, b: TitleParts): number {
  const [aWords, bWords] = [new Set(a.words.filter(isDistinctive)), new Set(b.words.filter(isDistinctive))];
  return (2 * [...aWords].filter((word) => bWords.has(word)).length) / Math.max(aWords.size + bWords.size, 1);
}

/** Whether all words are equal, except for at most two (and a third) with another spelling. */
function isNearSpelling(a: TitleParts, b: TitleParts): boolean {
  const [aWords, bWords] = [a.words.filter(isContentWord), b.words.filter(isContentWord)];
  if (aWords.length !== bWords.length || aWords.length < 2) return false;
  const differences = aWords
    .map((word, index) => [word, bWords[index] ?? ""] as const)
    .filter(([first, second]) => first !== second && americanSpelling(first) !== americanSpelling(second));
  return (
    differences.length <= Math.max(1, Math.min(2, Math.floor(aWords.length / 3))) &&
    differences.every(
      ([first, second]) => isSpelling(first, second) || isSpelling(americanSpelling(first), americanSpelling(second)),
    )
  );
}

const isContentWord = (word: string): boolean => !["a", "an", "the", "and", "of", "in", "on", "for"].includes(word);

const prefix = /^(?:hypo|hyper|intra|inter|intro|pre|post|pro|anti|under|over|micro|macro)/;

/** A word in American spelling. */
const americanSpelling = (word: string): string =>
  word
    .replace(/is(?=(?:e[ds]?|ing|ations?|ers?)$)|ys(?=(?:e[ds]?|ing|ers?)$)/, (letters) => letters.replace("s", "z"))
    .replace(/our(?=$|s$|ed$|al|ing|ful|less|able|it)/, "or")
    .replace(/([aeiou]l)l(?=(?:ed|ing|er|ers)$)/, "$1")
    .replace(/(?<=[^aeiou])re(?=s?$)/, "er")
    .replace(/(?<=^|[^aeiou])[ao]e(?=[^ao])/g, "e")
    .replace(/ogue(?=s?$)/, "og");

/**
 * Whether two words are one word with another spelling: one letter differs, or two are swapped. Not for numbers, nor
 * for "hypo" and "hyper".
 */
export function isSpelling(a: string, b: string): boolean {
  if (/\d/.test(a + b) || a[0] !== b[0] || Math.min(a.length, b.length) < 4) return false;
  const [aPrefix, bPrefix] = [prefix.exec(a)?.[0], prefix.exec(b)?.[0]];
  if (aPrefix !== undefined && bPrefix !== undefined && aPrefix !== bPrefix) return false;
  // At most one letter: "prednisone" and "prednisolone" differ in two letters and are two substances.
  return (
    distance(a, b) <= 1 ||
    hasSwappedLetters(a, b) ||
    (Math.min(a.length, b.length) >= 8 && phoneticForm(a) === phoneticForm(b))
  );
}

/** Whether two adjacent letters are swapped. */
function hasSwappedLetters(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const position = [...a].findIndex((letter, index) => letter !== b[index]);
  return (
    a[position] === b[position + 1] &&
    a[position + 1] === b[position] &&
    a.slice(position + 2) === b.slice(position + 2)
  );
}

/** A form that is equal for words with similar sounds: one vowel, no double letters. */
const phoneticForm = (word: string): string =>
  word
    .replace(/ph/g, "f")
    .replace(/[ckq]/g, "k")
    .replace(/h/g, "")
    .replace(/[aeiouy]+/g, "a")
    .replace(/(.)\1+/g, "$1");

/** The Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

const fillers = new Set("with from under using via into its their towards toward".split(" "));
const isDistinctive = (word: string): boolean => word.length > 2 && isContentWord(word) && !fillers.has(word);

/** Whether a title is so long that two works, also of the same authors, do not both have it. */
export const isLong = ({ words }: TitleParts): boolean => new Set(words.filter(isDistinctive)).size >= 7;

/** The share of distinctive words of the title with fewer ones that the other title has too, 0 to 1. */
export function sharedWords(a: TitleParts, b: TitleParts): number {
  const [aWords, bWords] = [new Set(a.words.filter(isDistinctive)), new Set(b.words.filter(isDistinctive))];
  const smaller = Math.min(aWords.size, bWords.size);
  if (smaller === 0) return a.compact === b.compact ? 1 : 0;
  return [...aWords].filter((word) => bWords.has(word)).length / smaller;
}

/**
 * Minimum share of common words. For one title with a cut subtitle it is about 0.8; for two works on one subject, 0.5.
 */
const minSharedWords = 0.75;

/**
 * Whether a found title is the searched one, because a search by title always finds something. Numbers must be equal:
 * "part 1" is not "part 2".
 */
export function isSearchedTitle(searchedTitle: string, foundTitle: string): boolean {
  const [a, b] = [wordsOf(searchedTitle), wordsOf(foundTitle)];
  if (a.size === 0 || b.size === 0) return false;
  const numbers = (words: ReadonlySet<string>) => [...words].filter((word) => /^(?:\d+|[ivx]+)$/.test(word));
  if (numbers(a).some((number) => !b.has(number)) || numbers(b).some((number) => !a.has(number))) return false;
  const commonCount = [...a].filter((word) => b.has(word)).length;
  return commonCount / (a.size + b.size - commonCount) >= minSharedWords;
}

const wordsOf = (title: string): ReadonlySet<string> => new Set(normalTitle(title).split(" ").filter(Boolean));
