import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { QueryLine } from "../../engine/generated/query.js";
import { validLines } from "../../engine/storage/state/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { isCostKnown, missingCosts, shortCost, type UsageSum } from "../../engine/ui/terminal/tally.js";
import { shortDuration } from "../../engine/lib/words.js";
import type { Answer } from "../generated/answer.js";
import type { ProductIdeas } from "../generated/product-ideas.js";
import type { ReportFile } from "../generated/report.js";
import type { Paragraphs } from "../full-text/paragraphs.js";
import type { Insight, Paper, Rrd } from "../generated/rrd.js";
import { sumOf, totalOf } from "../overview/costs.js";
import { quoteSums } from "../overview/counts.js";
import {
  criteriaDecide,
  fullScore,
  isDecided,
  singleThresholds,
  priorityThreshold,
  usesBothRubrics,
} from "../papers/rubric/rubric.js";
import type { Reading } from "../papers/read-depth.js";
import { timeSpent, wereAllReadBefore } from "../workflow/timing.js";
import { changedCriteriaSentences, eligibilityReport, isWaiting } from "../screening/eligibility/eligibility.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { citableInsights, reasonNotToCite } from "../units/narrative/handles.js";
import { namesIn } from "../papers/paper-keys.js";
import { isCheckedForRetraction } from "../papers/paper-record.js";
import { changesSinceReport } from "../derived/since-report.js";
import { standingOf } from "../derived/status.js";
import { groupInsights } from "../units/report/insight-groups.js";
import { calibrationOf, type Warning } from "../papers/rubric/calibration.js";
import { type Citation, citationStatusOf } from "./citation-status.js";
import { type Flow, prismaFlow } from "./prisma-flow.js";
import { paperMap, type PaperMap } from "./links.js";
import { startedLines, type Method, methodSection } from "./method.js";
import { isWithoutModel } from "../derived/without-model.js";
import { type AskedQuestion, askedQuestions } from "./narrative/questions.js";
import { type Narrative, narrativeOf, narrativeFromHeadings, emptyNarrative } from "./narrative/narrative.js";
import { type Meaning, meaningOf } from "./narrative/meaning.js";
import { type ShownPair, shownPairs } from "./narrative/side-by-side.js";
import { type WhatChanged, whatChanged } from "./narrative/what-changed.js";
import { entryOf, type PaperEntry, type PaperRow, rowsOf } from "./papers.js";
import { counted, thousands } from "./pictures/words.js";
import { namesOf, tablesAsText } from "./quotes.js";
import { type Query, queriesOf, type SearchYield, searchYield } from "./search-yield.js";
import { type StoredSentence, type Statement, statementOf, type StatementSources } from "./statements.js";
import { type Strength, strengthOf, type Sureness, surenessOf } from "./strength.js";
import { groupBy } from "../../engine/lib/group.js";

/** The data of a report. Nothing else is read from the disk or the network. */
export interface ReportInput {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  readonly queries: readonly QueryLine[];
  /** report.json, if the folder has one. */
  readonly report?: ReportFile;
  /** The text of research-report.md, if the folder has no report.json. */
  readonly oldReport?: string;
  readonly ideas?: ProductIdeas;
  /** The entries of answers.jsonl. */
  readonly answers: readonly Answer[];
  /** The complete paragraphs of shortened passages, if the texts are stored. */
  readonly paragraphs?: Paragraphs;
  readonly now: Date;
}

/** One of the figures at the top of the report. */
export interface Figure {
  readonly name: "papers" | "presented" | "insights" | "quotes" | "retracted" | "cost" | "time";
  /** The number as text, such as "80/81" or "$0.00". */
  readonly value: string;
  /** The numbers in it for programs, by name, such as `quotes_found` and `quotes`. */
  readonly numbers: Readonly<Record<string, number>>;
  /** What the number counts, such as "quotes found in the text". */
  readonly label: string;
  /** Set if the reader should be careful. The label says so too. */
  readonly isBad: boolean;
}

/** A finding with the strength of its evidence. */
export interface Finding extends Statement {
  readonly strength: Strength;
}

export interface Recommendation extends Statement {
  readonly priority: "high" | "medium" | "low";
}

/** A question on which papers differ, and what each side says. */
export interface Dispute {
  readonly text: string;
  readonly sides: readonly Finding[];
}

