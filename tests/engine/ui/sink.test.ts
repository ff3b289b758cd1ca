import { expect, test } from "vitest";
import type { LoopEvent, Verdict } from "../../../src/engine/loop/types.js";
import { follow, exitCodeOf } from "../../../src/engine/ui/sink.js";
import { event } from "./events.js";

const verdict: Verdict = { verdict: "complete", reason: "Done." };

function watcher() {
  const seen: string[] = [];
  return {
    seen,
    sink: { event: (each: LoopEvent) => void seen.push(each.type), close: () => void seen.push("closed") },
  };
}

test("following a loop shows each event in order, closes once and answers with the verdict", async () => {
  const { seen, sink } = watcher();
  async function* loop(): AsyncGenerator<LoopEvent, Verdict> {
    yield event.runStarted();
    yield event.runEnded(1, verdict);
    return verdict;
  }
  await expect(follow(loop(), sink)).resolves.toEqual(verdict);
  expect(seen).toEqual(["run-started", "run-ended", "closed"]);
});

test("the terminal is given back also when the loop throws, and the error goes on", async () => {
  const { seen, sink } = watcher();
  async function* loop(): AsyncGenerator<LoopEvent, Verdict> {
    yield event.runStarted();
    throw new Error("ours");
  }
  await expect(follow(loop(), sink)).rejects.toThrow("ours");
  expect(seen).toEqual(["run-started", "closed"]);
});

test.each([
  [{ verdict: "complete", reason: "" }, 0],
  [{ verdict: "failed", reason: "" }, 1],
  [{ verdict: "limit", reason: "" }, 3],
  [{ verdict: "stuck", reason: "" }, 4],
  [{ verdict: "blocked", reason: "" }, 5],
  [{ verdict: "interrupted", reason: "", signal: "SIGINT" }, 130],
  [{ verdict: "interrupted", reason: "", signal: "SIGTERM" }, 143],
  [{ verdict: "interrupted", reason: "", signal: "SIGHUP" }, 129],
] as [Verdict, number][])("the verdict %o has the exit code %i", (ended, code) => {
  expect(exitCodeOf(ended)).toBe(code);
});
