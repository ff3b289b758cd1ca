import { createHash } from "node:crypto";
import { lookup } from "node:dns/promises";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";
import type { Dispatcher } from "undici";
import { hasCode } from "../engine/lib/errors.js";
import { packageVersion } from "../engine/lib/package-root.js";
import { describe, type Failed, type HttpFailure, isPrivate, judge, neverLeft } from "./http-failure.js";
import { isPrivateAddress, lookupPublicAddress } from "../engine/lib/private-address.js";

/** As much of an HTTP answer as is used here. */
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
  /** Maximum number of bytes of the answer, unpacked. */
  readonly limit: number;
  readonly accept?: string;
  /** What a program of the person's says may be another thing the next minute: a kept answer does not stand for it. */
  readonly fresh?: boolean;
  /** A body makes it a POST. */
  readonly json?: unknown;
  /**
   * Keys and tokens go here and nowhere else: they are never logged, cached or shown. A query parameter is added to the
   * address at the last moment.
   */
  readonly secret?: Secret;
}

/** Polite, cached, logged access to the network: one limiter a host over all processes of this machine. */
export interface Http {
  /** Never throws for what a network does. */
  get(request: Request): Promise<HttpDocument | HttpFailure>;
}

/** One request as it goes over the wire. */
export interface WireRequest {
  readonly url: string;
  /** Maximum number of bytes of the answer, unpacked. */
  readonly limit: number;
  readonly accept?: string;
  /** JSON; makes it a POST. */
  readonly body?: string;
  /** Conditions on a copy that is kept already. */
  readonly conditions?: Readonly<Record<string, string>>;
  /** For the host that is asked, and never for another that it redirects to. */
  readonly secret?: Secret;
}

/** Keys and tokens: headers and query parameters that are added at the last moment. */
export interface Secret {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Keeps the pace of hosts. It is asked before every request, those that follow a redirect included. */
export interface Gate {
  /**
   * Resolves when the request may go out, or with why it may not now. `key`: a short hash of the keys that go with it.
   */
  enter(url: URL, key: string | undefined): Promise<HttpFailure | Turn>;
}

/** The right to make one request. */
export interface Turn {
  /** To be called when the answer begins: by then the request has arrived. */
  answered(): void;
  /**
   * Must be called once, with what came back if anything did, or "unsent" where the host can't have noticed anything.
   * Tells when the host may be asked again, where the answer forbids it for now.
   */
  end(answer?: HttpResponse | "unsent"): Promise<number | undefined>;
}

export interface HttpOptions {
  readonly signal: AbortSignal;
  /** A mail address or page that services may write to; it goes into the User-Agent. */
  readonly contact?: string;
  /**
   * The host of the address that is asked for may lie in this machine or its network, as a person named it. Whatever it
   * redirects to may not. Else an agent, or a page that it found, could have us read out an intranet to the model.
   */
  readonly privateAddresses: boolean;
  readonly fetch?: Fetch;
  /** The IP addresses of a host; rejects as Node's own lookup does. */
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
  /** What a later request may ask to be compared with. */
  readonly etag?: string;
  readonly lastModified?: string;
}

/** The copy that the conditions of the request speak of is still good. */
export interface NotModified {
  readonly status: "not-modified";
}

const second = 1000;
const maxTransfer = 300 * second;
const maxRedirects = 10;
/** What is kept of an error's body: services explain themselves in it. */
const maxErrorBytes = 64 * 1024;

/**
 * One request for at most `limit` bytes, and the redirects that it leads through. A refusal (401, 403, 451, a bot
 * challenge), a private address and 429 are answers; after 5xx and a lost connection another try may help (`again`).
 * Never throws for what a network does.
 */
export async function exchange(
  request: WireRequest,
  options: HttpOptions,
): Promise<HttpDocument | Failed | NotModified> {
  const { signal } = options;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(maxTransfer)]);
  const { origin, host: namedHost } = URL.canParse(request.url) ? new URL(request.url) : { origin: "", host: "" };
  let step: RedirectStep = { at: request.url, secret: request.secret, body: request.body };
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    if (!URL.canParse(step.at) || !/^https?:$/.test(new URL(step.at).protocol))
      return { status: "error", reason: `'${step.at.slice(0, 200)}' is not an http or https address.` };
    const answer = await ask(step, request, deadline, options, namedHost);
    if (answer.status !== "redirect") return answer;
    // Once another origin was involved, nothing says that it leads back in good faith.
    const secret = new URL(answer.to).origin === origin ? step.secret : undefined;
    const keepsBody = answer.code === 307 || answer.code === 308;
    step = {
      at: answer.to,
      secret: secret?.headers && { headers: secret.headers },
      ...(keepsBody ? { body: step.body } : {}),
    };
  }
  return { status: "error", reason: `${namedHost} redirects more than ${maxRedirects} times.` };
}

