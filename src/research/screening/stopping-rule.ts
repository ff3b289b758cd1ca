/** One batch of screening: how many records were judged, and how many of them kept. */
export interface ScreenedBatch {
  readonly screened: number;
  readonly kept: number;
}

/** What screening may claim so far. */
export interface RecallBound {
  /** Share of the relevant records that was found at least, at the confidence asked for. 0 to 1. */
  readonly atLeast: number;
  /**
   * The chance of seeing so few relevant records of late if the recall were below the target: the p value of the test.
   * 0 to 1.
   */
  readonly risk: number;
}

/**
 * How much of what is relevant was found, by the stopping rule of Callaghan and Müller-Hansen (2020), "Statistical
 * stopping criteria for automated screening in systematic reviews", Systematic Reviews 9:273, doi
 * 10.1186/s13643-020-01521-4.
 *
 * The records screened last are taken for a draw without replacement from all that waited before them. If so many
 * relevant ones were left that the recall is below the target, a draw of that size would hold more of them; the
 * hypergeometric distribution says how likely the few that it held are. Records in order of relevance hold more
 * relevant ones than a random draw, so the answer is cautious. As in the paper, every point at which the last stretch
 * may begin is tried and the smallest p value counts.
 *
 * `earlier`: records kept before the first of these batches; `waiting`: records that nobody has screened. The batches
 * must all have drawn from what waits now and what they screened themselves, so they begin after the last search that
 * brought new records.
 */
export function recallBound(
  batches: readonly ScreenedBatch[],
  { earlier, waiting }: { readonly earlier: number; readonly waiting: number },
  { target, confidence }: { readonly target: number; readonly confidence: number },
): RecallBound {
  const found = batches.reduce((sum, { kept }) => sum + kept, earlier);
  const drawnAtMost = batches.reduce((sum, { screened }) => sum + screened, 0);
  const logFactorials = logFactorialsTo(waiting + drawnAtMost);
  let missedAtMost = waiting;
  let risk = 1;
  let [drawn, kept] = [0, 0];
  for (const batch of batches.toReversed()) {
    drawn += batch.screened;
    kept += batch.kept;
    const urn = waiting + drawn;
    const chance = (relevant: number) => chanceOfAtMost(kept, { urn, relevant, drawn }, logFactorials);
    // The fewest relevant records in the urn with which the recall is below the target.
    const tooMany = Math.floor(found / target) + 1 - (found - kept);
    risk = Math.min(risk, tooMany > urn - (drawn - kept) ? 0 : chance(tooMany));
    // The most that may be missed and are not yet refuted: the chance falls as their number grows.
    let [possible, refuted] = [0, missedAtMost + 1];
    while (refuted - possible > 1) {
      const middle = (possible + refuted) >> 1;
      if (chance(kept + middle) > 1 - confidence) possible = middle;
      else refuted = middle;
    }
    missedAtMost = possible;
  }
  return { atLeast: found === 0 ? 0 : found / (found + missedAtMost), risk };
}

/**
 * How many of the waiting records have to be screened until the rule is content, if none of them is relevant; more if
 * some are. At most all of them. Parameters as of `recallBound`.
 */
export function moreToScreen(
  batches: readonly ScreenedBatch[],
  { earlier, waiting }: { readonly earlier: number; readonly waiting: number },
  asked: { readonly target: number; readonly confidence: number },
): number {
  const isContent = (more: number) =>
    recallBound([...batches, { screened: more, kept: 0 }], { earlier, waiting: waiting - more }, asked).risk <
    1 - asked.confidence;
  let [tooFew, enough] = [-1, waiting];
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1;
    if (isContent(middle)) enough = middle;
    else tooFew = middle;
  }
  return enough;
}

/** Natural logarithms of 0!, 1!, … */
function logFactorialsTo(most: number): Float64Array {
  const logs = new Float64Array(most + 1);
  for (let number = 2; number <= most; number++) logs[number] = (logs[number - 1] ?? 0) + Math.log(number);
  return logs;
}

/**
 * The hypergeometric distribution: the chance that a draw from an urn holds at most so many of its relevant records.
 */
function chanceOfAtMost(
  most: number,
  { urn, relevant, drawn }: { readonly urn: number; readonly relevant: number; readonly drawn: number },
  logFactorials: Float64Array,
): number {
  const log = (number: number) => logFactorials[number] ?? 0;
  const choose = (all: number, some: number) => log(all) - log(some) - log(all - some);
  let chance = 0;
  for (let held = Math.max(0, drawn - (urn - relevant)); held <= Math.min(most, relevant, drawn); held++)
    chance += Math.exp(choose(relevant, held) + choose(urn - relevant, drawn - held) - choose(urn, drawn));
  return Math.min(1, chance);
}
