import type { Evidence, Extracted, Field, Paper, Settled } from "../../generated/rrd.js";
import { formOf } from "../../project-files/form.js";
import { type FieldAnswers, answersFor, type FieldAgreement, fieldAgreements } from "../../units/form/agreement.js";
import { textOf } from "../../units/form/check-values.js";
import { exclusionOf } from "../../screening/eligibility/eligibility.js";
import type { ReportModel } from "../model.js";
import type { PaperRow } from "../papers.js";
import { type Quote, quoteAt } from "../quotes.js";

/** A cell of the table: the answer for a field of a paper. */
export interface Cell {
  /** The value, or the reason why it is not shown. */
  readonly text: string;
  /** True if `text` is a value from the paper. */
  readonly isValue: boolean;
  /** ✓, ≈ or ?; empty if there is no value. */
  readonly sign: string;
  readonly status: Extracted["status"];
  /** A remark for the reader; may be empty. */
  readonly note: string;
  /** The passages with the value. */
  readonly quotes: readonly Quote[];
  /** Set if two agents gave different answers: both of them. */
  readonly sides?: readonly Side[];
}

/** The answer of one of two agents that differ, or the user's own answer. */
export interface Side extends Pick<Cell, "text" | "sign" | "quotes"> {
  /** "claude (first)". */
  readonly by: string;
  /** True if the user decided for this answer. */
  readonly isChosen: boolean;
}

/** The table of extracted data: one row for each paper that was read and not excluded, one column for each field. */
export interface ExtractedTable {
  readonly fields: readonly { readonly field: Field; readonly label: string }[];
  readonly rows: readonly { readonly paper: PaperRow; readonly cells: readonly Cell[] }[];
  /** The agreement of two agents by field; empty if only one agent filled in forms. */
  readonly agreements: readonly FieldAgreement[];
  /** Number of cells on which the agents differ and the user has not decided. */
  readonly open: number;
}

const signs: Readonly<Partial<Record<Extracted["status"], string>>> = {
  verified: "✓",
  near: "≈",
  "could-not-check": "?",
};

/** The papers of the table: they were read, and are not excluded by a criterion, the user or a retraction. */
export function rowsOfTable({ rrd, rows }: Pick<ReportModel, "rrd" | "rows">): PaperRow[] {
  const rejectedByPoints = new Set(
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
        (status === "rejected" && rejectedByPoints.has(id))),
  );
}

/** Computes the table of a report. */
export function extractedTable({ rrd, rows }: Pick<ReportModel, "rrd" | "rows">): ExtractedTable {
  const form = formOf(rrd);
  const papers = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
  const lines = rowsOfTable({ rrd, rows }).map((row) => ({
    paper: row,
    cells: form.map((field) => cellOf(field, row, papers.get(row.id) as Paper)),
  }));
  const isOpen = ({ sides }: Cell) => sides !== undefined && !sides.some(({ isChosen }) => isChosen);
  return {
    fields: form.map((field) => ({
      field,
      label: field.unit === undefined ? field.name : `${field.name} (${field.unit})`,
    })),
    rows: lines,
    agreements: fieldAgreements(rrd),
    open: lines.flatMap(({ cells }) => cells).filter(isOpen).length,
  };
}

function cellOf(field: Field, row: PaperRow, paper: Paper): Cell {
  const answers = answersFor(paper, field);
  const { final, agree } = answers;
  const finalCell = shownValue(final, row, paper);
  return agree === false ? { ...finalCell, sides: sidesOf(answers, row, paper) } : finalCell;
}

/** The answers of both agents with their passages, and the user's own. */
function sidesOf({ first, second, settled }: FieldAnswers, row: PaperRow, paper: Paper): readonly Side[] {
  const toSide = (answer: Extracted | undefined, take: Settled["take"]): Side => {
    const { text, sign, quotes, note } = shownValue(answer, row, paper);
    const by =
      take === "own" ? `a person's own${note === "" ? "" : `; ${note}`}` : `${answer?.by ?? "an agent"} (${take})`;
    return { by, text, sign, quotes, isChosen: settled?.take === take };
  };
  const ownSide = settled?.own === undefined ? [] : [toSide(settled.own, "own")];
  return [toSide(first, "first"), toSide(second, "second"), ...ownSide];
}

function shownValue(answer: Extracted | undefined, row: PaperRow, paper: Paper): Cell {
  const { status = "not-answered", value, reason = "", evidence = [] } = answer ?? {};
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
  return { text, isValue, sign, status, note: answer === undefined ? "not asked" : noteOf(status, reason), quotes };
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

/** How the user decides cells on which two agents differ. */
export const settleAdvice = (open: number): string =>
  `In ${open === 1 ? "one cell" : `${open} cells`} they differ (≠), and the first agent's value stands until a person decides: research-ralph settle <project> <paper> <field> first|second|own "<why>", or the local page.`;
