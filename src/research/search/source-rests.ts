import { awakeBetween, type Clock } from "../../engine/lib/clock.js";
import type { Answer, Source } from "../sources/shared/source.js";
import { isBusy, type Open } from "./result-list.js";

/** A service that is left alone because it was busy. */
export interface Rest {
  /** As the registry names it. */
  readonly name: string;
  /** Tries in vain, each after the rest before; what was never sent does not count. */
  readonly tries: number;
  /** Milliseconds since the epoch: it is not asked before. */
  readonly until: number;
  readonly status: "rate_limited" | "error";
  /** What it said last, one sentence. */
  readonly reason: string;
  /** It belongs into blocked_sources: it was busy three times in a row, or for longer than a run waits. */
  readonly isGivenUp: boolean;
}

export interface SourceRests {
  /** The same sources, of which none is asked while it rests. What they answer is noted. */
  watching(open: Open): Open;
  /** Services that have not answered since they were busy. */
  all(): readonly Rest[];
  /** Services that answered after they had been given up in this run. */
  answered(): ReadonlySet<string>;
  /**
   * Milliseconds since the epoch at which a run stops waiting for them. `isIdle`: nothing else is left to do meanwhile;
   * time with other work does not count.
   */
  waitsUntil(isIdle: boolean): number;
}

const minute = 60_000;
const maxTries = 3;
/** A service that was given up is asked again at most that often while the run lasts. */
const askAgainMs = 15 * minute;
/** Where neither the service nor the pace of its host says how long: a minute, doubled with each try, at most 15. */
const guess = (tries: number) => Math.min(minute * 2 ** Math.max(0, tries - 1), askAgainMs);

/**
 * The rests of busy services in one run. A 429, an HTTP 5xx and a timeout make a service rest until the time that it
 * named, or for a guess. `patienceMs`: how long a run waits while no service answers at all; while the machine sleeps
 * they rest, and nobody waits.
 */
export function sourceRests({
  now,
  sleeps = () => [],
  patienceMs,
}: Pick<Clock, "now" | "sleeps"> & { readonly patienceMs: number }): SourceRests {
  const rests = new Map<string, Rest>();
  const answered = new Set<string>();
  let idleSince = now();

  const note = (name: string, answer: Answer<unknown>): void => {
    const before = rests.get(name);
    if (answer.status === "ok" || answer.status === "empty") {
      if (before?.isGivenUp === true) answered.add(name);
      rests.delete(name);
      idleSince = now();
      return;
    }
    if (!isBusy(answer)) {
      // With the network away a service that was busy is asked again later; one that refuses is no longer waited for.
      if (before !== undefined && answer.transient === true)
        rests.set(name, { ...before, until: now() + (before.isGivenUp ? askAgainMs : minute) });
      else rests.delete(name);
      return;
    }
    const tries = (before?.tries ?? 0) + (answer.unsent === true ? 0 : 1);
    const until = answer.retryAt ?? now() + guess(tries);
    const isGivenUp = before?.isGivenUp === true || tries >= maxTries || until - now() > patienceMs;
    if (isGivenUp) answered.delete(name);
    rests.set(name, {
      name,
      tries,
      isGivenUp,
      reason: answer.reason,
      status: answer.status === "rate_limited" ? "rate_limited" : "error",
      until: isGivenUp ? Math.max(until, now() + askAgainMs) : until,
    });
  };

  return {
    watching: (open) => (name) => {
      const opened = open(name);
      if ("unavailable" in opened) return opened;
      const { source } = opened;
      const asking =
        <Asked extends readonly unknown[], Value>(ask: (...asked: Asked) => Promise<Answer<Value>>) =>
        async (...asked: Asked): Promise<Answer<Value>> => {
          const rest = rests.get(name);
          if (rest !== undefined && rest.until > now())
            return { status: rest.status, reason: rest.reason, transient: true, retryAt: rest.until, unsent: true };
          const answer = await ask(...asked);
          note(name, answer);
          return answer;
        };
      const { search, references, citations } = source;
      const watched: Source = {
        ...source,
        ...(search === undefined ? {} : { search: asking(search.bind(source)) }),
        ...(references === undefined ? {} : { references: asking(references.bind(source)) }),
        ...(citations === undefined ? {} : { citations: asking(citations.bind(source)) }),
      };
      return { ...opened, source: watched };
    },
    all: () => [...rests.values()],
    answered: () => answered,
    waitsUntil: (isIdle) => {
      if (!isIdle) idleSince = now();
      const time = now();
      return time + patienceMs - awakeBetween(idleSince, time, sleeps());
    },
  };
}
