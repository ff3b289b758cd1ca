import { numbersWithoutQuote } from "../../../text/evidence/numbers/check-numbers.js";
import type { CheckResult } from "../../generated/result-check.js";
import type { Checked } from "../../generated/rrd.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { type BatchItem, type CheckAnswer, isControl } from "./sentence.js";

/** Words of a reason that are kept. */
const maxWords = 20;

/**
 * The answers in the order of the batch, or why they can't be used: a number that was not answered exactly once, or a
 * proposed sentence with a number that its passages do not hold. `id`: of the unit.
 */
export function answersIn(
  batch: readonly BatchItem[],
  { unit, answers }: CheckResult,
  id: string,
): readonly CheckAnswer[] | { readonly reasons: readonly string[] } {
  const byNumber = new Map(answers.map((answer) => [answer.number, answer]));
  const reasons = [
    ...(unit === id ? [] : [`unit is "${unit}"; this unit is "${id}"`]),
    ...batch.flatMap((item, index) => {
      const number = index + 1;
      const own = answers.filter((answer) => answer.number === number);
      const [answer] = own;
      if (answer === undefined) return [`number ${number} is not answered`];
      return own.length > 1 ? [`number ${number} is answered ${own.length} times`] : problemsOf(item, answer);
    }),
    ...answers.flatMap(({ number }) => (number > batch.length ? [`the unit has no number ${number}`] : [])),
  ];
  return reasons.length > 0 ? { reasons } : batch.flatMap((_, index) => byNumber.get(index + 1) ?? []);
}

function problemsOf(item: BatchItem, { number, verdict, better, against }: CheckAnswer): string[] {
  const lacking = better == null || verdict !== "overstated" ? [] : numbersLacking(item, better);
  return [
    ...(lacking.length === 0
      ? []
      : [`number ${number}: the proposed sentence has numbers that its passages do not: ${lacking.join(", ")}`]),
    ...(against == null || item.passages.some(({ paper }) => paper === against)
      ? []
      : [`number ${number}: against names "${against}", which is none of its papers`]),
  ];
}

/** Numbers of a text that stand in none of the passages that a sentence was shown with. */
function numbersLacking({ passages }: BatchItem, text: string): readonly string[] {
  const shown = passages.map(({ passage }) => ({ quote: passage.replace(/[“”]/g, "") }));
  return numbersWithoutQuote(text, shown).missing;
}

/** What is kept of an answer. */
export const checkedBy = (by: string, { verdict, why, too_much, better, against }: CheckAnswer): Checked => ({
  verdict,
  by: [by],
  ...withoutUndefined({
    why: why?.split(/\s+/).slice(0, maxWords).join(" "),
    ...(verdict === "overstated" ? { too_much: too_much ?? undefined, better: better ?? undefined } : {}),
    ...(verdict === "contradicted" ? { against: against ?? undefined } : {}),
  }),
});

/** What two readers say of one sentence: what both say, else that nobody can tell, with what each said. */
export function agreedOn([first, second]: readonly [Checked, Checked | undefined]): Checked {
  if (second === undefined) return first;
  const by = [...first.by, ...second.by];
  if (first.verdict === second.verdict) return { ...first, by };
  const said = [first, second].map(({ by: [name = ""], verdict, why }) => ({
    by: name,
    verdict,
    ...withoutUndefined({ why }),
  }));
  return { verdict: "cannot-tell", by, said, why: "Its two readers disagree." };
}

/** The sentences and claims of a batch with what was said of them, without controls. */
export const byId = (batch: readonly BatchItem[], checked: readonly Checked[]): ReadonlyMap<string, Checked> =>
  new Map(batch.flatMap((item, index) => (isControl(item) ? [] : [[item.id, checked[index] as Checked] as const])));
