import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  stopOnSignal,
  limitIterations,
  limitWallTime,
  stopOnFiles,
} from "../../../../src/engine/loop/stop-conditions/limits.js";
import { accepted, failed, live, past, refused, soFar } from "../runs.js";

const minute = 60_000;

describe("limits", () => {
  test("the allowance is used up by iterations in which the agent worked", () => {
    const stopCondition = limitIterations(2);
    expect(stopCondition(soFar([past(accepted), past(refused)]))).toMatchObject({ verdict: "limit" });
    expect(stopCondition(soFar([past(accepted)]))).toBeUndefined();
  });

  test("waiting for a service does not use the allowance up", () => {
    const stopCondition = limitIterations(2);
    expect(stopCondition(soFar([past(accepted), past(failed("network")), past(failed("rate-limit"))]))).toBeUndefined();
    expect(stopCondition(soFar([past(accepted), past(failed("crashed"))]))).toMatchObject({ verdict: "limit" });
  });

  test("what is under way counts, so that agents side by side don't go beyond the allowance", () => {
    const stopCondition = limitIterations(2);
    expect(stopCondition({ ...soFar([past(accepted)]), inFlight: [live({})] })).toMatchObject({ verdict: "limit" });
    expect(stopCondition({ ...soFar([]), inFlight: [live({})] })).toBeUndefined();
  });

  test("what is being prepared counts as well, so that no more is prepared than may be worked on", () => {
    const stopCondition = limitIterations(2);
    expect(stopCondition({ ...soFar([past(accepted)]), preparing: 1 })).toMatchObject({ verdict: "limit" });
    expect(stopCondition({ ...soFar([past(accepted)]), preparing: 0 })).toBeUndefined();
  });

  test("wall time counts from the start of the run", () => {
    const stopCondition = limitWallTime(10 * minute);
    expect(stopCondition(soFar([], 10 * minute - 1))).toBeUndefined();
    expect(stopCondition(soFar([], 10 * minute))).toMatchObject({
      verdict: "limit",
      reason: expect.stringContaining("10 minutes"),
    });
  });

  test("PAUSE blocks, STOP interrupts, and both name the file to delete", () => {
    const folder = mkdtempSync(join(tmpdir(), "rr-stop-"));
    try {
      const stopCondition = stopOnFiles(folder);
      expect(stopCondition(soFar([]))).toBeUndefined();
      writeFileSync(join(folder, "PAUSE"), "");
      expect(stopCondition(soFar([]))).toMatchObject({
        verdict: "blocked",
        reason: expect.stringContaining(join(folder, "PAUSE")),
      });
      writeFileSync(join(folder, "STOP"), "");
      expect(stopCondition(soFar([]))).toMatchObject({
        verdict: "interrupted",
        reason: expect.stringContaining(join(folder, "STOP")),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a signal ends the run under its own name", () => {
    const finish = new AbortController();
    const stopCondition = stopOnSignal(finish.signal);
    expect(stopCondition(soFar([]))).toBeUndefined();
    finish.abort("SIGTERM");
    expect(stopCondition(soFar([]))).toMatchObject({ verdict: "interrupted", signal: "SIGTERM" });
  });
});
