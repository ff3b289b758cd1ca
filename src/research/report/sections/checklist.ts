import { usesScores } from "../../papers/rubric/rubric.js";
import { ledgerName } from "../../../engine/lib/layout.js";
import { queriesName, rrdName } from "../../project-files/layout.js";
import type { ReportModel } from "../model.js";
import type { Held } from "./section.js";

/** One item of the PRISMA 2020 checklist. */
export interface ChecklistItem {
  /** Such as "13a". */
  readonly item: string;
  readonly topic: string;
  /** The section of this report where it stands; absent: not done. */
  readonly section?: string;
  /** What stands there, or why it was not done. */
  readonly says: string;
}

/** Whether records were chosen by the methods of a review: by criteria, by two readers, or up to a stated recall. */
export const isReview = ({ method, rrd: { requirements, statistics } }: Pick<ReportModel, "method" | "rrd">): boolean =>
  method.criteria.length > 0 || requirements.screening !== undefined || statistics?.screening_agreement !== undefined;

/** The 42 items of PRISMA 2020: where each stands in this report, or that it was not done. */
export function checklistOf(
  { rrd, rows, recorded, method, question }: ReportModel,
  held: Held,
): readonly ChecklistItem[] {
  const has = (section: string): boolean => held.has(section);
  const hasQuotes = rows.some((row) => row.quotes > 0);
  const hasCriteria = method.criteria.length > 0;
  const at = (item: string, topic: string, section: string, says: string): ChecklistItem =>
    has(section) ? { item, topic, section, says } : { item, topic, says: "not done" };
  const not = (item: string, topic: string, why = ""): ChecklistItem => ({
    item,
    topic,
    says: why === "" ? "not done" : `not done: ${why}`,
  });
  const when = (is: boolean, yes: ChecklistItem, why: string): ChecklistItem =>
    is ? yes : not(yes.item, yes.topic, why);
  const data = [rrdName, ...(recorded.ledger ? [ledgerName] : []), ...(recorded.queries ? [queriesName] : [])];
  const noPooling = "no results were pooled";
  return [
    not(
      "1",
      "Title: identified as a systematic review",
      "this report was made by a program and does not claim to be one",
    ),
    at("2", "Abstract", "answer", "the answer and the six figures; not the PRISMA abstract checklist"),
    not("3", "Rationale", "the requirements hold the reasons, where somebody wrote them down"),
    has("question") || question === ""
      ? at("4", "Objectives: the question", "question", "the question")
      : { item: "4", topic: "Objectives: the question", says: "the title of this report" },
    at(
      "5",
      "Eligibility criteria",
      "method",
      `${hasCriteria ? "the criteria, " : ""}search words${usesScores(rrd) ? ", dates, and the thresholds of the scores" : " and dates"}${hasCriteria ? "" : "; no criteria were set"}`,
    ),
    at("6", "Information sources with dates", "method", "every source with its outcome"),
    when(
      recorded.queries,
      at("7", "Full search strategies", "method", "every query with its time and hits"),
      "no search log is kept",
    ),
    at("8", "Selection process", "method", "who judged, how often, and what was automated"),
    at("9", "Data collection process", "method", "read by agents; quotes looked for in the text by code"),
    has("extracted")
      ? at("10a", "Data items: outcomes", "extracted", "the fields of the form, a column each")
      : at(
          "10a",
          "Data items: outcomes",
          "papers",
          "method, results and limitations of each paper; no outcomes were defined before",
        ),
    not("10b", "Data items: other variables"),
    not("11", "Risk of bias in the studies", "no tool was applied"),
    not("12", "Effect measures", noPooling),
    not("13a", "Synthesis: which studies for each", noPooling),
    not("13b", "Synthesis: preparation of data", noPooling),
    has("scores")
      ? at("13c", "Synthesis: tables and pictures", "scores", "scores, map and flow are drawn from the records")
      : at("13c", "Synthesis: tables and pictures", "flow", "map and flow are drawn from the records"),
    not("13d", "Synthesis: methods", "findings are put together in words by an agent"),
    not("13e", "Synthesis: heterogeneity", noPooling),
    not("13f", "Synthesis: sensitivity analyses", noPooling),
    not("14", "Reporting bias", "not assessed"),
    not(
      "15",
      "Certainty of the evidence",
      "not graded; the strength of a finding counts papers and how they were read",
    ),
    at("16a", "Study selection: flow", "flow", "from records to included papers"),
    at("16b", "Studies excluded, with reasons", "papers", "every rejected paper with its reason"),
    at("17", "Study characteristics", "papers", "each paper with its citation"),
    not("18", "Risk of bias of each study", "no tool was applied"),
    when(
      hasQuotes,
      at("19", "Results of each study", "papers", "results in words, with quotes"),
      "no quotes were recorded",
    ),
    not("20a", "Syntheses: characteristics and bias", noPooling),
    not("20b", "Syntheses: statistical results", noPooling),
    not("20c", "Syntheses: heterogeneity", noPooling),
    not("20d", "Syntheses: sensitivity", noPooling),
    not("21", "Reporting biases of each synthesis", "not assessed"),
    at(
      "22",
      "Certainty of each finding",
      "findings",
      "the strength of each finding: how many papers that share no author carry it, and how they were read",
    ),
    at(
      "23a",
      "Discussion: interpretation",
      has("agreed") ? "agreed" : "disputed",
      has("agreed") && has("disputed")
        ? "what the papers agree on, then what they dispute"
        : has("agreed")
          ? "what the papers agree on"
          : "what the papers dispute",
    ),
    at("23b", "Discussion: limits of the evidence", "gaps", "what is not known"),
    at("23c", "Discussion: limits of the process", "method", "what was not done"),
    at("23d", "Discussion: implications", "recommendations", "what to do first"),
    not("24a", "Registration"),
    not("24b", "Protocol", "the requirements in rrd.json are the nearest to one"),
    not("24c", "Amendments to the protocol"),
    when(recorded.ledger, at("25", "Support", "method", "tokens, time and cost by phase"), "no ledger is kept"),
    not("26", "Competing interests", "nobody was asked"),
    at("27", "Availability of data and code", "method", `${data.join(", ")} next to this report`),
  ];
}
