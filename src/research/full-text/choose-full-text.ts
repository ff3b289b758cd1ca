import { identifiersOf } from "../papers/identifiers.js";
import type { Http, HttpDocument } from "../../net/http.js";
import type { HttpFailure } from "../../net/http-failure.js";
import { isDocumentOf } from "../papers/authors.js";
import type { NamedPaper, PaperRecord } from "../papers/paper-record.js";
import { maxPdfBytes } from "../../text/documents/pdf/read-pdf.js";
import { shadowLibraryRefusal } from "./shadow-libraries.js";
import { readUntrusted } from "./reader-process.js";
import type { Answer, ContextFor, LookupService } from "../sources/shared/source.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { endpointsWith, type Location, fullTextRoutes } from "./full-text-routes.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly http: Http;
  /** Gives the addresses of the sites with texts. */
  readonly contextFor: ContextFor;
  /** Services that know free copies and other identifiers of papers that are not on arXiv. */
  readonly copies: readonly LookupService[];
}

/** A route that gave no full text, with the reason in one sentence. */
export interface FailedRoute {
  readonly way: string;
  readonly reason: string;
}

export type ReadFailure = {
  /**
   * `not-found`: the paper's text does not exist there. `unreadable`: the document exists but has no text. The other
   * values say nothing about the paper.
   */
  readonly status: "unreadable" | "blocked" | "rate_limited" | "not-found" | "error";
  /** One sentence: what went wrong and what to do. */
  readonly reason: string;
  /** Set if the text may be available some minutes or hours later, so that it is too early to use only the abstract. */
  readonly transient?: true;
  /** Every route that was tried, in order. */
  readonly tried?: readonly FailedRoute[];
};

export type FetchResult = { readonly status: "ok"; readonly text: DocumentText } | ReadFailure;

/**
 * Fetches the best text of a paper: a full text, else a truncated one, else a landing page, else the reason for the
 * failure.
 */
export async function fetchPaper(paper: NamedPaper, options: FetchOptions): Promise<FetchResult> {
  const failures: ReadFailure[] = [];
  const tried: FailedRoute[] = [];
  const texts: DocumentText[] = [];
  const triedUrls = new Set<string>();
  /** Hosts that ask to wait or do not answer. They get no more requests for this paper. */
  const busyHosts = new Set<string>();
  const lookups = {
    endpointOf: endpointsWith(options.contextFor),
    records: once(() => recordsOf(paper, options.copies)),
  };
  const recordFailure = (way: string, failure: ReadFailure) => {
    failures.push(failure);
    tried.push({ way, reason: failure.reason });
  };

  for (const { name, locations: find } of fullTextRoutes) {
    if (options.signal.aborted) return interrupted;
    const locations = await find(paper, lookups);
    if ("status" in locations) {
      recordFailure(name, {
        status: locations.status === "empty" ? "not-found" : locations.status,
        reason: locations.reason,
        ...withoutUndefined({ transient: locations.transient }),
      });
      continue;
    }
    for (const location of locations) {
      if (triedUrls.has(location.url) || busyHosts.has(hostOf(location.url))) continue;
      triedUrls.add(location.url);
      for (const result of await readLocation(location, paper, { ...options, busyHosts })) {
        if (result.status === "ok" && result.text.depth === "full")
          return { status: "ok", text: withOrigin(result.text, name, location, tried) };
        if (result.status !== "ok") recordFailure(name, result);
        else {
          tried.push({ way: name, reason: missingPart(result.text) });
          texts.push(withOrigin(result.text, name, location, tried));
        }
      }
      if (options.signal.aborted) return interrupted;
    }
  }
  const text = texts.find(({ depth }) => depth === "partial") ?? texts[0];
  const bestFailure = mostHopefulFailure(failures);
  // If the paper's host is only busy, a landing page must not replace the text: the paper would be judged by its
  // abstract, and never again.
  if (text !== undefined && (text.depth === "partial" || bestFailure?.transient !== true))
    return { status: "ok", text };
  if (bestFailure !== undefined) return { ...bestFailure, tried };
  return { status: "not-found", reason: "It has no address to read it from." };
}

const interrupted: ReadFailure = { status: "error", reason: "Fetching was interrupted.", transient: true };

const hostOf = (address: string) => (URL.canParse(address) ? new URL(address).host : address);

const missingPart = ({ depth }: DocumentText) =>
  depth === "partial" ? "The text is truncated." : "The page describes the paper and does not contain it.";

const withOrigin = (
  text: DocumentText,
  way: string,
  location: Location,
  tried: readonly FailedRoute[],
): DocumentText => ({
  ...text,
  origin: { way, url: location.url, ...(tried.length === 0 ? {} : { tried: [...tried] }) },
});

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let promise: Promise<Value> | undefined;
  return () => (promise ??= make());
}

