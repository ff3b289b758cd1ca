import { readdirSync, readFileSync, statfsSync } from "node:fs";
import type { Limits } from "./sandbox.js";

const gigabyte = 2 ** 30;
/** Interval between two checks, in milliseconds. */
const checkIntervalMs = 250;

/** After this number of checks, processes outside the tree are checked again: the kernel may have reused an id. */
const checksUntilRescan = 20;

/** If a sandbox wrote fewer bytes, it is not the cause of a full disk. */
const minBlamedBytes = gigabyte / 10;

/** Checks the resource usage of the processes of one program. */
export interface Watcher {
  stop(): void;
}

/**
 * Checks every 250 ms the processes below `root`, their memory, and the disks of `folders`. Calls `onExceeded` once
 * with a text that names the exceeded limit. Linux only.
 */
export function watchResources(
  root: number,
  folders: readonly string[],
  limits: Limits,
  onExceeded: (exceededLimit: string) => void,
): Watcher {
  const check = makeCheck(root, folders, limits);
  const timer = setInterval(() => {
    const exceededLimit = check();
    if (exceededLimit === undefined) return;
    clearInterval(timer);
    onExceeded(exceededLimit);
  }, checkIntervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** A function that checks the resource usage; it returns a text that names the exceeded limit. */
export function makeCheck(root: number, folders: readonly string[], limits: Limits): () => string | undefined {
  const findProcesses = makeTreeFinder(root);
  const disks = folders.flatMap((folder) => diskSpaceOf(folder) ?? []);
  const freeAtStart = new Map(disks.map(({ id, free }) => [id, free]));
  // If the system does not count writes, only the free space of the disk can be checked.
  let writtenBytes = readProcFile(root, "io") === "" ? Number.POSITIVE_INFINITY : 0;
  return () => {
    const pids = findProcesses();
    if (pids.length > limits.maxProcesses) return `more than ${limits.maxProcesses} processes`;
    const memoryBytes = pids.reduce((sum, pid) => sum + memoryOf(pid), 0);
    if (memoryBytes > limits.maxMemoryBytes) return `more than ${gigabytesText(limits.maxMemoryBytes)} of memory`;
    // When a process ends, the kernel adds its written bytes to those of its parent, so the sum hardly decreases.
    writtenBytes = Math.max(
      writtenBytes,
      pids.reduce((sum, pid) => sum + writtenBytesOf(pid), 0),
    );
    for (const { id, free } of folders.flatMap((folder) => diskSpaceOf(folder) ?? [])) {
      // Other programs use the disk too: count only bytes that the sandbox may have written.
      if (Math.min((freeAtStart.get(id) ?? free) - free, writtenBytes) > limits.maxDiskBytes)
        return `more than ${gigabytesText(limits.maxDiskBytes)} of the disk`;
      if (free < limits.minFreeDiskBytes && writtenBytes > minBlamedBytes)
        return `the disk has less than ${gigabytesText(limits.minFreeDiskBytes)} left`;
    }
    return undefined;
  };
}

const gigabytesText = (bytes: number): string => `${Math.round((bytes / gigabyte) * 10) / 10} GB`;

/** A function that finds `root` and all processes below it. It remembers processes outside the tree between calls. */
function makeTreeFinder(root: number): () => number[] {
  let otherPids = new Set<number>();
  let checkCount = 0;
  return () => {
    if (checkCount++ % checksUntilRescan === 0) otherPids = new Set();
    const parents = new Map<number, number>();
    for (const name of readdirSync("/proc")) {
      const pid = Number(name);
      if (!Number.isInteger(pid) || otherPids.has(pid)) continue;
      const stat = readProcFile(pid, "stat");
      // The format is: pid (name) state ppid …; the name may contain any character.
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ", 1)[0]);
      if (stat !== "") parents.set(pid, parent);
    }
    const descendants = new Set([root]);
    // A child may have a smaller id than its parent, and so come first: the kernel starts again from small ids.
    for (let previousSize = 0; previousSize !== descendants.size;) {
      previousSize = descendants.size;
      for (const [pid, parent] of parents) if (descendants.has(parent)) descendants.add(pid);
    }
    for (const pid of parents.keys()) if (!descendants.has(pid)) otherPids.add(pid);
    return [...descendants].filter((pid) => parents.has(pid));
  };
}

/** Bytes of private and shared memory. Mapped files do not count, as the kernel can free their memory. */
function memoryOf(pid: number): number {
  const status = readProcFile(pid, "status");
  return ["RssAnon", "RssShmem"].reduce((sum, name) => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0;
    return sum + Number(kilobytes) * 1024;
  }, 0);
}

/** Bytes that the process and its ended children wrote to disks. */
const writtenBytesOf = (pid: number): number => Number(/^write_bytes: (\d+)/m.exec(readProcFile(pid, "io"))?.[1] ?? 0);

function readProcFile(pid: number, name: "stat" | "status" | "io"): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}

function diskSpaceOf(folder: string): { id: string; free: number } | undefined {
  try {
    const { blocks, bavail, bsize, type } = statfsSync(folder);
    return { id: `${type}:${blocks}`, free: bavail * bsize };
  } catch {
    return undefined;
  }
}
