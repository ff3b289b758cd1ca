import { isWithoutModel } from "../derived/without-model.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { countsTowardLimit } from "../../engine/loop/stop-conditions/limits.js";
import { validLines } from "../../engine/storage/state/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { sumOf } from "../overview/costs.js";
import type { UsageSum } from "../../engine/ui/terminal/tally.js";
import {
  criteriaDecide,
  fullScore,
  isDecided,
  singleThresholds,
  ownRubricOf,
  priorityThreshold,
  usesBothRubrics,
  usesScores,
} from "../papers/rubric/rubric.js";
import { dimensionText } from "../papers/rubric/own-rubric.js";
import { isOfFiles } from "../papers/records/own-list.js";
import { namesIn } from "../papers/paper-keys.js";
import { type Reading, readingOf } from "../papers/read-depth.js";
import { flowCounts, stageOf } from "../derived/flow-counts.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { targetOf } from "../derived/status.js";
import { periodOf, periodText } from "../workflow/timing.js";
import {
  shortExclusionBy,
  eligibilityReport,
  exclusionOf,
  type ExclusionCount,
} from "../screening/eligibility/eligibility.js";
import { agreementOf, agreementText } from "../screening/eligibility/agreement.js";
import { retractionCheckText } from "../units/retractions.js";
import { seedRecallText } from "../papers/seeds/find-seeds.js";
import { screenedOutIds, seedsOf } from "../papers/seeds/seed.js";
import type { SearchYield } from "./search-yield.js";
import { countEach, groupBy } from "../../engine/lib/group.js";

/** A fact about the method: its name and a sentence. */
export interface Fact {
  readonly name: string;
  readonly says: string;
}

/** An agent that worked on the project. */
export interface AgentUse {
  readonly agent: string;
  readonly model?: string;
  /** The version of its program, if it was recorded. */
  readonly version?: string;
  /** Hashes of its prompts, if they were recorded, oldest first. */
  readonly prompts: readonly string[];
  readonly iterations: number;
  /** "unconfined" if at least one iteration had access to everything that its user has. */
  readonly confinement?: string;
}

/** Tokens, time and cost of one phase. */
export interface PhaseUse extends UsageSum {
  readonly phase: string;
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
}

/** A result that was refused, or an iteration that failed. */
export interface FailedIteration {
  readonly iteration: number;
  readonly unit: string;
  readonly outcome: "refused" | "failed";
  readonly reasons: readonly string[];
}

/** The reasons why papers or records were excluded, with their numbers. */
export interface Exclusions {
  readonly stage: "at screening" | "from the abstract alone" | "at full text";
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
}

/** The method of the project: how papers were searched and judged, what it cost, and what was not done. */
export interface Method {
  /** Criteria, time windows, thresholds and substitutions, in the order in which a reader needs them. */
  readonly facts: readonly Fact[];
  /** The eligibility criteria with their numbers; empty if the project has none. */
  readonly criteria: readonly { readonly id: string; readonly kind: "include" | "exclude"; readonly text: string }[];
  /** Exclusions by criteria or by the user; empty if there are no criteria. */
  readonly eligibility: readonly Exclusions[];
  readonly agents: readonly AgentUse[];
  readonly phases: readonly PhaseUse[];
  readonly setbacks: readonly FailedIteration[];
  /** The reasons for exclusions by title and abstract, most frequent first, at most thirty. */
  readonly exclusions: readonly { readonly reason: string; readonly count: number }[];
  /** One or two sentences on which papers were checked for retractions. */
  readonly retractions: string;
  /** A clause that says how often each paper was judged; absent if no paper was judged. */
  readonly judgingText?: string;
  /** Sentences about what was not done. */
  readonly limits: readonly string[];
}

const maxExclusions = 30;

/** Whether the search only listed files of this machine. It is repeated from them, and asks nothing that is logged. */
export function isSearchOfFiles({ requirements: { sources = [] }, statistics }: Rrd): boolean {
  const { pool_sha256: pool, listed_sha256: listed } = statistics?.discovery_metrics ?? {};
  return (pool ?? listed) !== undefined && sources.length > 0 && sources.every(isOfFiles);
}

