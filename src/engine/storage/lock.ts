import { randomBytes } from "node:crypto";
import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { ExpectedError, hasCode } from "../lib/errors.js";
import { readRegularText } from "./regular-file.js";
import { isSameProcess, type PidSpace, pidSpace, startOfProcess } from "../process/process-identity.js";
import { explaining } from "./explain-system-error.js";
import { type Stamp, stampOf, temporaryName } from "./atomic-file.js";

/** A lock that this process holds. */
export interface Lock {
  /** Gives it up; does nothing when somebody else holds it by now. */
  release(): Promise<void>;
  /** Whether it is still ours: a person may have deleted the file. */
  isMine(): Promise<boolean>;
}

/**
 * What stands in the lock file. Enough to tell a live holder from a dead one whose pid was given to another process.
 */
interface Holder extends PidSpace {
  readonly pid: number;
  /** Start of the process in the system's own words; undefined where the system does not say. */
  readonly started?: string | undefined;
  readonly host: string;
  /** Different for every lock ever taken, so a file read twice is known to be the same one. */
  readonly token: string;
  /** ISO 8601, for people. */
  readonly since?: string;
  /** It is held by a command that ends by itself within seconds, not by a run. */
  readonly short?: true;
}

/** What a power cut left of a lock file: a live process would have written its own whole. */
interface Unreadable {
  readonly token?: undefined;
}

/** Milliseconds that a command which is over in a moment is waited for. */
const shortWaitMs = 20_000;

/**
 * Takes the lock at `file`, or takes it over from a process that died without releasing it.
 * `describe` names what is locked, as the start of a sentence; `short`: this command gives it up again within seconds.
 * Another such command is waited for, 20 seconds at most.
 * @throws ExpectedError when a live process or another host holds it, or when the folder can't be written.
 */
export async function acquireLock(
  file: string,
  { describe, short = false }: { readonly describe: string; readonly short?: boolean },
): Promise<Lock> {
  return explaining(file, async () => {
    const me = { ...(await describeMyself()), ...(short ? { short } : {}) };
    const until = performance.now() + shortWaitMs;
    for (;;) {
      const obstacle = await tryToTake(file, me);
      if (obstacle === undefined) return lockOf(file, me);
      if (obstacle.short !== true || performance.now() >= until)
        throw new ExpectedError(refusal(file, describe, obstacle));
      await moment();
    }
  });
}

/** A little while, not the same for all who wait. */
const moment = (): Promise<void> => sleep(10 + Math.random() * 20);

/**
 * What is locked, as the start of a sentence, and how long it is waited for: milliseconds, and no longer once `abort`
 * is aborted.
 */
interface Waiting {
  readonly describe: string;
  readonly waitMs: number;
  readonly abort?: AbortSignal | undefined;
  /**
   * Work under this lock takes some milliseconds: who still holds it once it was waited for, and runs in a container of
   * this machine, was killed there.
   */
  readonly isBrief?: boolean;
}

/** Removes the lock of a process in another container. */
async function forget(file: string): Promise<void> {
  const holder = await readHolder(file);
  if (holder?.token !== undefined && placeOf(holder) === "container") rmSync(file, { force: true });
}

/**
 * Runs `work` while holding the lock at `file`, waiting for anyone who holds it.
 * @throws ExpectedError when it did not become free in time.
 */
