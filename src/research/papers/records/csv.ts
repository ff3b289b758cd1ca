import type { CsvError } from "csv-parse/sync";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { ExpectedError } from "../../../engine/lib/errors.js";
import type { Columns } from "../../generated/rrd.js";
import { authorsOf } from "../authors.js";
import type { RawEntry, ReadEntry } from "./entry.js";
import { addressesIn, workTypeOf } from "./ris.js";

/**
 * The headers of columns, in lower case without punctuation, in exports of Scopus, Web of Science, PubMed, Embase,
 * Cochrane, ASReview, Rayyan, Covidence, Zotero and OpenAlex. The first header that a file has is used.
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

/** Columns with unknown headers: the name of a field and its header in the file. */
export type ChosenColumns = Columns;

/**
 * Parses options such as "title=Name". @throws ExpectedError (exit code 2) for an unknown field.
 */
export function parseColumns(typed: readonly string[]): ChosenColumns {
  const pairs = typed.map((pair) => {
    const separator = pair.indexOf("=");
    const name = columnNames.find((column) => column === pair.slice(0, separator).trim());
    if (separator === -1 || name === undefined)
      throw new ExpectedError(`--column ${pair}: write title=<header>; the fields are ${columnNames.join(", ")}.`, 2);
    return [name, pair.slice(separator + 1).trim()] as const;
  });
  return Object.fromEntries(pairs);
}

/** A header in lower case with spaces instead of punctuation: "author s" for "Author(s)". */
const plainHeader = (header: string): string =>
  header
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Whether a text is a table whose header has a title and at least one more known column. */
export function isRecordTable(text: string): boolean {
  return headerLine(text) !== undefined;
}

/** Maximum number of lines before the header: a description by Dimensions, or "sep=;" of spreadsheets. */
const maxLinesBeforeHeader = 3;

/** The line of the header, counted from 0; undefined if none of the first lines is a header. */
function headerLine(text: string): number | undefined {
  const lines = text
    .slice(0, 20_000)
    .split(/\r\n|\n|\r/)
    .slice(0, maxLinesBeforeHeader + 1);
  const separator = lines.findIndex((line) => {
    const headers = line.split(delimiterOf(line)).map(plainHeader);
    const hasColumn = (name: ColumnName) => columns[name].split("|").some((header) => headers.includes(header));
    return headers.length > 1 && hasColumn("title") && columnNames.filter(hasColumn).length > 1;
  });
  return separator === -1 ? undefined : separator;
}

/** The delimiter of cells: the most frequent one of comma, tab and semicolon in the header. */
export function delimiterOf(header: string): string {
  const unquoted = header.replace(/"(?:[^"]|"")*"/g, "");
  const count = (sign: string) => unquoted.split(sign).length;
  return [",", "\t", ";"].toSorted((a, b) => count(b) - count(a))[0] ?? ",";
}

/**
 * Reads the rows of a table as records. `chosen`: columns with unknown headers.
 * @throws ExpectedError (exit code 2) if there is no column for the title, or a chosen column does not exist.
 */
export async function readTable(text: string, path: string, chosen: ChosenColumns = {}): Promise<ReadEntry[]> {
  const { parse } = await import("csv-parse/sync");
  const linesBefore = headerLine(text) ?? (/^sep=.\s*$/m.test(text.slice(0, 10)) ? 1 : 0);
  const table = text
    .split(/(?<=\n)|(?<=\r)(?!\n)/)
    .slice(linesBefore)
    .join("");
  const [headerText = ""] = table.split(/\r\n|\n|\r/, 1);
  const errors: ReadEntry[] = [];
  const rows = parse(table, {
    bom: true,
    delimiter: delimiterOf(headerText),
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    info: true,
    on_skip: (error: CsvError | undefined) =>
      void errors.push({ line: Number(error?.["lines"] ?? 0) + linesBefore, why: "its quotation marks don't close" }),
  }) as unknown as readonly { readonly record: string[]; readonly info: { readonly lines: number } }[];
  const [headers, ...dataRows] = rows;
  const columnIndexes = indexesOf(headers?.record ?? [], path, chosen);
  const cellsOf = (record: readonly string[]): Cells => {
    return (name) => {
      const value = record[columnIndexes.get(name) ?? -1]?.trim() ?? "";
      // R writes NA for what is missing.
      return value === "" || value === "NA" ? undefined : value;
    };
  };
  const plainHeaders = (headers?.record ?? []).map(plainHeader);
  const isOwnExport = plainHeaders.includes("found by") && plainHeaders.includes("duplicate of");
  // If names are separated by semicolons in one row, commas do not separate them in other rows.
  const hasSemicolons =
    isOwnExport || dataRows.some(({ record }) => cellsOf(record)("authors")?.includes(";") === true);
  const entries = dataRows.map(({ record, info }): ReadEntry => {
    const cell = cellsOf(record);
    const ownKey = isOwnExport ? record[plainHeaders.indexOf("key")] : undefined;
    return {
      line: info.lines + linesBefore,
      entry: workOf(cell, hasSemicolons),
      ...withoutUndefined({ key: ownKey ?? cell("accession"), ownKey }),
    };
  });
  return [...entries, ...errors];
}

