import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Failure, StopCondition, PastIteration, Spending, Verdict, Words } from "../types.js";
import { awakeBetween, durationText } from "../../lib/clock.js";
import { withoutUndefined } from "../../lib/without-undefined.js";
import { pauseName, stopName } from "../../lib/layout.js";
import { shellWord } from "../../lib/sanitise.js";

const serviceFailures: ReadonlySet<string> = new Set<Failure["kind"]>([
  "rate-limit",
  "network",
  "auth",
  "missing",
  "unusable",
]);

/** Whether an iteration with this failure, or without a failure, counts toward the limit of iterations. */
export const countsTowardLimit = (failure: string | undefined): boolean =>
  failure === undefined || !serviceFailures.has(failure);

/** Whether an iteration counts toward the limit. It does not count if a service was not available. */
export const isCounted = ({ outcome }: PastIteration): boolean =>
  countsTowardLimit(outcome.outcome === "failed" ? outcome.failure.kind : undefined);

/** The end of a sentence that names the option for a higher limit of one run; empty if the option is unknown. */
export const allowMoreText = ({ allow }: Pick<Words, "allow">, unit: keyof Spending): string =>
  allow === undefined ? "" : `, or allow more with ${allow(unit)}`;

/**
 * At most `maxIterations` iterations in a run, including those under way and units under preparation. Iterations in
 * which a service was not available do not count.
 */
export const limitIterations =
  (maxIterations: number, words: Pick<Words, "allow"> = {}): StopCondition =>
  ({ iterations, inFlight = [], preparing = 0 }) =>
    iterations.filter(isCounted).length + inFlight.length + preparing >= maxIterations
      ? {
          verdict: "limit",
          cause: "iterations",
          reason: `${maxIterations === 1 ? "The one iteration of this run is" : `All ${maxIterations} iterations of this run are`} used up; run again to continue${allowMoreText(words, "iterations")}.`,
        }
      : undefined;

/** At most `maxMs` milliseconds of wall time in a run, including waits, without the time in which the machine slept. */
export const limitWallTime =
  (maxMs: number): StopCondition =>
  ({ startedAt, now, sleeps }) =>
    awakeBetween(startedAt, now, sleeps) >= maxMs
      ? {
          verdict: "limit",
          cause: "minutes",
          reason: `The time of this run, ${durationText(maxMs)}, is used up; run again to continue.`,
        }
      : undefined;

/**
 * A file named PAUSE in the folder blocks every run until it is deleted. A file named STOP ends the run, like Ctrl+C.
 */
export const stopOnFiles =
  (folder: string): StopCondition =>
  () => {
    if (existsSync(join(folder, stopName))) {
      return {
        verdict: "interrupted",
        reason: `Stopped by the file ${join(folder, stopName)}; to continue, run 'research-ralph stop --undo ${shellWord(folder)}', or delete the file.`,
        signal: "SIGINT",
      };
    }
    if (existsSync(join(folder, pauseName)))
      return {
        verdict: "blocked",
        reason: `Paused by the file ${join(folder, pauseName)}; to continue, run 'research-ralph stop --undo ${shellWord(folder)}', or delete the file.`,
      };
    return undefined;
  };

const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const satisfies readonly Verdict["signal"][];

/** Ends the run after `finish` was aborted; the reason of the abort may name a signal. */
export const stopOnSignal =
  (finish: AbortSignal): StopCondition =>
  () => {
    if (!finish.aborted) return undefined;
    const signal = signals.find((name) => name === finish.reason);
    const reason = finish.reason === "SIGINT" ? "Ctrl+C" : finish.reason;
    const source = typeof reason === "string" ? reason : "the program that started it";
    return {
      verdict: "interrupted",
      reason: `Ended by ${source}; nothing is lost; run again to continue.`,
      ...withoutUndefined({ signal }),
    };
  };
