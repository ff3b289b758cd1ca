import type { Insight, Paper, Rrd } from "../../generated/rrd.js";
import { dimensionsOf, fullScore, ownName, ownRubricOf, type Scores, type Totals } from "../../papers/rubric/rubric.js";
import { onOneLine, joinTexts } from "../../project-files/markdown.js";
import { nameOf } from "../../papers/paper-keys.js";
import { patternLines } from "../../project-files/progress-log.js";
import { answerText } from "../../screening/eligibility/answer-text.js";
import { answersAt, isIneligible } from "../../screening/eligibility/eligibility.js";
import { dayOf, type JudgingContext } from "../judged-result.js";

/**
 * The results of checking a reading's quotes: the number of quotes that were in the text, nearly in it, not in it, or
 * not checked.
 */
export interface Counts {
  readonly verified: number;
  readonly near: number;
  readonly notInText: number;
  readonly couldNotCheck: number;
}

const labels: Readonly<Record<string, string>> = {
  time_to_poc: "Time-to-POC",
  value_market: "Value/Market",
  first_mover_window: "First-Mover Window",
  network_effects: "Network/Data Effects",
};

/** "market_creation" as "Market Creation", if the original has no label of its own. */
const labelOf = (name: string): string =>
  labels[name] ?? name.replaceAll("_", " ").replace(/\b\w/g, (letter) => letter.toUpperCase());

/** The entry of a paper in progress.txt, in the original's form. */
export function paperEntry(
  rrd: Rrd,
  paper: Paper,
  { analysis, patterns }: { analysis: NonNullable<Paper["analysis"]>; patterns?: readonly string[] },
  scores: (Scores & { readonly totals: Totals }) | undefined,
  insights: readonly Insight[],
  counts: Counts,
  { at }: JudgingContext,
): string {
  const { implementations_found: repos, commercialized: isSold, commercialized_by: by, market } = analysis;
  const score =
    scores === undefined
      ? []
      : paper.score === null
        ? ["Score: none, because criteria are open or not met"]
        : scores.strategic === undefined
          ? [`Score: ${scores.totals.execution}/${fullScore(rrd)}`]
          : [
              `Combined Score: ${scores.totals.combined}/50 (Execution: ${scores.totals.execution}/30, Blue Ocean: ${scores.totals.strategic}/20)`,
            ];
  const nearText = counts.near > 0 ? `${counts.near} near, ` : "";
  const strategicTotal = scores?.totals.strategic ?? 10;
  const isContradicted = (market === "red" && strategicTotal >= 12) || (market === "blue" && strategicTotal < 8);
  const references = [...new Set(insights.flatMap(({ cross_refs }) => cross_refs ?? []))];
  const names = dimensionsOf(rrd);
  const dimensions = (ids: readonly string[], points: object) =>
    ids.map((id) => `- ${ownName(rrd, id) ?? labelOf(id)}: ${Reflect.get(points, id)}/5`);
  const isOwnRubric = ownRubricOf(rrd) !== undefined;
  const parts: string[][] = [
    [
      `## ${dayOf(at)} - Paper: ${paper.title}`,
      `ID: ${nameOf(paper)}`,
      `Status: ${paper.status.toUpperCase()}`,
      ...score,
    ],
    [`**Summary:** ${joinTexts(analysis.summary)}`],
    [`**Key Method:** ${joinTexts(analysis.methodology)}`],
    [
      "**Implementation Check:**",
      `- GitHub repos: ${Array.isArray(repos) && repos.length > 0 ? repos.join(", ") : "none found"}`,
      `- Commercial use: ${isSold == null ? "not looked up" : isSold ? `yes${by ? ` (${by})` : ""}` : "no"}`,
    ],
    [
      `**Evidence:** ${counts.verified} quotes found, ${nearText}${counts.notInText} not in the text, ${counts.couldNotCheck} could not be checked (read: ${paper.read_depth})`,
      ...(paper.warnings ?? []).map((warning) => `- ${warning}`),
    ],
    (paper.answers ?? []).length === 0
      ? []
      : ["**Eligibility:**", ...answersAt("full_text", paper.answers).map((answer) => `- ${answerText(answer)}`)],
    scores === undefined || paper.score === null
      ? []
      : [
          isOwnRubric
            ? `**Points (${scores.totals.execution}/${fullScore(rrd)}):**`
            : `**Execution Score Breakdown (${scores.totals.execution}/30):**`,
          ...dimensions(names.execution, scores.execution),
        ],
    scores?.strategic === undefined || paper.score === null
      ? []
      : [
          `**Blue Ocean Score Breakdown (${scores.totals.strategic}/20):**`,
          ...dimensions(names.strategic, scores.strategic),
        ],
    market
      ? [
          `**Market Classification:** ${labelOf(market)} Ocean${isContradicted ? ` (the agent's classification; its points do not agree)` : ""}`,
        ]
      : [],
    [`**Decision Rationale:** ${paper.notes ?? ""}`],
    insights.length > 0
      ? [
          isIneligible(paper)
            ? "**Insights, which don't count unless a person includes the paper:**"
            : "**Extracted Insights:**",
          ...insights.map(({ id, insight }) => `- ${id}: ${insight}`),
        ]
      : [],
    references.length > 0 ? ["**Cross-References:**", `- Related to: ${references.join(", ")}`] : [],
  ];
  // Text from an agent stays on one line, because a second line could be read as a pattern or another entry.
  const lines = parts.filter((part) => part.length > 0).flatMap((part) => [...part.map(onOneLine), ""]);
  return [...lines, ...patternLines(nameOf(paper), patterns)].join("\n");
}