/** Returns a row's value of a field. */
type Cells = (name: ColumnName) => string | undefined;

function indexesOf(headers: readonly string[], path: string, chosen: ChosenColumns): Map<ColumnName, number> {
  const plainHeaders = headers.map(plainHeader);
  const columnIndexes = new Map<ColumnName, number>();
  for (const name of columnNames) {
    const chosenHeader = chosen[name];
    const names = [...(chosenHeader === undefined ? [] : [plainHeader(chosenHeader)]), ...columns[name].split("|")];
    const index = names.map((header) => plainHeaders.indexOf(header)).find((position) => position !== -1);
    if (chosenHeader !== undefined && index === undefined)
      throw new ExpectedError(`${path} has no column '${chosenHeader}'; its columns are ${headerList(headers)}.`, 2);
    if (index !== undefined) columnIndexes.set(name, index);
  }
  // Scopus and ASySD have the database in the column "Source", and the journal in another one.
  const [source, venue] = [plainHeaders.indexOf("source"), columnIndexes.get("venue")];
  if (source !== -1 && venue !== source && !columnIndexes.has("database")) columnIndexes.set("database", source);
  if (!columnIndexes.has("title"))
    throw new ExpectedError(
      `${path} has no column that is known as the title; name it with --column title=<header>. Its columns are ${headerList(headers)}.`,
      2,
    );
  return columnIndexes;
}

const headerList = (headers: readonly string[]): string =>
  `${headers
    .slice(0, 30)
    .map((header) => `'${header.trim().slice(0, 60)}'`)
    .join(", ")}${headers.length > 30 ? ", …" : ""}`;

/** `hasSemicolons`: names are separated by semicolons. */
function workOf(cell: Cells, hasSemicolons: boolean): RawEntry {
  const list = (...names: readonly ColumnName[]) => names.flatMap((name) => cell(name) ?? []);
  return {
    title: cell("title"),
    authors: namesOf(cell("authors"), hasSemicolons),
    editors: namesOf(cell("editors"), hasSemicolons),
    dates: list("year", "date"),
    day: list("month", "day").join(" ") || cell("date"),
    venue: cell("venue")?.replace(placeSuffix, ""),
    volume: cell("volume"),
    issue: cell("issue"),
    pages: [cell("pages"), cell("firstPage")].find((value) => value !== undefined && !isExcelDate(value)),
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

/** Year and volume after a journal's name, as in Embase and Cochrane: " (2020) 12:3 (1-12)", ", 2020, 12(3)". */
const placeSuffix = /(?: \((?:1[89]|20)\d\d\) \d|, (?:1[89]|20)\d\d, ).*$/s;

/** Whether a spreadsheet has converted pages such as 11-19 to a date: "19-Nov", "Nov 19". The order is lost then. */
const isExcelDate = (pages: string): boolean => /^(?:\d{1,2}[-. ]\p{L}{3,4}\.?|\p{L}{3,4}[-. ]\d{1,2})$/u.test(pages);

/** A PubMed id, also at the end of an address, or in a spreadsheet's format: "30000012.0", "3.0000011E+07". */
function numberIn(cell: string): string | undefined {
  const [, firstDigit, fraction = "", power] = /^(\d)[.,](\d{1,8})e\+?0?(\d)$/i.exec(cell) ?? [];
  if (firstDigit !== undefined) return fraction.length === Number(power) ? firstDigit + fraction : undefined;
  return /(\d{1,9})(?:[.,]0+)?\/?$/.exec(cell)?.[1];
}

/** The names in a cell. Scopus adds an id after each name, and OpenAlex separates names by a vertical bar. */
function namesOf(cell: string | undefined, hasSemicolons: boolean): string[] {
  if (cell === undefined) return [];
  // A list in Python's format, from ASReview.
  const pythonList = /^\[(['"])(.*)\1\]$/s.exec(cell)?.[2];
  if (pythonList !== undefined) return pythonList.split(/['"], ['"]/);
  // PubMed ends the list with a full stop: "Sample A, Example BC."
  const isPubMedList = /^(?:[^,.;]+ \p{Lu}{1,3}(?:, |\.$))+$/u.test(cell);
  const headerList = isPubMedList ? cell.slice(0, -1) : cell;
  const unquoted = headerList.replace(/\(\d{6,}\)/g, "");
  const splitNames = unquoted.includes("|")
    ? unquoted.split("|")
    : unquoted.includes("\n")
      ? unquoted.split("\n")
      : undefined;
  return splitNames ?? (hasSemicolons ? unquoted.split(";") : [...authorsOf(unquoted)]);
}
