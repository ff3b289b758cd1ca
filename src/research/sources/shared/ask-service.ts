import { decodeText } from "../../../text/documents/text/decode.js";
import { line, at } from "../../../engine/lib/json-fields.js";
import type { HttpFailure } from "../../../net/http-failure.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import type { Answer, Source, SourceContext } from "./source.js";
import type { Request } from "../../../net/http.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** An answer that holds no value. */
export type NoAnswer = Exclude<Answer<never>, { readonly status: "ok" }>;

type Asked = Pick<Source, "name" | "keyVariable" | "pageMeansUnknown">;

/**
 * Asks for a text. `unknown`: what a 404 of this request says; without it a 404 is an error like any other.
 *
 * A 429 has been dealt with below (net/polite-http.ts): its host rests for all processes, for the time that
 * Retry-After names or a guess that doubles (backoff.ts). What comes back here meanwhile is `rate_limited`, and the
 * search asks again later (search/retry-failed.ts).
 */
export async function askText(
  source: Asked,
  context: SourceContext,
  request: Request,
  unknown?: string,
): Promise<Answer<string>> {
  const answer = await context.http.get(request);
  if (answer.status !== "ok") return notAnswered(source, answer, unknown);
  return { status: "ok", value: decodeText(answer.bytes, answer.type) };
}

/** As `askText`, for JSON. */
export async function askJson(
  source: Asked,
  context: SourceContext,
  request: Request,
  unknown?: string,
): Promise<Answer<unknown>> {
  const answer = await askText(source, context, { accept: "application/json", ...request }, unknown);
  if (answer.status !== "ok") return answer;
  try {
    return { status: "ok", value: JSON.parse(answer.value) as unknown };
  } catch {
    return { status: "error", reason: `${source.name}'s answer is not valid JSON; try again later.`, transient: true };
  }
}

/**
 * What a failed request says of the query or the work: nothing, unless the service itself answered that it does not
 * know.
 */
export function notAnswered(
  { name, keyVariable, pageMeansUnknown }: Asked,
  failure: HttpFailure,
  unknown?: string,
): NoAnswer {
  const { code, reason, status, transient, unreached, retryAt, unsent } = failure;
  const said = explanation(failure.body);
  if (status === "not-found")
    // A host that does not exist has no code: it is a wrong address, and does not describe a paper.
    return unknown !== undefined &&
      (code === 404 || code === 410) &&
      !isWrongAddress(failure.body, said, pageMeansUnknown)
      ? { status: "empty", reason: unknown }
      : { status: "error", reason: `${name}: ${said ?? reason}` };
  // GitHub and others say so with 403.
  if (status === "blocked" && /rate limit|too many requests|quota/i.test(said ?? ""))
    return {
      status: "rate_limited",
      reason: `${name} asks to wait: ${said}`,
      transient: true,
      ...withoutUndefined({ retryAt }),
    };
  if (status === "blocked" && code !== undefined && [401, 402, 403].includes(code)) {
    const todo =
      keyVariable === undefined ? "try again later or leave it out of the sources" : `check the key in ${keyVariable}`;
    return { status: "blocked", reason: `${name} refuses access (HTTP ${code}); ${todo}.` };
  }
  return {
    status,
    reason: said === undefined ? `${name}: ${reason}` : `${name} answered with HTTP ${code}: ${said}`,
    ...withoutUndefined({ transient, unreached, retryAt, unsent }),
  };
}

/**
 * Whether a 404 comes from the gateway or the site around a service: then its address is wrong, and nothing is said of
 * the work.
 */
