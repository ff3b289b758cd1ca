import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { quantity } from "../../engine/lib/words.js";
import { roundUsd } from "../../engine/loop/run-record/ledger-line.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { isAnswerUnit } from "../project-files/logs/answers-log.js";
import type { Rrd } from "../generated/rrd.js";
import type { Forecast, Account, Budget, Spending } from "../../engine/loop/types.js";
import { median } from "../derived/statistics.js";
import { isOwnFolder } from "../papers/records/own-list.js";
import { isWanted, kindOfLine, kinds } from "../units/kinds.js";
import { check, claims, mend } from "../units/check/kind.js";
import { extract } from "../units/form/kind.js";
import { formOf } from "../project-files/form.js";
import { medianPaperTokens, reading } from "../units/reading/kind.js";
import { report } from "../units/report/kind.js";
import type { CheckScope } from "../units/judged-result.js";
import type { UsageEstimate, UnitKind } from "../units/unit-kind.js";
import { statusOf } from "./next-unit.js";
import { spendingOnAttempts } from "../../engine/loop/stop-conditions/budget.js";
import { countsTowardLimit } from "../../engine/loop/stop-conditions/limits.js";

/** The usage of one unit until it was accepted, with refused and failed attempts. */
export interface UnitUsage {
  /** Input and output tokens, with cached ones. */
  readonly tokens: number;
  readonly minutes: number;
  /** US dollars; undefined: unknown. */
  readonly usd?: number;
  /** Maximum in US dollars if the agent chooses between models; `usd` is then the minimum. */
  readonly maxUsd?: number;
  /** Part of the cost is an estimate of this program. */
  readonly isEstimated?: true;
  /** The agent reported no tokens: `tokens` is the size of its briefs, and a typical answer. */
  readonly isByBriefs?: true;
}

/** The usage of one unit of each kind. */
export type UsageByKind = Partial<Readonly<Record<string, UnitUsage>>>;

/** The basis of a forecast while a project has no figures of its own. */
export interface Experience {
  readonly usage: UsageByKind;
  /** The origin of the figures; follows "from" in a sentence. */
  readonly from: string;
  /** Nothing is known of the agent's model, so the minutes are not forecast. */
  readonly isPaceUnknown?: true;
  /** Set in classic mode, in which all iterations are of one kind. */
  readonly classic?: true;
  /** The agents that will work; only their usage counts. Undefined: all agents that have worked. */
  readonly agents?: readonly string[];
  /** The checks of sentences; absent: none. */
  readonly checks?: CheckPlan;
  /** Whether a second agent fills in the form of each paper. */
  readonly second?: true;
  /** Number of records to screen in folders and lists, if no record is screened yet. */
  readonly records?: number;
}

/** The sentences that are checked, and the number of independent checkers. */
export interface CheckPlan {
  readonly wish: CheckScope;
  readonly checkers: number;
}

/** The costs in US dollars, one for each possible model; empty if no price is known. */
export type Price = (figure: UsageEstimate) => readonly number[];

/** The dated figures with prices. An agent without a model needs no tokens. */
export function figuresFor(
  { name, free, models = [] }: { readonly name: string; readonly free?: true; readonly models?: readonly string[] },
  price: Price,
  figures: Readonly<Record<string, UsageEstimate>> = {},
  material = "typical papers",
): Experience {
  const isPaceUnknown = free !== true && models.length === 0;
  const usageOf = (figure: UsageEstimate): UnitUsage => {
    if (free === true) return { tokens: 0, minutes: 0.05, usd: 0 };
    const prices = price(figure);
    const tokens = figure.input + figure.output;
    const [usd, most] = [Math.min(...prices), Math.max(...prices)];
    const cost =
      prices.length === 0 ? {} : { usd, isEstimated: true as const, ...(most > usd ? { maxUsd: most } : {}) };
    return { tokens, minutes: figure.minutes, ...cost };
  };
  return {
    usage: Object.fromEntries(kinds.map(({ name: kind, estimate }) => [kind, usageOf(figures[kind] ?? estimate)])),
    from:
      free === true
        ? `${name}, which uses no model`
        : `${material}${models.length < 2 ? "" : `, at the prices of ${models.join(" and ")}`}`,
    ...(isPaceUnknown ? { isPaceUnknown } : {}),
  };
}

/** The figures for documents of `tokens` tokens on average. For shorter documents, less is read and written. */
export function figuresForTexts(tokens: number): Readonly<Record<string, UsageEstimate>> {
  const share = Math.max(minShare, tokens / medianPaperTokens);
  const scale = ({ name, estimate: { input, output, minutes } }: UnitKind): UsageEstimate => {
    const writtenShare = Math.min(1, share);
    const readShare = name === reading.name ? share : writtenShare;
    return {
      input: Math.round(fixedInputTokens + (input - fixedInputTokens) * readShare),
      output: Math.round(output * writtenShare),
      minutes: minutes * writtenShare,
    };
  };
  return Object.fromEntries(kinds.map((kind) => [kind.name, scale(kind)]));
}

