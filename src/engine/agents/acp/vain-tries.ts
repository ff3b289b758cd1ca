import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recogniseFailure } from "../failures.js";

/** Hears whether an agent only tries again and again to reach its model service. */
export interface VainTries {
  /** A line of what the agent says of itself. */
  said(line: string): void;
  /** The agent has told something over the protocol. */
  heard(): void;
}

/**
 * Some agents have no end to their own tries of a service that does not answer, and say so on stderr or in their log
 * alone. `giveUp` gets the line of the first in vain, `ms` milliseconds after it, unless the agent has told something
 * else meanwhile.
 */
export function vainTries(ms: number, giveUp: (line: string) => void): VainTries {
  let timer: NodeJS.Timeout | undefined;
  return {
    said(line) {
      const kind = recogniseFailure(line, "", Date.now())?.kind;
      if (kind === "rate-limit" || kind === "network") timer ??= setTimeout(giveUp, ms, line);
    },
    heard() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** How often a log is read, in milliseconds. */
const readMs = 1_000;

/**
 * A file for the log of an agent, which it is told of by `variable`. `warned` gets the lines of warnings and errors: of
 * the others some repeat what the model says.
 */
export function logFile(
  variable: string,
  warned: (line: string) => void,
): { readonly env: Readonly<Record<string, string>>; close(): void } {
  const folder = mkdtempSync(join(tmpdir(), "rr-acp-"));
  const path = join(folder, "log");
  let read = 0;
  const timer = setInterval(() => {
    try {
      const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
      for (const line of lines.slice(read)) if (/^\S+ \[(?:WARN|ERROR)\] /.test(line)) warned(line);
      read = lines.length;
    } catch {
      // It has written nothing yet.
    }
  }, readMs);
  timer.unref();
  return {
    env: { [variable]: path },
    close() {
      clearInterval(timer);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
