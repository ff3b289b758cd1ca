import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { arxivPaper } from "./arxiv.js";
import type { Candidate, Described } from "./candidate.js";
import { crossrefPaper } from "./crossref.js";
import { publicEndpoints, readPaper, type ReadOptions } from "./read-paper.js";
import { documentEnding, paperId, type Reference } from "./reference.js";

/**
 * Title, authors, date and abstract of the paper that a reference names: from arXiv for an arXiv id, from Crossref for a DOI, else from the
 * document itself, which is read and kept for that. A DOI that Crossref does not know is followed to its page: others register DOIs too.
 */
export async function describeReference(reference: Reference, options: ReadOptions): Promise<Described> {
  const endpoints = { ...publicEndpoints, ...options.endpoints };
  if (reference.kind === "arxiv") return await arxivPaper(reference, endpoints.arxivApi, options);
  if (reference.kind === "doi") {
    const described = await crossrefPaper(reference.doi, endpoints.crossref, options);
    return described.status === "empty" ? await fromDocument(reference, options, described) : described;
  }
  return await fromDocument(reference, options);
}

async function fromDocument(reference: Exclude<Reference, { kind: "arxiv" }>, options: ReadOptions, instead?: Described): Promise<Described> {
  const { url, name, source } = addressOf(reference);
  const id = paperId(reference);
  const read = await readPaper({ id, url }, options);
  if (read.status !== "ok") {
    if (instead !== undefined) return instead;
    const status = read.status === "not-found" ? "empty" : read.status === "unreadable" ? "error" : read.status;
    return { status, reason: read.reason };
  }
  const { text } = read;
  const doi = text.doi ?? (reference.kind === "doi" ? reference.doi : undefined);
  const paper: Candidate = {
    id: reference.kind === "file" || reference.kind === "sample" ? (text.id ?? id) : id,
    title: text.title ?? name,
    url,
    pdf_url: text.kind === "pdf" ? url : null,
    authors: text.authors ?? [],
    date: text.date ?? null,
    source,
    abstract: text.abstract ?? null,
    ...(doi === undefined ? {} : { identifiers: { doi } }),
    ...(text.retracted === true ? { retracted: true } : {}),
  };
  return { status: "ok", paper };
}

function addressOf(reference: Exclude<Reference, { kind: "arxiv" }>): { url: string; name: string; source: string } {
  switch (reference.kind) {
    case "doi":
      return { url: `https://doi.org/${reference.doi}`, name: reference.doi, source: "DOI" };
    case "url":
      return { url: reference.url, name: reference.url, source: "web" };
    case "file":
      return { url: pathToFileURL(reference.path).href, name: basename(reference.path).replace(documentEnding, ""), source: "folder" };
    case "sample":
      return { url: `sample:${reference.name}`, name: reference.name, source: "samples" };
  }
}
