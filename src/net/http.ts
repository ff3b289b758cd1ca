import { createHash } from "node:crypto";
import { lookup } from "node:dns/promises";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";
import type { Dispatcher } from "undici";
import { hasCode } from "../engine/lib/errors.js";
import { packageVersion } from "../engine/lib/package-root.js";
import {
  describeError,
  interruptedFailure,
  type RetryableFailure,
  type HttpFailure,
  privateAddressFailure,
  failureOf,
  wasNeverSent,
} from "./http-failure.js";
import { isPrivateAddress, lookupPublicAddress } from "../engine/lib/private-address.js";

/** The part of an HTTP answer that this program uses. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}
export type Fetch = (
  url: string,
  init: { headers: Record<string, string>; signal: AbortSignal; redirect: "manual"; method?: "POST"; body?: string },
) => Promise<HttpResponse>;

/** One request to a service. */
export interface Request {
  /** Without keys: it is logged and names the answer in the cache. */
  readonly url: string;
  /** Maximum number of bytes of the uncompressed answer. */
  readonly limit: number;
  readonly accept?: string;
  /** Whether the answer must come from the service itself, for example because it may change every minute. */
  readonly skipsCache?: boolean;
  /** The body, to be sent as JSON; with a body, the request is a POST. */
  readonly json?: unknown;
  /**
   * Keys and tokens go here and nowhere else: they are never logged, cached or shown. A query parameter is added to the
   * address at the last moment.
   */
  readonly secret?: Secret;
}

/** Access to the network with rate limits, cache and log; all processes of this machine share the rate limits. */
export interface Http {
  /** Never throws for an error of the network. */
  get(request: Request): Promise<HttpDocument | HttpFailure>;
}

/** One request in the form that is sent. */
export interface WireRequest {
  readonly url: string;
  /** Maximum number of bytes of the uncompressed answer. */
  readonly limit: number;
  readonly accept?: string;
  /** A JSON text; with it, the request is a POST. */
  readonly body?: string;
  /** Headers that make the request conditional on a cached copy. */
  readonly conditions?: Readonly<Record<string, string>>;
  /** Only for the host of `url`, never for a host that it redirects to. */
  readonly secret?: Secret;
}

/** Keys and tokens: headers and query parameters that are added at the last moment. */
export interface Secret {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Keeps the pace of hosts. Called before every request, also after a redirect. */
export interface Gate {
  /**
   * Resolves when the request may be sent, or with a failure if it must not be sent now. `key`: a short hash of its
   * keys.
   */
  enter(url: URL, key: string | undefined): Promise<HttpFailure | Turn>;
}

/** The right to make one request. */
export interface Turn {
  /** Must be called when the answer begins. Then the request has reached the host. */
  markAnswered(): void;
  /**
   * Must be called once: with the answer, with "unsent" if no byte reached the host, or without argument. Returns the
   * time of the next allowed request if the answer forbids requests for now.
   */
  end(answer?: HttpResponse | "unsent"): Promise<number | undefined>;
}

export interface HttpOptions {
  readonly signal: AbortSignal;
  /** A mail address or page that services may write to; it goes into the User-Agent. */
  readonly contact?: string;
  /**
   * Whether the host of the address may be on this machine or its network, because a person named it. A redirect must
   * never lead there: otherwise an agent, or a page that it found, could send pages of an intranet to the model.
   */
  readonly privateAddresses: boolean;
  readonly fetch?: Fetch;
  /** The IP addresses of a host; rejects like Node's lookup. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
  readonly gate: Gate;
}

export interface HttpDocument {
  readonly status: "ok";
  readonly bytes: Uint8Array;
  /** After redirects. */
  readonly url: string;
  /** The Content-Type, in lower case. */
  readonly type: string;
  /** The version of the document, for a later conditional request. */
  readonly etag?: string;
  readonly lastModified?: string;
}

/** The cached copy is still valid. */
export interface NotModified {
  readonly status: "not-modified";
}

const secondMs = 1000;
const maxTransferMs = 300 * secondMs;
const maxRedirects = 10;
/** Maximum number of bytes of an error's body; services explain the error in it. */
const maxErrorBytes = 64 * 1024;

/**
 * Sends one request for at most `limit` bytes, and follows redirects. If an immediate retry may help (after 5xx or a
 * lost connection), the failure has `mayRetryNow`. Never throws for an error of the network.
 */
export async function exchange(
  request: WireRequest,
  options: HttpOptions,
): Promise<HttpDocument | RetryableFailure | NotModified> {
  const { origin, host: namedHost } = URL.canParse(request.url) ? new URL(request.url) : { origin: "", host: "" };
  let step: RedirectStep = { url: request.url, secret: request.secret, body: request.body };
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    if (!URL.canParse(step.url) || !/^https?:$/.test(new URL(step.url).protocol))
      return { status: "error", reason: `'${step.url.slice(0, 200)}' is not an http or https address.` };
    const answer = await sendRequest(step, request, options, namedHost);
    if (answer.status !== "redirect") return answer;
    // After a redirect to another origin, even a redirect back to the first origin can't be trusted.
    const secret = new URL(answer.to).origin === origin ? step.secret : undefined;
    const keepsBody = answer.code === 307 || answer.code === 308;
    step = {
      url: answer.to,
      secret: secret?.headers && { headers: secret.headers },
      ...(keepsBody ? { body: step.body } : {}),
    };
  }
  return { status: "error", reason: `${namedHost} redirects more than ${maxRedirects} times.` };
}

