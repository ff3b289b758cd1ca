import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Outside, Tell, UnderWay } from "../loop/types.js";
import { given } from "../lib/given.js";
import { lockFile, pauseName, stopName, underWayFile } from "../lib/layout.js";
import { writeFileAtomic } from "./atomic-file.js";
import { isHeldByRun, liveHolder } from "./lock.js";
import { readRegularText } from "./regular-file.js";
import { stateVersion } from "./state/format-version.js";

/**
 * Tells as `tell` does, and keeps on the disk what is under way. The state file is left alone: written by itself, it
 * would look like a person's edit. What can't be written is not told of: nothing of the work depends on it.
 */
export function tellingUnderWay(folder: string, tell: Tell, now: () => number): Tell {
  const all = new Map<number, UnderWay>();
  const file = underWayFile(folder);
  const keep = async (): Promise<void> => {
    try {
      const text = JSON.stringify({ pid: process.pid, iterations: [...all.values()], format: stateVersion });
      if (all.size === 0) rmSync(file, { force: true });
      else await writeFileAtomic(file, text, { durable: false });
    } catch {}
  };
  return async (event) => {
    if (event.type === "iteration-started") {
      const { iteration, unit, title, phase, agent, role, round } = event;
      const since = new Date(now()).toISOString();
      all.set(iteration, { iteration, unit, title, phase, since, ...given({ agent, role, round }) });
      await keep();
    }
    if (event.type === "iteration-ended" && all.delete(event.iteration)) await keep();
    if (event.type === "run-ended") {
      all.clear();
      await keep();
    }
    await tell(event);
  };
}

/**
 * What is under way in a project. What a killed run left does not belong to it: it counts only while the process that
 * wrote it holds the project's lock, and has since then.
 */
export async function readUnderWay(folder: string): Promise<readonly UnderWay[]> {
  const holder = await liveHolder(lockFile(folder));
  if (holder === undefined) return [];
  try {
    const value: unknown = JSON.parse(await readRegularText(underWayFile(folder)));
    const { pid, iterations } = value as { pid?: unknown; iterations?: unknown };
    if (pid !== holder.pid || !Array.isArray(iterations)) return [];
    return iterations.filter((each): each is UnderWay => isUnderWay(each) && each.since >= (holder.since ?? ""));
  } catch {
    return [];
  }
}

const isUnderWay = (value: unknown): value is UnderWay => {
  const { iteration, unit, title, phase, since } = (value ?? {}) as Record<string, unknown>;
  return Number.isInteger(iteration) && [unit, title, phase, since].every((each) => typeof each === "string");
};

/** Who works on what lies in a folder, and what keeps others from it. */
export async function seenFromOutside(folder: string): Promise<Outside> {
  const lock = lockFile(folder);
  const running = await isHeldByRun(lock);
  return {
    running,
    abandoned: !running && existsSync(lock),
    held: [pauseName, stopName].filter((name) => existsSync(join(folder, name))),
    underWay: running ? await readUnderWay(folder) : [],
  };
}
