import { ExpectedError } from "../lib/errors.js";
import type { Verdict } from "./types.js";

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
