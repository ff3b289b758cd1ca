import { randomBytes } from "node:crypto";
import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { ExpectedError, hasCode } from "../lib/errors.js";
import { readRegularText } from "./regular-file.js";
import { isSameProcess, type PidSpace, pidSpace, startTimeOf } from "../process/process-identity.js";
import { withExplainedErrors } from "./explain-system-error.js";
import { type Stamp, stampOf, temporaryName } from "./atomic-file.js";

/** A lock that this process holds. */
export interface Lock {
  /** Releases the lock; does nothing if another process holds it now. */
  release(): Promise<void>;
  /** Whether this process still holds the lock: a person may have deleted the file. */
  isStillHeld(): Promise<boolean>;
}

/**
 * The content of the lock file. It shows whether the holder is alive, even if its pid now belongs to another process.
 */
interface Holder extends PidSpace {
  readonly pid: number;
  /** Start time of the process in the system's format; undefined if the system does not provide it. */
  readonly started?: string;
  readonly host: string;
  /** Unique for every lock, so two reads of the file can be compared. */
  readonly token: string;
  /** ISO 8601, for people. */
  readonly since?: string;
  /** Set if the holder is a command that ends within seconds, and not a run. */
  readonly short?: true;
}

/** A lock file that is not valid, for example after a power cut. */
interface InvalidHolder {
  readonly token?: undefined;
}

/** Milliseconds to wait for the lock of a short command. */
const shortWaitMs = 20_000;

/**
 * Takes the lock at `file`, or takes it over from a process that died without releasing it. `subject` names what is
 * locked, as the start of a sentence. `isShortCommand`: this process releases the lock within seconds. If another short
 * command holds the lock, waits up to 20 seconds.
 * @throws ExpectedError when a live process or another host holds it, or when the folder can't be written.
 */
export async function acquireLock(
  file: string,
  { subject, isShortCommand = false }: { readonly subject: string; readonly isShortCommand?: boolean },
): Promise<Lock> {
  return withExplainedErrors(file, async () => {
    const ownHolder = { ...(await describeSelf()), ...(isShortCommand ? { short: true as const } : {}) };
    const deadline = performance.now() + shortWaitMs;
    for (;;) {
      const blocker = await tryTakeLock(file, ownHolder);
      if (blocker === undefined) return lockOf(file, ownHolder);
      if (blocker.short !== true || performance.now() >= deadline)
        throw new ExpectedError(refusalMessage(file, subject, blocker), 6);
      await waitShortly();
    }
  });
}

/** Waits 10 to 30 ms; random, so that processes that wait for the same lock don't collide. */
const waitShortly = (): Promise<void> => sleep(10 + Math.random() * 20);

/**
 * `subject`: what is locked, as the start of a sentence. `waitMs`: the maximum wait. The wait ends early if `abort` is
 * aborted.
 */
interface WaitOptions {
  readonly subject: string;
  readonly waitMs: number;
  readonly abort?: AbortSignal;
  /**
   * True: work under this lock takes only milliseconds. So if a process in another container of this machine still
   * holds the lock after the wait, that process was killed, and its lock is removed.
   */
  readonly isBrief?: boolean;
}

/** Removes the lock of a process in another container. */
async function removeContainerLock(file: string): Promise<void> {
  const holder = await readHolder(file);
  if (holder?.token !== undefined && placeOf(holder) === "container") rmSync(file, { force: true });
}

/**
 * Runs `work` while it holds the lock at `file`; waits for the lock.
 * @throws ExpectedError if the lock does not become free in time.
 */
