import { randomUUID } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";

/** The environment variable by which everything an agent started is found again, however it detached itself. */
export const marker = "RESEARCH_RALPH_RUN";
/** Set for hooks, which carry the marker too: they are a person's own commands. */
export const hookMark = "RESEARCH_RALPH_HOOK";

/** The starter of the marks that this process gives. On the disk it says whose programs a kill has left at work. */
export const ownStarter = randomUUID();
let given = 0;
/** A mark for a program that is about to start. */
export const nextMark = (): string => `${ownStarter}.${(given += 1)}`;

/** Most programs between an agent and what it starts that are looked at. */
const maxAncestors = 64;

/**
 * Whether a program with this environment was started by an agent that we run. On Linux the programs between are looked
 * at too: an agent that gives it an empty environment, or calls it a hook, is seen; one that first leaves them all
 * (`setsid` in the background) is not. `parent`: the process that started the program; none is looked at where the
 * environment is not this process's.
 */
export function isAgents(env: NodeJS.ProcessEnv, parent = env === process.env ? process.ppid : 0): boolean {
  if (env[marker] !== undefined && env[hookMark] === undefined) return true;
  let pid = parent;
  for (let steps = 0; pid > 1 && steps < maxAncestors; steps += 1) {
    const names = new Set(
      textOf(`/proc/${pid}/environ`)
        .split("\0")
        .map((entry) => entry.split("=")[0]),
    );
    if (names.has(marker) && !names.has(hookMark)) return true;
    pid = Number(/^PPid:\s*(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);
  }
  return false;
}

/** Empty where it can't be read: another user's, gone, or no Linux. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/**
 * Kills (SIGKILL) every process that carries this mark in its environment. The tools of an agent run in sessions of
 * their own, so killing its process group does not reach them, and a `nohup … &` survives a run that ended well.
 * Linux only, where /proc shows the environment; elsewhere nothing is found. A process that emptied its environment
 * is not found either. Answers whether there was any.
 */
export const killDescendants = (mark: string): Promise<boolean> => hunt(`${marker}=${mark}\0`);

/** The same of all agents and commands of a process that is gone, by its `ownStarter`. */
export const killLeftBy = (starter: string): Promise<boolean> => hunt(`${marker}=${starter}.`);

async function hunt(text: string): Promise<boolean> {
  const entry = Buffer.from(text);
  const until = performance.now() + maxHunt;
  const others = new Set<number>();
  let found = false;
  // A process may fork while we look, and end before its turn: one that hands over to the next 400 times was missed by
  // one look in three.
  for (let looks = 2; looks > 0 && performance.now() < until; looks--) {
    if (!killCarriers(entry, others)) continue;
    [looks, found] = [5, true];
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return found;
}

/** How long processes that keep forking are run after, in milliseconds. */
const maxHunt = 10_000;

/**
 * Kills every carrier of `entry` as it is found, the youngest first; whether there was any. Five times as fast as
 * reading side by side.
 * `others` gathers processes that carry something else and need no second look; one in the middle of exec shows
 * nothing, and does.
 */
function killCarriers(entry: Buffer, others: Set<number>): boolean {
  const { stackTraceLimit } = Error;
  // Two of three processes are the kernel's, and reading about each of them fails: where, nobody asks.
  Error.stackTraceLimit = 0;
  try {
    let found = false;
    for (const pid of processes().toReversed()) {
      if (others.has(pid)) continue;
      const environment = fileOf(pid, "environ");
      if (environment?.includes(entry) === true) {
        found = true;
        signal(pid, "SIGKILL");
      } else if (environment?.length !== 0) others.add(pid);
    }
    return found;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Other processes; none where there is no /proc. */
function processes(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(isAnother);
  } catch {
    return [];
  }
}

/**
 * What the system tells of a process, up to the next call; undefined of one that has ended or may not be looked into, a
 * zombie and the kernel's own.
 */
function fileOf(pid: number, name: "environ" | "stat"): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/${name}`, "r");
    let length = 0;
    for (;;) {
      const read = readSync(file, shared, length, shared.length - length, null);
      length += read;
      if (read === 0) return shared.subarray(0, length);
      if (length === shared.length) shared = Buffer.concat([shared, Buffer.alloc(shared.length)]);
    }
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * What was read last: the system tells no size, and a buffer of the usual length for each of some hundred processes
 * would be megabytes to clear away after each agent.
 */
let shared = Buffer.alloc(64 * 1024);

const isAnother = (pid: number): boolean => Number.isInteger(pid) && pid !== process.pid;

/**
 * Whether somebody of this process group still runs. Zombies don't count where /proc tells them apart: in a container
 * whose first process never reaps, they stay forever.
 */
export function groupAlive(group: number): boolean {
  if (!signal(-group, 0)) return false;
  const pids = processes();
  // pid (name) state ppid pgrp …, and the name may hold anything.
  const alive = new RegExp(`\\) [^ZX] \\d+ ${group} `);
  return pids.length === 0 || pids.some((pid) => alive.test(fileOf(pid, "stat")?.toString("latin1") ?? ""));
}

/**
 * Groups that must not go on alone should this process end, by a bug even. One listener is for all of them: Node warns
 * of more than ten.
 */
const groups = new Set<number>();
const endGroups = (): void => groups.forEach((group) => void signal(-group, "SIGKILL"));

/** Ends a group (SIGKILL) with this process, however that exits; answers with what forgets the group. */
export function endWithUs(group: number): () => void {
  if (groups.size === 0) process.once("exit", endGroups);
  groups.add(group);
  return () => {
    if (groups.delete(group) && groups.size === 0) process.off("exit", endGroups);
  };
}

/**
 * Sends a signal to a child process that may not have started. It has no pid then, and `child.kill` would send the
 * signal to whatever number lies in memory: any process of this user, or with 0 this process and all beside it (Node
 * 20.20 asks libuv, which leaves the number of a child that did not start as it was).
 */
export function signalChild(
  child: { readonly pid?: number; kill(signal: NodeJS.Signals): boolean },
  name: NodeJS.Signals,
): void {
  if (child.pid !== undefined) child.kill(name);
}

/** Sends a signal to a process, or with a negative pid to its group; false when it is missing. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