/** An insight with its paper. */
export interface InsightRow {
  readonly text: string;
  /** Absent if the paper is not in the pool. */
  readonly paper?: PaperRow;
  /** Papers of the pool to which it refers. */
  readonly refersTo: readonly PaperRow[];
}

export interface Theme {
  readonly name: string;
  /** A summary of its insights; absent for groups that code made from common tags. */
  readonly statement?: Statement;
  readonly insights: readonly InsightRow[];
}

export interface Comparison {
  readonly approaches: readonly string[];
  readonly rows: readonly { readonly aspect: string; readonly cells: readonly Statement[] }[];
}

/** The scores for a picture. */
export interface Scores {
  /** The maximum score. */
  readonly maxScore: number;
  /**
   * True if both rubrics are used: the picture has the axes execution (0 to 30) and strategic (0 to 20). Otherwise only
   * execution is shown.
   */
  readonly usesBothRubrics: boolean;
  /** Papers with a score, without retracted ones. The maximum of each score is `maxScore`. */
  readonly rows: readonly PaperRow[];
  /** The thresholds between decisions, with their texts. */
  readonly lines: readonly { readonly at: number; readonly says: string }[];
}

/** What one paper cost. */
export interface PaperCost {
  readonly paper: PaperRow;
  readonly cost: UsageSum;
}

/** A work in the list of references, with its number and citation status. */
export interface Reference {
  /** Its place in the list, starting at 1. */
  readonly number: number;
  readonly paper: PaperRow;
  readonly citation: Citation;
}

export interface Idea {
  readonly name: string;
  readonly oneLiner: string;
  readonly isRecommended: boolean;
  readonly combinedPoints?: number;
  readonly papers: readonly PaperRow[];
  readonly nextSteps: readonly string[];
}

/**
 * The content of a report, in the order in which it is shown, for the page, the Markdown, the exports and the terminal.
 * Parts whose size grows with the papers are methods: they are computed once, at the first call. `entry` computes at
 * each call.
 */
export interface ReportModel {
  /** The name of the project without "Research: ". */
  readonly title: string;
  readonly isFinished: boolean;
  readonly phase: Rrd["phase"];
  /** The day of the last record, YYYY-MM-DD; empty if no record has a date. */
  readonly day: string;
  /** When the report was rendered, ISO 8601. */
  readonly renderedAt: string;
  readonly agents: readonly string[];
  /** The source of the narrative: report.json, the headings of an older report, or nothing. */
  readonly narrative: Narrative["from"];
  /** The narrative as the agent wrote it, before its handles were resolved. */
  readonly writtenNarrative: Narrative;
  /** The text of quotes when the narrative was accepted, by handle. */
  readonly acceptedQuotes: Readonly<Record<string, string>>;
  /** The changes of the last update; absent if there was no update. */
  readonly changes?: WhatChanged;
  readonly question: string;
  readonly answer: readonly Statement[];
  /** The result of checking sentences against their quotes; absent if no agent checked them. */
  readonly meaning?: Meaning;
  /** The reason why there is no answer yet, one sentence; absent if there is an answer. */
  readonly noAnswerReason?: string;
  readonly sureness: Sureness;
  /** Figures without data are left out. */
  readonly figures: readonly Figure[];
  readonly findings: readonly Finding[];
  readonly recommendations: readonly Recommendation[];
  readonly agreed: readonly Finding[];
  readonly disputed: readonly Dispute[];
  /** Pairs of quotes of different papers on the same outcome, opposite ones first. */
  readonly pairs: readonly ShownPair[];
  /** The complete paragraphs of shortened passages, by evidence. */
  readonly paragraphs: Paragraphs;
  readonly gaps: readonly Statement[];
  readonly comparison?: Comparison;
  /** Questions that users asked about the project, newest first. */
  readonly questions: readonly AskedQuestion[];
  /** Warnings about the whole report: papers that wait for the user, or scores that say little. */
  readonly warnings: readonly Warning[];
  readonly scores: Scores;
  /** All papers: presented ones first, then by score. */
  readonly rows: readonly PaperRow[];
  readonly row: (id: string) => PaperRow | undefined;
  /** The complete entry of a paper. It is computed at each call, so that ten thousand entries need not be in memory. */
  readonly entry: (row: PaperRow) => PaperEntry;
  readonly themes: () => readonly Theme[];
  /** Insights without a theme. */
  readonly otherInsights: () => readonly InsightRow[];
  /** Number of insights, without those of papers that must not be cited. */
  readonly insightCount: number;
  /** Number of references from these insights to other papers: to papers of the project, and to other works. */
  readonly crossReferences: { readonly inside: number; readonly outside: number };
  readonly map: () => PaperMap;
  readonly flow: Flow;
  readonly search: SearchYield;
  readonly queries: () => readonly Query[];
  readonly costByPaper: () => readonly PaperCost[];
  readonly total: UsageSum;
  readonly method: Method;
  /** Whether there is a search log, and whether there is a ledger. */
  readonly hasLog: { readonly queries: boolean; readonly ledger: boolean };
  /** The papers that the report names: in statements and themes, presented papers, and papers with insights. */
  readonly references: () => readonly Reference[];
  /** Recommended ideas first, then by points. */
  readonly ideas: readonly Idea[];
  /** The records, for sections that show more of them. */
  readonly rrd: Rrd;
}

