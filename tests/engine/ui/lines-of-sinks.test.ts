import { expect, onTestFinished, test, vi } from "vitest";
import type { LoopEvent } from "../../../src/engine/loop/types.js";
import { plainSink, quietSink } from "../../../src/engine/ui/plain.js";
import { at, event } from "./events.js";
import { fakeIo } from "./fake-io.js";
import { jsonSink } from "../../../src/engine/ui/sink.js";

const whole = [
  event.runStarted(),
  event.started(10),
  event.agent(11, { type: "text", text: "thinking" }),
  event.agent(12, { type: "notice", message: "API error 529, attempt 2" }),
  event.usage(20, 30_000, 900),
  event.ended(82, { outcome: "accepted", summary: "PRESENT, 31 of 50" }),
  event.notice(83, "warning", "The commit\nfailed.\u001b[2J"),
  event.waiting(84, 144, "The limit is reached."),
  event.runEnded(145, { verdict: "limit", reason: "All iterations are used up." }),
];

test("off a terminal each event worth reading is one line without escape sequences", () => {
  const io = fakeIo();
  const sink = plainSink(io, new AbortController().signal);
  whole.forEach((each) => sink.event(each));
  expect(io.out()).toBe("");
  expect(io.err().split("\n")).toEqual([
    "10:00:00 research with claude",
    "10:00:10 #1 ANALYSIS: Grasping with few samples (3 of 12 done, brief of 5.2k tokens)",
    "10:00:12 #1 API error 529, attempt 2",
    "10:01:22 #1 accepted: PRESENT, 31 of 50 (1m 12s, 36.1k tokens, $0.12)",
    "10:01:23 warning: The commit failed.",
    "10:01:24 waiting until 10:02: The limit is reached.",
    "10:02:25 limit: All iterations are used up.",
    "10:02:25 1 iteration in 2m 25s · 36.1k tokens · $0.12",
    "",
  ]);
});

test("the iterations of a run without a project or a task have no numbers", () => {
  const io = fakeIo();
  const sink = plainSink(io, new AbortController().signal, { isNumbered: false });
  whole.forEach((each) => sink.event(each));
  expect(io.err()).toContain("10:01:22 accepted: PRESENT, 31 of 50 (1m 12s, 36.1k tokens, $0.12)\n");
  expect(io.err()).not.toContain("#");
});

test("how many agents work at a time is told as the run begins, if it is more than one", () => {
  const told = (jobs?: number): string => {
    const io = fakeIo();
    plainSink(io, new AbortController().signal).event({ ...event.runStarted(), jobs } as LoopEvent);
    return io.err();
  };
  expect([told(), told(3)]).toEqual([
    "10:00:00 research with claude\n",
    "10:00:00 research with claude, 3 at a time\n",
  ]);
});

test("only a project or a task is told to be complete, not the step that made it", () => {
  const ready = event.runEnded(10, { verdict: "complete", reason: "The project is ready." });
  const told = (isNumbered: boolean): string => {
    const io = fakeIo();
    plainSink(io, new AbortController().signal, { isNumbered }).event(ready);
    return io.err();
  };
  expect(told(false)).toContain("The project is ready.\n");
  expect([told(true), told(false)].map((text) => text.includes("complete"))).toEqual([true, false]);
});

test("each number of an iteration is shown: one that code alone did has its line and is counted", () => {
  const io = fakeIo();
  const sink = plainSink(io, new AbortController().signal);
  const settled = { type: "settled", at: at(83), iteration: 2, unit: "p2", phase: "ANALYSIS", title: "Hands" } as const;
  for (const each of [...whole.slice(0, 6), { ...settled, summary: "REJECT, retracted" }, ...whole.slice(-1)])
    sink.event(each);
  const lines = io.err().split("\n");
  expect(lines).toContain("10:01:23 #2 ANALYSIS, without an agent: Hands: REJECT, retracted");
  expect(lines.at(-2)).toBe("10:02:25 2 iterations in 2m 25s, 1 of them without an agent · 36.1k tokens · $0.12");
});

test("a summary of the history is told only where somebody asks for all", () => {
  const summarised: LoopEvent = {
    type: "history-compressed",
    at: at(90),
    iteration: 5,
    by: "built-in",
    chars_before: 2415,
    chars_after: 423,
    duration_seconds: 0,
    trend: [423],
    tokens_saved: 511,
    tokens: 0,
    compressions: 1,
    total_tokens_saved: 511,
  };
  const told = (verbose: boolean): string => {
    const io = fakeIo();
    const sink = plainSink(io, new AbortController().signal, { verbose });
    for (const each of [...whole, summarised, event.runEnded(145, { verdict: "limit", reason: "Over." })])
      sink.event(each);
    return io.err();
  };
  expect(told(false)).not.toMatch(/history|summarised/i);
  expect(told(true)).toContain("10:01:30 history up to #5 summarised by built-in: 2415 → 423 characters (18 %)");
});

