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
import { NoAnswer, ConnectionRefused, removeMarkup } from "./fetch.js";
import { isLocalServer, notRunningText, serviceName, type Settings } from "../settings.js";

/** The error that the providers' packages throw if the service answers with an error. */
interface ApiError extends Error {
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
}

const isApiError = (error: unknown): error is ApiError => error instanceof Error && error.name === "AI_APICallError";

/** Whether a request failed because the local server does not run. The user must start it. */
export const isLocalServerDown = (error: unknown, { url }: Settings): boolean =>
  noAnswerIn(error) instanceof ConnectionRefused && isLocalServer(url);

/** The failure for an error of a request. Its message says what to do. */
export function failureOf(error: unknown, settings: Settings, now: number): Failure {
  const { provider, url, model, keySource } = settings;
  const name = serviceName({ provider, url });
  const noAnswer = noAnswerIn(error);
  if (isLocalServerDown(error, settings)) return { kind: "auth", message: notRunningText(settings) };
  if (noAnswer !== undefined)
    return { kind: noAnswer.isTemporary ? "network" : "no-answer", message: noAnswer.message };
  // "no-answer" is not tried again: the model would give the same answer, and each answer costs money.
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
  const answerText = serviceText(error);
  const status = error.statusCode ?? 0;
  const quotedText = quote(answerText) || `HTTP ${status}`;
  if (status === 402)
    return { kind: "auth", message: `${name} asks for payment: ${quotedText}. Add credit, or set another key.` };
  if (status === 413)
    return { kind: "context", message: `${name} does not accept a request of this size: ${quotedText}. Send less.` };
  // An error in an answer with status 200 is recognised by its text only.
  const kind = kindOfStatus(status);
  const failureFromText = recogniseFailure(answerText, name, now);
  if (status === 429 && failureFromText?.kind === "auth") return { kind: "auth", message: failureFromText.message };
  const serviceProblem =
    kind === undefined || kind === "unusable"
      ? (failureFromText ?? (kind && serviceFailure(kind, answerText, name, now)))
      : serviceFailure(kind, answerText === "" ? `HTTP ${status}` : answerText, name, now);
  if (serviceProblem === undefined)
    return { kind: "network", message: `${name} sent an answer that can't be read (${quotedText}).` };
  if (serviceProblem.kind === "auth") {
    const message =
      keySource === undefined
        ? `${name} needs a key, and none is set: ${quotedText}. Set ${provider.variables[0]}.`
        : `${name} refused the key in ${keySource}: ${quotedText}. Set another in ${provider.variables[0]}.`;
    return { kind: "auth", message };
  }
  if (serviceProblem.kind === "unusable")
    return {
      kind: "unusable",
      message: `${name} refused the request for ${model}: ${quotedText}. Correct the model or the address.`,
    };
  // The message of `serviceFailure` is for agents that can't reach their service; here the service has answered.
  if (serviceProblem.kind === "network" && status >= 500)
    return { kind: "network", message: `${name} failed (HTTP ${status}): ${quotedText}.` };
  const waitMs = retryDelayMs(error, now);
  if (serviceProblem.kind !== "rate-limit") return serviceProblem;
  const message = `${name} accepts no more requests for now: ${quotedText}.`;
  if (waitMs === undefined) return { ...serviceProblem, message };
  return { ...serviceProblem, message, ...withoutUndefined({ reset_at: isoTimeOf(now + waitMs) }) };
}

/** The text of an error. In a stream, an error is a JSON object of the service. */
function errorText(error: unknown): string {
  if (error instanceof Error || typeof error !== "object" || error === null) return messageOf(error);
  const { code, message, error: innerError } = error as Readonly<Record<"code" | "message" | "error", unknown>>;
  return typeof message === "string"
    ? `${typeof code === "string" ? `${code}: ` : ""}${message}`
    : innerError === undefined
      ? JSON.stringify(error)
      : errorText(innerError);
}

/** Removes the advice to log in, which is for agents: the assistant has only a key. */
const withoutAdvice = (message: string): string => message.replace(accessAdvice, "");

/** What the service answered: the text of its error, or the text of its HTML page. */
function serviceText({ message, responseBody = "" }: ApiError): string {
  if (/^\s*</.test(responseBody)) return removeMarkup(responseBody);
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
export function retryDelayMs(error: unknown, now: number): number | undefined {
  if (!isApiError(error)) return undefined;
  const header = error.responseHeaders?.["retry-after"];
  if (header !== undefined) {
    const ms = /^\d+(?:\.\d+)?$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
    if (Number.isFinite(ms)) return Math.max(0, ms);
  }
  const reset = error.statusCode === 429 ? resetTimeIn(error.message, now) : undefined;
  return reset === undefined ? undefined : Math.max(0, reset - now);
}

/** The NoAnswer of `modelFetch` in an error, because the packages wrap it. */
function noAnswerIn(error: unknown): NoAnswer | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1)
    if (cause instanceof NoAnswer) return cause;
  return undefined;
}
