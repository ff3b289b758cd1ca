import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../lib/errors.js";
import { packageFile } from "../lib/package-root.js";
import { describe, type Failed, type HttpFailure, isPrivate, judge } from "./http-failure.js";
import { isPrivateAddress, publicLookup } from "./private-address.js";

/** As much of an HTTP answer as is used here. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}
export type Fetch = (url: string, init: { headers: Record<string, string>; signal: AbortSignal; redirect: "manual" }) => Promise<HttpResponse>;

export interface HttpOptions {
  readonly signal: AbortSignal;
  /** A mail address or page that services may write to; it goes into the User-Agent. */
  readonly contact?: string;
  /**
   * The host of the address that is asked for may lie in this machine or its network, as a person named it. Whatever it redirects to may
   * not. Else an agent, or a page that it found, could have us read out an intranet to the model.
   */
  readonly privateAddresses?: boolean;
  readonly fetch?: Fetch;
  /** The IP addresses of a host; rejects as Node's own lookup does. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
}

export interface HttpDocument {
  readonly status: "ok";
  readonly bytes: Uint8Array;
  /** After redirects. */
  readonly url: string;
  /** The Content-Type, in lower case. */
  readonly type: string;
}

const second = 1000;
const pauseBeforeRetry = 0.5 * second;
const longestTransfer = 300 * second;
const mostRedirects = 10;
/** What is kept of an error's body: services explain themselves in it. */
const mostOfAnError = 64 * 1024;

/**
 * Fetches a document of at most `limit` bytes. A refusal (401, 403, 451, a bot challenge), a private address and 429 are answers and never
 * retried; 5xx and a lost connection are tried once more. Never throws for what a network does.
 */
export async function getDocument(url: string, limit: number, options: HttpOptions, accept = "*/*"): Promise<HttpDocument | HttpFailure> {
  const first = await attempt(url, limit, options, accept);
  if (!("again" in first) || options.signal.aborted) return withoutAgain(first);
  await delay(pauseBeforeRetry, undefined, { signal: options.signal }).catch(() => undefined);
  return withoutAgain(await attempt(url, limit, options, accept));
}

function withoutAgain(result: HttpDocument | Failed): HttpDocument | HttpFailure {
  if (!("again" in result)) return result;
  const { again: _, ...rest } = result;
  return rest;
}

async function attempt(url: string, limit: number, options: HttpOptions, accept: string): Promise<HttpDocument | Failed> {
  const { signal } = options;
  const headers = { "User-Agent": userAgent(options.contact), Accept: accept };
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(longestTransfer)]);
  const { host: named } = URL.canParse(url) ? new URL(url) : { host: "" };
  let at = url;
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    if (!URL.canParse(at) || !/^https?:$/.test(new URL(at).protocol))
      return { status: "error", reason: `'${at.slice(0, 200)}' is not an http or https address.` };
    const { host, hostname } = new URL(at);
    try {
      const mayBePrivate = options.privateAddresses === true && host === named;
      if (!mayBePrivate && (await leadsInside(hostname, options))) return isPrivate(host);
      const get = options.fetch ?? (await ownFetch(mayBePrivate));
      const response = await get(at, { headers, signal: deadline, redirect: "manual" });
      const location = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
      const ok = response.status >= 200 && response.status < 300;
      const bytes = await readBody(response, ok ? limit : mostOfAnError, ok);
      if (location !== null && URL.canParse(location, at)) {
        at = new URL(location, at).href;
        continue;
      }
      if (bytes === undefined)
        return { status: "error", reason: `${host} sent more than ${Math.round(limit / 1024 / 1024)} MB; download it by hand and give its path.` };
      const failure = judge(response, host, bytes);
      if (failure !== undefined) return { ...failure, code: response.status, body: bytes };
      return { status: "ok", bytes, url: at, type: (response.headers.get("content-type") ?? "").toLowerCase() };
    } catch (error) {
      if (signal.aborted) return { status: "error", reason: "Fetching was interrupted.", transient: true };
      return await withNamesKnown(describe(error, host, longestTransfer), error, host, options);
    }
  }
  return { status: "error", reason: `${named} redirects more than ${mostRedirects} times.` };
}

const proxied = () => ["http_proxy", "https_proxy"].some((name) => Boolean(process.env[name] ?? process.env[name.toUpperCase()]));

/** A proxy resolves names itself, past `publicLookup`: what this machine's own resolver says is then all that can be known. */
async function leadsInside(hostname: string, { fetch, lookup: resolve = lookupAll }: HttpOptions): Promise<boolean> {
  if (isPrivateAddress(hostname)) return true;
  if (fetch !== undefined || !proxied()) return false;
  return (await resolve(hostname).catch(() => [])).some(isPrivateAddress);
}

/** A name that does not exist while others do is no trouble with the network: agents make up hosts, and no waiting mends that. */
async function withNamesKnown(failure: Failed, error: unknown, host: string, { lookup: resolve = lookupAll }: HttpOptions): Promise<Failed> {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!hasCode(cause, "ENOTFOUND")) return failure;
  const online = await resolve("doi.org").then(
    () => true,
    () => false,
  );
  return online ? { status: "not-found", reason: `There is no host ${host}; check the address.` } : failure;
}

const lookupAll = async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address);

/** The body, or undefined where it is longer than `limit`; an error's is just cut. */
async function readBody({ body }: HttpResponse, limit: number, isWhole: boolean): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) return isWhole ? undefined : Buffer.concat(chunks).subarray(0, limit);
  }
  return Buffer.concat(chunks);
}

const version = (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version;
const userAgent = (contact: string | undefined) =>
  `research-ralph/${version}${contact === undefined ? "" : ` (+${contact.replace(/[^\x20-\x7e]/g, "")})`}`;

const shared = new Map<boolean, Promise<Fetch>>();

/** undici, loaded when first needed; it heeds HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Connections to private addresses are kept apart. */
function ownFetch(mayBePrivate: boolean): Promise<Fetch> {
  const kept = shared.get(mayBePrivate);
  if (kept !== undefined) return kept;
  const made = import("undici").then(({ EnvHttpProxyAgent, fetch }): Fetch => {
    const connect = { timeout: 10 * second, ...(mayBePrivate ? {} : { lookup: publicLookup }) };
    const dispatcher = new EnvHttpProxyAgent({ connect, headersTimeout: 30 * second, bodyTimeout: 30 * second });
    return (url, init) => fetch(url, { ...init, dispatcher });
  });
  shared.set(mayBePrivate, made);
  return made;
}
