import type { Evidence, Extracted, Field, Paper } from "../../generated/rrd.js";
import { formOf, typeOf } from "../../project-files/form.js";
import { givenFor, textOf } from "../../units/form/check-values.js";
import type { ReportModel } from "../model.js";
import type { PaperRow } from "../papers.js";
import { type Quote, quoteAt } from "../quotes.js";

/** One cell of the table: what a reading gave for a field of a paper. */
export interface Cell {
  /** The value as it is shown, or why it is not shown. */
  readonly text: string;
  /** Whether `text` is a value of the paper's. */
  readonly isValue: boolean;
  /** ✓, ≈ or ?; empty where there is no value. */
  readonly sign: string;
  readonly status: Extracted["status"];
  /** What a reader has to know of it; empty where there is nothing. */
  readonly note: string;
  /** The passages that were found for it. */
  readonly quotes: readonly Quote[];
}

/** The table of what was extracted: a row for each paper that was read and stands, a column for each field. */
export interface ExtractedTable {
  readonly fields: readonly { readonly field: Field; readonly label: string; readonly isNumber: boolean }[];
  readonly rows: readonly { readonly paper: PaperRow; readonly cells: readonly Cell[] }[];
}

const signs: Readonly<Partial<Record<Extracted["status"], string>>> = {
  verified: "✓",
  near: "≈",
  "could-not-check": "?",
};

/** Whether a paper has a row: it was read, and nothing rejects it. */
export const isInTable = ({ status, isRetracted }: PaperRow): boolean =>
  !isRetracted && (status === "presented" || status === "insights" || status === "waiting");

/** Makes the table of a report. */
export function extractedTable({ rrd, rows }: Pick<ReportModel, "rrd" | "rows">): ExtractedTable {
  const form = formOf(rrd);
  const papers = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
  const shown = rows.filter(isInTable);
  return {
    fields: form.map((field) => ({
      field,
      label: field.unit === undefined ? field.name : `${field.name} (${field.unit})`,
      isNumber: typeOf(field) === "number",
    })),
    rows: shown.map((row) => ({
      paper: row,
      cells: form.map((field) => cellOf(field, row, papers.get(row.id) as Paper)),
    })),
  };
}

function cellOf(field: Field, row: PaperRow, paper: Paper): Cell {
  const given = givenFor(paper, field);
  const { status = "not-answered", value, reason = "", evidence = [] } = given ?? {};
  const sign = signs[status] ?? "";
  const isValue = value !== undefined && sign !== "";
  const quotes = isValue ? evidence.flatMap((each: Evidence, index) => quoteAt(paper, row, each, index + 1) ?? []) : [];
  const text = isValue
    ? textOf(value)
    : status === "not-reported"
      ? "not reported"
      : status === "not-in-text"
        ? "not shown"
        : "–";
  return { text, isValue, sign, status, note: given === undefined ? "not asked" : noteOf(status, reason), quotes };
}

function noteOf(status: Extracted["status"], reason: string): string {
  switch (status) {
    case "not-in-text":
      return `The paper does not bear out what was given. ${reason}`.trim();
    case "could-not-check":
      return reason === "" ? "could not be checked" : reason;
    case "not-answered":
      return "not answered";
    case "verified":
    case "near":
    case "not-reported":
      return reason;
  }
}
