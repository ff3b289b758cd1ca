import type { Outcome, Work } from "../../../engine/loop/types.js";
import { acceptDiscovery } from "./judge-batch.js";
import type { Batch } from "./screening-batch.js";
import { reportLine } from "./source-reports.js";
import type { ResearchState, ResearchUnit } from "../derived/state.js";
import { foldSettled, type Settling } from "../result/settled-unit.js";

/** Folds a batch that holds nothing for an agent: the search is over, or goes on with the next batch. */
export async function acceptEmptyBatch(
  settling: Settling,
  { rrd }: ResearchState,
  unit: ResearchUnit,
  batch: Batch,
  prepareMs: number,
  { tell }: Pick<Work, "tell">,
): Promise<Outcome> {
  const outcome = await foldSettled(settling, unit, prepareMs, (judging) => {
    const judged = acceptDiscovery(rrd, unit.id, { unit: unit.id, papers: [], sources: [] }, batch, judging);
    if ("reasons" in judged) throw new Error(`an empty batch was refused: ${judged.reasons.join("; ")}`);
    return judged;
  });
  const said = batch.sources.map((source) => ` ${reportLine(source).replace(/\.$/, "")}.`).join("");
  await tell({
    type: "notice",
    level: "info",
    message: `${unit.title}: nothing to screen and no source left to search, so no agent was started.${said}`,
  });
  return outcome;
}