/** Minimum share of a typical paper's usage, even for an empty document, besides the text that every brief has. */
const minShare = 0.1;

/** Tokens that a brief has without papers, with the agent's own text. */
const fixedInputTokens = 3_000;

/** The kind of unit of a line; "classic" in classic mode. */
const kindNameOf = (line: LedgerLine): string =>
  line.unit === classicName ? classicName : (kindOfLine(line)?.name ?? reading.name);
const classicName = "classic";

/** Whether an agent did a unit of the project: not a reset, not the requirements, not an answer. */
const isAgentUnit = ({ outcome, agent, unit }: LedgerLine): boolean =>
  outcome !== "reset" && agent !== undefined && unit !== "requirements" && !isAnswerUnit(unit);

/** The sum of all attempts at one unit. */
interface UsageSum {
  tokens: number;
  seconds: number;
  usd: number;
  isPaid: boolean;
  isEstimated: boolean;
  isAccepted: boolean;
  isByBriefs: boolean;
}

/** The median usage of accepted units of each kind, from the ledgers of several projects. */
export function medianUsageOf(ledgers: readonly (readonly LedgerLine[])[]): UsageByKind {
  const usageByKind = new Map<string, UsageSum[]>();
  for (const ledger of ledgers) {
    const units = new Map<string, Map<string, UsageSum>>();
    // Several units can have the same name, such as checks. The attempts up to an acceptance belong to one unit.
    const acceptedCounts = new Map<string, number>();
    for (const line of ledger) {
      if (!isAgentUnit(line)) continue;
      const kind = kindNameOf(line);
      const sums = units.get(kind) ?? new Map<string, UsageSum>();
      units.set(kind, sums);
      const acceptedCount = acceptedCounts.get(line.unit) ?? 0;
      const unit = `${line.unit} ${acceptedCount}`;
      if (line.outcome === "accepted") acceptedCounts.set(line.unit, acceptedCount + 1);
      const sum = sums.get(unit) ?? zeroUsage();
      sums.set(unit, sum);
      addTo(sum, line);
    }
    for (const [kind, sums] of units) {
      const acceptedSums = usageByKind.get(kind) ?? [];
      usageByKind.set(kind, acceptedSums);
      for (const sum of sums.values()) if (sum.isAccepted) acceptedSums.push(sum);
    }
  }
  return Object.fromEntries(
    [...usageByKind].flatMap(([kind, units]) => (units.length === 0 ? [] : [[kind, medianOf(units)]])),
  );
}

const zeroUsage = (): UsageSum => ({
  tokens: 0,
  seconds: 0,
  usd: 0,
  isPaid: false,
  isEstimated: false,
  isAccepted: false,
  isByBriefs: false,
});

function addTo(sum: UsageSum, line: LedgerLine): void {
  const isByBriefs = hasUnknownTokens(line);
  sum.tokens += isByBriefs ? (line.brief_tokens ?? 0) + (kindOfLine(line) ?? reading).estimate.output : tokensOf(line);
  sum.isByBriefs ||= isByBriefs;
  sum.seconds += line.duration_seconds ?? 0;
  sum.usd += line.cost_usd ?? 0;
  sum.isPaid ||= line.cost_usd !== undefined;
  sum.isEstimated ||= line.cost_usd !== undefined && line.estimated === true;
  sum.isAccepted ||= line.outcome === "accepted";
}

/** Whether a model may have worked whose tokens nobody reported. */
const hasUnknownTokens = (line: LedgerLine): boolean =>
  tokensOf(line) === 0 && line.cost_usd === undefined && countsTowardLimit(line.failure);

const medianOf = (units: readonly UsageSum[]): UnitUsage => ({
  tokens: median(units.map(({ tokens }) => tokens)),
  minutes: median(units.map(({ seconds }) => seconds)) / 60,
  ...(units.some(({ isPaid }) => isPaid) ? { usd: median(units.map(({ usd }) => usd)) } : {}),
  ...(units.some(({ isEstimated }) => isEstimated) ? { isEstimated: true as const } : {}),
  ...(units.some(({ isByBriefs }) => isByBriefs) ? { isByBriefs: true as const } : {}),
});

/** Numbers of units by kind, only units for which an agent is started. */
export type UnitCounts = Readonly<Record<string, number>>;

