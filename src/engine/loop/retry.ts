import { isCounted } from "./stop-conditions/limits.js";
import { awakeBetween } from "../lib/clock.js";
import {
  type Agent,
  type Choose,
  type Delay,
  type Failure,
  type StopCondition,
  isVerdict,
  type PastIteration,
  type RunSoFar,
  type Verdict,
} from "./types.js";

const secondMs = 1000;
const minuteMs = 60 * secondMs;

/**
 * Exponential backoff: `firstMs` milliseconds, doubled with each failure in a row (`attempt`, at least 1), at most
 * `maxMs`.
 */
const backOffMs = (firstMs: number, maxMs: number, attempt: number): number =>
  Math.min(firstMs * 2 ** (attempt - 1), maxMs);

/** Failures of the model service or of its CLI, including timeouts: another agent may succeed. */
const serviceFailures: ReadonlySet<Failure["kind"]> = new Set([
  "auth",
  "missing",
  "unusable",
  "rate-limit",
  "network",
  "timeout",
  "idle",
  "crashed",
  "no-answer",
]);

/** The longest wait between two attempts, in milliseconds, if a service does not say when its limit ends. */
const maxBackOffMs = 15 * minuteMs;

/**
 * How many of the latest iterations are searched for failures. If agents run in parallel, iterations of other units end
 * between two attempts of a unit.
 */
const recentIterations = 64;

/**
 * Handles the failures of a unit (see the table of failures and waits in docs/reliability.md): a unit is retried after
 * two seconds; after three failures in a row the run ends.
 */
export const stopAfterFailures: StopCondition = ({ iterations: allIterations, conceded = 0, now }) => {
  const iterations = allIterations.slice(conceded);
  const lastIteration = iterations.at(-1);
  const units = new Set(iterations.slice(-recentIterations).map(({ unit }) => unit.id));
  for (const id of units) {
    // An attempt during an outage of a service is ignored: it shows neither a failure nor a success of the unit.
    const attempts = iterations.filter((past) => past.unit.id === id && isCounted(past));
    const failures = trailingIterations(attempts, ({ outcome }) => outcome.outcome === "failed");
    const lastFailure = failures.at(-1);
    if (lastFailure?.outcome.outcome !== "failed") continue;
    const { failure } = lastFailure.outcome;
    if (failure.kind === "too-large") return { verdict: "failed", reason: failure.message };
    // The first brief that fills the context is not counted: the next brief is smaller.
    const hasFilledContext = failures.some(({ outcome }) => failureKindOf(outcome) === "context");
    if (failures.length - (hasFilledContext ? 1 : 0) >= 3)
      return {
        verdict: "failed",
        reason: `${lastFailure.unit.title}: three failures in a row. The last: ${failure.message}`,
      };
  }
  if (lastIteration?.outcome.outcome !== "failed" || !isCounted(lastIteration)) return undefined;
  const waitUntil = lastIteration.endedAt + 2 * secondMs;
  return now >= waitUntil ? undefined : { until: waitUntil, reason: lastIteration.outcome.failure.message };
};

/**
 * Chooses the first available agent. An agent that reached a limit, got no answer or hung pauses until the reset time
 * of its service. If the service states no reset time, the pause doubles with each failure; the time in which the
 * machine slept counts as pause. An agent that can't log in or is not installed is not used again in this run.
 * `patienceMs`: how many milliseconds to wait for a service that does not answer, without sleep of the machine.
 */
export const firstAvailable =
  (agents: readonly Agent[], patienceMs: number) =>
  (soFar: RunSoFar): ReturnType<Choose> => {
    const { now } = soFar;
    const agentsWithAvailability = agents.map((agent) => ({
      agent,
      ...availabilityOf(agent, agents.length === 1, patienceMs, soFar),
    }));
    if (agentsWithAvailability.length === 0) throw new Error("no agent to choose from");
    const usable = agentsWithAvailability.filter(({ permanentFailure }) => permanentFailure === undefined);
    const verdicts = (usable.length === 0 ? agentsWithAvailability : usable).map(
      ({ permanentFailure, patienceVerdict }) => permanentFailure ?? patienceVerdict,
    );
    const [firstVerdict] = verdicts;
    if (firstVerdict !== undefined && verdicts.every((verdict) => verdict !== undefined)) return firstVerdict;

    const available = usable.find(({ availableAt }) => availableAt <= now);
    if (available !== undefined) {
      const skippedReasons = agentsWithAvailability
        .slice(0, agentsWithAvailability.indexOf(available))
        .map(({ reason, availableAt, permanentFailure }) =>
          permanentFailure === undefined
            ? `${reason} ${pauseText(availableAt)}`
            : `${reason} It is not used again in this run.`,
        );
      return {
        agent: available.agent,
        reason: skippedReasons.length > 0 ? skippedReasons.join(" ") : `${available.agent.name} can be asked again.`,
      };
    }
    const earliestAgent = usable.reduce((earliest, candidate) =>
      candidate.availableAt < earliest.availableAt ? candidate : earliest,
    );
    const isLongWait = earliestAgent.isStated === true && earliestAgent.availableAt - now > maxBackOffMs;
    return {
      until: earliestAgent.availableAt,
      reason: usable.map(({ reason }) => reason).join(" "),
      ...(isLongWait ? { isLongLimit: true as const } : {}),
    };
  };

interface Availability {
  /** The time from which the agent may be used. */
  readonly availableAt: number;
  /** The reason for the wait; empty if the agent may be used now. */
  readonly reason: string;
  /** True: the service has stated the time. */
  readonly isStated?: true;
  /** Set if the agent can't be used again in this run. */
  readonly permanentFailure?: Verdict;
  /** Set if the service did not answer for longer than the user wants to wait. */
  readonly patienceVerdict?: Verdict;
}