export function methodSection(
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  search: SearchYield,
  hasQueries: boolean,
  { now, writer }: { readonly now: Date; /** The agent that wrote the report. */ readonly writer?: string },
): Method {
  const lines = validLines(ledger).filter(({ outcome }) => outcome !== "reset");
  const eligibility = eligibilityReport(rrd);
  const names = namesIn(rrd);
  const counts = (stage: Exclusions["stage"], list: readonly ExclusionCount[]): Exclusions[] =>
    list.length === 0
      ? []
      : [{ stage, reasons: list.map((exclusion) => ({ reason: reasonText(exclusion), count: exclusion.count })) }];
  return {
    facts: [...periodFacts(rrd, ledger, now, writer), ...factsOf(rrd, search)],
    criteria: eligibility.criteria.map(({ id, kind, text }) => ({ id, kind, text })),
    eligibility: [
      ...counts("at screening", eligibility.screening),
      ...counts("from the abstract alone", eligibility.abstract),
      ...counts("at full text", eligibility.fullText),
    ],
    agents: agentsOf(lines),
    phases: phasesOf(lines),
    setbacks: startedLines(lines).flatMap(({ iteration, unit, outcome, reasons = [] }) =>
      outcome === "refused" || outcome === "failed"
        ? { iteration, unit: names.get(unit) ?? unit, outcome, reasons }
        : [],
    ),
    exclusions: exclusionsOf(rrd),
    retractions: retractionCheckText(rrd),
    ...withoutUndefined({ judgingText: judgedText(rrd, lines) }),
    limits: limitsOf(rrd, lines, hasQueries),
  };
}

/** The text for a reason of exclusion. */
export const reasonText = ({ reason, criterion }: Pick<ExclusionCount, "reason" | "criterion">): string =>
  criterion === undefined
    ? reason === "person"
      ? "by a person, for other reasons"
      : reason === "other"
        ? "other reasons"
        : reason.replace(/^person: /, "by a person: ")
    : shortExclusionBy(criterion);

/** When and by whom the work was done, and the numbers in an earlier report of another program. */
function periodFacts(rrd: Rrd, ledger: readonly LedgerLine[], now: Date, writer: string | undefined): Fact[] {
  const period = periodOf(rrd, ledger, now);
  const { research_period: _, agent, ...stated } = rrd.statistics?.stated ?? {};
  const derived = { ...rrd.statistics?.analysis_metrics, ...rrd.statistics } as Readonly<Record<string, unknown>>;
  const numbers = Object.entries(stated).filter(([, value]) => typeof value === "number" || typeof value === "string");
  const differences = numbers.map(([name, value]) => {
    const computed = derived[name];
    return `${name.replaceAll("_", " ")} ${String(value)}${typeof computed === "number" ? ` (here ${computed})` : ""}`;
  });
  return [
    { name: "Worked on", says: periodText(period) },
    ...(period.hasEarlierWork
      ? [
          {
            name: "Begun by",
            says: `${typeof agent === "string" ? agent : (writer ?? "another program, whose agent was not recorded")}; its iterations and costs are not in the ledger`,
          },
        ]
      : []),
    ...(differences.length === 0 ? [] : [{ name: "Stated by an earlier report", says: differences.join("; ") }]),
  ];
}

