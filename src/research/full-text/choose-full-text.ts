import type { Http, HttpDocument } from "../../net/http.js";
import type { HttpFailure } from "../../net/http-failure.js";
import { isDocumentOf } from "../papers/authors.js";
import type { NamedPaper, PaperRecord } from "../papers/paper-record.js";
import { maxPdf } from "../../text/documents/pdf/read-pdf.js";
import { pirateRefusal } from "./shadow-libraries.js";
import { readUntrusted } from "./reader-process.js";
import type { Answer, ContextFor } from "../sources/shared/source.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { type CopyService, endpointsOf, type Location, fullTextRoutes } from "./full-text-routes.js";
import { identifiersOf } from "../papers/paper-identifiers.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly http: Http;
  /** Says where the sites are that texts are read from. */
  readonly contextFor: ContextFor;
  /** Who is asked for free copies of a paper that is not on arXiv. */
  readonly copies: readonly CopyService[];
}

/** A way that brought no whole text, and why, in one sentence. */
export interface Tried {
  readonly way: string;
  readonly reason: string;
}

export type NotRead = {
  /**
   * `not-found`: it is not there. `unreadable`: it is there and has no text. The others say nothing about the paper.
   */
  readonly status: "unreadable" | "blocked" | "rate_limited" | "not-found" | "error";
  /** One sentence: what went wrong and what to do. */
  readonly reason: string;
  /** Set where it may be read in some minutes or hours, and a reading from the abstract would be too early. */
  readonly transient?: true;
  /** Every way that was tried, in order. */
  readonly tried?: readonly Tried[];
};

export type Fetched = { readonly status: "ok"; readonly text: DocumentText } | NotRead;

/**
 * The best text that the ways to a paper lead to: a whole one, else one cut short, else a landing page, else why
 * nothing was found.
 */
export async function fetchPaper(paper: NamedPaper, options: FetchOptions): Promise<Fetched> {
  const failures: NotRead[] = [];
  const tried: Tried[] = [];
  const texts: DocumentText[] = [];
  const seen = new Set<string>();
  /** Hosts that ask to wait or don't answer: they are left alone for the rest of this paper. */
  const quiet = new Set<string>();
  const asking = { endpoints: endpointsOf(options.contextFor), records: once(() => recordsOf(paper, options.copies)) };
  const failed = (way: string, failure: NotRead) => {
    failures.push(failure);
    tried.push({ way, reason: failure.reason });
  };

  for (const { name, locations: find } of fullTextRoutes) {
    if (options.signal.aborted) return interrupted;
    const locations = await find(paper, asking);
    if ("status" in locations) {
      failed(name, {
        status: locations.status === "empty" ? "not-found" : locations.status,
        reason: locations.reason,
        ...withoutUndefined({ transient: locations.transient }),
      });
      continue;
    }
    for (const location of locations) {
      if (seen.has(location.url) || quiet.has(hostOf(location.url))) continue;
      seen.add(location.url);
      for (const read of await readLocation(location, paper, { ...options, quiet })) {
        if (read.status === "ok" && read.text.depth === "full")
          return { status: "ok", text: from(read.text, name, location, tried) };
        if (read.status !== "ok") failed(name, read);
        else {
          tried.push({ way: name, reason: shortfall(read.text) });
          texts.push(from(read.text, name, location, tried));
        }
      }
      if (options.signal.aborted) return interrupted;
    }
  }
  const text = texts.find(({ depth }) => depth === "partial") ?? texts[0];
  const failure = mostHopeful(failures);
  // A landing page in place of a paper whose host is only busy would decide the paper from its abstract, for good.
  if (text !== undefined && (text.depth === "partial" || failure?.transient !== true)) return { status: "ok", text };
  if (failure !== undefined) return { ...failure, tried };
  return { status: "not-found", reason: `${paper.id} has no address to read it from; add a url or pdf_url.` };
}

const interrupted: NotRead = { status: "error", reason: "Fetching was interrupted.", transient: true };

const hostOf = (address: string) => (URL.canParse(address) ? new URL(address).host : address);

