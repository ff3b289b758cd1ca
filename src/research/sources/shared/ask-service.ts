import { decodeText } from "../../../text/documents/text/decode.js";
import { lineFrom, valueAt } from "../../../engine/lib/json-fields.js";
import type { HttpFailure } from "../../../net/http-failure.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import type { Answer, Source, SourceContext } from "./source.js";
import type { Request } from "../../../net/http.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** An answer that holds no value. */
export type NoAnswer = Exclude<Answer<never>, { readonly status: "ok" }>;

type AskedSource = Pick<Source, "name" | "keyVariable" | "pageMeansUnknown">;

/**
 * Requests a text. `unknownReason`: the sentence for a work that the service does not know, if a 404 means that.
 * Without it, a 404 is an error. net/polite-http.ts handles a 429: no process sends requests to that host for the time
 * in Retry-After, or for a guess that doubles (backoff.ts). Until then the status is `rate_limited`, and the search
 * repeats the request later (search/retry-failed.ts).
 */
export async function askText(
  source: AskedSource,
  context: SourceContext,
  request: Request,
  unknownReason?: string,
): Promise<Answer<string>> {
  const answer = await context.http.get(request);
  if (answer.status !== "ok") return failureAnswer(source, answer, unknownReason);
  return { status: "ok", value: decodeText(answer.bytes, answer.type) };
}

/** Like `askText`, for JSON. */
export async function askJson(
  source: AskedSource,
  context: SourceContext,
  request: Request,
  unknownReason?: string,
): Promise<Answer<unknown>> {
  const answer = await askText(source, context, { accept: "application/json", ...request }, unknownReason);
  if (answer.status !== "ok") return answer;
  try {
    return { status: "ok", value: JSON.parse(answer.value) as unknown };
  } catch {
    return { status: "error", reason: `${source.name}'s answer is not valid JSON; try again later.`, transient: true };
  }
}

/**
 * Turns a failed request into an answer. It is `empty` only if the service itself answered that it does not know the
 * work.
 */
export function failureAnswer(
  { name, keyVariable, pageMeansUnknown }: AskedSource,
  failure: HttpFailure,
  unknownReason?: string,
): NoAnswer {
  const { code, reason, status, transient, unreached, retryAt, unsent } = failure;
  const explanation = messageInBody(failure.body);
  if (status === "not-found")
    // A failure without an HTTP code means a host that does not exist: a wrong address, which says nothing about the
    // paper.
    return unknownReason !== undefined &&
      (code === 404 || code === 410) &&
      !isWrongAddress(failure.body, explanation, pageMeansUnknown)
      ? { status: "empty", reason: unknownReason }
      : { status: "error", reason: `${name}: ${explanation ?? reason}` };
  // GitHub and others report a rate limit with HTTP 403.
  if (status === "blocked" && /rate limit|too many requests|quota/i.test(explanation ?? ""))
    return {
      status: "rate_limited",
      reason: `${name} asks to wait: ${explanation}`,
      transient: true,
      ...withoutUndefined({ retryAt }),
    };
  if (status === "blocked" && code !== undefined && [401, 402, 403].includes(code)) {
    const advice =
      keyVariable === undefined ? "try again later or leave it out of the sources" : `check the key in ${keyVariable}`;
    return { status: "blocked", reason: `${name} refuses access (HTTP ${code}); ${advice}.` };
  }
  return {
    status,
    reason: explanation === undefined ? `${name}: ${reason}` : `${name} answered with HTTP ${code}: ${explanation}`,
    ...withoutUndefined({ transient, unreached, retryAt, unsent }),
  };
}

/**
 * Whether a 404 comes from the gateway or the site around a service. Then the service's address is wrong, and the work
 * may exist.
 */
