import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { QueryLine } from "../../engine/generated/query.js";
import { validLines } from "../../engine/storage/state/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { isCostKnown, missingCosts, shortCost, type UsageSum } from "../../engine/ui/terminal/tally.js";
import { duration } from "../../engine/lib/words.js";
import type { Answer } from "../generated/answer.js";
import type { ProductIdeas } from "../generated/product-ideas.js";
import type { ReportFile } from "../generated/report.js";
import type { Paragraphs } from "../full-text/paragraphs.js";
import type { Insight, Paper, Rrd } from "../generated/rrd.js";
import { sumOf, totalOf } from "../overview/costs.js";
import {
  criteriaDecide,
  fullScore,
  isDecided,
  loneThresholds,
  priorityThreshold,
  usesBothRubrics,
} from "../papers/rubric/rubric.js";
import type { Reading } from "../papers/read-depth.js";
import { secondsBefore, wereAllReadBefore } from "../workflow/timing.js";
import { criterionText, eligibilityReport } from "../screening/eligibility/eligibility.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { whyNoGround } from "../units/narrative/handles.js";
import { namesIn } from "../papers/paper-keys.js";
import { isCheckedForRetraction } from "../papers/retraction-status.js";
import { sinceReport } from "../derived/since-report.js";
import { standingOf } from "../derived/status.js";
import { groupInsights } from "../units/report/insight-groups.js";
import { calibrationOf, type Warning } from "../papers/rubric/calibration.js";
import { type Citation, citationOf } from "./citation-status.js";
import { type Flow, flowOf } from "./prisma-flow.js";
import { mapOf, type PaperMap } from "./links.js";
import { isWithoutModel, linesAtWork, type Method, methodOf } from "./method.js";
import { type AskedQuestion, askedQuestions } from "./narrative/questions.js";
import { type Narrative, narrativeOf, narrativeOfHeadings, narrativeOfNothing } from "./narrative/narrative.js";
import { type Meaning, meaningOf } from "./narrative/meaning.js";
import { type ShownPair, shownPairs } from "./narrative/side-by-side.js";
import { type WhatChanged, whatChanged } from "./narrative/what-changed.js";
import { entryOf, type PaperEntry, type PaperRow, rowsOf } from "./papers.js";
import { counted, thousands } from "./pictures/words.js";
import { namesOf, tablesAsText } from "./quotes.js";
import { type Query, queriesOf, type SearchYield, searchYieldOf } from "./search-yield.js";
import { type SaidSentence, type Statement, statementOf, type StatementSources } from "./statements.js";
import { type Strength, strengthOf, type Sureness, surenessOf } from "./strength.js";
import { groupBy } from "../../engine/lib/group.js";

/** All that a report is made of. Nothing is read from a disk or a network here. */
export interface ReportInput {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  readonly queries: readonly QueryLine[];
  /** report.json, where the folder has one. */
  readonly report?: ReportFile;
  /** The text of research-report.md of a folder that has no report.json. */
  readonly oldReport?: string;
  readonly ideas?: ProductIdeas;
  /** answers.jsonl. */
  readonly answers: readonly Answer[];
  /** Of quotes whose passages were cut, where their texts are kept. */
  readonly paragraphs?: Paragraphs;
  readonly now: Date;
}

/** One of the six figures at the top. */
export interface Figure {
  readonly name: "papers" | "presented" | "insights" | "quotes" | "retracted" | "cost" | "time";
  /** The number as it is shown, such as "80/81" or "$0.00". */
  readonly value: string;
  /** What it counts, such as "quotes found in the text". */
  readonly label: string;
  /** Something a reader should be wary of. Its label says so too. */
  readonly isBad: boolean;
}

/** A finding with how well it is carried. */
export interface Finding extends Statement {
  readonly strength: Strength;
}

export interface Recommendation extends Statement {
  readonly priority: "high" | "medium" | "low";
}

/** What papers differ on, and what each side says. */
export interface Dispute {
  readonly text: string;
  readonly sides: readonly Finding[];
}

/** An insight with the paper it comes from. */
export interface InsightRow {
  readonly text: string;
  /** Absent where the paper is not in the pool. */
  readonly paper?: PaperRow;
  /** Papers of the pool that it refers to. */
  readonly refersTo: readonly PaperRow[];
}

