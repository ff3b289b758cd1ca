import { quantitiesIn, type Quantity } from "../../../text/evidence/numbers/quantities.js";

/** Words of a direction, each with its opposite. Synonyms share an opposite, so the way back may be another word. */
const opposites: Readonly<Record<string, string>> = {
  increased: "decreased",
  increases: "decreases",
  increase: "decrease",
  increasing: "decreasing",
  decreased: "increased",
  decreases: "increases",
  decrease: "increase",
  decreasing: "increasing",
  reduced: "increased",
  reduces: "increases",
  reduction: "increase",
  rose: "fell",
  fell: "rose",
  raised: "lowered",
  lowered: "raised",
  grew: "shrank",
  dropped: "rose",
  declined: "rose",
  higher: "lower",
  lower: "higher",
  greater: "smaller",
  larger: "smaller",
  smaller: "larger",
  longer: "shorter",
  shorter: "longer",
  faster: "slower",
  slower: "faster",
  better: "worse",
  worse: "better",
  improved: "worsened",
  improves: "worsens",
  worsened: "improved",
  worsens: "improves",
  superior: "inferior",
  inferior: "superior",
  outperforms: "falls behind",
  outperformed: "fell behind",
};
const direction = new RegExp(`(?<![\\p{L}-])(?:${Object.keys(opposites).join("|")})(?![\\p{L}-])`, "giu");

/** With a word of these the opposite may be true as well: "did not increase", "may be higher". */
const isOpen =
  /(?<!\p{L})(?:no|not|nor|neither|never|without|none|cannot|non\p{L}*|un\p{L}+|whether|if|may|might|could|would|similar\p{L}*|fail\p{L}*|lack\p{L}*|\p{L}+n['’]t)(?!\p{L})/iu;

/**
 * The sentence with its direction turned: "rose" for "fell". Undefined where its opposite is not surely false: it has
 * none or several directions, a negation, or a condition. The words are English ones.
 */
export function turned(sentence: string): string | undefined {
  const found = [...sentence.matchAll(direction)];
  const [only] = found;
  if (found.length !== 1 || only === undefined || isOpen.test(sentence)) return undefined;
  const opposite = opposites[only[0].toLowerCase()] ?? "";
  const isCapital = only[0][0] !== only[0][0]?.toLowerCase();
  const written = isCapital ? `${opposite[0]?.toUpperCase()}${opposite.slice(1)}` : opposite;
  return sentence.slice(0, only.index) + written + sentence.slice(only.index + only[0].length);
}

/**
 * The sentence with the numbers of two groups changed for each other. Every number stays the paper's own, so that no
 * comparison of numbers sees it. Undefined where no two numbers of one kind belong to two things.
 */
export function swapped(sentence: string): string | undefined {
  const numbers = quantitiesIn(sentence).filter((each) => isOfAGroup(sentence, each));
  for (const [index, first] of numbers.entries()) {
    const second = numbers.slice(index + 1).find((each) => isOfOneKind(first, each));
    if (second === undefined || !areApart(sentence, first, second)) continue;
    const between = sentence.slice(first.end, second.start);
    return (
      sentence.slice(0, first.start) +
      sentence.slice(second.start, second.end) +
      between +
      sentence.slice(first.start, first.end) +
      sentence.slice(second.end)
    );
  }
  return undefined;
}

/** Numbers in brackets, of a spread and of a confidence interval belong to the number beside them. */
function isOfAGroup(sentence: string, { start, end }: Quantity): boolean {
  const before = sentence.slice(0, start);
  const isInBrackets = before.lastIndexOf("(") > before.lastIndexOf(")");
  return !isInBrackets && !/±\s?$/.test(before) && !/^\s?(?:±|confidence|CI)/i.test(sentence.slice(end));
}

const isOfOneKind = (one: Quantity, other: Quantity): boolean =>
  one.value !== other.value &&
  one.unit?.dimension === other.unit?.dimension &&
  one.unit?.factor === other.unit?.factor &&
  (one.unit !== undefined || (one.decimals > 0 && one.decimals === other.decimals)) &&
  one.isNegative === undefined &&
  other.isNegative === undefined;

/** Whether two numbers are said of two things: words stand between them, or it is "from" the one "to" the other. */
function areApart(sentence: string, first: Quantity, second: Quantity): boolean {
  const between = sentence.slice(first.end, second.start);
  const isFromTo = /(?<!\p{L})from\s$/iu.test(sentence.slice(0, first.start)) && /^\sto\s$/.test(between);
  return isFromTo || (between.match(/\p{L}{2,}/gu) ?? []).length >= 3;
}
