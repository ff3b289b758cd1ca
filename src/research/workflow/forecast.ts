import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { count as tokensText, many, money } from "../../engine/lib/words.js";
import { roundUsd } from "../../engine/loop/run-record/ledger-line.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { isAnswerUnit } from "../project-files/logs/answers-log.js";
import type { Rrd } from "../generated/rrd.js";
import type { Forecast, Account, Budget, Spending } from "../../engine/loop/types.js";
import { median } from "../derived/statistics.js";
import { isWanted, kindOfLine, kinds } from "../units/kinds.js";
import { check, claims, mend } from "../units/check/kind.js";
import { extract } from "../units/form/kind.js";
import { formOf } from "../project-files/form.js";
import { reading } from "../units/reading/kind.js";
import { report } from "../units/report/kind.js";
import type { CheckWish } from "../units/judged-result.js";
import type { Figure, UnitKind } from "../units/unit-kind.js";
import { statusOf } from "./next-unit.js";
import { spentOnAttempts } from "../../engine/loop/stop-conditions/budget.js";

/** What one unit took until it was accepted, attempts for nothing included. */
interface Take {
  /** In and out, cached ones included. */
  readonly tokens: number;
  readonly minutes: number;
  /** US dollars; undefined: not known. */
  readonly usd?: number;
  /** US dollars at most, where the agent chooses between models; `usd` is then the least. */
  readonly most?: number;
  /** Part of that is our estimate. */
  readonly estimated?: true;
}

/** What is known of units of each kind. */
export type Takes = Partial<Readonly<Record<string, Take>>>;

/** What a forecast rests on as long as a project has no experience of its own. */
export interface Experience {
  readonly takes: Takes;
  /** Where that was learned, to stand behind "from". */
  readonly from: string;
  /** Set where agents work on the folder itself: then one iteration is like the other. */
  readonly classic?: true;
  /** Who will work; what others took then tells nothing. Undefined: all that have worked so far. */
  readonly agents?: readonly string[];
  /** What a second reader will check; absent: nothing. */
  readonly checks?: CheckPlan;
  /** A second agent fills in the form of each paper. */
  readonly second?: true;
  /** Records to screen that folders and lists hold, where nothing is screened yet. */
  readonly records?: number;
}

/** What a second reader checks, and how many agents do, each alone. */
export interface CheckPlan {
  readonly wish: CheckWish;
  readonly checkers: number;
}

/** US dollars of so many tokens, by each model that may do it; none where no price is known. */
export type Price = (figure: Figure) => readonly number[];

/** The dated figures, priced. An agent without a model takes nothing but a moment. */
export function figuresFor(
  { name, free, models = [] }: { readonly name: string; readonly free?: true; readonly models?: readonly string[] },
  price: Price,
  figures: Readonly<Record<string, Figure>> = {},
): Experience {
  const take = (figure: Figure): Take => {
    if (free === true) return { tokens: 0, minutes: 0.05, usd: 0 };
    const prices = price(figure);
    const tokens = figure.input + figure.output;
    const [usd, most] = [Math.min(...prices), Math.max(...prices)];
    const cost = prices.length === 0 ? {} : { usd, estimated: true as const, ...(most > usd ? { most } : {}) };
    return { tokens, minutes: figure.minutes, ...cost };
  };
  return {
    takes: Object.fromEntries(kinds.map(({ name: kind, figure }) => [kind, take(figures[kind] ?? figure)])),
    from:
      free === true
        ? `${name}, which uses no model`
        : `figures of ${measuredOn} for a typical paper${models.length < 2 ? "" : ` at the prices of ${models.join(" and ")}, as ${name} chooses`}`,
  };
}

/** Which kind of unit a line is about; in classic mode there is only that one. */
const nameOf = (line: LedgerLine): string =>
  line.unit === classicName ? classicName : (kindOfLine(line)?.name ?? reading.name);
const classicName = "classic";

/** Neither a reset, nor the making of the project, nor a batch that code noted without an agent. */
const isUnitOfAResearch = ({ outcome, agent, unit }: LedgerLine): boolean =>
  outcome !== "reset" && agent !== undefined && unit !== "requirements" && !isAnswerUnit(unit);

/** What all attempts at one unit took. */
interface Taken {
  tokens: number;
  seconds: number;
  usd: number;
  isPaid: boolean;
  isEstimated: boolean;
  isAccepted: boolean;
}

