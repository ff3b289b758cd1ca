import type { Rrd } from "../../generated/rrd.js";
import { moreToScreen, type RecallBound, recallBound, type ScreenedBatch } from "../../screening/stopping-rule.js";
import { searchKey } from "../../derived/status.js";

type Metrics = NonNullable<NonNullable<Rrd["statistics"]>["discovery_metrics"]>;
type Screening = NonNullable<Metrics["screening"]>;

/** Batches of what is searched for now. */
export const screeningOf = (rrd: Rrd): Screening => {
  const metrics = rrd.statistics?.discovery_metrics;
  return metrics?.searched_for === searchKey(rrd) ? (metrics.screening ?? []) : [];
};

/** A claim at this confidence is more likely right than wrong. */
const evenOdds = 0.5;

export interface Recall extends RecallBound {
  readonly reached: boolean;
  /** What may be claimed, as one sentence. */
  readonly says: string;
}

/**
 * What may be claimed of the recall; undefined where the requirements ask for none. Only batches after the last of the
 * `rounds` of searching count as draws, because a new round brings records that the earlier ones could not draw.
 * `waiting`: records that nobody has screened.
 */
export function recallOf(
  requirements: Rrd["requirements"],
  batches: Screening,
  { rounds, waiting }: { readonly rounds: number; readonly waiting: number },
): Recall | undefined {
  const { target_recall: target, confidence } = requirements.screening ?? {};
  if (target === undefined || confidence === undefined) return undefined;
  const [drawn, before]: [ScreenedBatch[], ScreenedBatch[]] = [[], []];
  // An agent may add papers of its own, which were not drawn.
  for (const { screened, kept, rounds: after } of batches)
    (after === rounds ? drawn : before).push({ screened, kept: Math.min(kept, screened) });
  const earlier = before.reduce((sum, { kept }) => sum + kept, 0);
  const found = drawn.reduce((sum, { kept }) => sum + kept, earlier);
  const left = { earlier, waiting };
  const bound = recallBound(drawn, left, { target, confidence });
  // Where nothing was found, nothing says what would be relevant.
  const reached = waiting === 0 || (found > 0 && bound.risk < 1 - confidence);
  /** What is likely by now, and what certainty still takes. */
  const outlook = () => {
    if (found === 0) return "";
    const likely = recallBound(drawn, left, { target, confidence: evenOdds }).atLeast;
    const more = moreToScreen(drawn, left, { target, confidence });
    return `. Likely are ${percent(likely)} by now; the confidence takes ${more} more of ${waiting}, if none of them is relevant`;
  };
  const of = `of the relevant records that the search found were kept, with ${percent(confidence)} confidence`;
  const says =
    waiting === 0
      ? "every record that the search found was screened"
      : reached
        ? `${percent(target)} ${of}; the risk that it is less is ${percent(bound.risk)}`
        : `at least ${percent(bound.atLeast)} ${of}; ${percent(target)} are asked for${outlook()}`;
  return { ...bound, reached, says };
}

/**
 * The batches with this one; and what may be claimed of the recall where one is asked for. `waiting`: records that
 * nobody has screened.
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
  const before = screeningOf(rrd);
  const batch = { screened, kept, rounds };
  const batches = screened === 0 ? before : [...before, batch];
  const recall = recallOf(rrd.requirements, batches, { rounds, waiting });
  if (recall === undefined) return screened === 0 ? {} : { screening: batches };
  const { atLeast: at_least, risk, reached, says } = recall;
  return {
    screening: screened === 0 ? before : [...before, { ...batch, recall_at_least: at_least, risk }],
    recall: { at_least, risk, reached, says },
  };
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(3))} %`;