function factsOf(rrd: Rrd, search: SearchYield): Fact[] {
  const { requirements, mission } = rrd;
  const { keywords = [], time_window_days: maxAgeDays, historical_lookback_days: lookbackDays } = requirements;
  const { published_from: from, published_until: until, sources = [] } = requirements;
  const fact = (name: string, says: string | undefined): Fact[] =>
    says === undefined || says === "" ? [] : [{ name, says }];
  const thresholds = singleThresholds(rrd);
  const thresholdsText = criteriaDecide(rrd)
    ? `${usesScores(rrd) ? "Points order papers and decide nothing" : "No points are given"}: a paper that was read is included, unless an eligibility criterion excludes it or is unclear.`
    : usesBothRubrics(rrd)
      ? `Two rubrics, 30 and 20 points. From ${mission?.min_combined_score ?? 25} of 50 a paper is included, from ${priorityThreshold} it has priority; from 18 it may be kept for its insights.`
      : `One rubric of ${fullScore(rrd)} points. From ${thresholds.present} a paper is included, from ${thresholds.insights} it is kept for its insights.`;
  const rubricText = ownRubricOf(rrd)?.dimensions.map(dimensionText).join("; ");
  const window =
    from != null || until != null
      ? `Published ${from ?? "at any time"} to ${until ?? "today"}.`
      : [
          maxAgeDays == null ? "" : `Recent: at most ${quantity(maxAgeDays, "day")} old.`,
          lookbackDays == null ? "" : `Nothing older than ${quantity(lookbackDays, "day")}.`,
        ]
          .filter((part) => part !== "")
          .join(" ");
  const replacements = search.sources.flatMap(({ replacedBy }) => replacedBy ?? []);
  return [
    ...fact("Sources asked for", sources.join(", ")),
    ...fact("Substitutions", replacements.length === 0 ? undefined : replacements.join(" ")),
    ...fact("Search words", keywords.join("; ")),
    ...fact("Words not searched", search.notSearched.join("; ")),
    ...fact("Dates", window),
    ...fact("Papers wanted", String(targetOf(rrd))),
    ...fact("Why the search ended", search.ended),
    ...fact("Seeds", seedRecallText(seedsOf(rrd), rrd.statistics?.discovery_metrics?.seeds, screenedOutIds(rrd))),
    ...fact("Recall of screening", search.recall?.says),
    ...fact("Check of recall by seeds", seedsText(rrd)),
    ...fact("Screened by two", agreementFact(rrd)),
    ...fact("Points and decisions", thresholdsText),
    ...fact("Rubric", rubricText),
  ];
}

/** Maximum number of prompts of an agent in a table. Another program's report may have one for each iteration. */
const maxPrompts = 12;

/** The first characters of the prompts' hashes, for a table; empty if none was recorded. */
export const promptsText = (prompts: readonly string[]): string =>
  [
    ...prompts.slice(0, maxPrompts).map((prompt) => prompt.slice(0, 12)),
    ...(prompts.length > maxPrompts ? [`${prompts.length - maxPrompts} more`] : []),
  ].join(", ");

/** Iterations in which the agent could be started. In the others, nothing was read. */
export const startedLines = (lines: readonly LedgerLine[]): readonly LedgerLine[] =>
  lines.filter(({ failure }) => countsTowardLimit(failure));

function agentsOf(lines: readonly LedgerLine[]): AgentUse[] {
  const uses = new Map<string, AgentUse>();
  for (const line of startedLines(lines)) {
    if (line.agent === undefined) continue;
    const { agent, model, confinement } = line;
    const { agent_version: version, prompt_sha256: prompt } = line;
    const key = JSON.stringify([agent, model, version]);
    const earlier = uses.get(key);
    const prompts = earlier?.prompts ?? [];
    uses.set(key, {
      agent,
      ...withoutUndefined({ model, version }),
      prompts: prompt === undefined || prompts.includes(prompt) ? prompts : [...prompts, prompt],
      iterations: (earlier?.iterations ?? 0) + 1,
      ...(confinement === "unconfined" || earlier?.confinement !== undefined ? { confinement: "unconfined" } : {}),
    });
  }
  return [...uses.values()];
}

function phasesOf(lines: readonly LedgerLine[]): PhaseUse[] {
  return [...groupBy(lines, ({ phase }) => phase)].map(([phase, phaseLines]) => ({
    phase,
    ...sumOf(phaseLines),
    accepted: phaseLines.filter(({ outcome }) => outcome === "accepted").length,
    refused: phaseLines.filter(({ outcome }) => outcome === "refused").length,
    failed: phaseLines.filter(({ outcome, failure }) => outcome === "failed" && countsTowardLimit(failure)).length,
  }));
}

