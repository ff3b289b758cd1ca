import { normalTitle } from "../normalise-title.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** A title taken apart, so that it can be compared with many. */
export interface TitleParts {
  readonly words: readonly string[];
  /** The words run together: hyphens and spaces differ between sources. */
  readonly compact: string;
  /** The same without abbreviations in brackets, "(aHUS)", where it has some: not every database keeps them. */
  readonly bare?: string;
  /** Titles that stand within it, run together: the original and its translation, what stands before a subtitle. */
  readonly within: readonly string[];
  /** What stands before its subtitle, run together. */
  readonly head?: string;
  /** What stands before its first colon, run together, be it a heading or the title. */
  readonly lead?: string;
  /** First letters of its words; other spellings have the same. */
  readonly initials: string;
  /** What numbers the work within a row: "Part II" gives "part 2". */
  readonly part?: string;
  /** A title that many works carry: "Editorial", "Introduction to the minitrack …". */
  readonly generic: boolean;
  /** It is about another work: a correction, a reply, a review. */
  readonly notice: boolean;
  /** It corrects another work; its words are then those of the title that it corrects. */
  readonly corrects: boolean;
  /** A record of several letters at once: "(multiple letters) [1]". */
  readonly letters: boolean;
  /** The title that it is a reply to, run together: "… - Reply". */
  readonly answers?: string;
  /** What kind of text a database says that it is: "… [abstract]", "… [letter; comment]". */
  readonly marked?: "abstract" | "letter";
  /** Its end is missing, as its dots say. */
  readonly cut: boolean;
  /** So short that other works may well have it too. */
  readonly short: boolean;
}

/**
 * What databases write behind a title of what they know about the record, "[Review] [33 refs]", "(Provisional record)",
 * "[Chinese]". It is not part of the title.
 */
const databaseNote =
  /[.\s]*(?:[[(](?:\d+ ref(?:erence)?s?\b[^\])]*|(?:systematic |cochrane )?review|see comments?|corrected(?: and republished)?|(?:provisional|structured|brief) (?:record|abstract)|(?:retracted|withdrawn) (?:article|paper|chapter)\b[^\])]*|author['\u2019]?s transl(?:ation)?\.?|(?:(?:article )?in )?(?:arabic|chinese|czech|danish|dutch|finnish|french|german|hebrew|hungarian|italian|japanese|korean|norwegian|persian|polish|portuguese|russian|serbian|spanish|swedish|turkish)(?:, english abstract)?|in process citation|project(?: record)?|reprinted from\b[^\])]*)[\])]|\[(?!(?:abstract|addendum|comment|correct|corrigend|editorial|errat|letter|poster|reply|response|retract|summary|withdraw))\p{L}+(?:[,;/&] ?\p{L}+)*\])[.\s\]]*$/iu;
/** Scopus keeps an exchange of letters as one record. */
const lettersNote = /(?:\[\d{1,2}\]\s?)?\((?:multiple|several|two) letters\)(?:\s?\[\d{1,2}\])?[.\s]*$/i;
const abstractNote =
  /[.\s]*[[(](?:(?:meeting|conference|poster|congress|extended) )?(?:abstracts?\b[^\])]{0,20}|poster)[\])][.\s]*$/i;
/** Medline said so of what has no abstract. */
const letterNote =
  /[.\s]*[[(](?:letter|editorial|comment|news)(?:[;,] ?(?:letter|editorial|comment|news))*[\])][.\s]*$/i;
/** How a search engine names the form of its find, and a congress the place of an abstract in its book. */
const before =
  /^\s*(?:\[(?:html|pdf|book|citation|doc|b|c)\]\s*)+|^\s*(?:abstract|poster|oral presentation)\s+(?:no\.?\s*)?\p{Lu}{0,4}[-.]?\d{1,5}\s*[:.\u2013-]\s+/iu;
