import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  guardSignals,
  limitIterations,
  limitWallTime,
  watchFiles,
} from "../../../../src/engine/loop/stop-conditions/limits.js";
import { accepted, failed, live, past, refused, soFar } from "../runs.js";

const minute = 60_000;

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

  test("what is under way counts, so that agents side by side don't go beyond the allowance", () => {
    const guard = limitIterations(2);
    expect(guard({ ...soFar([past(accepted)]), inFlight: [live({})] })).toMatchObject({ verdict: "limit" });
    expect(guard({ ...soFar([]), inFlight: [live({})] })).toBeUndefined();
  });

  test("what is being prepared counts as well, so that no more is prepared than may be worked on", () => {
    const guard = limitIterations(2);
    expect(guard({ ...soFar([past(accepted)]), preparing: 1 })).toMatchObject({ verdict: "limit" });
    expect(guard({ ...soFar([past(accepted)]), preparing: 0 })).toBeUndefined();
  });

  test("wall time counts from the start of the run", () => {
    const guard = limitWallTime(10 * minute);
    expect(guard(soFar([], 10 * minute - 1))).toBeUndefined();
    expect(guard(soFar([], 10 * minute))).toMatchObject({
      verdict: "limit",
      reason: expect.stringContaining("10 minutes"),
    });
  });

  test("PAUSE blocks, STOP interrupts, and both name the file to delete", () => {
    const folder = mkdtempSync(join(tmpdir(), "rr-guards-"));
    try {
      const guard = watchFiles(folder);
      expect(guard(soFar([]))).toBeUndefined();
      writeFileSync(join(folder, "PAUSE"), "");
      expect(guard(soFar([]))).toMatchObject({
        verdict: "blocked",
        reason: expect.stringContaining(join(folder, "PAUSE")),
      });
      writeFileSync(join(folder, "STOP"), "");
      expect(guard(soFar([]))).toMatchObject({
        verdict: "interrupted",
        reason: expect.stringContaining(join(folder, "STOP")),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a signal ends the run under its own name", () => {
    const finish = new AbortController();
    const guard = guardSignals(finish.signal);
    expect(guard(soFar([]))).toBeUndefined();
    finish.abort("SIGTERM");
    expect(guard(soFar([]))).toMatchObject({ verdict: "interrupted", signal: "SIGTERM" });
  });
});