const exclusionWords: Readonly<Partial<Record<string, string>>> = { window: "outside the dates" };

/** With as many duplicates as in the flow, and one reason for each criterion, whatever its quotes are. */
function exclusionsOf(rrd: Rrd): Method["exclusions"] {
  const criteria = new Map(criteriaOf(rrd).map((criterion) => [criterion.id, criterion]));
  const reasons = (rrd.excluded ?? []).flatMap((exclusion) => {
    if (stageOf(exclusion) === "duplicate") return [];
    const criterion = criteria.get(exclusion.criterion ?? "");
    return (
      exclusionWords[stageOf(exclusion)] ??
      (criterion === undefined ? exclusion.reason : reasonText({ reason: criterion.id, criterion }))
    );
  });
  const { searched, other } = flowCounts(rrd);
  const duplicates = searched.duplicates + other.duplicates;
  return [...countEach(reasons), ...(duplicates === 0 ? [] : [["the same work as another", duplicates] as const])]
    .map(([reason, count]) => ({ reason, count }))
    .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1))
    .slice(0, maxExclusions);
}

/** A sentence on how many of the user's seeds the search found by itself. */
function seedsText(rrd: Rrd): string | undefined {
  const seeds = rrd.statistics?.discovery_metrics?.seeds;
  if (seeds === undefined) return undefined;
  const { given, found } = seeds;
  return `The search found ${found} of ${quantity(given, "paper")} that a person named as surely relevant.`;
}

/** The agreement of two agents that screened the same records independently. */
function agreementFact(rrd: Rrd): string | undefined {
  const agreement = agreementOf(rrd);
  if (agreement === undefined) return undefined;
  const { open } = agreement;
  const waiting = open === 0 ? "" : ` ${open === 1 ? "1 record waits" : `${open} records wait`} for a person.`;
  return `${agreementText(agreement)}.${waiting}`;
}

/** Roles of agents that check or repeat the work of another agent. */
const secondLookRoles = /^(?:critic|answer|reader-[23])$/;

/** The number of units that another agent checked or repeated. */
const secondLookCount = (lines: readonly LedgerLine[]): number =>
  new Set(lines.filter(({ role = "" }) => secondLookRoles.test(role)).map(({ unit }) => unit)).size;

/** Whether a paper that was read in this way can be judged. */
const canBeJudged = (reading: Reading): boolean => reading !== "unread" && reading !== "title";

function judgedText({ papers_pool }: Rrd, lines: readonly LedgerLine[]): string | undefined {
  const readings = papers_pool.map(readingOf);
  if (!readings.some(canBeJudged)) return undefined;
  const secondLooks = secondLookCount(lines);
  const agents = new Set(startedLines(lines).flatMap(({ agent }) => agent ?? []));
  const withoutModelText =
    agents.size > 0 && [...agents].every(isWithoutModel) ? " by counting words, without a model" : "";
  const userDecisions = papers_pool.filter(({ override }) => override !== undefined).length;
  const userText =
    userDecisions === 0 ? "" : `, and a person decided on ${userDecisions} of ${quantity(papers_pool.length, "paper")}`;
  return secondLooks === 0
    ? `${readings.every(canBeJudged) ? "each paper" : "each paper that was read"} was judged once${withoutModelText}${userText}`
    : `another agent checked or repeated ${quantity(secondLooks, "unit")} of work; all others were done once`;
}

const includedText = ({ papers_pool }: Rrd): string =>
  papers_pool.some((paper) => exclusionOf(paper) === "person")
    ? "every paper that was read is included, except what a person excluded"
    : "every paper that was read is included";

/** The different reasons of a person's decisions on papers, at most three. */
function reasonsText(papers: readonly Paper[]): string {
  const reasons = [...new Set(papers.map(({ override }) => oneLine(override?.why ?? "").replace(/\.$/, "")))];
  return [...reasons.slice(0, 3), ...(reasons.length > 3 ? ["and other reasons"] : [])].join("; ");
}

