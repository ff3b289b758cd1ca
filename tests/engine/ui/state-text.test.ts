import { expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { headlineOf, type Standing, stateText } from "../../../src/engine/ui/state-text.js";
import { changeLine, changesOf, watchTable } from "../../../src/engine/ui/watch-lines.js";

const at = "2026-03-01T14:30:00.000Z";
const now = Date.parse("2026-03-02T14:30:00.000Z");
const spending = { iterations: 0, tokens: 0, input: 0, cached: 0, output: 0, seconds: 0 };
const standing = (over: Partial<Standing> = {}): Standing => ({
  noun: "project",
  folder: "/x/hands",
  title: "Hands",
  phase: "ANALYSIS",
  stage: "analysis",
  isFinished: false,
  running: false,
  abandoned: false,
  held: [],
  underWay: [],
  openDecisions: [],
  ledger: [],
  spending,
  progress: { done: 3, total: 1200 },
  progressNoun: "papers done",
  commands: { continueCommand: "research-ralph run hands", resumeCommand: "research-ralph stop --undo hands" },
  ...over,
});
const unit = { iteration: 5, unit: "p1", title: "On\nhands", phase: "ANALYSIS", agent: "claude", since: at };
const line: LedgerLine = { iteration: 1, at, unit: "p1", phase: "ANALYSIS", outcome: "refused", reasons: ["no quote"] };

test.each<[string, Partial<Standing>, string, string, string | undefined]>([
  ["at rest", {}, "waiting", "Not running, in analysis", "'research-ralph run hands' starts it"],
  ["begun", { ledger: [line] }, "waiting", "Not running, in analysis", "'research-ralph run hands' continues it"],
  [
    "with one thing to do",
    { ledger: [line], continuation: "writes the report again" },
    "waiting",
    "Not running, in analysis",
    "'research-ralph run hands' writes the report again",
  ],
  ["running", { running: true }, "running", "Running, in analysis", undefined],
  [
    "running and held",
    { running: true, held: ["PAUSE"] },
    "held",
    "Running, in analysis; ends before the next iteration",
    "'research-ralph stop --undo hands' removes PAUSE; then runs can start again",
  ],
  [
    "held twice",
    { held: ["PAUSE", "STOP"] },
    "held",
    "Stopped, in analysis",
    "'research-ralph stop --undo hands' removes PAUSE and STOP; then runs can start again",
  ],
  [
    "killed",
    { abandoned: true, ledger: [line] },
    "bad",
    "Its run was killed, in analysis",
    "'research-ralph run hands' continues it",
  ],
  ["finished", { isFinished: true }, "finished", "Finished", undefined],
  ["waiting", { isFinished: true, openDecisions: ["2 papers"] }, "finished", "Finished, and waits for you", undefined],
])("a state is worded once: %s", (_, over, tone, headline, next) => {
  const words = stateText(standing(over), now);
  expect([words.tone, words.headline, words.next]).toEqual([tone, headline, next]);
});

test("what is under way, how the last run ended, how far it is and what it cost are sentences of one line", () => {
  const lastRun = { at, verdict: "limit", reason: "All\niterations are used up." };
  const words = stateText(standing({ running: true, underWay: [unit], lastRun }), now);
  expect(words.doing).toEqual(["#5 p1"]);
  expect(words.underWay).toEqual([expect.stringMatching(/^#5 p1, claude: On hands, since 2026-03-01 /)]);
  expect(words.progress).toBe("3 of 1,200 papers done");
  expect(words).not.toHaveProperty("lastRun");
  expect(stateText(standing({ lastRun }), now).lastRun).toMatch(/^limit, 2026-03-01 .*: All iterations are used up\.$/);
  expect(stateText(standing(), now)).not.toHaveProperty("cost");
  const cost = (over: object) => stateText(standing({ spending: { ...spending, iterations: 1, ...over } }), now).cost;
  expect(cost({ tokens: 36_100, cost_usd: 0.1 })).toBe("36.1k tokens · $0.10");
  expect(cost({ cost_usd: 0.1, estimated: true })).toBe("≈ $0.10");
  expect(cost({ unreported: 1 })).toBe("cost not known");
  expect(cost({ cost_usd: 0, unreported: 1 })).toBe("cost not known");
});

test("a report, which knows of no run, says only whether it is finished and where it is", () => {
  expect(headlineOf({ isFinished: true, stage: "complete" })).toBe("Finished");
  expect(headlineOf({ isFinished: false, stage: "ideation" })).toBe("Unfinished, in ideation");
});

test("the name and the state stay in a narrow table of what is watched", () => {
  const lines = watchTable([standing({ lastRun: { at, verdict: "limit", reason: "" } })], now, 60);
  expect(lines).toEqual(["hands  Not running, in analysis  ░░░░░░░░░░  3/1200  limit"]);
  expect(watchTable([standing()], now, 48)).toEqual(["hands  Not running, in analysis  3/1200"]);
});

test("what happened between two looks is told once, a line each", () => {
  const [before, after] = [standing({ running: true }), standing({ abandoned: true, ledger: [line] })];
  expect(changesOf(before, after).map((change) => changeLine(change, now))).toEqual([
    "hands: #1 p1 refused: no quote (3 of 1,200 papers done)",
    "hands: its run was killed; the next run continues its work; its cost is not recorded",
  ]);
  expect(changesOf(after, after)).toEqual([]);
});
