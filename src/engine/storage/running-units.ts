import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { RunStatus, Tell, RunningUnit } from "../loop/types.js";
import { withoutUndefined } from "../lib/without-undefined.js";
import { lockFile, pauseName, stopName, underWayFile } from "../lib/layout.js";
import { writeFileAtomic } from "./atomic-file.js";
import { isHeldByRun, liveHolder } from "./lock.js";
import { readRegularText } from "./regular-file.js";
import { stateVersion } from "./state/format-version.js";

/**
 * Wraps `tell` so that the iterations under way are also saved to a file. They are not in the state file, because a
 * write of that file outside of a fold would look like a person's edit. A failed write is ignored, because no work
 * depends on the file.
 */
export function recordRunningUnits(folder: string, tell: Tell, now: () => number): Tell {
  const iterations = new Map<number, RunningUnit>();
  const file = underWayFile(folder);
  const save = async (): Promise<void> => {
    try {
      const text = JSON.stringify({ pid: process.pid, iterations: [...iterations.values()], format: stateVersion });
      if (iterations.size === 0) rmSync(file, { force: true });
      else await writeFileAtomic(file, text, { isDurable: false });
    } catch {}
  };
  return async (event) => {
    if (event.type === "iteration-started") {
      const { iteration, unit, title, phase, agent, role, round } = event;
      const since = new Date(now()).toISOString();
      iterations.set(iteration, { iteration, unit, title, phase, since, ...withoutUndefined({ agent, role, round }) });
      await save();
    }
    if (event.type === "iteration-ended" && iterations.delete(event.iteration)) await save();
    if (event.type === "run-ended") {
      iterations.clear();
      await save();
    }
    await tell(event);
  };
}

/**
 * The iterations under way in a project. The file of a killed run is ignored: it is valid only if the process that
 * wrote it holds the project's lock, and took the lock before the iterations began.
 */
export async function readRunningUnits(folder: string): Promise<readonly RunningUnit[]> {
  const holder = await liveHolder(lockFile(folder));
  if (holder === undefined) return [];
  try {
    const value: unknown = JSON.parse(await readRegularText(underWayFile(folder)));
    const { pid, iterations } = value as { pid?: unknown; iterations?: unknown };
    if (pid !== holder.pid || !Array.isArray(iterations)) return [];
    return iterations.filter((item): item is RunningUnit => isRunningUnit(item) && item.since >= (holder.since ?? ""));
  } catch {
    return [];
  }
}

const isRunningUnit = (value: unknown): value is RunningUnit => {
  const { iteration, unit, title, phase, since } = (value ?? {}) as Record<string, unknown>;
  return Number.isInteger(iteration) && [unit, title, phase, since].every((value) => typeof value === "string");
};

/** Whether a run works on the project in a folder, and which of the files PAUSE and STOP exist. */
export async function runStatusOf(folder: string): Promise<RunStatus> {
  const lock = lockFile(folder);
  const running = await isHeldByRun(lock);
  return {
    running,
    abandoned: !running && existsSync(lock),
    held: [pauseName, stopName].filter((name) => existsSync(join(folder, name))),
    underWay: running ? await readRunningUnits(folder) : [],
  };
}
