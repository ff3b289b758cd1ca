import { hasCode, messageOf } from "../engine/lib/errors.js";
import { privateAddressCode } from "../engine/lib/private-address.js";
import { unreachableProxy } from "./lost-proxy.js";

/** The reason why there is no answer: refused, rate-limited, not found, or another error. `reason` is one sentence. */
export interface HttpFailure {
  readonly status: "blocked" | "rate_limited" | "not-found" | "error";
  readonly reason: string;
  /** Set if the same request may succeed in minutes or hours: the service is busy, or the network is down. */
  readonly transient?: true;
  /** Set with `transient` if no host was reached: unknown name, no network, no connection. */
  readonly unreached?: true;
  /** The time of the next allowed request to the host, in milliseconds since the epoch. */
  readonly retryAt?: number;
  /** Set if nothing was sent, because the host had already asked to wait. */
  readonly unsent?: true;
  /** The HTTP status, if there was an answer. */
  readonly code?: number;
  readonly body?: Uint8Array;
}

/** A failure. `mayRetryNow`: set if an immediate retry may help. */
export type RetryableFailure = HttpFailure & { readonly mayRetryNow?: true };

const downloadHint = "open it in a browser, save the PDF and give its path";

/** The failure that an answer's status, headers and body report; undefined for a success. */
export function failureOf(
  { status, headers }: { readonly status: number; readonly headers: { get(name: string): string | null } },
  host: string,
  body: Uint8Array,
): RetryableFailure | undefined {
  const isChallenge =
    headers.get("cf-mitigated") === "challenge" ||
    headers.get("x-amzn-waf-action") === "challenge" ||
    looksLikeChallenge(body, headers.get("content-type"));
  if (isChallenge) return { status: "blocked", reason: `${host} answered with a bot challenge; ${downloadHint}.` };
  if (status === 429)
    return {
      status: "rate_limited",
      reason: `${host} asks to wait (HTTP 429)${waitText(headers.get("retry-after"))}.`,
      transient: true,
    };
  if (status === 403 && (headers.get("x-ratelimit-remaining") === "0" || headers.get("retry-after") !== null))
    return {
      status: "rate_limited",
      reason: `${host} asks to wait (HTTP 403)${waitText(headers.get("retry-after"))}.`,
      transient: true,
    };
  if ([401, 402, 403, 407, 451].includes(status))
    return { status: "blocked", reason: `${host} refused access (HTTP ${status}); ${downloadHint}.` };
  if (status === 404 || status === 410)
    return { status: "not-found", reason: `${host} has no such document (HTTP ${status}).` };
  if (status >= 500)
    return {
      status: "error",
      reason: `${host} failed (HTTP ${status}); try again later.`,
      transient: true,
      mayRetryNow: true,
    };
  if (status === 408 || status === 425)
    return { status: "error", reason: `${host} asks to try again (HTTP ${status}).`, transient: true };
  return status >= 200 && status < 300
    ? undefined
    : { status: "error", reason: `${host} answered with HTTP ${status}.` };
}

/**
 * Whether a page is a bot challenge. Such pages have any status (200, 403, 503), are short, and have a typical title.
 */
function looksLikeChallenge(body: Uint8Array, type: string | null): boolean {
  if (body.length > 200_000 || !/html/i.test(type ?? "")) return false;
  const title = /<title[^>]*>([^<]{0,200})/i.exec(Buffer.from(body).toString("latin1"))?.[1] ?? "";
  return /^\s*(?:just a moment|attention required|are you (?:a robot|human)|robot check|access denied|security check|verify(?:ing)? (?:that )?you are|checking your browser|ddos-guard|pardon our interruption|captcha)/i.test(
    title,
  );
}

const waitText = (value: string | null) =>
  value === null ? "" : /^\d+$/.test(value) ? `, ${value} seconds` : `, until ${value}`;

export const interruptedFailure: HttpFailure = {
  status: "error",
  reason: "Fetching was interrupted.",
  transient: true,
  unreached: true,
};

/** The failure for an address of this machine or its network: no agent or page may cause a request to it. */
export const privateAddressFailure = (host: string): HttpFailure => ({
  status: "blocked",
  reason: `${host} is an address of this machine or its network, and documents are fetched from the public internet only; ${downloadHint}.`,
});

const noAnswerCodes = ["EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH", "ENETDOWN", "EHOSTUNREACH", "EHOSTDOWN"];
const timeoutCodes = ["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"];

/** Whether a request failed before anything was sent: unknown name or no network. */
export function wasNeverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return hasCode(cause, "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "ENETDOWN");
}

/**
 * The failure for an error of a request. An invalid certificate, or an answer that is not HTTP, is not `transient`: a
 * later retry does not help.
 */
export function describeError(error: unknown, host: string, maxMs: number): RetryableFailure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const transient = true;
  const unreached = { transient, unreached: true } as const;
  if (hasCode(cause, privateAddressCode)) return privateAddressFailure(host);
  const proxy = unreachableProxy(cause);
  if (proxy !== undefined)
    return {
      status: "error",
      reason: `The proxy set in ${proxy} can't be reached; correct or unset it.`,
      ...unreached,
    };
  if (hasCode(cause, "ENOTFOUND"))
    return {
      status: "error",
      reason: `${host} was not found (ENOTFOUND); check the address and the network.`,
      ...unreached,
    };
  if (hasCode(cause, "ECONNREFUSED"))
    return { status: "error", reason: `${host} does not accept connections (ECONNREFUSED).`, ...unreached };
  if (error instanceof Error && error.name === "TimeoutError")
    return { status: "error", reason: `${host} took longer than ${maxMs / 1000} seconds.`, transient };
  if (hasCode(cause, ...timeoutCodes))
    return { status: "error", reason: `${host} does not answer (${cause.code}).`, transient };
  if (hasCode(cause, ...noAnswerCodes))
    return { status: "error", reason: `${host} does not answer (${cause.code}).`, ...unreached };
  const isConnectionLost =
    hasCode(cause, "ECONNRESET", "UND_ERR_SOCKET", "EPIPE") ||
    (error instanceof Error && error.message === "terminated");
  const reason = `${host} could not be reached (${messageOf(cause)}).`;
  if (isConnectionLost) return { status: "error", reason, transient, mayRetryNow: true };
  return { status: "error", reason, ...(/^Proxy response \(5\d\d\)/.test(messageOf(cause)) ? { transient } : {}) };
}
