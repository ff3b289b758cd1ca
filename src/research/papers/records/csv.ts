import type { CsvError } from "csv-parse/sync";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { ExpectedError } from "../../../engine/lib/errors.js";
import type { Columns } from "../../generated/rrd.js";
import { authorsOf } from "../authors.js";
import type { RawEntry, ReadEntry } from "./entry.js";
import { addressesIn, workTypeOf } from "./ris.js";

/**
 * What the columns of exports are called, in small letters without signs: those of Scopus, Web of Science, PubMed,
 * Embase, Cochrane, ASReview, Rayyan, Covidence, Zotero and OpenAlex. The first that a file has is taken.
 */
const columns = {
  title: "title|article title|document title|display name|primary title|ti|t1",
  authors:
    "author full names|authors|author|author s|author names|authorships author display name|af|au|creators|creator",
  editors: "editors|editor|book editors|be",
  year: "year|publication year|published year|py|pubyear|year published",
  date: "date|publication date|date published|published date|date of publication|pd",
  month: "month|published month",
  day: "day|published day",
  venue:
    "source title|journal book|journal|publication title|journal title|secondary title|source|book title|pubtitle|primary location source display name|so|t2|container title|venue|publication",
  volume: "volume|biblio volume|vl",
  issue: "issue|number|issue number|biblio issue|is",
  pages: "pages|page range|pagination|page",
  firstPage: "page start|start page|first page|startpage|biblio first page|bp|art no|article number|ar",
  lastPage: "page end|end page|last page|endpage|biblio last page|ep",
  abstract: "abstract|abstract note|notes abstract|ab",
  doi: "doi|di|digital object identifier|digitalobjectidentifier|doi link",
  pmid: "pubmed id|pmid|pubmed pmid|medline pmid|ids pmid|pm",
  pmcid: "pmcid|pmc id|ids pmcid|pmc",
  arxiv: "arxiv|arxiv id",
  url: "url|link|landing page url|primary location landing page url|urls|full text url|external url|articleurl|ur",
  type: "document type|item type|publication type|type|dt|document identifier",
  isbn: "isbn|isbns|bn",
  issn: "issn|issns|print issn|primary location source issn l|sn",
  keywords: "author keywords|keywords|manual tags|tags|keyword|de",
  publisher: "publisher|pu",
  place: "place|publisher location|location",
  edition: "edition",
  series: "series|series title",
  language: "language of original document|language|publication language|la",
  note: "notes|note",
  extra: "extra",
  accession: "ut unique wos id|accession number|eid|embase accession id|pui|unique id|ut|id|key",
  database: "database|database name|source database",
  files: "file attachments|pdf|file",
} as const;
type ColumnName = keyof typeof columns;

const columnNames = Object.keys(columns) as ColumnName[];

/** How columns are called whose headers are not known: the name of a field, and the header that holds it. */
export type ChosenColumns = Columns;

/**
 * Reads "title=Name" and the like, as they are typed.
 * @throws ExpectedError (exit code 2) for a field that no record has.
 */
export function chosenColumns(typed: readonly string[]): ChosenColumns {
  const pairs = typed.map((pair) => {
    const at = pair.indexOf("=");
    const name = columnNames.find((each) => each === pair.slice(0, at).trim());
    if (at === -1 || name === undefined)
      throw new ExpectedError(`--column ${pair}: write title=<header>; the fields are ${columnNames.join(", ")}.`, 2);
    return [name, pair.slice(at + 1).trim()] as const;
  });
  return Object.fromEntries(pairs);
}

/** A header in small letters, its signs as blanks: "Author(s)" is "author s". */
const plainHeader = (header: string): string =>
  header
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Whether a text is a table whose header names a title and something else that is known. */
export function isRecordTable(text: string): boolean {
  return headerAt(text) !== undefined;
}

/** Lines that may stand before the header: what Dimensions says of its export, or the "sep=;" of spreadsheets. */
const maxBefore = 3;

