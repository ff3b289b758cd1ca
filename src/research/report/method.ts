import type { LedgerLine } from "../../engine/generated/ledger.js";
import { countsTowardLimit } from "../../engine/loop/stop-conditions/limits.js";
import { validLines } from "../../engine/storage/state/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { many } from "../../engine/lib/words.js";
import type { Rrd } from "../generated/rrd.js";
import { sumOf } from "../overview/costs.js";
import type { UsageSum } from "../../engine/ui/terminal/tally.js";
import {
  criteriaDecide,
  fullScore,
  isDecided,
  loneThresholds,
  ownRubricOf,
  priorityThreshold,
  usesBothRubrics,
  usesScores,
} from "../papers/rubric/rubric.js";
import { dimensionText } from "../papers/rubric/own-rubric.js";
import { namesIn } from "../papers/paper-keys.js";
import { type Reading, readingOf } from "../papers/read-depth.js";
import { targetOf } from "../derived/status.js";
import { periodOf, periodText } from "../workflow/timing.js";
import {
  criterionText,
  eligibilityReport,
  exclusionOf,
  type ExclusionCount,
} from "../screening/eligibility/eligibility.js";
import { agreementOf, agreementText } from "../screening/eligibility/agreement.js";
import { checkSentence } from "../units/retractions.js";
import { seedRecallText } from "../papers/seeds/find-seeds.js";
import { screenedOutIds, seedsOf } from "../papers/seeds/seed.js";
import type { SearchYield } from "./search-yield.js";
import { countEach, groupBy } from "../../engine/lib/group.js";

/** A fact of the method: what it is about, and what was done. */
export interface Fact {
  readonly name: string;
  readonly says: string;
}

/** An agent that worked on the project. */
export interface AgentUse {
  readonly agent: string;
  readonly model?: string;
  /** Version of its program, where it was recorded. */
  readonly version?: string;
  /** Hashes of the prompts that it was given, where they were recorded, the first one first. */
  readonly prompts: readonly string[];
  readonly iterations: number;
  /** "unconfined" where an iteration could reach everything its user can. */
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
export interface Setback {
  readonly iteration: number;
  readonly unit: string;
  readonly outcome: "refused" | "failed";
  readonly reasons: readonly string[];
}

/** Why papers or records are not eligible, and how often. */
export interface Exclusions {
  readonly stage: "at screening" | "from the abstract alone" | "at full text";
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
}

/** How the papers were searched, judged and paid for, and what was not done. Derived. */
export interface Method {
  /** Criteria, windows, thresholds, substitutions: in the order in which a reader needs them. */
  readonly facts: readonly Fact[];
  /** Eligibility criteria as they are numbered; empty where the project has none. */
  readonly criteria: readonly { readonly id: string; readonly kind: "include" | "exclude"; readonly text: string }[];
  /** Exclusions by criterion or by a person; empty where there are no criteria. */
  readonly eligibility: readonly Exclusions[];
  readonly agents: readonly AgentUse[];
  readonly phases: readonly PhaseUse[];
  readonly setbacks: readonly Setback[];
  /** Reasons for which records were left out by title and abstract, the commonest first, at most thirty. */
  readonly exclusions: readonly { readonly reason: string; readonly count: number }[];
  /** How far papers were checked for retractions, in a sentence or two. */
  readonly retractions: string;
  /** How often each paper was judged, as a clause; absent where none was judged. */
  readonly judged?: string;
  /** Plain sentences for what was not done. */
  readonly limits: readonly string[];
}

const maxExclusions = 30;

export function methodOf(
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  search: SearchYield,
  hasQueries: boolean,
  { now, writer }: { readonly now: Date; /** Of the narrative. */ readonly writer?: string },
): Method {
  const lines = validLines(ledger).filter(({ outcome }) => outcome !== "reset");
  const eligibility = eligibilityReport(rrd);
  const names = namesIn(rrd);
  const counts = (stage: Exclusions["stage"], list: readonly ExclusionCount[]): Exclusions[] =>
    list.length === 0
      ? []
      : [{ stage, reasons: list.map((each) => ({ reason: reasonText(each), count: each.count })) }];
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
    setbacks: linesAtWork(lines).flatMap(({ iteration, unit, outcome, reasons = [] }) =>
      outcome === "refused" || outcome === "failed"
        ? { iteration, unit: names.get(unit) ?? unit, outcome, reasons }
        : [],
    ),
    exclusions: exclusionsOf(rrd),
    retractions: checkSentence(rrd),
    ...withoutUndefined({ judged: judgedOf(rrd, lines) }),
    limits: limitsOf(rrd, lines, hasQueries),
  };
}

