import { ExpectedError } from "../lib/errors.js";
import type { Verdict } from "./types.js";

/** A failure that a person can mend ends the run with a verdict; our own bugs go through. */
export async function orVerdict<Value>(work: () => Promise<Value>): Promise<Value | Verdict> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ExpectedError)
      return { verdict: error.exitCode === 5 ? "blocked" : "failed", reason: error.message };
    throw error;
  }
}
