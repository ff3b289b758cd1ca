import type { AgentEvent, LoopEvent, Outcome, Verdict } from "../../../src/engine/loop/types.js";

const start = Date.parse("2026-03-01T10:00:00.000Z");
export const at = (seconds: number): string => new Date(start + seconds * 1000).toISOString();

/** Events of a run that began at 10:00 UTC; `seconds` is when they happen. */
export const event = {
  start: start,
  runStarted: (): LoopEvent => ({ type: "run-started", at: at(0), workflow: "research", agent: "claude" }),
  started: (seconds: number, title = "Grasping with few samples", iteration = 1): LoopEvent => ({
    type: "iteration-started",
    at: at(seconds),
    iteration,
    unit: "arxiv_1",
    phase: "ANALYSIS",
    title,
    brief_tokens: 5210,
    workspace: "/state/1",
    progress: { done: 3, total: 12 },
  }),
  agent: (seconds: number, said: AgentEvent): LoopEvent => ({
    type: "agent",
    at: at(seconds),
    iteration: 1,
    event: said,
  }),
  usage: (seconds: number, input: number, output: number, cost_usd?: number): LoopEvent =>
    event.agent(seconds, { type: "usage", usage: { input, cached: 0, output, requests: 2 }, cost_usd }),
  ended: (seconds: number, outcome: Outcome, cost_usd: number | undefined = 0.12): LoopEvent => ({
    type: "iteration-ended",
    at: at(seconds),
    iteration: 1,
    unit: "arxiv_1",
    outcome,
    duration_seconds: 72,
    usage: { input: 35_000, cached: 20_000, output: 1100, requests: 2 },
    cost_usd,
  }),
  checking: (seconds: number, criterion: string): LoopEvent => ({ type: "checking", at: at(seconds), criterion }),
  checked: (seconds: number, criterion: string, passed: boolean, detail = ""): LoopEvent => ({
    type: "checked",
    at: at(seconds),
    criterion,
    passed,
    ms: 1,
    detail,
  }),
  waiting: (seconds: number, until: number, reason: string): LoopEvent => ({
    type: "waiting",
    at: at(seconds),
    until: at(until),
    reason,
  }),
  notice: (seconds: number, level: "info" | "warning", message: string): LoopEvent => ({
    type: "notice",
    at: at(seconds),
    level,
    message,
  }),
  runEnded: (seconds: number, verdict: Verdict): LoopEvent => ({
    type: "run-ended",
    at: at(seconds),
    verdict,
    progress: { done: 12, total: 12 },
  }),
};
