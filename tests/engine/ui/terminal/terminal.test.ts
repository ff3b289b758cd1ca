import { afterEach, expect, test } from "vitest";
import type { LoopEvent, Outcome } from "../../../../src/engine/loop/types.js";
import type { Sink } from "../../../../src/engine/ui/sink.js";
import { terminalSink } from "../../../../src/engine/ui/terminal/terminal.js";
import { event } from "../events.js";
import { type FakeIo, fakeIo } from "../fake-io.js";
import { screenOf } from "../screen.js";

const open: Sink[] = [];
afterEach(() => open.splice(0).forEach((sink) => sink.close()));

/** A sink that was shown `events`, each at its own time. */
function shown(
  events: readonly LoopEvent[],
  io: FakeIo = fakeIo({ isTTY: true }),
  finish = new AbortController().signal,
): { io: FakeIo; sink: Sink } {
  let now = event.start;
  const sink = terminalSink(io, {
    agent: "claude",
    maxIterations: 18,
    finish,
    clock: { now: () => now },
    verbose: false,
  });
  open.push(sink);
  for (const each of events) {
    now = Date.parse(each.at);
    sink.event(each);
  }
  return { io, sink };
}

test("the live lines say what is being done, by whom, for how long, at what cost, and how far it is", () => {
  const { io } = shown([
    event.runStarted(),
    event.started(10),
    event.usage(20, 30_000, 900, 0.08),
    event.agent(82, { type: "text", text: "I read the method.\nNow the results.\n" }),
  ]);
  expect(screenOf(io.err(), 80)).toEqual([
    "ANALYSIS                                                                  10:01",
    "#1 Grasping with few samples                              1m 12s · 30.9k tokens",
    "› Now the results.",
    "██████░░░░░░░░░░░░░░░░░░ 3 of 12",
    "claude · run 1m 22s · 30.9k tokens · $0.08 · limit: #18",
    "Ctrl+C: stop after this iteration · from another terminal: steer, stop",
    "",
  ]);
});

test("the criterion under check stands in the live lines with its clock, before an agent and after it", () => {
  const live = (...events: LoopEvent[]) => screenOf(shown(events).io.err(), 80);
  const begun = [event.runStarted(), event.checking(0, "tests_pass: make t")];
  const before = live(...begun, event.notice(75, "info", "Painted."));
  expect(before.some((line) => /^Checking: tests_pass: make t +1m 15s$/.test(line))).toBe(true);
  const later = [
    ...begun,
    event.checked(1, "tests_pass: make t", false, "1 failed."),
    event.started(10),
    event.agent(20, { type: "text", text: "Done." }),
  ];
  expect(live(...later).join("\n")).not.toContain("Checking");
  const after = live(...later, event.checking(30, "lint_clean"), event.notice(95, "info", "Painted."));
  expect(after.some((line) => /^Checking: lint_clean +1m 05s$/.test(line))).toBe(true);
  expect(after.join("\n")).not.toContain("› Done.");
});

test("how long an agent has been silent is shown from ten seconds on, and no more once it speaks", () => {
  const { io, sink } = shown([
    event.runStarted(),
    event.started(10),
    event.agent(20, { type: "tool", name: "Bash", detail: "make all" }),
    // Anything that has the view painted: nothing here is said by the agent.
    event.notice(25, "info", "The next is prepared."),
  ]);
  expect(screenOf(io.err(), 80)).toContain("› Bash make all");
  sink.close();
  const later = shown([
    event.runStarted(),
    event.started(10),
    event.agent(20, { type: "tool", name: "Bash", detail: "make all" }),
    event.notice(65, "info", "The next is prepared."),
  ]);
  expect(screenOf(later.io.err(), 80)).toContainEqual(expect.stringMatching(/^› Bash make all +45s$/));
  const spoken = shown([
    event.runStarted(),
    event.started(10),
    event.agent(20, { type: "tool", name: "Bash", detail: "make all" }),
    event.agent(66, { type: "text", text: "It is made.\n" }),
  ]);
  expect(screenOf(spoken.io.err(), 80)).toContain("› It is made.");
});

