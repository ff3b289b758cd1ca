import type { Span } from "../quote-edges.js";
import { sentenceBefore } from "../sentences.js";
import { saysMore } from "../changed-sense.js";

/** Longer words in brackets are not an insertion, and more than three of them make another sentence. */
const maxInserted = 60;
const maxInsertions = 3;

/** What somebody set into a quote in brackets: the words, and those of the quote that stand before and behind it. */
export interface Insertion {
  readonly words: string;
  readonly before: string;
  readonly behind: string;
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

const remark =
  /^(?:sic[!.]?|(?:emphasis|italics?|bold|stress) (?:added|mine|ours|in (?:the )?original)|(?:my|our|original) (?:emphasis|italics))$/i;
const articles = setOf("the a an this that these those its their his her our");
const pronouns = setOf(
  "it they them he him she we us i this that these those its their his our which who whom one ones itself themselves",
);
/** Pronouns of those who wrote the paper, or that open a clause as well: nobody explains them by a word alone. */
const unexplained = setOf("that i we us our");
/** Words that a sentence's grammar asks for, and that say nothing of their own. */
const light = setOf(
  `${[...articles, ...pronouns].join(" ")} is are was were be been being am has have had of to there`,
);
/** What a paper calls itself and those who wrote it: nothing is added by saying so. */
const ownNames = setOf(
  "author authors paper study article work research researcher researchers investigator investigators report survey review " +
    "method approach system results",
);
/** Whom or what a finding holds for. Such words name what a pronoun stands for, and anywhere else they bound it. */
const bounds =
  /^(?:patients?|participants?|subjects?|people|persons?|individuals|volunteers|adults?|child|children|infants?|wom[ae]n|m[ae]n|males?|females?|boys?|girls?|elderly|users?|smokers?|groups?|arms?|cohorts?|controls?|placebo|treat(?:ed|ment)|intervention|cases?|samples?|sites?|trials?|datasets?|tasks?|conditions?|doses?)$/;
/** A phrase that ends with one of these names nothing of its own: it bounds the word behind it. */
const noNoun =
  /^(?:first|second|third|fourth|last|next|other|same|best|worst|main|sole|former|latter|new|old|young|high|low|good|bad|safe|\p{L}{3,20}(?:ive|able|ible|ous|less|ful))$/u;
/** What opens a phrase that says of whom, when, where or how something holds. */
const bounding = setOf(
  "in on at for with by from among amongst during after before under over within through throughout via using per between into onto " +
    "upon against towards toward about around across along as while when where since whose following",
);

const wordsIn = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}'’-]+/gu) ?? [])
    .map((word) => word.replace(/^['’-]{1,9}|['’-]{1,9}$/gu, ""))
    .filter((word) => word !== "");

const bracketed = /(?<=(\p{L}?))(\s?)\[([^[\]]{1,60})\](?=(\p{L}?))/gu;

/**
 * A quote without the words of explanation in brackets, and these: "the hand [of the authors] reached". "[t]he" is
 * "the"; what says something of its own or stands in the text stays. `put` says what stands in the place of an
 * insertion.
 */
export function withoutInsertions(
  quote: string,
  text: string,
  put = "",
): { readonly quote: string; readonly insertions: readonly Insertion[] } {
  const insertions: Insertion[] = [];
  const plain = quote.replace(
    bracketed,
    (whole, last: string, space: string, words: string, next: string, at: number) => {
      if (/^\p{L}{1,3}$/u.test(words) && (next !== "" || (last !== "" && space === ""))) return space + words;
      const mayGo =
        insertions.length < maxInsertions && words.length <= maxInserted && /\p{L}/u.test(words) && next === "";
      if (!mayGo || saysMore(words) || text.includes(`[${words}]`) || text.includes(`(${words})`)) return whole;
      insertions.push({ words, before: quote.slice(0, at), behind: quote.slice(at + whole.length) });
      return put === "" ? "" : space + put;
    },
  );
  return { quote: plain, insertions };
}