export async function withLock<T>(file: string, options: Waiting, work: () => Promise<T>): Promise<T> {
  const lock = await waitForLock(file, options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function waitForLock(file: string, options: Waiting): Promise<Lock> {
  const until = performance.now() + options.waitMs;
  for (;;) {
    try {
      return await acquireLock(file, options);
    } catch (error) {
      // One with a cause tells of the disk, and of no holder.
      const isHeldByAnother = error instanceof ExpectedError && error.cause === undefined;
      if (isHeldByAnother && options.isBrief === true && performance.now() >= until) await forget(file);
      if (!isHeldByAnother || performance.now() >= until || options.abort?.aborted === true) throw error;
      await moment();
    }
  }
}

/** Whether a live process holds the lock at `file`, or one on another host may. Takes nothing. */
export const isHeld = async (file: string): Promise<boolean> => (await liveHolder(file)) !== undefined;

/** The same, but for commands that are over in a moment: whether a run is at work. */
export async function isHeldByRun(file: string): Promise<boolean> {
  const holder = await liveHolder(file);
  return holder !== undefined && holder.short !== true;
}

/** The process that holds a lock, and since when; undefined where none does that is alive. */
export async function liveHolder(file: string): Promise<Pick<Holder, "pid" | "since" | "short"> | undefined> {
  const holder = await readHolder(file).catch(() => undefined);
  return holder?.token === undefined || (await isDead(holder)) ? undefined : holder;
}

async function describeMyself(): Promise<Holder> {
  const started = await startOfProcess(process.pid);
  return {
    pid: process.pid,
    started,
    host: hostname(),
    ...pidSpace(),
    token: randomBytes(12).toString("hex"),
    since: new Date().toISOString(),
  };
}

/** Returns the holder that is in the way, or undefined once the lock is ours. */
async function tryToTake(file: string, me: Holder): Promise<Holder | undefined> {
  for (;;) {
    if (createWith(file, me)) return undefined;
    const holder = await readHolder(file);
    if (holder === undefined) continue; // released in this moment
    if (holder.token !== undefined && !(await isDead(holder))) return holder;
    const busy = await takeOver(file, me, holder.token);
    if (busy !== undefined) return busy;
    if (await holds(file, me)) return undefined;
  }
}

/**
 * Replaces a dead holder. Only the holder of the guard replaces, and it looks again first: without it, of three
 * processes that meet a stale lock one can remove the lock that another has just taken. The guard is a lock too, and
 * may itself be left by a kill.
 */
async function takeOver(file: string, me: Holder, deadToken: string | undefined): Promise<Holder | undefined> {
  const guard = `${file}.takeover`;
  const guardian = { ...me, token: randomBytes(12).toString("hex") };
  const busy = await tryToTake(guard, guardian);
  // Anyone who holds the guard is about to hold the lock, or has just lost the race for it; either way it is alive.
  if (busy !== undefined) return busy;
  try {
    const now = await readHolder(file);
    if (now === undefined || now.token !== deadToken) return undefined;
    const temp = writeBeside(file, me);
    try {
      renameSync(temp, file);
    } finally {
      rmSync(temp, { force: true });
    }
    return undefined;
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error; // swept, as in createWith
    return undefined;
  } finally {
    await lockOf(guard, guardian).release();
  }
}

/**
 * Creates the lock file with its content in one step, so nobody ever reads an empty one. Returns false where one
 * stands.
 */
function createWith(file: string, me: Holder): boolean {
  const temp = writeBeside(file, me);
  try {
    linkSync(temp, file);
    return true;
  } catch (error) {
    // ENOENT: the holder of the lock sweeps temporary files and may have met ours.
    if (hasCode(error, "EEXIST", "ENOENT")) return false;
    if (hasCode(error, "EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP")) return createWithoutLinks(file, me);
    throw error;
  } finally {
    rmSync(temp, { force: true });
  }
}

/** For file systems without hard links, such as exFAT. */
function createWithoutLinks(file: string, me: Holder): boolean {
  try {
    writeFileSync(file, JSON.stringify(me), { flag: "wx" });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

function writeBeside(file: string, me: Holder): string {
  const temp = temporaryName(file);
  try {
    writeFileSync(temp, JSON.stringify(me), { flag: "wx" });
    return temp;
  } catch (error) {
    // A full disk leaves an empty one.
    rmSync(temp, { force: true });
    throw error;
  }
}

async function readHolder(file: string): Promise<Holder | Unreadable | undefined> {
  try {
    const holder: unknown = JSON.parse(await readRegularText(file));
    return isHolder(holder) ? holder : {};
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function isHolder(value: unknown): value is Holder {
  const { pid, host, token } = (value ?? {}) as Partial<Holder>;
  return Number.isInteger(pid) && typeof host === "string" && typeof token === "string";
}

async function isDead(holder: Holder): Promise<boolean> {
  const where = placeOf(holder);
  return where === "gone" || (where === "here" && !(await isSameProcess(holder.pid, holder.started)));
}

/**
 * Where a holder runs, as far as its lock tells: `here`, where its pid means something; `gone` with an earlier start of
 * this machine; or elsewhere, where nobody here can say whether it lives. Locks of earlier versions name the host only.
 */
function placeOf({ host, machine, boot, pids, since }: Holder): "here" | "gone" | "container" | "namesake" | "machine" {
  if (host !== hostname()) return "machine";
  const here = pidSpace();
  if (machine !== undefined && here.machine !== undefined && machine !== here.machine) return "namesake";
  if (boot !== undefined && here.boot !== undefined && boot !== here.boot) {
    // A machine of the same image may be running: what was locked since this one started is not from before.
    const isBefore = since !== undefined && Date.parse(since) < Date.now() - uptime() * 1000;
    return machine !== undefined && machine === here.machine && isBefore ? "gone" : "namesake";
  }
  return pids !== undefined && here.pids !== undefined && pids !== here.pids ? "container" : "here";
}

const holds = async (file: string, me: Holder): Promise<boolean> => (await readHolder(file))?.token === me.token;

function lockOf(file: string, me: Holder): Lock {
  // The version of the file that held our token; while that stands it need not be read again.
  let mine: Stamp | undefined;
  return {
    isMine: () =>
      explaining(file, async () => {
        const stamp = stampOf(file);
        if (stamp === undefined || stamp !== mine) mine = (await holds(file, me)) ? stamp : undefined;
        return mine !== undefined;
      }),
    async release() {
      // Nobody takes a lock over from a live process, so between the look and the removal it can't become another's.
      if (!(await holds(file, me).catch(() => false))) return;
      try {
        rmSync(file, { force: true });
      } catch {
        // On a disk that became read-only: it is taken over as soon as this process has ended.
      }
    },
  };
}

function refusal(file: string, what: string, holder: Holder): string {
  const since = holder.since === undefined ? "" : ` since ${holder.since}`;
  const place = placeOf(holder);
  const where = {
    machine: ` on the machine ${holder.host}`,
    namesake: ` on another machine that is called ${holder.host} too`,
    container: " in another container of this machine",
  };
  if (place !== "here" && place !== "gone")
    return `${what} is in use by process ${holder.pid}${where[place]}${since}; wait for it, or, if it is gone, delete ${file}.`;
  return `${what} is in use by process ${holder.pid}${since}; wait until it ends, or stop it.`;
}
