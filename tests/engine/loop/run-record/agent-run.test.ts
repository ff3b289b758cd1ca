import { expect, test } from "vitest";
import { newRun, withEvent } from "../../../../src/engine/loop/run-record/agent-run.js";
import type { AgentEvent } from "../../../../src/engine/loop/types.js";
import { live, named, start } from "../runs.js";

const { brief } = live({}).run;
const used = { input: 1, cached: 0, output: 2, requests: 1 };
const after = (...events: AgentEvent[]) => events.reduce(withEvent, newRun(named("claude"), brief, start));

test("a run begins with nothing used, and one without a model costs nothing", () => {
  expect(newRun(named("claude"), brief, start)).toEqual(live({}).run);
  expect(newRun({ ...named("own"), free: true }, brief, start)).toMatchObject({ free: true, cost_usd: 0 });
});

test("a run is told of by the machine that it began on", () => {
  const run = after({ type: "begun", confinement: "sandbox", worker: "w1" });
  expect(run).toMatchObject({ confinement: "sandbox", worker: "w1" });
});

test("what an agent does goes into the digest of its run and nowhere else", () => {
  const { digest, ...rest } = after({ type: "tool", name: "Read", detail: "a.txt" });
  expect(digest?.counts.read).toBe(1);
  expect(rest).toEqual(live({}).run);
});

test("a run has its last use and message, and its failure where it failed", () => {
  const usage: AgentEvent = { type: "usage", usage: used, model: "opus", final: true };
  const { digest: _, ...run } = after(usage, { type: "end", message: "Done." });
  expect(run).toEqual({ ...live({}).run, usage: used, model: "opus", message: "Done." });
  const failure = { kind: "idle", message: "It was idle." } as const;
  expect(after({ type: "end", message: "", failure })).toMatchObject({ message: "", failure });
});

test("a cost that the CLI reports takes the place of an estimate, and stays where the next event tells none", () => {
  const guess: AgentEvent = { type: "usage", usage: used, cost_usd: 0.5, estimated: true };
  const told: AgentEvent = { type: "usage", usage: used, cost_usd: 0.25 };
  expect(after(guess)).toMatchObject({ cost_usd: 0.5, estimated: true });
  expect(after(guess, { type: "usage", usage: used })).toMatchObject({ cost_usd: 0.5, estimated: true });
  expect(after(guess, told)).toMatchObject({ cost_usd: 0.25 });
  expect(after(guess, told)).not.toHaveProperty("estimated");
});
