import type { QueryLine } from "../engine/generated/query.js";
import { systemClock, type Clock } from "../engine/lib/clock.js";
import type { HostBudget, StandIn, Service } from "./host-rules.js";
import { hashOf, type HttpCache, httpCache, type KeptAnswer } from "./http-cache.js";
import type { Failed, HttpFailure } from "./http-failure.js";
import {
  exchange,
  type Fetch,
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

/**
 * One request, politely: answered from the cache while that is fresh, else at the host's pace, tried again where that
 * may help, and logged. On a 429 the time that the host names, or a guess that doubles (backoff.ts), is kept for all
 * processes of this machine (rate-limiter.ts). Nobody waits for it here: until then every request to the host comes
 * back as `rate_limited` at once, and its caller does other things meanwhile.
 */

export interface PoliteHttpOptions {
  readonly signal: AbortSignal;
  /** Folder of this machine's state: the pace of hosts is kept in it, for all processes. */
  readonly stateDir: string;
  /** Where answers are kept; undefined: nowhere. It must be ignored by git. */
  readonly cacheDir?: string;
  /** An answer younger than this is not asked for again; 24 hours by default. */
  readonly freshMs?: number;
  /** Told of every request, answered from the cache or not, before `get` answers. */
  readonly record?: (line: QueryLine) => Promise<void>;
  /**
   * Whose rules hold for which addresses, and how they are called in records. Endpoints that are not a service's own
   * may be private.
   */
  readonly services?: readonly Service[];
  /** How often hosts may be asked; a host that is not among them: once a second. */
  readonly budgets: readonly HostBudget[];
  /** Addresses that a person has typed: their origins may be private too. */
  readonly typed?: readonly string[];
  /** A mail address told to services. Never invented. */
  readonly contact?: string;
  /** The machine's own time, shared by all processes. */
  readonly clock?: Clock;
  readonly fetch?: Fetch;
  readonly lookup?: NonNullable<HttpOptions["lookup"]>;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

const day = 24 * 3600_000;
/**
 * After the first failure up to a second, after the next up to two: full jitter keeps processes that failed together
 * apart.
 */
const firstPauseMs = 1000;
const maxRetries = 2;

/** The wall clock, not a steady one: it is the only one that processes share. */
const wallClock: Clock = { now: Date.now, sleep: systemClock.sleep };

/**
 * Access to the network that keeps every host's pace over all processes of this machine, keeps answers, and tells of
 * each request.
 */
export function politeHttp(options: PoliteHttpOptions): Http {
  const { stateDir, cacheDir, freshMs = day, record, services = [], contact, signal, clock = wallClock } = options;
  const standIns: StandIn[] = services
    .filter(
      ({ own, endpoint }) => URL.canParse(endpoint) && (own === "" || new URL(endpoint).origin !== new URL(own).origin),
    )
    .map(({ own, endpoint, intervalMs }) => ({ url: endpoint, replacedAddress: own, intervalMs }));
  const privateOrigins = new Set(
    [...standIns.map(({ url }) => url), ...(options.typed ?? [])]
      .filter((url) => URL.canParse(url))
      .map((url) => new URL(url).origin),
  );
  const gate = hostLimiter({
    folder: hostsFolder(stateDir),
    clock,
    signal,
    contact: contact?.includes("@") === true,
    standIns,
    budgets: options.budgets,
  });
  const cache = cacheDir === undefined ? undefined : httpCache(cacheDir);

  return {
    async get(request) {
      const key = keyOf(request);
      const cached = await cache?.find(key);
      const recordAnswer = async (answer: HttpDocument | HttpFailure, from: QueryLine["from"]) => {
        // What the user interrupted says nothing.
        if (!signal.aborted) await record?.(lineOf(request, answer, from, clock.now(), services));
        return answer;
      };
      if (cached !== undefined && request.fresh !== true && clock.now() - cached.answer.checkedAt < freshMs)
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
  cached: KeptAnswer | undefined,
): WireRequest {
  const { url, secret } = withoutCredentials(typedAddress, keys);
  const conditions = {
    ...(cached?.etag === undefined ? {} : { "If-None-Match": cached.etag }),
    ...(cached?.lastModified === undefined ? {} : { "If-Modified-Since": cached.lastModified }),
  };
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
 * Tries again where that may help: after a failure of the server or the connection. A host that asked to be left alone
 * is not waited for: the answer is `rate_limited` at once.
 */
async function exchangeWithRetries(
  request: WireRequest,
  options: ExchangeOptions,
): Promise<HttpDocument | Failed | NotModified> {
  const { clock, signal, random = Math.random } = options;
  for (let retries = 0; ;) {
    const answer = await exchange(request, options);
    if (signal.aborted || !("reason" in answer)) return answer;
    if (answer.retryAt !== undefined || answer.again !== true || retries === maxRetries) return answer;
    await clock.sleep(clock.now() + random() * firstPauseMs * 2 ** retries, signal);
    retries += 1;
  }
}

function withoutSecrets(answer: HttpDocument | Failed, request: Request): HttpDocument | HttpFailure {
  const { text, bytes } = scrubber(withoutCredentials(request.url, request.secret).secret);
  if (answer.status === "ok") return { ...answer, url: publicAddress(text(answer.url)), bytes: bytes(answer.bytes) };
  const { again: _, ...failure } = answer;
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
  const validators = { etag, lastModified };
  await cache?.keep(key, { sha256: hashOf(bytes), url, type, checkedAt: now, ...validators }, bytes);
}

const documentOf = ({ url, type }: KeptAnswer, bytes: Uint8Array): HttpDocument => ({ status: "ok", bytes, url, type });