test("off a terminal a preparation that nothing else is said beside is named once, when it takes seconds", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const io = fakeIo();
  const sink = plainSink(io, new AbortController().signal);
  const preparing = (unit: string): LoopEvent => ({
    type: "preparing",
    at: at(0),
    unit,
    phase: "ANALYSIS",
    title: unit,
  });
  const prepared = (unit: string): LoopEvent => ({
    type: "prepared",
    at: at(0),
    unit,
    title: unit,
    outcome: "ready",
    duration_seconds: 1,
  });
  sink.event(preparing("quick"));
  vi.advanceTimersByTime(500);
  sink.event(prepared("quick"));
  vi.advanceTimersByTime(60_000);
  expect(io.err()).toBe("");
  sink.event(preparing("slow"));
  vi.advanceTimersByTime(60_000);
  sink.event(prepared("slow"));
  sink.event(event.started(10));
  sink.event(preparing("ahead"));
  vi.advanceTimersByTime(60_000);
  expect(io.err().match(/preparing: .*/g)).toEqual(["preparing: slow"]);
  sink.event(event.ended(82, { outcome: "accepted", summary: "PRESENT" }));
  vi.advanceTimersByTime(60_000);
  expect(io.err().match(/preparing: .*/g)).toEqual(["preparing: slow", "preparing: ahead"]);
  sink.close();
});

test.each([
  ["an iteration", [event.started(10)], /after this iteration/],
  ["nothing but a preparation", [], /no iteration is under way/],
])("Ctrl+C while %s is under way says what it ends", (_, events, said) => {
  const io = fakeIo();
  const interrupt = new AbortController();
  const sink = plainSink(io, interrupt.signal);
  for (const each of [event.runStarted(), ...events]) sink.event(each);
  interrupt.abort("SIGINT");
  expect(io.err()).toMatch(said);
  sink.close();
});

test("off a terminal a criterion is named while its check takes seconds, and otherwise only with what was found", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const io = fakeIo();
  const sink = plainSink(io, new AbortController().signal);
  sink.event({ type: "preparing", at: at(0), unit: "task", phase: "TASK", title: "Make it" });
  sink.event(event.checking(0, "file_exists a"));
  vi.advanceTimersByTime(500);
  sink.event(event.checked(1, "file_exists a", true));
  sink.event(event.checking(1, "tests_pass"));
  vi.advanceTimersByTime(60_000);
  expect(io.err().match(/(?<=^\S+ ).*/gm)).toEqual(["✓ file_exists a", "checking: tests_pass"]);
  sink.event(event.checking(2, "lint_clean"));
  sink.close();
  vi.advanceTimersByTime(60_000);
  expect(io.err()).not.toContain("lint_clean");
});

test("a wait that ends on another day says on which", () => {
  const io = fakeIo();
  plainSink(io, new AbortController().signal).event(event.waiting(84, 84 + 3 * 86_400, "The limit is reached."));
  expect(io.err()).toMatch(/^10:01:24 waiting until \d{4}-\d\d-\d\d 10:01: The limit is reached\.\n$/);
});

test("a wait after a failure does not say the failure again", () => {
  const io = fakeIo();
  const sink = plainSink(io, new AbortController().signal);
  const failure = { kind: "rate-limit", message: "The service refuses requests." } as const;
  sink.event(event.ended(80, { outcome: "failed", failure }, undefined));
  sink.event(event.waiting(81, 86, failure.message));
  expect(io.err().trimEnd().split("\n").at(-1)).toBe("10:01:21 waiting 5s, then trying again");
});

test("with --quiet only warnings and the reason of an incomplete end are said", () => {
  const io = fakeIo();
  const sink = quietSink(io);
  whole.forEach((each) => sink.event(each));
  expect(io.err()).toBe("warning: The commit failed.\nlimit: All iterations are used up.\n");
  sink.event(event.runEnded(146, { verdict: "complete", reason: "Done." }));
  expect(io.err()).not.toContain("Done.");
});

test("as JSON every event is one line on stdout, and nothing else is", () => {
  const io = fakeIo();
  const sink = jsonSink(io);
  whole.forEach((each) => sink.event(each));
  expect(io.err()).toBe("");
  expect(
    io
      .out()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(JSON.parse(JSON.stringify(whole)));
});

test("as JSON what an agent says is left out and counted while nobody reads it, and no other event is", () => {
  const waits = { bytes: 0 };
  const lines: string[] = [];
  const stdout = (text: string) => void (lines.push(text), (waits.bytes += text.length));
  const io = Object.defineProperty(fakeIo({ stdout }), "unread", { get: () => waits.bytes });
  const sink = jsonSink(io);
  const words = event.agent(11, { type: "text", text: "x".repeat(1000) });
  for (let said = 0; said < 10_000; said += 1) sink.event(words);
  const kept = lines.length;
  expect(waits.bytes).toBeLessThan(5_000_000);
  whole.forEach((each) => sink.event(each));
  const own = lines.slice(kept).filter((line) => !line.includes("were left out here"));
  expect(own.map((line) => JSON.parse(line))).toEqual(
    JSON.parse(JSON.stringify(whole.filter(({ type }) => type !== "agent"))),
  );
  expect(lines[kept]).toContain(
    `${10_000 - kept} events of agents were left out here, because stdout was read too slowly.`,
  );
  waits.bytes = 0;
  sink.event(words);
  expect(lines.at(-1)).toContain("xxx");
});
