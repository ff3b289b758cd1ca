import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { heedSignals, limitIterations, limitWallTime, watchFiles } from "../../src/loop/guards.js";
import { heedFailures } from "../../src/loop/retry.js";
import { isVerdict, type Failure, type Outcome, type PastIteration, type RunSoFar } from "../../src/loop/types.js";

const start = Date.parse("2026-01-01T00:00:00Z");
const second = 1000;
const minute = 60 * second;

const failed = (kind: Failure["kind"], more: Partial<Failure> = {}): Outcome => ({
  outcome: "failed",
  failure: { kind, message: `It was ${kind}.`, ...more },
});
const accepted: Outcome = { outcome: "accepted", summary: "" };
const refused: Outcome = { outcome: "refused", reasons: [""] };

const past = (outcome: Outcome, at = 0, id = "paper_1"): PastIteration => ({
  iteration: 1,
  unit: { kind: "paper", id, phase: "ANALYSIS", title: "A paper" },
  outcome,
  endedAt: start + at,
  usage: { input: 0, cached: 0, output: 0, requests: 0 },
});
const soFar = (iterations: PastIteration[], now = 0): RunSoFar => ({ startedAt: start, now: start + now, iterations });

describe("limits", () => {
  test("the allowance is used up by iterations in which the agent worked", () => {
    const guard = limitIterations(2);
    expect(guard(soFar([past(accepted), past(refused)]))).toMatchObject({ verdict: "limit" });
    expect(guard(soFar([past(accepted)]))).toBeUndefined();
  });

  test("waiting for a service does not use the allowance up", () => {
    const guard = limitIterations(2);
    expect(guard(soFar([past(accepted), past(failed("network")), past(failed("rate-limit"))]))).toBeUndefined();
    expect(guard(soFar([past(accepted), past(failed("crashed"))]))).toMatchObject({ verdict: "limit" });
  });

  test("wall time counts from the start of the run", () => {
    const guard = limitWallTime(10 * minute);
    expect(guard(soFar([], 10 * minute - 1))).toBeUndefined();
    expect(guard(soFar([], 10 * minute))).toMatchObject({ verdict: "limit", reason: expect.stringContaining("10 minutes") });
  });

  test("PAUSE blocks, STOP interrupts, and both name the file to delete", () => {
    const folder = mkdtempSync(join(tmpdir(), "rr-guards-"));
    try {
      const guard = watchFiles(folder);
      expect(guard(soFar([]))).toBeUndefined();
      writeFileSync(join(folder, "PAUSE"), "");
      expect(guard(soFar([]))).toMatchObject({ verdict: "blocked", reason: expect.stringContaining(join(folder, "PAUSE")) });
      writeFileSync(join(folder, "STOP"), "");
      expect(guard(soFar([]))).toMatchObject({ verdict: "interrupted", reason: expect.stringContaining(join(folder, "STOP")) });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a signal ends the run under its own name", () => {
    const finish = new AbortController();
    const guard = heedSignals(finish.signal);
    expect(guard(soFar([]))).toBeUndefined();
    finish.abort("SIGTERM");
    expect(guard(soFar([]))).toMatchObject({ verdict: "interrupted", signal: "SIGTERM" });
  });
});

describe("what a failed run means", () => {
  const guard = heedFailures(120 * minute);
  const delay = (iterations: PastIteration[], now = 0): number | undefined => {
    const answer = guard(soFar(iterations, now));
    return answer === undefined || isVerdict(answer) ? undefined : answer.until - start;
  };

  test("nothing, after an accepted or a refused result", () => {
    expect(guard(soFar([past(failed("crashed")), past(accepted)]))).toBeUndefined();
    expect(guard(soFar([past(failed("crashed")), past(refused)]))).toBeUndefined();
  });

  test.each(["timeout", "idle", "crashed", "no-answer"] as const)("after %s it is tried again in two seconds", (kind) => {
    expect(delay([past(failed(kind))])).toBe(2 * second);
    expect(guard(soFar([past(failed(kind))], 2 * second))).toBeUndefined();
  });

  test("three failures of one unit in a row end the run", () => {
    const three = [past(failed("crashed")), past(failed("timeout")), past(failed("idle"))];
    expect(guard(soFar(three, minute))).toMatchObject({ verdict: "failed", reason: expect.stringContaining("three failures in a row") });
  });

  test("failures of other units and accepted work in between do not add up to three", () => {
    expect(guard(soFar([past(failed("crashed")), past(failed("crashed"), 0, "paper_2"), past(failed("crashed"))], minute))).toBeUndefined();
    expect(guard(soFar([past(failed("crashed")), past(accepted), past(failed("crashed")), past(failed("crashed"))], minute))).toBeUndefined();
  });

  test("a network that was away in between neither counts as a failure nor ends the row", () => {
    const row = [past(failed("crashed")), past(failed("crashed")), past(failed("network"))];
    expect(isVerdict(guard(soFar(row, minute)))).toBe(false);
    expect(guard(soFar([...row, past(failed("crashed"))], minute))).toMatchObject({ verdict: "failed" });
  });

  test("a rate limit is waited for until the stated reset", () => {
    const resetAt = new Date(start + 5 * 60 * minute).toISOString();
    expect(delay([past(failed("rate-limit", { resetAt }))])).toBe(5 * 60 * minute);
    expect(guard(soFar([past(failed("rate-limit", { resetAt }))], 5 * 60 * minute))).toBeUndefined();
  });

  test("a stated reset that is over already is waited for as if none was stated: no hot loop", () => {
    expect(delay([past(failed("rate-limit", { resetAt: "2020-01-01T00:00:00Z" }))])).toBe(30 * second);
  });

  test("a rate limit without a reset is waited for 30 s, doubling up to 15 minutes", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7].map((count) => delay(Array.from({ length: count }, () => past(failed("rate-limit")))));
    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900].map((seconds) => seconds * second));
  });

  test("a rate limit never fails the run, however often it comes", () => {
    expect(isVerdict(guard(soFar(Array.from({ length: 200 }, () => past(failed("rate-limit"))))))).toBe(false);
  });

  test("a network is waited for 2 s, doubling up to 5 minutes", () => {
    const waits = [1, 2, 3, 8, 9].map((count) => delay(Array.from({ length: count }, () => past(failed("network")))));
    expect(waits).toEqual([2, 4, 8, 256, 300].map((seconds) => seconds * second));
  });

  test("a network that is away longer than the patience blocks the run", () => {
    const row = [past(failed("network"), 0), past(failed("network"), 119 * minute)];
    expect(isVerdict(guard(soFar(row, 119 * minute)))).toBe(false);
    expect(guard(soFar(row, 120 * minute))).toMatchObject({ verdict: "blocked", reason: expect.stringContaining("120 minutes") });
  });

  test("a login that is missing blocks at once, a program that is missing fails at once", () => {
    expect(guard(soFar([past(failed("auth"))]))).toMatchObject({ verdict: "blocked", reason: "It was auth." });
    expect(guard(soFar([past(failed("missing"))]))).toMatchObject({ verdict: "failed" });
  });
});
