import type { Outcome, Work } from "../../../engine/loop/types.js";
import type { Research } from "../../folder/research.js";
import { acceptDiscovery } from "./judge-batch.js";
import type { Batch } from "./screening-batch.js";
import { reportLine } from "./source-reports.js";
import type { ResearchState, ResearchUnit } from "../records/state.js";

/** Folds a batch that holds nothing for an agent, as an iteration without one: the search is over, or goes on with the next batch. */
export async function acceptEmptyBatch(
  { research, now }: { readonly research: Pick<Research, "fold" | "nextIteration">; readonly now: () => number },
  { rrd }: ResearchState,
  { id, title, phase }: ResearchUnit,
  batch: Batch,
  prepareMs: number,
  { tell }: Pick<Work, "tell">,
): Promise<Outcome> {
  const at = new Date(now());
  const iteration = research.nextIteration();
  const judged = acceptDiscovery(rrd, id, { unit: id, papers: [], sources: [] }, batch, { iteration, agent: "", at });
  if ("reasons" in judged) throw new Error(`an empty batch was refused: ${judged.reasons.join("; ")}`);
  await research.fold({
    iteration,
    at: at.toISOString(),
    message: `${id}: ${judged.summary}`,
    changes: [...judged.changes],
    progress: `---\n\n${judged.progress.trimEnd()}\n\nIteration: ${iteration}\n\n`,
    ledger: {
      iteration,
      at: at.toISOString(),
      unit: id,
      phase: phase as "DISCOVERY",
      outcome: "accepted",
      duration_seconds: 0,
      prepare_seconds: Math.round(prepareMs / 100) / 10,
      ...judged.ledger,
    },
  });
  const said = batch.sources.map((source) => ` ${reportLine(source).replace(/\.$/, "")}.`).join("");
  await tell({
    type: "notice",
    level: "info",
    message: `${title}: nothing to screen and no source left to search, so no agent was started.${said}`,
  });
  return { outcome: "accepted", summary: judged.summary };
}
