import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { occupancyOf } from "../../../engine/loop/guards/context-window.js";
import type { AgentRun, Unit } from "../../../engine/loop/types.js";
import { given } from "../../../engine/lib/given.js";

/** What the ledger says of an iteration whatever came of it. `prepareMs`: how long its unit was prepared, where it was. */
export function ledgerLine(
  unit: Unit,
  run: AgentRun,
  at: Date,
  outcome: LedgerLine["outcome"],
  prepareMs?: number,
): LedgerLine {
  const { usage, brief } = run;
  const occupancy = occupancyOf(run);
  return {
    iteration: run.iteration,
    at: at.toISOString(),
    unit: unit.id,
    phase: unit.phase as LedgerLine["phase"],
    outcome,
    agent: run.agent,
    ...given({ model: run.model }),
    confinement: run.confinement,
    // A clock may be set back while an agent runs.
    duration_seconds: Math.max(0, Math.round((run.endedAt - run.startedAt) / 100) / 10),
    ...(prepareMs === undefined ? {} : { prepare_seconds: Math.round(prepareMs / 100) / 10 }),
    tokens: { input: usage.input, cached: usage.cached, output: usage.output, requests: usage.requests },
    brief_tokens: brief.tokens,
    ...given({ cost_usd: run.cost_usd, estimated: run.estimated, billing: run.billing }),
    ...(occupancy === undefined
      ? {}
      : {
          context: {
            largest_request: occupancy.largest,
            window: occupancy.window,
            share: Math.round(occupancy.share * 1000) / 1000,
          },
        }),
  };
}