/** The records of all copy services. `empty` only if every service answered and none knows a copy. */
async function recordsOf(
  paper: NamedPaper,
  services: readonly LookupService[],
): Promise<Answer<readonly PaperRecord[]>> {
  const answers = await Promise.all(services.map(async ({ find }) => await find([identifiersOf(paper)])));
  const records = answers.flatMap((answer) => (answer.status === "ok" ? answer.value : []));
  if (records.some(({ copies, identifiers }) => (copies ?? []).length > 0 || identifiers.pmcid !== undefined))
    return { status: "ok", value: records };
  const unanswered = answers.filter((answer) => answer.status !== "ok" && answer.status !== "empty");
  return (
    unanswered.find((answer) => "transient" in answer) ??
    unanswered[0] ?? { status: "empty", reason: "No service knows a free copy." }
  );
}

/** Of several failures, the one that is most worth another attempt. */
function mostHopefulFailure(failures: readonly ReadFailure[]): ReadFailure | undefined {
  const order: ReadFailure["status"][] = ["rate_limited", "error", "blocked", "unreadable", "not-found"];
  const rank = ({ transient, status }: ReadFailure) => (transient === true ? 0 : order.length) + order.indexOf(status);
  return failures.toSorted((a, b) => rank(a) - rank(b))[0];
}

type ReadingOptions = FetchOptions & { readonly busyHosts: Set<string> };

/** Reads a location. For a landing page, the result also contains the PDF that it links to, or why that failed. */
async function readLocation(location: Location, paper: NamedPaper, options: ReadingOptions): Promise<FetchResult[]> {
  const refusal = shadowLibraryRefusal(location.url);
  if (refusal !== undefined) return [{ status: "blocked", reason: refusal }];
  const response = await request(
    location.url,
    "text/html, application/xhtml+xml, application/xml, application/pdf;q=0.9, */*;q=0.5",
    options,
  );
  if (response.status !== "ok") return [readFailure(response)];
  const page = await readUntrusted(response.bytes, { type: response.type, name: response.url, signal: options.signal });
  if (page.status !== "ok") return [page];
  const pageResult = checkDocument(page.text, location.url, paper);
  if (page.text.depth !== "abstract") return [pageResult];
  if (location.landing !== true)
    return [{ status: "not-found", reason: `${hostOf(location.url)} has only a page about the paper.` }];
  if (page.pdfUrl === undefined || page.pdfUrl === location.url) return [pageResult];
  const pdf = await request(page.pdfUrl, "application/pdf", options);
  if (pdf.status !== "ok") return [pageResult, readFailure(pdf)];
  const pdfDocument = await readUntrusted(pdf.bytes, { type: pdf.type, name: pdf.url, signal: options.signal });
  // If a login page came in place of the PDF, the landing page stays.
  return pdfDocument.status === "ok" && pdfDocument.text.kind === "pdf"
    ? [checkDocument(pdfDocument.text, page.pdfUrl, paper), pageResult]
    : [pageResult];
}

/** Requests a document. Shadow libraries are refused, also as the target of a redirect. */
async function request(url: string, accept: string, options: ReadingOptions): Promise<HttpDocument | HttpFailure> {
  const refusal = shadowLibraryRefusal(url);
  if (refusal !== undefined) return { status: "blocked", reason: refusal };
  const response = await options.http.get({ url, limit: maxPdfBytes, accept });
  if (
    response.status === "rate_limited" ||
    (response.status === "error" && response.transient === true && response.code === undefined)
  )
    options.busyHosts.add(hostOf(url));
  const redirectRefusal = response.status === "ok" ? shadowLibraryRefusal(response.url) : undefined;
  return redirectRefusal === undefined ? response : { status: "blocked", reason: redirectRefusal };
}

const readFailure = ({ status, reason, transient }: HttpFailure): ReadFailure => ({
  status,
  reason,
  ...withoutUndefined({ transient }),
});

function checkDocument(text: DocumentText, address: string, paper: NamedPaper): FetchResult {
  // Some pages have the paper's title only in their head.
  const head = [text.title ?? "", ...(text.authors ?? []).slice(0, 10)].join("\n");
  if (isDocumentOf(`${head}\n${text.text}`, paper)) return { status: "ok", text };
  const foundTitle = text.title === undefined ? "" : ` ("${text.title.slice(0, 120)}")`;
  return {
    status: "error",
    reason: `${address} leads to another document${foundTitle}, not to "${paper.title}"; correct the address in rrd.json.`,
  };
}
