import { awakeBetween, type Clock } from "../../engine/lib/clock.js";
import type { Answer, Source } from "../sources/shared/source.js";
import { isBusy, type Open } from "./result-list.js";

/** A pause of a busy service. */
export interface Rest {
  /** As the registry names it. */
  readonly name: string;
  /** Number of failed attempts in a row. Requests that were not sent do not count. */
  readonly tries: number;
  /** Milliseconds since the epoch. No request is sent before this time. */
  readonly until: number;
  readonly status: "rate_limited" | "error";
  /** The last reason from the service, one sentence. */
  readonly reason: string;
  /** The service is reported in blocked_sources: it was busy three times in a row, or for longer than a run waits. */
  readonly isGivenUp: boolean;
}

export interface SourceRests {
  /** Wraps sources so that a pausing service gets no requests. All answers are recorded. */
  withPauses(open: Open): Open;
  /** Services that were busy and have not answered since. */
  all(): readonly Rest[];
  /** Services that were given up in this run and answered later. */
  answered(): ReadonlySet<string>;
  /**
   * The time at which a run stops waiting for busy services, in milliseconds since the epoch. `isIdle`: the run has no
   * other work now. Only idle time counts.
   */
  waitingEnd(isIdle: boolean): number;
}

const minuteMs = 60_000;
const maxTries = 3;
/** A service that was given up is tried again after this time. */
const retryPauseMs = 15 * minuteMs;
/**
 * The pause if neither the service nor the rate limit gives a time: a minute, doubled with each attempt, at most 15
 * minutes.
 */
const defaultPauseMs = (tries: number) => Math.min(minuteMs * 2 ** Math.max(0, tries - 1), retryPauseMs);

/**
 * Manages the pauses of busy services in one run. After a 429, an HTTP 5xx or a timeout, a service pauses until the
 * time that it named, or for a guess. `patienceMs`: how long a run waits while no service answers. Time in which the
 * machine sleeps does not count.
 */
export function sourceRests({
  now,
  sleeps = () => [],
  patienceMs,
}: Pick<Clock, "now" | "sleeps"> & { readonly patienceMs: number }): SourceRests {
  const rests = new Map<string, Rest>();
  const answered = new Set<string>();
  let idleSince = now();

  const recordAnswer = (name: string, answer: Answer<unknown>): void => {
    const rest = rests.get(name);
    if (answer.status === "ok" || answer.status === "empty") {
      if (rest?.isGivenUp === true) answered.add(name);
      rests.delete(name);
      idleSince = now();
      return;
    }
    if (!isBusy(answer)) {
      // If the network is down, a busy service is tried again later. A service that refuses is no longer waited for.
      if (rest !== undefined && answer.transient === true)
        rests.set(name, { ...rest, until: now() + (rest.isGivenUp ? retryPauseMs : minuteMs) });
      else rests.delete(name);
      return;
    }
    const tries = (rest?.tries ?? 0) + (answer.unsent === true ? 0 : 1);
    const until = answer.retryAt ?? now() + defaultPauseMs(tries);
    const isGivenUp = rest?.isGivenUp === true || tries >= maxTries || until - now() > patienceMs;
    if (isGivenUp) answered.delete(name);
    rests.set(name, {
      name,
      tries,
      isGivenUp,
      reason: answer.reason,
      status: answer.status === "rate_limited" ? "rate_limited" : "error",
      until: isGivenUp ? Math.max(until, now() + retryPauseMs) : until,
    });
  };

  return {
    withPauses: (open) => (name) => {
      const opened = open(name);
      if ("unavailable" in opened) return opened;
      const { source } = opened;
      const withPauses =
        <Parameters extends readonly unknown[], Value>(ask: (...parameters: Parameters) => Promise<Answer<Value>>) =>
        async (...parameters: Parameters): Promise<Answer<Value>> => {
          const rest = rests.get(name);
          if (rest !== undefined && rest.until > now())
            return { status: rest.status, reason: rest.reason, transient: true, retryAt: rest.until, unsent: true };
          const answer = await ask(...parameters);
          recordAnswer(name, answer);
          return answer;
        };
      const { search, references, citations } = source;
      const sourceWithPauses: Source = {
        ...source,
        ...(search === undefined ? {} : { search: withPauses(search.bind(source)) }),
        ...(references === undefined ? {} : { references: withPauses(references.bind(source)) }),
        ...(citations === undefined ? {} : { citations: withPauses(citations.bind(source)) }),
      };
      return { ...opened, source: sourceWithPauses };
    },
    all: () => [...rests.values()],
    answered: () => answered,
    waitingEnd: (isIdle) => {
      if (!isIdle) idleSince = now();
      const time = now();
      return time + patienceMs - awakeBetween(idleSince, time, sleeps());
    },
  };
}