function availabilityOf(
  { name }: Agent,
  isOnlyAgent: boolean,
  patienceMs: number,
  { iterations, now, sleeps }: RunSoFar,
): Availability {
  const isPatienceUsedUp = (since = now): boolean => awakeBetween(since, now, sleeps) >= patienceMs;
  const ownIterations = iterations.filter(({ agent }) => agent === name);
  const permanentOutcome = ownIterations.find(({ outcome }) =>
    ["auth", "missing", "unusable"].includes(failureKindOf(outcome) ?? ""),
  )?.outcome;
  if (permanentOutcome?.outcome === "failed") {
    const reason = permanentOutcome.failure.message;
    return {
      availableAt: 0,
      reason,
      permanentFailure: { verdict: permanentOutcome.failure.kind === "auth" ? "blocked" : "failed", reason },
    };
  }
  const lastIteration = ownIterations.at(-1);
  if (lastIteration?.outcome.outcome !== "failed" || !serviceFailures.has(lastIteration.outcome.failure.kind))
    return { availableAt: 0, reason: "" };
  const { failure } = lastIteration.outcome;
  const failures = withoutOverlaps(
    trailingIterations(ownIterations, ({ outcome }) => failureKindOf(outcome) === failure.kind),
  );
  const reason = failure.message;
  switch (failure.kind) {
    case "rate-limit": {
      const reset = resetOf(failure, lastIteration.endedAt);
      if (reset !== undefined) return { availableAt: reset, reason, isStated: true };
      // If there are other agents, the pause is long from the start: an attempt takes a minute in which another agent
      // could work.
      const availableAt =
        lastIteration.endedAt + backOffMs(isOnlyAgent ? 30 * secondMs : maxBackOffMs, maxBackOffMs, failures.length);
      const withoutReset = trailingIterations(ownIterations, ({ outcome, endedAt }) => {
        return (
          outcome.outcome === "failed" &&
          outcome.failure.kind === "rate-limit" &&
          resetOf(outcome.failure, endedAt) === undefined
        );
      });
      if (!isPatienceUsedUp(withoutReset[0]?.endedAt)) return { availableAt, reason };
      const verdictReason = `${reason} It gave no reset time within a month, and waiting ${Math.round(patienceMs / minuteMs)} minutes was not enough; run again when the limit is over.`;
      return { availableAt, reason, patienceVerdict: { verdict: "blocked", reason: verdictReason } };
    }
    case "network": {
      const availableAt = lastIteration.endedAt + backOffMs(2 * secondMs, 5 * minuteMs, failures.length);
      if (!isPatienceUsedUp(failures[0]?.endedAt)) return { availableAt, reason };
      const verdictReason = `${reason} It did not answer for ${Math.round(patienceMs / minuteMs)} minutes; run again when it does.`;
      return { availableAt, reason, patienceVerdict: { verdict: "blocked", reason: verdictReason } };
    }
    default:
      // The only agent is retried at once. If there are other agents, it pauses; otherwise each unit might wait an hour
      // for it.
      return {
        availableAt: isOnlyAgent ? 0 : lastIteration.endedAt + backOffMs(30 * secondMs, maxBackOffMs, failures.length),
        reason,
      };
  }
}

const failureKindOf = (outcome: PastIteration["outcome"]): Failure["kind"] | undefined =>
  outcome.outcome === "failed" ? outcome.failure.kind : undefined;

const pauseText = (waitUntil: number): string =>
  `It is asked again from ${new Date(waitUntil).toISOString().slice(0, 16).replace("T", " ")} UTC.`;

/** The longest plausible limit of a service; a later reset time is an error. */
const maxLimitMs = 31 * 24 * 60 * minuteMs;

/**
 * The reset time that the service stated; undefined if it is not after `since` or is too late. A wrong clock or an old
 * message must not cause retries without a pause.
 */
function resetOf(failure: Failure, since: number): number | undefined {
  const resetTime = failure.reset_at === undefined ? Number.NaN : Date.parse(failure.reset_at);
  return resetTime > since && resetTime <= since + maxLimitMs ? resetTime : undefined;
}

/** The iterations after the last one for which `matches` is false, oldest first. */
function trailingIterations(
  iterations: readonly PastIteration[],
  matches: (past: PastIteration) => boolean,
): readonly PastIteration[] {
  const lastMismatch = iterations.findLastIndex((past) => !matches(past));
  return iterations.slice(lastMismatch + 1);
}

/**
 * Removes each iteration that began before the previous one had ended: parallel agents reach the same limit together.
 */
function withoutOverlaps(iterations: readonly PastIteration[]): readonly PastIteration[] {
  return iterations.reduce<PastIteration[]>((selected, past) => {
    const previous = selected.at(-1);
    return previous !== undefined && past.startedAt < previous.endedAt ? selected : [...selected, past];
  }, []);
}

/**
 * Limits the waits of `decide` to the wall time of the run: a limit of five hours must not block a run of thirty
 * minutes.
 */
export const withinWallTime =
  <Answer extends object | undefined, Rest extends unknown[]>(
    maxMs: number,
    decide: (soFar: RunSoFar, ...rest: Rest) => Answer | Delay | Verdict,
  ) =>
  (soFar: RunSoFar, ...rest: Rest): Answer | Delay | Verdict => {
    const answer = decide(soFar, ...rest);
    if (answer === undefined || isVerdict(answer) || !("until" in answer)) return answer;
    const remainingMs = maxMs - awakeBetween(soFar.startedAt, soFar.now, soFar.sleeps);
    return { ...answer, until: Math.min(answer.until, soFar.now + remainingMs) } as Delay;
  };
