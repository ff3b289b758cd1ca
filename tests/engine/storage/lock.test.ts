import { existsSync, readFileSync, writeFileSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { hostname } from "node:os";
import { join, basename } from "node:path";
import { expect, it, describe, onTestFinished, vi } from "vitest";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { acquireLock, withLock, isHeld, isHeldByRun } from "../../../src/engine/storage/lock.js";
import { startTimeOf, isSameProcess, pidSpace } from "../../../src/engine/process/process-identity.js";
import { deadHolder } from "../../support/processes/dead-holder.js";
import { temporaryFolder } from "../../support/folders.js";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

const what = { subject: "The research" };
const lockFile = () => join(temporaryFolder(), "lock");
const holderIn = (file: string) => JSON.parse(readFileSync(file, "utf8"));

it("a lock says who holds it and is gone after release", async () => {
  const file = lockFile();
  const lock = await acquireLock(file, what);
  expect(holderIn(file)).toMatchObject({ pid: process.pid, host: hostname(), started: await startTimeOf(process.pid) });
  expect(await lock.isStillHeld()).toBe(true);
  await lock.release();
  expect(existsSync(file)).toBe(false);
  expect(await lock.isStillHeld()).toBe(false);
});

it("a live holder is named with its start, as an error with exit code 6", async () => {
  const file = lockFile();
  await acquireLock(file, what);
  const failure: unknown = await acquireLock(file, what).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ExpectedError);
  expect(failure).toMatchObject({
    exitCode: 6,
    message: `The research is in use by process ${process.pid} since ${holderIn(file).since}; wait until it ends, or stop it.`,
  });
});

it("a holder that died is replaced, and what it left beside the lock does not matter", async () => {
  const file = lockFile();
  await deadHolder(file);
  await deadHolder(`${file}.takeover`);
  const lock = await acquireLock(file, what);
  expect(await lock.isStillHeld()).toBe(true);
  expect(existsSync(`${file}.takeover`)).toBe(false);
});

it("a live process that was given the pid of a dead holder is not taken for it", async () => {
  const file = lockFile();
  writeFileSync(file, JSON.stringify({ pid: process.pid, started: "1", host: hostname(), token: "dead" }));
  expect(await (await acquireLock(file, what)).isStillHeld()).toBe(true);
});

it("a holder on another machine is not judged; the error says how to clear it", async () => {
  const file = lockFile();
  writeFileSync(file, JSON.stringify({ pid: 1, host: "elsewhere", token: "far", since: "2026-01-01T00:00:00Z" }));
  await expect(acquireLock(file, what)).rejects.toThrow(
    `on the machine elsewhere since 2026-01-01T00:00:00Z; wait for it, or, if it is gone, delete ${file}.`,
  );
});

it("a lock that a power cut emptied is replaced", async () => {
  const file = lockFile();
  writeFileSync(file, "");
  expect(await (await acquireLock(file, what)).isStillHeld()).toBe(true);
});

it("release leaves a lock that became another's", async () => {
  const file = lockFile();
  const lock = await acquireLock(file, what);
  writeFileSync(file, JSON.stringify({ pid: 1, host: "elsewhere", token: "far" }));
  await lock.release();
  expect(existsSync(file)).toBe(true);
});

it("waiting for a lock runs one at a time, and gives up after its time", async () => {
  const file = lockFile();
  let inside = 0;
  const work = async () => {
    inside += 1;
    expect(inside).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 5 }, () => withLock(file, { ...what, waitMs: 20_000 }, work)));
  await acquireLock(file, what);
  await expect(withLock(file, { ...what, waitMs: 30 }, work)).rejects.toThrow(ExpectedError);
});
const hold = (file: string, holder: object) => writeFileSync(file, JSON.stringify(holder));
const beside = (file: string) => readdirSync(join(file, "..")).filter((name) => name !== basename(file));
/** A process that lives as long as the test. */
async function neighbour() {
  const child = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  return child;
}

