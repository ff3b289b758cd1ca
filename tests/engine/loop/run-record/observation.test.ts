import { describe, expect, test } from "vitest";
import { defaultHistoryLimits } from "../../../../src/engine/lib/history-limits.js";
import { digestWithEvent, emptyDigest } from "../../../../src/engine/loop/run-record/digest.js";
import { type RunAnswer, observationOf, hasWorked } from "../../../../src/engine/loop/run-record/observation.js";
import type { AgentEvent, Failure, Outcome } from "../../../../src/engine/loop/types.js";
import { accepted, failed, live, refused, unit } from "../runs.js";

const says = (text: string): AgentEvent => ({ type: "text", text });
const reads = (detail: string): AgentEvent => ({ type: "tool", name: "Read", detail });

interface Ran {
  readonly did?: readonly AgentEvent[];
  readonly left?: RunAnswer;
  readonly requests?: number;
  readonly most?: number;
}
const observed = (outcome: Outcome, { did = [], left = {}, requests = 1, most = 1_500 }: Ran = {}) =>
  observationOf(
    unit("p1"),
    live({
      usage: { input: 0, cached: 0, output: 0, requests },
      ...(did.length === 0 ? {} : { digest: did.reduce(digestWithEvent, emptyDigest) }),
    }).run,
    outcome,
    left,
    {
      redact: (text) => text.replaceAll("hunter-2", "[gone]"),
      memory: { ...defaultHistoryLimits, observationChars: most },
    },
  );

describe("what is remembered of a run", () => {
  test("is what came of it and what its agent did, without secrets", () => {
    const did = [says("I use hunter-2."), reads("a.txt")];
    expect(observed({ outcome: "accepted", summary: "Found  with\n hunter-2. " }, { did })).toEqual({
      iteration: 2,
      unit: "p1",
      outcome: "accepted",
      said: "Found with [gone].",
      digest: "Said last: I use [gone].\nDid: Read a.txt",
    });
    expect(observed({ outcome: "refused", reasons: ["one", "two"] })).toEqual({
      iteration: 2,
      unit: "p1",
      outcome: "refused",
      said: "one; two",
    });
    expect(observed(failed("idle"))).toMatchObject({ outcome: "failed", failure: "idle", said: "It was idle." });
    expect(observed(refused)).not.toHaveProperty("failure");
  });

  test("is nothing where no agent started to work, or where several share the unit", () => {
    const kinds: Failure["kind"][] = ["rate-limit", "network", "auth", "missing", "unusable", "too-large", "aborted"];
    expect(kinds.filter((kind) => hasWorked(kind) || observed(failed(kind)) !== undefined)).toEqual([]);
    expect([hasWorked("idle"), hasWorked(undefined)]).toEqual([true, true]);
    expect(observed({ outcome: "noted", summary: "A draft." })).toBeUndefined();
  });

  test("is 300 characters of what came of it, an ellipsis where more was cut", () => {
    const said = (length: number) => observed({ outcome: "accepted", summary: "x".repeat(length) })?.said;
    expect(said(300)).toBe("x".repeat(300));
    expect(said(301)).toBe(`${"x".repeat(299)}…`);
  });

  test("is no longer than its bound with what its agent did, and has nothing of that where no room is left", () => {
    const did = [says("I read it all.")];
    const { said = "", digest = "" } = observed({ outcome: "accepted", summary: "x".repeat(90) }, { did, most: 100 })!;
    expect([said.length, digest]).toEqual([90, "Said last:"]);
    expect(observed({ outcome: "accepted", summary: "x".repeat(120) }, { did, most: 100 })).not.toHaveProperty(
      "digest",
    );
  });

  test("has the answer and its signs of a loop where it was not accepted", () => {
    const left = { answer: "abc", sketch: "s", left: true } as RunAnswer;
    const did = Array.from({ length: 5 }, (): AgentEvent => ({ type: "tool", name: "Write", detail: "out.md" }));
    expect(observed(refused, { left, did })).toMatchObject({ ...left, signs: ["redundant-writes"] });
    const done = observed(accepted, { left, did });
    for (const name of ["answer", "sketch", "left", "signs"]) expect(done).not.toHaveProperty(name);
    expect(observed(refused, { left: { answer: "abc" } })).not.toHaveProperty("left");
  });

  test("shows no sign of reading where a result was left, or its end is not known", () => {
    const did = [reads("a.txt")];
    expect(observed(refused, { did })).toMatchObject({ signs: ["read-loop"] });
    const unknown: Ran[] = [
      { did, left: { left: true } },
      { did, requests: 0 },
    ];
    for (const ran of unknown) expect(observed(refused, ran)).not.toHaveProperty("signs");
    expect(observed(failed("idle"), { did })).not.toHaveProperty("signs");
  });
});
