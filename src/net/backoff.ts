/**
 * How long a host is left alone after it refused. What happens on a 429 (or a 503 with Retry-After):
 * 1. http.ts reads the answer, and http-failure.ts makes it `rate_limited` with the time from which the host may be
 *    asked again.
 * 2. `backoffAfter` below works out that time: what the host said (Retry-After, its rate-limit headers, at most 48
 *    hours), else a guess that doubles from 1 to 15 minutes with each refusal in a row.
 * 3. rate-limiter.ts keeps it for all processes of this machine (hosts/ in the state folder), so that nobody asks
 *    before.
 * 4. polite-http.ts hands the failure to its caller at once; it is never taken for "not found".
 */

import type { HostRule } from "./host-rules.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";

/** What is remembered of a host's refusals. */
export interface BackoffState {
  /** Times in a row that it asked to wait without saying how long. */
  readonly refusals: number;
  /** Times in a row that it was out of service. */
  readonly outages: number;
  /** Milliseconds since the epoch: it is not asked before. */
  readonly until?: number;
}

export const noBackoff: BackoffState = { refusals: 0, outages: 0 };

interface AnswerHead {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}

const second = 1000;
const firstWaitMs = 60 * second;
const maxGuessMs = 15 * 60 * second;
/** OpenAlex says up to 15 hours; nobody is believed who says weeks. */
const maxWaitMs = 48 * 3600 * second;
/** A server that fails three times in a row, retries included, is left alone for a while. */
const maxOutages = 3;

/** How a host stands after an answer at `now`. */
export function backoffAfter({ status, headers }: AnswerHead, previous: BackoffState, now: number): BackoffState {
  const waitEnd = retryAfter(headers.get("retry-after"), now);
  const resetTime =
    headers.get("x-ratelimit-remaining")?.trim() === "0" ? resetAt(headers.get("x-ratelimit-reset"), now) : undefined;
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

/** A minute, doubled each time. */
const guessedWaitMs = (times: number) => Math.min(firstWaitMs * 2 ** (times - 1), maxGuessMs);

function retryAfter(value: string | null, now: number): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const seconds = /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : (Date.parse(value) - now) / second;
  return Number.isFinite(seconds) ? limitedTime(now, seconds) : undefined;
}

/** GitHub tells the moment in seconds since the epoch, OpenAlex the seconds that are left. */
function resetAt(value: string | null, now: number): number | undefined {
  const number = value === null || value.trim() === "" ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) return undefined;
  return limitedTime(now, number > 1e9 ? number - now / second : number);
}

const limitedTime = (now: number, seconds: number) => now + Math.min(Math.max(seconds * second, second), maxWaitMs);

/** The pace that an answer's headers ask for, as Crossref has them; a rule is only ever tightened by it. */
export function requestedPace({ headers }: AnswerHead): Partial<HostRule> {
  const limit = Number(headers.get("x-rate-limit-limit") ?? Number.NaN);
  const [, amount, unit] = /^\s*(\d+)\s*(s|m|h)?/.exec(headers.get("x-rate-limit-interval") ?? "") ?? [];
  const spanMs = Number(amount) * second * { s: 1, m: 60, h: 3600 }[(unit ?? "s") as "s" | "m" | "h"];
  const intervalMs = Math.min(spanMs / limit, 60 * second);
  const concurrency = Math.floor(Number(headers.get("x-concurrency-limit") ?? Number.NaN));
  return { ...(intervalMs > 0 ? { intervalMs } : {}), ...(concurrency > 0 ? { concurrency } : {}) };
}