const shortfall = ({ depth }: DocumentText) =>
  depth === "partial" ? "The text is truncated." : "The page describes the paper and does not contain it.";

const from = (text: DocumentText, way: string, location: Location, tried: readonly Tried[]): DocumentText => ({
  ...text,
  origin: { way, url: location.url, ...(tried.length === 0 ? {} : { tried: [...tried] }) },
});

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
}

/** What all copy services know of a paper. Where one can't be asked and none knows a copy, that is not known. */
async function recordsOf(paper: NamedPaper, services: readonly CopyService[]): Promise<Answer<readonly PaperRecord[]>> {
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

/** Of several failures the one that is most worth another try, so that a paper is not given up for the lesser one. */
function mostHopeful(failures: readonly NotRead[]): NotRead | undefined {
  const order: NotRead["status"][] = ["rate_limited", "error", "blocked", "unreadable", "not-found"];
  const rank = ({ transient, status }: NotRead) => (transient === true ? 0 : order.length) + order.indexOf(status);
  return failures.toSorted((a, b) => rank(a) - rank(b))[0];
}

type Reaching = FetchOptions & { readonly quiet: Set<string> };

/** What a place leads to; for a landing page also the PDF that it names, or why that could not be had. */
async function readLocation(location: Location, paper: NamedPaper, options: Reaching): Promise<Fetched[]> {
  const refused = pirateRefusal(location.url);
  if (refused !== undefined) return [{ status: "blocked", reason: refused }];
  const fetched = await request(
    location.url,
    "text/html, application/xhtml+xml, application/xml, application/pdf;q=0.9, */*;q=0.5",
    options,
  );
  if (fetched.status !== "ok") return [notRead(fetched)];
  const page = await readUntrusted(fetched.bytes, { type: fetched.type, name: fetched.url, signal: options.signal });
  if (page.status !== "ok") return [page];
  const own = checked(page.text, location.url, paper);
  if (page.text.depth !== "abstract") return [own];
  if (location.landing !== true)
    return [{ status: "not-found", reason: `${hostOf(location.url)} has only a page about the paper.` }];
  if (page.pdfUrl === undefined || page.pdfUrl === location.url) return [own];
  const pdf = await request(page.pdfUrl, "application/pdf", options);
  if (pdf.status !== "ok") return [own, notRead(pdf)];
  const whole = await readUntrusted(pdf.bytes, { type: pdf.type, name: pdf.url, signal: options.signal });
  // A login page in place of the PDF is not better than the landing page.
  return whole.status === "ok" && whole.text.kind === "pdf" ? [checked(whole.text, page.pdfUrl, paper), own] : [own];
}

/** A document, unless it or what it redirects to is a pirate's. */
async function request(url: string, accept: string, options: Reaching): Promise<HttpDocument | HttpFailure> {
  const refused = pirateRefusal(url);
  if (refused !== undefined) return { status: "blocked", reason: refused };
  const fetched = await options.http.get({ url, limit: maxPdf, accept });
  if (
    fetched.status === "rate_limited" ||
    (fetched.status === "error" && fetched.transient === true && fetched.code === undefined)
  )
    options.quiet.add(hostOf(url));
  const redirected = fetched.status === "ok" ? pirateRefusal(fetched.url) : undefined;
  return redirected === undefined ? fetched : { status: "blocked", reason: redirected };
}

const notRead = ({ status, reason, transient }: HttpFailure): NotRead => ({
  status,
  reason,
  ...withoutUndefined({ transient }),
});

function checked(text: DocumentText, address: string, paper: NamedPaper): Fetched {
  // Some pages say only in their head what they are.
  const head = [text.title ?? "", ...(text.authors ?? []).slice(0, 10)].join("\n");
  if (isDocumentOf(`${head}\n${text.text}`, paper)) return { status: "ok", text };
  const found = text.title === undefined ? "" : ` ("${text.title.slice(0, 120)}")`;
  return {
    status: "error",
    reason: `${address} leads to another document${found}, not to "${paper.title}"; correct the address in rrd.json.`,
  };
}
