import { oneLine } from "../../../engine/lib/sanitise.js";
import type { Finding, ReportModel } from "../model.js";
import { evidenceWords } from "../quotes.js";
import type { Statement } from "../statements.js";

/** A sentence of the narrative with a number or source that is not supported. */
export interface Doubt {
  /** The part of the report, such as "Findings 2". */
  readonly where: string;
  readonly text: string;
  /** The reason, one clause: "number not in the passage: 91 %". */
  readonly reason: string;
}

/** Whether a sentence needs a source. Gaps and recommendations only need evidence for their numbers. */
type Needs = "source" | "numbers";

/**
 * The sentences of the narrative with problems: a number that is in none of its quotes, an invalid handle, a quote that
 * has changed since, a negative verdict of another reader, no source, or only sources that are retracted or no longer
 * included. Empty if there is no such sentence or no report.
 */
export function doubtsOf(model: ReportModel): Doubt[] {
  const doubtsIn = (title: string, statements: readonly (Statement | Finding)[], needs: Needs): Doubt[] =>
    statements.flatMap((statement, index) =>
      reasonsOf(model, statement, needs).map((reason) => ({
        where: statements.length === 1 ? title : `${title} ${index + 1}`,
        text: statement.text,
        reason,
      })),
    );
  return [
    ...doubtsIn("Answer", model.answer, "source"),
    ...doubtsIn("Findings", model.findings, "source"),
    ...doubtsIn("What to do first", model.recommendations, "numbers"),
    ...doubtsIn("Agreed", model.agreed, "source"),
    ...model.disputed.flatMap(({ sides }, index) => doubtsIn(`Disputed ${index + 1}, side`, sides, "source")),
    ...doubtsIn(
      "Side by side",
      model.pairs.flatMap(({ differs }) => differs ?? []),
      "source",
    ),
    ...doubtsIn("Not known", model.gaps, "numbers"),
    ...(model.comparison?.rows ?? []).flatMap(({ aspect, cells }) =>
      doubtsIn(`Comparison, ${aspect}`, cells, "numbers"),
    ),
    ...doubtsIn(
      "Themes",
      model.themes().flatMap(({ statement }) => statement ?? []),
      "numbers",
    ),
  ];
}

/**
 * A sentence of the answer or a finding for the terminal, with the same problems in brackets behind it that the report
 * marks. A check without a verdict that counts is marked too.
 */
export function textWithMarks(model: ReportModel, statement: Statement): string {
  const { text, meaning } = statement;
  const marks = [...reasonsOf(model, statement, "source"), ...(meaning?.kind === "open" ? [meaning.says] : [])];
  return oneLine([text, ...marks.map((mark) => `[${mark}]`)].join(" "));
}

function reasonsOf(model: ReportModel, statement: Statement | Finding, needs: Needs): string[] {
  const hasQuotes = model.rows.some(({ quotes, isIneligible }) => quotes > 0 && !isIneligible);
  const { quotes, papers, missingNumbers, outsideNumbers, brokenHandles, meaning } = statement;
  const changedQuotes = quotes.filter(({ handle, quote }) => {
    const acceptedQuote = model.acceptedQuotes[handle];
    return acceptedQuote !== undefined && evidenceWords(acceptedQuote) !== evidenceWords(quote);
  });
  const sources = [...quotes.map(({ paper }) => paper), ...papers];
  const retracted = sources.filter(({ isRetracted }) => isRetracted);
  const excluded = new Set(sources.filter(({ isIneligible }) => isIneligible).map(({ label }) => label));
  const sourceCount = quotes.length + papers.length;
  return [
    ...(missingNumbers.length === 0 ? [] : [`number not in the passage: ${missingNumbers.join(", ")}`]),
    ...(outsideNumbers.length === 0 ? [] : [`in the sentence, outside the quoted words: ${outsideNumbers.join(", ")}`]),
    ...brokenHandles.map(({ handle, reason }) => `${handle}: ${reason}`),
    ...(meaning?.kind === "doubted" ? [meaning.says] : []),
    ...changedQuotes.map(({ handle }) => `${handle}: its quote has changed since the narrative was written`),
    ...(needs === "source" &&
    sourceCount === 0 &&
    brokenHandles.length === 0 &&
    (hasQuotes || model.narrative === "headings")
      ? ["it names no source"]
      : []),
    ...[...excluded].map((label) => `it rests on ${label}, which is not included`),
    ...(sourceCount > 0 && retracted.length === sourceCount ? ["it rests on retracted papers alone"] : []),
  ];
}
