import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { timeForName } from "../lib/clock.js";
import { messageOf } from "../lib/errors.js";
import { bugsFolder } from "../lib/layout.js";
import { defaultStateDir } from "../config/state-dir.js";
import { packageVersion } from "../lib/package-root.js";
import { oneLine } from "../lib/sanitise.js";
import { homeOf, type Io } from "./io.js";

/**
 * Saves the details of an unexpected error for a bug report, and returns the message: one sentence with the version,
 * the platform and the place of the details. `name` and `args`: the program and its arguments.
 */
export function bugSentence(error: unknown, io: Io, name: string, args: readonly string[]): string {
  const program = `${name} ${packageVersion()} (Node ${process.version}, ${process.platform} ${process.arch})`;
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const report = saveReport(`${program}\n\n${name} ${args.join(" ")}\n\n${details}\n`, details, io);
  return `${oneLine(messageOf(error))}; this is a bug in ${program}, ${report}.`;
}

function saveReport(text: string, details: string, io: Io): string {
  if (io.env["RESEARCH_RALPH_DEBUG"] === "1") {
    io.stderr(`${details}\n`);
    return "see the details above";
  }
  const folder = bugsFolder(defaultStateDir(io.env, homeOf(io.env)));
  const file = join(folder, `${timeForName(io.clock.now())}.txt`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
    return `the details are in ${file}`;
  } catch {
    return "RESEARCH_RALPH_DEBUG=1 shows the details";
  }
}
