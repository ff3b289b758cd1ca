import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { arxiv } from "../sources/clients/arxiv.js";
import { crossref } from "../sources/clients/crossref.js";
import { europePmc } from "../sources/clients/europe-pmc.js";
import { addressOf as addressOfWork, nameOf, hasIdentifier, identifierOf } from "../papers/identifiers.js";
import { findText, type ReadOptions } from "./find-text.js";
import { namesOfDocument, ownRecords } from "./own-record.js";
import {
  documentExtension,
  doisInAddress,
  type IdentifierReference,
  paperId,
  type Reference,
} from "../papers/reference.js";
import type { PaperRecord } from "../papers/paper-record.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/**
 * The record of one paper. `empty`: the source answered and does not know the paper. The other failures say nothing
 * about the paper.
 */
export type DescribedReference =
  | { readonly status: "ok"; readonly paper: PaperRecord }
  | { readonly status: "empty" | "rate_limited" | "blocked" | "error"; readonly reason: string };

/**
 * Finds the title, authors, date and abstract of a referenced paper: from arXiv for an arXiv id, from Crossref for a
 * DOI (also in a publisher's address), from Europe PMC for a PubMed id, otherwise from the document itself, whose text
 * is cached. If Crossref does not know a DOI, its page is read, because other agencies register DOIs too. If a service
 * fails, the document is read.
 */
export async function describeReference(reference: Reference, options: ReadOptions): Promise<DescribedReference> {
  if (reference.kind === "url") {
    for (const doi of doisInAddress(reference.url)) {
      const described = await fromService({ kind: "doi", doi }, options);
      if (described.status === "ok") return described;
      if (described.status !== "empty") break;
    }
  }
  if (!hasIdentifier(reference)) return await fromDocument(reference, options);
  const described = await fromService(reference, options);
  if (described.status === "ok" || (described.status === "empty" && reference.kind === "arxiv")) return described;
  // arXiv's API can refuse requests while its pages still answer.
  const document = await fromDocument(reference, options);
  return document.status === "ok" ? document : described;
}

/** The record from the service for this kind of identifier. A record from arXiv gets the requested version. */
async function fromService(reference: IdentifierReference, options: ReadOptions): Promise<DescribedReference> {
  const work = identifierOf(reference);
  const source = { arxiv, doi: crossref, pmid: europePmc, pmcid: europePmc }[reference.kind];
  const context = options.contextFor(source);
  if ("unavailable" in context) return { status: "blocked", reason: context.unavailable };
  const answer = await source.lookup([work], context);
  if (answer.status !== "ok") return { status: answer.status, reason: answer.reason };
  const [record] = answer.value;
  if (record === undefined) return { status: "empty", reason: `No record of ${nameOf(work)} was found; check the id.` };
  if (reference.kind === "doi") return { status: "ok", paper: { ...record, id: paperId(reference) } };
  if (work.arxiv === undefined) return { status: "ok", paper: record };
  return {
    status: "ok",
    paper: {
      ...record,
      id: paperId(reference),
      pdf_url: `https://arxiv.org/pdf/${work.arxiv}`,
      identifiers: { ...record.identifiers, arxiv: work.arxiv },
    },
  };
}

async function fromDocument(reference: Reference, options: ReadOptions): Promise<DescribedReference> {
  const { url, name, source } = addressOf(reference);
  const id = paperId(reference);
  const result = await findText({ id, url }, options);
  if (result.status !== "ok") {
    const status = result.status === "not-found" ? "empty" : result.status === "unreadable" ? "error" : result.status;
    return { status, reason: result.reason };
  }
  const { text } = result;
  const identifiers = {
    ...namesOfDocument(text),
    ...(reference.kind === "doi" ? { doi: reference.doi } : {}),
    ...(reference.kind === "arxiv" ? { arxiv: reference.id } : {}),
  };
  const paper: PaperRecord = {
    id: reference.kind === "file" || reference.kind === "sample" ? (text.id ?? id) : id,
    title: text.title ?? name,
    url,
    pdf_url: text.kind === "pdf" ? url : null,
    authors: text.authors ?? [],
    date: text.date ?? null,
    source,
    abstract: text.abstract ?? null,
    identifiers,
    ...withoutUndefined({ publicationType: text.publicationType, license: text.license }),
    ...(text.retracted === true ? { retracted: true } : {}),
  };
  const document = (await ownRecords([paper], options)).get(paper.id);
  return { status: "ok", paper: document?.record ?? paper };
}

function addressOf(reference: Reference): { url: string; name: string; source: string } {
  switch (reference.kind) {
    case "arxiv":
      return { url: `https://arxiv.org/abs/${reference.id}`, name: `arXiv ${reference.id}`, source: "arXiv" };
    case "doi":
      return { url: `https://doi.org/${reference.doi}`, name: reference.doi, source: "DOI" };
    case "pmid":
    case "pmcid":
      return {
        url: addressOfWork(identifierOf(reference)) ?? "",
        name: nameOf(identifierOf(reference)),
        source: "PubMed",
      };
    case "url":
      return { url: reference.url, name: reference.url, source: "web" };
    case "file":
      return {
        url: pathToFileURL(reference.path).href,
        name: basename(reference.path).replace(documentExtension, ""),
        source: "folder",
      };
    case "sample":
      return { url: `sample:${reference.name}`, name: reference.name, source: "samples" };
  }
}