/** One request in a chain of redirects. */
interface RedirectStep {
  readonly url: string;
  readonly secret?: Secret;
  readonly body?: string;
}

interface Redirect {
  readonly status: "redirect";
  readonly to: string;
  readonly code: number;
}

async function sendRequest(
  { url: address, secret, body }: RedirectStep,
  request: WireRequest,
  options: HttpOptions,
  namedHost: string,
): Promise<HttpDocument | RetryableFailure | NotModified | Redirect> {
  const url = new URL(address);
  const { host } = url;
  const mayBePrivate = options.privateAddresses && host === namedHost;
  let turn: Turn | undefined;
  let response: HttpResponse | "unsent" | undefined;
  try {
    if (!mayBePrivate && (await isPrivateTarget(url.hostname, options))) return privateAddressFailure(host);
    // Loaded before the turn begins, because loading takes longer than the interval between two requests of some hosts.
    const fetchUrl = options.fetch ?? (await loadFetch(mayBePrivate));
    const turnOrFailure = await options.gate.enter(url, keyHash(secret));
    if ("reason" in turnOrFailure) return turnOrFailure;
    turn = turnOrFailure;
    const receivedResponse = await fetchUrl(addQuery(address, secret?.query), {
      headers: headersOf(request, body, secret, options.contact),
      // Waiting for a turn is not part of the transfer.
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(maxTransferMs)]),
      redirect: "manual",
      ...(body === undefined ? {} : { method: "POST", body }),
    });
    response = receivedResponse;
    turn.markAnswered();
    const answer = await readAnswer(receivedResponse, request, address, host);
    const retryAt = await turn.end(receivedResponse);
    turn = undefined;
    return retryAt === undefined || !("reason" in answer) ? answer : { ...answer, retryAt };
  } catch (error) {
    if (options.signal.aborted) return interruptedFailure;
    if (response === undefined && wasNeverSent(error)) response = "unsent";
    return await checkUnknownHost(describeError(error, host, maxTransferMs), error, host, options);
  } finally {
    await turn?.end(response);
  }
}

function keyHash(secret: Secret | undefined): string | undefined {
  const values = Object.values({ ...secret?.headers, ...secret?.query });
  return values.length === 0 ? undefined : createHash("sha256").update(values.join("\n")).digest("hex").slice(0, 8);
}

/** Adds parameters without changing the rest of the address; `searchParams` would encode it again. */
function addQuery(address: string, query: Secret["query"]): string {
  const addedQuery = new URLSearchParams(query).toString();
  if (addedQuery === "") return address;
  const [withoutFragment = ""] = address.split("#");
  return `${withoutFragment}${withoutFragment.includes("?") ? "&" : "?"}${addedQuery}`;
}

function headersOf(
  request: WireRequest,
  body: string | undefined,
  secret: Secret | undefined,
  contact: string | undefined,
): Record<string, string> {
  return {
    "User-Agent": userAgent(contact),
    Accept: request.accept ?? "*/*",
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...request.conditions,
    ...secret?.headers,
  };
}

async function readAnswer(
  response: HttpResponse,
  request: WireRequest,
  address: string,
  host: string,
): Promise<HttpDocument | RetryableFailure | NotModified | Redirect> {
  const { status: code, headers } = response;
  const location = code >= 300 && code < 400 ? headers.get("location") : null;
  const isOk = code >= 200 && code < 300;
  // No request asks for a range, so a partial document is an error.
  if (code === 206)
    return { status: "error", reason: `${host} sent only a part of the document (HTTP 206).`, transient: true, code };
  const bytes = await readBody(response, isOk ? request.limit : maxErrorBytes, isOk);
  if (code === 304 && request.conditions !== undefined) return { status: "not-modified" };
  if (location !== null && URL.canParse(location, address))
    return { status: "redirect", to: new URL(location, address).href, code };
  if (bytes === "damaged") return { status: "error", reason: `${host} sent an incomplete document.`, transient: true };
  if (bytes === undefined)
    return {
      status: "error",
      reason: `${host} sent more than ${Math.round(request.limit / 1024 / 1024)} MB; download it by hand and give its path.`,
    };
  const failure = failureOf(response, host, bytes);
  if (failure !== undefined) return { ...failure, code, body: bytes };
  const [etag, lastModified] = [headers.get("etag"), headers.get("last-modified")];
  return {
    status: "ok",
    bytes,
    url: address,
    type: (headers.get("content-type") ?? "").toLowerCase(),
    ...(etag === null ? {} : { etag }),
    ...(lastModified === null ? {} : { lastModified }),
  };
}

const hasProxy = () =>
  ["http_proxy", "https_proxy"].some((name) => Boolean(process.env[name] ?? process.env[name.toUpperCase()]));

