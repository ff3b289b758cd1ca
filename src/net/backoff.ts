/**
 * The time without requests after a host has refused one. What happens on a 429 (or a 503 with Retry-After):
 * 1. http.ts reads the answer, and http-failure.ts makes a `rate_limited` failure of it, with the time of the next
 *    allowed request.
 * 2. `backoffAfter` below computes that time: from the headers of the answer (Retry-After, rate limits; at most 48
 *    hours), otherwise a guess that doubles from 1 to 15 minutes with each refusal in a row.
 * 3. rate-limiter.ts stores it for all processes of this machine (hosts/ in the state folder), so that no process
 *    sends a request earlier.
 * 4. polite-http.ts returns the failure to its caller at once. It is never treated as "not found".
 */

import type { HostRule } from "./host-rules.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";

/** The refusals of a host so far. */
export interface BackoffState {
  /** Number of times in a row that the host refused a request and did not say how long to wait. */
  readonly refusals: number;
  /** Number of times in a row that it was out of service. */
  readonly outages: number;
  /** The time of the next allowed request, in milliseconds since the epoch. */
  readonly until?: number;
}

export const noBackoff: BackoffState = { refusals: 0, outages: 0 };

interface AnswerHead {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}

const secondMs = 1000;
const firstWaitMs = 60 * secondMs;
const maxGuessMs = 15 * 60 * secondMs;
/** OpenAlex asks for up to 15 hours. Longer times, such as weeks, are reduced to this maximum. */
const maxWaitMs = 48 * 3600 * secondMs;
/** After this number of failures in a row, including retries, a server gets no requests for some time. */
const maxOutages = 3;

/** The state of a host after an answer at `now` (milliseconds since the epoch). */
export function backoffAfter({ status, headers }: AnswerHead, previous: BackoffState, now: number): BackoffState {
  const waitEnd = retryTimeOf(headers.get("retry-after"), now);
  const resetTime =
    headers.get("x-ratelimit-remaining")?.trim() === "0"
      ? resetTimeOf(headers.get("x-ratelimit-reset"), now)
      : undefined;
  if (status === 429 || (status === 403 && (waitEnd ?? resetTime) !== undefined)) {
    const refusals = previous.refusals + 1;
    return { refusals, outages: 0, until: waitEnd ?? resetTime ?? now + guessedWaitMs(refusals) };
  }
  if (status === 503 && waitEnd !== undefined) return { ...previous, outages: previous.outages + 1, until: waitEnd };
  if (status === 503) {
    const outages = previous.outages + 1;
    return {
      refusals: previous.refusals,
      outages,
      ...(outages < maxOutages ? {} : { until: now + guessedWaitMs(outages - maxOutages + 1) }),
    };
  }
  return { ...noBackoff, ...withoutUndefined({ until: resetTime }) };
}

/** One minute, doubled each time. */
const guessedWaitMs = (times: number) => Math.min(firstWaitMs * 2 ** (times - 1), maxGuessMs);

function retryTimeOf(value: string | null, now: number): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const seconds = /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : (Date.parse(value) - now) / secondMs;
  return Number.isFinite(seconds) ? limitedTime(now, seconds) : undefined;
}

/** GitHub sends the time in seconds since the epoch, OpenAlex the number of seconds to wait. */
function resetTimeOf(value: string | null, now: number): number | undefined {
  const number = value === null || value.trim() === "" ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) return undefined;
  return limitedTime(now, number > 1e9 ? number - now / secondMs : number);
}

const limitedTime = (now: number, seconds: number) => now + Math.min(Math.max(seconds * secondMs, secondMs), maxWaitMs);

/** The pace that the headers of an answer ask for (Crossref). It can only make a rule stricter. */
export function requestedPace({ headers }: AnswerHead): Partial<HostRule> {
  const limit = Number(headers.get("x-rate-limit-limit") ?? Number.NaN);
  const [, amount, unit] = /^\s*(\d+)\s*(s|m|h)?/.exec(headers.get("x-rate-limit-interval") ?? "") ?? [];
  const spanMs = Number(amount) * secondMs * { s: 1, m: 60, h: 3600 }[(unit ?? "s") as "s" | "m" | "h"];
  const intervalMs = Math.min(spanMs / limit, 60 * secondMs);
  const concurrency = Math.floor(Number(headers.get("x-concurrency-limit") ?? Number.NaN));
  return { ...(intervalMs > 0 ? { intervalMs } : {}), ...(concurrency > 0 ? { concurrency } : {}) };
}
