import { readFileSync } from "node:fs";

/** The keys that a person presses while a command works. */
export interface Keyboard {
  /**
   * Reports each key at once from now on; the terminal no longer sends signals for Ctrl+C and Ctrl+Z. Returns a
   * function that ends this. Undefined if the terminal belongs to another job, because it must not be changed then.
   */
  listen(onKey: (key: string) => void): (() => void) | undefined;
  /** Sends the signal that the terminal would send for Ctrl+C, Ctrl+Z or Ctrl+\ to the whole job. */
  send(signal: "SIGINT" | "SIGTSTP" | "SIGQUIT"): void;
}

/** The methods of stdin that are used. */
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

/**
 * Whether the terminal belongs to this job. The system stops a background job that changes a terminal. False if Linux
 * does not say.
 */
function hasTerminal(): boolean {
  try {
    return isInForeground(readFileSync("/proc/self/stat", "utf8"));
  } catch {
    return false;
  }
}

/**
 * Whether the process of this /proc/<pid>/stat belongs to the foreground job of its terminal: pgrp equals tpgid.
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
export function isInForeground(stat: string): boolean {
  // The name of the program is in brackets and may contain any character. The next fields are state, ppid, pgrp,
  // session, tty_nr, tpgid.
  const [, , pgrp, , , tpgid] = stat
    .slice(stat.lastIndexOf(")") + 1)
    .trim()
    .split(" ");
  return pgrp !== undefined && pgrp === tpgid;
}
