import { ExpectedError, messageOf } from "../../../engine/lib/errors.js";
import { isObject, lineFrom, linesFrom, valueAt } from "../../../engine/lib/json-fields.js";
import { authorsOf } from "../authors.js";
import { workOfRow } from "./csv.js";
import { rowOf } from "./json-row.js";
import { workTypeOf } from "./ris.js";
import { zoteroFields } from "./zotero-item.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { groupName, keywordsIn, narrowedType, type RawEntry, type ReadEntry, type WorkType } from "./entry.js";

type Item = Readonly<Record<string, unknown>>;

/** Whether a text is a list of works in CSL-JSON: an object or a list of objects with titles. */
export function isCslJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    return itemsOf(JSON.parse(text)).some(isWork);
  } catch {
    return false;
  }
}

/**
 * Reads CSL-JSON: one item, a list of them, or a list under `items`. Also objects with the fields of a table, such as
 * answers of OpenAlex and Semantic Scholar.
 * @throws ExpectedError (exit code 2) for a text that is not JSON.
 */
export function readCslJson(text: string, path: string): ReadEntry[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ExpectedError(`${path} is not valid JSON: ${messageOf(error)}.`, 2);
  }
  return itemsOf(value).map((item, index): ReadEntry => {
    const line = index + 1;
    if (!isObject(item)) return { line, why: "it is not an object" };
    if ("itemType" in item) {
      const fields = zoteroFields(item);
      if (fields === undefined) return { line, why: "it is a note or an attachment" };
      return { line, entry: fields, ...withoutUndefined({ key: fields.key, ownKey: fields.key }) };
    }
    const { id } = item;
    const key = typeof id === "string" || typeof id === "number" ? String(id) : "";
    const { "citation-key": citationKey } = item;
    // Zotero's id is an address in a library; the citation key is another field.
    const ownKey = typeof citationKey === "string" && citationKey !== "" ? citationKey : key;
    const entry = isCslItem(item) ? workOf(item) : (workOfRow(rowOf(item)) ?? workOf(item));
    return { line, entry, ...(key === "" ? {} : { key }), ...(ownKey === "" ? {} : { ownKey }) };
  });
}

/**
 * The works in a value: the value itself, a list (under any name, as from Crossref or Pandoc), or an object of works.
 */
function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value) || isWork(value)) return [value];
  const values = Object.values(value);
  const list = values.find((candidate) => Array.isArray(candidate) && candidate.some(isWork)) as unknown[] | undefined;
  if (list !== undefined) return list;
  if (values.length > 0 && values.every(isWork)) return values;
  const [nestedItems] = values
    .filter(isObject)
    .map(itemsOf)
    .filter((candidate) => candidate.some(isWork));
  return nestedItems ?? [value];
}

const isWork = (value: unknown): boolean =>
  isObject(value) &&
  [value["title"], Array.isArray(value["title"]) ? value["title"][0] : undefined].some(
    (title) => typeof title === "string",
  );

/** Whether an item has a field as only CSL-JSON has it. */
const isCslItem = (item: Item): boolean =>
  isObject(item["issued"]) ||
  ("DOI" in item && !("authors" in item || "year" in item)) ||
  (Array.isArray(item["author"]) && item["author"].some(isObject));

const types: Readonly<Record<string, WorkType>> = {
  "article-journal": "journal-article",
  "article-magazine": "journal-article",
  "article-newspaper": "journal-article",
  review: "journal-article",
  "paper-conference": "proceedings-article",
  chapter: "book-chapter",
  "entry-encyclopedia": "book-chapter",
  book: "book",
  thesis: "dissertation",
  report: "report",
  article: "preprint",
  dataset: "dataset",
  software: "software",
  patent: "patent",
  webpage: "web-page",
  "post-weblog": "web-page",
};

function workOf(item: Item): RawEntry {
  const text = (...names: readonly string[]): string | undefined => {
    // Crossref writes titles as lists.
    const values = names
      .map((name) => item[name])
      .map((candidate) => (Array.isArray(candidate) ? (candidate[0] as unknown) : candidate));
    const value = values.find((candidate) => candidate !== undefined && candidate !== null && candidate !== "");
    return typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined;
  };
  const list = (...names: readonly string[]) => [text(...names)].flatMap((candidate) => candidate ?? []);
  // Crossref has the series before the book, and a preprint's server as its institution.
  const containers = linesFrom(item["container-title"]);
  const institution = lineFrom(valueAt(item, "institution", 0, "name"));
  const keyword = item["keyword"] ?? item["categories"];
  return {
    title: titleOf(text("title"), text("subtitle")),
    authors: namesOf(item["author"]),
    editors: namesOf(item["editor"]),
    // Crossref and DataCite have several dates.
    dates: ["issued", "published", "published-print", "published-online"].flatMap((name) => datesOf(item[name])),
    venue: containers.length > 1 ? containers.at(-1) : (text("container-title") ?? institution),
    volume: text("volume"),
    issue: text("issue"),
    pages: text("page", "page-first", "article-number", "number-of-pages"),
    abstract: text("abstract"),
    dois: [...list("DOI"), ...list("note")],
    // Zotero has a preprint's number in this field.
    arxiv: list("number").filter((number) => /^arxiv:/i.test(number)),
    pmid: text("PMID"),
    pmcid: text("PMCID"),
    urls: list("URL"),
    type: narrowedType(types[text("type") ?? ""] ?? workTypeOf(text("type")), text("genre")),
    numbers: [...list("ISBN"), ...list("ISSN")],
    keywords: Array.isArray(keyword) ? keyword.map(String) : keywordsIn(text("keyword")),
    note: text("note"),
    publisher: text("publisher"),
    place: text("publisher-place"),
    edition: text("edition"),
    series: text("collection-title") ?? (containers.length > 1 ? containers[0] : undefined),
    language: text("language"),
    accession: text("accession", "archive_location"),
    database: text("source"),
  };
}

/** The title with the subtitle, which Crossref has in another field. */
const titleOf = (title: string | undefined, subtitle: string | undefined): string | undefined =>
  title === undefined || subtitle === undefined || title.toLowerCase().includes(subtitle.toLowerCase())
    ? title
    : `${title}: ${subtitle}`;

function namesOf(value: unknown): string[] {
  if (typeof value === "string") return [...authorsOf(value)];
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).flatMap((author) => {
    const part = (name: string) => (typeof author[name] === "string" ? author[name].trim() : "");
    const particle = part("non-dropping-particle") || part("dropping-particle");
    const family = [particle, part("family")].filter(Boolean).join(" ");
    const name = [family, part("given"), part("suffix")].filter(Boolean).join(", ");
    const group = part("literal") || part("name");
    return name || (group === "" ? [] : groupName(group));
  });
}

function datesOf(issued: unknown): string[] {
  if (typeof issued === "string" || typeof issued === "number") return [String(issued)];
  const { "date-parts": dates, raw, literal, year } = isObject(issued) ? issued : {};
  const parts: readonly unknown[] = Array.isArray(dates) && Array.isArray(dates[0]) ? dates[0] : [];
  const dateText = parts.filter((part) => part !== null && part !== "").join("-");
  const candidates = [dateText, raw, literal, typeof year === "number" ? String(year) : year];
  return candidates.filter((candidate): candidate is string => typeof candidate === "string" && candidate !== "");
}
