import { quantitiesIn, type Quantity } from "../../../text/evidence/numbers/quantities.js";

/** Words of direction, each with its opposite. Several words can have the same opposite. */
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

/** If a sentence contains such a word, its opposite may also be true, as in "did not increase" or "may be higher". */
const uncertainWords =
  /(?<!\p{L})(?:no|not|nor|neither|never|without|none|cannot|non\p{L}*|un\p{L}+|whether|if|may|might|could|would|similar\p{L}*|fail\p{L}*|lack\p{L}*|\p{L}+n['’]t)(?!\p{L})/iu;

/**
 * The sentence with the opposite direction: "rose" instead of "fell". Undefined if the opposite is not surely false:
 * the sentence has several directions or none, a negation, or a condition. Works for English only.
 */
export function reverseDirection(sentence: string): string | undefined {
  const directions = [...sentence.matchAll(direction)];
  const [match] = directions;
  if (directions.length !== 1 || match === undefined || uncertainWords.test(sentence)) return undefined;
  const opposite = opposites[match[0].toLowerCase()] ?? "";
  const isCapital = match[0][0] !== match[0][0]?.toLowerCase();
  const replacement = isCapital ? `${opposite[0]?.toUpperCase()}${opposite.slice(1)}` : opposite;
  return sentence.slice(0, match.index) + replacement + sentence.slice(match.index + match[0].length);
}

/**
 * The sentence with the numbers of two groups swapped. All numbers are still the paper's own, so a comparison of
 * numbers does not notice it. Undefined if no two numbers of the same kind belong to different groups.
 */
export function swapNumbers(sentence: string): string | undefined {
  const numbers = quantitiesIn(sentence).filter((each) => isGroupValue(sentence, each));
  for (const [index, first] of numbers.entries()) {
    const second = numbers.slice(index + 1).find((each) => isSameKind(first, each));
    if (second === undefined || !areOfDifferentGroups(sentence, first, second)) continue;
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

/**
 * Whether a number belongs to a group. Numbers in brackets, of a spread or of a confidence interval belong to the
 * number beside them.
 */
function isGroupValue(sentence: string, { start, end }: Quantity): boolean {
  const before = sentence.slice(0, start);
  const isInBrackets = before.lastIndexOf("(") > before.lastIndexOf(")");
  return !isInBrackets && !/±\s?$/.test(before) && !/^\s?(?:±|confidence|CI)/i.test(sentence.slice(end));
}

const isSameKind = (first: Quantity, second: Quantity): boolean =>
  first.value !== second.value &&
  first.unit?.dimension === second.unit?.dimension &&
  first.unit?.factor === second.unit?.factor &&
  (first.unit !== undefined || (first.decimals > 0 && first.decimals === second.decimals)) &&
  first.isNegative === undefined &&
  second.isNegative === undefined;

/** Whether two numbers belong to different groups: there are words between them, or the text is "from … to …". */
function areOfDifferentGroups(sentence: string, first: Quantity, second: Quantity): boolean {
  const between = sentence.slice(first.end, second.start);
  const isFromTo = /(?<!\p{L})from\s$/iu.test(sentence.slice(0, first.start)) && /^\sto\s$/.test(between);
  return isFromTo || (between.match(/\p{L}{2,}/gu) ?? []).length >= 3;
}
