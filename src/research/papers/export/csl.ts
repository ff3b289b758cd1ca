import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { AuthorName } from "../person-name.js";
import { kindNames } from "./ris.js";
import { ownNotes } from "./own-notes.js";
import { type CitedWork, canHaveVolume, keywordText, type WorkKind } from "./cited-work.js";

const types: Readonly<Record<WorkKind, string>> = {
  article: "article-journal",
  conference: "paper-conference",
  chapter: "chapter",
  book: "book",
  proceedings: "book",
  thesis: "thesis",
  masters: "thesis",
  report: "report",
  preprint: "article",
  dataset: "dataset",
  software: "software",
  patent: "patent",
  web: "webpage",
  other: "document",
};

/** Works as CSL-JSON, for pandoc and other citation processors. */
export const cslOf = (works: readonly CitedWork[]): string => `${JSON.stringify(works.map(itemOf), null, 2)}\n`;

const itemOf = (work: CitedWork): object => {
  const { publication } = work;
  const note = [
    [work.retracted ? "Retracted." : "", publication.note ?? ""].filter(Boolean).join(" "),
    ...ownNotes(work),
  ];
  return {
    id: work.key,
    type: types[work.kind],
    title: work.title,
    ...(work.authors.length === 0 ? {} : { author: work.authors.map(authorItem) }),
    ...(work.date === undefined ? {} : { issued: { "date-parts": [work.date] } }),
    ...withoutUndefined({ "container-title": work.venue }),
    ...(canHaveVolume(work.kind) ? withoutUndefined({ volume: work.volume, issue: work.issue, page: work.pages }) : {}),
    ...withoutUndefined({ genre: kindNames[work.kind] }),
    ...(work.editors.length === 0 ? {} : { editor: work.editors.map(authorItem) }),
    ...withoutUndefined({
      publisher: publication.publisher,
      "publisher-place": publication.place,
      edition: publication.edition,
    }),
    ...withoutUndefined({
      "collection-title": publication.series,
      ISBN: publication.isbn,
      ISSN: publication.issn,
      language: publication.language,
      archive_location: publication.accession,
      number: work.arxiv && `arXiv:${work.arxiv}`,
      DOI: work.doi,
      PMID: work.pmid,
      PMCID: work.pmcid,
      URL: work.url,
      abstract: work.abstract,
      keyword: keywordText(work) || undefined,
    }),
    note: note.filter(Boolean).join("\n"),
  };
};

const authorItem = (name: AuthorName): object =>
  "literal" in name
    ? name
    : {
        family: name.family,
        ...withoutUndefined({ given: name.given, "non-dropping-particle": name.particle, suffix: name.suffix }),
      };
