import type { Failure } from "../loop/types.js";
import { resetTimeIn } from "./reset-time.js";
import { withoutUndefined } from "../lib/without-undefined.js";

/** The advice for a failed login, if nothing more is known about the agent. */
export const accessAdvice = " Log in or set its key; `research-ralph doctor` says how.";

/** Failures of the model service, not of the agent. */
export type ServiceFailure = "rate-limit" | "auth" | "network" | "unusable" | "context";

/**
 * The failure that an error text describes; undefined if unknown. The text is the error message of a CLI or the end of
 * its stderr. Never pass text of the model or the result of a tool: an article on rate limits is not a rate limit.
 * `loop/retry.ts` defines how the loop reacts to each kind.
 */
export function recogniseFailure(text: string, agent: string, now: number): Failure | undefined {
  const kind =
    failurePatterns.find(([, pattern]) => pattern.test(text))?.[0] ??
    (mentionsReset(text, now) ? "rate-limit" : undefined);
  return kind === undefined ? undefined : serviceFailure(kind, text, agent, now);
}

/** Rate limits have many names, but their messages name the time at which the limit resets. */
const mentionsReset = (text: string, now: number): boolean =>
  text
    .split("\n")
    .some(
      (line) =>
        /\b(?:limits?|usage|caps?|quota|allowance)\b/i.test(line) &&
        /\b(?:resets?|again|available|renews?)\b/i.test(line) &&
        resetTimeIn(line, now) !== undefined,
    );

/** A failure of this kind with its message. `text` is the error text of the CLI, which may say when a limit ends. */
export function serviceFailure(kind: ServiceFailure, text: string, agent: string, now: number): Failure {
  const quotedReason = quote(text) === "" ? "" : `: ${quote(text)}`;
  if (kind === "auth" && outOfCreditPattern.test(text))
    return {
      kind,
      message: `${agent}: the API rejected the request: out of credit${quotedReason}. Add credit, or set another key.`,
    };
  if (kind === "auth")
    return { kind, message: `${agent}: the model service refused access${quotedReason}.${accessAdvice}` };
  if (kind === "unusable" && isTooOld(text))
    return { kind, message: `${agent} does not know an option that research-ralph uses${quotedReason}. Update it.` };
  if (kind === "unusable")
    return {
      kind,
      message: `${agent}: the model service refused the request itself${quotedReason}. Trying again would not change that; choose another --model, or correct agents.${agent} in the configuration.`,
    };
  if (kind === "context") return { kind, message: `${agent}: the request was too long for the model${quotedReason}.` };
  if (kind === "network") return { kind, message: `${agent} got no answer from its model service${quotedReason}.` };
  const reset_at = isoTimeOf(resetTimeIn(text, now));
  return {
    kind,
    message: `${agent} has reached a limit of its model service${quotedReason}.`,
    ...withoutUndefined({ reset_at }),
  };
}

/**
 * Milliseconds since the epoch as an ISO 8601 time. Undefined if it is not a valid time: a service may say "resets at
 * 99:99".
 */
export function isoTimeOf(ms: number | undefined): string | undefined {
  const time = new Date(ms ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** The kind of failure for an HTTP status of the model service. */
export function kindOfStatus(status: number): ServiceFailure | undefined {
  if (status === 429 || status === 529) return "rate-limit";
  if (status === 401 || status === 403) return "auth";
  if (status === 400 || status === 404 || status === 422) return "unusable";
  return status === 408 || status >= 500 ? "network" : undefined;
}

const statusPattern = (codes: string): string => `(?:status|http|error|code|api)[^\\n]{0,24}\\b(?:${codes})\\b`;

/** Error texts of a CLI that is older than the flags that it gets. */
const tooOldPattern =
  /unknown (?:option|argument|feature|flag)|unexpected argument|unrecognized (?:option|argument)|needs an update|requires a newer version|out of date|please (?:update|upgrade)/i;

/** Whether an error text shows that the CLI is too old. */
export const isTooOld = (text: string): boolean => tooOldPattern.test(text);

/** Error texts for an account without credit, whatever the status is. Waiting does not help. */
const outOfCreditPattern = /insufficient_quota|quota exceeded\. check your plan|credit balance is too low/i;

/**
 * The order matters: a missing credit also has status 429, a 429 that mentions a token is a rate limit, and a 403
 * behind a proxy is not a network failure.
 */
const failurePatterns: readonly (readonly [ServiceFailure, RegExp])[] = [
  ["auth", outOfCreditPattern],
  [
    "rate-limit",
    new RegExp(
      `${statusPattern("429|529")}|too many requests|rate[ _-]?limit|(?:usage|session|weekly|spend\\w*) limit|hit your limit|quota exceeded|exceeded your \\w* ?quota|overloaded`,
      "i",
    ),
  ],
  [
    "auth",
    new RegExp(
      `${statusPattern("401|403")}|unauthori[sz]ed|authentication[ _]error|not logged in|please (?:run /?login|log ?in|sign in)|invalid (?:x-)?api[ -]key|(?:missing|no) api key|api key[^\\n]{0,20}(?:not found|missing|invalid)|codex login|oauth token (?:has )?expired`,
      "i",
    ),
  ],
  [
    "network",
    new RegExp(
      `ECONN\\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|socket hang up|connection (?:refused|reset|error|closed|failed)|stream disconnected|error sending request|network error|fetch failed|request timed out|getaddrinfo|dns error|${statusPattern("408|5\\d\\d")}|internal server error|high demand|at capacity|bad gateway|service unavailable|gateway timeout`,
      "i",
    ),
  ],
  [
    "context",
    /prompt is too long|context[_ ]length[_ ]exceeded|maximum context length|exceeds? the (?:model's )?context window/i,
  ],
  [
    "unusable",
    new RegExp(
      `${tooOldPattern.source}|${statusPattern("400|404|422")}|invalid_request_error|issue with the selected model|model[^\\n]{0,80}(?:not found|not exist|not supported|not available|unknown)|(?:unknown|invalid) model`,
      "i",
    ),
  ],
];

/** The last line that mentions an error, else the last line that is not blank, at most 300 characters long. */
export function quote(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const errorLine =
    lines.findLast((line) => /error|fail|denied|invalid|refused|cannot|can't|not /i.test(line)) ?? lines.at(-1) ?? "";
  const trimmedLine = errorLine.trim().replace(/(?<![.\s])[.\s]+$/, "");
  return trimmedLine.length > 300 ? `${trimmedLine.slice(0, 299)}…` : trimmedLine;
}