const isWrongAddress = (
  body: Uint8Array | undefined,
  explanation: string | undefined,
  pageMeansUnknown: boolean | undefined,
): boolean =>
  /missing authentication token|no route matched|no such route/i.test(explanation ?? "") ||
  (pageMeansUnknown !== true &&
    body !== undefined &&
    /<html|<!doctype html|^\s*cannot get \//i.test(decodeText(body.subarray(0, 500))));

/**
 * The failure for an answer in an unexpected form. Some services send an error message with HTTP 200. `problem`: the
 * end of the sentence "the answer …", such as "contains no list of works".
 */
export function unexpectedAnswer({ name }: Pick<Source, "name">, json: unknown, problem: string): NoAnswer {
  const message = messageIn(json);
  if (message !== undefined && /rate.?limit|too many requests|quota/i.test(message))
    return { status: "rate_limited", reason: `${name} asks to wait: ${message}`, transient: true };
  const cause = message === undefined ? "" : ` (${message.replace(/\.$/, "")})`;
  return { status: "error", reason: `${name}'s answer ${problem}${cause}; try again later.`, transient: true };
}

/**
 * The message in the body of a failed request, as the end of a sentence; undefined if the body has no message for
 * people.
 */
function messageInBody(body: Uint8Array | undefined): string | undefined {
  if (body === undefined || body.length === 0) return undefined;
  try {
    return messageIn(JSON.parse(decodeText(body)));
  } catch {
    return undefined;
  }
}

function messageIn(json: unknown): string | undefined {
  const candidates = [
    valueAt(json, "error"),
    valueAt(json, "message"),
    valueAt(json, "errMsg"),
    valueAt(json, "detail"),
    valueAt(json, "message", 0, "message"),
    valueAt(json, "error", "message"),
  ];
  const text = candidates
    .map((value) => (typeof value === "string" ? lineFrom(value) : undefined))
    .find((text) => text !== undefined);
  return text === undefined ? undefined : `${text.slice(0, 200).replace(/(?<![.!\s])[.!\s]+$/, "")}.`;
}

/** One page of a search. */
export interface Page<Cursor> {
  readonly records: readonly PaperRecord[];
  readonly total?: number;
  /** Cursor of the next page; undefined on the last page. */
  readonly next?: Cursor;
}

/**
 * A page of a list. If no item can be read, for example after a change of the format, the number of items becomes the
 * total, so that the list does not seem to be empty.
 */
export function pageOf<Cursor>(
  items: readonly unknown[],
  read: (item: unknown) => PaperRecord | undefined,
  { total, next }: { readonly total: number | undefined; readonly next: Cursor | undefined },
): Answer<Page<Cursor>> {
  const records = items.map((item) => read(item)).filter((record) => record !== undefined);
  const unreadableCount = records.length === 0 && items.length > 0 ? items.length : undefined;
  return { status: "ok", value: { records, ...withoutUndefined({ total: total ?? unreadableCount, next }) } };
}

/**
 * Maximum number of pages of a list. Without this bound, requests to a service that always returns a new cursor would
 * never end.
 */
const maxPages = 200;

/**
 * Requests pages until there are `maxRecords` records or no more pages. After a failure on a later page, the answer
 * contains the records of the earlier pages and says that it is incomplete.
 */
export async function collectPages<Cursor>(
  maxRecords: number,
  firstCursor: Cursor,
  ask: (cursor: Cursor, recordCount: number) => Promise<Answer<Page<Cursor>>>,
  emptyReason: string,
): Promise<Answer<readonly PaperRecord[]>> {
  const records: PaperRecord[] = [];
  const usedCursors = new Set<unknown>();
  let cursor: Cursor | undefined = firstCursor;
  let total: number | undefined;
  let incomplete: string | undefined;
  let reason = emptyReason;
  for (
    let pages = 0;
    cursor !== undefined && !usedCursors.has(cursor) && pages < maxPages && records.length < maxRecords;
    pages += 1
  ) {
    usedCursors.add(cursor);
    const answer: Answer<Page<Cursor>> = await ask(cursor, records.length);
    if (answer.status === "ok") {
      records.push(...answer.value.records);
      total ??= answer.value.total;
      incomplete ??= answer.incomplete;
      cursor = answer.value.next;
      continue;
    }
    if (answer.status === "empty") {
      reason = answer.reason;
      break;
    }
    if (records.length === 0) return answer;
    incomplete = answer.reason;
    break;
  }
  // The service counts results, but none could be read. That does not prove that there are no results.
  if (records.length === 0 && maxRecords > 0 && (total ?? 0) > 0)
    return {
      status: "error",
      reason:
        incomplete ??
        `The source counts ${total} ${total === 1 ? "result" : "results"}, and none that it sent could be read.`,
    };
  if (records.length === 0) return { status: "empty", reason: reason };
  return { status: "ok", value: records.slice(0, Math.max(0, maxRecords)), ...withoutUndefined({ total, incomplete }) };
}
