import type { Outcome } from "../../generated/rrd.js";

// Among sentences that people marked as "no significant difference", "increased" or "decreased", words tell the first
// apart well, and which way the other two went badly (docs/how-well-it-works.md). So only the first is checked.

const effects =
  "differences?|changes?|effects?|improvements?|benefits?|increases?|decreases?|reductions?|associations?|impact|interactions?";
const upToThreeWords = String.raw`(?: [-\p{L}]+){0,3}`;
const verbs =
  "differ|affect|alter|change|influence|improve|increase|decrease|reduce|lower|raise|prevent|shorten|prolong|delay";

/** Words that say that two things do not differ. */
const sameness = new RegExp(
  [
    String.raw`\b(?:no|without|not an?y?|n't an?y?|lack of|absence of)${upToThreeWords} (?:[-\p{L}]+-group )?(?:${effects})\b`,
    String.raw`\bno (?:\p{L}+(?:,? (?:or|and) \p{L}+)? )?significant${upToThreeWords} (?:${effects})\b`,
    String.raw`(?:\bnot|n't)${upToThreeWords} (?:differ|different|differed|significant|significantly|altered|affected?|changed?|influenced?|improved?)\b`,
    String.raw`\bnot(?: [-\p{L}]+){0,6} (?:statistically|clinically) significant\b`,
    String.raw`\b(?:did|does|do|could) ?n[o'’]t (?:\p{L}+ )?(?:${verbs})\b`,
    String.raw`\b(?:fail(?:s|ed)? to|neither \S+ nor \S+) (?:\p{L}+ )?(?:${verbs})`,
    String.raw`\b(?:non|in)-?significant(?:ly)?\b`,
    String.raw`\b(?:failed to|did not) (?:reach|obtain|attain|achieve|show)${upToThreeWords} significance\b`,
    String.raw`\bno (?:\p{L}+ )?evidence (?:of|for|that)${upToThreeWords} (?:${effects})\b`,
    String.raw`\b(?:were|was|are|is|remained) (?:\p{L}+ )?(?:similar|comparable|equivalent|unchanged|identical)\b`,
    String.raw`\b(?:similar|comparable) (?:in|between|among|across|for|to)\b`,
    String.raw`\b(?:(?:as|equally) (?:effective|efficacious|good|safe|accurate)\b(?! as (?:possible|before))|non-?inferior|no (?:better|worse|more effective) than)`,
  ].join("|"),
  "iu",
);
/** Words that say that they do, unless "no" or "not" stands before them; or that an earlier difference lasted. */
const difference =
  /(?<!\b(?:no|not|n't|nor|non|in|without|neither)[- ](?:[-\p{L}]+ ){0,3})\bsignificant(?:ly)? (?:\p{L}+ )?(?:higher|lower|greater|more|less|fewer|better|worse|larger|smaller|shorter|longer|increase[ds]?|decrease[ds]?|reduc\p{L}+|improve\p{L}*|differences?)|\b(?:improvements?|gains?|benefits?|effects?|reductions?|increases?|decreases?|differences?) (?:was|were|is|are) (?:\p{L}+ )?(?:maintained|sustained|preserved|retained)\b/iu;

const pValue = /\bp(?:[- ]?values?)?\s*([=<>≤≥])\s*(\d?[.,]\d+|n\.?s)/giu;
/** From here on a p value shows nothing. */
const level = 0.05;

/**
 * Whether a quote says that two things do not differ significantly: in words, or by p values alone. Where it also tells
 * of a difference this is false.
 */
export function saysNoDifference(quote: string): boolean {
  if (difference.test(quote)) return false;
  const shown = [...quote.matchAll(pValue)].map(([, sign = "", value = ""]) => {
    const p = Number(value.replace(",", "."));
    return Number.isNaN(p) || p > level || (p === level && /[>≥]/.test(sign));
  });
  if (shown.includes(false)) return false;
  return shown.length > 0 || sameness.test(quote);
}

/** What a reader should know of a direction that its own quote speaks against; undefined where it does not. */
export const doubtOf = ({ direction }: Outcome, quote: string): string | undefined =>
  direction !== "none" && saysNoDifference(quote)
    ? `said to go ${direction}, but its words speak of no significant difference`
    : undefined;
