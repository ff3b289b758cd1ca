/** One batch of screening: how many records were judged, and how many of them kept. */
export interface ScreenedBatch {
  readonly screened: number;
  readonly kept: number;
}

/** The recall that screening can claim so far. */
export interface RecallBound {
  /** Minimum share of relevant records that were found, with the requested confidence, 0 to 1. */
  readonly atLeast: number;
  /**
   * The p value of the test, 0 to 1: the probability of so few relevant records in the last batches if the recall were
   * below the target.
   */
  readonly risk: number;
}

/**
 * A bound of the recall by the stopping rule of Callaghan and Müller-Hansen (2020), "Statistical stopping criteria for
 * automated screening in systematic reviews", Systematic Reviews 9:273, doi 10.1186/s13643-020-01521-4.
 *
 * The last screened records are treated as a random sample without replacement from all records that were waiting
 * before. If the recall were below the target, such a sample would contain more relevant records; the hypergeometric
 * distribution gives the probability of so few. Records in order of relevance contain more relevant ones than a random
 * sample, so the result is conservative. As in the paper, every start of the sample is tried, and the smallest p value
 * counts.
 *
 * `earlier`: number of records kept before the first of these batches; `waiting`: number of records that are not
 * screened. The batches must be later than the last search that found new records.
 */
export function recallBound(
  batches: readonly ScreenedBatch[],
  { earlier, waiting }: { readonly earlier: number; readonly waiting: number },
  { target, confidence }: { readonly target: number; readonly confidence: number },
): RecallBound {
  const keptTotal = batches.reduce((sum, { kept }) => sum + kept, earlier);
  const totalScreened = batches.reduce((sum, { screened }) => sum + screened, 0);
  const logFactorials = logFactorialsTo(waiting + totalScreened);
  let maxMissed = waiting;
  let risk = 1;
  let [drawnCount, kept] = [0, 0];
  for (const batch of batches.toReversed()) {
    drawnCount += batch.screened;
    kept += batch.kept;
    const urnSize = waiting + drawnCount;
    const chance = (relevant: number) =>
      cumulativeChance(kept, { urn: urnSize, relevant, drawn: drawnCount }, logFactorials);
    // The minimum number of relevant records in the urn with which the recall would be below the target.
    const minMissedRelevant = Math.floor(keptTotal / target) + 1 - (keptTotal - kept);
    risk = Math.min(risk, minMissedRelevant > urnSize - (drawnCount - kept) ? 0 : chance(minMissedRelevant));
    // The maximum number of missed records that is not refuted: the probability decreases with their number.
    let [maxPossible, minRefuted] = [0, maxMissed + 1];
    while (minRefuted - maxPossible > 1) {
      const middle = (maxPossible + minRefuted) >> 1;
      if (chance(kept + middle) > 1 - confidence) maxPossible = middle;
      else minRefuted = middle;
    }
    maxMissed = maxPossible;
  }
  return { atLeast: keptTotal === 0 ? 0 : keptTotal / (keptTotal + maxMissed), risk };
}

/**
 * How many waiting records must be screened until the rule is satisfied, if none of them is relevant (otherwise more);
 * at most all of them. Parameters: see `recallBound`.
 */
export function remainingToScreen(
  batches: readonly ScreenedBatch[],
  { earlier, waiting }: { readonly earlier: number; readonly waiting: number },
  goal: { readonly target: number; readonly confidence: number },
): number {
  const isReached = (additional: number) =>
    recallBound([...batches, { screened: additional, kept: 0 }], { earlier, waiting: waiting - additional }, goal)
      .risk <
    1 - goal.confidence;
  let [tooFew, enough] = [-1, waiting];
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1;
    if (isReached(middle)) enough = middle;
    else tooFew = middle;
  }
  return enough;
}

/** Natural logarithms of 0!, 1!, … */
function logFactorialsTo(maximum: number): Float64Array {
  const logs = new Float64Array(maximum + 1);
  for (let number = 2; number <= maximum; number++) logs[number] = (logs[number - 1] ?? 0) + Math.log(number);
  return logs;
}

/**
 * The cumulative hypergeometric distribution: the probability that a sample contains at most `maximum` relevant
 * records.
 */
function cumulativeChance(
  maximum: number,
  {
    urn: urnSize,
    relevant,
    drawn: drawnCount,
  }: { readonly urn: number; readonly relevant: number; readonly drawn: number },
  logFactorials: Float64Array,
): number {
  const log = (number: number) => logFactorials[number] ?? 0;
  const choose = (total: number, chosen: number) => log(total) - log(chosen) - log(total - chosen);
  let chance = 0;
  for (
    let relevantDrawn = Math.max(0, drawnCount - (urnSize - relevant));
    relevantDrawn <= Math.min(maximum, relevant, drawnCount);
    relevantDrawn++
  )
    chance += Math.exp(
      choose(relevant, relevantDrawn) +
        choose(urnSize - relevant, drawnCount - relevantDrawn) -
        choose(urnSize, drawnCount),
    );
  return Math.min(1, chance);
}
