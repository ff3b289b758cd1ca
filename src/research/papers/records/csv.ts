import type { CsvError } from "csv-parse/sync";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { ExpectedError } from "../../../engine/lib/errors.js";
import type { Columns } from "../../generated/rrd.js";
import { authorsOf } from "../authors.js";
import { groupName, type RawEntry, type ReadEntry } from "./entry.js";
import { withFormula } from "../export/csv.js";
import { addressesIn, isRetractedType, withoutStop, workTypeOf } from "./ris.js";

/**
 * The headers of columns, in lower case without punctuation, in exports of Scopus, Web of Science, PubMed, Embase,
 * Cochrane, ASReview, Rayyan, Covidence, Zotero and OpenAlex. In each row, the first of them with a value is used.
 */
const columns = {
  title: "title|article title|document title|item title|display name|primary title|ti|t1",
  authors:
    "author full names|authors|author|author s|author names|authorships author display name|authors name|author string|af|au|creators|creator|book author full names|book authors|bf|ba",
  groups: "group authors|ca",
  editors: "editors|editor|book editors|be",
  year: "year|publication year|published year|py|pubyear|pub year|year published",
  date: "date|publication date|date published|published date|date of publication|first publication date|pd",
  month: "month|published month",
  day: "day|published day",
  venue:
    "journal info journal title|source title|journal book|journal|publication title|journal title|secondary title|source|book title|pubtitle|primary location source display name|so|t2|container title|venue|journal name|publication",
  citation: "citation",
  volume: "volume|biblio volume|journal volume|journal info volume|vl",
  issue: "issue|number|issue number|biblio issue|journal info issue|is",
  pages: "pages|page range|pagination|journal pages|page info|page",
  firstPage: "page start|start page|first page|startpage|biblio first page|bp|art no|article number|ar",
  lastPage: "page end|end page|last page|endpage|biblio last page|ep",
  abstract: "abstract|abstract note|notes abstract|abstract text|ab",
  doi: "doi|item doi|external ids doi|di|digital object identifier|digitalobjectidentifier|doi link",
  pmid: "pubmed id|pmid|pubmed pmid|medline pmid|ids pmid|external ids pubmed|pm",
  pmcid: "pmcid|pmc id|ids pmcid|external ids pubmedcentral|pmc",
  arxiv: "arxiv|arxiv id|external ids arxiv",
  url: "url|link|landing page url|primary location landing page url|urls|full text url|external url|articleurl|ur",
  type: "document type|item type|publication type|publication types|pub type list pub type|content type|type crossref|type|dt|document identifier",
  retracted: "retracted|is retracted",
  isbn: "isbn|isbns|bn",
  issn: "issn|issns|print issn|journal info journal issn|primary location source issn l|sn",
  keywords: "author keywords|keywords|keyword list keyword|keywords display name|manual tags|tags|keyword|de",
  publisher: "publisher|pu",
  place: "place|publisher location|publisher city|location|pi",
  edition: "edition",
  series: "series|series title|book series title|se",
  language: "language of original document|language of article|language|publication language|la",
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
  const table = linesOf(text).slice(linesBefore).join("");
  const [headerText = ""] = table.split(/\r\n|\n|\r/, 1);
  const { rows, errors } = rowsOf(parse, table, delimiterOf(headerText), linesBefore);
  const [{ cells: headers } = { cells: [] }, ...dataRows] = rows;
  const columnIndexes = indexesOf(headers, path, chosen);
  const cellsOf = (cells: readonly string[]): Cells => {
    return (name) =>
      (columnIndexes.get(name) ?? [])
        .map((index) => cells[index]?.trim() ?? "")
        // R writes NA for what is missing.
        .find((value) => value !== "" && value !== "NA");
  };
  const plainHeaders = headers.map(plainHeader);
  const isOwnExport = plainHeaders.includes("found by") && plainHeaders.includes("duplicate of");
  // If names are separated by semicolons in one row, commas do not separate them in other rows.
  const hasSemicolons = isOwnExport || dataRows.some(({ cells }) => cellsOf(cells)("authors")?.includes(";") === true);
  const entries = dataRows.map(({ cells, line }): ReadEntry => {
    const cell = cellsOf(isOwnExport ? cells.map(withFormula) : cells);
    const ownKey = isOwnExport ? cells[plainHeaders.indexOf("key")] : undefined;
    const isLonger = cells.slice(headers.length).some((value) => value.trim() !== "");
    return {
      line,
      entry: workOf(cell, hasSemicolons),
      ...(isLonger ? { lost: ["it has more cells than the header, so they may be in the wrong columns"] } : {}),
      ...withoutUndefined({ key: ownKey ?? cell("accession"), ownKey }),
    };
  });
  return [...entries, ...errors];
}

