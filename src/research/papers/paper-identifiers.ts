import type { Identifiers, NamedPaper } from "./paper-record.js";
import { type IdentifierReference, parseReference } from "./reference.js";

/** The identifiers of a paper, with an arXiv id and a DOI from any field of its record. */
export function identifiersOf(paper: NamedPaper): Identifiers {
  const references = referencesOf(paper);
  const arxiv = references.find((reference) => reference.kind === "arxiv");
  const doi = references.find((reference) => reference.kind === "doi");
  return {
    ...paper.identifiers,
    ...(arxiv === undefined ? {} : { arxiv: arxiv.id }),
    ...(doi === undefined ? {} : { doi: doi.doi }),
  };
}

/** The identifier of a reference; that of arXiv with its version. */
export function identifierOf(reference: IdentifierReference): Identifiers {
  if (reference.kind === "arxiv")
    return { arxiv: `${reference.id}${reference.version === undefined ? "" : `v${reference.version}`}` };
  const { kind: _, ...identifier } = reference;
  return identifier;
}

export const hasIdentifier = (reference: { readonly kind: string }): reference is IdentifierReference =>
  ["arxiv", "doi", "pmid", "pmcid"].includes(reference.kind);

/**
 * The references in a paper's fields, in the order of the fields. Fields with other content give an unknown reference.
 */
export function referencesOf(paper: NamedPaper): ReturnType<typeof parseReference>[] {
  const { identifiers } = paper;
  const fromId = paper.id.replace(/^arxiv_/, "").replace(/^([a-z-]+(?:\.[A-Z]{2})?)_(?=\d{7})/, "$1/");
  const names = [
    identifiers?.arxiv,
    paper.id.startsWith("arxiv_") ? fromId : undefined,
    paper.url,
    paper.pdf_url,
    identifiers?.doi,
  ];
  return names.map((name) => parseReference(name ?? ""));
}
