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
const firstPause = 1000;
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
    .map(({ own, endpoint, intervalMs }) => ({ url: endpoint, of: own, intervalMs }));
  const named = new Set(
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
    async get(asked) {
      const key = keyOf(asked);
      const kept = await cache?.find(key);
      const told = async (answer: HttpDocument | HttpFailure, from: QueryLine["from"]) => {
        // What the user interrupted says nothing.
        if (!signal.aborted) await record?.(lineOf(asked, answer, from, clock.now(), services));
        return answer;
      };
      if (kept !== undefined && asked.fresh !== true && clock.now() - kept.answer.checkedAt < freshMs)
        return told(documentOf(kept.answer, kept.bytes), "cache");

      const mayBePrivate = URL.canParse(asked.url) && named.has(new URL(asked.url).origin);
      const answer = await persist(wireOf(asked, kept?.answer), {
        ...options,
        clock,
        gate,
        privateAddresses: mayBePrivate,
      });
      if (answer.status === "not-modified") {
        if (kept === undefined) throw new Error("a request without conditions answered with 304");
        await cache?.keep(key, { ...kept.answer, checkedAt: clock.now() }, kept.bytes);
        return told(documentOf(kept.answer, kept.bytes), "confirmed");
      }
      const clean = withoutSecrets(answer, asked);
      await keep(cache, key, clean, clock.now());
      return told(clean, "network");
    },
  };
}

function wireOf(
  { url: written, limit, accept, json, secret: keys }: Request,
  kept: KeptAnswer | undefined,
): WireRequest {
  const { url, secret } = withoutCredentials(written, keys);
  const conditions = {
    ...(kept?.etag === undefined ? {} : { "If-None-Match": kept.etag }),
    ...(kept?.lastModified === undefined ? {} : { "If-Modified-Since": kept.lastModified }),
  };
  return {
    url,
    limit,
    accept,
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    secret,
    ...(kept === undefined ? {} : { conditions }),
  };
}

type WholeOptions = PoliteHttpOptions & {
  readonly clock: Clock;
  readonly gate: Gate;
  readonly privateAddresses: boolean;
};

/**
 * Tries again where that may help: after a failure of the server or the connection. A host that asked to be left alone
 * is not waited for: the answer is `rate_limited` at once.
 */
async function persist(request: WireRequest, options: WholeOptions): Promise<HttpDocument | Failed | NotModified> {
  const { clock, signal, random = Math.random } = options;
  for (let retries = 0; ;) {
    const answer = await exchange(request, options);
    if (signal.aborted || !("reason" in answer)) return answer;
    if (answer.retryAt !== undefined || answer.again !== true || retries === maxRetries) return answer;
    await clock.sleep(clock.now() + random() * firstPause * 2 ** retries, signal);
    retries += 1;
  }
}

function withoutSecrets(answer: HttpDocument | Failed, asked: Request): HttpDocument | HttpFailure {
  const { text, bytes } = scrubber(withoutCredentials(asked.url, asked.secret).secret);
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