/** Sentences about what was not done, as far as the records show it. */
function limitsOf(rrd: Rrd, lines: readonly LedgerLine[], hasQueries: boolean): string[] {
  const agents = new Set(
    startedLines(lines).flatMap(({ agent, model }) => (agent === undefined ? [] : `${agent} ${model ?? ""}`)),
  );
  const secondLooks = secondLookCount(lines);
  const hasQuotes = rrd.papers_pool.some(({ analysis }) => (analysis?.evidence?.length ?? 0) > 0);
  const readings = rrd.papers_pool.map(readingOf);
  const count = (wantedReading: Reading) => readings.filter((reading) => reading === wantedReading).length;
  const notObtained = rrd.papers_pool.filter(
    ({ status, override }) => status === "not_retrieved" && override?.decision === "not_retrieved",
  );
  const [abstract, title] = [count("abstract"), count("title") - notObtained.length];
  const unread = rrd.papers_pool.filter((paper, index) => readings[index] === "unread" && isDecided(paper));
  const isJudged = readings.some(canBeJudged);
  const subject = readings.every(canBeJudged) ? "Each paper" : "Each paper that was read";
  const records = [...rrd.papers_pool, ...(rrd.excluded ?? [])];
  const hasRecords = records.length > 0;
  // Every document of the user's folders is read without screening.
  const isScreened = rrd.statistics?.discovery_metrics?.flow?.screened !== 0;
  const userDecisions = records.filter(({ override }) => override !== undefined).length;
  const secondClause =
    userDecisions === 0
      ? "nobody judged it a second time"
      : `a person decided on ${userDecisions} of ${quantity(records.length, "record")}`;
  return [
    ...(hasRecords ? [] : ["No paper has been found yet."]),
    ...(secondLooks > 0
      ? [`Another agent checked or repeated ${quantity(secondLooks, "unit")} of work; all others were done once.`]
      : [
          ...(!isJudged
            ? ["No paper has been judged yet."]
            : agents.size <= 1
              ? [`${subject} was judged once, by one model or agent; ${secondClause}.`]
              : [`${subject} was judged once, by one of several models or agents; ${secondClause}.`]),
          ...(hasRecords && isScreened && agreementOf(rrd) === undefined
            ? [
                `Screening by title and abstract was done once, by one agent${userDecisions === 0 ? "" : "; a person's decisions came after it"}.`,
              ]
            : []),
        ]),
    ...(rrd.requirements.criteria?.length
      ? []
      : [
          `No eligibility criteria were set; ${criteriaDecide(rrd) ? includedText(rrd) : "papers are chosen by their points"}.`,
        ]),
    ...(isJudged && !hasQuotes ? ["No quotes were recorded, so no claim was checked against a text."] : []),
    ...(abstract > 0 ? [`${quantity(abstract, "paper")} could be judged by the abstract only.`] : []),
    ...(title > 0
      ? [
          `Of ${quantity(title, "paper")} only the title is known, so ${title === 1 ? "it was" : "they were"} not judged.`,
        ]
      : []),
    ...(notObtained.length > 0
      ? [
          `A person could not get ${quantity(notObtained.length, "paper")}, so ${notObtained.length === 1 ? "it was" : "they were"} not judged: ${reasonsText(notObtained)}.`,
        ]
      : []),
    ...(unread.length > 0
      ? [
          unread.every(({ retracted }) => retracted === true)
            ? `${quantity(unread.length, "retracted paper")} ${unread.length === 1 ? "was" : "were"} rejected without being read.`
            : `${quantity(unread.length, "paper")} ${unread.length === 1 ? "was" : "were"} decided on without being read: retracted, or excluded by a person.`,
        ]
      : []),
    ...(hasRecords && !hasQueries && !isSearchOfFiles(rrd)
      ? ["No search log is kept, so the search can't be repeated from this folder."]
      : []),
    "No risk-of-bias tool was applied to the papers, and the certainty of the evidence was not graded.",
    "No results were pooled and no meta-analysis was made.",
    "No protocol was registered beforehand.",
  ];
}
