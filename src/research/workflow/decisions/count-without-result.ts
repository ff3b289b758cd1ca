import type { LedgerLine } from "../../../engine/generated/ledger.js";
import type { Loop, Rrd } from "../../generated/rrd.js";
import type { Failure } from "../../../engine/loop/types.js";

/** Failures in which no agent got to work: there is nothing to learn from them. */
const notAtWork: ReadonlySet<Failure["kind"]> = new Set([
  "rate-limit",
  "network",
  "auth",
  "missing",
  "unusable",
  "too-large",
  "aborted",
]);

/** Whether an agent got to work in an iteration that failed so, or did not fail. */
export const wasAtWork = (failure: string | undefined): boolean =>
  failure === undefined || !notAtWork.has(failure as Failure["kind"]);

type Limits = NonNullable<NonNullable<Loop>["limits"]>;

/** What a person allows: the budget, and how many papers are looked for. */
export function limitsOf({ budget, requirements }: Rrd): Limits {
  const { max_usd, max_tokens, max_minutes, max_iterations } = budget ?? {};
  const all = { max_usd, max_tokens, max_minutes, max_iterations, target_papers: requirements.target_papers };
  return Object.fromEntries(Object.entries(all).filter(([, most]) => typeof most === "number"));
}

/** Whether more is allowed than before; a limit that is gone allows more. */
const isRaised = (before: Limits, now: Limits): boolean =>
  Object.entries(before).some(([name, most]) => typeof most === "number" && Number(now[name] ?? Infinity) > most);

/** The iteration after which it is counted: a person has acted since. */
export function countedSince(rrd: Rrd): number {
  const { stagnation_since: since = 0, limits, iteration = 0 } = rrd.loop ?? {};
  return limits !== undefined && isRaised(limits, limitsOf(rrd)) ? Math.max(since, iteration) : since;
}

/** The iterations in a row, up to the last, whose work was not accepted, of all runs since a person last acted. Those in which no agent got to work do not count. */
export function withoutResult(rrd: Rrd, ledger: readonly LedgerLine[]): readonly LedgerLine[] {
  const since = countedSince(rrd);
  const row = ledger.slice(ledger.findLastIndex(({ outcome }) => outcome === "accepted" || outcome === "reset") + 1);
  return row.filter(({ failure, iteration }) => iteration > since && wasAtWork(failure));
}

/** The state once a person has acted, after iteration `last`: what brought nothing before counts no more. Pure. */
export const resetStagnation = (rrd: Rrd, last = rrd.loop?.iteration): Rrd =>
  last === undefined ? rrd : { ...rrd, loop: { ...rrd.loop, stagnation_since: last } };
