import { readFileSync, readlinkSync } from "node:fs";
import { hasCode } from "../lib/errors.js";

/**
 * When the process started, in the system's own words, or undefined where it can't be told or no such process runs.
 * Together with the pid it names one process for good; a pid alone is given out again.
 */
export async function startOfProcess(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") return linuxStat(pid)?.started;
  if (process.platform === "win32") return undefined;
  const { execa } = await import("execa");
  const { stdout, failed } = await execa("ps", ["-o", "lstart=", "-p", String(pid)], {
    reject: false,
    env: { LC_ALL: "C" },
  });
  return failed || stdout.trim() === "" ? undefined : stdout.trim();
}

/** Which kernel gives a pid its meaning. A host's name says little: two machines or containers may share it. */
export interface PidSpace {
  /** Of the installed system; containers may have none, or share one. */
  readonly machine?: string;
  /** Of the running kernel, from its start on. */
  readonly boot?: string;
  /** Of the namespace in which pids are counted, such as a container's. */
  readonly pids?: string;
}

/** Where this process runs; on systems other than Linux nothing is told. */
export function pidSpace(): PidSpace {
  const told = (read: () => string): string | undefined => {
    try {
      return read().trim() || undefined;
    } catch {
      return undefined;
    }
  };
  if (process.platform !== "linux") return {};
  return {
    machine: told(() => readFileSync("/etc/machine-id", "utf8")),
    boot: told(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
    pids: told(() => readlinkSync("/proc/self/ns/pid")),
  };
}

/** Whether the process that had this pid and start is alive. Where the start is unknown, the pid alone decides. */
export async function isSameProcess(pid: number, started: string | undefined): Promise<boolean> {
  if (linuxStat(pid)?.zombie === true) return false;
  const now = await startOfProcess(pid);
  // It may have ended while it was looked at, or is one whose start can't be seen.
  if (now === undefined) return exists(pid);
  return started === undefined || now === started;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/**
 * What Linux lists of a process; on other systems nothing. A killed process whose parent never asked for its end is
 * still listed: in containers without an init, forever.
 */
function linuxStat(pid: number): { started: string; zombie: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the name in brackets and may hold spaces and brackets itself, so fields are counted after its
    // end.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { started: fields[19] ?? "", zombie: fields[0] === "Z" || fields[0] === "X" };
  } catch (error) {
    // A process that is confined to its own files is not told of others.
    if (hasCode(error, "ENOENT", "ESRCH", "ERR_ACCESS_DENIED")) return undefined;
    throw error;
  }
}
