import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signal } from "../process/descendants.js";
import type { Limits } from "./sandbox.js";

/**
 * The command by which a program is started with its limits, from inside the sandbox: processes are counted for each
 * user namespace. Of memory this bounds what one process may ask for; the watcher bounds them all together.
 */
export const limited = (prlimit: string | undefined, { processes, memory, file }: Limits): readonly string[] => [
  prlimit ?? "prlimit",
  `--nproc=${processes}`,
  `--data=${memory}`,
  `--fsize=${file}`,
  "--core=0",
  "--",
];

/** A group of processes that the kernel lets grow no further. */
export interface ProcessGroup {
  /** The command by which a program is started as its member. */
  readonly join: readonly string[];
  remove(): void;
}

/**
 * A group for root, whose processes no other limit counts; undefined where there is no such group to be had. Version 1
 * has a tree of its own for processes; version 2 one tree, whose root hands the controller on.
 */
export function processGroup(
  processes: number,
  { groups, own }: GroupTree = systemTree,
  isRoot = process.getuid?.() === 0,
): ProcessGroup | undefined {
  if (!isRoot) return undefined;
  for (const parent of parents(groups, own)) {
    removeLeft(parent);
    const folder = join(parent, `${groupName}${process.pid}-${randomUUID()}`);
    try {
      mkdirSync(folder);
      // In a tree of version 2 the file is there only where the controller is on.
      if (!existsSync(join(folder, "pids.max"))) throw new Error("no such controller");
      writeFileSync(join(folder, "pids.max"), String(processes));
      return {
        join: ["/bin/sh", "-c", `echo $$ > "$0" && exec "$@"`, join(folder, "cgroup.procs")],
        remove: () => removeEmpty(folder),
      };
    } catch {
      removeEmpty(folder);
    }
  }
  return undefined;
}

/** Where the kernel shows groups: the folder of them all, and the file that names this process's own. */
export interface GroupTree {
  readonly groups: string;
  readonly own: string;
}

const systemTree: GroupTree = { groups: "/sys/fs/cgroup", own: "/proc/self/cgroup" };

const groupName = "research-ralph-";

/** Removes the groups of runs that were killed. */
function removeLeft(parent: string): void {
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const pid = new RegExp(`^${groupName}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !signal(Number(pid), 0)) removeEmpty(join(parent, name), 0);
  }
}

/** Folders in which a group may be made. */
function parents(groups: string, ownFile: string): string[] {
  const own = /^\d+:(?:[\w=,]+,)?pids(?:,[\w=,]+)?:(\/.*)$/m.exec(textOf(ownFile))?.[1];
  const version1 = own === undefined ? [] : [join(groups, "pids", own), join(groups, "pids")];
  return [...version1, groups, join(groups, "unified")];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The kernel needs a moment to see that the last member has gone; what stays holds nothing and costs nothing. */
function removeEmpty(folder: string, tries = 20): void {
  try {
    rmdirSync(folder);
  } catch {
    if (tries > 0 && existsSync(folder)) setTimeout(() => removeEmpty(folder, tries - 1), 50).unref();
  }
}