export interface Theme {
  readonly name: string;
  /** What its insights say together; absent for a group that code made of shared tags. */
  readonly statement?: Statement;
  readonly insights: readonly InsightRow[];
}

export interface Comparison {
  readonly approaches: readonly string[];
  readonly rows: readonly { readonly aspect: string; readonly cells: readonly Statement[] }[];
}

/** The scores as a picture needs them. */
export interface Scores {
  /** What a score is out of. */
  readonly full: number;
  /** Both rubrics: a plane of execution (0 to 30) and strategic (0 to 20); otherwise execution alone. */
  readonly both: boolean;
  /** Judged papers that stand, with points; a score is out of `full`. */
  readonly rows: readonly PaperRow[];
  /** Points at which decisions change, with their words. */
  readonly lines: readonly { readonly at: number; readonly says: string }[];
}

/** What one paper cost. */
export interface PaperCost {
  readonly paper: PaperRow;
  readonly cost: UsageSum;
}

/** A work that the report names, with its number and status. */
export interface Reference {
  /** From 1, in the order of the list. */
  readonly number: number;
  readonly paper: PaperRow;
  readonly citation: Citation;
}

export interface Idea {
  readonly name: string;
  readonly oneLiner: string;
  readonly isRecommended: boolean;
  readonly combined?: number;
  readonly papers: readonly PaperRow[];
  readonly nextSteps: readonly string[];
}

/**
 * Everything that a report shows, in its order, for the page, the Markdown, the exports and the terminal alike. What
 * grows with the papers is made when it is asked for, once: the methods and `entry`.
 */
export interface ReportModel {
  /** The name of the project without "Research: ". */
  readonly title: string;
  readonly isFinished: boolean;
  readonly phase: Rrd["phase"];
  /** The day up to which the records reach, YYYY-MM-DD; empty where nothing is dated. */
  readonly day: string;
  /** When the report was rendered, ISO 8601. */
  readonly renderedAt: string;
  readonly agents: readonly string[];
  /** Where the narrative comes from: report.json, the headings of an older report, or no report is written yet. */
  readonly narrative: Narrative["from"];
  /** The narrative as it was said, before its handles were led to their quotes. */
  readonly said: Narrative;
  /** The words of quotes, by handle, as they stood when the narrative was accepted. */
  readonly quotesThen: Readonly<Record<string, string>>;
  /** What the last update changed; absent where there was none. */
  readonly changes?: WhatChanged;
  readonly question: string;
  readonly answer: readonly Statement[];
  /** How far sentences were held against what they cite; absent where nobody was asked. */
  readonly meaning?: Meaning;
  /** Why there is no answer yet, in a sentence; absent where there is one. */
  readonly unanswered?: string;
  readonly sureness: Sureness;
  /** The six figures; a figure that holds nothing is left out. */
  readonly figures: readonly Figure[];
  readonly findings: readonly Finding[];
  readonly recommendations: readonly Recommendation[];
  readonly agreed: readonly Finding[];
  readonly disputed: readonly Dispute[];
  /** Quotes of different papers on one outcome, side by side; opposite ones first. */
  readonly pairs: readonly ShownPair[];
  /** The whole paragraphs of passages that were cut, by the evidence. */
  readonly paragraphs: Paragraphs;
  readonly gaps: readonly Statement[];
  readonly comparison?: Comparison;
  /** Questions that were put to the project, the newest first. */
  readonly questions: readonly AskedQuestion[];
  /** What a reader should know before trusting the whole: papers that wait for a person, scores that tell little. */
  readonly warnings: readonly Warning[];
  /** Papers that wait for a person's decision, with the criteria that are open. */
  readonly waiting: readonly { readonly paper: PaperRow; readonly open: readonly string[] }[];
  readonly scores: Scores;
  /** Every paper, presented ones first, then the best first. */
  readonly rows: readonly PaperRow[];
  readonly row: (id: string) => PaperRow | undefined;
  /** The whole entry of a paper; made anew at each call, so that ten thousand need not lie in memory. */
  readonly entry: (row: PaperRow) => PaperEntry;
  readonly themes: () => readonly Theme[];
  /** Insights that no theme holds. */
  readonly otherInsights: () => readonly InsightRow[];
  /** Counted without those of papers that don't stand: retracted, or not eligible. */
  readonly insightCount: number;
  /** References from insights that count to other papers: those of the project, and works outside it. */
  readonly crossReferences: { readonly inside: number; readonly outside: number };
  readonly map: () => PaperMap;
  readonly flow: Flow;
  readonly search: SearchYield;
  readonly queries: () => readonly Query[];
  readonly costByPaper: () => readonly PaperCost[];
  readonly total: UsageSum;
  readonly method: Method;
  /** Whether there are a search log and a ledger. */
  readonly recorded: { readonly queries: boolean; readonly ledger: boolean };
  /** Papers that the report names: of its statements and themes, presented ones, and those kept for insights. */
  readonly references: () => readonly Reference[];
  /** Recommended ones first, then by points. */
  readonly ideas: readonly Idea[];
  /** The records, for a section that shows what no other does. */
  readonly rrd: Rrd;
}