/** A reason of exclusion in words. */
export const reasonText = ({ reason, criterion }: Pick<ExclusionCount, "reason" | "criterion">): string =>
  criterion === undefined
    ? reason === "person"
      ? "decided by a person"
      : reason === "other"
        ? "other reasons"
        : reason
    : criterionText(criterion);

/** When the work was done and by whom, and what an earlier report of another program states otherwise. */
function periodFacts(rrd: Rrd, ledger: readonly LedgerLine[], now: Date, writer: string | undefined): Fact[] {
  const period = periodOf(rrd, ledger, now);
  const { research_period: _, agent, ...stated } = rrd.statistics?.stated ?? {};
  const derived = { ...rrd.statistics?.analysis_metrics, ...rrd.statistics } as Readonly<Record<string, unknown>>;
  const numbers = Object.entries(stated).filter(([, value]) => typeof value === "number" || typeof value === "string");
  const differences = numbers.map(([name, value]) => {
    const here = derived[name];
    return `${name.replaceAll("_", " ")} ${String(value)}${typeof here === "number" ? ` (here ${here})` : ""}`;
  });
  return [
    { name: "Worked on", says: periodText(period) },
    ...(period.beganElsewhere
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
  const { keywords = [], time_window_days: recent, historical_lookback_days: back } = requirements;
  const { published_from: from, published_until: until, sources = [] } = requirements;
  const fact = (name: string, says: string | undefined): Fact[] =>
    says === undefined || says === "" ? [] : [{ name, says }];
  const lone = loneThresholds(rrd);
  const thresholds = criteriaDecide(rrd)
    ? `${usesScores(rrd) ? "Points order papers and decide nothing" : "No points are given"}: a paper that was read is included, unless an eligibility criterion excludes it or is unclear.`
    : usesBothRubrics(rrd)
      ? `Two rubrics, 30 and 20 points. From ${mission?.min_combined_score ?? 25} of 50 a paper is included, from ${priorityThreshold} it has priority; from 18 it may be kept for its insights.`
      : `One rubric of ${fullScore(rrd)} points. From ${lone.present} a paper is included, from ${lone.insights} it is kept for its insights.`;
  const own = ownRubricOf(rrd)?.dimensions.map(dimensionText).join("; ");
  const window =
    from != null || until != null
      ? `Published ${from ?? "at any time"} to ${until ?? "today"}.`
      : [
          recent == null ? "" : `Recent: at most ${many(recent, "day")} old.`,
          back == null ? "" : `Nothing older than ${many(back, "day")}.`,
        ]
          .filter((part) => part !== "")
          .join(" ");
  const replaced = search.sources.flatMap(({ name, replacedBy }) =>
    replacedBy === undefined ? [] : `${name} by ${replacedBy}`,
  );
  return [
    ...fact("Sources asked for", sources.join(", ")),
    ...fact("Substitutions", replaced.length === 0 ? undefined : `${replaced.join("; ")}.`),
    ...fact("Search words", keywords.join("; ")),
    ...fact("Words not searched", search.notSearched.join("; ")),
    ...fact("Dates", window),
    ...fact("Papers wanted", String(targetOf(rrd))),
    ...fact("Why the search ended", search.ended),
    ...fact("Seeds", seedRecallText(seedsOf(rrd), rrd.statistics?.discovery_metrics?.seeds, screenedOutIds(rrd))),
    ...fact("Recall of screening", search.recall?.says),
    ...fact("Check of recall by seeds", seedsText(rrd)),
    ...fact("Screened by two", agreementFact(rrd)),
    ...fact("Scores and decisions", thresholds),
    ...fact("Rubric", own),
  ];
}

/** So many prompts of one agent are named; a report of another program may have one for each iteration. */
const maxPrompts = 12;

/** Prompts by the beginnings of their hashes, as a table names them; empty where none was recorded. */
export const promptsText = (prompts: readonly string[]): string =>
  [
    ...prompts.slice(0, maxPrompts).map((prompt) => prompt.slice(0, 12)),
    ...(prompts.length > maxPrompts ? [`${prompts.length - maxPrompts} more`] : []),
  ].join(", ");

/** Iterations in which an agent got to work: one that could not be started has read nothing. */
export const linesAtWork = (lines: readonly LedgerLine[]): readonly LedgerLine[] =>
  lines.filter(({ failure }) => countsTowardLimit(failure));

function agentsOf(lines: readonly LedgerLine[]): AgentUse[] {
  const uses = new Map<string, AgentUse>();
  for (const line of linesAtWork(lines)) {
    if (line.agent === undefined) continue;
    const { agent, model, confinement } = line;
    const { agent_version: version, prompt_sha256: prompt } = line;
    const key = JSON.stringify([agent, model, version]);
    const before = uses.get(key);
    const prompts = before?.prompts ?? [];
    uses.set(key, {
      agent,
      ...withoutUndefined({ model, version }),
      prompts: prompt === undefined || prompts.includes(prompt) ? prompts : [...prompts, prompt],
      iterations: (before?.iterations ?? 0) + 1,
      ...(confinement === "unconfined" || before?.confinement !== undefined ? { confinement: "unconfined" } : {}),
    });
  }
  return [...uses.values()];
}

function phasesOf(lines: readonly LedgerLine[]): PhaseUse[] {
  return [...groupBy(lines, ({ phase }) => phase)].map(([phase, mine]) => ({
    phase,
    ...sumOf(mine),
    accepted: mine.filter(({ outcome }) => outcome === "accepted").length,
    refused: mine.filter(({ outcome }) => outcome === "refused").length,
    failed: mine.filter(({ outcome, failure }) => outcome === "failed" && countsTowardLimit(failure)).length,
  }));
}

function exclusionsOf({ excluded = [] }: Rrd): Method["exclusions"] {
  const reasons = excluded.map(({ reason, stage, duplicate_of }) => {
    const isDuplicate = stage === "duplicate" || (stage === undefined && duplicate_of !== undefined);
    return isDuplicate ? "the same work as another" : stage === "window" ? "outside the dates" : reason;
  });
  return [...countEach(reasons)]
    .map(([reason, count]) => ({ reason, count }))
    .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1))
    .slice(0, maxExclusions);
}

