import { readFileSync } from "node:fs";
import { withoutUndefined } from "../../lib/without-undefined.js";

/** The keys that the user presses while a command works. */
export interface Keyboard {
  /**
   * Calls `onKey` for each key from now on; the terminal then sends no signals for Ctrl+C and Ctrl+Z. Returns a
   * function that ends this. Returns undefined if the terminal belongs to another job, because then it must not be
   * changed.
   */
  listen(onKey: (key: string) => void): (() => void) | undefined;
  /** Sends the signal that the terminal would send for Ctrl+C, Ctrl+Z or Ctrl+\ to the whole job. */
  send(signal: "SIGINT" | "SIGTSTP" | "SIGQUIT"): void;
}

/** The methods of stdin that a keyboard needs. */
type TerminalInput = Pick<NodeJS.ReadStream, "setRawMode" | "on" | "off" | "resume" | "pause">;

/** The keyboard of this process. */
export const keyboardOf = (stdin: TerminalInput): Keyboard => ({
  listen(onKey) {
    if (!hasTerminal()) return undefined;
    const onData = (data: Buffer | string) => {
      const input = data.toString();
      // Some keys, such as arrows, come as several characters.
      for (const key of input.startsWith("\u001b") ? [input] : input) onKey(key);
    };
    stdin.setRawMode(true);
    stdin.on("data", onData);
    stdin.resume();
    return () => {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      // An open stdin would keep the process running.
      stdin.pause();
    };
  },
  send: (signal) => void process.kill(0, signal),
});

/** Whether the terminal belongs to this job; the system stops a background job that changes a terminal. */
const hasTerminal = (): boolean => holdsForThisProcess(isInForeground);

/**
 * Whether this process belongs to a background job of a terminal; the system stops such a job if it reads from the
 * terminal.
 */
export const isBackgroundJob = (): boolean => holdsForThisProcess(isInBackground);

/** What this process's /proc/<pid>/stat says. False if that is unknown, as on systems without /proc. */
function holdsForThisProcess(rule: (stat: string) => boolean): boolean {
  try {
    return rule(readFileSync("/proc/self/stat", "utf8"));
  } catch {
    return false;
  }
}

/** Whether the process of this /proc/<pid>/stat has a terminal and belongs to a background job of it. */
export function isInBackground(stat: string): boolean {
  const { job, foreground } = jobsOf(stat);
  return foreground !== undefined && foreground !== "-1" && job !== foreground;
}

/** Whether the process of this /proc/<pid>/stat belongs to the foreground job of its terminal. */
export function isInForeground(stat: string): boolean {
  const { job, foreground } = jobsOf(stat);
  return job !== undefined && job === foreground;
}

/**
 * The job of the process of this /proc/<pid>/stat (pgrp), and the foreground job of its terminal (tpgid): -1 without a
 * terminal. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function jobsOf(stat: string): { readonly job?: string; readonly foreground?: string } {
  // The name of the program is in brackets and may contain any character. The next fields are state, ppid, pgrp,
  // session, tty_nr, tpgid.
  const [, , job, , , foreground] = stat
    .slice(stat.lastIndexOf(")") + 1)
    .trim()
    .split(" ");
  return withoutUndefined({ job, foreground });
}