/** The median of what units of each kind took that were accepted, over the ledgers of several projects. */
export function takesOf(ledgers: readonly (readonly LedgerLine[])[]): Takes {
  const all = new Map<string, Taken[]>();
  for (const ledger of ledgers) {
    const units = new Map<string, Map<string, Taken>>();
    // Several units may be called the same, as checks are; what leads to an accepted one belongs together.
    const accepted = new Map<string, number>();
    for (const line of ledger) {
      if (!isUnitOfAResearch(line)) continue;
      const kind = nameOf(line);
      const ofKind = units.get(kind) ?? new Map<string, Taken>();
      units.set(kind, ofKind);
      const times = accepted.get(line.unit) ?? 0;
      const unit = `${line.unit} ${times}`;
      if (line.outcome === "accepted") accepted.set(line.unit, times + 1);
      const taken = ofKind.get(unit) ?? nothingTaken();
      ofKind.set(unit, taken);
      addTo(taken, line);
    }
    for (const [kind, ofKind] of units) {
      const known = all.get(kind) ?? [];
      all.set(kind, known);
      for (const taken of ofKind.values()) if (taken.isAccepted) known.push(taken);
    }
  }
  return Object.fromEntries([...all].flatMap(([kind, units]) => (units.length === 0 ? [] : [[kind, medianOf(units)]])));
}

const nothingTaken = (): Taken => ({
  tokens: 0,
  seconds: 0,
  usd: 0,
  isPaid: false,
  isEstimated: false,
  isAccepted: false,
});

function addTo(taken: Taken, line: LedgerLine): void {
  taken.tokens += tokensOf(line);
  taken.seconds += line.duration_seconds ?? 0;
  taken.usd += line.cost_usd ?? 0;
  taken.isPaid ||= line.cost_usd !== undefined;
  taken.isEstimated ||= line.cost_usd !== undefined && line.estimated === true;
  taken.isAccepted ||= line.outcome === "accepted";
}

const medianOf = (units: readonly Taken[]): Take => ({
  tokens: median(units.map(({ tokens }) => tokens)),
  minutes: median(units.map(({ seconds }) => seconds)) / 60,
  ...(units.some(({ isPaid }) => isPaid) ? { usd: median(units.map(({ usd }) => usd)) } : {}),
  ...(units.some(({ isEstimated }) => isEstimated) ? { estimated: true as const } : {}),
});

/** Units of each kind for which an agent is started. */
export type UnitsLeft = Readonly<Record<string, number>>;

/** How many units of each kind are left. */
function unitsLeft(rrd: Rrd, ledger: readonly LedgerLine[], { records, checks, second }: Experience): UnitsLeft {
  const status = statusOf(rrd, ledger);
  const project = { rrd, ledger, status, ...withoutUndefined({ records }) };
  const left = (kind: UnitKind): number => {
    const isDone = status.done.includes(kind.name);
    return isWanted(kind, project) ? (kind.remainingUnits?.(project, isDone) ?? (isDone ? 0 : 1)) : 0;
  };
  const units = Object.fromEntries(kinds.map((kind) => [kind.name, left(kind)]));
  if (second === true && formOf(rrd).length > 0)
    units[extract.name] = (units[extract.name] ?? 0) + (units[reading.name] ?? 0);
  if (checks === undefined) return units;
  const ahead = checksAhead(units[reading.name] ?? 0, checks);
  // Sentences are counted once they are written.
  return (units[report.name] ?? 0) > 0 ? { ...units, ...ahead } : units;
}

/** Claims of a reading, and sentences that fill a batch of a check. */
const usualClaims = 8;
const usualBatch = 50;

/** Units of checks that come with so many papers and the report on them: as a rule it is checked in two, and mended. */
export const checksAhead = (papers: number, { wish, checkers }: CheckPlan): UnitsLeft => ({
  ...(wish === "all" ? { [claims.name]: checkers * Math.ceil((papers * usualClaims) / usualBatch) } : {}),
  [check.name]: 2 * checkers,
  [mend.name]: 1,
});

/**
 * What the rest of a project will take: its units that are left times the median of those it has had, and of `before`
 * for kinds that it has had none of. Undefined where nothing is left, or nothing is known of what is left. `todo`: what
 * is left, where the records do not hold it yet.
 */
