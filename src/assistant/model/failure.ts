import {
  accessAdvice,
  kindOfStatus,
  quote,
  recogniseFailure,
  serviceFailure,
  isoTimeOf,
} from "../../engine/agents/failures.js";
import { resetTimeIn } from "../../engine/agents/reset-time.js";
import { messageOf } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Failure } from "../../engine/loop/types.js";
import { NoAnswer, Refused, withoutMarkup } from "./fetch.js";
import { isLocalServer, notRunning, serviceName, type Settings } from "../settings.js";

/** The error of the providers' packages for an answer that is an error. */
interface ApiError extends Error {
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
}

const isApiError = (error: unknown): error is ApiError => error instanceof Error && error.name === "AI_APICallError";

/** Whether a request failed because the local server does not run: a person must start it. */
export const isServerDown = (error: unknown, { url }: Settings): boolean =>
  findNoAnswer(error) instanceof Refused && isLocalServer(url);

/** The failure for a failed request, as a sentence that says what to do. */
export function failureOf(error: unknown, settings: Settings, now: number): Failure {
  const { provider, url, model, keyFrom } = settings;
  const name = serviceName({ provider, url });
  const noAnswer = findNoAnswer(error);
  if (isServerDown(error, settings)) return { kind: "auth", message: notRunning(settings) };
  if (noAnswer !== undefined) return { kind: noAnswer.mayPass ? "network" : "no-answer", message: noAnswer.message };
  // The model would give the same answer again, and each answer costs money.
  if (error instanceof RangeError)
    return {
      kind: "no-answer",
      message: `${name} sent an answer that is nested too deeply to be read; ask in other words.`,
    };
  if (!isApiError(error)) {
    const serviceMessage = errorText(error);
    const failure = recogniseFailure(serviceMessage, name, now);
    if (failure !== undefined) return { ...failure, message: withoutAdvice(failure.message) };
    return { kind: "network", message: `${name} sent an answer that can't be read (${quote(serviceMessage)}).` };
  }
  const said = serviceText(error);
  const status = error.statusCode ?? 0;
  const quotedText = quote(said) || `HTTP ${status}`;
  if (status === 402)
    return { kind: "auth", message: `${name} asks for payment: ${quotedText}. Add credit, or set another key.` };
  if (status === 413)
    return { kind: "context", message: `${name} does not accept a request of this size: ${quotedText}. Send less.` };
  // An error in an answer with status 200 is recognised by its text only.
  const kind = kindOfStatus(status);
  const failureFromText = recogniseFailure(said, name, now);
  if (status === 429 && failureFromText?.kind === "auth") return { kind: "auth", message: failureFromText.message };
  const known =
    kind === undefined || kind === "unusable"
      ? (failureFromText ?? (kind && serviceFailure(kind, said, name, now)))
      : serviceFailure(kind, said === "" ? `HTTP ${status}` : said, name, now);
  if (known === undefined)
    return { kind: "network", message: `${name} sent an answer that can't be read (${quotedText}).` };
  if (known.kind === "auth") {
    const message =
      keyFrom === undefined
        ? `${name} was sent no key and asks for one: ${quotedText}. Set ${provider.variables[0]}.`
        : `${name} refused the key in ${keyFrom}: ${quotedText}. Set another in ${provider.variables[0]}.`;
    return { kind: "auth", message };
  }
  if (known.kind === "unusable")
    return {
      kind: "unusable",
      message: `${name} refused the request for ${model}: ${quotedText}. Correct the model or the address.`,
    };
  // The usual message would speak of the service of an agent; here the service itself has answered.
  if (known.kind === "network" && status >= 500)
    return { kind: "network", message: `${name} failed (HTTP ${status}): ${quotedText}.` };
  const waitMs = retryAfter(error, now);
  if (known.kind !== "rate-limit") return known;
  const message = `${name} accepts no more requests for now: ${quotedText}.`;
  if (waitMs === undefined) return { ...known, message };
  return { ...known, message, ...withoutUndefined({ reset_at: isoTimeOf(now + waitMs) }) };
}

/** The text of an error. An error in a stream is an object of the service. */
function errorText(error: unknown): string {
  if (error instanceof Error || typeof error !== "object" || error === null) return messageOf(error);
  const { code, message, error: innerError } = error as Readonly<Record<"code" | "message" | "error", unknown>>;
  return typeof message === "string"
    ? `${typeof code === "string" ? `${code}: ` : ""}${message}`
    : innerError === undefined
      ? JSON.stringify(error)
      : errorText(innerError);
}

/** The message without the advice for agents to log in: here there is only a key. */
const withoutAdvice = (message: string): string => message.replace(accessAdvice, "");

/** The text of the service: the text of its error, or else its body without markup. */
function serviceText({ message, responseBody = "" }: ApiError): string {
  if (/^\s*</.test(responseBody)) return withoutMarkup(responseBody);
  try {
    const words = errorText(JSON.parse(responseBody));
    return words.includes(message) ? words : message;
  } catch {
    return message;
  }
}

/**
 * Milliseconds until the service accepts requests again, according to its answer.
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

/** Our own timeout or network error, which the packages wrap. */
function findNoAnswer(error: unknown): NoAnswer | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1)
    if (cause instanceof NoAnswer) return cause;
  return undefined;
}
