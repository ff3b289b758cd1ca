import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isWithin } from "../../engine/process/search-path.js";
import type { RalphTask } from "../generated/ralph.js";
import { type Place, run } from "./run.js";

/**
 * Absolute paths outside the workspace that a task names in `context`. A sandbox must mount them. Paths in the
 * workspace are skipped: they are visible anyway, and an agent may have made links there. A folder that contains the
 * workspace is skipped too, because it contains more than the user means.
 */
export const contextOutside = ({ context = [] }: RalphTask, workspace: string): string[] =>
  context
    .map((name) => resolve(workspace, name))
    .filter((path) => !isWithin(path, workspace) && !isWithin(workspace, path) && existsSync(path));

/** A sentence for each file in `context` that the agents can't read. */
export async function unreadableContext({ context = [] }: RalphTask, place: Place): Promise<string[]> {
  if (context.length === 0) return [];
  const script = String.raw`for file do [ -r "$file" ] || printf '%s\0' "$file"; done`;
  const { ok, stdout } = await run(place, "sh", ["-c", script, "sh", ...context], { timeoutMs: 60_000 });
  const missing = ok ? stdout.split("\0").filter((name) => name !== "") : [];
  return missing.map((name) => `${name}, which "context" names, can't be read here; agents are told to read it first.`);
}