/**
 * Whether a host has a private address. A proxy resolves names itself, without `lookupPublicAddress`, so this machine's
 * resolver is checked instead.
 */
async function isPrivateTarget(
  hostname: string,
  { fetch, lookup: resolve = lookupAll }: HttpOptions,
): Promise<boolean> {
  if (isPrivateAddress(hostname)) return true;
  if (fetch !== undefined || !hasProxy()) return false;
  return (await resolve(hostname).catch(() => [])).some(isPrivateAddress);
}

/**
 * Turns the failure into "not found" if only this host name does not exist. Agents invent host names, and a retry does
 * not help then.
 */
async function checkUnknownHost(
  failure: RetryableFailure,
  error: unknown,
  host: string,
  { lookup: resolve = lookupAll }: HttpOptions,
): Promise<RetryableFailure> {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!hasCode(cause, "ENOTFOUND")) return failure;
  const isOnline = await resolve("doi.org").then(
    () => true,
    () => false,
  );
  return isOnline ? { status: "not-found", reason: `There is no host ${host}; check the address.` } : failure;
}

const lookupAll = async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * The uncompressed body; undefined if it is longer than `limit`, "damaged" if the end of the compressed data is
 * missing. The body of an error is truncated instead.
 */
async function readBody(
  { body, headers }: HttpResponse,
  limit: number,
  mustBeComplete: boolean,
): Promise<Uint8Array | "damaged" | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) return mustBeComplete ? undefined : Buffer.concat(chunks).subarray(0, limit);
  }
  const codings = (headers.get(encodingHeader) ?? "").toLowerCase().split(",");
  let bytes = Buffer.concat(chunks);
  for (const coding of codings.slice(-maxCodings).toReversed()) {
    const decompressed = await decompress(coding.trim(), bytes, limit);
    if (!Buffer.isBuffer(decompressed)) return mustBeComplete ? decompressed : Buffer.alloc(0);
    bytes = decompressed;
  }
  return bytes;
}

const maxCodings = 3;
type Decode = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer<ArrayBuffer>>;
const decoders: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip) as Decode,
  "x-gzip": promisify(gunzip) as Decode,
  deflate: promisify(inflate) as Decode,
  br: promisify(brotliDecompress) as Decode,
};
const rawInflate = promisify(inflateRaw) as Decode;

/**
 * Removes one layer of compression. Undefined if the result is larger than `limit`, "damaged" if the data is
 * incomplete.
 */
async function decompress(
  coding: string,
  bytes: Buffer<ArrayBuffer>,
  limit: number,
): Promise<Buffer<ArrayBuffer> | "damaged" | undefined> {
  const decode = decoders[coding];
  if (decode === undefined) return bytes;
  // Some servers omit the header that the standard requires.
  const isRaw = coding === "deflate" && ((bytes[0] ?? 8) & 0x0f) !== 8;
  try {
    return await (isRaw ? rawInflate : decode)(bytes, { maxOutputLength: limit });
  } catch (error) {
    return hasCode(error, "ERR_BUFFER_TOO_LARGE") ? undefined : "damaged";
  }
}

/**
 * undici decompresses a body like a browser: a truncated body looks complete. So the encoding header is renamed before
 * undici sees it, and `readBody` decompresses the body.
 */
const encodingHeader = "x-encoding-of-body";
type Dispatch = Dispatcher["dispatch"];
const keepBodiesCompressed =
  (dispatch: Dispatch): Dispatch =>
  (options, handler) => {
    const wrapped = new Proxy(handler, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return (...args: unknown[]): unknown => {
          const [controller, code, headers, ...rest] = args;
          const callArguments =
            name === "onResponseStart" ? [controller, code, renameEncoding(headers as object), ...rest] : args;
          return Reflect.apply(member, target, callArguments);
        };
      },
    });
    return dispatch(options, wrapped);
  };

const renameEncoding = (headers: object): object =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [/^content-encoding$/i.test(name) ? encodingHeader : name, value]),
  );

const userAgent = (contact: string | undefined) =>
  `research-ralph/${packageVersion()}${contact === undefined ? "" : ` (+${contact.replace(/[^\x20-\x7e]/g, "")})`}`;

const fetchFunctions = new Map<boolean, Promise<Fetch>>();

/**
 * Loads undici at the first use. It respects HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Connections that may go to private
 * addresses have a separate pool.
 */
function loadFetch(mayBePrivate: boolean): Promise<Fetch> {
  const existing = fetchFunctions.get(mayBePrivate);
  if (existing !== undefined) return existing;
  const loading = import("undici").then(({ EnvHttpProxyAgent, fetch }): Fetch => {
    const connect = { timeout: 10 * secondMs, ...(mayBePrivate ? {} : { lookup: lookupPublicAddress }) };
    const agent = new EnvHttpProxyAgent({ connect, headersTimeout: 30 * secondMs, bodyTimeout: 30 * secondMs });
    const dispatcher = agent.compose(keepBodiesCompressed);
    return (url, init) => fetch(url, { ...init, dispatcher });
  });
  fetchFunctions.set(mayBePrivate, loading);
  return loading;
}
