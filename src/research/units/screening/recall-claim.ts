import type { Rrd } from "../../generated/rrd.js";
import { remainingToScreen, type RecallBound, recallBound, type ScreenedBatch } from "../../screening/stopping-rule.js";
import { searchKey } from "../../derived/status.js";

type Metrics = NonNullable<NonNullable<Rrd["statistics"]>["discovery_metrics"]>;
type Screening = NonNullable<Metrics["screening"]>;

/** The batches of the present search. */
export const batchesOf = (rrd: Rrd): Screening => {
  const metrics = rrd.statistics?.discovery_metrics;
  return metrics?.searched_for === searchKey(rrd) ? (metrics.screening ?? []) : [];
};

/** The confidence at which a claim is more likely right than wrong. */
const evenOdds = 0.5;

export interface Recall extends RecallBound {
  readonly reached: boolean;
  /** The claim about the recall, as one sentence. */
  readonly statement: string;
}

/**
 * The claim about the recall; undefined if the requirements do not ask for one. Only batches after the last of the
 * search `rounds` count as random draws, because a new round adds records that earlier batches could not contain.
 * `waiting`: the number of records that nobody has screened.
 */
export function recallOf(
  requirements: Rrd["requirements"],
  batches: Screening,
  { rounds, waiting }: { readonly rounds: number; readonly waiting: number },
): Recall | undefined {
  const { target_recall: target, confidence } = requirements.screening ?? {};
  if (target === undefined || confidence === undefined) return undefined;
  const [draws, batchesBefore]: [ScreenedBatch[], ScreenedBatch[]] = [[], []];
  // The agent may add papers of its own, which were not drawn.
  for (const { screened, kept, rounds: roundsBefore } of batches)
    (roundsBefore === rounds ? draws : batchesBefore).push({ screened, kept: Math.min(kept, screened) });
  const foundBefore = batchesBefore.reduce((sum, { kept }) => sum + kept, 0);
  const found = draws.reduce((sum, { kept }) => sum + kept, foundBefore);
  const rest = { earlier: foundBefore, waiting };
  const bound = recallBound(draws, rest, { target, confidence });
  // If no record was relevant, the recall is unknown.
  const reached = waiting === 0 || (found > 0 && bound.risk < 1 - confidence);
  /** Says which recall is likely now, and how many more records must be screened for the wanted confidence. */
  const outlookText = () => {
    if (found === 0) return "";
    const likelyRecall = recallBound(draws, rest, { target, confidence: evenOdds }).atLeast;
    const moreRecords = remainingToScreen(draws, rest, { target, confidence });
    return `. Now ${percent(likelyRecall)} are likely; to reach the confidence, ${moreRecords} more of ${waiting} records must be screened, if none of them is relevant`;
  };
  const relevantText = `of the relevant records that the search found were kept, with ${percent(confidence)} confidence`;
  const statement =
    waiting === 0
      ? "every record that the search found was screened"
      : reached
        ? `${percent(target)} ${relevantText}; the risk that it is less is ${percent(bound.risk)}`
        : `at least ${percent(bound.atLeast)} ${relevantText}; ${percent(target)} are asked for${outlookText()}`;
  return { ...bound, reached, statement };
}

/**
 * The statistics of the batches with this one, and the claim about the recall if the user asked for one. `waiting`: the
 * number of records that nobody has screened.
 */
export function screeningMetrics(
  rrd: Rrd,
  {
    screened,
    kept,
    rounds,
    waiting,
  }: { readonly screened: number; readonly kept: number; readonly rounds: number; readonly waiting: number },
): Pick<Metrics, "screening" | "recall"> {
  const earlier = batchesOf(rrd);
  const batch = { screened, kept, rounds };
  const batches = screened === 0 ? earlier : [...earlier, batch];
  const recall = recallOf(rrd.requirements, batches, { rounds, waiting });
  if (recall === undefined) return screened === 0 ? {} : { screening: batches };
  const { atLeast: at_least, risk, reached, statement } = recall;
  return {
    screening: screened === 0 ? earlier : [...earlier, { ...batch, recall_at_least: at_least, risk }],
    recall: { at_least, risk, reached, says: statement },
  };
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(3))} %`;
