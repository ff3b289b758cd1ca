import {
  accessAdvice,
  kindOfStatus,
  quote,
  recogniseFailure,
  serviceFailure,
  timeIn,
} from "../../engine/agents/failures.js";
import { resetTimeIn } from "../../engine/agents/reset-time.js";
import { messageOf } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Failure } from "../../engine/loop/types.js";
import { NoAnswer, withoutMarkup } from "./fetch.js";
import { serviceName, type Settings } from "../settings.js";

/** What the packages of the providers tell of an answer that is an error. */
interface ApiError extends Error {
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
}

const isApiError = (error: unknown): error is ApiError => error instanceof Error && error.name === "AI_APICallError";

/** What a failed request means, as one sentence with what to do about it. */
export function failureOf(error: unknown, { provider, url, model, keyFrom }: Settings, now: number): Failure {
  const name = serviceName({ provider, url });
  const none = noAnswerIn(error);
  if (none !== undefined) return { kind: none.mayPass ? "network" : "no-answer", message: none.message };
  // The same words would come again, and each time they are paid for.
  if (error instanceof RangeError)
    return {
      kind: "no-answer",
      message: `${name} sent an answer that is nested too deeply to be read; ask in other words.`,
    };
  if (!isApiError(error)) {
    const said = wordsIn(error);
    const known = recogniseFailure(said, name, now);
    if (known !== undefined) return { ...known, message: withoutAdvice(known.message) };
    return { kind: "network", message: `${name} sent an answer that can't be read (${quote(said)}).` };
  }
  const said = saidIn(error);
  const status = error.statusCode ?? 0;
  const words = quote(said) || `HTTP ${status}`;
  if (status === 402)
    return { kind: "auth", message: `${name} asks for payment: ${words}. Add credit, or set another key.` };
  if (status === 413)
    return { kind: "context", message: `${name} does not accept a request of this size: ${words}. Send less.` };
  // An error inside an answer with status 200 is told by its words alone.
  const kind = kindOfStatus(status);
  const worded = recogniseFailure(said, name, now);
  if (status === 429 && worded?.kind === "auth") return { kind: "auth", message: worded.message };
  const known =
    kind === undefined || kind === "unusable"
      ? (worded ?? (kind && serviceFailure(kind, said, name, now)))
      : serviceFailure(kind, said === "" ? `HTTP ${status}` : said, name, now);
  if (known === undefined) return { kind: "network", message: `${name} sent an answer that can't be read (${words}).` };
  if (known.kind === "auth") {
    const message =
      keyFrom === undefined
        ? `${name} was sent no key and asks for one: ${words}. Set ${provider.variables[0]}.`
        : `${name} refused the key in ${keyFrom}: ${words}. Set another in ${provider.variables[0]}.`;
    return { kind: "auth", message };
  }
  if (known.kind === "unusable")
    return {
      kind: "unusable",
      message: `${name} refused the request for ${model}: ${words}. Correct the model or the address.`,
    };
  // For an agent the service is somebody else; here it is the one that answered.
  if (known.kind === "network" && status >= 500)
    return { kind: "network", message: `${name} failed (HTTP ${status}): ${words}.` };
  const waitMs = retryAfter(error, now);
  if (known.kind !== "rate-limit") return known;
  const message = `${name} accepts no more requests for now: ${words}.`;
  if (waitMs === undefined) return { ...known, message };
  return { ...known, message, ...withoutUndefined({ reset_at: timeIn(now + waitMs) }) };
}

/** An error inside a stream comes as the service's own object. */
function wordsIn(error: unknown): string {
  if (error instanceof Error || typeof error !== "object" || error === null) return messageOf(error);
  const { code, message, error: inner } = error as Readonly<Record<"code" | "message" | "error", unknown>>;
  return typeof message === "string"
    ? `${typeof code === "string" ? `${code}: ` : ""}${message}`
    : inner === undefined
      ? JSON.stringify(error)
      : wordsIn(inner);
}

/** The advice of agents in general is to log in; here there is only a key. */
const withoutAdvice = (message: string): string => message.replace(accessAdvice, "");

/** The words of the service: its error's, else its body without its markup. */
function saidIn({ message, responseBody = "" }: ApiError): string {
  if (/^\s*</.test(responseBody)) return withoutMarkup(responseBody);
  try {
    const words = wordsIn(JSON.parse(responseBody));
    return words.includes(message) ? words : message;
  } catch {
    return message;
  }
}

/**
 * Milliseconds until the service may be asked again, as its answer says.
 * https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function retryAfter(error: unknown, now: number): number | undefined {
  if (!isApiError(error)) return undefined;
  const header = error.responseHeaders?.["retry-after"];
  if (header !== undefined) {
    const ms = /^\d+(?:\.\d+)?$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
    if (Number.isFinite(ms)) return Math.max(0, ms);
  }
  const reset = error.statusCode === 429 ? resetTimeIn(error.message, now) : undefined;
  return reset === undefined ? undefined : Math.max(0, reset - now);
}

/** Our own clock or network error, which the packages wrap. */
function noAnswerIn(error: unknown): NoAnswer | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if (at instanceof NoAnswer) return at;
  return undefined;
}