/** The line of the header, counted from 0; undefined where none of the first lines is one. */
function headerAt(text: string): number | undefined {
  const lines = text
    .slice(0, 20_000)
    .split(/\r\n|\n|\r/)
    .slice(0, maxBefore + 1);
  const at = lines.findIndex((line) => {
    const headers = line.split(delimiterOf(line)).map(plainHeader);
    const knows = (name: ColumnName) => columns[name].split("|").some((each) => headers.includes(each));
    return headers.length > 1 && knows("title") && columnNames.filter(knows).length > 1;
  });
  return at === -1 ? undefined : at;
}

/** The sign that parts the cells: of comma, tab and semicolon the one that the header has most of. */
function delimiterOf(header: string): string {
  const bare = header.replace(/"(?:[^"]|"")*"/g, "");
  const count = (sign: string) => bare.split(sign).length;
  return [",", "\t", ";"].toSorted((a, b) => count(b) - count(a))[0] ?? ",";
}

/**
 * Reads the rows of a table as records. `chosen`: the header of a column whose own name is not known.
 * @throws ExpectedError (exit code 2) where no column is the title, or a chosen one is not there.
 */
export async function readTable(text: string, path: string, chosen: ChosenColumns = {}): Promise<ReadEntry[]> {
  const { parse } = await import("csv-parse/sync");
  const before = headerAt(text) ?? (/^sep=.\s*$/m.test(text.slice(0, 10)) ? 1 : 0);
  const table = text
    .split(/(?<=\n)|(?<=\r)(?!\n)/)
    .slice(before)
    .join("");
  const [head = ""] = table.split(/\r\n|\n|\r/, 1);
  const errors: ReadEntry[] = [];
  const rows = parse(table, {
    bom: true,
    delimiter: delimiterOf(head),
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    info: true,
    on_skip: (error: CsvError | undefined) =>
      void errors.push({ line: Number(error?.["lines"] ?? 0) + before, why: "its quotation marks don't close" }),
  }) as unknown as readonly { readonly record: string[]; readonly info: { readonly lines: number } }[];
  const [headers, ...others] = rows;
  const places = placesOf(headers?.record ?? [], path, chosen);
  const cellsOf = (record: readonly string[]): Cells => {
    return (name) => {
      const value = record[places.get(name) ?? -1]?.trim() ?? "";
      // R writes NA for what is missing.
      return value === "" || value === "NA" ? undefined : value;
    };
  };
  const plain = (headers?.record ?? []).map(plainHeader);
  const isOurs = plain.includes("found by") && plain.includes("duplicate of");
  // Where one row parts names by semicolons, a comma parts none in the others.
  const isParted = isOurs || others.some(({ record }) => cellsOf(record)("authors")?.includes(";") === true);
  const entries = others.map(({ record, info }): ReadEntry => {
    const cell = cellsOf(record);
    const ownKey = isOurs ? record[plain.indexOf("key")] : undefined;
    return {
      line: info.lines + before,
      entry: workOf(cell, isParted),
      ...withoutUndefined({ key: ownKey ?? cell("accession"), ownKey }),
    };
  });
  return [...entries, ...errors];
}

/** A row's value of a field. */
type Cells = (name: ColumnName) => string | undefined;

function placesOf(headers: readonly string[], path: string, chosen: ChosenColumns): Map<ColumnName, number> {
  const plain = headers.map(plainHeader);
  const places = new Map<ColumnName, number>();
  for (const name of columnNames) {
    const wanted = chosen[name];
    const names = [...(wanted === undefined ? [] : [plainHeader(wanted)]), ...columns[name].split("|")];
    const found = names.map((each) => plain.indexOf(each)).find((at) => at !== -1);
    if (wanted !== undefined && found === undefined)
      throw new ExpectedError(`${path} has no column '${wanted}'; its columns are ${listed(headers)}.`, 2);
    if (found !== undefined) places.set(name, found);
  }
  // Scopus and ASySD name the journal in one column, and the database in "Source".
  const [source, venue] = [plain.indexOf("source"), places.get("venue")];
  if (source !== -1 && venue !== source && !places.has("database")) places.set("database", source);
  if (!places.has("title"))
    throw new ExpectedError(
      `${path} has no column that is known as the title; name it with --column title=<header>. Its columns are ${listed(headers)}.`,
      2,
    );
  return places;
}

