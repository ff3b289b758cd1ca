import { parseXml } from "../../../text/xml.js";
import { narrowedType, type RawEntry, type ReadEntry } from "./entry.js";
import { workTypeOf } from "./ris.js";

/** Whether a text is EndNote's XML. */
export const isEndNoteXml = (text: string): boolean =>
  /<records?\b/i.test(text.slice(0, 20_000)) && /<ref-type\b|<contributors\b|<titles\b/i.test(text.slice(0, 200_000));

type Node = Readonly<Record<string, unknown>>;

/** Elements that may occur several times. */
const listElements = "record author keyword url date".split(" ");
/** Tags for the style of a part of a value. */
const styleTag = /<\/?style\b[^<>]{0,300}>/gi;

/** Reads the records of EndNote's XML, each by itself. Styles such as bold are ignored. */
export async function readEndNoteXml(text: string): Promise<ReadEntry[]> {
  const [, ...records] = text
    .replace(styleTag, "")
    // Some programs do not escape this sign.
    .replace(/&(?!#?\w{1,20};)/g, "&amp;")
    .split(/(?=<record[\s>])/i);
  const entries: ReadEntry[] = [];
  for (const [index, recordText] of records.entries()) {
    const line = index + 1;
    const [xml, rest] = recordText.split(/(?<=<\/record\s*>)/i, 2);
    const isCut = rest === undefined && !/<\/record\s*>$/i.test(recordText);
    const parsed = await parseXml(xml ?? "", listElements, ["name"]);
    const record = "value" in parsed ? recordIn(parsed.value) : undefined;
    if (record === undefined) entries.push({ line, why: isCut ? "its end is missing" : "it is not well-formed" });
    else {
      const key = textOf(record["label"]);
      entries.push({ line, entry: workOf(record), ...(key === "" ? {} : { key, ownKey: key }) });
    }
  }
  return entries;
}

function recordIn(value: unknown): Node | undefined {
  const [record] = (value as { readonly record?: readonly unknown[] } | undefined)?.record ?? [];
  return typeof record === "object" && record !== null ? (record as Node) : undefined;
}

function textOf(value: unknown): string {
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.map(textOf).join(" ");
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .filter(([name]) => !name.startsWith("@"))
    .map(([, child]) => textOf(child))
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
}

function workOf(record: Node): RawEntry {
  const valueAt = (...path: readonly string[]): unknown =>
    path.reduce<unknown>((node, name) => (node as Node | undefined)?.[name], record);
  const text = (...path: readonly string[]) => textOf(valueAt(...path)) || undefined;
  const list = (...path: readonly string[]): string[] => {
    const value = valueAt(...path);
    return (Array.isArray(value) ? value : [value]).map(textOf).filter((child) => child !== "");
  };
  const urls = [...list("urls", "related-urls", "url"), ...list("urls", "web-urls", "url")];
  const files = list("urls", "pdf-urls", "url");
  const typeByName = workTypeOf((valueAt("ref-type") as Node | undefined)?.["@name"] as string | undefined);
  const type = narrowedType(typeByName, text("work-type"));
  const database = text("remote-database-name");
  const accession = text("accession-num");
  return {
    title: text("titles", "title"),
    authors: list("contributors", "authors", "author"),
    editors: list("contributors", "secondary-authors", "author"),
    dates: list("dates", "year"),
    day: text("dates", "pub-dates", "date"),
    venue: text("periodical", "full-title") ?? text("titles", "secondary-title") ?? text("titles", "alt-title"),
    volume: text("volume"),
    issue: text("number"),
    pages: text("pages"),
    abstract: text("abstract"),
    dois: [...list("electronic-resource-num"), ...list("notes")],
    pmid: /pubmed|medline/i.test(database ?? "") ? /^\d{1,9}$/.exec(accession ?? "")?.[0] : undefined,
    pmcid: /^PMC\d{1,9}$/i.exec(text("custom2") ?? "")?.[0],
    urls,
    type,
    numbers: list("isbn"),
    keywords: list("keywords", "keyword"),
    note: text("notes"),
    publisher: text("publisher"),
    place: text("pub-location"),
    edition: text("edition"),
    series: text("titles", "tertiary-title"),
    language: text("language"),
    accession,
    database,
    files: files.map((url) => url.replace(/^internal-pdf:\/\//, "")),
  };
}
