import type { Insight, Paper, Rrd } from "../../generated/rrd.js";
import { type Judging, dayOf } from "../result/accepted-result.js";
import { flat, prose } from "../derived/markdown.js";
import { patternLines } from "../derived/lessons.js";
import {
  executionDimensions,
  fullScore,
  scoresOf,
  strategicDimensions,
  type Totals,
  couldBeRead,
} from "../decisions/scores-and-decision.js";

const names: Readonly<Record<string, string>> = {
  novelty: "Novelty",
  feasibility: "Feasibility",
  time_to_poc: "Time-to-POC",
  value_market: "Value/Market",
  defensibility: "Defensibility",
  adoption: "Adoption",
  market_creation: "Market Creation",
  first_mover_window: "First-Mover Window",
  network_effects: "Network/Data Effects",
  strategic_clarity: "Strategic Clarity",
};

/** The progress.txt entry of one analysed paper, in the original's form. */
export function paperEntry(of: {
  paper: Paper;
  totals: Totals;
  rrd: Rrd;
  insights: readonly Insight[];
  judging: Judging;
  counts: { verified: number; near: number; notInText: number; couldNotCheck: number };
  patterns?: readonly string[] | undefined;
}): string {
  const { paper, totals, rrd, insights, judging, counts } = of;
  const scores = scoresOf(paper);
  const analysis = paper.analysis;
  const repos = Array.isArray(analysis?.implementations_found) ? analysis.implementations_found : [];
  const dimension =
    <Name extends string>(points: Readonly<Record<Name, number>>) =>
    (name: Name) =>
      `- ${names[name]}: ${points[name]}/5`;
  const commercial =
    analysis?.commercialized == null
      ? "not looked up"
      : analysis.commercialized
        ? `yes${analysis.commercialized_by ? ` (${analysis.commercialized_by})` : ""}`
        : "no";
  const market: Readonly<Record<string, string>> = { blue: "Blue Ocean", purple: "Purple Ocean", red: "Red Ocean" };
  const strategic = totals.strategic ?? 10;
  const contradicts = (analysis?.market === "red" && strategic >= 12) || (analysis?.market === "blue" && strategic < 8);
  const references = [...new Set(insights.flatMap((insight) => insight.cross_refs ?? []))];
  const lines = [
    `## ${dayOf(judging.at)} - Paper: ${paper.title}`,
    `ID: ${paper.id}`,
    `Status: ${paper.status.toUpperCase()}`,
    !couldBeRead(paper)
      ? "Score: none, because only the title could be read"
      : totals.strategic === undefined
        ? `Score: ${totals.execution}/${fullScore(rrd)}`
        : `Combined Score: ${totals.combined}/50 (Execution: ${totals.execution}/30, Blue Ocean: ${totals.strategic}/20)`,
    "",
    `**Summary:** ${prose(analysis?.summary)}`,
    "",
    `**Key Method:** ${prose(analysis?.methodology)}`,
    "",
    "**Implementation Check:**",
    `- GitHub repos: ${repos.length > 0 ? repos.join(", ") : "none found"}`,
    `- Commercial use: ${commercial}`,
    "",
    `**Evidence:** ${counts.verified} quotes found, ${counts.near > 0 ? `${counts.near} near, ` : ""}${counts.notInText} not in the text, ${counts.couldNotCheck} could not be checked (read: ${paper.read_depth})`,
    ...(paper.warnings ?? []).map((warning) => `- ${warning}`),
    "",
    `**Execution Score Breakdown (${totals.execution}/30):**`,
    ...(scores === undefined ? [] : executionDimensions.map(dimension(scores.execution))),
    "",
    ...(scores?.strategic === undefined
      ? []
      : [
          `**Blue Ocean Score Breakdown (${totals.strategic}/20):**`,
          ...strategicDimensions.map(dimension(scores.strategic)),
          "",
        ]),
    ...(analysis?.market
      ? [
          `**Market Classification:** ${market[analysis.market] ?? analysis.market}${contradicts ? ` (the agent's word; its points say otherwise)` : ""}`,
          "",
        ]
      : []),
    `**Decision Rationale:** ${paper.notes ?? ""}`,
    "",
    ...(insights.length > 0
      ? ["**Extracted Insights:**", ...insights.map((insight) => `- ${insight.id}: ${insight.insight}`), ""]
      : []),
    ...(references.length > 0 ? ["**Cross-References:**", `- Related to: ${references.join(", ")}`, ""] : []),
  ];
  // What an agent wrote stays on its line: a line of its own could pass for a pattern or another entry.
  return [...lines.map(flat), ...patternLines(paper.id, of.patterns)].join("\n");
}
