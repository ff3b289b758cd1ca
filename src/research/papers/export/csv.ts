import type { Paper, Rrd } from "../../generated/rrd.js";
import { authorsOf } from "../authors.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { fileNameOf } from "../reference.js";
import { type Reading, readingOf } from "../read-depth.js";
import { isCheckedForRetraction } from "../paper-record.js";
import { statusWords, usesScores } from "../rubric/rubric.js";
import { citedWorks, type TracedRecord, type WorkKind } from "./cited-work.js";
import { countEach } from "../../../engine/lib/group.js";

/**
 * The beginning of a cell that spreadsheets treat as a formula, also with full-width characters. It also matches with
 * apostrophes before it: otherwise `withFormula` would remove an apostrophe that belongs to the text.
 */
const formula = /^'*\s*[=+\-@＝＋－＠|%\t\r]/;

type Rows = readonly (readonly (string | number | undefined)[])[];

/** Rows as CSV (RFC 4180, CRLF). A text that looks like a formula gets an apostrophe, so that it is not executed. */
export const csvOf = (rows: Rows): string => rows.map((row) => `${row.map(cellText).join(",")}\r\n`).join("");

/** A cell as CSV. Numbers are not treated as formulas, not even negative ones. */
function cellText(value: string | number | undefined): string {
  const text = value === undefined ? "" : typeof value === "number" ? String(value) : withoutFormula(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const withoutFormula = (text: string): string => (formula.test(text) ? `'${text}` : text);

/** The text of a cell without the apostrophe before a formula. */
export const withFormula = (storedText: string): string =>
  storedText.startsWith("'") && formula.test(storedText) ? storedText.slice(1) : storedText;

const headers = [
  "id,key,type,title,authors,editors,group_authors,year,date,venue,volume,issue,pages,publisher,place,edition,series,isbn,issn,language",
  "doi,arxiv,pmid,pmcid,accession_number,url,pdf_url,file,keywords,abstract,note",
  "stage,decision,status,criterion,reason,quote,decided_by,duplicate_of,found_by",
  "score,read,retracted,quotes,quotes_found,insights,tags",
]
  .join(",")
  .split(",");

/** Names for the kinds of works, which this program and other programs can read. */
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

/** Additional columns of a project: their headers, and the cells of a paper. */
export interface MoreColumns {
  readonly headers: readonly string[];
  cells(paper: Paper): readonly (string | number | undefined)[];
}

/** The text of a cell for how much of a paper was read; empty if that was not recorded. */
const readDepthTexts: Readonly<Record<Reading, string>> = {
  full: "full",
  partial: "partial",
  abstract: "abstract",
  title: "title",
  unrecorded: "",
  unread: "no",
};

/**
 * One row for each record of a project, for spreadsheets. Authors, keywords and tags are separated by semicolons. The
 * text begins with a byte order mark, which Excel needs to recognise UTF-8.
 */
export function recordsAsCsv(rrd: Rrd, records: readonly TracedRecord[], moreColumns: MoreColumns): string {
  const papers = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
  const isScored = usesScores(rrd);
  const insightCounts = countEach((rrd.insights ?? []).map(({ paper_id }) => paper_id ?? ""));
  const rows = citedWorks(records).map((work, index) => {
    const {
      source,
      authors,
      outcome,
      id,
      status,
      date,
      publication: { editors, groups } = {},
    } = records[index] as TracedRecord;
    const namesText = (names: readonly string[] = []) => names.map(oneLine).filter(Boolean).join("; ");
    const paper = status === undefined ? undefined : papers.get(id);
    const quotes = paper?.analysis?.evidence ?? [];
    const { publication } = work;
    // One line for some related columns, in the order of `headers`.
    return [
      ...[work.id, work.key, types[work.kind], work.title, namesText(authorsOf(authors))],
      ...[namesText(editors), namesText(groups), work.year, oneLine(date ?? ""), work.venue, work.volume, work.issue],
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
      ...[
        outcome.stage,
        outcome.decision,
        status && statusWords[status],
        outcome.criterion,
        outcome.reason,
        outcome.quote,
      ],
      ...[outcome.decidedBy, outcome.duplicateOf, oneLine(source ?? "")],
      ...(isScored ? [paper?.score ?? undefined] : []),
      paper === undefined ? undefined : readDepthTexts[readingOf(paper)],
      work.retracted ? "yes" : paper !== undefined && isCheckedForRetraction(paper) ? "no" : "",
      ...(paper === undefined
        ? [undefined, undefined, undefined]
        : [quotes.length, quotes.filter((quote) => quote.status === "verified").length, insightCounts.get(id) ?? 0]),
      work.tags.join("; "),
      ...(paper === undefined ? moreColumns.headers.map(() => undefined) : moreColumns.cells(paper)),
    ];
  });
  return `\ufeff${csvOf([[...headers.filter((name) => isScored || name !== "score"), ...moreColumns.headers], ...rows])}`;
}
