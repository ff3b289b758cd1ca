import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isWithin } from "../../engine/process/search-path.js";
import type { RalphTask } from "../generated/ralph.js";
import { type Place, run } from "./run.js";

/**
 * What a task names for its agents to read outside of the workspace, as absolute paths: a sandbox has to show it. What
 * lies within is there anyway, and a link there may be an agent's; a folder around it holds more than anybody means.
 */
export const contextOutside = ({ context = [] }: RalphTask, workspace: string): string[] =>
  context
    .map((name) => resolve(workspace, name))
    .filter((path) => !isWithin(path, workspace) && !isWithin(workspace, path) && existsSync(path));

/** A sentence for each file that a task names for its agents to read, and that they do not see. */
export async function missingContext({ context = [] }: RalphTask, place: Place): Promise<string[]> {
  if (context.length === 0) return [];
  const script = String.raw`for file do [ -r "$file" ] || printf '%s\0' "$file"; done`;
  const { ok, stdout } = await run(place, "sh", ["-c", script, "sh", ...context], { timeoutMs: 60_000 });
  const missing = ok ? stdout.split("\0").filter((name) => name !== "") : [];
  return missing.map((name) => `${name}, which "context" names, can't be read here; agents are told to read it first.`);
}
