import { expect, onTestFinished, test } from "vitest";
import type { Searching } from "../../../../src/engine/generated/event.js";
import { plainSink } from "../../../../src/engine/ui/plain.js";
import { withEvent, roundRows, type SearchRound } from "../../../../src/engine/ui/terminal/searching.js";
import { terminalSink } from "../../../../src/engine/ui/terminal/terminal.js";
import { event } from "../events.js";
import { fakeIo } from "../fake-io.js";
import { screenOf } from "../screen.js";

const at = (seconds: number): string => new Date(event.start + seconds * 1000).toISOString();
const searching = (seconds: number, source: string, more: Partial<Searching> = {}): Searching => ({
  type: "searching",
  at: at(seconds),
  source,
  round: 1,
  done: 0,
  all: 4,
  found: 0,
  ...more,
});

const search = [
  searching(1, "arXiv"),
  searching(1, "Semantic Scholar"),
  searching(1, "Brave", { failed: true, over: true, reason: "Brave needs a key; set BRAVE_API_KEY." }),
  searching(2, "arXiv", { done: 1, found: 12, asked: "tactile grasping", listed: 12 }),
  searching(3, "Semantic Scholar", {
    done: 1,
    asked: "tactile grasping",
    listed: 0,
    failed: true,
    over: true,
    reason: "Semantic Scholar: it asks to wait.",
  }),
  searching(4, "arXiv", { done: 2, found: 13, asked: "soft robot", listed: 1, reason: "The second page is missing." }),
];

test("while sources are searched the terminal has a bar for each, and says why one is not asked; then they make room", () => {
  const io = fakeIo({ isTTY: true });
  let now = event.start;
  const sink = terminalSink(io, {
    agent: "claude",
    maxIterations: 9,
    finish: new AbortController().signal,
    clock: { now: () => now },
    verbose: false,
  });
  onTestFinished(() => sink.close());
  for (const each of [event.runStarted(), ...search]) {
    now = Date.parse(each.at);
    sink.event(each);
  }
  expect(screenOf(io.err(), 80).slice(0, 5)).toEqual([
    "Searching, round 1",
    "  arXiv             ██████████░░░░░░░░░░ 2 of 4 · 13 records",
    "  Semantic Scholar  stopped after 1 of 4: it asks to wait.",
    "  Brave             not asked: Brave needs a key; set BRAVE_API_KEY.",
    "claude · run 4s",
  ]);
  now += 1000;
  sink.event(searching(5, "arXiv", { round: 2 }));
  expect(screenOf(io.err(), 80).filter((line) => line.startsWith("  "))).toEqual([
    "  arXiv  ░░░░░░░░░░░░░░░░░░░░ 0 of 4 · 0 records",
  ]);
  now += 1000;
  sink.event(event.started(6));
  expect(screenOf(io.err(), 80).some((line) => line.includes("arXiv"))).toBe(false);
});

test("rows of a search fit a narrow window, whatever sources say", () => {
  for (const columns of [20, 40]) {
    const io = fakeIo({ isTTY: true, columns });
    const sink = terminalSink(io, {
      agent: "claude",
      finish: new AbortController().signal,
      clock: { now: () => event.start },
      verbose: false,
    });
    for (const each of search)
      sink.event({ ...each, reason: `${each.reason ?? ""}\u001b[31m long and odd\n`.repeat(9) });
    sink.event(event.notice(9, "info", "x"));
    expect(screenOf(io.err(), columns).length).toBeLessThan(9);
    sink.close();
  }
});

test("off a terminal each answer is a line: what was asked, how many came, what failed and why", () => {
  const io = fakeIo();
  const sink = plainSink(io, new AbortController().signal);
  for (const each of search) sink.event(each);
  sink.close();
  expect(io.err().split("\n")).toEqual([
    "10:00:01 Brave is not asked: Brave needs a key; set BRAVE_API_KEY.",
    "10:00:02 arXiv 1 of 4, tactile grasping: 12 records",
    "10:00:03 Semantic Scholar 1 of 4, tactile grasping: no answer: it asks to wait; no more queries for now",
    "10:00:04 arXiv 2 of 4, soft robot: 1 record (The second page is missing.)",
    "",
  ]);
});

test("queries that a source fails for one reason are one line with their count, told once, when something else follows or its round ends", () => {
  const io = fakeIo();
  const sink = plainSink(io, new AbortController().signal);
  const reason = "example.org was not found (ENOTFOUND).";
  const fails = (seconds: number, source: string, done: number, more: Partial<Searching> = {}) =>
    searching(seconds, source, { done, asked: `query ${done}`, listed: 0, failed: true, reason, ...more });
  for (const each of [
    ...[fails(1, "arXiv", 1), fails(1, "OpenAlex", 1), fails(2, "OpenAlex", 2), fails(2, "arXiv", 2)],
    fails(3, "arXiv", 3, { over: true }),
    searching(4, "OpenAlex", { done: 3, found: 7, asked: "query 3", listed: 7 }),
    fails(5, "OpenAlex", 4, { reason: "It is busy." }),
    searching(6, "OpenAlex", { done: 4, found: 7, over: true }),
    ...[fails(7, "arXiv", 1, { round: 2 }), fails(8, "arXiv", 2, { round: 2, reason: "It is busy." })],
    searching(9, "arXiv", { round: 2, done: 2, over: true }),
  ])
    sink.event(each);
  sink.close();
  expect(io.err().split("\n")).toEqual([
    "10:00:03 arXiv 3 of 4: no answer to 3 queries: example.org was not found (ENOTFOUND); no more queries for now",
    "10:00:04 OpenAlex 2 of 4: no answer to 2 queries: example.org was not found (ENOTFOUND)",
    "10:00:04 OpenAlex 3 of 4, query 3: 7 records",
    "10:00:06 OpenAlex 4 of 4, query 4: no answer: It is busy",
    "10:00:09 arXiv 2 of 4, query 2: no answer: It is busy",
    "",
  ]);
});

test("of a folder of many documents both views tell how far they are and how long it takes, a log every 15 seconds", () => {
  const documents = Array.from({ length: 41 }, (_, done) =>
    searching(done, "folder:papers", { done, all: 100, found: done }),
  );
  const plain = fakeIo({});
  const log = plainSink(plain, new AbortController().signal);
  for (const each of documents) log.event(each);
  log.close();
  expect(plain.err().match(/folder:papers .*/g)).toEqual([
    "folder:papers 15 of 100, about 1m 25s left",
    "folder:papers 30 of 100, about 1m 10s left",
  ]);
  const live = roundRows(
    documents.reduce<SearchRound>((round, each) => withEvent(round, each), new Map()),
    100,
  );
  expect(live.map(({ text }) => text)).toEqual([expect.stringContaining("40 of 100 · 40 records, about 1m 00s left")]);
});