/** A station on the way to a document. */
interface RedirectStep {
  readonly at: string;
  readonly secret?: Secret;
  readonly body?: string;
}

interface Redirect {
  readonly status: "redirect";
  readonly to: string;
  readonly code: number;
}

async function ask(
  { at, secret, body }: RedirectStep,
  request: WireRequest,
  deadline: AbortSignal,
  options: HttpOptions,
  namedHost: string,
): Promise<HttpDocument | Failed | NotModified | Redirect> {
  const url = new URL(at);
  const { host } = url;
  const mayBePrivate = options.privateAddresses && host === namedHost;
  let turn: Turn | undefined;
  let response: HttpResponse | "unsent" | undefined;
  try {
    if (!mayBePrivate && (await isPrivateTarget(url.hostname, options))) return isPrivate(host);
    // First: to load it takes longer than some hosts want between two requests.
    const get = options.fetch ?? (await loadFetch(mayBePrivate));
    const turnOrFailure = await options.gate.enter(url, keyHash(secret));
    if (turnOrFailure !== undefined && "reason" in turnOrFailure) return turnOrFailure;
    turn = turnOrFailure;
    const received = await get(withQuery(at, secret?.query), {
      headers: headersOf(request, body, secret, options.contact),
      // Waiting for a turn is not part of the transfer.
      signal: turn === undefined ? deadline : AbortSignal.any([options.signal, AbortSignal.timeout(maxTransfer)]),
      redirect: "manual",
      ...(body === undefined ? {} : { method: "POST", body }),
    });
    response = received;
    turn?.answered();
    const answer = await readAnswer(received, request, at, host);
    const retryAt = await turn?.end(received);
    turn = undefined;
    return retryAt === undefined || !("reason" in answer) ? answer : { ...answer, retryAt };
  } catch (error) {
    if (options.signal.aborted)
      return { status: "error", reason: "Fetching was interrupted.", transient: true, unreached: true };
    if (response === undefined && neverLeft(error)) response = "unsent";
    return await checkUnknownHost(describe(error, host, maxTransfer), error, host, options);
  } finally {
    await turn?.end(response);
  }
}

function keyHash(secret: Secret | undefined): string | undefined {
  const values = Object.values({ ...secret?.headers, ...secret?.query });
  return values.length === 0 ? undefined : createHash("sha256").update(values.join("\n")).digest("hex").slice(0, 8);
}

/** The rest of the address stays as it is, byte for byte: `searchParams` would write it again. */
function withQuery(at: string, query: Secret["query"] = {}): string {
  const added = new URLSearchParams(query).toString();
  if (added === "") return at;
  const [address = ""] = at.split("#");
  return `${address}${address.includes("?") ? "&" : "?"}${added}`;
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
  at: string,
  host: string,
): Promise<HttpDocument | Failed | NotModified | Redirect> {
  const { status: code, headers } = response;
  const location = code >= 300 && code < 400 ? headers.get("location") : null;
  const isOk = code >= 200 && code < 300;
  // Nothing here asks for a range: a part taken for the whole would be half a document.
  if (code === 206)
    return { status: "error", reason: `${host} sent only a part of the document (HTTP 206).`, transient: true, code };
  const bytes = await readBody(response, isOk ? request.limit : maxErrorBytes, isOk);
  if (code === 304 && request.conditions !== undefined) return { status: "not-modified" };
  if (location !== null && URL.canParse(location, at))
    return { status: "redirect", to: new URL(location, at).href, code };
  if (bytes === "damaged")
    return { status: "error", reason: `${host} sent a document that is cut short.`, transient: true };
  if (bytes === undefined)
    return {
      status: "error",
      reason: `${host} sent more than ${Math.round(request.limit / 1024 / 1024)} MB; download it by hand and give its path.`,
    };
  const failure = judge(response, host, bytes);
  if (failure !== undefined) return { ...failure, code, body: bytes };
  const [etag, lastModified] = [headers.get("etag"), headers.get("last-modified")];
  return {
    status: "ok",
    bytes,
    url: at,
    type: (headers.get("content-type") ?? "").toLowerCase(),
    ...(etag === null ? {} : { etag }),
    ...(lastModified === null ? {} : { lastModified }),
  };
}