/** Computes the model of a report. Pure; linear in the number of papers, insights and log entries. */
export function reportModel(input: ReportInput): ReportModel {
  const { rrd, queries: log, ideas: ideasFile, now } = input;
  const papers = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
  const names = namesOf(rrd.papers_pool);
  const insights = groupBy(rrd.insights ?? [], ({ paper_id }) => paper_id);
  const rows = rowsOf(rrd, names);
  const rowById = new Map(rows.map((row) => [row.id, row]));
  const narrative =
    (input.report === undefined ? undefined : narrativeOf(input.report)) ??
    (input.oldReport === undefined ? undefined : narrativeFromHeadings(input.oldReport, new Set(papers.keys()))) ??
    emptyNarrative;
  const ledger = validLines(input.ledger).filter(({ outcome }) => outcome !== "reset");

  const sources: StatementSources = {
    papers,
    names,
    checksNumbers: narrative.from === "data",
    ...withoutUndefined({ checkers: rrd.meaning?.checkers }),
  };
  const toStatement = (sentence: StoredSentence) => statementOf(sentence, sources);
  const toFinding = (sentence: StoredSentence): Finding => {
    const resolved = toStatement(sentence);
    return { ...resolved, strength: strengthOf(resolved, papers) };
  };
  const toInsightRow = ({ insight, paper_id, cross_refs }: Insight): InsightRow => {
    const paper = rowById.get(paper_id ?? "");
    return {
      text: tablesAsText(insight),
      ...withoutUndefined({ paper }),
      refersTo: (cross_refs ?? []).flatMap((other) => rowById.get(other) ?? []),
    };
  };
  const criteria = criteriaOf(rrd);
  const shownInsights = citableInsights(rrd);
  const byTheme = computeOnce(() => themesOf(rrd, narrative, shownInsights, toStatement, toInsightRow));

  const search = searchYield(rrd, log);
  const queries = computeOnce(() => queriesOf(log));
  const flow = prismaFlow(rrd);
  const total = totalOf(rrd, input.ledger);
  const scores = scoresOfModel(rrd, rows);
  const answer = narrative.answer.map(toStatement);
  const findings = narrative.findings.map(toFinding);
  const changes = whatChanged(rrd, narrative.findings, findings, (id) => rowById.get(id));
  const agreed = narrative.agreed.map(toFinding);
  const disputed = narrative.disputed.map(({ text, sides }) => ({ text, sides: sides.map(toFinding) }));
  const pairs = shownPairs(rrd.papers_pool, narrative.contrasts ?? [], sources);
  const gaps = narrative.gaps.map(toStatement);
  const questions = askedQuestions(input.answers, names, rrd.meaning?.checkers ?? {}, input.ledger);
  const recommendations = narrative.recommendations.map((recommendation) => ({
    ...toStatement(recommendation),
    priority: recommendation.priority,
  }));
  const comparison =
    narrative.comparison === undefined
      ? undefined
      : {
          approaches: narrative.comparison.approaches,
          rows: narrative.comparison.rows.map(({ aspect, cells }) => ({ aspect, cells: cells.map(toStatement) })),
        };
  const ideas = (ideasFile?.ideas ?? [])
    .map((idea) => ideaOf(idea, rowById))
    .sort(
      (a, b) =>
        Number(b.isRecommended) - Number(a.isRecommended) || (b.combinedPoints ?? -1) - (a.combinedPoints ?? -1),
    );
  const map = computeOnce(() => paperMap(rrd, rows));
  // The question in the user's own words has priority over the agent's wording.
  const userQuestion = oneLine(rrd.question ?? "").trim();
  const question = userQuestion === "" ? (narrative.question ?? questionOf(rrd)) : userQuestion;
  const figures = figuresOf(input, rows, shownInsights.length, total);

  const method = methodSection(rrd, input.ledger, search, log.length > 0, {
    now,
    ...withoutUndefined({ writer: narrative.agent }),
  });

  const namedIds = () => [
    ...[
      ...answer,
      ...findings,
      ...agreed,
      ...disputed.flatMap(({ sides }) => sides),
      ...pairs.map(({ sides }) => ({ quotes: sides.map(({ quote }) => quote), papers: [] })),
      ...gaps,
      ...recommendations,
      ...byTheme().themes.flatMap(({ statement }) => statement ?? []),
    ].flatMap(({ quotes, papers: others }) => [...quotes.map(({ paper }) => paper.id), ...others.map(({ id }) => id)]),
    ...(comparison?.rows ?? []).flatMap(({ cells }) =>
      cells.flatMap(({ quotes }) => quotes.map(({ paper }) => paper.id)),
    ),
  ];
  // If another program read the papers and only the report was written here, the ledger does not say who read them.
  const isReadElsewhere = wereAllReadBefore(rrd, input.ledger);
  const { agent: reader = narrative.agent } = rrd.statistics?.stated ?? {};
  const agents = isReadElsewhere
    ? [typeof reader === "string" ? reader : "another program"]
    : [...new Set(startedLines(ledger).flatMap(({ agent }) => agent ?? []))];
  return {
    title: titleOf(oneLine(rrd.project).replace(/^Research:\s*/i, ""), question),
    isFinished: rrd.phase === "COMPLETE",
    phase: rrd.phase,
    day: (
      rrd.timing?.complete?.ended_at ?? (isReadElsewhere ? "" : (ledger.at(-1)?.at ?? narrative.writtenAt ?? ""))
    ).slice(0, 10),
    renderedAt: now.toISOString(),
    agents: (agents.length > 0 ? agents : narrative.agent === undefined ? [] : [narrative.agent]).map(readerText),
    narrative: narrative.from,
    writtenNarrative: narrative,
    acceptedQuotes: input.report?.quotes ?? {},
    paragraphs: input.paragraphs ?? new Map(),
    question,
    answer,
    figures,
    findings,
    recommendations,
    agreed,
    disputed,
    pairs,
    gaps,
    questions,
    ...withoutUndefined({ changes, comparison, meaning: meaningOf(input.report, rrd) }),
    warnings: [
      ...outdatedWarning(input),
      ...changedCriteriaSentences(rrd).map((says): Warning => ({ kind: "changed-criteria", says })),
      ...waitingWarning(rrd),
      ...missingWarning(rows),
      ...refusedWarning(rrd),
      ...calibrationOf(rrd),
    ],
    scores,
    rows,
    row: (id) => rowById.get(id),
    entry: (row) => {
      const paper = papers.get(row.id);
      if (paper === undefined) throw new Error(`${row.id} is not a paper of this report`);
      return entryOf(rrd, row, paper, insights.get(row.id) ?? [], criteria);
    },
    themes: () => byTheme().themes,
    otherInsights: () => byTheme().others,
    insightCount: shownInsights.length,
    crossReferences: crossReferencesOf(shownInsights, rowById),
    map,
    flow,
    search,
    queries,
    total,
    costByPaper: computeOnce(() => costByPaperOf(ledger, rowById)),
    ...(answer.length > 0 ? {} : { noAnswerReason: noAnswerText(rows) }),
    sureness: surenessOf({
      findings,
      agreed,
      ...withoutUndefined({ quotes: figures.find(({ name }) => name === "quotes"), judgingText: method.judgingText }),
      retracted: rows.filter(({ isRetracted }) => isRetracted).length,
    }),
    method,
    hasLog: { queries: log.length > 0, ledger: ledger.length > 0 },
    references: computeOnce(() =>
      referencesOf(rows, new Set(namedIds()), (id) => citationStatusOf(papers.get(id) as Paper)),
    ),
    ideas,
    rrd,
  };
}

