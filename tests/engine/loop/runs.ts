import type {
  Agent,
  AgentRun,
  Failure,
  LiveIteration,
  Outcome,
  PastIteration,
  RunSoFar,
  Unit,
} from "../../../src/engine/loop/types.js";

/** Runs for stop conditions to judge, begun at a known time. */
export const start = Date.parse("2026-01-01T00:00:00Z");

export const failed = (kind: Failure["kind"], more: Partial<Failure> = {}): Outcome => ({
  outcome: "failed",
  failure: { kind, message: `It was ${kind}.`, ...more },
});
export const accepted: Outcome = { outcome: "accepted", summary: "" };
export const refused: Outcome = { outcome: "refused", reasons: [""] };

export const unit = (id: string): Unit => ({ kind: "paper", id, phase: "ANALYSIS", title: `Paper ${id}` });

/** An iteration that ended `at` milliseconds after the start. */
export const past = (outcome: Outcome, at = 0, id = "paper_1", more: Partial<PastIteration> = {}): PastIteration => ({
  iteration: 1,
  unit: unit(id),
  agent: "claude",
  outcome,
  startedAt: start + at,
  endedAt: start + at,
  usage: { input: 0, cached: 0, output: 0, requests: 0 },
  ...more,
});

export const soFar = (iterations: PastIteration[], now = 0): RunSoFar => ({
  startedAt: start,
  now: start + now,
  iterations,
});

export const live = (more: Partial<AgentRun>, id = "paper_2"): LiveIteration => ({
  unit: unit(id),
  run: {
    iteration: 2,
    agent: "claude",
    confinement: "workspace",
    startedAt: start,
    endedAt: start,
    usage: { input: 0, cached: 0, output: 0, requests: 0 },
    brief: {
      iteration: 2,
      text: "",
      tokens: 0,
      workspace: "/nowhere",
      access: { web: false, read: false, everything: false },
    },
    message: "",
    ...more,
  },
});

export const named = (name: string): Agent => ({
  name,
  confinement: "workspace",
  async *run() {
    yield { type: "end", message: "" };
  },
});