/** The model of a report. Pure, and linear in papers, insights and log. */
export function reportModel(input: ReportInput): ReportModel {
  const { rrd, queries: log, ideas: ideasFile, now } = input;
  const papers = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
  const names = namesOf(rrd.papers_pool);
  const insights = groupBy(rrd.insights ?? [], ({ paper_id }) => paper_id);
  const rows = rowsOf(rrd, names);
  const rowById = new Map(rows.map((row) => [row.id, row]));
  const narrative =
    (input.report === undefined ? undefined : narrativeOf(input.report)) ??
    (input.oldReport === undefined ? undefined : narrativeOfHeadings(input.oldReport, new Set(papers.keys()))) ??
    narrativeOfNothing;
  const ledger = validLines(input.ledger).filter(({ outcome }) => outcome !== "reset");

  const sources: StatementSources = {
    papers,
    names,
    checksNumbers: narrative.from === "data",
    ...withoutUndefined({ checkers: rrd.meaning?.checkers }),
  };
  const statement = (said: SaidSentence) => statementOf(said, sources);
  const finding = (said: SaidSentence): Finding => {
    const resolved = statement(said);
    return { ...resolved, strength: strengthOf(resolved, papers) };
  };
  const insightRow = ({ insight, paper_id, cross_refs }: Insight): InsightRow => {
    const paper = rowById.get(paper_id ?? "");
    return {
      text: tablesAsText(insight),
      ...withoutUndefined({ paper }),
      refersTo: (cross_refs ?? []).flatMap((other) => rowById.get(other) ?? []),
    };
  };
  const criteria = criteriaOf(rrd);
  const gone = new Set(rrd.papers_pool.filter((paper) => whyNoGround(paper) !== undefined).map(({ id }) => id));
  const standing = (rrd.insights ?? []).filter(({ paper_id }) => !gone.has(paper_id ?? ""));
  const byTheme = once(() => themesOf(rrd, narrative, standing, statement, insightRow));

  const search = searchYieldOf(rrd, log);
  const queries = once(() => queriesOf(log));
  const flow = flowOf(rrd);
  const total = totalOf(rrd, input.ledger);
  const scores = scoresOfModel(rrd, rows);
  const answer = narrative.answer.map(statement);
  const findings = narrative.findings.map(finding);
  const changes = whatChanged(rrd, narrative.findings, findings, (id) => rowById.get(id));
  const agreed = narrative.agreed.map(finding);
  const disputed = narrative.disputed.map(({ text, sides }) => ({ text, sides: sides.map(finding) }));
  const pairs = shownPairs(rrd.papers_pool, narrative.contrasts ?? [], sources);
  const gaps = narrative.gaps.map(statement);
  const questions = askedQuestions(input.answers, names, rrd.meaning?.checkers ?? {});
  const recommendations = narrative.recommendations.map((said) => ({ ...statement(said), priority: said.priority }));
  const comparison =
    narrative.comparison === undefined
      ? undefined
      : {
          approaches: narrative.comparison.approaches,
          rows: narrative.comparison.rows.map(({ aspect, cells }) => ({ aspect, cells: cells.map(statement) })),
        };
  const ideas = (ideasFile?.ideas ?? [])
    .map((idea) => ideaOf(idea, rowById))
    .sort((a, b) => Number(b.isRecommended) - Number(a.isRecommended) || (b.combined ?? -1) - (a.combined ?? -1));
  const map = once(() => mapOf(rrd, rows));
  // A person's own words; an agent puts only those of a project that was written by hand.
  const asked = oneLine(rrd.question ?? "").trim();
  const question = asked === "" ? (narrative.question ?? questionOf(rrd)) : asked;
  const figures = figuresOf(input, rows, standing.length, total);

  const method = methodOf(rrd, input.ledger, search, log.length > 0, {
    now,
    ...withoutUndefined({ writer: narrative.agent }),
  });

  const named = () => [
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
  // Lines of a report that was only written again tell neither who read nor when.
  const isReadElsewhere = wereAllReadBefore(rrd, input.ledger);
  const { agent: reader = narrative.agent } = rrd.statistics?.stated ?? {};
  const agents = isReadElsewhere
    ? [typeof reader === "string" ? reader : "another program"]
    : [...new Set(linesAtWork(ledger).flatMap(({ agent }) => agent ?? []))];
  return {
    title: oneLine(rrd.project).replace(/^Research:\s*/i, ""),
    isFinished: rrd.phase === "COMPLETE",
    phase: rrd.phase,
    day: (
      rrd.timing?.complete?.ended_at ?? (isReadElsewhere ? "" : (ledger.at(-1)?.at ?? narrative.writtenAt ?? ""))
    ).slice(0, 10),
    renderedAt: now.toISOString(),
    agents: (agents.length > 0 ? agents : narrative.agent === undefined ? [] : [narrative.agent]).map(readerText),
    narrative: narrative.from,
    said: narrative,
    quotesThen: input.report?.quotes ?? {},
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
    warnings: [...olderOf(input), ...waitingOf(rrd), ...missingOf(rows), ...givenUpOf(rrd), ...calibrationOf(rrd)],
    waiting: eligibilityReport(rrd).waiting.flatMap(({ paper, open }) => {
      const row = rowById.get(paper.id);
      return row === undefined ? [] : { paper: row, open: open.map(criterionText) };
    }),
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
    insightCount: standing.length,
    crossReferences: crossReferencesOf(standing, rowById),
    map,
    flow,
    search,
    queries,
    total,
    costByPaper: once(() => costByPaperOf(ledger, rowById)),
    ...(answer.length > 0 ? {} : { unanswered: whyNoAnswer(rows) }),
    sureness: surenessOf({
      findings,
      agreed,
      ...withoutUndefined({ quotes: figures.find(({ name }) => name === "quotes"), judged: method.judged }),
      retracted: rows.filter(({ isRetracted }) => isRetracted).length,
    }),
    method,
    recorded: { queries: log.length > 0, ledger: ledger.length > 0 },
    references: once(() => referencesOf(rows, new Set(named()), (id) => citationOf(papers.get(id) as Paper))),
    ideas,
    rrd,
  };
}

/** The question where it is not the title already: the words that were asked are the name of many projects. */
export const questionBeside = ({ title, question }: Pick<ReportModel, "title" | "question">): string =>
  plainWords(question) === plainWords(title) && question.length <= maxTitle ? "" : question;

/** A title that is far longer than its few words would be all that a reader sees. */
export const maxTitle = 160;

const plainWords = (text: string): string =>
  oneLine(text)
    .toLowerCase()
    .trim()
    .replace(/[.?!]$/, "");

/** An agent as a reader sees it. */
const readerText = (agent: string): string => (isWithoutModel(agent) ? `${agent} (no model)` : agent);

/** What insights refer to besides their own paper: by whether it is a paper of the project. */
function crossReferencesOf(
  insights: readonly Insight[],
  papers: ReadonlyMap<string, unknown>,
): ReportModel["crossReferences"] {
  const others = insights.flatMap(({ paper_id, cross_refs }) => (cross_refs ?? []).filter((id) => id !== paper_id));
  const inside = others.filter((id) => papers.has(id)).length;
  return { inside, outside: others.length - inside };
}

/** "12 cross-references between papers, 3 to works outside the project". */
export const crossReferencesText = ({ crossReferences: { inside, outside } }: ReportModel): string =>
  `${counted(inside, "cross-reference")} between papers${outside === 0 ? "" : `, ${counted(outside, "cross-reference")} to works outside the project`}`;

/** That decisions or readings came after the words of the report, which a reader has to know before all others. */
function olderOf({ rrd, ledger }: Pick<ReportInput, "rrd" | "ledger">): Warning[] {
  const since = sinceReport(rrd, ledger);
  return since === undefined
    ? []
    : [{ kind: "older", says: `This report is older than ${since}: research-ralph run writes it again.` }];
}

/** Papers that wait for a person, as the next thing to know. */
function waitingOf(rrd: Rrd): Warning[] {
  const { length } = eligibilityReport(rrd).waiting;
  if (length === 0) return [];
  const says = `${length === 1 ? "1 paper waits" : `${length} papers wait`} for your decision on eligibility, and nothing is built on ${length === 1 ? "it" : "them"} until then: research-ralph decide.`;
  return [{ kind: "waiting", says }];
}

/** Papers that could not be had, as the next thing to know. */
function missingOf(rows: readonly PaperRow[]): Warning[] {
  const { length } = rows.filter(({ status }) => status === "missing");
  if (length === 0) return [];
  const says = `${length === 1 ? "1 paper" : `${length} papers`} of ${rows.length} could not be retrieved, and nothing is built on ${length === 1 ? "it" : "them"}: its entry says why and what helps.`;
  return [{ kind: "not-retrieved", says: length === 1 ? says : says.replace("its entry says", "their entries say") }];
}

/** Papers whose readings were refused too often, each with the reason, as the next thing to know. */
function givenUpOf(rrd: Rrd): Warning[] {
  const names = namesIn(rrd);
  const listed = standingOf(rrd, []).refused.map(({ id, title, refusals = [] }) => {
    const why = refusals.at(-1)?.reasons[0] ?? "of its form";
    return `${oneLine(names.get(id) ?? id)}, ${oneLine(title)} (${oneLine(why).replace(/\.$/, "")})`;
  });
  const [one] = listed;
  if (one === undefined) return [];
  const head =
    listed.length === 1
      ? "1 paper is not read, because every result for it was refused"
      : `${listed.length} papers are not read, because every result for them was refused`;
  return [
    {
      kind: "refused",
      says: `${head}, and nothing is built on ${listed.length === 1 ? "it" : "them"}: ${listed.join("; ")}.`,
    },
  ];
}

/** A function whose answer is made at the first call and kept. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

function whyNoAnswer(rows: readonly PaperRow[]): string {
  if (rows.length === 0) return "There is no answer yet: no paper has been found.";
  const count = (wanted: PaperRow["status"]) => rows.filter(({ status }) => status === wanted).length;
  const [unread, waiting] = [count("unread"), count("waiting")];
  if (unread > 0)
    return `There is no answer yet: ${counted(unread, "paper")} of ${thousands(rows.length)} ${unread === 1 ? "is" : "are"} still to be read.`;
  const waits = `${counted(waiting, "paper waits", "papers wait")} for a person's decision`;
  return `There is no answer yet: ${waiting > 0 ? waits : "every paper has its decision"}, and the report is not written.`;
}

/** The question where no narrative states it: what the requirements say is sought, a bare topic as a question. */
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
  const grounds = rrd.papers_pool.filter((paper) => whyNoGround(paper) === undefined);
  const decided = grounds.filter(isDecided).length;
  const read = readOf(rows);
  const presented = rows.filter(({ status }) => status === "presented").length;
  const retracted = rows.filter(({ isRetracted }) => isRetracted).length;
  let [all, found] = [0, 0];
  for (const { analysis } of grounds)
    for (const { status } of analysis?.evidence ?? []) {
      all += 1;
      if (status === "verified") found += 1;
    }
  const figure = (name: Figure["name"], value: string | number, label: string, isBad = false): Figure => ({
    name,
    value: String(value),
    label,
    isBad,
  });
  const before = secondsBefore(rrd, ledger);
  const isTimeKnown = before > 0 || (total.iterations > 0 && !wereAllReadBefore(rrd, ledger));
  const seconds = total.seconds + before;
  // In a sentence, and in Markdown, "<" is a letter of its own.
  const time = !isTimeKnown ? "" : seconds < 1 ? "under 1s" : duration(seconds * 1000);
  return [
    figure("papers", thousands(read.count), read.says),
    figure("presented", thousands(presented), "included"),
    figure("insights", thousands(insights), insights === 1 ? "insight" : "insights"),
    ...(decided === 0
      ? []
      : [
          all === 0
            ? figure("quotes", 0, "quotes kept: claims are unchecked", true)
            : figure(
                "quotes",
                `${thousands(found)}/${thousands(all)}`,
                `${all === 1 ? "quote" : "quotes"} found in the text`,
                found * 2 < all,
              ),
        ]),
    // Where no service could say it, a 0 would be a claim.
    ...(retracted === 0 && !rrd.papers_pool.some(isCheckedForRetraction)
      ? []
      : [figure("retracted", retracted, retracted === 0 ? "known to be retracted" : "retracted", retracted > 0)]),
    ...(total.cost_usd !== undefined && isCostKnown(total)
      ? [
          figure(
            "cost",
            shortCost(total),
            [time === "" ? "cost" : `in ${time} of agent time`, ...missingCosts(total)].join("; "),
          ),
        ]
      : time === ""
        ? []
        : [figure("time", time, total.iterations > 0 ? "of agent time; cost not known" : "of reading")]),
  ];
}

