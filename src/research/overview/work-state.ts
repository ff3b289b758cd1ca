import { existsSync } from "node:fs";
import { join } from "node:path";
import { isHeldByRun } from "../../engine/storage/lock.js";
import type { UnderWay } from "../../engine/storage/under-way.js";
import { partText } from "../../engine/ui/terminal/tally.js";
import { readResearch } from "../project-files/research.js";
import { statusOf } from "../workflow/next-unit/status.js";
import { lockFile, pauseName, stopName } from "../../engine/lib/layout.js";

/** Whether somebody works on a project, and what keeps others from it. */
export interface WorkState {
  readonly running: boolean;
  /** Files that end a run before its next iteration and keep others from starting. */
  readonly held: readonly (typeof pauseName | typeof stopName)[];
  /** No agent would be started any more. False too where that can't be read. */
  readonly finished: boolean;
}

export async function workStateOf(folder: string): Promise<WorkState> {
  const read = await readResearch(folder).catch(() => undefined);
  return {
    running: await isHeldByRun(lockFile(folder)),
    held: ([pauseName, stopName] as const).filter((name) => existsSync(join(folder, name))),
    finished: read !== undefined && statusOf(read.rrd, read.ledger).phase === "COMPLETE",
  };
}

/** "#5 analyzing p1", "#6 critic of p1": what an iteration under way does. */
export const underWayText = ({ iteration, unit, role, round, phase }: UnderWay): string =>
  role === undefined
    ? `#${iteration} ${phase === "ANALYSIS" && unit !== "report" ? "analyzing " : ""}${unit}`
    : `#${iteration} ${partText(role, round)} of ${unit}`;
