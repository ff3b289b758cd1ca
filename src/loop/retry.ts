import { counts } from "./guards.js";
import type { Failure, Guard, PastIteration } from "./types.js";

const second = 1000;
const minute = 60 * second;

/** Doubling from `first` with the `attempt`-th failure in a row (from 1), never above `most`. */
const backOff = (first: number, most: number, attempt: number): number => Math.min(first * 2 ** (attempt - 1), most);

/**
 * What a failed run means and how long to wait (the failure table of docs/how-it-works.md).
 * `patience` bounds, in milliseconds, how long a network or service that does not answer is waited for.
 */
export const heedFailures =
  (patience: number): Guard =>
  ({ iterations, now }) => {
    const last = iterations.at(-1);
    if (last?.outcome.outcome !== "failed") return undefined;
    const { failure } = last.outcome;
    const alike = trailing(iterations, (past) => past.outcome.outcome === "failed" && past.outcome.failure.kind === failure.kind);
    const wait = (until: number, why: string) => (now >= until ? undefined : { until, reason: why });

    switch (failure.kind) {
      case "auth":
        return { verdict: "blocked", reason: failure.message };
      case "missing":
      case "too-large":
        return { verdict: "failed", reason: failure.message };
      case "rate-limit":
        return wait(resetOf(failure, last.endedAt) ?? last.endedAt + backOff(30 * second, 15 * minute, alike.length), failure.message);
      case "network": {
        const since = alike[0]?.endedAt ?? now;
        if (now - since >= patience) {
          return {
            verdict: "blocked",
            reason: `${failure.message} It did not answer for ${Math.round(patience / minute)} minutes; run again when it does.`,
          };
        }
        return wait(last.endedAt + backOff(2 * second, 5 * minute, alike.length), failure.message);
      }
      default: {
        // A service that was away in between neither counts as a failure nor ends the row of them.
        const tries = iterations.filter((past) => past.unit.id === last.unit.id && counts(past));
        if (trailing(tries, (past) => past.outcome.outcome === "failed").length >= 3) {
          return { verdict: "failed", reason: `${last.unit.title}: three failures in a row. The last: ${failure.message}` };
        }
        return wait(last.endedAt + 2 * second, failure.message);
      }
    }
  };

/** The stated reset; none where it is over already: a clock that is wrong, or an old message, must not make us ask without a pause. */
function resetOf(failure: Failure, since: number): number | undefined {
  const at = failure.resetAt === undefined ? Number.NaN : Date.parse(failure.resetAt);
  return at > since ? at : undefined;
}

/** The longest run of iterations at the end that satisfy `like`, oldest first. */
function trailing(iterations: readonly PastIteration[], like: (past: PastIteration) => boolean): readonly PastIteration[] {
  const broken = iterations.findLastIndex((past) => !like(past));
  return iterations.slice(broken + 1);
}
