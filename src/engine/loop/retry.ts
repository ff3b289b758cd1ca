import { counts } from "./stop-conditions/limits.js";
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

const second = 1000;
const minute = 60 * second;

/** Doubling from `first` with the `attempt`-th failure in a row (from 1), never above `maxMs`. */
const backOff = (first: number, maxMs: number, attempt: number): number => Math.min(first * 2 ** (attempt - 1), maxMs);

/** Failures of the model service or of its CLI, slowness included: another agent may do better. */
const ofTheService: ReadonlySet<Failure["kind"]> = new Set([
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

/** The longest wait between two tries, where a service does not say when it can be asked again. */
const longestBackOff = 15 * minute;

/** How many iterations back a row of failures is looked for: with many agents side by side others ended in between. */
const recently = 64;

/**
 * What the failures of a unit mean (the table of failures and waits in docs/reliability.md): it is retried after two
 * seconds, three times in a row.
 */
export const stopAfterFailures: StopCondition = ({ iterations: all, conceded = 0, now }) => {
  const iterations = all.slice(conceded);
  const last = iterations.at(-1);
  const units = new Set(iterations.slice(-recently).map(({ unit }) => unit.id));
  for (const id of units) {
    // A service that was away in between neither counts as a failure nor ends the row of them.
    const tries = iterations.filter((past) => past.unit.id === id && counts(past));
    const failures = trailing(tries, ({ outcome }) => outcome.outcome === "failed");
    const failed = failures.at(-1);
    if (failed?.outcome.outcome !== "failed") continue;
    const { failure } = failed.outcome;
    if (failure.kind === "too-large") return { verdict: "failed", reason: failure.message };
    // The first brief that fills the context is nobody's failure: the next one is smaller.
    const isFirstFull = failures.some(({ outcome }) => kindOf(outcome) === "context");
    if (failures.length - (isFirstFull ? 1 : 0) >= 3)
      return {
        verdict: "failed",
        reason: `${failed.unit.title}: three failures in a row. The last: ${failure.message}`,
      };
  }
  if (last?.outcome.outcome !== "failed" || !counts(last)) return undefined;
  const until = last.endedAt + 2 * second;
  return now >= until ? undefined : { until, reason: last.outcome.failure.message };
};

/**
 * The first agent that can work. One that reached a limit, got no answer or hung rests until the stated reset,
 * otherwise for a time that doubles; the sleep of this machine is rest too. One whose login is refused or that is not
 * installed is left out of the run.
 * `patience`: how long, in milliseconds that the machine was awake, a service is waited for that does not answer.
 */
export const firstAble =
  (agents: readonly Agent[], patience: number) =>
  (soFar: RunSoFar): ReturnType<Choose> => {
    const { now } = soFar;
    const all = agents.map((agent) => ({ agent, ...availabilityOf(agent, agents.length === 1, patience, soFar) }));
    if (all.length === 0) throw new Error("no agent to choose from");
    const usable = all.filter(({ gone }) => gone === undefined);
    const verdicts = (usable.length === 0 ? all : usable).map(({ gone, outOfPatience }) => gone ?? outOfPatience);
    const [firstVerdict] = verdicts;
    if (firstVerdict !== undefined && verdicts.every((verdict) => verdict !== undefined)) return firstVerdict;

    const ready = usable.find(({ until }) => until <= now);
    if (ready !== undefined) {
      const before = all
        .slice(0, all.indexOf(ready))
        .map(({ why, until, gone }) =>
          gone === undefined ? `${why} ${restsUntil(until)}` : `${why} It is left out of this run.`,
        );
      return {
        agent: ready.agent,
        reason: before.length > 0 ? before.join(" ") : `${ready.agent.name} can be asked again.`,
      };
    }
    const next = usable.reduce((earliest, each) => (each.until < earliest.until ? each : earliest));
    const isLong = next.isStated === true && next.until - now > longestBackOff;
    return {
      ...{ until: next.until, reason: usable.map(({ why }) => why).join(" ") },
      ...(isLong ? { isLongLimit: true as const } : {}),
    };
  };

interface Availability {
  /** It can be asked from then on. */
  readonly until: number;
  /** Why not earlier. */
  readonly why: string;
  /** Its service has said when. */
  readonly isStated?: true;
  /** It can't be used in this run at all. */
  readonly gone?: Verdict;
  readonly outOfPatience?: Verdict;
}

function availabilityOf(
  { name }: Agent,
  isOnly: boolean,
  patience: number,
  { iterations, now, sleeps }: RunSoFar,
): Availability {
  const isOver = (since = now): boolean => awakeBetween(since, now, sleeps) >= patience;
  const mine = iterations.filter(({ agent }) => agent === name);
  const gone = mine.find(({ outcome }) => ["auth", "missing", "unusable"].includes(kindOf(outcome) ?? ""))?.outcome;
  if (gone?.outcome === "failed") {
    const why = gone.failure.message;
    return { until: 0, why, gone: { verdict: gone.failure.kind === "auth" ? "blocked" : "failed", reason: why } };
  }
  const last = mine.at(-1);
  if (last?.outcome.outcome !== "failed" || !ofTheService.has(last.outcome.failure.kind)) return { until: 0, why: "" };
  const { failure } = last.outcome;
  const row = oneByOne(trailing(mine, ({ outcome }) => kindOf(outcome) === failure.kind));
  const why = failure.message;
  switch (failure.kind) {
    case "rate-limit": {
      const reset = resetOf(failure, last.endedAt);
      if (reset !== undefined) return { until: reset, why, isStated: true };
      // Next to others it rests long at once: each further try costs a minute, in which another one could work.
      const until = last.endedAt + backOff(isOnly ? 30 * second : longestBackOff, longestBackOff, row.length);
      const unstated = trailing(mine, ({ outcome, endedAt }) => {
        return (
          outcome.outcome === "failed" &&
          outcome.failure.kind === "rate-limit" &&
          resetOf(outcome.failure, endedAt) === undefined
        );
      });
      if (!isOver(unstated[0]?.endedAt)) return { until, why };
      const reason = `${why} It gave no reset time within a month, and waiting ${Math.round(patience / minute)} minutes was not enough; run again when the limit is over.`;
      return { until, why, outOfPatience: { verdict: "blocked", reason } };
    }
    case "network": {
      const until = last.endedAt + backOff(2 * second, 5 * minute, row.length);
      if (!isOver(row[0]?.endedAt)) return { until, why };
      const reason = `${why} It did not answer for ${Math.round(patience / minute)} minutes; run again when it does.`;
      return { until, why, outOfPatience: { verdict: "blocked", reason } };
    }
    default:
      // Alone it is simply tried again; next to others it rests, so that not every unit waits an hour for it.
      return { until: isOnly ? 0 : last.endedAt + backOff(30 * second, longestBackOff, row.length), why };
  }
}

const kindOf = (outcome: PastIteration["outcome"]): Failure["kind"] | undefined =>
  outcome.outcome === "failed" ? outcome.failure.kind : undefined;

const restsUntil = (until: number): string =>
  `It is asked again from ${new Date(until).toISOString().slice(0, 16).replace("T", " ")} UTC.`;

/** No service has a limit that lasts longer; one further away is a mistake, and would be waited for in vain. */
const maxLimitMs = 31 * 24 * 60 * minute;

/**
 * The stated reset; none where it is over already: a clock that is wrong, or an old message, must not make us ask
 * without a pause.
 */
function resetOf(failure: Failure, since: number): number | undefined {
  const at = failure.reset_at === undefined ? Number.NaN : Date.parse(failure.reset_at);
  return at > since && at <= since + maxLimitMs ? at : undefined;
}

/** The longest run of iterations at the end that satisfy `like`, oldest first. */
function trailing(
  iterations: readonly PastIteration[],
  like: (past: PastIteration) => boolean,
): readonly PastIteration[] {
  const broken = iterations.findLastIndex((past) => !like(past));
  return iterations.slice(broken + 1);
}

/**
 * Without those that began before the previous one had ended: agents that work side by side meet one limit together.
 */
function oneByOne(iterations: readonly PastIteration[]): readonly PastIteration[] {
  return iterations.reduce<PastIteration[]>((row, past) => {
    const before = row.at(-1);
    return before !== undefined && past.startedAt < before.endedAt ? row : [...row, past];
  }, []);
}

/**
 * Lets the waits that `ask` asks for end with the run's wall time: a limit of five hours must not hold up a run of
 * thirty minutes.
 */
export const withinWallTime =
  <Answer extends object | undefined, Rest extends unknown[]>(
    ms: number,
    ask: (soFar: RunSoFar, ...rest: Rest) => Answer | Delay | Verdict,
  ) =>
  (soFar: RunSoFar, ...rest: Rest): Answer | Delay | Verdict => {
    const answer = ask(soFar, ...rest);
    if (answer === undefined || isVerdict(answer) || !("until" in answer)) return answer;
    const left = ms - awakeBetween(soFar.startedAt, soFar.now, soFar.sleeps);
    return { ...answer, until: Math.min(answer.until, soFar.now + left) } as Delay;
  };