/** The name of a project. A name that is a cut question is the whole question, unless that is very long. */
const titleOf = (name: string, question: string): string =>
  name.endsWith("…") && question.length <= maxTitleChars && question.startsWith(name.slice(0, -1).trimEnd())
    ? question
    : name;

/** The question, if it differs from the title; many projects have the question as their name. */
export const questionIfNotTitle = ({ title, question }: Pick<ReportModel, "title" | "question">): string =>
  plainWords(question) === plainWords(title) && question.length <= maxTitleChars ? "" : question;

/** Maximum characters of a title on the first screen. Longer titles would fill it. */
export const maxTitleChars = 160;

const plainWords = (text: string): string =>
  oneLine(text)
    .toLowerCase()
    .trim()
    .replace(/[.?!]$/, "");

/** The name of an agent for readers. */
const readerText = (agent: string): string => (isWithoutModel(agent) ? `${agent} (no model)` : agent);

/** The number of references from insights to other papers and to works outside the project. */
function crossReferencesOf(
  insights: readonly Insight[],
  papers: ReadonlyMap<string, unknown>,
): ReportModel["crossReferences"] {
  const otherIds = insights.flatMap(({ paper_id, cross_refs }) => (cross_refs ?? []).filter((id) => id !== paper_id));
  const inside = otherIds.filter((id) => papers.has(id)).length;
  return { inside, outside: otherIds.length - inside };
}