/** Cinahl: "… including commentary by Smith J with author response". */
const withCommentary = /\s*(?:\.{3}|\u2026)\s*including commentary by\b.*$/is;
const replyNote = /[-\u2013\u2014:;.,[(]\s?(?:(?:the )?authors?['\u2019]?s? )?repl(?:y|ies)\W*$/i;
/** Notes that go on to the end, often cut: ".[Erratum appears in J. Touch 2009 Sep;9(9):2205 Note: …". */
const noteToTheEnd =
  /[.\s]*\[(?:published )?(?:errat(?:um|a)|corrections?|corrected|comments?|reply|retraction|republished|update[ds]?|summary for patients|original report|reprint(?:ed)?)(?:\]\s*\[published erratum)?(?: appears?)? (?:in|from|of)\b.*$/is;
/** How a correction names what it corrects: "(vol 360, pg 542, 2009)", "(Journal of Touch (2009) 360 (542-544))". */
const correctsWhat =
  /\((?:vol|v)\.? ?\w+, ?(?:pp?g?|art)\.? ?\w+, ?\d{4}\)|\([^()]+\((?:19|20)\d\d\) ?\d+ ?:?\d* ?\(\w+[-–]\w+\)\)/i;
/** The same, as a database that cut the title has left it. */
const correctsWhatCut = /\s*\([^()]{4,}\([^()]*$/;
const correction = /^\W*(?:author |publisher )?(?:correction|corrigend\w+|errat(?:um|a))\W+(?:(?:to|for|in|of)\b\W*)?/i;
const retracted = /^\s*\[?(?:retracted|withdrawn)(?:\s+article)?\]?\s*:?\s+/i;
const noTitle =
  /^(?:|unknown|untitled|n a|title|none|null|(?:no|without|missing) title(?: \w+)?|title (?:not|un)\s?\w+|not available|sans titre|ohne titel|10 \d{4,9} .*)$/;
const notices =
  /^(?:(?:author|publisher) )?(?:correction|corrigend\w+|errat(?:um|a)|addendum|retraction|expression of concern|withdrawal notice|reply|comment|commentary|rejoinder|response|letter|book review|review of|editorial|discussion of|peer review (?:report|history|file)|(?:referee|reviewer) (?:report|comments?)|decision letter|berichtigung|rectificatif|fe de erratas)\b/;
/** Words that make another work of a title they are added to. */
const turnsInto =
  /\b(?:correction|corrigend\w+|errat(?:um|a)|addendum|retraction|concern|withdrawal|reply|comment|comments|commentary|rejoinder|response|letter|editorial|protocol|poster|abstract|summary|synopsis|highlights|update|supplement\w*|dataset|slides|appendix|rationale|design|follow|baseline|pilot|secondary|subgroups?|substudy|extension|interim|months?|years?|weeks?|days?)\b/;
/** Whom a work is about. The authors of "… in children" often have "…", and "… in adults", in the same issue. */
const population =
  /^(?:adolescen(?:ts?|ce)|adults?|adulthood|aged|animals?|boys?|child(?:ren|hood)?|dogs?|elderly|females?|girls?|humans?|infan(?:ts?|cy)|males?|man|men|mice|neonat(?:es?|al)|newborns?|older|pa?ediatrics?|pregnan(?:t|cy)|rabbits?|rats?|teenagers?|toddlers?|volunteers?|wom[ae]n|young(?:er)?|youths?)$/;
/** Whether what is added to a title names people or animals, and no subtitle: "in healthy older adults". */
const namesPopulation = (added: string): boolean =>
  /^(?:in|among|amongst|for|of|with)\s/.test(added) &&
  added
    .split(" ")
    .slice(0, 5)
    .some((word) => population.test(word));
/** The same where they are all that is added: "Demo: …", but not "…: a tutorial", which may be a subtitle. */
const kindOfTalk =
  /^(?:demo(?:nstration)?|tutorial|keynote|reproducibility)(?: (?:abstract|companion|paper|session|talk|track))*$/;
const generic =
  /^(?:(?:guest )?editorial|(?:from|by) the editors?(?: in chief)?|in this issue|(?:guest )?editors? s? ?(?:note|introduction|comments?|page|corner|choice|desk|message)|introduction|preface|foreword|book reviews?|front matter|back matter|(?:table of )?contents|letters? to the editor|in memoriam|obituary|news|abstracts?|keynote|index|errat(?:um|a)|corrigend\w+|correction|reply|response|comment|commentary|discussion|conclusions?|announcements?|call for papers|message from .*|(?:an )?introduction to (?:the |this )?(?:special|mini ?track|track|theme|section|issue|workshop|symposium).*|(?:annual|committee) report.*|proceedings of .*|.* mini ?track|author index|list of reviewers|acknowledge?ment.*)$/;

const periodical =
  /\b(?:annals|archives|bulletin|communications|conference|congress|journal|letters|magazine|proceedings|review|reviews|symposium|transactions)\b/;

const roman: Readonly<Record<string, string>> = Object.fromEntries(
  "i ii iii iv v vi vii viii ix x xi xii".split(" ").map((numeral, index) => [numeral, String(index + 1)]),
);
const inWords: Readonly<Record<string, string>> = {
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
 * Takes a title apart; nothing where it is not a title: "UNKNOWN", or the name of the journal over and over. `venue` is
 * the journal's name.
 */
export function titleParts(written: string, venue?: string | null): TitleParts | undefined {
  const title = withoutRuns(written);
  const unmarked = title.replace(before, "").replace(retracted, "").replace(withCommentary, "");
  const noted = withoutNotes(unmarked.replace(abstractNote, "").replace(letterNote, ""));
  const whole = noted.trim() === "" ? unmarked : noted;
  const plain = corrected(whole) ?? whole;
  const normal = normalTitle(plain);
  if (noTitle.test(normal) || isVenueAlone(normal, venue)) return undefined;
  const all = normal.split(" ");
  // Some databases leave the first article out.
  const words = all.length > 3 && /^(?:the|a|an)$/.test(all[0] ?? "") ? all.slice(1) : all;
  const part = partOf(normal, words);
  const question = plain.replace(replyNote, "");
  const answers = question === plain ? undefined : compacted(normalTitle(question).split(" "));
  return {
    words,
    // "&" stands for "and", and is not a letter.
    compact: compacted(words) || normal,
    within: answers === undefined ? titlesIn(plain) : [answers],
    initials: words.flatMap((word) => (tells(word) ? [word[0]] : [])).join(""),
    ...withoutUndefined({ part, answers, bare: withoutAbbreviations(plain), head: headOf(plain), lead: leadOf(plain) }),
    letters: lettersNote.test(title),
    ...withoutUndefined({ marked: markOf(title) }),
    generic: generic.test(normal),
    notice: plain !== whole || notices.test(normal) || correctsWhat.test(title),
    corrects: plain !== whole,
    cut: /(?:…|\.\.\.)[^\p{L}\d]*$/u.test(title),
    short: words.length < 3 && !inOneWord.test(normal),
  };
}

/** A longer one is not a title; its beginning tells as much. */
const maxTitle = 2_000;

/** A title without runs of spaces and dots, which the patterns above would begin at each place of. */
const withoutRuns = (title: string): string =>
  title
    .replace(/\s+/g, " ")
    .replace(/(?: ?\.){4,}/g, "...")
    .slice(0, maxTitle);

const markOf = (title: string): TitleParts["marked"] =>
  abstractNote.test(title) ? "abstract" : letterNote.test(title) ? "letter" : undefined;

/**
 * The title that a correction corrects, of four words or more: databases say in their own ways what it corrects, before
 * it or behind it.
 */
function corrected(title: string): string | undefined {
  const named = title.replace(correctsWhat, "");
  const [bare, isSaid] = [named.replace(correction, ""), named !== title];
  if (bare === named && !isSaid) return undefined;
  const about = bare === named ? bare : bare.replace(correctsWhatCut, "");
  const words = normalTitle(about).split(" ").length;
  // "Correction of gait after stroke" is a work of its own.
  const isTitle =
    isSaid || /^\W*(?:author |publisher )?(?:corrigend|errat(?:um|a)\b|correction\s*(?:to\b|:))/i.test(title);
  return isTitle && words >= 4 ? about : undefined;
}

/** What stands before a subtitle, of four words or more. */
function headOf(title: string): string | undefined {
  const [head = "", behind] = title.split(/\s*[:?!]\s+|\s+[-\u2013\u2014]\s+|(?<=\p{Ll}{3})\.\s+(?=\p{Lu})/u);
  const words = behind === undefined ? [] : normalTitle(head).split(" ");
  return words.length < 4 ? undefined : compacted(/^(?:the|a|an)$/.test(words[0] ?? "") ? words.slice(1) : words);
}

/** Whether the first title, of five distinctive words or more, is the second without its subtitle. */
export const lacksSubtitle = (short: TitleParts | undefined, long: TitleParts | undefined): boolean =>
  short !== undefined &&
  long?.head !== undefined &&
  short.compact === long.head &&
  new Set(short.words.filter(tellsMuch)).size >= 5;

/** Whether one title is what stands before a colon of the other, however short; "…: Part 2" is another work. */
export const isCutAtColon = (a: TitleParts, b: TitleParts): boolean =>
  [a, b].every(({ generic: isGeneric, notice }) => !isGeneric && !notice) &&
  a.part === b.part &&
  (a.compact === b.lead || b.compact === a.lead);

function leadOf(title: string): string | undefined {
  const [lead = "", behind] = title.split(/:\s/);
  return behind === undefined ? undefined : compacted(normalTitle(lead).split(" "));
}

function withoutAbbreviations(title: string): string | undefined {
  const bare = title.replace(/\s\((?=[^()]*\p{Lu}[^()]*\p{Lu})[\p{L}\d-]{2,9}\)(?=[\s:;,.]|$)/gu, "");
  const words = bare === title ? [] : normalTitle(bare).split(" ");
  return words.length < 4 ? undefined : compacted(/^(?:the|a|an)$/.test(words[0] ?? "") ? words.slice(1) : words);
}

const compacted = (words: readonly string[]): string =>
  words.flatMap((word) => (word === "and" ? [] : [sameWords[word] ?? word])).join("");

/** What some databases write in words or Roman numerals, and others shorten. */
const sameWords: Readonly<Record<string, string>> = {
  versus: "vs",
  ...Object.fromEntries(
    "two three four five six seven eight nine ten".split(" ").map((word, index) => [word, `${index + 2}`]),
  ),
  ...Object.fromEntries("ii iii iv".split(" ").map((numeral, index) => [numeral, `${index + 2}`])),
};

function withoutNotes(title: string): string {
  let plain = (title.includes("[") ? title.replace(noteToTheEnd, "") : title).replace(lettersNote, "");
  for (let before = ""; before !== plain && /[\])][.\s]*$/.test(plain);)
    [before, plain] = [plain, plain.replace(databaseNote, "")];
  return plain.trim() === "" ? title : plain;
}

/**
 * The titles within a title that has an inner mark, "Original; translation", "Original [Translation]", "Original =
 * Translation", or a heading before it, "Research: …".
 */
function titlesIn(title: string): readonly string[] {
  const behindHeading = /^[^:.]{3,40}[:.]\s+(?=\S)(.*)$/s.exec(title)?.[1] ?? "";
  const parts = /\S\s*[;=[\]/]\s*\S/.test(title) ? title.split(/[;=[\]/]/) : [];
  // "OP0123 …": the number of an abstract in its book.
  const behindNumber = /^\(?\p{Lu}{0,3}\d{2,5}\)?\s+(\S.*)$/su.exec(title)?.[1] ?? "";
  const all = [...(parts.length < 2 ? [] : parts), behindHeading, behindNumber].map((part) =>
    normalTitle(part).split(" "),
  );
  return all.filter((words) => words.length >= 4 || inOneWord.test(words.join(" "))).map(compacted);
}

/** Chinese and Japanese titles are one word. */
const inOneWord = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}]{6}/u;

function isVenueAlone(title: string, venue: string | null | undefined): boolean {
  const name = normalTitle(venue ?? "");
  // PsycINFO puts the title of a book where a journal stands.
  if (title === name && !periodical.test(name)) return false;
  const rest = name.includes(" ") ? title.replaceAll(name, " ") : title;
  return (
    rest !== title && !/\p{L}/u.test(rest.replace(/\b(?:volume|vol|issue|number|no|paper|article|the|of|and)\b/g, " "))
  );
}

function partOf(normal: string, words: readonly string[]): string | undefined {
  const numbered = [...normal.matchAll(partWord)].map(([, which = ""]) => roman[which] ?? inWords[which] ?? which);
  const last = words.at(-1) ?? "";
  const all = [
    ...numbered.filter((which) => /^(?:\d+|[a-e])$/.test(which)),
    ...(roman[last] === undefined ? [] : [roman[last]]),
  ];
  return all.length === 0 ? undefined : [...new Set(all)].join(",");
}

/**
 * How two titles stand to each other: `equal` but for case, accents, spaces and marks; `near`, spelt in two ways, with
 * a slip of the pen or without an abbreviation in brackets; `cut`, a long one whose end was lost; `longer`, one stands
 * within the other, as before a subtitle or next to a translation; `less`, one lacks a word or two; `alike`, most words
 * are the same; or nothing.
 */
export function matchTitles(
  a: TitleParts,
  b: TitleParts,
): "equal" | "near" | "cut" | "longer" | "less" | "alike" | undefined {
  if (a.corrects !== b.corrects) return undefined;
  if (a.compact === b.compact) return "equal";
  if (a.part !== b.part && a.part !== undefined && b.part !== undefined) return undefined;
  if (a.notice !== b.notice) return undefined;
  const [short, long] = a.compact.length <= b.compact.length ? [a, b] : [b, a];
  const added = short.words.length < 4 && !inOneWord.test(short.compact) ? undefined : addedTo(short, long);
  if (added !== undefined && isCut(short, long)) return "cut";
  if ((short.bare ?? short.compact) === (long.bare ?? long.compact)) return "near";
  if (long.part !== short.part) return added === undefined && isNear(short, long) ? "near" : undefined;
  // On the same pages even "… : an update" is one work.
  if (added !== undefined)
    return turnsInto.test(added) || kindOfTalk.test(added) || namesPopulation(added) ? "alike" : "longer";
  if (isNear(short, long)) return short.words.filter(tells).length < 4 ? "alike" : "near";
  if (lacksWords(short, long) || lacksWords(long, short)) return "less";
  return alikeness(short, long) >= minAlike ? "alike" : undefined;
}

/** Whether a title of five distinctive words or more has all words of another in their order, but for one or two. */
function lacksWords(less: TitleParts, more: TitleParts): boolean {
  const missing = more.words.length - less.words.length;
  if (missing < 1 || missing > 2 || new Set(less.words.filter(tellsMuch)).size < 5) return false;
  const left: string[] = [];
  let at = 0;
  for (const word of more.words)
    if (word === less.words[at]) at += 1;
    else left.push(word);
  return (
    at === less.words.length &&
    !left.some((word) => /^\d+$|^(?:not?|non|without)$/.test(word) || turnsInto.test(word) || population.test(word))
  );
}

/** Whether the shorter of two titles is a long one whose end was lost: it ends within a word, or in dots. */
function isCut(short: TitleParts, long: TitleParts): boolean {
  if (!isLong(short) || !long.compact.startsWith(short.compact)) return false;
  const last = short.words.at(-1) ?? "";
  const its = long.words[short.words.length - 1] ?? "";
  return short.cut || (its !== last && its.startsWith(last) && !/^(?:e?s|ed)$/.test(its.slice(last.length)));
}

/** What the longer of two titles has more, where the shorter one stands within it. */
function addedTo(short: TitleParts, long: TitleParts): string | undefined {
  if (long.compact.startsWith(short.compact)) return long.words.slice(short.words.length).join(" ");
  const [within, all] = [` ${short.words.join(" ")} `, ` ${long.words.join(" ")} `];
  return all.includes(within) ? all.replace(within, " ").trim() : undefined;
}

/** Two translations of one title have some two thirds of their words in common. */
const minAlike = 0.6;

/** Share of the distinctive words of both titles that the other has too (Dice), 0 to 1. */
function alikeness(a: TitleParts, b: TitleParts): number {
  const [left, right] = [new Set(a.words.filter(tellsMuch)), new Set(b.words.filter(tellsMuch))];
  return (2 * [...left].filter((word) => right.has(word)).length) / Math.max(left.size + right.size, 1);
}

/** Word by word the same, but for at most two words (one in three) that are spelt in another way. */
function isNear(a: TitleParts, b: TitleParts): boolean {
  const [left, right] = [a.words.filter(tells), b.words.filter(tells)];
  if (left.length !== right.length || left.length < 2) return false;
  const others = left
    .map((word, index) => [word, right[index] ?? ""] as const)
    .filter(([one, other]) => one !== other && american(one) !== american(other));
  return (
    others.length <= Math.max(1, Math.min(2, Math.floor(left.length / 3))) &&
    others.every(([one, other]) => isSpelling(one, other) || isSpelling(american(one), american(other)))
  );
}

const tells = (word: string): boolean => !["a", "an", "the", "and", "of", "in", "on", "for"].includes(word);

const prefix = /^(?:hypo|hyper|intra|inter|intro|pre|post|pro|anti|under|over|micro|macro)/;

/** British and American spelling in one form. */
const american = (word: string): string =>
  word
    .replace(/is(?=(?:e[ds]?|ing|ations?|ers?)$)|ys(?=(?:e[ds]?|ing|ers?)$)/, (letters) => letters.replace("s", "z"))
    .replace(/our(?=$|s$|ed$|al|ing|ful|less|able|it)/, "or")
    .replace(/([aeiou]l)l(?=(?:ed|ing|er|ers)$)/, "$1")
    .replace(/(?<=[^aeiou])re(?=s?$)/, "er")
    .replace(/(?<=^|[^aeiou])[ao]e(?=[^ao])/g, "e")
    .replace(/ogue(?=s?$)/, "og");

/** Singular and plural, one letter dropped or turned; never another number, nor "hypo" for "hyper". */
export function isSpelling(a: string, b: string): boolean {
  if (/\d/.test(a + b) || a[0] !== b[0] || Math.min(a.length, b.length) < 4) return false;
  const [one, other] = [prefix.exec(a)?.[0], prefix.exec(b)?.[0]];
  if (one !== undefined && other !== undefined && one !== other) return false;
  // "Prednisone" and "prednisolone" are two letters apart, and two substances.
  return distance(a, b) <= 1 || isTurned(a, b) || (Math.min(a.length, b.length) >= 8 && sounds(a) === sounds(b));
}

/** Two letters next to each other changed places. */
function isTurned(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

/** A word as slips leave it: vowels, doubled letters and letters that sound alike in one form. */
const sounds = (word: string): string =>
  word
    .replace(/ph/g, "f")
    .replace(/[ckq]/g, "k")
    .replace(/h/g, "")
    .replace(/[aeiouy]+/g, "a")
    .replace(/(.)\1+/g, "$1");

/** Levenshtein's distance; words are short. */
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
const tellsMuch = (word: string): boolean => word.length > 2 && tells(word) && !fillers.has(word);

/** So long that no column, and no second work of its authors, has it too. */
export const isLong = ({ words }: TitleParts): boolean => new Set(words.filter(tellsMuch)).size >= 7;

/** Share of the shorter title's distinctive words that stand in the other, 0 to 1. */
export function sharedWords(a: TitleParts, b: TitleParts): number {
  const [left, right] = [new Set(a.words.filter(tellsMuch)), new Set(b.words.filter(tellsMuch))];
  const smaller = Math.min(left.size, right.size);
  if (smaller === 0) return a.compact === b.compact ? 1 : 0;
  return [...left].filter((word) => right.has(word)).length / smaller;
}

/**
 * Share of two titles' words that both have. A subtitle cut short leaves some 0.8; another work on the same matter
 * comes to 0.5.
 */
const minSharedWords = 0.75;

/**
 * Whether a title that a search gave is the one that was asked for: searches by title always give something. Numbers
 * must agree: "part 1" is not "part 2".
 */
export function isTitle(asked: string, found: string): boolean {
  const [a, b] = [wordsOf(asked), wordsOf(found)];
  if (a.size === 0 || b.size === 0) return false;
  const numbers = (words: ReadonlySet<string>) => [...words].filter((word) => /^(?:\d+|[ivx]+)$/.test(word));
  if (numbers(a).some((number) => !b.has(number)) || numbers(b).some((number) => !a.has(number))) return false;
  const both = [...a].filter((word) => b.has(word)).length;
  return both / (a.size + b.size - both) >= minSharedWords;
}

const wordsOf = (title: string): ReadonlySet<string> => new Set(normalTitle(title).split(" ").filter(Boolean));
