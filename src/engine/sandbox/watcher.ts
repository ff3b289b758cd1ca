import { readdirSync, readFileSync, statfsSync } from "node:fs";
import type { Limits } from "./sandbox.js";

const gigabyte = 2 ** 30;
/** How often it looks, in milliseconds. */
const everyMs = 250;
/** A process of others is looked at again after so many looks: its number may be another's by then. */
const looksUntilAnew = 20;
/** Below this a sandbox is not what fills a disk. */
const minWritten = gigabyte / 10;

/** Looks after what the processes of one program use. */
export interface Watcher {
  stop(): void;
}

/**
 * Looks every 250 ms at the processes under `root`, their memory, and the disks that `folders` lie on. `exceeded` is
 * told once, in words, what there is too much of. Linux only.
 */
export function watchResources(
  root: number,
  folders: readonly string[],
  limits: Limits,
  exceeded: (what: string) => void,
): Watcher {
  const look = lookAt(root, folders, limits);
  const timer = setInterval(() => {
    const what = look();
    if (what === undefined) return;
    clearInterval(timer);
    exceeded(what);
  }, everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** One look after another; each answers what there is too much of. */
export function lookAt(root: number, folders: readonly string[], limits: Limits): () => string | undefined {
  const processes = treeOf(root);
  const disks = folders.flatMap((folder) => spaceOf(folder) ?? []);
  const before = new Map(disks.map(({ id, free }) => [id, free]));
  // Where the system tells of no writes, the disk itself is all that can be looked at.
  let written = read(root, "io") === "" ? Number.POSITIVE_INFINITY : 0;
  return () => {
    const pids = processes();
    if (pids.length > limits.processes) return `more than ${limits.processes} processes`;
    const memory = pids.reduce((sum, pid) => sum + memoryOf(pid), 0);
    if (memory > limits.memory) return `more than ${inGigabytes(limits.memory)} of memory`;
    // What a process wrote goes to its parent's account when it has ended, so the sum never falls by much.
    written = Math.max(
      written,
      pids.reduce((sum, pid) => sum + writtenBy(pid), 0),
    );
    for (const { id, free } of folders.flatMap((folder) => spaceOf(folder) ?? [])) {
      // Others use the disk too: only what the sandbox may have written counts.
      if (Math.min((before.get(id) ?? free) - free, written) > limits.disk)
        return `more than ${inGigabytes(limits.disk)} of the disk`;
      if (free < limits.diskLeft && written > minWritten)
        return `the disk has less than ${inGigabytes(limits.diskLeft)} left`;
    }
    return undefined;
  };
}

const inGigabytes = (bytes: number): string => `${Math.round((bytes / gigabyte) * 10) / 10} GB`;

/** Finds `root` and all processes below it, in a table of all processes that is kept from one look to the next. */
function treeOf(root: number): () => number[] {
  let foreign = new Set<number>();
  let looks = 0;
  return () => {
    if (looks++ % looksUntilAnew === 0) foreign = new Set();
    const parents = new Map<number, number>();
    for (const name of readdirSync("/proc")) {
      const pid = Number(name);
      if (!Number.isInteger(pid) || foreign.has(pid)) continue;
      const stat = read(pid, "stat");
      // pid (name) state ppid …, and the name may hold anything.
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ", 1)[0]);
      if (stat !== "") parents.set(pid, parent);
    }
    const mine = new Set([root]);
    // Numbers go round, so a child may stand before its parent.
    for (let found = 0; found !== mine.size;) {
      found = mine.size;
      for (const [pid, parent] of parents) if (mine.has(parent)) mine.add(pid);
    }
    for (const pid of parents.keys()) if (!mine.has(pid)) foreign.add(pid);
    return [...mine].filter((pid) => parents.has(pid));
  };
}

/** Bytes of its own and shared with its children; what it has mapped of files costs nobody anything. */
function memoryOf(pid: number): number {
  const status = read(pid, "status");
  return ["RssAnon", "RssShmem"].reduce((sum, name) => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0;
    return sum + Number(kilobytes) * 1024;
  }, 0);
}

/** Bytes that it and its ended children caused to be written to disks. */
const writtenBy = (pid: number): number => Number(/^write_bytes: (\d+)/m.exec(read(pid, "io"))?.[1] ?? 0);

function read(pid: number, name: "stat" | "status" | "io"): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}

function spaceOf(folder: string): { id: string; free: number } | undefined {
  try {
    const { blocks, bavail, bsize, type } = statfsSync(folder);
    return { id: `${type}:${blocks}`, free: bavail * bsize };
  } catch {
    return undefined;
  }
}
