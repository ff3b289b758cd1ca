import type { Paper, Rrd } from "../../generated/rrd.js";
import { authorsOf } from "../authors.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { fileNameOf } from "../reference.js";
import { type Reading, readingOf } from "../read-depth.js";
import { isCheckedForRetraction } from "../retraction-status.js";
import { usesScores } from "../rubric/rubric.js";
import { citedWorks, type TracedRecord, type WorkKind } from "./cited-work.js";
import { countEach } from "../../../engine/lib/group.js";

/** What a spreadsheet takes for a formula when a cell begins with it, in its full width too. */
const formula = /^\s*[=+\-@＝＋－＠|%\t\r]/;

type Rows = readonly (readonly (string | number | undefined)[])[];

/** Rows as CSV (RFC 4180, CRLF). A text that begins like a formula gets an apostrophe before it, so that none runs. */
export const csvOf = (rows: Rows): string => rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");

/** A number written here is not a formula, also a negative one. */
function cell(value: string | number | undefined): string {
  const text = value === undefined ? "" : typeof value === "number" ? String(value) : inert(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const inert = (text: string): string => (formula.test(text) ? `'${text}` : text);

const head = [
  "id,key,type,title,authors,editors,year,date,venue,volume,issue,pages,publisher,place,edition,series,isbn,issn,language",
  "doi,arxiv,pmid,pmcid,accession_number,url,pdf_url,file,keywords,abstract,note",
  "stage,decision,status,criterion,reason,quote,decided_by,duplicate_of,found_by",
  "score,read,retracted,quotes,quotes_found,insights,tags",
]
  .join(",")
  .split(",");

/** What a work is, in words that our own and other readers of tables know. */
const types: Readonly<Record<WorkKind, string>> = {
  article: "Journal article",
  conference: "Conference paper",
  chapter: "Book chapter",
  book: "Book",
  proceedings: "Proceedings",
  thesis: "Thesis",
  masters: "Master's thesis",
  report: "Report",
  preprint: "Preprint",
  dataset: "Dataset",
  software: "Software",
  patent: "Patent",
  web: "Web page",
  other: "",
};

/** Columns behind those that every project has. */
export interface MoreColumns {
  readonly head: readonly string[];
  cells(paper: Paper): readonly (string | number | undefined)[];
}

/** How far a paper was read, in the words of its cell; empty where nobody recorded it. */
const readWords: Readonly<Record<Reading, string>> = {
  full: "full",
  partial: "partial",
  abstract: "abstract",
  title: "title",
  unrecorded: "",
  unread: "no",
};

/**
 * One row for each record of a project, for spreadsheets; authors, keywords and tags are parted by semicolons. It
 * begins with the byte-order mark, without which Excel does not take it for UTF-8.
 */
export function recordsAsCsv(rrd: Rrd, records: readonly TracedRecord[], more: MoreColumns): string {
  const papers = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
  const isScored = usesScores(rrd);
  const insights = countEach((rrd.insights ?? []).map(({ paper_id }) => paper_id ?? ""));
  const rows = citedWorks(records).map((work, index) => {
    const { source, authors, outcome, id, status, date } = records[index] as TracedRecord;
    const paper = status === undefined ? undefined : papers.get(id);
    const quotes = paper?.analysis?.evidence ?? [];
    const { publication } = work;
    return [
      ...[work.id, work.key, types[work.kind], work.title, authorsOf(authors).map(oneLine).join("; ")],
      ...[publication.editors?.join("; "), work.year, oneLine(date ?? ""), work.venue, work.volume, work.issue],
      ...[work.pages, publication.publisher, publication.place, publication.edition, publication.series],
      ...[publication.isbn, publication.issn, publication.language, work.doi, work.arxiv, work.pmid, work.pmcid],
      ...[
        publication.accession,
        work.url,
        work.pdf,
        fileNameOf(records[index] as TracedRecord),
        publication.keywords?.join("; "),
        work.abstract,
        publication.note,
      ],
      ...[outcome.stage, outcome.decision, status ?? "", outcome.criterion, outcome.reason, outcome.quote],
      ...[outcome.decidedBy, outcome.duplicateOf, oneLine(source ?? "")],
      ...(isScored ? [paper?.score ?? undefined] : []),
      paper === undefined ? undefined : readWords[readingOf(paper)],
      work.retracted ? "yes" : paper !== undefined && isCheckedForRetraction(paper) ? "no" : "",
      ...(paper === undefined
        ? [undefined, undefined, undefined]
        : [quotes.length, quotes.filter((each) => each.status === "verified").length, insights.get(id) ?? 0]),
      work.tags.join("; "),
      ...(paper === undefined ? more.head.map(() => undefined) : more.cells(paper)),
    ];
  });
  return `\ufeff${csvOf([[...head.filter((name) => isScored || name !== "score"), ...more.head], ...rows])}`;
}