describe("a lock", () => {
  it("says when it was taken, under a token of its own, and leaves nothing beside it", async () => {
    const file = lockFile();
    const before = Date.now();
    const first = await acquireLock(file, what);
    const one = holderIn(file);
    expect(Date.parse(one.since)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(one.since)).toBeLessThanOrEqual(Date.now());
    expect(one.since).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(one.token).toMatch(/^[0-9a-f]{24}$/);
    expect(beside(file)).toEqual([]);
    await first.release();
    await acquireLock(file, what);
    expect(holderIn(file).token).not.toBe(one.token);
  });

  it("is mine by its token, not by its process", async () => {
    const file = lockFile();
    const lock = await acquireLock(file, what);
    hold(file, { ...holderIn(file), token: "another" });
    expect(await lock.isStillHeld()).toBe(false);
    await lock.release();
    expect(existsSync(file)).toBe(true);
    writeFileSync(file, "torn");
    expect(await lock.isStillHeld()).toBe(false);
  });

  it("of a live process stays its own, also where its start or its time is not told", async () => {
    const { pid } = await neighbour();
    const file = lockFile();
    hold(file, { pid, host: hostname(), token: "live" });
    await expect(acquireLock(file, what)).rejects.toThrow(
      `The research is in use by process ${pid}; wait until it ends, or stop it.`,
    );
    hold(file, {
      pid,
      host: hostname(),
      token: "live",
      started: await startTimeOf(pid ?? 0),
      since: "2026-01-01T00:00:00Z",
    });
    await expect(acquireLock(file, what)).rejects.toThrow(
      `The research is in use by process ${pid} since 2026-01-01T00:00:00Z; wait until it ends, or stop it.`,
    );
    expect(beside(file)).toEqual([]);
  });

  it("of another machine is told with the machine's name, also without its time", async () => {
    const file = lockFile();
    hold(file, { pid: 2 ** 22 + 1, host: "elsewhere", token: "far" });
    await expect(acquireLock(file, what)).rejects.toThrow(
      `The research is in use by process ${2 ** 22 + 1} on the machine elsewhere; wait for it, or, if it is gone, delete ${file}.`,
    );
  });

  it.each([
    ["null", null],
    ["a number", 7],
    ["no pid", { host: "elsewhere", token: "x" }],
    ["half a pid", { pid: 1.5, host: "elsewhere", token: "x" }],
    ["no host", { pid: 1, token: "x" }],
    ["no token", { pid: 1, host: "elsewhere" }],
  ])("that holds %s is nobody's and is replaced", async (_what, holder) => {
    const file = lockFile();
    writeFileSync(file, JSON.stringify(holder));
    const lock = await acquireLock(file, what);
    expect(await lock.isStillHeld()).toBe(true);
    expect(beside(file)).toEqual([]);
  });

  it("of the dead is not taken while another takes it over", async () => {
    const { pid } = await neighbour();
    const file = lockFile();
    await deadHolder(file);
    hold(`${file}.takeover`, { pid, host: hostname(), token: "guard" });
    await expect(acquireLock(file, what)).rejects.toThrow(`in use by process ${pid}`);
    expect(holderIn(file).token).toBe("dead");
    expect(holderIn(`${file}.takeover`).token).toBe("guard");
  });

  it("in a folder that is gone, or in the place of a folder, says so", async () => {
    await expect(acquireLock(join(temporaryFolder(), "gone", "lock"), what)).rejects.toBeInstanceOf(ExpectedError);
    const folder = lockFile();
    mkdirSync(folder);
    await expect(acquireLock(folder, what)).rejects.toThrow(`${folder} is a folder where a file belongs`);
  });

  it("is not taken through a link: what the link leads to is left alone", async () => {
    const file = lockFile();
    const other = join(temporaryFolder(), "other");
    hold(other, { pid: 5, host: "elsewhere", token: "far" });
    symlinkSync(other, file);
    await expect(acquireLock(file, what)).rejects.toThrow("elsewhere");
    expect(holderIn(other).token).toBe("far");
  });
});

