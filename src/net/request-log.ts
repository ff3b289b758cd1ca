import { valueAt, jsonIn } from "../engine/lib/json-fields.js";
import type { QueryLine } from "../engine/generated/query.js";
import { longestMatch, type Service } from "./host-rules.js";
import { hashOf } from "./http-cache.js";
import type { HttpFailure } from "./http-failure.js";
import type { HttpDocument, Request } from "./http.js";
import { publicAddress } from "./credentials.js";

/**
 * The key of a request in the cache and in the log. Requests that may get different answers have different keys.
 * Secrets are not part of the key.
 */
export const keyOf = ({ url, accept, json }: Pick<Request, "url" | "accept" | "json">): string =>
  keyOfLine({ url: publicAddress(url), accept, ...(json === undefined ? {} : { body_sha256: bodyHash(json) }) });

/** The key of the request that a line of the log describes. */
export const keyOfLine = ({ url, accept, body_sha256 }: Pick<QueryLine, "url" | "accept" | "body_sha256">): string =>
  hashOf(JSON.stringify([body_sha256 === undefined ? "GET" : "POST", url, accept ?? "", body_sha256 ?? ""]));

const bodyHash = (json: unknown) => hashOf(JSON.stringify(json));

/** The log line for a request and its answer. */
export function lineOf(
  { url, accept, json }: Request,
  answer: HttpDocument | HttpFailure,
  from: QueryLine["from"],
  now: number,
  services: readonly Service[],
): QueryLine {
  const told = publicAddress(url);
  const asked = {
    at: new Date(now).toISOString(),
    source: sourceOf(told, services),
    method: json === undefined ? ("GET" as const) : ("POST" as const),
    url: told,
    accept,
    ...(json === undefined ? {} : { body_sha256: bodyHash(json) }),
    status: answer.status,
    from,
  };
  if (answer.status === "ok") {
    const results = countResults(answer.bytes, answer.type);
    const counted = results === undefined ? {} : { results };
    return {
      ...asked,
      ...counted,
      bytes: answer.bytes.length,
      sha256: hashOf(answer.bytes),
      type: answer.type,
      answer_url: answer.url,
    };
  }
  const { reason, code, body, transient } = answer;
  return {
    ...asked,
    reason,
    code,
    transient,
    ...(body === undefined ? {} : { bytes: body.length, sha256: hashOf(body) }),
  };
}

/** The name of the service of an address; for other addresses the host. */
export function sourceOf(url: string, services: readonly Service[]): string {
  const service = longestMatch(url, services, ({ endpoint }) => endpoint);
  return service?.name ?? (URL.canParse(url) ? new URL(url).host : "");
}

/** The paths of the list of results in the answers of services, from the outer field to the inner one. */
const lists = [
  ["results"],
  ["data"],
  ["items"],
  ["message", "items"],
  ["resultList", "result"],
  ["collection"],
  ["web", "results"],
  ["hits"],
];

/** The number of results in an answer; undefined if the answer has no known list. */
function countResults(bytes: Uint8Array, type: string): number | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  if (/\bxml\b/.test(type) && !/html/.test(type)) {
    const isFeed = /<(?:feed|rss|rdf:RDF)[\s>]/.test(text.slice(0, 2000));
    return isFeed ? (text.match(/<(?:entry|item)[\s>]/g) ?? []).length : undefined;
  }
  if (!/json/.test(type)) return undefined;
  const value = jsonIn(text);
  return [value, ...lists.map((path) => valueAt(value, ...path))].find(Array.isArray)?.length;
}