export function forecastOf(
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  before: Experience = { takes: {}, from: "" },
  todo: UnitsLeft = unitsLeft(rrd, ledger, before),
): Forecast | undefined {
  const own = takesOf([
    ledger.filter(({ agent }) => before.agents === undefined || (agent !== undefined && before.agents.includes(agent))),
  ]);
  const isClassic = before.classic === true || (own[reading.name] === undefined && own[classicName] !== undefined);
  const left = Object.entries(todo).filter(([, units]) => units > 0) as [string, number][];
  const known = left.map(([kind, units]) => ({ kind, units, ...takeFor(isClassic ? classicName : kind, own, before) }));
  const main = known.find(({ kind }) => kind === reading.name) ?? known[0];
  if (main?.take === undefined) return undefined;
  const sum = (of: (take: Take) => number) =>
    known.reduce((total, { units, take }) => total + units * (take === undefined ? 0 : of(take)), 0);
  const { usd, most, tokens } = main.take;
  const unpriced =
    usd !== undefined && known.some(({ take }) => take !== undefined && take.usd === undefined && take.tokens > 0);
  // What has no price of its own is priced as papers are.
  const priced = (take: Take) => take.usd ?? (tokens === 0 ? 0 : (take.tokens / tokens) * (usd ?? 0));
  const mostPriced = (take: Take) =>
    take.most ?? (take.usd === undefined && tokens > 0 ? (take.tokens / tokens) * (most ?? 0) : priced(take));
  const papers = known.find(({ kind }) => kind === reading.name)?.units ?? 0;
  const checks = known.filter(({ kind }) => kind === claims.name || kind === check.name || kind === mend.name);
  return {
    papers,
    ...(papers === 0
      ? {}
      : { left: leftOf(before.records, papers, checksText(checks, usd === undefined ? undefined : priced)) }),
    iterations: known.reduce((total, { units }) => total + units, 0),
    tokens: Math.round(sum(({ tokens }) => tokens)),
    seconds: Math.round(sum(({ minutes }) => minutes) * 60),
    ...(usd === undefined ? {} : { cost_usd: roundUsd(sum(priced)) }),
    ...(usd === undefined || known.every(({ take }) => take?.most === undefined)
      ? {}
      : { cost_usd_most: roundUsd(sum(mostPriced)) }),
    ...(unpriced || known.some(({ take }) => take?.estimated === true) ? { estimated: true as const } : {}),
    from: [...new Set([main, ...known].map(({ from }) => from))].filter((from) => from !== "").join(" and "),
  };
}

const leftOf = (records: number | undefined, papers: number, checks: string | undefined): string =>
  [
    ...(records === undefined ? [] : [`${many(records, "record")} to screen`]),
    many(papers, "paper"),
    ...(checks === undefined ? [] : [checks]),
  ].join(", ");

/** "3 checks of 43k tokens, $0.12", of units that check; undefined where none is left. */
function checksText(
  checks: readonly { readonly units: number; readonly take?: Take }[],
  priced: ((take: Take) => number) | undefined,
): string | undefined {
  const length = checks.reduce((total, { units }) => total + units, 0);
  const sum = (of: (take: Take) => number) =>
    checks.reduce((total, { units, take }) => total + (take === undefined ? 0 : units * of(take)), 0);
  if (length === 0) return undefined;
  const price = priced === undefined ? "" : `, ${money(sum(priced))}`;
  return `${many(length, "check")} of sentences with ${tokensText(sum(({ tokens }) => tokens))} tokens${price}`;
}

function takeFor(kind: string, own: Takes, before: Experience): { take?: Take; from: string } {
  const mine = own[kind];
  if (mine !== undefined) return { take: mine, from: "what it took so far" };
  const learned = before.takes[kind];
  return learned === undefined ? { from: "" } : { take: learned, from: before.from };
}

/** The day on which these figures were measured with the real Claude Code and Codex. */
const measuredOn = "2026-11-22";

/** What a project has cost in its whole life, what it may cost, and what the rest of it will. */
export function accountOf(rrd: Rrd, ledger: readonly LedgerLine[], before?: Experience): Account {
  const forecast = forecastOf(rrd, ledger, before);
  return { spent: spentOn(rrd, ledger), budget: budgetOf(rrd), ...withoutUndefined({ forecast }) };
}

/**
 * Every attempt counts, whatever came of it and whether or not it was reset later: it was paid for. So do a model's
 * summaries of the history.
 */
export function spentOn({ loop }: Pick<Rrd, "loop">, ledger: readonly LedgerLine[]): Spending {
  const work = ledger.filter(({ outcome }) => outcome !== "reset");
  return spentOnAttempts(
    work.map((line) => ({ ...line, tokens: tokensOf(line) })),
    loop?.rch_metrics,
  );
}

function budgetOf({ budget }: Rrd): Budget {
  const { max_usd: usd, max_tokens: tokens, max_minutes: minutes, max_iterations: iterations } = budget ?? {};
  return Object.fromEntries(
    Object.entries({ usd, tokens, minutes, iterations }).filter(([, most]) => typeof most === "number"),
  );
}

const tokensOf = ({ tokens }: LedgerLine): number => (tokens?.input ?? 0) + (tokens?.output ?? 0);
