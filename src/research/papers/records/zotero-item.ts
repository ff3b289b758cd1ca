import { valueAt, lineFrom, listFrom } from "../../../engine/lib/json-fields.js";
import { groupName, type RawEntry, type WorkType } from "./entry.js";

const types: Readonly<Record<string, WorkType>> = {
  journalArticle: "journal-article",
  magazineArticle: "journal-article",
  newspaperArticle: "journal-article",
  conferencePaper: "proceedings-article",
  bookSection: "book-chapter",
  book: "book",
  thesis: "dissertation",
  report: "report",
  preprint: "preprint",
  dataset: "dataset",
  computerProgram: "software",
  patent: "patent",
  webpage: "web-page",
};

/**
 * A work as Zotero describes it, over its API and in exports of Better BibTeX; undefined for notes and attachments.
 */
export function zoteroFields(data: unknown): (RawEntry & { readonly key: string | undefined }) | undefined {
  const text = (...names: readonly string[]) => names.map((name) => lineFrom(valueAt(data, name))).find(Boolean);
  const type = text("itemType") ?? "";
  if (["attachment", "note", "annotation"].includes(type) || valueAt(data, "parentItem") !== undefined)
    return undefined;
  const namesOf = (kind: string) =>
    listFrom(valueAt(data, "creators")).flatMap((creator) => {
      if (lineFrom(valueAt(creator, "creatorType")) !== kind) return [];
      const [family, given] = [lineFrom(valueAt(creator, "lastName")), lineFrom(valueAt(creator, "firstName"))];
      const name = lineFrom(valueAt(creator, "name"));
      return name === undefined ? [family, given].filter(Boolean).join(", ") : groupName(name);
    });
  const extra = typeof valueAt(data, "extra") === "string" ? String(valueAt(data, "extra")) : "";
  const fieldInExtra = (name: RegExp) => name.exec(extra)?.[1];
  return {
    key: fieldInExtra(/^Citation Key:\s*(\S+)/im) ?? text("citationKey", "key"),
    title: text("title"),
    authors: namesOf("author"),
    editors: namesOf("editor"),
    dates: [text("date") ?? ""],
    venue: text("publicationTitle", "proceedingsTitle", "bookTitle", "conferenceName"),
    volume: text("volume"),
    issue: text("issue"),
    pages: text("pages"),
    abstract: text("abstractNote"),
    dois: [text("DOI") ?? "", fieldInExtra(/^DOI:\s*(\S+)/im) ?? ""],
    arxiv: [fieldInExtra(/^arXiv:\s*(\S+)/im) ?? "", text("archiveID") ?? ""].filter((id) =>
      /\d{4}\.\d|\/\d{7}/.test(id),
    ),
    pmid: fieldInExtra(/^PMID:\s*(\d+)/im),
    pmcid: fieldInExtra(/^PMCID:\s*(PMC\d+)/im),
    urls: [text("url") ?? ""],
    type: types[type],
    numbers: [text("ISBN") ?? "", text("ISSN") ?? ""],
    keywords: listFrom(valueAt(data, "tags")).flatMap((tag) => lineFrom(valueAt(tag, "tag")) ?? []),
    publisher: text("publisher", "university", "institution"),
    place: text("place"),
    edition: text("edition"),
    series: text("series"),
    language: text("language"),
    files: listFrom(valueAt(data, "attachments")).flatMap((attachment) => lineFrom(valueAt(attachment, "path")) ?? []),
    database: text("libraryCatalog"),
  };
}
