import type { Evidence, Extracted, Field, Paper, Settled } from "../../generated/rrd.js";
import { formOf, typeOf } from "../../project-files/form.js";
import { type FieldAnswers, answersFor, type FieldAgreement, fieldAgreements } from "../../units/form/agreement.js";
import { textOf } from "../../units/form/check-values.js";
import { exclusionOf } from "../../screening/eligibility/eligibility.js";
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
  /** Where two agents filled in the form and differ: what each of them gave. */
  readonly sides?: readonly Side[];
}

/** What one of two agents gave for a cell on which they differ, or a person instead. */
export interface Side extends Pick<Cell, "text" | "sign" | "quotes"> {
  /** "claude (first)". */
  readonly by: string;
  /** A person decided that this one counts. */
  readonly isTaken: boolean;
}

/** The table of what was extracted: a row for each paper that was read and stands, a column for each field. */
export interface ExtractedTable {
  readonly fields: readonly { readonly field: Field; readonly label: string; readonly isNumber: boolean }[];
  readonly rows: readonly { readonly paper: PaperRow; readonly cells: readonly Cell[] }[];
  /** How far two agents agree, by field; empty where one alone has filled in forms. */
  readonly agreements: readonly FieldAgreement[];
  /** Cells on which they differ and no person has decided. */
  readonly open: number;
}

const signs: Readonly<Partial<Record<Extracted["status"], string>>> = {
  verified: "✓",
  near: "≈",
  "could-not-check": "?",
};

/** The papers that have a row: they were read, and neither a criterion, a person nor a retraction excludes them. */
export function rowsOfTable({ rrd, rows }: Pick<ReportModel, "rrd" | "rows">): PaperRow[] {
  const byPoints = new Set(
    rrd.papers_pool
      .filter((paper) => paper.extracted !== undefined && exclusionOf(paper) === undefined)
      .map(({ id }) => id),
  );
  return rows.filter(
    ({ id, status, isRetracted }) =>
      !isRetracted &&
      (status === "presented" ||
        status === "insights" ||
        status === "waiting" ||
        (status === "rejected" && byPoints.has(id))),
  );
}

/** Makes the table of a report. */
export function extractedTable({ rrd, rows }: Pick<ReportModel, "rrd" | "rows">): ExtractedTable {
  const form = formOf(rrd);
  const papers = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
  const lines = rowsOfTable({ rrd, rows }).map((row) => ({
    paper: row,
    cells: form.map((field) => cellOf(field, row, papers.get(row.id) as Paper)),
  }));
  const isOpen = ({ sides }: Cell) => sides !== undefined && !sides.some(({ isTaken }) => isTaken);
  return {
    fields: form.map((field) => ({
      field,
      label: field.unit === undefined ? field.name : `${field.name} (${field.unit})`,
      isNumber: typeOf(field) === "number",
    })),
    rows: lines,
    agreements: fieldAgreements(rrd),
    open: lines.flatMap(({ cells }) => cells).filter(isOpen).length,
  };
}

function cellOf(field: Field, row: PaperRow, paper: Paper): Cell {
  const answered = answersFor(paper, field);
  const { final, agree } = answered;
  const cell = shownValue(final, row, paper);
  return agree === false ? { ...cell, sides: sidesOf(answered, row, paper) } : cell;
}

/** Both values with their passages, and a person's own. */
function sidesOf({ first, second, settled }: FieldAnswers, row: PaperRow, paper: Paper): readonly Side[] {
  const sideOf = (given: Extracted | undefined, take: Settled["take"]): Side => {
    const { text, sign, quotes, note } = shownValue(given, row, paper);
    const by =
      take === "own" ? `a person's own${note === "" ? "" : `; ${note}`}` : `${given?.by ?? "an agent"} (${take})`;
    return { by, text, sign, quotes, isTaken: settled?.take === take };
  };
  const own = settled?.own === undefined ? [] : [sideOf(settled.own, "own")];
  return [sideOf(first, "first"), sideOf(second, "second"), ...own];
}

function shownValue(given: Extracted | undefined, row: PaperRow, paper: Paper): Cell {
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

/** How a person settles cells on which two agents differ. */
export const settleAdvice = (open: number): string =>
  `In ${open === 1 ? "one cell" : `${open} cells`} they differ (≠), and the first agent's value stands until a person decides: research-ralph settle <project> <paper> <field> first|second|own "<why>", or the local page.`;
