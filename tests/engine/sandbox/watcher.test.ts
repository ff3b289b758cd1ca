import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { afterEach, describe, expect, test } from "vitest";
import { defaultLimits } from "../../../src/engine/sandbox/sandbox.js";
import { makeCheck } from "../../../src/engine/sandbox/watcher.js";

let child: ChildProcess | undefined;
afterEach(() => {
  if (child?.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  child = undefined;
});

/** A program with processes below it; ready once it has said so. */
async function started(script: string): Promise<number> {
  child = spawn("sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => child?.stdout?.once("data", resolve));
  return child.pid ?? 0;
}

describe.skipIf(process.platform !== "linux")("the look at what a program uses", () => {
  test("says nothing of one that uses little", async () => {
    const look = makeCheck(await started("echo ready; sleep 60"), [tmpdir()], {
      ...defaultLimits,
      minFreeDiskBytes: 0,
    });
    expect(look()).toBeUndefined();
  });

  test("counts its processes and those below them", async () => {
    const root = await started("sleep 60 & (sleep 60; :) & echo ready; wait");
    const limits = { ...defaultLimits, minFreeDiskBytes: 0 };
    // The last of them may not have been started when the first is seen.
    await expect.poll(() => makeCheck(root, [], { ...limits, maxProcesses: 3 })()).toBe("more than 3 processes");
    expect(makeCheck(root, [], { ...limits, maxProcesses: 30 })()).toBeUndefined();
  });

  test("adds up their memory", async () => {
    const hold = `"${process.execPath}" -e 'const kept = Buffer.alloc(8e7, 1); console.log("ready"); setTimeout(() => kept, 60000)'`;
    const root = await started(`${hold} & ${hold} > /dev/null & wait`);
    await expect
      .poll(() => makeCheck(root, [], { ...defaultLimits, maxMemoryBytes: 2 ** 30 / 8, minFreeDiskBytes: 0 })())
      .toBe("more than 0.1 GB of memory");
    expect(makeCheck(root, [], { ...defaultLimits, minFreeDiskBytes: 0 })()).toBeUndefined();
  });

  test("does not hold against it that the disk was full before", async () => {
    const look = makeCheck(await started("echo ready; sleep 60"), [tmpdir()], {
      ...defaultLimits,
      minFreeDiskBytes: Number.MAX_SAFE_INTEGER,
    });
    expect(look()).toBeUndefined();
  });
});