const hasProxy = () =>
  ["http_proxy", "https_proxy"].some((name) => Boolean(process.env[name] ?? process.env[name.toUpperCase()]));

/**
 * A proxy resolves names itself, without `lookupPublicAddress`: only the answer of this machine's own resolver can be
 * checked then.
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
 * A name that does not exist while others do is not trouble with the network: agents make up hosts, and no waiting
 * mends that.
 */
async function checkUnknownHost(
  failure: Failed,
  error: unknown,
  host: string,
  { lookup: resolve = lookupAll }: HttpOptions,
): Promise<Failed> {
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
 * The body unpacked; undefined if it is longer than `limit`, "damaged" where its compression says that its end is
 * missing. An error's body is just cut.
 */
async function readBody(
  { body, headers }: HttpResponse,
  limit: number,
  isWhole: boolean,
): Promise<Uint8Array | "damaged" | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) return isWhole ? undefined : Buffer.concat(chunks).subarray(0, limit);
  }
  const codings = (headers.get(encodingHeader) ?? "").toLowerCase().split(",");
  let bytes = Buffer.concat(chunks);
  for (const coding of codings.slice(-maxCodings).toReversed()) {
    const unpacked = await unpack(coding.trim(), bytes, limit);
    if (!Buffer.isBuffer(unpacked)) return isWhole ? unpacked : Buffer.alloc(0);
    bytes = unpacked;
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
 * One layer of compression taken off: undefined if it unpacks to more than `limit`, "damaged" where it does not
 * unpack to its end.
 */
async function unpack(
  coding: string,
  bytes: Buffer<ArrayBuffer>,
  limit: number,
): Promise<Buffer<ArrayBuffer> | "damaged" | undefined> {
  const decode = decoders[coding];
  if (decode === undefined) return bytes;
  // Some servers leave out the head that the standard asks for.
  const isRaw = coding === "deflate" && ((bytes[0] ?? 8) & 0x0f) !== 8;
  try {
    return await (isRaw ? rawInflate : decode)(bytes, { maxOutputLength: limit });
  } catch (error) {
    return hasCode(error, "ERR_BUFFER_TOO_LARGE") ? undefined : "damaged";
  }
}

/**
 * undici unpacks a body as browsers do: what is cut short is given out as if it were whole. So it is handed the body
 * under another header, and `readBody` unpacks it.
 */
const encodingHeader = "x-encoding-of-body";
type Dispatch = Dispatcher["dispatch"];
const leaveBodiesPacked =
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
 * undici, loaded when first needed; it follows HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Connections to private addresses
 * are kept apart.
 */
function loadFetch(mayBePrivate: boolean): Promise<Fetch> {
  const existing = fetchFunctions.get(mayBePrivate);
  if (existing !== undefined) return existing;
  const loading = import("undici").then(({ EnvHttpProxyAgent, fetch }): Fetch => {
    const connect = { timeout: 10 * second, ...(mayBePrivate ? {} : { lookup: lookupPublicAddress }) };
    const agent = new EnvHttpProxyAgent({ connect, headersTimeout: 30 * second, bodyTimeout: 30 * second });
    const dispatcher = agent.compose(leaveBodiesPacked);
    return (url, init) => fetch(url, { ...init, dispatcher });
  });
  fetchFunctions.set(mayBePrivate, loading);
  return loading;
}
