import { readFile, stat } from "node:fs/promises";
import { ExpectedError, hasCode, messageOf } from "../lib/errors.js";
import { getDocument, type HttpOptions } from "./http.js";
import { isDocumentOf, type PaperIdentity } from "./identity.js";
import { largestPdf } from "./pdf.js";
import { readDocument } from "./read-document.js";
import { documentEnding, parseReference } from "./reference.js";
import { samplePath } from "./folder.js";
import { loadText, saveText } from "./text-cache.js";
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

export interface ReadOptions extends HttpOptions {
  /** The folder that texts are kept in, one file a paper. */
  readonly cacheDir: string;
  readonly endpoints?: Partial<Endpoints>;
}

export type NotRead = {
  /** `not-found`: it is not there. `unreadable`: it is there and has no text. The others say nothing about the paper. */
  readonly status: "unreadable" | "blocked" | "rate_limited" | "not-found" | "error";
  /** One sentence: what went wrong and what to do. */
  readonly reason: string;
};

/** `path`: where the text was kept. */
export type ReadPaper = { readonly status: "ok"; readonly text: PaperText; readonly path: string } | NotRead;

type Read = { status: "ok"; text: PaperText; stamp?: string } | NotRead;

/**
 * The text of a paper: the one kept from an earlier reading, a local file, a sample, or from the network (arXiv's HTML, then its PDF;
 * `pdf_url`, then `url`). A whole text is preferred to a landing page. Never throws for what a network or a document does.
 * @throws ExpectedError when the disk is full.
 */
export async function readPaper(paper: PaperToRead, options: ReadOptions): Promise<ReadPaper> {
  const file = localFile(paper);
  const stamp = file === undefined ? undefined : await stampOf(file);
  const kept = await loadText(options.cacheDir, paper.id, stamp);
  const read: Read =
    kept !== undefined
      ? { status: "ok", text: kept }
      : file !== undefined
        ? await readFileAt(file, options.signal)
        : await readFromNetwork(paper, options);
  if (read.status !== "ok") return read;
  try {
    return { status: "ok", text: read.text, path: await saveText(options.cacheDir, paper.id, read.text, stamp) };
  } catch (error) {
    // Read on from the abstract alone, the paper would be judged by less than there is, and for good.
    if (hasCode(error, "ENOSPC", "EDQUOT")) throw new ExpectedError(`There is no space left on the disk for ${options.cacheDir}; free some and run again.`);
    return { status: "error", reason: `The text could not be kept in ${options.cacheDir}: ${messageOf(error)}.` };
  }
}

function localFile(paper: PaperToRead): string | undefined {
  for (const address of [paper.pdf_url, paper.url]) {
    const reference = parseReference(address ?? "");
    if (reference.kind === "file") return reference.path;
    if (reference.kind === "sample") return samplePath(reference.name);
  }
  return undefined;
}

/** Changes when the document does. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    return `${path} ${size} ${mtimeMs}`;
  } catch {
    return undefined;
  }
}

async function readFileAt(path: string, signal: AbortSignal): Promise<Read> {
  // An address comes from an agent's search: a key or a settings file must not be read into a brief.
  if (!documentEnding.test(path))
    return { status: "unreadable", reason: `${path} is not a document that can be read (PDF, HTML, Markdown or text).` };
  try {
    const found = await stat(path);
    // To read a FIFO is to wait for ever.
    if (!found.isFile() && !found.isDirectory()) return { status: "unreadable", reason: `${path} is not a regular file.` };
    if (found.size > largestPdf) return { status: "unreadable", reason: `${path} is larger than ${largestPdf / 1024 / 1024} MB.` };
    return await readDocument(await readFile(path), { name: path, signal });
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { status: "not-found", reason: `There is no file ${path}.` };
    if (hasCode(error, "EACCES", "EPERM", "EISDIR", "ENOTDIR", "EIO"))
      return { status: "error", reason: `${path} could not be read (${error.code}).` };
    throw error;
  }
}

async function readFromNetwork(paper: PaperToRead, options: ReadOptions): Promise<Read> {
  const tried: NotRead[] = [];
  const asksToWait = new Set<string>();
  let partial: Read | undefined;
  for (const address of addressesOf(paper, { ...publicEndpoints, ...options.endpoints })) {
    if (asksToWait.has(hostOf(address))) continue;
    const read = await readAddress(address, paper, options);
    if (read.status === "ok" && read.text.depth === "full") return read;
    if (read.status !== "ok") tried.push(read);
    else partial ??= read;
    if (options.signal.aborted) break;
    if (read.status === "rate_limited") asksToWait.add(hostOf(address));
  }
  return partial ?? mostHopeful(tried) ?? { status: "not-found", reason: `${paper.id} has no address to read it from; add a url or pdf_url.` };
}

const hostOf = (address: string) => (URL.canParse(address) ? new URL(address).host : address);

/** Of several failures the one that is most worth another try, so that a paper is not given up for the lesser one. */
function mostHopeful(failures: readonly NotRead[]): NotRead | undefined {
  const order: NotRead["status"][] = ["rate_limited", "error", "blocked", "unreadable", "not-found"];
  return order.map((status) => failures.find((failure) => failure.status === status)).find((failure) => failure !== undefined);
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

async function readAddress(address: string, paper: PaperToRead, options: ReadOptions): Promise<Read> {
  const fetched = await getDocument(address, largestPdf, options, "text/html, application/xhtml+xml, application/pdf;q=0.9, */*;q=0.5");
  if (fetched.status !== "ok") return { status: fetched.status, reason: fetched.reason };
  const page = await readDocument(fetched.bytes, { type: fetched.type, name: fetched.url, signal: options.signal });
  if (page.status === "ok" && page.text.depth === "partial" && page.pdfUrl !== undefined && page.pdfUrl !== address) {
    const pdf = await getDocument(page.pdfUrl, largestPdf, options, "application/pdf");
    const whole = pdf.status === "ok" ? await readDocument(pdf.bytes, { type: pdf.type, name: pdf.url, signal: options.signal }) : undefined;
    // A login page in place of the PDF is no better than the landing page.
    if (whole?.status === "ok" && whole.text.kind === "pdf") return checked(whole.text, address, paper);
  }
  return page.status === "ok" ? checked(page.text, address, paper) : page;
}

function checked(text: PaperText, address: string, paper: PaperToRead): Read {
  if (isDocumentOf(text.text, paper)) return { status: "ok", text };
  const found = text.title === undefined ? "" : ` ("${text.title.slice(0, 120)}")`;
  return { status: "error", reason: `${address} leads to another document${found}, not to "${paper.title}"; correct the address in rrd.json.` };
}
