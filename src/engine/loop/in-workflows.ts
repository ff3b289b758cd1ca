import { ExpectedError } from "../lib/errors.js";
import type { Tell, Verdict } from "./types.js";

/** Turns a failure that a person can correct into a verdict, which ends the run. Our own bugs are thrown on. */
export async function orVerdict<Value>(work: () => Promise<Value>): Promise<Value | Verdict> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ExpectedError)
      return { verdict: error.exitCode === 5 ? "blocked" : "failed", reason: error.message };
    throw error;
  }
}

/** Says sentences as notices, each once, however often they are true. */
export function sayingOnce(): (message: string, tell: Tell, level?: "info" | "warning") => Promise<void> {
  const said = new Set<string>();
  return async (message, tell, level = "info") => {
    if (!said.has(message)) await tell({ type: "notice", level, message });
    said.add(message);
  };
}