/** How many of the papers that surely belong the search found by itself. */
function seedsText(rrd: Rrd): string | undefined {
  const seeds = rrd.statistics?.discovery_metrics?.seeds;
  if (seeds === undefined) return undefined;
  const { given, found } = seeds;
  return `The search found ${found} of ${many(given, "paper")} that a person named as surely relevant.`;
}

/** How far two agents agree that screened the same records, each alone. */
function agreementFact(rrd: Rrd): string | undefined {
  const agreement = agreementOf(rrd);
  if (agreement === undefined) return undefined;
  const { open } = agreement;
  const waiting = open === 0 ? "" : ` ${open === 1 ? "1 record waits" : `${open} records wait`} for a person.`;
  return `${agreementText(agreement)}.${waiting}`;
}

/** Parts of a unit that are second looks at it. */
const secondLooks = /^(?:critic|answer|reader-[23])$/;

/** How many units had a second look by another agent. */
const lookedAtTwice = (lines: readonly LedgerLine[]): number =>
  new Set(lines.filter(({ role = "" }) => secondLooks.test(role)).map(({ unit }) => unit)).size;

/** Whether a reading is one that a paper can be judged by. */
const isJudgedBy = (reading: Reading): boolean => reading !== "unread" && reading !== "title";

/** The built-in agent takes sentences and counts words, here or on another machine; no model judges anything. */
export const isWithoutModel = (agent: string): boolean => /^(?:fleet:)?baseline$/.test(agent);

