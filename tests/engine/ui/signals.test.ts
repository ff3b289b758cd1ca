import { expect, test } from "vitest";
import { listenForSignals } from "../../../src/engine/ui/signals.js";
import { fakeIo, fakeSignals } from "./fake-io.js";

test("the first Ctrl+C lets the iteration finish, the second ends it", () => {
  const io = fakeIo();
  const signals = listenForSignals(io);
  try {
    io.signals.emit("SIGINT");
    expect([signals.finish.reason, signals.abort.aborted]).toEqual(["SIGINT", false]);
    io.signals.emit("SIGINT");
    expect(signals.abort.aborted).toBe(true);
  } finally {
    signals.stop();
  }
});

test.each([
  ["SIGTERM", "SIGTERM"],
  ["SIGHUP", "SIGHUP"],
  ["SIGQUIT", "SIGTERM"],
  ["SIGUSR2", "SIGTERM"],
] as const)("%s ends the iteration at once, and %s is kept for the exit code", (sent, name) => {
  const io = fakeIo();
  const signals = listenForSignals(io);
  try {
    io.signals.emit(sent);
    expect([signals.finish.reason, signals.abort.reason]).toEqual([name, name]);
  } finally {
    signals.stop();
  }
});

test("SIGHUP does nothing under nohup, and SIGUSR1 nothing anywhere: Node would open a debugger", () => {
  const io = fakeIo({ signals: fakeSignals({ underNohup: true }) });
  const signals = listenForSignals(io);
  try {
    io.signals.emit("SIGHUP");
    io.signals.emit("SIGUSR1");
    expect([signals.finish.aborted, signals.abort.aborted]).toEqual([false, false]);
  } finally {
    signals.stop();
  }
});

test("a reader of stdout that went away before or during the run ends it after the iteration under way", () => {
  const gone = new AbortController();
  const during = listenForSignals(fakeIo({ readerGone: gone.signal }));
  gone.abort("SIGHUP");
  const after = listenForSignals(fakeIo({ readerGone: gone.signal }));
  during.stop();
  after.stop();
  for (const { finish, abort } of [during, after]) expect([finish.reason, abort.aborted]).toEqual(["SIGHUP", false]);
});

test("stopping gives every signal back", () => {
  const io = fakeIo();
  const signals = listenForSignals(io);
  const names = io.signals.eventNames();
  expect(names).toEqual(expect.arrayContaining(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]));
  signals.stop();
  expect(io.signals.eventNames()).toEqual([]);
});
