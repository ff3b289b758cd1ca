import { randomUUID } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";

/** The environment variable that marks all processes of an agent, so that detached ones can be found. */
export const markVariable = "RESEARCH_RALPH_RUN";

/** The environment variable that marks hooks. Hooks also have the mark of agents, but are commands of a person. */
export const hookMarkVariable = "RESEARCH_RALPH_HOOK";

/**
 * The prefix of the marks of this process. It is stored on the disk: if this process is killed, the next run finds the
 * programs that still run.
 */
export const ownMarkPrefix = randomUUID();
let markCount = 0;

/** A mark for a program that is about to start. */
export const nextMark = (): string => `${ownMarkPrefix}.${(markCount += 1)}`;

/** Maximum number of ancestor processes that are checked. */
const maxAncestors = 64;

/**
 * Whether an agent of this package started the program with this environment. On Linux the ancestor processes are
 * checked too. This detects an agent that starts the program with an empty environment or marks it as a hook, but not
 * an agent that first leaves all its ancestors (`setsid` in the background). `parent`: the pid of the parent process;
 * if it is 0, no ancestors are checked.
 */
export function isStartedByAgent(env: NodeJS.ProcessEnv, parent = env === process.env ? process.ppid : 0): boolean {
  if (env[markVariable] !== undefined && env[hookMarkVariable] === undefined) return true;
  let pid = parent;
  for (let checkedCount = 0; pid > 1 && checkedCount < maxAncestors; checkedCount += 1) {
    const names = new Set(
      textOf(`/proc/${pid}/environ`)
        .split("\0")
        .map((entry) => entry.split("=")[0]),
    );
    if (names.has(markVariable) && !names.has(hookMarkVariable)) return true;
    pid = Number(/^PPid:\s*(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);
  }
  return false;
}

/** The text of a file; empty if it can't be read: it belongs to another user, is missing, or this is not Linux. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/**
 * Kills (SIGKILL) every process that has this mark in its environment. The tools of an agent run in separate sessions,
 * so a signal to its process group does not reach them, and a `nohup … &` survives a normal end. Works only on Linux,
 * where /proc shows the environment. A process that emptied its environment is not found. Returns whether any process
 * was found.
 */
export const killDescendants = (mark: string): Promise<boolean> => killProcessesWithEntry(`${markVariable}=${mark}\0`);

/** Kills all agents and commands of an ended process that still run. `markPrefix`: its `ownMarkPrefix`. */
export const killLeftovers = (markPrefix: string): Promise<boolean> =>
  killProcessesWithEntry(`${markVariable}=${markPrefix}.`);

async function killProcessesWithEntry(text: string): Promise<boolean> {
  const entry = Buffer.from(text);
  const deadline = performance.now() + maxScanMs;
  const otherProcesses = new Set<number>();
  let hasFound = false;
  // During a scan, a process may fork and end before it is checked, so that the scan misses the new process. In a test
  // with 400 such forks, every third scan missed one. So the scan is repeated.
  for (let remainingScans = 2; remainingScans > 0 && performance.now() < deadline; remainingScans--) {
    if (!killMatches(entry, otherProcesses)) continue;
    [remainingScans, hasFound] = [5, true];
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return hasFound;
}

/** Time limit, in milliseconds, for killing processes that keep forking. */
const maxScanMs = 10_000;

/**
 * Kills every process with `entry` in its environment, youngest first. Returns whether there was any. Sequential reads
 * are five times as fast as parallel ones. `otherProcesses` collects processes with another environment, which need no
 * second check. A process in the middle of exec has an empty environment and is checked again.
 */
function killMatches(entry: Buffer, otherProcesses: Set<number>): boolean {
  const { stackTraceLimit } = Error;
  // Two of three processes belong to the kernel, and reading their files fails. Stack traces would only cost time.
  Error.stackTraceLimit = 0;
  try {
    let hasFound = false;
    for (const pid of otherProcessIds().toReversed()) {
      if (otherProcesses.has(pid)) continue;
      const environment = readProcFile(pid, "environ");
      if (environment?.includes(entry) === true) {
        hasFound = true;
        sendSignal(pid, "SIGKILL");
      } else if (environment?.length !== 0) otherProcesses.add(pid);
    }
    return hasFound;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The pids of all other processes; empty without /proc. */
function otherProcessIds(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(isOtherProcess);
  } catch {
    return [];
  }
}

/**
 * The content of a /proc file of a process; valid until the next call. Undefined if the process has ended or its file
 * can't be read, as for zombies and kernel processes.
 */
function readProcFile(pid: number, name: "environ" | "stat"): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/${name}`, "r");
    let length = 0;
    for (;;) {
      const bytesRead = readSync(file, readBuffer, length, readBuffer.length - length, null);
      length += bytesRead;
      if (bytesRead === 0) return readBuffer.subarray(0, length);
      if (length === readBuffer.length) readBuffer = Buffer.concat([readBuffer, Buffer.alloc(readBuffer.length)]);
    }
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * The buffer that all reads share. /proc files have no size, and a new buffer for each of some hundred processes would
 * be megabytes of garbage after each agent.
 */
let readBuffer = Buffer.alloc(64 * 1024);

const isOtherProcess = (pid: number): boolean => Number.isInteger(pid) && pid !== process.pid;

/**
 * Whether a process of this group is still running. Zombies don't count if /proc shows them: in a container whose first
 * process never reaps children, zombies stay forever.
 */
export function isGroupAlive(group: number): boolean {
  if (!sendSignal(-group, 0)) return false;
  const pids = otherProcessIds();
  // The format is: pid (name) state ppid pgrp …; the name may contain any character.
  const alivePattern = new RegExp(`\\) [^ZX] \\d+ ${group} `);
  return (
    pids.length === 0 || pids.some((pid) => alivePattern.test(readProcFile(pid, "stat")?.toString("latin1") ?? ""))
  );
}

/**
 * Process groups that must be killed when this process ends, even because of a bug. One listener is for all groups,
 * because Node warns about more than ten listeners.
 */
const groupsToKill = new Set<number>();
const killGroups = (): void => groupsToKill.forEach((group) => void sendSignal(-group, "SIGKILL"));

/** Kills a group when this process exits for any reason. Returns a function that removes the group from the list. */
export function killGroupOnExit(group: number): () => void {
  if (groupsToKill.size === 0) process.once("exit", killGroups);
  groupsToKill.add(group);
  return () => {
    if (groupsToKill.delete(group) && groupsToKill.size === 0) process.off("exit", killGroups);
  };
}

/**
 * Sends a signal to a child process that may not have started. Without a pid, `child.kill` would send the signal to an
 * uninitialised number: any process of this user, or with 0 this process and its whole group (in Node 20.20, libuv does
 * not set the pid of a child that did not start).
 */
export function signalChild(
  child: { readonly pid?: number; kill(signal: NodeJS.Signals): boolean },
  name: NodeJS.Signals,
): void {
  if (child.pid !== undefined) child.kill(name);
}

/** Sends a signal to a process, or with a negative pid to its group; false when it is missing. */
export function sendSignal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
