import type { Identifiers, NamedPaper } from "./paper-record.js";
import { parseReference } from "./reference.js";

/** The names that a paper goes by, its arXiv id and DOI as they stand in any field of its record. */
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

/** The same as references, in the order of the fields; what is not a name of a paper is among them as unknown. */
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