/** "12 cross-references between papers, 3 to works outside the project". */
export const crossReferencesText = ({ crossReferences: { inside, outside } }: ReportModel): string =>
  `${counted(inside, "cross-reference")} between papers${outside === 0 ? "" : `, ${counted(outside, "cross-reference")} to works outside the project`}`;

/** A warning that decisions or readings are newer than the text of the report. */
function outdatedWarning({ rrd, ledger }: Pick<ReportInput, "rrd" | "ledger">): Warning[] {
  const since = changesSinceReport(rrd, ledger);
  return since === undefined
    ? []
    : [{ kind: "older", says: `This report is older than ${since}: research-ralph run writes it again.` }];
}

/** A warning about papers that wait for the user. */
function waitingWarning(rrd: Rrd): Warning[] {
  const { length } = eligibilityReport(rrd).waiting;
  if (length === 0) return [];
  const says = `${length === 1 ? "1 paper waits" : `${length} papers wait`} for your decision on eligibility, and nothing is built on ${length === 1 ? "it" : "them"} until then: research-ralph screen.`;
  return [{ kind: "waiting", says }];
}

/** A warning about papers whose text is not available. */
function missingWarning(rows: readonly PaperRow[]): Warning[] {
  const { length } = rows.filter(({ status }) => status === "missing");
  if (length === 0) return [];
  const says = `${length === 1 ? "1 paper" : `${length} papers`} of ${rows.length} could not be retrieved, and nothing is built on ${length === 1 ? "it" : "them"}: its entry says why and what helps.`;
  return [{ kind: "not-retrieved", says: length === 1 ? says : says.replace("its entry says", "their entries say") }];
}

/** A warning about papers whose results were refused too often, with the reasons. */
function refusedWarning(rrd: Rrd): Warning[] {
  const names = namesIn(rrd);
  const paperTexts = standingOf(rrd, []).refusedPapers.map(({ id, title, refusals = [] }) => {
    const reason = refusals.at(-1)?.reasons[0] ?? "of its form";
    return `${oneLine(names.get(id) ?? id)}, ${oneLine(title)} (${oneLine(reason).replace(/\.$/, "")})`;
  });
  const [first] = paperTexts;
  if (first === undefined) return [];
  const beginning =
    paperTexts.length === 1
      ? "1 paper is not read, because every result for it was refused"
      : `${paperTexts.length} papers are not read, because every result for them was refused`;
  return [
    {
      kind: "refused",
      says: `${beginning}, and nothing is built on ${paperTexts.length === 1 ? "it" : "them"}: ${paperTexts.join("; ")}.`,
    },
  ];
}

/** Returns a function that computes its value at the first call, and returns the same value at later calls. */
function computeOnce<Value>(make: () => Value): () => Value {
  let computed: { readonly value: Value } | undefined;
  return () => (computed ??= { value: make() }).value;
}

