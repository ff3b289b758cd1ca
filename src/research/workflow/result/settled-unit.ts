import type { Outcome } from "../../../engine/loop/types.js";
import type { Research } from "../../folder/research.js";
import type { ResearchUnit } from "../derived/state.js";
import type { Acceptable, Judging } from "./accepted-result.js";

/** Where what code has done is folded in, and what time it is then. */
export interface Settling {
  readonly research: Pick<Research, "fold" | "nextIteration">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Folds what code alone has done for a unit, as an iteration without an agent. `judge` says what that is. */
export async function foldSettled(
  { research, now }: Settling,
  { id, phase }: ResearchUnit,
  prepareMs: number,
  judge: (judging: Judging) => Acceptable,
): Promise<Extract<Outcome, { outcome: "accepted" }>> {
  const at = new Date(now());
  const iteration = research.nextIteration();
  const judged = judge({ iteration, agent: "", at });
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
      phase,
      outcome: "accepted",
      duration_seconds: 0,
      prepare_seconds: Math.round(prepareMs / 100) / 10,
      ...judged.ledger,
    },
  });
  return { outcome: "accepted", summary: judged.summary };
}