function judgedOf({ papers_pool }: Rrd, lines: readonly LedgerLine[]): string | undefined {
  const readings = papers_pool.map(readingOf);
  if (!readings.some(isJudgedBy)) return undefined;
  const twice = lookedAtTwice(lines);
  const agents = new Set(linesAtWork(lines).flatMap(({ agent }) => agent ?? []));
  const how = agents.size > 0 && [...agents].every(isWithoutModel) ? " by counting words, without a model" : "";
  const decided = papers_pool.filter(({ override }) => override !== undefined).length;
  const person = decided === 0 ? "" : `, and a person decided on ${decided} of ${many(papers_pool.length, "paper")}`;
  return twice === 0
    ? `${readings.every(isJudgedBy) ? "each paper" : "each paper that was read"} was judged once${how}${person}`
    : `${many(twice, "unit")} of work had a second look, all others were done once`;
}

const includedText = ({ papers_pool }: Rrd): string =>
  papers_pool.some((paper) => exclusionOf(paper) === "person")
    ? "every paper that was read is included, except what a person excluded"
    : "every paper that was read is included";

/** What was not done, as far as the records tell. */
function limitsOf(rrd: Rrd, lines: readonly LedgerLine[], hasQueries: boolean): string[] {
  const agents = new Set(
    linesAtWork(lines).flatMap(({ agent, model }) => (agent === undefined ? [] : `${agent} ${model ?? ""}`)),
  );
  const twice = lookedAtTwice(lines);
  const hasQuotes = rrd.papers_pool.some(({ analysis }) => (analysis?.evidence?.length ?? 0) > 0);
  const readings = rrd.papers_pool.map(readingOf);
  const count = (wanted: Reading) => readings.filter((reading) => reading === wanted).length;
  const [abstract, title] = [count("abstract"), count("title")];
  const unread = rrd.papers_pool.filter((paper, index) => readings[index] === "unread" && isDecided(paper));
  const isJudged = readings.some(isJudgedBy);
  const each = readings.every(isJudgedBy) ? "Each paper" : "Each paper that was read";
  const records = [...rrd.papers_pool, ...(rrd.excluded ?? [])];
  const isFound = records.length > 0;
  const decided = records.filter(({ override }) => override !== undefined).length;
  const second =
    decided === 0
      ? "nobody judged it a second time"
      : `a person decided on ${decided} of ${many(records.length, "record")}`;
  return [
    ...(isFound ? [] : ["No paper has been found yet."]),
    ...(twice > 0
      ? [`${many(twice, "unit")} of work had a second look by another agent; all others were done once.`]
      : [
          ...(!isJudged
            ? ["No paper has been judged yet."]
            : agents.size <= 1
              ? [`${each} was judged once, by one model or agent; ${second}.`]
              : [`${each} was judged once, by one of several models or agents; ${second}.`]),
          ...(isFound && agreementOf(rrd) === undefined
            ? [
                `Screening by title and abstract was done once, by one agent${decided === 0 ? "" : "; a person's decisions came after it"}.`,
              ]
            : []),
        ]),
    ...(rrd.requirements.criteria?.length
      ? []
      : [
          `No eligibility criteria were set; ${criteriaDecide(rrd) ? includedText(rrd) : "papers are chosen by their points"}.`,
        ]),
    ...(isJudged && !hasQuotes ? ["No quotes were recorded, so no claim was checked against a text."] : []),
    ...(abstract > 0 ? [`${many(abstract, "paper")} could be judged by the abstract only.`] : []),
    ...(title > 0
      ? [`Of ${many(title, "paper")} only the title is known, so ${title === 1 ? "it was" : "they were"} not judged.`]
      : []),
    ...(unread.length > 0
      ? [
          unread.every(({ retracted }) => retracted === true)
            ? `${many(unread.length, "retracted paper")} ${unread.length === 1 ? "was" : "were"} rejected without being read.`
            : `${many(unread.length, "paper")} ${unread.length === 1 ? "was" : "were"} decided on without being read: retracted, or excluded by a person.`,
        ]
      : []),
    ...(isFound && !hasQueries ? ["No search log is kept, so the search can't be repeated from this folder."] : []),
    "No risk-of-bias tool was applied to the papers, and the certainty of the evidence was not graded.",
    "No results were pooled and no meta-analysis was made.",
    "No protocol was registered beforehand.",
  ];
}
