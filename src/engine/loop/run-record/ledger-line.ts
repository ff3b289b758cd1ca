import type { LedgerLine } from "../../generated/ledger.js";
import { withoutUndefined } from "../../lib/without-undefined.js";
import { occupancyOf } from "../stop-conditions/context-window.js";
import type { AgentRun, Unit } from "../types.js";
import { workedMs } from "./agent-run.js";

/** Milliseconds converted to seconds, rounded to a tenth. */
export const toSeconds = (ms: number): number => Math.round(ms / 100) / 10;

/** US dollars, rounded to a millionth: sums of prices can be 1.0000000000000002. */
export const roundUsd = (usd: number): number => Math.round(usd * 1e6) / 1e6;

/** The ledger fields of every iteration. `prepareMs`: duration of the preparation; absent: none. */
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
    phase: unit.phase,
    outcome,
    ...withoutUndefined({ role: unit.role, round: unit.round }),
    agent: run.agent,
    ...withoutUndefined({ model: run.model, agent_version: run.version, prompt_sha256: brief.prompt }),
    confinement: run.confinement,
    ...withoutUndefined({ worker: run.worker }),
    duration_seconds: toSeconds(workedMs(run)),
    ...(prepareMs === undefined ? {} : { prepare_seconds: toSeconds(prepareMs) }),
    tokens: { input: usage.input, cached: usage.cached, output: usage.output, requests: usage.requests },
    brief_tokens: brief.tokens,
    ...withoutUndefined({ cost_usd: run.cost_usd, estimated: run.estimated, billing: run.billing }),
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
