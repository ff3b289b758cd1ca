import { readFileSync } from "node:fs";

/** The keys that a person presses while a command works. */
export interface Keyboard {
  /**
   * From now on each key is reported at once, and the terminal makes no signals of Ctrl+C and Ctrl+Z. Returns what ends
   * it; undefined where another job has the terminal, which must not be touched then.
   */
  listen(onKey: (key: string) => void): (() => void) | undefined;
  /** What the terminal makes of Ctrl+C, Ctrl+Z and Ctrl+\ while nobody listens: a signal to the whole job. */
  send(signal: "SIGINT" | "SIGTSTP" | "SIGQUIT"): void;
}

/** The part of a terminal's stdin that is used. */
type Terminal = Pick<NodeJS.ReadStream, "setRawMode" | "on" | "off" | "resume" | "pause">;

/** The keyboard of this process. */
export const keyboardOf = (stdin: Terminal): Keyboard => ({
  listen(onKey) {
    if (!hasTerminal()) return undefined;
    const onData = (data: Buffer | string) => {
      const input = data.toString();
      // An arrow, say, comes as several characters.
      for (const key of input.startsWith("\u001b") ? [input] : input) onKey(key);
    };
    stdin.setRawMode(true);
    stdin.on("data", onData);
    stdin.resume();
    return () => {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      // It would keep the process from ending.
      stdin.pause();
    };
  },
  send: (signal) => void process.kill(0, signal),
});

/**
 * Whether the terminal is this job's: one in the background is stopped when it changes a terminal. Where Linux does not
 * say, nobody listens.
 */
function hasTerminal(): boolean {
  try {
    return isInForeground(readFileSync("/proc/self/stat", "utf8"));
  } catch {
    return false;
  }
}

/**
 * Whether the process of this /proc/<pid>/stat belongs to the job that has the terminal: pgrp is tpgid.
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
export function isInForeground(stat: string): boolean {
  // The name of the program is in brackets and may hold any character. Behind it: state, ppid, pgrp, session, tty_nr.
  const [, , pgrp, , , tpgid] = stat
    .slice(stat.lastIndexOf(")") + 1)
    .trim()
    .split(" ");
  return pgrp !== undefined && pgrp === tpgid;
}