const listed = (headers: readonly string[]): string =>
  `${headers
    .slice(0, 30)
    .map((header) => `'${header.trim().slice(0, 60)}'`)
    .join(", ")}${headers.length > 30 ? ", …" : ""}`;

/** `isParted`: names stand apart by semicolons. */
function workOf(cell: Cells, isParted: boolean): RawEntry {
  const list = (...names: readonly ColumnName[]) => names.flatMap((name) => cell(name) ?? []);
  return {
    title: cell("title"),
    authors: namesOf(cell("authors"), isParted),
    editors: namesOf(cell("editors"), isParted),
    dates: list("year", "date"),
    day: list("month", "day").join(" ") || cell("date"),
    venue: cell("venue")?.replace(inJournal, ""),
    volume: cell("volume"),
    issue: cell("issue"),
    pages: [cell("pages"), cell("firstPage")].find((each) => each !== undefined && !isExcelDate(each)),
    lastPage: cell("lastPage"),
    abstract: cell("abstract"),
    dois: list("doi"),
    arxiv: list("arxiv", "url"),
    pmid: numberIn(cell("pmid") ?? ""),
    pmcid: cell("pmcid"),
    urls: list("url").flatMap((value) => addressesIn(value)),
    type: workTypeOf(cell("type")?.replaceAll(/([a-z])([A-Z])/g, "$1 $2")),
    numbers: list("isbn", "issn"),
    keywords: (cell("keywords") ?? "").split(/[;|]/),
    note: list("note", "extra").join("\n"),
    publisher: cell("publisher"),
    place: cell("place"),
    edition: cell("edition"),
    series: cell("series"),
    language: cell("language"),
    accession: cell("accession"),
    database: cell("database"),
    files: (cell("files") ?? "").split(/;\s*/),
  };
}

/** A place in a journal, which Embase and Cochrane write behind its name: " (2020) 12:3 (1-12)", ", 2020, 12(3)". */
const inJournal = /(?: \((?:1[89]|20)\d\d\) \d|, (?:1[89]|20)\d\d, ).*$/s;

/** What spreadsheets make of pages such as 11-19: "19-Nov", "Nov 19". Which came first is lost. */
const isExcelDate = (pages: string): boolean => /^(?:\d{1,2}[-. ]\p{L}{3,4}\.?|\p{L}{3,4}[-. ]\d{1,2})$/u.test(pages);

/** A number of PubMed, also at the end of its address, and as spreadsheets write it: "30000012.0", "3.0000011E+07". */
function numberIn(cell: string): string | undefined {
  const [, whole, fraction = "", power] = /^(\d)[.,](\d{1,8})e\+?0?(\d)$/i.exec(cell) ?? [];
  if (whole !== undefined) return fraction.length === Number(power) ? whole + fraction : undefined;
  return /(\d{1,9})(?:[.,]0+)?\/?$/.exec(cell)?.[1];
}

/** Scopus writes the number of each author behind the name, OpenAlex a line between two. */
function namesOf(cell: string | undefined, isParted: boolean): string[] {
  if (cell === undefined) return [];
  // A list as Python writes it, in a table of ASReview.
  const inPython = /^\[(['"])(.*)\1\]$/s.exec(cell)?.[2];
  if (inPython !== undefined) return inPython.split(/['"], ['"]/);
  // PubMed ends the list with a full stop: "Sample A, Example BC."
  const isPubMeds = /^(?:[^,.;]+ \p{Lu}{1,3}(?:, |\.$))+$/u.test(cell);
  const listed = isPubMeds ? cell.slice(0, -1) : cell;
  const bare = listed.replace(/\(\d{6,}\)/g, "");
  const parted = bare.includes("|") ? bare.split("|") : bare.includes("\n") ? bare.split("\n") : undefined;
  return parted ?? (isParted ? bare.split(";") : [...authorsOf(bare)]);
}
