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
  // A process may fork while we look, so we look until nothing is left; a fork bomb does not get more than these rounds.
  for (let round = 0; round < 10; round++) {
    const found = await carriers(entry);
    if (found.length === 0) return;
    for (const pid of found) signal(pid, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** Math.min(round, 4)));
  }
}

async function carriers(entry: Buffer): Promise<number[]> {
  const found = await Promise.all((await processes()).map(async (pid) => ((await ofProc(pid, "environ")).includes(entry) ? [pid] : [])));
  return found.flat();
}

/**
 * Whether somebody of this process group still runs. Zombies don't count where /proc tells them apart: in a container
 * whose first process never reaps, they stay for ever.
 */
export async function groupAlive(group: number): Promise<boolean> {
  if (!signal(-group, 0)) return false;
  const pids = await processes();
  if (pids.length === 0) return true;
  const states = await Promise.all(pids.map((pid) => ofProc(pid, "stat")));
  // pid (name) state ppid pgrp …, and the name may hold anything.
  return states.some((stat) => new RegExp(`\\) [^ZX] \\d+ ${group} `).test(stat.toString("latin1")));
}

async function processes(): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

/** Empty for another user's process and for one that has just ended; a zombie has no environment. */
const ofProc = (pid: number, file: "environ" | "stat"): Promise<Buffer> => readFile(`/proc/${pid}/${file}`).catch(() => Buffer.alloc(0));

/** Sends a signal to a process, or with a negative pid to its group; false when there is none. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
