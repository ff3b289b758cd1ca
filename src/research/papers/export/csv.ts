import type { Paper, Rrd } from "../../generated/rrd.js";
import { authorsOf } from "../authors.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { type Reading, readingOf } from "../read-depth.js";
import { type CitedWork, worksOf } from "./cited-work.js";
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

const head =
  "id,key,title,authors,year,date,venue,doi,arxiv,url,pdf_url,decision,score,read,retracted,quotes,quotes_found,insights,tags,why".split(
    ",",
  );

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
 * One row for each paper of a project, for spreadsheets; authors and tags are parted by semicolons. It begins with the
 * byte-order mark, without which Excel does not take it for UTF-8.
 */
export function papersAsCsv(rrd: Rrd, wanted?: Paper["status"], more?: MoreColumns): string {
  const papers = new Map(rrd.papers_pool.map((paper) => [oneLine(paper.id), paper]));
  const insights = countEach((rrd.insights ?? []).map(({ paper_id }) => oneLine(paper_id ?? "")));
  const row = (work: CitedWork) => {
    const paper = papers.get(work.id);
    const quotes = paper?.analysis?.evidence ?? [];
    return [
      work.id,
      work.key,
      work.title,
      authorsOf(paper?.authors).map(oneLine).join("; "),
      work.year,
      oneLine(paper?.date ?? ""),
      work.venue,
      work.doi,
      work.arxiv,
      work.url,
      work.pdf,
      work.decision,
      paper?.score ?? undefined,
      paper === undefined ? undefined : readWords[readingOf(paper)],
      work.retracted ? "yes" : "no",
      quotes.length,
      quotes.filter(({ status }) => status === "verified").length,
      insights.get(work.id) ?? 0,
      work.tags.join("; "),
      oneLine(paper?.notes ?? ""),
      ...(more === undefined || paper === undefined ? [] : more.cells(paper)),
    ];
  };
  return `\ufeff${csvOf([[...head, ...(more?.head ?? [])], ...worksOf(rrd, wanted).map(row)])}`;
}
