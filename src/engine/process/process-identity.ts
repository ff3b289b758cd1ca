import { readFileSync, readlinkSync } from "node:fs";
import { hasCode } from "../lib/errors.js";

/**
 * The start time of a process in the system's format; undefined if it is unknown or the process does not run. Pid and
 * start time together identify a process; a pid alone may be used again.
 */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") return linuxStat(pid)?.startTime;
  if (process.platform === "win32") return undefined;
  const { execa } = await import("execa");
  const { stdout, failed } = await execa("ps", ["-o", "lstart=", "-p", String(pid)], {
    reject: false,
    env: { LC_ALL: "C" },
  });
  return failed || stdout.trim() === "" ? undefined : stdout.trim();
}

/** The kernel and namespace in which a pid is valid. The host name is not enough: two machines may have the same. */
export interface PidSpace {
  /** Id of the installed system; containers may have none, or share one. */
  readonly machine?: string;
  /** Id of the kernel's current boot. */
  readonly boot?: string;
  /** Id of the pid namespace, such as a container's. */
  readonly pids?: string;
}

/** The pid space of this process; empty on systems other than Linux. */
export function pidSpace(): PidSpace {
  const readOrUndefined = (read: () => string): string | undefined => {
    try {
      return read().trim() || undefined;
    } catch {
      return undefined;
    }
  };
  if (process.platform !== "linux") return {};
  return {
    machine: readOrUndefined(() => readFileSync("/etc/machine-id", "utf8")),
    boot: readOrUndefined(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
    pids: readOrUndefined(() => readlinkSync("/proc/self/ns/pid")),
  };
}

/**
 * Whether the process with this pid and start time is alive. If the start time is unknown, only the pid is compared.
 */
export async function isSameProcess(pid: number, startTime: string | undefined): Promise<boolean> {
  if (linuxStat(pid)?.isZombie === true) return false;
  const currentStart = await startTimeOf(pid);
  // The process has just ended, or its start time can't be read.
  if (currentStart === undefined) return isRunning(pid);
  return startTime === undefined || currentStart === startTime;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/**
 * Start time and state of a process from /proc; undefined on systems other than Linux. A killed process stays listed as
 * a zombie until its parent reaps it; in containers without an init that never happens.
 */
function linuxStat(pid: number): { startTime: string; isZombie: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the name, in brackets. A name may contain spaces and brackets, so the fields are counted from
    // the last bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { startTime: fields[19] ?? "", isZombie: fields[0] === "Z" || fields[0] === "X" };
  } catch (error) {
    // Node's permission model hides other processes.
    if (hasCode(error, "ENOENT", "ESRCH", "ERR_ACCESS_DENIED")) return undefined;
    throw error;
  }
}
