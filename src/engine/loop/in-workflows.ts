import { ExpectedError } from "../lib/errors.js";
import type { Tell, Verdict } from "./types.js";

/** Turns an error that the user can correct into a verdict, which ends the run. Bugs are rethrown. */
export async function withErrorVerdict<Value>(work: () => Promise<Value>): Promise<Value | Verdict> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ExpectedError)
      return { verdict: error.exitCode === 5 ? "blocked" : "failed", reason: error.message };
    throw error;
  }
}

/** Returns a function that sends notices, each message only once. */
export function createNoticeOnce(): (message: string, tell: Tell, level?: "info" | "warning") => Promise<void> {
  const sentMessages = new Set<string>();
  return async (message, tell, level = "info") => {
    if (!sentMessages.has(message)) await tell({ type: "notice", level, message });
    sentMessages.add(message);
  };
}
