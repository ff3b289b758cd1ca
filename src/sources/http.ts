import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode, messageOf } from "../lib/errors.js";
import { packageFile } from "../lib/package-root.js";

/** As much of an HTTP answer as is used here. */
export interface HttpResponse {
  readonly status: number;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}
export type Fetch = (url: string, init: { headers: Record<string, string>; signal: AbortSignal; redirect: "follow" }) => Promise<HttpResponse>;

export interface HttpOptions {
  readonly signal: AbortSignal;
  /** A mail address or page that services may write to; it goes into the User-Agent. */
  readonly contact?: string;
  readonly fetch?: Fetch;
}

/** Why there is no answer: refused for good, told to wait, not there, or anything else. `reason` is one sentence. */
export interface HttpFailure {
  readonly status: "blocked" | "rate_limited" | "not-found" | "error";
  readonly reason: string;
  /** Of the answer, where there was one. */
  readonly code?: number;
  readonly body?: Uint8Array;
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
/** What is kept of an error's body: services explain themselves in it. */
const mostOfAnError = 64 * 1024;

/**
 * Fetches a document of at most `limit` bytes. A refusal (401, 403, 451, a bot challenge) and 429 are answers and never retried;
 * 5xx and a lost connection are tried once more. Never throws for what a network does.
 */
export async function getDocument(url: string, limit: number, options: HttpOptions, accept = "*/*"): Promise<HttpDocument | HttpFailure> {
  const first = await attempt(url, limit, options, accept);
  if (!("again" in first) || options.signal.aborted) return withoutAgain(first);
  await delay(pauseBeforeRetry, undefined, { signal: options.signal }).catch(() => undefined);
  return withoutAgain(await attempt(url, limit, options, accept));
}

type Attempt = HttpDocument | (HttpFailure & { again?: true });

function withoutAgain(result: Attempt): HttpDocument | HttpFailure {
  if (!("again" in result)) return result;
  const { again: _, ...rest } = result;
  return rest;
}

async function attempt(url: string, limit: number, { signal, contact, fetch }: HttpOptions, accept: string): Promise<Attempt> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return { status: "error", reason: `'${url.slice(0, 200)}' is not an http or https address.` };
  const { host } = new URL(url);
  try {
    const get = fetch ?? (await ownFetch());
    const headers = { "User-Agent": userAgent(contact), Accept: accept };
    const response = await get(url, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(longestTransfer)]), redirect: "follow" });
    const ok = response.status >= 200 && response.status < 300;
    const bytes = await readBody(response, ok ? limit : mostOfAnError, ok);
    if (bytes === undefined)
      return { status: "error", reason: `${host} sent more than ${Math.round(limit / 1024 / 1024)} MB; download it by hand and give its path.` };
    const failure = judge(response, host, bytes);
    if (failure !== undefined) return { ...failure, code: response.status, body: bytes };
    return { status: "ok", bytes, url: response.url === "" ? url : response.url, type: (response.headers.get("content-type") ?? "").toLowerCase() };
  } catch (error) {
    if (signal.aborted) return { status: "error", reason: "Fetching was interrupted." };
    return describe(error, host);
  }
}

function judge({ status, headers }: HttpResponse, host: string, body: Uint8Array): (HttpFailure & { again?: true }) | undefined {
  const byHand = "open it in a browser, save the PDF and give its path";
  const isChallenge =
    headers.get("cf-mitigated") === "challenge" ||
    headers.get("x-amzn-waf-action") === "challenge" ||
    looksLikeChallenge(body, headers.get("content-type"));
  if (isChallenge) return { status: "blocked", reason: `${host} answered with a bot challenge; ${byHand}.` };
  if (status === 429) return { status: "rate_limited", reason: `${host} asks to wait (HTTP 429)${retryAfter(headers.get("retry-after"))}.` };
  if ([401, 402, 403, 407, 451].includes(status)) return { status: "blocked", reason: `${host} refused access (HTTP ${status}); ${byHand}.` };
  if (status === 404 || status === 410) return { status: "not-found", reason: `${host} has no such document (HTTP ${status}).` };
  if (status >= 500) return { status: "error", reason: `${host} failed (HTTP ${status}); try again later.`, again: true };
  return status >= 200 && status < 300 ? undefined : { status: "error", reason: `${host} answered with HTTP ${status}.` };
}

/** Challenge pages come with 200, 403 or 503, are short, and say so in their title. */
function looksLikeChallenge(body: Uint8Array, type: string | null): boolean {
  if (body.length > 200_000 || !/html/i.test(type ?? "")) return false;
  const title = /<title[^>]*>([^<]{0,200})/i.exec(Buffer.from(body).toString("latin1"))?.[1] ?? "";
  return /^\s*(?:just a moment|attention required|are you (?:a robot|human)|robot check|access denied|security check|verify(?:ing)? (?:that )?you are|checking your browser|ddos-guard|pardon our interruption|captcha)/i.test(
    title,
  );
}

const retryAfter = (value: string | null) => (value === null ? "" : /^\d+$/.test(value) ? `, ${value} seconds` : `, until ${value}`);

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

function describe(error: unknown, host: string): HttpFailure & { again?: true } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (hasCode(cause, "ENOTFOUND", "EAI_AGAIN"))
    return { status: "error", reason: `${host} was not found (${cause.code}); check the address and the network.` };
  if (hasCode(cause, "ECONNREFUSED")) return { status: "error", reason: `${host} does not accept connections (ECONNREFUSED).` };
  if (error instanceof Error && error.name === "TimeoutError")
    return { status: "error", reason: `${host} took longer than ${longestTransfer / second} seconds.` };
  if (hasCode(cause, "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "ETIMEDOUT"))
    return { status: "error", reason: `${host} does not answer (${cause.code}).` };
  const lost = hasCode(cause, "ECONNRESET", "UND_ERR_SOCKET", "EPIPE") || (error instanceof Error && error.message === "terminated");
  return { status: "error", reason: `${host} could not be reached (${messageOf(cause)}).`, ...(lost ? { again: true as const } : {}) };
}

const version = (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version;
const userAgent = (contact: string | undefined) =>
  `research-ralph/${version}${contact === undefined ? "" : ` (+${contact.replace(/[^\x20-\x7e]/g, "")})`}`;

let shared: Promise<Fetch> | undefined;

/** undici, loaded when first needed; it heeds HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
function ownFetch(): Promise<Fetch> {
  shared ??= import("undici").then(({ EnvHttpProxyAgent, fetch }) => {
    const dispatcher = new EnvHttpProxyAgent({ connect: { timeout: 10 * second }, headersTimeout: 30 * second, bodyTimeout: 30 * second });
    return (url, init) => fetch(url, { ...init, dispatcher });
  });
  return shared;
}
