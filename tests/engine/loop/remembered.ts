import type { Observation } from "../../../src/engine/generated/memory.js";
import { defaultHistoryLimits } from "../../../src/engine/lib/history-limits.js";
import { type LoopMemory } from "../../../src/engine/loop/run-record/loop-memory.js";

/** A memory with the default limits in which nothing has happened yet, and `over`. */
export const remembered = (over: Partial<LoopMemory> = {}): LoopMemory => ({
  limits: defaultHistoryLimits,
  observations: [],
  since: 0,
  ledger: [],
  steering: [],
  ...over,
});

/** A refused iteration, and `over`. */
export const seen = (iteration: number, over: Partial<Observation> = {}): Observation => ({
  iteration,
  unit: `p${iteration}`,
  outcome: "refused",
  said: `reason ${iteration}`,
  answer: `answer-${iteration}`,
  ...over,
});
