import { expect, onTestFinished, test } from "vitest";
import type { LoopEvent } from "../../../src/engine/loop/types.js";
import { createTell } from "../../../src/engine/ui/event-delivery.js";

test("a listener that throws rejects what it was told, and nothing else where nobody waits for it", async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", onUnhandled);
  onTestFinished(() => void process.off("unhandledRejection", onUnhandled));
  const heard: string[] = [];
  const event = ({ type }: LoopEvent) => {
    heard.push(type);
    if (type === "notice") throw new Error("the listener's own");
  };
  const tell = createTell({
    sink: { event, close: () => undefined },
    points: { at: async () => [] },
    redact: (text) => text,
    now: () => 0,
  });
  await tell({ type: "run-started", workflow: "research", agent: "claude" });
  void tell({ type: "notice", level: "info", message: "one" });
  await expect(tell({ type: "notice", level: "info", message: "two" })).rejects.toThrow("the listener's own");
  await tell({ type: "waiting", until: "2026-01-01T00:00:00.000Z", reason: "a limit" });
  await new Promise((resolve) => setImmediate(resolve));
  expect([heard, unhandled]).toEqual([["run-started", "notice", "notice", "waiting"], []]);
});
