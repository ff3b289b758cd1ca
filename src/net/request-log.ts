import { valueAt, jsonIn } from "../engine/lib/json-fields.js";
import type { QueryLine } from "../engine/generated/query.js";
import { serviceAt, type Service } from "./host-rules.js";
import { asBuffer, hashOf } from "./http-cache.js";
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
  const loggedUrl = publicAddress(url);
  const requestFields = {
    at: new Date(now).toISOString(),
    source: sourceOf(loggedUrl, services),
    method: json === undefined ? ("GET" as const) : ("POST" as const),
    url: loggedUrl,
    accept,
    ...(json === undefined ? {} : { body_sha256: bodyHash(json) }),
    status: answer.status,
    from,
  };
  if (answer.status === "ok") {
    const results = countResults(answer.bytes, answer.type);
    return {
      ...requestFields,
      ...(results === undefined ? {} : { results }),
      bytes: answer.bytes.length,
      sha256: hashOf(answer.bytes),
      type: answer.type,
      answer_url: answer.url,
    };
  }
  const { reason, code, body, transient } = answer;
  return {
    ...requestFields,
    reason,
    code,
    transient,
    ...(body === undefined ? {} : { bytes: body.length, sha256: hashOf(body) }),
  };
}

/** The name of the service that an address belongs to; the host if it belongs to no service. */
function sourceOf(url: string, services: readonly Service[]): string {
  return serviceAt(url, services)?.name ?? (URL.canParse(url) ? new URL(url).host : "");
}

/** The places of the result list in the answers of services. Each path names its fields, the outer field first. */
const listPaths = [
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
  const text = asBuffer(bytes).toString("utf8");
  if (/\bxml\b/.test(type) && !/html/.test(type)) {
    const isFeed = /<(?:feed|rss|rdf:RDF)[\s>]/.test(text.slice(0, 2000));
    return isFeed ? (text.match(/<(?:entry|item)[\s>]/g) ?? []).length : undefined;
  }
  if (!/json/.test(type)) return undefined;
  const value = jsonIn(text);
  return [value, ...listPaths.map((path) => valueAt(value, ...path))].find(Array.isArray)?.length;
}
