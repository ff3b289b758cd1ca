import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../generated/rrd.js";
import type { Progress } from "../../engine/loop/types.js";
import { isHeldByRun } from "../../engine/storage/lock.js";
import { readUnderWay, type UnderWay } from "../../engine/storage/under-way.js";
import { readResearch } from "../project-files/research.js";
import { progressOf, statusOf } from "../workflow/next-unit/status.js";
import { type Sum, sumOf, totalOf } from "./costs.js";
import { timeSpent } from "./time-and-cost.js";
import {
  hiddenName,
  ledgerName,
  lockFile,
  lockName,
  pauseName,
  stopName,
  underWayName,
} from "../../engine/lib/layout.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { messageOf } from "../../engine/lib/errors.js";
import { rrdFile, rrdName } from "../project-files/layout.js";
import { given } from "../../engine/lib/given.js";

type LastRun = NonNullable<NonNullable<Rrd["loop"]>["last_run"]>;

/** A project or a task as it stands, seen from outside. */
export interface WatchedResearch {
  readonly name: string;
  readonly folder: string;
  /** What the project is called in its own words; absent where it can't be read. */
  readonly title?: string;
  readonly phase: string;
  readonly progress: Progress;
  /** Whether a process works on it. */
  readonly running: boolean;
  /** A process that is gone has left its lock. */
  readonly abandoned: boolean;
  /** What keeps runs from starting. */
  readonly held?: "paused" | "stopped";
  /** How its last run ended, where that was written down. */
  readonly lastRun?: LastRun;
  /** Why it can't be read; the rest then says nothing. */
  readonly broken?: string;
  readonly ledger: readonly LedgerLine[];
  /** Iterations under way. */
  readonly underWay: readonly UnderWay[];
  readonly spending: Sum;
  /** Milliseconds that agents worked on it; undefined where nothing was recorded. */
  readonly spentMs?: number;
}

/** Something that happened to a project since it was last looked at. */
export type Change =
  | { readonly type: "started" | "stopped" | "crashed" | "gone" | "broken"; readonly research: WatchedResearch }
  | { readonly type: "iteration"; readonly research: WatchedResearch; readonly line: LedgerLine };

/** Looks at a project without its lock; undefined where it is gone. */
export async function lookAt(folder: string): Promise<WatchedResearch | undefined> {
  try {
    const { rrd, ledger } = await readResearch(folder);
    const spentMs = timeSpent(rrd, ledger);
    return {
      ...(await seenFromOutside(folder)),
      title: oneLine(rrd.project).replace(/^Research:\s*/i, ""),
      phase: statusOf(rrd, ledger).phase,
      progress: progressOf(rrd),
      ...given({ lastRun: rrd.loop?.last_run ?? undefined }),
      ledger,
      spending: totalOf(rrd, ledger),
      ...given({ spentMs }),
    };
  } catch (error) {
    return existsSync(rrdFile(folder)) ? brokenAt(folder, error) : undefined;
  }
}

/** Who works on what lies in a folder, and what keeps others from it. */
export async function seenFromOutside(
  folder: string,
): Promise<Pick<WatchedResearch, "name" | "folder" | "running" | "abandoned" | "underWay" | "held">> {
  const lock = lockFile(folder);
  const running = await isHeldByRun(lock);
  const held: WatchedResearch["held"] = existsSync(join(folder, stopName))
    ? "stopped"
    : existsSync(join(folder, pauseName))
      ? "paused"
      : undefined;
  return {
    name: basename(folder),
    folder,
    running,
    abandoned: !running && existsSync(lock),
    underWay: running ? await readUnderWay(folder) : [],
    ...given({ held }),
  };
}

/** What can't be read, and why. */
export const brokenAt = (folder: string, error: unknown): WatchedResearch => ({
  phase: "",
  progress: { done: 0, total: 0 },
  running: false,
  abandoned: false,
  ledger: [],
  underWay: [],
  name: basename(folder),
  folder,
  spending: sumOf([]),
  broken: messageOf(error).replace(`${folder}/`, ""),
});

/** What happened between two looks; nothing at the first, but that it is being worked on. */
export function changesOf(before: WatchedResearch | undefined, after: WatchedResearch | undefined): Change[] {
  if (after === undefined) return before === undefined ? [] : [{ type: "gone", research: before }];
  if (after.broken !== undefined) return before?.broken === undefined ? [{ type: "broken", research: after }] : [];
  if (before?.broken !== undefined) return changesOf(undefined, after);
  const known = new Set((before ?? after).ledger.map(({ iteration }) => iteration));
  const fresh = after.ledger.filter(({ iteration }) => !known.has(iteration));
  return [
    ...(after.running && before?.running !== true ? [{ type: "started" as const, research: after }] : []),
    ...fresh.map((line) => ({ type: "iteration" as const, research: after, line })),
    ...(before?.running === true && !after.running
      ? [{ type: after.abandoned ? ("crashed" as const) : ("stopped" as const), research: after }]
      : []),
  ];
}

const kept: ReadonlySet<string> = new Set([rrdName, ledgerName, lockName, pauseName, stopName]);
const keptInHidden: ReadonlySet<string> = new Set([ledgerName, lockName, underWayName]);

/**
 * Whether a path below `root` tells nothing of a project: only the state, the ledger and the lock do. `states`: names
 * of state files next to a project's.
 */
export function isOfNoInterest(root: string, path: string, isFile: boolean, states: readonly string[] = []): boolean {
  const parts = path === root ? [] : path.slice(root.length + 1).split(/[\\/]/);
  if (parts.some((part) => part === "node_modules" || (part.startsWith(".") && part !== hiddenName))) return true;
  const inside = parts.indexOf(hiddenName);
  if (inside !== -1 && parts.length > inside + 1)
    return parts.length > inside + 2 || !keptInHidden.has(parts[inside + 1] ?? "");
  const name = parts.at(-1) ?? "";
  return isFile && !kept.has(name) && !states.includes(name);
}

/** The project that a file belongs to. */
export const folderOf = (path: string): string =>
  basename(dirname(path)) === hiddenName ? dirname(dirname(path)) : dirname(path);
