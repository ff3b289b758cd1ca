import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Failure, StopCondition, PastIteration, Spent, Verdict, Words } from "../types.js";
import { awakeBetween, spanInWords } from "../../lib/clock.js";
import { given } from "../../lib/given.js";
import { pauseName, stopName } from "../../lib/layout.js";

const notTheAgentsFault: ReadonlySet<string> = new Set<Failure["kind"]>([
  "rate-limit",
  "network",
  "auth",
  "missing",
  "unusable",
]);

/** Whether an iteration that failed so, or did not fail, uses the allowance up. */
export const usesAllowance = (failure: string | undefined): boolean =>
  failure === undefined || !notTheAgentsFault.has(failure);

/**
 * Whether the agent really worked in this iteration. Waiting for a service is free and does not use the allowance up.
 */
export const counts = ({ outcome }: PastIteration): boolean =>
  usesAllowance(outcome.outcome === "failed" ? outcome.failure.kind : undefined);

/** What ends the reason of a limit of one run. */
export const moreOf = ({ allow }: Pick<Words, "allow">, unit: keyof Spent): string =>
  allow === undefined ? "" : `, or allow more with ${allow(unit)}`;

/**
 * At most `maxIterations` iterations a run, those under way and those that units are prepared for included. Those in
 * which a service was not available do not count.
 */
export const limitIterations =
  (maxIterations: number, words: Pick<Words, "allow"> = {}): StopCondition =>
  ({ iterations, inFlight = [], preparing = 0 }) =>
    iterations.filter(counts).length + inFlight.length + preparing >= maxIterations
      ? {
          verdict: "limit",
          cause: "iterations",
          reason: `${maxIterations === 1 ? "The one iteration of this run is" : `All ${maxIterations} iterations of this run are`} used up; run again to continue${moreOf(words, "iterations")}.`,
        }
      : undefined;

/** At most `ms` milliseconds of wall time a run, waiting included; those in which the machine slept do not count. */
export const limitWallTime =
  (ms: number): StopCondition =>
  ({ startedAt, now, sleeps }) =>
    awakeBetween(startedAt, now, sleeps) >= ms
      ? {
          verdict: "limit",
          cause: "minutes",
          reason: `The time of this run, ${spanInWords(ms)}, is used up; run again to continue.`,
        }
      : undefined;

/** A file named PAUSE in the folder blocks every run until somebody deletes it; STOP ends the run as Ctrl+C does. */
export const stopOnFiles =
  (folder: string): StopCondition =>
  () => {
    if (existsSync(join(folder, stopName))) {
      return {
        verdict: "interrupted",
        reason: `Stopped by the file ${join(folder, stopName)}; to continue, run 'research-ralph resume', or delete the file.`,
        signal: "SIGINT",
      };
    }
    if (existsSync(join(folder, pauseName)))
      return {
        verdict: "blocked",
        reason: `Paused by the file ${join(folder, pauseName)}; to continue, run 'research-ralph resume', or delete the file.`,
      };
    return undefined;
  };

const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const satisfies readonly Verdict["signal"][];

/** Ends the run once `finish` was aborted; the abort's reason may name a signal. */
export const stopOnSignal =
  (finish: AbortSignal): StopCondition =>
  () => {
    if (!finish.aborted) return undefined;
    const signal = signals.find((name) => name === finish.reason);
    const by = typeof finish.reason === "string" ? finish.reason : "the program that started it";
    return {
      verdict: "interrupted",
      reason: `Ended by ${by}; nothing is lost; run again to continue.`,
      ...given({ signal }),
    };
  };
