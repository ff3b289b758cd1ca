import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recogniseFailure } from "../failures.js";

/** Detects that an agent does nothing but retry failed requests to its model service. */
export interface RetryWatch {
  /** A line that the agent printed on stderr or wrote to its log. */
  onLogLine(line: string): void;
  /** The agent sent an event over the protocol. */
  onEvent(): void;
}

/**
 * Some agents retry without limit if their model service does not answer, and report this only on stderr or in their
 * log. If the agent sends no event for `patienceMs` milliseconds after such a line, `giveUp` is called with the line.
 */
export function watchRetries(patienceMs: number, giveUp: (line: string) => void): RetryWatch {
  let timer: NodeJS.Timeout | undefined;
  return {
    onLogLine(line) {
      const kind = recogniseFailure(line, "", Date.now())?.kind;
      if (kind === "rate-limit" || kind === "network") timer ??= setTimeout(giveUp, patienceMs, line);
    },
    onEvent() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Interval at which the log is read, in milliseconds. */
const readIntervalMs = 1_000;

/**
 * Creates a log file for an agent; `env` sets its path in `variable`. `onWarning` gets the lines of warnings and
 * errors. Other lines are ignored, because some of them repeat text of the model.
 */
export function createLogFile(
  variable: string,
  onWarning: (line: string) => void,
): { readonly env: Readonly<Record<string, string>>; close(): void } {
  const folder = mkdtempSync(join(tmpdir(), "rr-acp-"));
  const path = join(folder, "log");
  let readLineCount = 0;
  const timer = setInterval(() => {
    try {
      const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
      for (const line of lines.slice(readLineCount)) if (/^\S+ \[(?:WARN|ERROR)\] /.test(line)) onWarning(line);
      readLineCount = lines.length;
    } catch {
      // The agent has not written its log yet.
    }
  }, readIntervalMs);
  timer.unref();
  return {
    env: { [variable]: path },
    close() {
      clearInterval(timer);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