describe("work under a lock", () => {
  it("gives back what it returns and the lock, also after it failed", async () => {
    const file = lockFile();
    const answer = await withLock(file, { ...what, waitMs: 0 }, async () => {
      expect(holderIn(file).pid).toBe(process.pid);
      return 7;
    });
    expect([answer, existsSync(file)]).toEqual([7, false]);
    const failing = withLock(file, { ...what, waitMs: 0 }, () => Promise.reject(new TypeError("ours")));
    await expect(failing).rejects.toThrow("ours");
    expect(existsSync(file)).toBe(false);
  });

  it("is waited for until the lock is free", async () => {
    const file = lockFile();
    const first = await acquireLock(file, what);
    let done = false;
    const second = withLock(file, { ...what, waitMs: 60_000 }, async () => void (done = true));
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(done).toBe(false);
    await first.release();
    await second;
    expect(done).toBe(true);
  });

  it("is tried once and not waited for when the run is to end at once", async () => {
    const { pid } = await neighbour();
    const file = lockFile();
    hold(file, { pid, host: hostname(), token: "live" });
    const end = new AbortController();
    setTimeout(() => end.abort(), 50);
    const waiting = { ...what, waitMs: 600_000, abort: end.signal };
    await expect(withLock(file, waiting, async () => 1)).rejects.toThrow(`in use by process ${pid}`);
    await expect(withLock(file, waiting, async () => 1)).rejects.toThrow(`in use by process ${pid}`);
    rmSync(file);
    expect(await withLock(file, waiting, async () => 1)).toBe(1);
  });

  it("is not waited for where nothing can be written: that does not pass", async () => {
    const folder = lockFile();
    writeFileSync(folder, "");
    await expect(withLock(join(folder, "lock"), { ...what, waitMs: 0 }, async () => 1)).rejects.toBeInstanceOf(
      ExpectedError,
    );
  });
});

describe("a lock that is held for a moment", () => {
  const briefly = { ...what, isShortCommand: true };

  it("is waited for, by as many as want it, one after the other", async () => {
    const file = lockFile();
    let inside = 0;
    const order: number[] = [];
    const work = async (number: number) => {
      const lock = await acquireLock(file, briefly);
      inside += 1;
      expect(inside).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
      order.push(number);
      await lock.release();
    };
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(work));
    expect(order.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("is waited for twenty seconds, and then told of as any other", async () => {
    const file = lockFile();
    await acquireLock(file, briefly);
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 4_000));
    onTestFinished(() => clock.mockRestore());
    await expect(acquireLock(file, briefly)).rejects.toThrow("is in use by process");
    expect(now).toBeGreaterThan(20_000);
  });

  it("is no run, and one that a run holds is not waited for", async () => {
    const file = lockFile();
    const short = await acquireLock(file, briefly);
    expect([await isHeld(file), await isHeldByRun(file)]).toEqual([true, false]);
    await short.release();
    await acquireLock(file, what);
    expect([await isHeld(file), await isHeldByRun(file)]).toEqual([true, true]);
    await expect(acquireLock(file, briefly)).rejects.toThrow("is in use by process");
  });
});

describe("whether a lock is held", () => {
  it("is told without taking it", async () => {
    const file = lockFile();
    expect(await isHeld(file)).toBe(false);
    await deadHolder(file);
    expect(await isHeld(file)).toBe(false);
    expect(holderIn(file).token).toBe("dead");
    const { pid } = await neighbour();
    hold(file, { pid, host: hostname(), token: "live" });
    expect(await isHeld(file)).toBe(true);
    hold(file, { pid: 1, host: "elsewhere", token: "far" });
    expect(await isHeld(file)).toBe(true);
    writeFileSync(file, "torn");
    expect(await isHeld(file)).toBe(false);
    expect(await isHeld(temporaryFolder())).toBe(false);
  });
});

