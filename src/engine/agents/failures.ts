import type { Failure } from "../loop/types.js";
import { resetIn } from "./reset-time.js";
import { withoutUndefined } from "../lib/without-undefined.js";

/** What a failure of access says where nothing more is known of the agent. */
export const accessAdvice = " Log in or set its key; `research-ralph doctor` says how.";

/** The failures that are the model service's and not the agent's. */
export type ServiceFailure = "rate-limit" | "auth" | "network" | "unusable" | "context";

/**
 * What an error text means: the message of a CLI's own error event, or the tail of its stderr. Never to be asked about
 * the model's prose or a tool's result: an article on rate limits is not a rate limit. Undefined for anything unknown.
 * What the loop does about each kind stands in `loop/retry.ts`.
 */
export function recogniseFailure(text: string, agent: string, now: number): Failure | undefined {
  const kind =
    kinds.find(([, pattern]) => pattern.test(text))?.[0] ?? (mentionsReset(text, now) ? "rate-limit" : undefined);
  return kind === undefined ? undefined : serviceFailure(kind, text, agent, now);
}

/** Limits have many names; what they have in common is a time from which there is more. */
const mentionsReset = (text: string, now: number): boolean =>
  text
    .split("\n")
    .some(
      (line) =>
        /\b(?:limits?|usage|caps?|quota|allowance)\b/i.test(line) &&
        /\b(?:resets?|again|available|renews?)\b/i.test(line) &&
        resetIn(line, now) !== undefined,
    );

/** A failure of this kind, in words; `text` is what the CLI said about it, and may say when a limit ends. */
export function serviceFailure(kind: ServiceFailure, text: string, agent: string, now: number): Failure {
  const quotedReason = quote(text) === "" ? "" : `: ${quote(text)}`;
  if (kind === "auth" && outOfCredit.test(text))
    return {
      kind,
      message: `${agent}: the API rejected the request: out of credit${quotedReason}. Add credit, or set another key.`,
    };
  if (kind === "auth")
    return { kind, message: `${agent}: the model service refused access${quotedReason}.${accessAdvice}` };
  if (kind === "unusable" && isTooOld(text))
    return { kind, message: `${agent} does not know what research-ralph asks of it${quotedReason}. Update it.` };
  if (kind === "unusable")
    return {
      kind,
      message: `${agent}: the model service refused the request itself${quotedReason}. Trying again would not change that; choose another --model, or correct agents.${agent} in the configuration.`,
    };
  if (kind === "context") return { kind, message: `${agent}: the request was too long for the model${quotedReason}.` };
  if (kind === "network") return { kind, message: `${agent} got no answer from its model service${quotedReason}.` };
  const reset_at = timeIn(resetIn(text, now));
  return {
    kind,
    message: `${agent} has reached a limit of its model service${quotedReason}.`,
    ...withoutUndefined({ reset_at }),
  };
}

/** Milliseconds since the epoch in ISO 8601; undefined for what is not a time: a service may say "resets at 99:99". */
export function timeIn(ms: number | undefined): string | undefined {
  const time = new Date(ms ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** What an HTTP status of the model service means, told as a number by the CLI. */
export function kindOfStatus(status: number): ServiceFailure | undefined {
  if (status === 429 || status === 529) return "rate-limit";
  if (status === 401 || status === 403) return "auth";
  if (status === 400 || status === 404 || status === 422) return "unusable";
  return status === 408 || status >= 500 ? "network" : undefined;
}

const status = (codes: string): string => `(?:status|http|error|code|api)[^\\n]{0,24}\\b(?:${codes})\\b`;

/** What a CLI says that is older than the flags it is given. */
const tooOldPattern =
  /unknown (?:option|argument|feature|flag)|unexpected argument|unrecognized (?:option|argument)|needs an update|requires a newer version|out of date|please (?:update|upgrade)/i;

/** Whether a CLI says of itself that it is too old. */
export const isTooOld = (text: string): boolean => tooOldPattern.test(text);

/** No waiting ends it: the money is used up, whatever the status is. */
const outOfCredit = /insufficient_quota|quota exceeded\. check your plan|credit balance is too low/i;

/**
 * In this order: money that is used up also comes as a 429, a 429 that mentions a token is a limit, and a 403 behind a
 * proxy is not a network failure.
 */
const kinds: readonly (readonly [ServiceFailure, RegExp])[] = [
  ["auth", outOfCredit],
  [
    "rate-limit",
    new RegExp(
      `${status("429|529")}|too many requests|rate[ _-]?limit|(?:usage|session|weekly|spend\\w*) limit|hit your limit|quota exceeded|exceeded your \\w* ?quota|overloaded`,
      "i",
    ),
  ],
  [
    "auth",
    new RegExp(
      `${status("401|403")}|unauthori[sz]ed|authentication[ _]error|not logged in|please (?:run /?login|log ?in|sign in)|invalid (?:x-)?api[ -]key|(?:missing|no) api key|api key[^\\n]{0,20}(?:not found|missing|invalid)|codex login|oauth token (?:has )?expired`,
      "i",
    ),
  ],
  [
    "network",
    new RegExp(
      `ECONN\\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|socket hang up|connection (?:refused|reset|error|closed|failed)|stream disconnected|error sending request|network error|fetch failed|request timed out|getaddrinfo|dns error|${status("408|5\\d\\d")}|internal server error|high demand|at capacity|bad gateway|service unavailable|gateway timeout`,
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
      `${tooOldPattern.source}|${status("400|404|422")}|invalid_request_error|issue with the selected model|model[^\\n]{0,80}(?:not found|not exist|not supported|not available|unknown)|(?:unknown|invalid) model`,
      "i",
    ),
  ],
];

/** The last line that tells of an error, else the last that says anything, short enough for one sentence. */
export function quote(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const errorLine =
    lines.findLast((line) => /error|fail|denied|invalid|refused|cannot|can't|not /i.test(line)) ?? lines.at(-1) ?? "";
  const trimmedLine = errorLine.trim().replace(/(?<![.\s])[.\s]+$/, "");
  return trimmedLine.length > 300 ? `${trimmedLine.slice(0, 299)}…` : trimmedLine;
}