/** The numbers of remaining units. */
function remainingUnits(rrd: Rrd, ledger: readonly LedgerLine[], { records, checks, second }: Experience): UnitCounts {
  const status = statusOf(rrd, ledger);
  const project = { rrd, ledger, status, ...withoutUndefined({ records }) };
  const countOf = (kind: UnitKind): number => {
    const isDone = status.done.includes(kind.name);
    return isWanted(kind, project) ? (kind.remainingUnits?.(project, isDone) ?? (isDone ? 0 : 1)) : 0;
  };
  const units = Object.fromEntries(kinds.map((kind) => [kind.name, countOf(kind)]));
  if (second === true && formOf(rrd).length > 0)
    units[extract.name] = (units[extract.name] ?? 0) + (units[reading.name] ?? 0);
  if (checks === undefined) return units;
  const checkUnits = checksAhead(units[reading.name] ?? 0, checks);
  // If the report is already written, its sentences are counted by the kinds themselves.
  return (units[report.name] ?? 0) > 0 ? { ...units, ...checkUnits } : units;
}

/** Typical numbers of claims in a reading and of sentences in a batch of a check. */
const typicalClaims = 8;
const typicalBatchSentences = 50;

/** The units of checks for so many papers and their report, which usually needs two checks and one repair. */
export const checksAhead = (papers: number, { wish, checkers }: CheckPlan): UnitCounts => ({
  ...(wish === "all" ? { [claims.name]: checkers * Math.ceil((papers * typicalClaims) / typicalBatchSentences) } : {}),
  [check.name]: 2 * checkers,
  [mend.name]: 1,
});

/**
 * The expected usage of the remaining units: their number times the median usage of the project's units of that kind,
 * or the usage in `experience` for kinds without units yet. Undefined if no units remain, or if no usage is known.
 * `todo`: the remaining units, if they can't be counted from the records.
 */
export function forecastOf(
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  experience: Experience = { usage: {}, from: "" },
  todo: UnitCounts = remainingUnits(rrd, ledger, experience),
): Forecast | undefined {
  const ownLines = ledger.filter(
    ({ agent }) => experience.agents === undefined || (agent !== undefined && experience.agents.includes(agent)),
  );
  const ownUsage = medianUsageOf([ownLines]);
  const ownCount = ownLines.filter((line) => isAgentUnit(line) && line.outcome === "accepted").length;
  const earlierExperience = ownCount < minUnitsForPace ? experience : withPaceOf(ownUsage, experience);
  const isClassic =
    experience.classic === true || (ownUsage[reading.name] === undefined && ownUsage[classicName] !== undefined);
  const remaining = Object.entries(todo).filter(([, units]) => units > 0);
  const withUsage = remaining.map(([kind, units]) => ({
    kind,
    units,
    ...usageFor(isClassic ? classicName : kind, ownUsage, earlierExperience),
  }));
  const mainKind = withUsage.find(({ kind }) => kind === reading.name) ?? withUsage[0];
  if (mainKind?.usage === undefined) return undefined;
  const sum = (of: (usage: UnitUsage) => number) =>
    withUsage.reduce((total, { units, usage }) => total + units * (usage === undefined ? 0 : of(usage)), 0);
  const { usd, maxUsd, tokens } = mainKind.usage;
  const hasUnpriced =
    usd !== undefined &&
    withUsage.some(({ usage }) => usage !== undefined && usage.usd === undefined && usage.tokens > 0);
  // A kind without a price has the price of papers for each token.
  const costOf = (usage: UnitUsage) => usage.usd ?? (tokens === 0 ? 0 : (usage.tokens / tokens) * (usd ?? 0));
  const maxCostOf = (usage: UnitUsage) =>
    usage.maxUsd ?? (usage.usd === undefined && tokens > 0 ? (usage.tokens / tokens) * (maxUsd ?? 0) : costOf(usage));
  const papers = withUsage.find(({ kind }) => kind === reading.name)?.units ?? 0;
  const checkCount = withUsage
    .filter(({ kind }) => kind === claims.name || kind === check.name || kind === mend.name)
    .reduce((total, { units }) => total + units, 0);
  // Every document of the user's folders is read.
  const isEachRead = rrd.requirements.sources?.every(isOwnFolder) === true;
  const isByBriefs = withUsage.some(({ usage }) => usage?.isByBriefs === true);
  return {
    papers,
    ...(papers === 0 ? {} : { left: remainingText(isEachRead ? undefined : experience.records, papers, checkCount) }),
    iterations: withUsage.reduce((total, { units }) => total + units, 0),
    tokens: Math.round(sum(({ tokens }) => tokens)),
    ...(experience.isPaceUnknown === true && ownCount < minUnitsForPace
      ? {}
      : { seconds: Math.round(sum(({ minutes }) => minutes) * 60) }),
    ...(usd === undefined ? {} : { cost_usd: roundUsd(sum(costOf)) }),
    ...(usd === undefined || withUsage.every(({ usage }) => usage?.maxUsd === undefined)
      ? {}
      : { cost_usd_most: roundUsd(sum(maxCostOf)) }),
    ...(hasUnpriced || withUsage.some(({ usage }) => usage?.isEstimated === true) ? { estimated: true as const } : {}),
    from: `${[...new Set([mainKind, ...withUsage].map(({ from }) => from))].filter((from) => from !== "").join(" and ")}${isByBriefs ? ", tokens by the size of its briefs" : ""}`,
  };
}