test("an iteration that ended leaves one line, above what is repainted", () => {
  const { io } = shown([
    event.runStarted(),
    event.started(10),
    event.ended(82, { outcome: "accepted", summary: "PRESENT, 31 of 50" }),
    event.started(83, "Sim-to-real without tears", 5),
  ]);
  const [first, , second] = screenOf(io.err(), 80);
  expect(first).toBe("✓ #1 Grasping with few samples — PRESENT, 31 of 50       1m 12s · 36.1k · $0.12");
  expect(second).toMatch(/^#5 Sim-to-real without tears +<1s$/);
});

test("what is wrong with a result is said once while it stays the same", () => {
  const failed = {
    outcome: "failed",
    failure: { kind: "crashed", message: "claude ended with exit code 1" },
  } satisfies Outcome;
  const refused = { outcome: "refused", reasons: ["no quotes"] } satisfies Outcome;
  const { io } = shown([
    event.runStarted(),
    ...[failed, failed, refused, failed].flatMap((outcome, index) => [
      event.started(10 * index, "Grasping", index + 1),
      { ...event.ended(10 * index + 5, outcome), iteration: index + 1 } as LoopEvent,
    ]),
  ]);
  const reasons = screenOf(io.err(), 80).filter((line) => line.startsWith("    "));
  expect(reasons.map((line) => line.trim())).toEqual([
    "claude ended with exit code 1",
    "for the same reason",
    "refused: no quotes",
    "claude ended with exit code 1",
  ]);
});

test("no time of a run goes by while the machine sleeps, in the live lines and in the last one", () => {
  const io = fakeIo({ isTTY: true });
  const sleeps = [{ from: event.start + 30_000, until: event.start + 3_630_000 }];
  const sink = terminalSink(io, {
    agent: "claude",
    finish: new AbortController().signal,
    verbose: false,
    clock: { now: () => event.start + 3_690_000, sleeps: () => sleeps },
  });
  open.push(sink);
  for (const each of [event.runStarted(), event.started(10)]) sink.event(each);
  const lines = screenOf(io.err(), 80);
  expect(lines.some((line) => /^#1 Grasping .* 1m 20s$/.test(line))).toBe(true);
  expect(lines).toContainEqual(expect.stringContaining("claude · run 1m 30s"));
  sink.event(event.ended(3_690, { outcome: "accepted", summary: "3 of 3 quotes found" }));
  sink.event(event.runEnded(3_690, { verdict: "complete", reason: "All papers are read." }));
  expect(screenOf(io.err(), 80).join("\n")).toContain("1 iteration in 1m 30s");
});

test("what became of the work is counted, named is the project, and a run of many shows one clock each", () => {
  const io = fakeIo({ isTTY: true, columns: 60 });
  const counts = { included: 2, kept_for_insights: 1, rejected: 0 };
  const begun = { ...event.started(10), progress: { done: 3, total: 12, counts } } as LoopEvent;
  const sink = terminalSink(io, {
    name: "grasping-2026-03-01",
    agent: "claude",
    maxIterations: 3,
    finish: new AbortController().signal,
    clock: { now: () => event.start + 20_000 },
    verbose: false,
  });
  open.push(sink);
  for (const each of [event.runStarted(), begun, event.started(12, "Second paper", 2)]) sink.event(each);
  const lines = screenOf(io.err(), 60);
  expect(lines[0]).toMatch(/^grasping-2026-03-01 · ANALYSIS +10:00$/);
  expect(lines.filter((line) => /^#\d .* \d+s$/.test(line))).toHaveLength(2);
  sink.event({ ...begun, iteration: 3 } as LoopEvent);
  expect(screenOf(io.err(), 60).join("\n")).toContain("3 of 12 · 2 included · 1 kept for insights · 0 rejected");
  const waits = { done: 3, total: 12, counts: { included: 0, kept_for_insights: 0, rejected: 1, waiting_for_you: 2 } };
  sink.event({ ...begun, iteration: 4, progress: waits } as LoopEvent);
  expect(screenOf(io.err(), 60)).toContainEqual(expect.stringMatching(/3 of 12 · 1 rejected · 2 waiting for you$/));
});

test("the reasons of a refusal are shown whole, on lines of their own", () => {
  const reasons = ["5 of 8 quotes are not in the text", "the score of novelty is 7, and at most 5 is allowed"];
  const { io } = shown([event.runStarted(), event.started(10), event.ended(82, { outcome: "refused", reasons })]);
  const [first, second, third] = screenOf(io.err(), 80);
  expect(first).toMatch(/^✗ #1 Grasping with few samples +1m 12s · 36\.1k · \$0\.12$/);
  expect(`${second?.trim()} ${third?.trim()}`).toBe(`refused: ${reasons.join("; ")}`);
});

test("on a narrow terminal what came of an iteration stands in a line of its own, whole", () => {
  const io = fakeIo({ isTTY: true, columns: 40 });
  const summary = "PRESENT 31/50, 7 of 7 quotes found";
  const { sink } = shown(
    [event.runStarted(), event.started(10), event.ended(82, { outcome: "accepted", summary })],
    io,
  );
  sink.close();
  expect(screenOf(io.err(), 40).slice(0, 2)).toEqual([expect.stringMatching(/^✓ #1 Gra.*… +1m 12s/), `    ${summary}`]);
});

test.each([40, 60, 80, 120])(
  "no line is wider than a terminal of %i columns, however long the texts are",
  (columns) => {
    const long = "A very long title about grasping 抓取 in simulation ".repeat(6);
    const io = fakeIo({ isTTY: true, columns });
    const { sink } = shown(
      [
        event.runStarted(),
        event.started(10, long),
        event.agent(11, { type: "tool", name: "WebSearch", detail: long }),
        event.ended(82, { outcome: "accepted", summary: long }),
        event.started(90, long),
        event.ended(120, { outcome: "failed", failure: { kind: "timeout", message: long } }),
        event.waiting(121, 400, long),
        event.notice(122, "warning", long),
        event.runEnded(130, { verdict: "limit", reason: long }),
      ],
      io,
    );
    sink.close();
    expect(() => screenOf(io.err(), columns)).not.toThrow();
  },
);

test("an agent cannot write escape sequences to the terminal", () => {
  const { io } = shown([
    event.runStarted(),
    event.started(10, "Title \u001b]0;owned\u0007\u001b[2J"),
    event.agent(11, { type: "text", text: "\u001b[31mred\u001b[0m \u009b2J \u202etxt" }),
    event.ended(12, { outcome: "accepted", summary: "ok \u001b]52;c;aGk=\u0007" }),
  ]);
  // screenOf throws for any sequence that is not the live view's own.
  expect(screenOf(io.err(), 80).join("\n")).not.toMatch(/owned|aGk|\u202e/);
});

test("a wait says until when and why", () => {
  const { io } = shown([event.runStarted(), event.waiting(5, 245, "The model's rate limit is reached.")]);
  expect(screenOf(io.err(), 80)[0]).toMatch(
    /^Waiting until \d\d:\d\d \(4m 00s\): The model's rate limit is reached\.$/,
  );
});

test("a wait that ends on another day says on which", () => {
  const { io } = shown([event.runStarted(), event.waiting(5, 5 + 3 * 86_400, "The limit is reached.")]);
  expect(screenOf(io.err(), 80)[0]).toMatch(
    /^Waiting until \d{4}-\d\d-\d\d \d\d:\d\d \(3d 00h\): The limit is reached\.$/,
  );
});

test("at the end the cursor is back and only permanent lines are left", () => {
  const { io, sink } = shown([
    event.runStarted(),
    event.started(10),
    event.ended(82, { outcome: "accepted", summary: "PRESENT" }),
    event.runEnded(83, { verdict: "complete", reason: "All 12 papers are read." }),
  ]);
  sink.close();
  expect(screenOf(io.err(), 80).map((line) => line.trimEnd())).toEqual([
    "✓ #1 Grasping with few samples — PRESENT                 1m 12s · 36.1k · $0.12",
    "✓ complete: All 12 papers are read.",
    "1 iteration in 1m 23s · 36.1k tokens · $0.12",
    "",
  ]);
  expect(io.err().lastIndexOf("\u001b[?25h")).toBeGreaterThan(io.err().lastIndexOf("\u001b[?25l"));
});

test("after the window was made narrower, nothing of the old painting is left", () => {
  let columns = 80;
  const io = Object.defineProperty(fakeIo({ isTTY: true }), "columns", { get: () => columns }) as FakeIo;
  const { sink } = shown([event.runStarted(), event.started(10, "x".repeat(75))], io);
  const painted = io.err();
  columns = 40;
  sink.event(event.started(12, "Short"));
  // Of the five lines three took more than 40 columns: two rows each of the narrower window.
  expect(io.err().slice(painted.length)).toContain("\u001b[8A");
});

test("a chatty agent does not flood the terminal", () => {
  const chatter = Array.from({ length: 1000 }, () => event.agent(11, { type: "text", text: "word" }));
  const { io } = shown([event.runStarted(), event.started(10), ...chatter]);
  expect(io.err().length).toBeLessThan(3000);
});

test("a free wait for a closed service does not count as an iteration of this run", () => {
  const limited = { outcome: "failed", failure: { kind: "rate-limit", message: "Limit reached." } } as const;
  const { io } = shown([event.runStarted(), event.started(10), event.ended(12, limited, undefined), event.started(50)]);
  expect(screenOf(io.err(), 80).join("\n")).toContain("limit: #18");
});

test("after the first Ctrl+C the live lines say what happens, and what a second one would do", () => {
  const interrupt = new AbortController();
  const { io } = shown([event.runStarted(), event.started(10)], undefined, interrupt.signal);
  interrupt.abort("SIGINT");
  expect(screenOf(io.err(), 80)[4]).toBe("Stopping after this iteration; press Ctrl+C again to stop at once.");
});

test("a run that goes on with what earlier ones began says so once, above the live lines", () => {
  const { io } = shown([
    event.runStarted(),
    event.started(10, "Grasping", 4),
    event.ended(82, { outcome: "accepted", summary: "PRESENT" }),
    event.started(90, "Holding", 5),
  ]);
  const screen = screenOf(io.err(), 80);
  expect(screen[0]).toBe("· Continuing with iteration 4: 3 of 12 done.");
  expect(screen.join("\n").match(/Continuing/g)).toHaveLength(1);
});
