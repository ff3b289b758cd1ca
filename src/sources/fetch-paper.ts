import type { HttpFailure } from "./http-failure.js";
import { getDocument, type HttpOptions } from "./http.js";
import { isDocumentOf, type PaperIdentity } from "./identity.js";
import { largestPdf } from "./pdf.js";
import { readDocument } from "./read-document.js";
import { parseReference } from "./reference.js";
import type { PaperText } from "./text.js";

/** As much of a paper's record as leads to its text. With a title, what is fetched is checked to be that paper. */
export interface PaperToRead extends Omit<PaperIdentity, "title" | "id"> {
  readonly id: string;
  readonly title?: string | null;
}

/** Where services answer; tests set them. */
export interface Endpoints {
  readonly arxiv: string;
  readonly arxivApi: string;
  readonly crossref: string;
  readonly doi: string;
}

export const publicEndpoints: Endpoints = {
  arxiv: "https://arxiv.org",
  arxivApi: "https://export.arxiv.org/api/query",
  crossref: "https://api.crossref.org",
  doi: "https://doi.org",
};

export interface FetchOptions extends HttpOptions {
  readonly endpoints?: Partial<Endpoints>;
}

export type NotRead = {
  /** `not-found`: it is not there. `unreadable`: it is there and has no text. The others say nothing about the paper. */
  readonly status: "unreadable" | "blocked" | "rate_limited" | "not-found" | "error";
  /** One sentence: what went wrong and what to do. */
  readonly reason: string;
  /** Set where it may be read in some minutes or hours, and a reading from the abstract would be too early. */
  readonly transient?: true;
};

export type Fetched = { readonly status: "ok"; readonly text: PaperText } | NotRead;

/** The best text that a paper's addresses lead to: a whole one, else one cut short, else a landing page, else why there is none. */
export async function fetchPaper(paper: PaperToRead, options: FetchOptions): Promise<Fetched> {
  const failures: NotRead[] = [];
  const asksToWait = new Set<string>();
  const texts: PaperText[] = [];
  for (const address of addressesOf(paper, { ...publicEndpoints, ...options.endpoints })) {
    if (asksToWait.has(hostOf(address))) continue;
    for (const read of await readAddress(address, paper, options)) {
      if (read.status === "ok" && read.text.depth === "full") return read;
      if (read.status === "ok") texts.push(read.text);
      else failures.push(read);
      if (read.status === "rate_limited") asksToWait.add(hostOf(address));
    }
    if (options.signal.aborted) break;
  }
  const text = texts.find(({ depth }) => depth === "partial") ?? texts[0];
  const failure = mostHopeful(failures);
  // A landing page in place of a paper whose host is only busy would decide the paper from its abstract, for good.
  if (text !== undefined && (text.depth === "partial" || failure?.transient !== true)) return { status: "ok", text };
  return failure ?? { status: "not-found", reason: `${paper.id} has no address to read it from; add a url or pdf_url.` };
}

const hostOf = (address: string) => (URL.canParse(address) ? new URL(address).host : address);

/** Of several failures the one that is most worth another try, so that a paper is not given up for the lesser one. */
function mostHopeful(failures: readonly NotRead[]): NotRead | undefined {
  const order: NotRead["status"][] = ["rate_limited", "error", "blocked", "unreadable", "not-found"];
  const rank = ({ transient, status }: NotRead) => (transient === true ? 0 : order.length) + order.indexOf(status);
  return failures.toSorted((a, b) => rank(a) - rank(b))[0];
}

function addressesOf(paper: PaperToRead, endpoints: Endpoints): string[] {
  const { identifiers } = paper;
  const fromId = paper.id.replace(/^arxiv_/, "").replace(/^([a-z-]+(?:\.[A-Z]{2})?)_(?=\d{7})/, "$1/");
  const names = [identifiers?.arxiv, paper.id.startsWith("arxiv_") ? fromId : undefined, paper.url, paper.pdf_url, identifiers?.doi];
  const references = names.map((name) => parseReference(name ?? ""));
  const arxiv = references.find((reference) => reference.kind === "arxiv");
  const addresses: (string | undefined | null)[] = [];
  if (arxiv !== undefined) {
    const id = `${arxiv.id}${arxiv.version === undefined ? "" : `v${arxiv.version}`}`;
    addresses.push(`${endpoints.arxiv}/html/${id}`, `${endpoints.arxiv}/pdf/${id}`);
  }
  const isArxivs = (address: string | null | undefined) => parseReference(address ?? "").kind === "arxiv";
  addresses.push(...[paper.pdf_url, paper.url].filter((address) => !isArxivs(address)).map((address) => withResolver(address, endpoints)));
  const doi = references.find((reference) => reference.kind === "doi");
  if (doi !== undefined && arxiv === undefined) addresses.push(`${endpoints.doi}/${encodeURI(doi.doi)}`);
  return [...new Set(addresses.filter((address) => typeof address === "string" && address !== ""))] as string[];
}

function withResolver(address: string | null | undefined, endpoints: Endpoints): string | null | undefined {
  const reference = parseReference(address ?? "");
  return reference.kind === "doi" ? `${endpoints.doi}/${encodeURI(reference.doi)}` : address;
}

/** What an address leads to; for a landing page also the PDF that it names, or why that could not be had. */
async function readAddress(address: string, paper: PaperToRead, options: FetchOptions): Promise<Fetched[]> {
  const fetched = await getDocument(address, largestPdf, options, "text/html, application/xhtml+xml, application/pdf;q=0.9, */*;q=0.5");
  if (fetched.status !== "ok") return [notRead(fetched)];
  const page = await readDocument(fetched.bytes, { type: fetched.type, name: fetched.url, signal: options.signal });
  if (page.status !== "ok") return [page];
  const own = checked(page.text, address, paper);
  if (page.text.depth !== "abstract" || page.pdfUrl === undefined || page.pdfUrl === address) return [own];
  // The page, not the person, names this address.
  const privateAddresses = options.privateAddresses === true && hostOf(page.pdfUrl) === hostOf(address);
  const pdf = await getDocument(page.pdfUrl, largestPdf, { ...options, privateAddresses }, "application/pdf");
  if (pdf.status !== "ok") return [own, notRead(pdf)];
  const whole = await readDocument(pdf.bytes, { type: pdf.type, name: pdf.url, signal: options.signal });
  // A login page in place of the PDF is no better than the landing page.
  return whole.status === "ok" && whole.text.kind === "pdf" ? [checked(whole.text, page.pdfUrl, paper), own] : [own];
}

const notRead = ({ status, reason, transient }: HttpFailure): NotRead => ({ status, reason, ...(transient === undefined ? {} : { transient }) });

function checked(text: PaperText, address: string, paper: PaperToRead): Fetched {
  // Some pages say only in their head what they are.
  const head = [text.title ?? "", ...(text.authors ?? []).slice(0, 10)].join("\n");
  if (isDocumentOf(`${head}\n${text.text}`, paper)) return { status: "ok", text };
  const found = text.title === undefined ? "" : ` ("${text.title.slice(0, 120)}")`;
  return { status: "error", reason: `${address} leads to another document${found}, not to "${paper.title}"; correct the address in rrd.json.` };
}
