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
 * Exponential backoff: `firstMs` milliseconds, doubled with each failure in a row (`attempt`, from 1), at most `maxMs`.
 */
const backOff = (firstMs: number, maxMs: number, attempt: number): number =>
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

/** Number of latest iterations in which failures are searched; with parallel agents, other units end in between. */
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
    // An outage of a service in between neither counts as a failure nor ends the row of failures.
    const attempts = iterations.filter((past) => past.unit.id === id && isCounted(past));
    const failures = trailingIterations(attempts, ({ outcome }) => outcome.outcome === "failed");
    const lastFailure = failures.at(-1);
    if (lastFailure?.outcome.outcome !== "failed") continue;
    const { failure } = lastFailure.outcome;
    if (failure.kind === "too-large") return { verdict: "failed", reason: failure.message };
    // The first brief that fills the context is not counted: the next brief is smaller.
    const isFirstFull = failures.some(({ outcome }) => kindOf(outcome) === "context");
    if (failures.length - (isFirstFull ? 1 : 0) >= 3)
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
 * Chooses the first available agent. An agent that reached a limit, got no answer or hung is not used until its stated
 * reset, or else for a time that doubles; that time includes sleep of the machine. An agent that can't log in or is not
 * installed is not used again in this run.
 * `patienceMs`: how long to wait for a service that does not answer, in milliseconds, without sleep of the machine.
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
    const usable = agentsWithAvailability.filter(({ gone: permanentFailure }) => permanentFailure === undefined);
    const verdicts = (usable.length === 0 ? agentsWithAvailability : usable).map(
      ({ gone: permanentFailure, outOfPatience }) => permanentFailure ?? outOfPatience,
    );
    const [firstVerdict] = verdicts;
    if (firstVerdict !== undefined && verdicts.every((verdict) => verdict !== undefined)) return firstVerdict;

    const available = usable.find(({ until: waitUntil }) => waitUntil <= now);
    if (available !== undefined) {
      const skippedReasons = agentsWithAvailability
        .slice(0, agentsWithAvailability.indexOf(available))
        .map(({ why, until: waitUntil, gone: permanentFailure }) =>
          permanentFailure === undefined ? `${why} ${pauseText(waitUntil)}` : `${why} It is left out of this run.`,
        );
      return {
        agent: available.agent,
        reason: skippedReasons.length > 0 ? skippedReasons.join(" ") : `${available.agent.name} can be asked again.`,
      };
    }
    const earliestAgent = usable.reduce((earliest, candidate) =>
      candidate.until < earliest.until ? candidate : earliest,
    );
    const isLongWait = earliestAgent.isStated === true && earliestAgent.until - now > maxBackOffMs;
    return {
      until: earliestAgent.until,
      reason: usable.map(({ why }) => why).join(" "),
      ...(isLongWait ? { isLongLimit: true as const } : {}),
    };
  };

interface Availability {
  /** The time from which the agent may be used. */
  readonly until: number;
  /** The reason for the wait. */
  readonly why: string;
  /** The service has stated the time. */
  readonly isStated?: true;
  /** Set if the agent can't be used in this run at all. */
  readonly gone?: Verdict;
  readonly outOfPatience?: Verdict;
}

function availabilityOf(
  { name }: Agent,
  isOnlyAgent: boolean,
  patienceMs: number,
  { iterations, now, sleeps }: RunSoFar,
): Availability {
  const isPatienceUsedUp = (since = now): boolean => awakeBetween(since, now, sleeps) >= patienceMs;
  const ownIterations = iterations.filter(({ agent }) => agent === name);
  const permanentFailure = ownIterations.find(({ outcome }) =>
    ["auth", "missing", "unusable"].includes(kindOf(outcome) ?? ""),
  )?.outcome;
  if (permanentFailure?.outcome === "failed") {
    const why = permanentFailure.failure.message;
    return {
      until: 0,
      why,
      gone: { verdict: permanentFailure.failure.kind === "auth" ? "blocked" : "failed", reason: why },
    };
  }
  const lastIteration = ownIterations.at(-1);
  if (lastIteration?.outcome.outcome !== "failed" || !serviceFailures.has(lastIteration.outcome.failure.kind))
    return { until: 0, why: "" };
  const { failure } = lastIteration.outcome;
  const failures = withoutOverlaps(
    trailingIterations(ownIterations, ({ outcome }) => kindOf(outcome) === failure.kind),
  );
  const why = failure.message;
  switch (failure.kind) {
    case "rate-limit": {
      const reset = resetOf(failure, lastIteration.endedAt);
      if (reset !== undefined) return { until: reset, why, isStated: true };
      // If other agents are available, the pause is long from the start: an attempt costs a minute in which another
      // agent could work.
      const waitUntil =
        lastIteration.endedAt + backOff(isOnlyAgent ? 30 * secondMs : maxBackOffMs, maxBackOffMs, failures.length);
      const withoutReset = trailingIterations(ownIterations, ({ outcome, endedAt }) => {
        return (
          outcome.outcome === "failed" &&
          outcome.failure.kind === "rate-limit" &&
          resetOf(outcome.failure, endedAt) === undefined
        );
      });
      if (!isPatienceUsedUp(withoutReset[0]?.endedAt)) return { until: waitUntil, why };
      const reason = `${why} It gave no reset time within a month, and waiting ${Math.round(patienceMs / minuteMs)} minutes was not enough; run again when the limit is over.`;
      return { until: waitUntil, why, outOfPatience: { verdict: "blocked", reason } };
    }
    case "network": {
      const waitUntil = lastIteration.endedAt + backOff(2 * secondMs, 5 * minuteMs, failures.length);
      if (!isPatienceUsedUp(failures[0]?.endedAt)) return { until: waitUntil, why };
      const reason = `${why} It did not answer for ${Math.round(patienceMs / minuteMs)} minutes; run again when it does.`;
      return { until: waitUntil, why, outOfPatience: { verdict: "blocked", reason } };
    }
    default:
      // A single agent is retried at once; with other agents it pauses, so that not every unit waits an hour for it.
      return {
        until: isOnlyAgent ? 0 : lastIteration.endedAt + backOff(30 * secondMs, maxBackOffMs, failures.length),
        why,
      };
  }
}

const kindOf = (outcome: PastIteration["outcome"]): Failure["kind"] | undefined =>
  outcome.outcome === "failed" ? outcome.failure.kind : undefined;

const pauseText = (waitUntil: number): string =>
  `It is asked again from ${new Date(waitUntil).toISOString().slice(0, 16).replace("T", " ")} UTC.`;

/** The longest plausible limit of a service; a later reset time is an error. */
const maxLimitMs = 31 * 24 * 60 * minuteMs;

/**
 * The stated reset time; undefined if it is in the past: a wrong clock or an old message must not cause retries without
 * a pause.
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
 * Removes iterations that began before the previous one had ended: parallel agents reach the same limit together.
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