/** The lines of a text with their ends. */
const linesOf = (text: string): string[] => text.split(/(?<=\n)|(?<=\r)(?!\n)/);

interface Row {
  readonly cells: readonly string[];
  /** The line where it ends. */
  readonly line: number;
}

/**
 * The rows of a table. If a quotation mark is not closed, only the row of that line is lost. `linesBefore`: the number
 * of lines of the file before the text.
 */
function rowsOf(
  parse: typeof import("csv-parse/sync").parse,
  text: string,
  delimiter: string,
  linesBefore: number,
): { readonly rows: readonly Row[]; readonly errors: readonly ReadEntry[] } {
  let isUnclosed = false;
  const parsed = parse(text, {
    bom: true,
    delimiter,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    skip_records_with_error: true,
    info: true,
    raw: true,
    on_skip: (error: CsvError | undefined) => void (isUnclosed ||= error !== undefined),
  }) as unknown as readonly {
    readonly record: string[];
    readonly info: { readonly lines: number };
    readonly raw: string;
  }[];
  const [rows, errors]: [Row[], ReadEntry[]] = [[], []];
  /** Leaves out the line of an unclosed quotation mark, and reads the following ones. */
  const readAfter = (rest: string, line: number) => {
    errors.push({ line, why: "its quotation marks don't close" });
    const following = rowsOf(parse, linesOf(rest).slice(1).join(""), delimiter, line);
    rows.push(...following.rows);
    errors.push(...following.errors);
  };
  for (const { record, info, raw } of parsed) {
    const line = info.lines + linesBefore;
    const rowText = raw.trim();
    // The parser takes a mark that is not closed as a part of the value, with the next line.
    if (record.some((value) => /^"[^"]*[\r\n]/.test(value)) && !rowText.includes('"""'))
      readAfter(rowText, line - linesOf(rowText).length + 1);
    else rows.push({ cells: record, line });
  }
  if (isUnclosed) {
    const lines = linesOf(text);
    const start = lines.findIndex((each, index) => index >= (parsed.at(-1)?.info.lines ?? 0) && each.trim() !== "");
    readAfter(lines.slice(start).join(""), start + 1 + linesBefore);
  }
  return { rows, errors };
}

/** Returns a row's value of a field. */
type Cells = (name: ColumnName) => string | undefined;

const indexesIn = (headers: readonly string[], names: readonly string[]): number[] =>
  names.map((name) => headers.indexOf(name)).filter((index) => index !== -1);