describe("a process", () => {
  it("is the same by its pid and start, by its pid alone where no start is known", async () => {
    const { pid = 0 } = await neighbour();
    const started = await startTimeOf(pid);
    expect(started).toMatch(/\d/);
    expect(await isSameProcess(pid, started)).toBe(true);
    expect(await isSameProcess(pid, undefined)).toBe(true);
    expect(await isSameProcess(pid, `${started}0`)).toBe(false);
  });

  it("that ended is none, whatever its start was", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    expect(await isSameProcess(child.pid ?? 0, undefined)).toBe(false);
    expect(await startTimeOf(child.pid ?? 0)).toBeUndefined();
  });

  it.skipIf(process.platform !== "linux")(
    "that was killed and that nobody waited for is not alive, though it is listed",
    async () => {
      // The shell becomes a program that never asks how its child ended.
      const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void parent.kill("SIGKILL"));
      const pid = Number(String((await once(parent.stdout, "data"))[0]).trim());
      const statOf = (each: number | undefined) => readFileSync(`/proc/${each}/stat`, "utf8");
      while (!statOf(parent.pid).includes("(sleep)")) await new Promise((resolve) => setTimeout(resolve, 5));
      process.kill(pid, "SIGKILL");
      while (!statOf(pid).includes(") Z ")) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await isSameProcess(pid, undefined)).toBe(false);
      expect(await startTimeOf(pid)).toMatch(/^\d+$/);
    },
  );

  it.skipIf(process.platform !== "linux")(
    "is told by its start in the system's own count, whatever its name holds",
    async () => {
      const folder = temporaryFolder();
      const program = join(folder, "a) b (c");
      symlinkSync("/bin/sleep", program);
      const child = spawn(program, ["600"]);
      onTestFinished(() => void child.kill("SIGKILL"));
      await once(child, "spawn");
      const fields = () => readFileSync(`/proc/${child.pid}/stat`, "utf8");
      while (!fields().includes("(a) b (c)")) await new Promise((resolve) => setTimeout(resolve, 5));
      // The 22nd field; three words of the name count for one.
      expect(await startTimeOf(child.pid ?? 0)).toBe(fields().split(" ")[21 + 2]);
    },
  );

  describe("on a system that lists none in /proc", () => {
    const on = (platform: NodeJS.Platform) => {
      const real = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
      Object.defineProperty(process, "platform", { ...real, value: platform });
      onTestFinished(() => void Object.defineProperty(process, "platform", real));
    };

    it.skipIf(spawnSync("ps", ["-p", String(process.pid)]).status !== 0)(
      "is told by the start that ps says, which is the same each time and none for one that ended",
      async () => {
        const { pid = 0 } = await neighbour();
        const ended = spawn(process.execPath, ["-e", ""]);
        await once(ended, "exit");
        on("darwin");
        const started = await startTimeOf(pid);
        // As ps words it in every language: Sun Nov 22 05:56:01 2026.
        expect(started).toMatch(/^[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}$/);
        expect(await startTimeOf(pid)).toBe(started);
        expect(await isSameProcess(pid, started)).toBe(true);
        expect(await isSameProcess(pid, "Thu Jan  1 00:00:00 1970")).toBe(false);
        expect(await startTimeOf(ended.pid ?? 0)).toBeUndefined();
      },
    );

    it("is told by its pid alone where nothing says more", async () => {
      const { pid = 0 } = await neighbour();
      on("win32");
      expect(await startTimeOf(pid)).toBeUndefined();
      expect(await isSameProcess(pid, "whatever it was")).toBe(true);
    });
  });
});

describe("a lock under the name of this host", () => {
  const { machine, boot, pids } = pidSpace();
  const mine = { machine, boot, pids, host: hostname(), pid: 2 ** 22 + 1, started: "1", token: "other" };
  const long = "2026-01-01T00:00:00Z";

  it.runIf(process.platform === "linux").each([
    ["of another machine", { machine: "another" }, `on another machine with the same name ${hostname()}`],
    ["of a machine of the same image", { boot: "another", since: new Date().toISOString() }, "on another machine"],
    ["of another container", { pids: "pid:[1]" }, "in another container of this machine"],
  ])("%s is not judged by a pid that means nothing here", async (_, over, where) => {
    const file = lockFile();
    writeFileSync(file, JSON.stringify({ ...mine, ...over }));
    await expect(acquireLock(file, what)).rejects.toThrow(where);
    await expect(acquireLock(file, what)).rejects.toThrow(`if it is gone, delete ${file}.`);
    expect(await isHeld(file)).toBe(true);
    expect(holderIn(file).token).toBe("other");
  });

  it.runIf(machine !== undefined)("from before the machine was started again is replaced", async () => {
    const file = lockFile();
    writeFileSync(file, JSON.stringify({ ...mine, pid: process.pid, boot: "before", since: "2020-01-01T00:00:00Z" }));
    expect(await (await acquireLock(file, what)).isStillHeld()).toBe(true);
  });

  it.runIf(process.platform === "linux")(
    "of a container is waited for where the work is brief, then taken",
    async () => {
      const file = lockFile();
      writeFileSync(file, JSON.stringify({ ...mine, pids: "pid:[1]", since: long }));
      const brief = { ...what, waitMs: 0, isBrief: true };
      await withLock(file, brief, async () => undefined).catch(() => undefined);
      expect(await withLock(file, brief, async () => "done")).toBe("done");
      writeFileSync(file, JSON.stringify({ ...mine, machine: "another", since: long }));
      await withLock(file, brief, async () => undefined).catch(() => undefined);
      expect(holderIn(file).token).toBe("other");
    },
  );
});
