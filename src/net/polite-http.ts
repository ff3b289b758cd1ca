import type { QueryLine } from "../engine/generated/query.js";
import { systemClock, type Clock } from "../engine/lib/clock.js";
import type { HostBudget, Service } from "./host-rules.js";
import { hashOf, type HttpCache, httpCache, type CachedAnswer } from "./http-cache.js";
import type { RetryableFailure, HttpFailure } from "./http-failure.js";
import {
  exchange,
  type Gate,
  type HttpDocument,
  type HttpOptions,
  type NotModified,
  type WireRequest,
  type Http,
  type Request,
} from "./http.js";
import { hostLimiter } from "./rate-limiter.js";
import { keyOf, lineOf } from "./request-log.js";
import { publicAddress, scrubber, withoutCredentials } from "./credentials.js";
import { hostsFolder } from "../engine/lib/layout.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";

/**
 * Requests that respect the rules of hosts. A request is answered from the cache if the entry is fresh; otherwise it is
 * sent at the host's pace, repeated if that may help, and logged. After a 429, the time from the host, or a guess that
 * doubles (backoff.ts), is stored for all processes of this machine (rate-limiter.ts). No request waits for it: until
 * then every request to the host fails with `rate_limited` at once, and the caller can do other work.
 */

export interface PoliteHttpOptions extends Pick<HttpOptions, "signal" | "contact" | "fetch" | "lookup"> {
  /** The folder of the program's state; it stores the pace of hosts for all processes. */
  readonly stateDir: string;
  /** The folder of the cache; absent: no cache. Git must ignore it. */
  readonly cacheDir?: string;
  /** Milliseconds for which a cached answer is used without a request; 24 hours by default. */
  readonly freshMs?: number;
  /** Called for every request, also if the cache answers it, before `get` returns. */
  readonly record?: (line: QueryLine) => Promise<void>;
  /**
   * The services: their addresses have rules, and their names are in the log. An endpoint that is not the official
   * address may have a private address.
   */
  readonly services?: readonly Service[];
  /** The rate limits of hosts. Other hosts get at most one request per second. */
  readonly budgets: readonly HostBudget[];
  /** Addresses that a person has typed; they may be private too. */
  readonly typedAddresses?: readonly string[];
  /** The machine's time, which all processes share. */
  readonly clock?: Clock;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random?: () => number;
}

const dayMs = 24 * 3600_000;
/**
 * Maximum pause after the first failure; it doubles each time. The pause is random (full jitter), so that processes
 * that failed at the same time don't retry at the same time.
 */
const firstPauseMs = 1000;
const maxRetries = 2;

/** The wall clock, because it is the only clock that all processes share. */
const wallClock: Clock = { now: Date.now, sleep: systemClock.sleep };

/**
 * Makes an access to the network that keeps the pace of every host across all processes of this machine, caches answers
 * and records each request.
 */
export function politeHttp(options: PoliteHttpOptions): Http {
  const { stateDir, cacheDir, freshMs = dayMs, record, services = [], contact, signal, clock = wallClock } = options;
  const replacedServices = services.filter(
    ({ officialAddress, endpoint }) =>
      URL.canParse(endpoint) &&
      (officialAddress === "" || new URL(endpoint).origin !== new URL(officialAddress).origin),
  );
  const privateOrigins = new Set(
    [...replacedServices.map(({ endpoint }) => endpoint), ...(options.typedAddresses ?? [])]
      .filter((url) => URL.canParse(url))
      .map((url) => new URL(url).origin),
  );
  const gate = hostLimiter({
    folder: hostsFolder(stateDir),
    clock,
    signal,
    hasContact: contact?.includes("@") === true,
    replacedServices,
    budgets: options.budgets,
  });
  const cache = cacheDir === undefined ? undefined : httpCache(cacheDir);

  return {
    async get(request) {
      const key = keyOf(request);
      const cached = await cache?.find(key);
      const recordAnswer = async (answer: HttpDocument | HttpFailure, from: QueryLine["from"]) => {
        // A request that the user interrupted is not recorded.
        if (!signal.aborted) await record?.(lineOf(request, answer, from, clock.now(), services));
        return answer;
      };
      if (cached !== undefined && request.skipsCache !== true && clock.now() - cached.answer.checkedAt < freshMs)
        return recordAnswer(documentOf(cached.answer, cached.bytes), "cache");

      const mayBePrivate = URL.canParse(request.url) && privateOrigins.has(new URL(request.url).origin);
      const answer = await exchangeWithRetries(wireOf(request, cached?.answer), {
        ...options,
        clock,
        gate,
        privateAddresses: mayBePrivate,
      });
      if (answer.status === "not-modified") {
        if (cached === undefined) throw new Error("a request without conditions answered with 304");
        await cache?.keep(key, { ...cached.answer, checkedAt: clock.now() }, cached.bytes);
        return recordAnswer(documentOf(cached.answer, cached.bytes), "confirmed");
      }
      const cleanAnswer = withoutSecrets(answer, request);
      await keep(cache, key, cleanAnswer, clock.now());
      return recordAnswer(cleanAnswer, "network");
    },
  };
}

function wireOf(
  { url: typedAddress, limit, accept, json, secret: keys }: Request,
  cached: CachedAnswer | undefined,
): WireRequest {
  const { url, secret } = withoutCredentials(typedAddress, keys);
  const conditions = withoutUndefined({ "If-None-Match": cached?.etag, "If-Modified-Since": cached?.lastModified });
  return {
    url,
    limit,
    accept,
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    secret,
    ...(cached === undefined ? {} : { conditions }),
  };
}

type ExchangeOptions = PoliteHttpOptions & {
  readonly clock: Clock;
  readonly gate: Gate;
  readonly privateAddresses: boolean;
};

/**
 * Repeats the request after a failure of the server or the connection. It does not wait for a host that asked to wait:
 * the result is `rate_limited` at once.
 */
async function exchangeWithRetries(
  request: WireRequest,
  options: ExchangeOptions,
): Promise<HttpDocument | RetryableFailure | NotModified> {
  const { clock, signal, random = Math.random } = options;
  for (let retries = 0; ;) {
    const answer = await exchange(request, options);
    if (signal.aborted || !("reason" in answer)) return answer;
    if (answer.retryAt !== undefined || answer.mayRetryNow !== true || retries === maxRetries) return answer;
    await clock.sleep(clock.now() + random() * firstPauseMs * 2 ** retries, signal);
    retries += 1;
  }
}

function withoutSecrets(answer: HttpDocument | RetryableFailure, request: Request): HttpDocument | HttpFailure {
  const { text, bytes } = scrubber(withoutCredentials(request.url, request.secret).secret);
  if (answer.status === "ok") return { ...answer, url: publicAddress(text(answer.url)), bytes: bytes(answer.bytes) };
  const { mayRetryNow: _, ...failure } = answer;
  return {
    ...failure,
    reason: text(failure.reason),
    ...(failure.body === undefined ? {} : { body: bytes(failure.body) }),
  };
}

async function keep(
  cache: HttpCache | undefined,
  key: string,
  answer: HttpDocument | HttpFailure,
  now: number,
): Promise<void> {
  if (answer.status !== "ok") return answer.body === undefined ? undefined : cache?.keepBody(answer.body);
  const { bytes, url, type, etag, lastModified } = answer;
  await cache?.keep(key, { sha256: hashOf(bytes), url, type, checkedAt: now, etag, lastModified }, bytes);
}

const documentOf = ({ url, type }: CachedAnswer, bytes: Uint8Array): HttpDocument => ({
  status: "ok",
  bytes,
  url,
  type,
});