function noAnswerText(rows: readonly PaperRow[]): string {
  if (rows.length === 0) return "There is no answer yet: no paper has been found.";
  const count = (wantedStatus: PaperRow["status"]) => rows.filter(({ status }) => status === wantedStatus).length;
  const [unread, waiting] = [count("unread"), count("waiting")];
  if (unread > 0)
    return `There is no answer yet: ${counted(unread, "paper")} of ${thousands(rows.length)} ${unread === 1 ? "is" : "are"} still to be read.`;
  const waits = `${counted(waiting, "paper waits", "papers wait")} for a person's decision`;
  return `There is no answer yet: ${waiting > 0 ? waits : "every paper has its decision"}, and the report is not written.`;
}

/**
 * The question if the narrative does not state one: the first sentence of the description, or a topic as a question.
 */
function questionOf({ description, project }: Rrd): string {
  const text = oneLine(description ?? "");
  const sentence = /^.{40,320}?[.?!](?=\s|$)/.exec(text)?.[0] ?? text.slice(0, 320);
  const topic = /^Literature research on: (.+)/.exec(sentence)?.[1]?.replace(/\.$/, "");
  if (topic !== undefined) return topic.endsWith("?") ? topic : `What do papers show about ${topic}?`;
  return sentence === "" ? oneLine(project).replace(/^Research:\s*/i, "") : sentence;
}

function figuresOf(
  { rrd, ledger }: Pick<ReportInput, "rrd" | "ledger">,
  rows: readonly PaperRow[],
  insights: number,
  total: UsageSum,
): Figure[] {
  const citablePapers = rrd.papers_pool.filter((paper) => reasonNotToCite(paper) === undefined);
  const decided = citablePapers.filter(isDecided).length;
  const readCount = countReadPapers(rows);
  const presented = rows.filter(({ status }) => status === "presented").length;
  const retracted = rows.filter(({ isRetracted }) => isRetracted).length;
  const { found: foundCount, all: quoteCount } = quoteSums(citablePapers);
  const quoteNumbers = { quotes_found: foundCount, quotes: quoteCount };
  const waitingCount = rrd.papers_pool.filter(isWaiting).length;
  const waitingText =
    waitingCount === 0
      ? ""
      : `, without ${counted(waitingCount, "paper")} that ${waitingCount === 1 ? "waits" : "wait"} for a person`;
  const figure = (
    name: Figure["name"],
    value: string,
    numbers: Figure["numbers"],
    label: string,
    isBad = false,
  ): Figure => ({ name, value, numbers, label, isBad });
  const spentMs = timeSpent(rrd, ledger);
  const seconds = Math.round((spentMs ?? 0) / 1000);
  // "<" must be escaped in Markdown, so the text says "under".
  const time = spentMs === undefined ? "" : spentMs < 1000 ? "under 1s" : shortDuration(spentMs);
  return [
    figure("papers", thousands(readCount.count), { papers_read: readCount.count, papers: rows.length }, readCount.says),
    figure("presented", thousands(presented), { presented }, "included"),
    figure("insights", thousands(insights), { insights }, insights === 1 ? "insight" : "insights"),
    ...(decided === 0
      ? []
      : [
          quoteCount === 0
            ? figure("quotes", "0", quoteNumbers, "quotes kept: claims are unchecked", true)
            : figure(
                "quotes",
                `${thousands(foundCount)}/${thousands(quoteCount)}`,
                quoteNumbers,
                `${quoteCount === 1 ? "quote" : "quotes"} found in the text${waitingText}`,
                foundCount * 2 < quoteCount,
              ),
        ]),
    // If no service checked the papers, "0 retracted" would be wrong.
    ...(retracted === 0 && !rrd.papers_pool.some(isCheckedForRetraction)
      ? []
      : [
          figure(
            "retracted",
            String(retracted),
            { retracted },
            retracted === 0 ? "known to be retracted" : "retracted",
            retracted > 0,
          ),
        ]),
    ...(total.cost_usd !== undefined && isCostKnown(total)
      ? [
          figure(
            "cost",
            shortCost(total),
            { cost_usd: total.cost_usd, ...(spentMs === undefined ? {} : { seconds }) },
            [time === "" ? "cost" : `in ${time} of agent time`, ...missingCosts(total)].join("; "),
          ),
        ]
      : time === ""
        ? []
        : [figure("time", time, { seconds }, total.iterations > 0 ? "of agent time; cost not known" : "of reading")]),
  ];
}