export async function withLock<T>(file: string, options: WaitOptions, work: () => Promise<T>): Promise<T> {
  const lock = await waitForLock(file, options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function waitForLock(file: string, options: WaitOptions): Promise<Lock> {
  const deadline = performance.now() + options.waitMs;
  for (;;) {
    try {
      return await acquireLock(file, options);
    } catch (error) {
      // An error with a cause comes from the file system, not from a holder.
      const isHeldByAnother = error instanceof ExpectedError && error.cause === undefined;
      if (isHeldByAnother && options.isBrief === true && performance.now() >= deadline) await removeContainerLock(file);
      if (!isHeldByAnother || performance.now() >= deadline || options.abort?.aborted === true) throw error;
      await waitShortly();
    }
  }
}

/**
 * Whether a live process holds the lock at `file`, or a process on another host may hold it. Does not take the lock.
 */
export const isHeld = async (file: string): Promise<boolean> => (await liveHolder(file)) !== undefined;

/** Whether a run holds the lock at `file`; short commands don't count. */
export async function isHeldByRun(file: string): Promise<boolean> {
  const holder = await liveHolder(file);
  return holder !== undefined && holder.short !== true;
}

/** The live process that holds a lock, and the time when it took the lock; undefined without a holder. */
export async function liveHolder(file: string): Promise<Pick<Holder, "pid" | "since" | "short"> | undefined> {
  const holder = await readHolder(file).catch(() => undefined);
  return holder?.token === undefined || (await isDead(holder)) ? undefined : holder;
}

async function describeSelf(): Promise<Holder> {
  const started = await startTimeOf(process.pid);
  return {
    pid: process.pid,
    started,
    host: hostname(),
    ...pidSpace(),
    token: randomBytes(12).toString("hex"),
    since: new Date().toISOString(),
  };
}

/** Returns the holder that blocks the lock, or undefined when this process has taken the lock. */
async function tryTakeLock(file: string, ownHolder: Holder): Promise<Holder | undefined> {
  for (;;) {
    if (createLockFile(file, ownHolder)) return undefined;
    const holder = await readHolder(file);
    if (holder === undefined) continue; // was released just now
    if (holder.token !== undefined && !(await isDead(holder))) return holder;
    const activeHolder = await takeOver(file, ownHolder, holder.token);
    if (activeHolder !== undefined) return activeHolder;
    if (await isHeldBy(file, ownHolder)) return undefined;
  }
}

/**
 * Replaces a dead holder. Only the process that holds the guard lock may replace, and it reads the lock again first.
 * Without the guard, one of three processes that find a stale lock could remove the lock that another has just taken.
 * The guard is a lock too, and a killed process may leave it behind.
 */
async function takeOver(file: string, ownHolder: Holder, deadToken: string | undefined): Promise<Holder | undefined> {
  const guard = `${file}.takeover`;
  const guardHolder = { ...ownHolder, token: randomBytes(12).toString("hex") };
  const activeHolder = await tryTakeLock(guard, guardHolder);
  // The holder of the guard is alive. It will soon hold the lock, unless another process has just taken it.
  if (activeHolder !== undefined) return activeHolder;
  try {
    const current = await readHolder(file);
    if (current === undefined || current.token !== deadToken) return undefined;
    const tempPath = writeTemporary(file, ownHolder);
    try {
      renameSync(tempPath, file);
    } finally {
      rmSync(tempPath, { force: true });
    }
    return undefined;
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error; // removed, as in createLockFile
    return undefined;
  } finally {
    await lockOf(guard, guardHolder).release();
  }
}

/**
 * Creates the lock file together with its content in one step, so nobody can read an empty lock file. Returns false if
 * a lock file exists.
 */
function createLockFile(file: string, ownHolder: Holder): boolean {
  const tempPath = writeTemporary(file, ownHolder);
  try {
    linkSync(tempPath, file);
    return true;
  } catch (error) {
    // ENOENT: the holder of the lock removes temporary files, and may have removed the one of this process.
    if (hasCode(error, "EEXIST", "ENOENT")) return false;
    if (hasCode(error, "EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP")) return createLockFileWithoutLink(file, ownHolder);
    throw error;
  } finally {
    rmSync(tempPath, { force: true });
  }
}

/** For file systems without hard links, such as exFAT. */
function createLockFileWithoutLink(file: string, ownHolder: Holder): boolean {
  try {
    writeFileSync(file, JSON.stringify(ownHolder), { flag: "wx" });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

function writeTemporary(file: string, ownHolder: Holder): string {
  const tempPath = temporaryName(file);
  try {
    writeFileSync(tempPath, JSON.stringify(ownHolder), { flag: "wx" });
    return tempPath;
  } catch (error) {
    // A full disk leaves an empty file.
    rmSync(tempPath, { force: true });
    throw error;
  }
}

async function readHolder(file: string): Promise<Holder | InvalidHolder | undefined> {
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
  const place = placeOf(holder);
  return place === "gone" || (place === "here" && !(await isSameProcess(holder.pid, holder.started)));
}

/**
 * Where a holder runs, according to its lock file. `here`: its pid is valid here. `gone`: this machine was started
 * again since. `machine` and `namesake`: on another machine, which may have the same name. `container`: in another
 * container of this machine. If it runs elsewhere, this process can't know whether it is alive. Locks of earlier
 * versions contain only the host.
 */
function placeOf({ host, machine, boot, pids, since }: Holder): "here" | "gone" | "container" | "namesake" | "machine" {
  if (host !== hostname()) return "machine";
  const ownSpace = pidSpace();
  if (machine !== undefined && ownSpace.machine !== undefined && machine !== ownSpace.machine) return "namesake";
  if (boot !== undefined && ownSpace.boot !== undefined && boot !== ownSpace.boot) {
    // Another machine with the same image may be running: a lock taken after this boot is not from an earlier boot.
    const isFromEarlierBoot = since !== undefined && Date.parse(since) < Date.now() - uptime() * 1000;
    return machine !== undefined && machine === ownSpace.machine && isFromEarlierBoot ? "gone" : "namesake";
  }
  return pids !== undefined && ownSpace.pids !== undefined && pids !== ownSpace.pids ? "container" : "here";
}

const isHeldBy = async (file: string, ownHolder: Holder): Promise<boolean> =>
  (await readHolder(file))?.token === ownHolder.token;

function lockOf(file: string, ownHolder: Holder): Lock {
  // The version of the lock file in which this process's token was found. While it is the same, no read is necessary.
  let ownStamp: Stamp | undefined;
  return {
    isStillHeld: () =>
      withExplainedErrors(file, async () => {
        const stamp = stampOf(file);
        if (stamp === undefined || stamp !== ownStamp) ownStamp = (await isHeldBy(file, ownHolder)) ? stamp : undefined;
        return ownStamp !== undefined;
      }),
    async release() {
      // Nobody takes over the lock of a live process, so this process still holds the lock after the check.
      if (!(await isHeldBy(file, ownHolder).catch(() => false))) return;
      try {
        rmSync(file, { force: true });
      } catch {
        // The disk has become read-only: another process takes the lock over when this process has ended.
      }
    },
  };
}

function refusalMessage(file: string, subject: string, holder: Holder): string {
  const since = holder.since === undefined ? "" : ` since ${holder.since}`;
  const place = placeOf(holder);
  const placeText = {
    machine: ` on the machine ${holder.host}`,
    namesake: ` on another machine with the same name ${holder.host}`,
    container: " in another container of this machine",
  };
  if (place !== "here" && place !== "gone")
    return `${subject} is in use by process ${holder.pid}${placeText[place]}${since}; wait for it, or, if it is gone, delete ${file}.`;
  return `${subject} is in use by process ${holder.pid}${since}; wait until it ends, or stop it.`;
}