/** Pronouns in the place of which a quote may name in brackets what they stand for. */
export const namedPronouns = ["it", "they", "them", "this", "these", "its", "their", "he", "she", "we"] as const;

/** Whether an insertion is a phrase that could stand for a pronoun. */
export const namesSomething = ({ words }: Insertion): boolean =>
  !remark.test(words) && wordsIn(words).some((word) => !light.has(word));

/** How far from a passage the words stand that explain it: a paragraph or two before it, and the rest of its own. */
const reachBefore = 1500;
const reachBehind = 500;
/** What a pronoun stands for is named shortly before it. */
const reachOfPronoun = 600;
/** The title and the beginning of the abstract, which name what the paper is about. */
const opening = 1500;

/**
 * Why words set into a quote in brackets do not explain the passage; undefined where they do. They may be an
 * editor's remark ("sic"), words that the grammar asks for, what the paper calls itself, or name something that is
 * named near the passage. They may not bound what is said: no "on …", no "with …", no group, no adjective, save behind
 * a pronoun that they explain. `replaces` is the pronoun in the place of which they stand, if any.
 */
export function insertionProblem(
  text: string,
  span: Span,
  insertion: Insertion,
  replaces?: string,
): string | undefined {
  if (remark.test(insertion.words)) return undefined;
  const spoken = insertion.words.replace(/^(?:i\.\s?e\.,?|that is,|namely|viz\.?)\s/i, "");
  const said = wordsIn(spoken);
  const content = said.filter((word) => !light.has(word) && !ownNames.has(word));
  const problem = `"[${insertion.words}]" is not the text's`;
  if (said.some((word) => bounding.has(word))) return `${problem} and bounds what it says`;
  if (noNoun.test(content.at(-1) ?? "")) return `${problem} and bounds what it says`;
  const isOwn = content.length === 0;
  // "of the authors" is what the paper says of itself; any other "of" parts something from the rest.
  if (!isOwn && said.includes("of")) return `${problem} and bounds what it says`;
  const start = sentenceBefore(text, span.start);
  const opens = wordsIn(insertion.before).length === 0;
  if (opens && replaces === undefined && said.some((word) => !light.has(word))) {
    // It stands for what the text has before the passage: a pronoun, or the very words.
    const before = wordsIn(start);
    const isNamed = content.length > 0 && content.every((word) => holds(new Set(before), word));
    return before.length === 0 || pronouns.has(before.at(-1) as string) || isNamed
      ? namedProblem(reachOfPronoun)
      : `${problem}, which has other words there`;
  }
  if (isOwn) return undefined;
  const last = replaces ?? wordsIn(insertion.before).at(-1) ?? "";
  if (pronouns.has(last) && !(replaces === undefined && unexplained.has(last))) return namedProblem(reachOfPronoun);
  const isName = spoken.split(/\s+/).every((word) => /\p{Lu}|\p{N}/u.test(word) || light.has(word.toLowerCase()));
  if ([last, ...content].some((word) => bounds.test(word)) || !(isName || articles.has(said[0] as string)))
    return `${problem} and bounds what it says`;
  return namedProblem(reachBefore);

  function namedProblem(reach: number): string | undefined {
    const near = text.slice(Math.max(0, span.start - reach), span.end + (reach === reachBefore ? reachBehind : 0));
    const words = new Set(wordsIn(reach === reachBefore ? `${text.slice(0, opening)} ${near}` : near));
    const strange = content.find((word) => !holds(words, word));
    return strange === undefined
      ? undefined
      : `"[${insertion.words}]" is not the text's: "${strange}" is not named near it`;
  }
}

/** Whether words hold a word, in one number or the other. */
function holds(words: ReadonlySet<string>, word: string): boolean {
  const bare = word.replace(/['’]s?$/u, "");
  return [bare, `${bare}s`, bare.replace(/s$/, "")].some((each) => words.has(each));
}