function indexesOf(headers: readonly string[], path: string, chosen: ChosenColumns): Map<ColumnName, number[]> {
  const plainHeaders = headers.map(plainHeader);
  const columnIndexes = new Map<ColumnName, number[]>();
  for (const name of columnNames) {
    const chosenHeader = chosen[name];
    const chosenIndex = chosenHeader === undefined ? -1 : plainHeaders.indexOf(plainHeader(chosenHeader));
    // Of several lists, only some may have the chosen header.
    const indexes = chosenIndex === -1 ? indexesIn(plainHeaders, columns[name].split("|")) : [chosenIndex];
    if (chosenHeader !== undefined && indexes.length === 0)
      throw new ExpectedError(`${path} has no column '${chosenHeader}'; its columns are ${headerList(headers)}.`, 2);
    // A number of another program does not replace a missing accession number.
    if (indexes.length > 0) columnIndexes.set(name, name === "accession" ? indexes.slice(0, 1) : indexes);
  }
  // Scopus and ASySD have the database in the column "Source", and the journal in another one.
  const [source, [venue, ...otherVenues]] = [plainHeaders.indexOf("source"), columnIndexes.get("venue") ?? []];
  if (source !== -1 && venue !== undefined && venue !== source) {
    columnIndexes.set("venue", [venue, ...otherVenues.filter((index) => index !== source)]);
    if (!columnIndexes.has("database")) columnIndexes.set("database", [source]);
  }
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

/** The work of a row: its values by their headers, in lower case. Undefined if it has no known field of its own. */
export function workOfRow(row: ReadonlyMap<string, string>): RawEntry | undefined {
  const cell: Cells = (name) =>
    columns[name]
      .split("|")
      .map((header) => row.get(header))
      .find(Boolean);
  const isKnown = (["authors", "year", "date", "doi"] as const).some((name) => cell(name) !== undefined);
  return isKnown ? workOf(cell, cell("authors")?.includes(";") === true) : undefined;
}

/** `hasSemicolons`: names are separated by semicolons. */
function workOf(cell: Cells, hasSemicolons: boolean): RawEntry {
  const list = (...names: readonly ColumnName[]) => names.flatMap((name) => cell(name) ?? []);
  const [venue, placeAfterVenue = ""] = cell("venue")?.split(placeStart) ?? [];
  const place = placeIn(placeAfterVenue) ?? placeIn(cell("citation")?.split(placeStart)[1] ?? "");
  const [authors, editors, groups] = (["authors", "editors", "groups"] as const).map((name) =>
    namesOf(cell(name), hasSemicolons).map((each) => each.trim()),
  ) as [string[], string[], string[]];
  const marked = (name: string): string => (groups.includes(name) ? groupName(name) : name);
  return {
    // PubMed ends titles with a full stop.
    title: cell("pmid") === undefined ? cell("title") : withoutStop(cell("title")),
    authors: [
      ...authors.map(marked),
      ...groups.filter((name) => ![...authors, ...editors].includes(name)).map(groupName),
    ],
    editors: editors.map(marked),
    dates: list("year", "date"),
    day: list("month", "day").join(" ") || cell("date"),
    venue,
    volume: cell("volume") ?? place?.volume,
    issue: cell("issue") ?? place?.issue,
    pages: [cell("pages"), cell("firstPage"), place?.pages].find((value) => value !== undefined && !isExcelDate(value)),
    lastPage: cell("lastPage"),
    abstract: cell("abstract"),
    dois: list("doi"),
    arxiv: list("arxiv", "url"),
    pmid: numberIn(cell("pmid") ?? ""),
    pmcid: cell("pmcid"),
    urls: list("url").flatMap((value) => addressesIn(value)),
    type: workTypeOf(cell("type")?.replaceAll(/([a-z])([A-Z])/g, "$1 $2")),
    retracted: isRetractedType(cell("type")) || /^(?:yes|true|1)$/i.test(cell("retracted") ?? ""),
    numbers: list("isbn", "issn"),
    // Embase separates keywords by commas without spaces; "Asthma, childhood" is one keyword.
    keywords:
      itemsOf(cell("keywords") ?? "") ?? (cell("keywords") ?? "").split(hasSemicolons ? /[;|]/ : /[;|]|,(?![\s\d])/),
    note: list("note", "extra").join("\n"),
    publisher: cell("publisher"),
    place: cell("place"),
    edition: cell("edition"),
    series: cell("series"),
    language: cell("language"),
    accession: cell("accession"),
    // Embase has the journal's name with the place in the column "Source", beside the one for the name alone.
    database: placeStart.test(cell("database") ?? "") ? undefined : cell("database"),
    files: (cell("files") ?? "").split(/;\s*/),
  };
}

/**
 * What separates a journal's name from its year and volume, as in Embase, Cochrane and PubMed: "J (2020) 12:3 (1-12)",
 * "J, 2020, 12(3), 1-12", "J. 2020 May;12(3):1-12".
 */
const placeStart = /(?: \(|, |\. )(?=(?:1[89]|20)\d\d(?:\) \d|, |[^;.]{0,12};\d))/;

/** The volume, issue and pages after a year. */
function placeIn(
  text: string,
): { readonly volume?: string; readonly issue?: string; readonly pages?: string } | undefined {
  const [, volume, inBrackets, afterColon, pages] =
    /^\d{4}(?:\) |, |[^;.]{0,12};)(\d[\dA-Z]{0,5})(?![\da-z])(?:\(([^()]{1,20})\)|:(\w{1,10})(?= ))?(?:(?:, |:| \()([A-Za-z]{0,2}\d[\w‐–-]{0,20}))?/.exec(
      text,
    ) ?? [];
  return volume === undefined ? undefined : withoutUndefined({ volume, issue: inBrackets ?? afterColon, pages });
}

/** Whether a spreadsheet has converted pages such as 11-19 to a date: "19-Nov", "Nov 19". The order is lost then. */
const isExcelDate = (pages: string): boolean => /^(?:\d{1,2}[-. ]\p{L}{3,4}\.?|\p{L}{3,4}[-. ]\d{1,2})$/u.test(pages);

/** A PubMed id, also at the end of an address, or in a spreadsheet's format: "30000012.0", "3.0000011E+07". */
function numberIn(cell: string): string | undefined {
  const [, firstDigit, fraction = "", power] = /^(\d)[.,](\d{1,8})e\+?0?(\d)$/i.exec(cell) ?? [];
  if (firstDigit !== undefined) return fraction.length === Number(power) ? firstDigit + fraction : undefined;
  return /(\d{1,9})(?:[.,]0+)?\/?$/.exec(cell)?.[1];
}

/** A person in PubMed's lists: "Example BC", "Example BC 3rd". */
const pubMedPerson = /^[^,.;]+ \p{Lu}{1,3}(?: \S{2,3})?$/u;
/** A list of PubMed: a person first, groups last, and a full stop: "Sample A, Example BC; Shrew Group." */
const pubMedList = /^([^,.;]+ \p{Lu}{1,3}(?: \S{2,3})?(?:, [^.;]+)?)(?:; (.+))?\.$/u;

/** The names in a cell. Scopus adds an id after each name, and OpenAlex separates names by a vertical bar. */
function namesOf(cell: string | undefined, hasSemicolons: boolean): string[] {
  if (cell === undefined) return [];
  const items = itemsOf(cell);
  if (items !== undefined) return items;
  const [, names, groups = ""] = pubMedList.exec(cell) ?? [];
  if (names !== undefined)
    return [
      ...names.split(", ").map((name) => (pubMedPerson.test(name) ? name : groupName(name))),
      ...groups.split("; ").filter(Boolean).map(groupName),
    ];
  const unquoted = cell.replace(/\(\d{6,}\)/g, "");
  const splitNames = unquoted.includes("|")
    ? unquoted.split("|")
    : unquoted.includes("\n")
      ? unquoted.split("\n")
      : undefined;
  return splitNames ?? (hasSemicolons ? unquoted.split(";") : [...authorsOf(unquoted)]);
}

/** The items of a list in Python's format, from ASReview. */
const itemsOf = (cell: string): string[] | undefined => /^\[(['"])(.*)\1\]$/s.exec(cell)?.[2]?.split(/['"], ['"]/);
