import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sendSignal } from "../process/descendants.js";
import { readTextSync } from "../storage/regular-file.js";
import type { Limits } from "./sandbox.js";

/**
 * The command that starts a program with its limits. It runs inside the sandbox, as the kernel counts processes per
 * user namespace. The memory limit applies to each single process; the watcher limits all processes together.
 */
export const limitCommand = (
  prlimit: string | undefined,
  { maxProcesses, maxMemoryBytes, maxFileBytes }: Limits,
): readonly string[] => [
  prlimit ?? "prlimit",
  `--nproc=${maxProcesses}`,
  `--data=${maxMemoryBytes}`,
  `--fsize=${maxFileBytes}`,
  "--core=0",
  "--",
];

/** A control group (cgroup) with a maximum number of processes. */
export interface ProcessGroup {
  /** The command that starts a program as a member of the group. */
  readonly startCommand: readonly string[];
  remove(): void;
}

/**
 * A control group for the user root, to whom other process limits do not apply; undefined if none can be created.
 * Version 1 of control groups has a separate tree for processes; version 2 has one tree for all controllers.
 */
export function processGroup(
  maxProcesses: number,
  { root, selfFile }: CgroupPaths = systemTree,
  isRoot = process.getuid?.() === 0,
): ProcessGroup | undefined {
  if (!isRoot) return undefined;
  for (const parent of parentFolders(root, selfFile)) {
    removeGroupsOfKilledRuns(parent);
    const folder = join(parent, `${groupNamePrefix}${process.pid}-${randomUUID()}`);
    try {
      mkdirSync(folder);
      // In version 2 this file exists only if the controller is enabled.
      if (!existsSync(join(folder, "pids.max"))) throw new Error("no such controller");
      writeFileSync(join(folder, "pids.max"), String(maxProcesses));
      return {
        startCommand: ["/bin/sh", "-c", `echo $$ > "$0" && exec "$@"`, join(folder, "cgroup.procs")],
        remove: () => removeEmptyGroup(folder),
      };
    } catch {
      removeEmptyGroup(folder);
    }
  }
  return undefined;
}

/**
 * Where the kernel shows control groups: the folder of all groups, and the file that names the group of this process.
 */
export interface CgroupPaths {
  readonly root: string;
  readonly selfFile: string;
}

const systemTree: CgroupPaths = { root: "/sys/fs/cgroup", selfFile: "/proc/self/cgroup" };

const groupNamePrefix = "research-ralph-";

/** Removes the groups of runs that were killed. */
function removeGroupsOfKilledRuns(parent: string): void {
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const pid = new RegExp(`^${groupNamePrefix}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !sendSignal(Number(pid), 0)) removeEmptyGroup(join(parent, name), 0);
  }
}

/** Maximum bytes of the file in /proc that names the groups of this process. */
const maxGroupFileBytes = 100_000;

/** Folders in which a group can be created. */
function parentFolders(root: string, ownFile: string): string[] {
  const ownGroup = /^\d+:(?:[\w=,]+,)?pids(?:,[\w=,]+)?:(\/.*)$/m.exec(
    readTextSync(ownFile, maxGroupFileBytes) ?? "",
  )?.[1];
  const version1 = ownGroup === undefined ? [] : [join(root, "pids", ownGroup), join(root, "pids")];
  return [...version1, root, join(root, "unified")];
}

/**
 * Removes an empty group. The kernel may notice the end of the last member late, so this function tries again. A group
 * that can't be removed is empty and uses no resources.
 */
function removeEmptyGroup(folder: string, remainingTries = 20): void {
  try {
    rmdirSync(folder);
  } catch {
    if (remainingTries > 0 && existsSync(folder))
      setTimeout(() => removeEmptyGroup(folder, remainingTries - 1), 50).unref();
  }
}