/** After this many accepted units of a project, the speed of its agent is known. */
const minUnitsForPace = 2;

/** The usage of kinds without units yet, at the pace of the project itself. */
function withPaceOf(ownUsage: UsageByKind, before: Experience): Experience {
  const usage = usageAtPace(ownUsage, before.usage);
  return { ...before, usage, from: ownUsage[reading.name] === undefined ? before.from : ownText };
}

/**
 * `earlierUsage` at the pace of `measured`: minutes in the ratio of the kinds that both have, and tokens and cost in
 * the ratio of readings, because only these show how long the papers are.
 */
export function usageAtPace(measured: UsageByKind, earlierUsage: UsageByKind): UsageByKind {
  const sharedKinds = Object.entries(measured).flatMap(([kind, own]) => {
    const earlier = earlierUsage[kind];
    return own === undefined || earlier === undefined ? [] : [{ kind, own, earlier }];
  });
  const readings = sharedKinds.filter(({ kind }) => kind === reading.name);
  const ratioOf = (of: (usage: UnitUsage) => number, ofKinds: typeof sharedKinds): number => {
    const sum = (which: "own" | "earlier") => ofKinds.reduce((total, pair) => total + of(pair[which]), 0);
    return sum("earlier") === 0 ? 1 : sum("own") / sum("earlier");
  };
  const pace = {
    minutes: ratioOf(({ minutes }) => minutes, sharedKinds),
    tokens: ratioOf(({ tokens }) => tokens, readings),
  };
  const scale = ({ tokens, minutes, usd, maxUsd, ...usage }: UnitUsage): UnitUsage => ({
    ...usage,
    tokens: tokens * pace.tokens,
    minutes: minutes * pace.minutes,
    ...(usd === undefined ? {} : { usd: usd * pace.tokens }),
    ...(maxUsd === undefined ? {} : { maxUsd: maxUsd * pace.tokens }),
  });
  return Object.fromEntries(
    Object.entries(earlierUsage).flatMap(([kind, each]) => (each === undefined ? [] : [[kind, scale(each)]])),
  );
}

const ownText = "what it took so far";

const remainingText = (records: number | undefined, papers: number, checkCount: number): string =>
  [
    ...(records === undefined ? [] : [`${quantity(records, "record")} to screen`]),
    quantity(papers, "paper"),
    ...(checkCount === 0 ? [] : [`at most ${quantity(checkCount, "check")} of sentences`]),
  ].join(", ");

function usageFor(kind: string, ownUsage: UsageByKind, experience: Experience): { usage?: UnitUsage; from: string } {
  const ownOfKind = ownUsage[kind];
  if (ownOfKind !== undefined) return { usage: ownOfKind, from: ownText };
  const earlierUsage = experience.usage[kind];
  return earlierUsage === undefined ? { from: "" } : { usage: earlierUsage, from: experience.from };
}

/** What a project has cost so far, its budget, and the forecast for the rest. */
export function accountOf(rrd: Rrd, ledger: readonly LedgerLine[], experience?: Experience): Account {
  const forecast = forecastOf(rrd, ledger, experience);
  return { spent: spentOn(rrd, ledger), budget: budgetOf(rrd), ...withoutUndefined({ forecast }) };
}

/**
 * The cost of all attempts, also refused, failed and reset ones, and of summaries of the history by a model.
 */
export function spentOn({ loop }: Pick<Rrd, "loop">, ledger: readonly LedgerLine[]): Spending {
  const work = ledger.filter(({ outcome }) => outcome !== "reset");
  return spendingOnAttempts(
    work.map((line) => ({ ...line, tokens: tokensOf(line) })),
    loop?.rch_metrics,
  );
}

function budgetOf({ budget }: Rrd): Budget {
  const { max_usd: usd, max_tokens: tokens, max_minutes: minutes, max_iterations: iterations } = budget ?? {};
  return Object.fromEntries(
    Object.entries({ usd, tokens, minutes, iterations }).filter(([, limit]) => typeof limit === "number"),
  );
}

const tokensOf = ({ tokens }: LedgerLine): number => (tokens?.input ?? 0) + (tokens?.output ?? 0);
