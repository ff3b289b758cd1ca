import { usesScores } from "../../papers/rubric/rubric.js";
import { ledgerName } from "../../../engine/lib/layout.js";
import { queriesName, rrdName } from "../../project-files/layout.js";
import { isSearchOfFiles } from "../method.js";
import type { ReportModel } from "../model.js";
import type { ShownSections } from "./section.js";

/** An item of the PRISMA 2020 checklist. */
export interface ChecklistItem {
  /** Such as "13a". */
  readonly item: string;
  readonly topic: string;
  /** The section of this report with this item; absent if it was not done. */
  readonly section?: string;
  /** What the section contains, or why it was not done. */
  readonly says: string;
}

/** Whether records were selected like in a review: by criteria, by two readers, or up to a wanted recall. */
export const isReview = ({ method, rrd: { requirements, statistics } }: Pick<ReportModel, "method" | "rrd">): boolean =>
  method.criteria.length > 0 || requirements.screening !== undefined || statistics?.screening_agreement !== undefined;

/** The 42 items of PRISMA 2020: the section of each in this report, or that it was not done. */
export function checklistOf(
  { rrd, rows, hasLog, method, question }: ReportModel,
  shownSections: ShownSections,
): readonly ChecklistItem[] {
  const has = (section: string): boolean => shownSections.has(section);
  const hasQuotes = rows.some((row) => row.quotes > 0);
  const isOfFiles = isSearchOfFiles(rrd);
  const hasCriteria = method.criteria.length > 0;
  const itemIn = (item: string, topic: string, section: string, says: string): ChecklistItem =>
    has(section) ? { item, topic, section, says } : { item, topic, says: "not done" };
  const notDone = (item: string, topic: string, reason = ""): ChecklistItem => ({
    item,
    topic,
    says: reason === "" ? "not done" : `not done: ${reason}`,
  });
  const itemIf = (isDone: boolean, item: ChecklistItem, why: string): ChecklistItem =>
    isDone ? item : notDone(item.item, item.topic, why);
  const fileNames = [rrdName, ...(hasLog.ledger ? [ledgerName] : []), ...(hasLog.queries ? [queriesName] : [])];
  const noPooling = "no results were pooled";
  return [
    notDone(
      "1",
      "Title: identified as a systematic review",
      "this report was made by a program and does not claim to be one",
    ),
    itemIn("2", "Abstract", "answer", "the answer and the six figures; not the PRISMA abstract checklist"),
    notDone("3", "Rationale", "the requirements hold the reasons, where somebody wrote them down"),
    has("question") || question === ""
      ? itemIn("4", "Objectives: the question", "question", "the question")
      : { item: "4", topic: "Objectives: the question", says: "the title of this report" },
    itemIn(
      "5",
      "Eligibility criteria",
      "method",
      `${hasCriteria ? "the criteria, " : ""}search words${usesScores(rrd) ? ", dates, and the thresholds of the points" : " and dates"}${hasCriteria ? "" : "; no criteria were set"}`,
    ),
    itemIn("6", "Information sources with dates", "method", "every source with its outcome"),
    itemIf(
      hasLog.queries || isOfFiles,
      itemIn(
        "7",
        "Full search strategies",
        "method",
        hasLog.queries
          ? "every query with its time and hits"
          : "no service was searched: every record of the files was taken",
      ),
      "no search log is kept",
    ),
    itemIn("8", "Selection process", "method", "who judged, how often, and what was automated"),
    itemIn("9", "Data collection process", "method", "read by agents; quotes looked for in the text by code"),
    has("extracted")
      ? itemIn("10a", "Data items: outcomes", "extracted", "the fields of the form, a column each")
      : itemIn(
          "10a",
          "Data items: outcomes",
          "papers",
          "method, results and limitations of each paper; no outcomes were defined before",
        ),
    notDone("10b", "Data items: other variables"),
    notDone("11", "Risk of bias in the studies", "no tool was applied"),
    notDone("12", "Effect measures", noPooling),
    notDone("13a", "Synthesis: which studies for each", noPooling),
    notDone("13b", "Synthesis: preparation of data", noPooling),
    has("scores")
      ? itemIn("13c", "Synthesis: tables and pictures", "scores", "points, map and flow are drawn from the records")
      : itemIn("13c", "Synthesis: tables and pictures", "flow", "map and flow are drawn from the records"),
    notDone("13d", "Synthesis: methods", "findings are put together in words by an agent"),
    notDone("13e", "Synthesis: heterogeneity", noPooling),
    notDone("13f", "Synthesis: sensitivity analyses", noPooling),
    notDone("14", "Reporting bias", "not assessed"),
    notDone(
      "15",
      "Certainty of the evidence",
      "not graded; the strength of a finding counts papers and how they were read",
    ),
    itemIn("16a", "Study selection: flow", "flow", "from records to included papers"),
    itemIn("16b", "Studies excluded, with reasons", "papers", "every rejected paper with its reason"),
    itemIn("17", "Study characteristics", "papers", "each paper with its citation"),
    notDone("18", "Risk of bias of each study", "no tool was applied"),
    itemIf(
      hasQuotes,
      itemIn("19", "Results of each study", "papers", "results in words, with quotes"),
      "no quotes were recorded",
    ),
    notDone("20a", "Syntheses: characteristics and bias", noPooling),
    notDone("20b", "Syntheses: statistical results", noPooling),
    notDone("20c", "Syntheses: heterogeneity", noPooling),
    notDone("20d", "Syntheses: sensitivity", noPooling),
    notDone("21", "Reporting biases of each synthesis", "not assessed"),
    itemIn(
      "22",
      "Certainty of each finding",
      "findings",
      "the strength of each finding: how many papers that share no author carry it, and how they were read",
    ),
    itemIn(
      "23a",
      "Discussion: interpretation",
      has("agreed") ? "agreed" : "disputed",
      has("agreed") && has("disputed")
        ? "what the papers agree on, then what they dispute"
        : has("agreed")
          ? "what the papers agree on"
          : "what the papers dispute",
    ),
    itemIn("23b", "Discussion: limits of the evidence", "gaps", "what is not known"),
    itemIn("23c", "Discussion: limits of the process", "method", "what was not done"),
    itemIn("23d", "Discussion: implications", "recommendations", "what to do first"),
    notDone("24a", "Registration"),
    notDone("24b", "Protocol", "the requirements in rrd.json are the nearest to one"),
    notDone("24c", "Amendments to the protocol"),
    itemIf(hasLog.ledger, itemIn("25", "Support", "method", "tokens, time and cost by phase"), "no ledger is kept"),
    notDone("26", "Competing interests", "nobody was asked"),
    itemIn("27", "Availability of data and code", "method", `${fileNames.join(", ")} next to this report`),
  ];
}