/** How many papers were read, and of how many and how far, as the words behind that number. */
function readOf(rows: readonly PaperRow[]): { readonly count: number; readonly says: string } {
  const count = (wanted: Reading) => rows.filter(({ reading }) => reading === wanted).length;
  const [full, partial, unrecorded, abstract] = [
    count("full"),
    count("partial"),
    count("unrecorded"),
    count("abstract"),
  ];
  const all = full + partial + unrecorded;
  const papers = all === rows.length ? (all === 1 ? "paper" : "papers") : `of ${counted(rows.length, "paper")}`;
  const how = unrecorded > 0 || full + partial + abstract === 0 ? "" : partial > 0 ? " in full or in part" : " in full";
  const others = abstract === 0 ? "" : `, ${thousands(abstract)} ${all > 0 ? "more " : ""}by the abstract alone`;
  return { count: all, says: `${papers} read${how}${others}` };
}

function scoresOfModel(rrd: Rrd, rows: readonly PaperRow[]): Scores {
  const both = usesBothRubrics(rrd);
  const judged = rows.filter((row) => row.score !== undefined && row.status !== "unread" && !row.isRetracted);
  const { present, insights } = both
    ? { present: rrd.mission?.min_combined_score ?? 25, insights: 18 }
    : loneThresholds(rrd);
  return {
    full: fullScore(rrd),
    both,
    rows: judged,
    // Points that decide nothing have no lines.
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
  statement: (said: SaidSentence) => Statement,
  row: (insight: Insight) => InsightRow,
): { readonly themes: readonly Theme[]; readonly others: readonly InsightRow[] } {
  const placed = new Set<Insight>();
  const take = (list: readonly Insight[]) => list.filter((insight) => !placed.has(insight) && placed.add(insight));
  const byId = new Map(insights.map((insight) => [insight.id ?? "", insight]));
  const named: Theme[] = narrative.themes.map((theme) => ({
    name: theme.name,
    statement: statement(theme),
    insights: take(theme.insight_ids.flatMap((id) => byId.get(id) ?? [])).map(row),
  }));
  const grouped: Theme[] =
    named.length > 0
      ? []
      : groupInsights(rrd).map(({ tags, insights: members }) => ({
          name: tags.join(", ").replace(/^./u, (letter) => letter.toUpperCase()),
          insights: take(members).map(row),
        }));
  return {
    themes: [...named, ...grouped].filter((theme) => theme.insights.length > 0 || theme.statement !== undefined),
    others: insights.filter((insight) => !placed.has(insight)).map(row),
  };
}

function costByPaperOf(ledger: readonly LedgerLine[], rows: ReadonlyMap<string, PaperRow>): PaperCost[] {
  const lines = groupBy(ledger, ({ unit }) => rows.get(unit));
  return [...lines].flatMap(([paper, its]) => (paper === undefined ? [] : { paper, cost: sumOf(its) }));
}

function referencesOf(
  rows: readonly PaperRow[],
  named: ReadonlySet<string>,
  citation: (id: string) => Citation,
): Reference[] {
  return rows
    .filter(({ id, status }) => named.has(id) || status === "presented" || status === "insights")
    .map((paper, index) => ({
      number: index + 1,
      paper,
      // Of ten thousand, a page lists the first few.
      get citation() {
        return citation(paper.id);
      },
    }));
}

function ideaOf(idea: ProductIdeas["ideas"][number], rows: ReadonlyMap<string, PaperRow>): Idea {
  const { name, one_liner, evidence, scores, recommended_for_prd, recommended_next_steps = [] } = idea;
  return {
    name,
    oneLiner: one_liner ?? "",
    isRecommended: recommended_for_prd,
    ...withoutUndefined({ combined: scores.combined_0_50 }),
    papers: evidence.paper_ids.flatMap((paper) => rows.get(paper) ?? []),
    nextSteps: recommended_next_steps,
  };
}
