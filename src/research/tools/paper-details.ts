import type { Checkers } from "../derived/checker-rates.js";
import { meaningMark } from "../derived/meaning-mark.js";
import type { Paper } from "../generated/rrd.js";
import { clip, estimateTokens, fit } from "../../engine/lib/tokens.js";
import { authorsOf } from "../papers/authors.js";
import type { PaperRecord } from "../papers/paper-record.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { isProblem, parametersOf } from "../../engine/tools/tool.js";
import { idParameter } from "./which-paper.js";
import { workOfCall } from "./which-work.js";
import type { ResearchTool } from "./context.js";

export const paperDetails: ResearchTool = {
  name: "paper_details",
  description: "What is known of a paper: abstract, status, points, summary, evidence, whether its text can be read.",
  effects: ["reads", "network"],
  parameters: parametersOf({ id: idParameter }),
  async run({ id }, context, signal) {
    const paper = await workOfCall(id, context, signal);
    if (isProblem(paper)) return paper;
    if (!("status" in paper))
      return { head: "Not in this project; from a source.", data: JSON.stringify(outsideDetails(paper)) };
    const details = await detailsOf(paper, await context.text(paper.id), await context.checkers());
    return { head: "In this project.", data: JSON.stringify(details) };
  },
};

/** The details of a work that is not in the project. */
const outsideDetails = (work: PaperRecord): Record<string, unknown> =>
  withoutEmpty({
    ...commonDetails(work),
    retracted: work.retracted,
    kind: work.kind,
    venue: clip(work.venue ?? "", 30),
    citations: work.citations,
    updates: (work.updates ?? []).slice(0, 5),
    copies: (work.copies ?? []).slice(0, 4).map(({ url }) => clip(url, 60)),
    abstract: clip(work.abstract ?? "", 800),
  });

const commonDetails = (paper: Paper | PaperRecord) => ({
  id: clip(paper.id, 60),
  title: clip(paper.title, 80),
  authors: authorsOf(paper.authors)
    .slice(0, 12)
    .map((name) => clip(name, 12)),
  date: paper.date,
  url: paper.url == null ? undefined : clip(paper.url, 80),
  doi: paper.identifiers?.doi,
  arxiv: paper.identifiers?.arxiv,
  source: clip(paper.source ?? "", 20),
});

const withoutEmpty = (details: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(details).filter(
      ([, value]) => value != null && value !== "" && !(Array.isArray(value) && value.length === 0),
    ),
  );

/** The fields that a reader needs, each with limited length, without empty fields. */
async function detailsOf(
  paper: Paper,
  text: DocumentText | undefined,
  checkers: Checkers,
): Promise<Record<string, unknown>> {
  const { analysis } = paper;
  const { passageText, piecesOf } = await import("../../text/evidence/quoted.js");
  return withoutEmpty({
    ...commonDetails(paper),
    status: paper.status,
    decision: paper.decision,
    score: paper.score,
    priority: paper.priority,
    retracted: paper.retracted,
    text: text === undefined ? "not kept" : `${text.depth}, ${estimateTokens(text.text)} tokens`,
    abstract: clip(paper.abstract ?? "", 500),
    summary: clip(joinedText(analysis?.summary), 300),
    methodology: clip(joinedText(analysis?.methodology), 300),
    results: clip(joinedText(analysis?.results), 300),
    limitations: clip(joinedText(analysis?.limitations), 200),
    code: (Array.isArray(analysis?.implementations_found) ? analysis.implementations_found : [])
      .slice(0, 8)
      .map((link) => clip(typeof link === "string" ? link : JSON.stringify(link), 40)),
    evidence: fit(analysis?.evidence ?? [], 1_200, ({ claim, locator, status, check }) =>
      [clip(`${claim} (${locator ?? status})`, 80), check && clip(meaningMark(check, checkers).says, 50)]
        .filter(Boolean)
        .join("; "),
    ).lines,
    eligibility: fit(paper.answers ?? [], 600, ({ criterion, stage, answer, ...kept }) =>
      clip(`${criterion} ${answer} (${stage})${piecesOf(kept).length === 0 ? "" : `: ${passageText(kept)}`}`, 120),
    ).lines,
    excluded_by: paper.excluded_by && clip(paper.excluded_by, 20),
    person_decided: paper.override && clip(`${paper.override.decision}: ${paper.override.why}`, 60),
    notes: clip(joinedText(paper.notes), 150),
  });
}

const joinedText = (value: unknown): string =>
  Array.isArray(value) ? value.join(" ") : typeof value === "string" ? value : "";
