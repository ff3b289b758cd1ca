import { numbersWithoutQuote } from "../../../text/evidence/numbers/check-numbers.js";
import type { CheckResult } from "../../generated/result-check.js";
import type { Checked, Paper } from "../../generated/rrd.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { type BatchItem, type CheckAnswer, isControl } from "./sentence.js";

/** Maximum number of stored words of a checker's reason. */
const maxWords = 20;

/**
 * The answers in the order of the batch, or the reasons why they are invalid: a number that was not answered exactly
 * once, or a proposed sentence with a number that is not in its passages. `id`: the id of the unit. `papers`: by id.
 */
export function orderAnswers(
  batch: readonly BatchItem[],
  { unit, answers }: CheckResult,
  id: string,
  papers: ReadonlyMap<string, Paper>,
): readonly CheckAnswer[] | { readonly reasons: readonly string[] } {
  const byNumber = new Map(answers.map((answer) => [answer.number, answer]));
  const reasons = [
    ...(unit === id ? [] : [`unit is "${unit}"; this unit is "${id}"`]),
    ...batch.flatMap((item, index) => {
      const number = index + 1;
      const answersToItem = answers.filter((answer) => answer.number === number);
      const [answer] = answersToItem;
      if (answer === undefined) return [`number ${number} is not answered`];
      return answersToItem.length > 1
        ? [`number ${number} is answered ${answersToItem.length} times`]
        : problemsOf(item, answer, papers);
    }),
    ...answers.flatMap(({ number }) => (number > batch.length ? [`the unit has no number ${number}`] : [])),
  ];
  return reasons.length > 0 ? { reasons } : batch.flatMap((_, index) => byNumber.get(index + 1) ?? []);
}

function problemsOf(
  item: BatchItem,
  { number, verdict, better, against }: CheckAnswer,
  papers: ReadonlyMap<string, Paper>,
): string[] {
  const missingNumbers = better == null || verdict !== "overstated" ? [] : numbersNotInPassages(item, better, papers);
  return [
    ...(missingNumbers.length === 0
      ? []
      : [`number ${number}: the proposed sentence has numbers that its passages do not: ${missingNumbers.join(", ")}`]),
    ...(against == null || item.passages.some(({ paper }) => paper === against)
      ? []
      : [`number ${number}: against names "${against}", which is none of its papers`]),
  ];
}

/** The numbers of a text that are in none of the passages and of their papers' titles. */
function numbersNotInPassages(
  { passages }: BatchItem,
  text: string,
  papers: ReadonlyMap<string, Paper>,
): readonly string[] {
  const quotes = passages.map(({ passage }) => ({ quote: passage.replace(/[“”]/g, "") }));
  const citedPapers = passages.flatMap(({ paper }) => papers.get(paper) ?? []);
  return numbersWithoutQuote(text, quotes, citedPapers).missing;
}

/** The stored form of an answer. */
export const toChecked = (by: string, { verdict, why, too_much, better, against }: CheckAnswer): Checked => ({
  verdict,
  by: [by],
  ...withoutUndefined({
    why: why?.split(/\s+/).slice(0, maxWords).join(" "),
    ...(verdict === "overstated" ? { too_much: too_much ?? undefined, better: better ?? undefined } : {}),
    ...(verdict === "contradicted" ? { against: against ?? undefined } : {}),
  }),
});

/** The common verdict of two checkers. If they disagree, the verdict is "cannot tell", with both verdicts. */
export function mergeVerdicts([first, second]: readonly [Checked, Checked | undefined]): Checked {
  if (second === undefined) return first;
  const by = [...first.by, ...second.by];
  if (first.verdict === second.verdict) return { ...first, by };
  const verdicts = [first, second].map(({ by: [name = ""], verdict, why }) => ({
    by: name,
    verdict,
    ...withoutUndefined({ why }),
  }));
  return { verdict: "cannot-tell", by, said: verdicts, why: "Its two readers disagree." };
}

/** The verdicts on the sentences and claims of a batch by their ids, without controls. */
export const verdictsById = (batch: readonly BatchItem[], checked: readonly Checked[]): ReadonlyMap<string, Checked> =>
  new Map(batch.flatMap((item, index) => (isControl(item) ? [] : [[item.id, checked[index] as Checked] as const])));
