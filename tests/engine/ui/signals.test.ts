import { expect, test } from "vitest";
import { listenForSignals } from "../../../src/engine/ui/signals.js";
import { fakeIo } from "./fake-io.js";

/** Calls the handler that was added last; a real signal would reach the test runner too. */
const signal = (name: NodeJS.Signals): void => process.listeners(name).at(-1)?.(name);

test("the first Ctrl+C lets the iteration finish, the second ends it", () => {
  const signals = listenForSignals(fakeIo());
  try {
    signal("SIGINT");
    expect([signals.finish.reason, signals.abort.aborted]).toEqual(["SIGINT", false]);
    signal("SIGINT");
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
  const signals = listenForSignals(fakeIo());
  try {
    signal(sent);
    expect([signals.finish.reason, signals.abort.reason]).toEqual([name, name]);
  } finally {
    signals.stop();
  }
});

test("SIGHUP does nothing under nohup, and SIGUSR1 nothing anywhere: Node would open a debugger", () => {
  const signals = listenForSignals(fakeIo(), true);
  try {
    signal("SIGHUP");
    signal("SIGUSR1");
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
  const count = () =>
    ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"].map((name) => process.listenerCount(name));
  const before = count();
  listenForSignals(fakeIo()).stop();
  expect(count()).toEqual(before);
});
