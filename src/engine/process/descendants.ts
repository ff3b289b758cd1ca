import { readdirSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";

/** The environment variable by which everything an agent started is found again, however it detached itself. */
export const marker = "RESEARCH_RALPH_RUN";

/**
 * Kills (SIGKILL) every process that carries `marker=run` in its environment. The tools of an agent run in sessions of
 * their own, so killing its process group does not reach them, and a `nohup … &` survives a run that ended well.
 * Linux only, where /proc shows the environment; elsewhere nothing is found. A process that emptied its environment
 * is not found either.
 */
export async function killDescendants(run: string): Promise<void> {
  const entry = Buffer.from(`${marker}=${run}`);
  const until = performance.now() + maxHunt;
  const others = new Set<number>();
  // A process may fork while we look, and end before its turn: one that hands over to the next 400 times was missed by one look in three.
  for (let looks = 2; looks > 0 && performance.now() < until; looks--) {
    if (!killCarriers(entry, others)) continue;
    looks = 5;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** How long processes that keep forking are run after, in milliseconds. */
const maxHunt = 10_000;

/**
 * Kills every carrier of `entry` as it is found, the youngest first; whether there was any. Five times as fast as reading side by side.
 * `others` gathers processes that carry something else and need no second look; one in the middle of exec shows nothing, and does.
 */
function killCarriers(entry: Buffer, others: Set<number>): boolean {
  const pids = namesIn("/proc")
    .map(Number)
    .filter((pid) => isAnother(pid) && !others.has(pid));
  let found = false;
  for (const pid of pids.toReversed()) {
    const environment = environmentOf(pid);
    if (!environment.includes(entry)) {
      if (environment.length > 0) others.add(pid);
      continue;
    }
    found = true;
    signal(pid, "SIGKILL");
  }
  return found;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Empty for another user's process and for one that has just ended; a zombie has none. */
function environmentOf(pid: number): Buffer {
  try {
    return readFileSync(`/proc/${pid}/environ`);
  } catch {
    return Buffer.alloc(0);
  }
}

const isAnother = (pid: number): boolean => Number.isInteger(pid) && pid !== process.pid;

/**
 * Whether somebody of this process group still runs. Zombies don't count where /proc tells them apart: in a container
 * whose first process never reaps, they stay forever.
 */
export async function groupAlive(group: number): Promise<boolean> {
  if (!signal(-group, 0)) return false;
  const pids = await processes();
  if (pids.length === 0) return true;
  const states = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, "latin1").catch(() => "")));
  // pid (name) state ppid pgrp …, and the name may hold anything.
  return states.some((stat) => new RegExp(`\\) [^ZX] \\d+ ${group} `).test(stat));
}

async function processes(): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.map(Number).filter(isAnother);
}

/** Sends a signal to a process, or with a negative pid to its group; false when there is none. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