/** The number of papers that were read, and the text that is shown after the number. */
function countReadPapers(rows: readonly PaperRow[]): { readonly count: number; readonly says: string } {
  const count = (wantedReading: Reading) => rows.filter(({ reading }) => reading === wantedReading).length;
  const [full, partial, unrecorded, abstract] = [
    count("full"),
    count("partial"),
    count("unrecorded"),
    count("abstract"),
  ];
  const readAll = full + partial + unrecorded;
  const papers = readAll === rows.length ? (readAll === 1 ? "paper" : "papers") : `of ${counted(rows.length, "paper")}`;
  const howRead =
    unrecorded > 0 || full + partial + abstract === 0 ? "" : partial > 0 ? " in full or in part" : " in full";
  const abstractText =
    abstract === 0 ? "" : `, ${thousands(abstract)} ${readAll > 0 ? "more " : ""}by the abstract alone`;
  return { count: readAll, says: `${papers} read${howRead}${abstractText}` };
}

function scoresOfModel(rrd: Rrd, rows: readonly PaperRow[]): Scores {
  const both = usesBothRubrics(rrd);
  const judgedRows = rows.filter((row) => row.score !== undefined && row.status !== "unread" && !row.isRetracted);
  const { present, insights } = both
    ? { present: rrd.mission?.min_combined_score ?? 25, insights: 18 }
    : singleThresholds(rrd);
  return {
    maxScore: fullScore(rrd),
    usesBothRubrics: both,
    rows: judgedRows,
    // If points decide nothing, there are no thresholds.
    lines: criteriaDecide(rrd)
      ? []
      : [
          ...(insights < present ? [{ at: insights, says: "may be kept for insights" }] : []),
          { at: present, says: "included" },
          ...(both ? [{ at: priorityThreshold, says: "priority" }] : []),
        ],
  };
}

function themesOf(
  rrd: Rrd,
  narrative: Narrative,
  insights: readonly Insight[],
  toStatement: (sentence: StoredSentence) => Statement,
  toInsightRow: (insight: Insight) => InsightRow,
): { readonly themes: readonly Theme[]; readonly others: readonly InsightRow[] } {
  const usedInsights = new Set<Insight>();
  const takeUnused = (list: readonly Insight[]) =>
    list.filter((insight) => !usedInsights.has(insight) && usedInsights.add(insight));
  const byId = new Map(insights.map((insight) => [insight.id ?? "", insight]));
  const namedThemes: Theme[] = narrative.themes.map((theme) => ({
    name: theme.name,
    statement: toStatement(theme),
    insights: takeUnused(theme.insight_ids.flatMap((id) => byId.get(id) ?? [])).map(toInsightRow),
  }));
  const tagThemes: Theme[] =
    namedThemes.length > 0
      ? []
      : groupInsights(rrd).map(({ tags, insights: members }) => ({
          name: tags.join(", ").replace(/^./u, (letter) => letter.toUpperCase()),
          insights: takeUnused(members).map(toInsightRow),
        }));
  return {
    themes: [...namedThemes, ...tagThemes].filter(
      (theme) => theme.insights.length > 0 || theme.statement !== undefined,
    ),
    others: insights.filter((insight) => !usedInsights.has(insight)).map(toInsightRow),
  };
}

function costByPaperOf(ledger: readonly LedgerLine[], rows: ReadonlyMap<string, PaperRow>): PaperCost[] {
  const lines = groupBy(ledger, ({ unit }) => rows.get(unit));
  return [...lines].flatMap(([paper, paperLines]) => (paper === undefined ? [] : { paper, cost: sumOf(paperLines) }));
}

function referencesOf(
  rows: readonly PaperRow[],
  namedPaperIds: ReadonlySet<string>,
  citationFor: (id: string) => Citation,
): Reference[] {
  return rows
    .filter(({ id, status }) => namedPaperIds.has(id) || status === "presented" || status === "insights")
    .map((paper, index) => ({
      number: index + 1,
      paper,
      // It is computed when it is read, because a page lists only the first of many references.
      get citation() {
        return citationFor(paper.id);
      },
    }));
}

function ideaOf(idea: ProductIdeas["ideas"][number], rows: ReadonlyMap<string, PaperRow>): Idea {
  const { name, one_liner, evidence, scores, recommended_for_prd, recommended_next_steps = [] } = idea;
  return {
    name,
    oneLiner: one_liner ?? "",
    isRecommended: recommended_for_prd,
    ...withoutUndefined({ combinedPoints: scores.combined_0_50 }),
    papers: evidence.paper_ids.flatMap((paper) => rows.get(paper) ?? []),
    nextSteps: recommended_next_steps,
  };
}
