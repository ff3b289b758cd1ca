import type { Notice } from "../../../engine/loop/types.js";
import type { Research } from "../../folder/research.js";
import { acceptDiscovery } from "./accept-discovery.js";
import type { Batch } from "./screening-batch.js";
import { reportLine } from "./source-reports.js";
import type { ResearchState, ResearchUnit } from "../records/state.js";

interface Place {
  readonly research: Pick<Research, "fold">;
  readonly notices: Omit<Notice, "type" | "at">[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Whether a batch holds nothing for an agent: no candidate to judge and no source to search. */
export const isForNobody = (batch: Batch): boolean =>
  batch.candidates.length === 0 && (batch.toAgent ?? []).length === 0;

/** Notes a batch that holds nothing for an agent; false where there is something. */
export async function searchedAlone(
  { research, notices, now }: Place,
  { rrd }: ResearchState,
  { id, title }: ResearchUnit,
  batch: Batch | undefined,
  iteration: number,
): Promise<boolean> {
  if (batch === undefined || !isForNobody(batch)) return false;
  const at = new Date(now());
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
      phase: "DISCOVERY",
      outcome: "accepted",
      duration_seconds: 0,
      ...judged.ledger,
    },
  });
  const said = batch.sources.map((source) => ` ${reportLine(source).replace(/\.$/, "")}.`).join("");
  notices.push({
    level: "info",
    message: `${title}: nothing to screen and no source left to search, so no agent was started.${said}`,
  });
  return true;
}