const isWrongAddress = (
  body: Uint8Array | undefined,
  said: string | undefined,
  pageMeansUnknown: boolean | undefined,
): boolean =>
  /missing authentication token|no route matched|no such route/i.test(said ?? "") ||
  (pageMeansUnknown !== true &&
    body !== undefined &&
    /<html|<!doctype html|^\s*cannot get \//i.test(decodeText(body.subarray(0, 500))));

/**
 * An answer that is not of the form that is asked for. Some services send what went wrong under HTTP 200. `lack`:
 * "contains no list of works".
 */
export function unlikeAnswer({ name }: Pick<Source, "name">, json: unknown, lack: string): NoAnswer {
  const said = saidIn(json);
  if (said !== undefined && /rate.?limit|too many requests|quota/i.test(said))
    return { status: "rate_limited", reason: `${name} asks to wait: ${said}`, transient: true };
  const because = said === undefined ? "" : ` (${said.replace(/\.$/, "")})`;
  return { status: "error", reason: `${name}'s answer ${lack}${because}; try again later.`, transient: true };
}

/**
 * What a service wrote about its own failure, as the end of a sentence; undefined where it wrote nothing for people.
 */
function explanation(body: Uint8Array | undefined): string | undefined {
  if (body === undefined || body.length === 0) return undefined;
  try {
    return saidIn(JSON.parse(decodeText(body)));
  } catch {
    return undefined;
  }
}

function saidIn(json: unknown): string | undefined {
  const said = [
    at(json, "error"),
    at(json, "message"),
    at(json, "errMsg"),
    at(json, "detail"),
    at(json, "message", 0, "message"),
    at(json, "error", "message"),
  ];
  const text = said
    .map((each) => (typeof each === "string" ? line(each) : undefined))
    .find((each) => each !== undefined);
  return text === undefined ? undefined : `${text.slice(0, 200).replace(/(?<![.!\s])[.!\s]+$/, "")}.`;
}

/** One page of a search. */
export interface Page<Cursor> {
  readonly records: readonly PaperRecord[];
  readonly total?: number;
  /** Where the next page begins; undefined on the last. */
  readonly next?: Cursor;
}

/**
 * A page of what a service lists. Where nothing of it can be read, as after a change of its format, what it lists is
 * its count, so that it is not taken for a service that has nothing.
 */
export function pageOf<Cursor>(
  items: readonly unknown[],
  read: (item: unknown) => PaperRecord | undefined,
  { total, next }: { readonly total: number | undefined; readonly next: Cursor | undefined },
): Answer<Page<Cursor>> {
  const records = items.map((item) => read(item)).filter((record) => record !== undefined);
  const least = records.length === 0 && items.length > 0 ? items.length : undefined;
  return { status: "ok", value: { records, ...withoutUndefined({ total: total ?? least, next }) } };
}

/** No list that anyone reads has more pages; a service that goes on giving new cursors would else be asked forever. */
const maxPages = 200;

/**
 * Asks for page after page until there are `most` records or no more pages. A failure after the first page keeps what
 * was had and says what is missing.
 */
export async function gather<Cursor>(
  most: number,
  first: Cursor,
  ask: (cursor: Cursor, had: number) => Promise<Answer<Page<Cursor>>>,
  nothing: string,
): Promise<Answer<readonly PaperRecord[]>> {
  const records: PaperRecord[] = [];
  const seen = new Set<unknown>();
  let cursor: Cursor | undefined = first;
  let total: number | undefined;
  let incomplete: string | undefined;
  let emptyBecause = nothing;
  for (
    let pages = 0;
    cursor !== undefined && !seen.has(cursor) && pages < maxPages && records.length < most;
    pages += 1
  ) {
    seen.add(cursor);
    const answer: Answer<Page<Cursor>> = await ask(cursor, records.length);
    if (answer.status === "ok") {
      records.push(...answer.value.records);
      total ??= answer.value.total;
      incomplete ??= answer.incomplete;
      cursor = answer.value.next;
      continue;
    }
    if (answer.status === "empty") {
      emptyBecause = answer.reason;
      break;
    }
    if (records.length === 0) return answer;
    incomplete = answer.reason;
    break;
  }
  // Counted, and none of them to be read: that is not proof that there is nothing.
  if (records.length === 0 && most > 0 && (total ?? 0) > 0)
    return {
      status: "error",
      reason:
        incomplete ??
        `The source counts ${total} ${total === 1 ? "result" : "results"}, and none that it sent could be read.`,
    };
  if (records.length === 0) return { status: "empty", reason: emptyBecause };
  return { status: "ok", value: records.slice(0, Math.max(0, most)), ...withoutUndefined({ total, incomplete }) };
}
