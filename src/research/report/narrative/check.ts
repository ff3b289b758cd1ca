import type { Finding, ReportModel } from "../model.js";
import { evidenceWords } from "../quotes.js";
import type { Statement } from "../statements.js";

/** A sentence of the narrative whose numbers or sources nothing carries. */
export interface Doubt {
  /** The part of the report, such as "Findings 2". */
  readonly where: string;
  readonly text: string;
  /** Why, one clause: "number not in the passage: 91 %". */
  readonly reason: string;
}

/** Whether a sentence has to rest on something; a gap or a piece of advice need not. */
type Needs = "source" | "numbers";

/**
 * Every sentence of the narrative whose numbers stand in none of its quotes, whose handles lead nowhere, whose quotes
 * have changed since it was written, that another reader did not find in its quotes, or that rests on nothing, on
 * retracted papers alone, or on a paper that is not included any more. Empty where all are carried, and where
 * nothing is written yet.
 */
export function doubtsOf(model: ReportModel): Doubt[] {
  const hasQuotes = model.rows.some(({ quotes, isIneligible }) => quotes > 0 && !isIneligible);
  const of = (title: string, statements: readonly (Statement | Finding)[], needs: Needs): Doubt[] =>
    statements.flatMap((statement, index) =>
      reasonsOf(model, statement, needs, hasQuotes).map((reason) => ({
        where: statements.length === 1 ? title : `${title} ${index + 1}`,
        text: statement.text,
        reason,
      })),
    );
  return [
    ...of("Answer", model.answer, "source"),
    ...of("Findings", model.findings, "source"),
    ...of("What to do first", model.recommendations, "numbers"),
    ...of("Agreed", model.agreed, "source"),
    ...model.disputed.flatMap(({ sides }, index) => of(`Disputed ${index + 1}, side`, sides, "source")),
    ...of(
      "Side by side",
      model.pairs.flatMap(({ differs }) => differs ?? []),
      "source",
    ),
    ...of("Not known", model.gaps, "numbers"),
    ...(model.comparison?.rows ?? []).flatMap(({ aspect, cells }) => of(`Comparison, ${aspect}`, cells, "numbers")),
    ...of(
      "Themes",
      model.themes().flatMap(({ statement }) => statement ?? []),
      "numbers",
    ),
  ];
}

function reasonsOf(model: ReportModel, statement: Statement | Finding, needs: Needs, hasQuotes: boolean): string[] {
  const { quotes, papers, missingNumbers, outsideNumbers, brokenHandles, meaning } = statement;
  const changed = quotes.filter(({ handle, quote }) => {
    const before = model.quotesThen[handle];
    return before !== undefined && evidenceWords(before) !== evidenceWords(quote);
  });
  const sources = [...quotes.map(({ paper }) => paper), ...papers];
  const retracted = sources.filter(({ isRetracted }) => isRetracted);
  const excluded = new Set(sources.filter(({ isIneligible }) => isIneligible).map(({ label }) => label));
  const carried = quotes.length + papers.length;
  return [
    ...(missingNumbers.length === 0 ? [] : [`number not in the passage: ${missingNumbers.join(", ")}`]),
    ...(outsideNumbers.length === 0 ? [] : [`in the sentence, outside the quoted words: ${outsideNumbers.join(", ")}`]),
    ...brokenHandles.map(({ handle, reason }) => `${handle}: ${reason}`),
    ...(meaning?.kind === "doubted" ? [meaning.says] : []),
    ...changed.map(({ handle }) => `${handle}: its quote has changed since the narrative was written`),
    ...(needs === "source" &&
    carried === 0 &&
    brokenHandles.length === 0 &&
    (hasQuotes || model.narrative === "headings")
      ? ["it names no source"]
      : []),
    ...[...excluded].map((label) => `it rests on ${label}, which is not included`),
    ...(carried > 0 && retracted.length === carried ? ["it rests on retracted papers alone"] : []),
  ];
}
