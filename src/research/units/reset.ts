import { join, relative } from "node:path";
import type { JournalEntry } from "../../engine/generated/journal.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { writtenFile } from "../../engine/lib/layout.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { quantity } from "../../engine/lib/words.js";
import { currentAccepted } from "../../engine/storage/state/ledger.js";
import { type Reset as ResetOf, resetRecords, stateBefore, undoneResetIn } from "../../engine/storage/state/reset.js";
import { resetStagnation } from "../derived/observations.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { namesIn, nameOf } from "../papers/paper-keys.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { candidatesFile, rrdName, searchFile, updateFile } from "../project-files/layout.js";
import type { ResearchOptions } from "../project-files/research.js";
import { researchFormat } from "../project-files/rrd-file.js";
import { kinds } from "./kinds.js";
import { isJudgedByOthers } from "../screening/eligibility/eligibility.js";
import { removeReading } from "./reading/unread-paper.js";
import { screenAgain } from "./screening/reset-search.js";

/**
 * What a reset undoes: everything, one paper, the units of a kind, what other criteria than the present ones have
 * decided, or everything after an iteration.
 */
export type ResetTarget =
  | { readonly all: true }
  | { readonly criteria: true }
  | { readonly paper: string }
  | { readonly unit: string }
  | { readonly to: number; readonly undoes?: number };

type Reset = ResetOf<Rrd>;

interface ResetOptions {
  readonly derive: ResearchOptions["derive"];
  readonly git: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Names of the files that each kind of unit writes. */
export const outputs = Object.fromEntries(kinds.map(({ name, documents = [] }) => [name, documents]));

/**
 * Resets results of a project with `resetRecords`.
 * @throws ExpectedError if another process holds the project, the paper or kind is unknown, or there is no version to
 * return to.
 */
export async function resetResearch(folder: string, target: ResetTarget, options: ResetOptions): Promise<string[]> {
  const plan = async ({ state, ledger }: { readonly state: Rrd; readonly ledger: readonly LedgerLine[] }) => {
    const { newState, ...reset } = await stateAfter(folder, target, state, ledger);
    // A reset is an action of the user, so earlier repetitions no longer count.
    return { ...reset, newState: resetStagnation(newState, ledger.at(-1)?.iteration) };
  };
  return resetRecords(folder, researchFormat, plan, {
    ...options,
    outputs,
    everything: "all" in target,
    workFiles: [candidatesFile, updateFile, searchFile, writtenFile].map((fileOf) => relative(folder, fileOf(folder))),
    ...("to" in target ? withoutUndefined({ to: target.to, undoes: target.undoes }) : {}),
  });
}

/**
 * Computes the state after a reset; writes nothing.
 * @throws ExpectedError if the paper or kind does not exist, or there is nothing to reset.
 */
export async function stateAfter(
  folder: string,
  target: ResetTarget,
  rrd: Rrd,
  ledger: readonly LedgerLine[],
): Promise<Reset> {
  if ("paper" in target) return resetPaper(folder, rrd, target.paper);
  if ("criteria" in target) return resetCriteria(rrd);
  if ("unit" in target) return resetUnit(folder, rrd, target.unit);
  if ("to" in target) return resetTo(folder, rrd, ledger, target.to);
  // Excluded records are removed too: an agent may have dropped what the user wants now.
  const { refusals: _, excluded: __, ...kept } = rrd;
  const empty = {
    papers_pool: [],
    insights: [],
    visited_urls: [],
    blocked_sources: [],
    statistics: null,
    timing: null,
  };
  const sentence = `The project begins again: ${quantity(rrd.papers_pool.length, "paper")} and ${quantity(rrd.insights?.length ?? 0, "insight")} are removed.`;
  const after: Rrd = { ...kept, ...empty, phase: "DISCOVERY" };
  return {
    newState: after,
    unit: "*",
    to: 0,
    sentences: [sentence],
    obsoletePaths: [candidatesFile(folder), searchFile(folder)],
  };
}

function resetPaper(folder: string, rrd: Rrd, id: string): Reset {
  const paper = rrd.papers_pool.find((each) => each.id === id);
  if (paper === undefined)
    throw new ExpectedError(
      `There is no paper ${id} in ${join(folder, rrdName)}; ${resettableKinds().includes(id) ? `'--unit ${id}' resets it` : `'research-ralph status ${shellWord(folder)} --papers' lists them`}.`,
      2,
    );
  const after = removeReading(rrd, paper);
  const removedCount = (rrd.insights?.length ?? 0) - (after.insights?.length ?? 0);
  return {
    newState: after,
    unit: id,
    sentences: [
      `${nameOf(paper)} is pending again; its analysis, points, refusals and ${quantity(removedCount, "insight")} are removed.`,
      ...(paper.override === undefined ? [] : [`So is the decision to ${paper.override.decision} it.`]),
    ],
  };
}

/** Resets papers and exclusions that were judged by other criteria. A person's decisions stay. */
function resetCriteria(rrd: Rrd): Reset {
  const criteria = criteriaOf(rrd);
  const isAffected = (record: Paper | Exclusion) => isJudgedByOthers(criteria, record);
  const [papers, exclusions] = [rrd.papers_pool.filter(isAffected), (rrd.excluded ?? []).filter(isAffected)];
  if (papers.length + exclusions.length === 0)
    throw new ExpectedError("No record was judged by other criteria than those in rrd.json, so nothing was reset.", 2);
  const after = papers.reduce(removeReading, rrd);
  return {
    newState: exclusions.length === 0 ? after : screenAgain(after, exclusions),
    unit: "*",
    units: papers.map(({ id }) => id),
    sentences: [
      `${quantity(papers.length, "paper")} and ${quantity(exclusions.length, "excluded record")} that were judged by other criteria are pending again.`,
    ],
  };
}

/** Resets the units of a kind. Their document stays until a new one is written. */
async function resetUnit(folder: string, rrd: Rrd, unit: string): Promise<Reset> {
  const resetUnits = kinds.find(({ name }) => name === unit)?.reset;
  if (resetUnits === undefined)
    throw new ExpectedError(
      `Units of the kind "${unit}" can't be reset; name one of ${resettableKinds().join(", ")}.`,
      2,
    );
  const { refusals = [], ...rest } = rrd;
  const others = refusals.filter((refusal) => refusal.unit !== unit && refusal.unit?.startsWith(`${unit}-`) !== true);
  const removedCount = refusals.length - others.length;
  const unitReset = await resetUnits(others.length === 0 ? rest : { ...rest, refusals: others }, folder);
  const { rrd: after, message, moreMessages = [], ...otherFields } = unitReset;
  const cleared = removedCount === 0 ? "" : `; ${quantity(removedCount, "refusal")} cleared`;
  return { newState: after, unit, sentences: [`${message}${cleared}.`, ...moreMessages], ...otherFields };
}

async function resetTo(folder: string, rrd: Rrd, ledger: readonly LedgerLine[], to: number): Promise<Reset> {
  const { state, undoneLines, missingIterations, undoneChanges } = await stateBefore(
    folder,
    researchFormat,
    { state: rrd, ledger },
    to,
  );
  let after = keepPresentMerges(state, rrd, undoneChanges);
  // The phase is derived and not in the journal. It is the phase of the first undone iteration.
  const [first] = undoneLines;
  if (first !== undefined) after = { ...after, phase: first.phase as Rrd["phase"] };
  const sentences = [`Everything after iteration ${to} is undone: ${quantity(undoneLines.length, "iteration")}.`];
  const acceptedBefore = currentAccepted(ledger.filter(({ iteration }) => iteration <= to));
  // A paper that the reset has removed has its name again in the state after.
  const names = new Map([...namesIn(after), ...namesIn(rrd)]);
  const countingAgain = [...acceptedBefore.keys()].filter((unit) => !currentAccepted(ledger).has(unit));
  if (countingAgain.length > 0) {
    const resets = undoneLines.filter(({ outcome }) => outcome === "reset").map(({ iteration }) => iteration);
    sentences.push(
      `${quantity(resets.length, "reset")} (iteration ${resets.join(", ")}) ${resets.length === 1 ? "is" : "are"} undone with it, so ${quantity(countingAgain.length, "result")} ${countingAgain.length === 1 ? "counts" : "count"} again: ${countingAgain.map((unit) => names.get(unit) ?? unit).join(", ")}.`,
    );
  }
  if (missingIterations.length > 0) {
    after = resetUndonePapers(after, undoneLines, acceptedBefore);
    sentences.push(
      `The journal of iterations ${missingIterations.join(", ")} is missing, so the papers that they found stay in the pool, but are not read.`,
    );
  }
  const undone = undoneResetIn(folder, researchFormat, ledger, to);
  return { newState: after, unit: "*", to, sentences, ...withoutUndefined({ undone }) };
}

/**
 * Keeps the present merges of records, because a reset undoes only iterations, and the user may have merged or
 * separated records. Each record is in the result exactly once. A merge that one of the undone iterations brought is
 * undone with it: a reset may have brought back merged records.
 */
function keepPresentMerges(after: Rrd, now: Rrd, undone: JournalEntry["changes"]): Rrd {
  const idsIn = (records: unknown) => ((records ?? []) as Exclusion[]).map(({ id }) => id);
  /** Whether the first of these changes that names a record brought it. */
  const isBrought = new Map<string, boolean>();
  for (const { set, was, add } of undone) {
    for (const id of idsIn(was?.["excluded"])) if (!isBrought.has(id)) isBrought.set(id, false);
    for (const id of [...idsIn(set["excluded"]), ...idsIn(add?.["excluded"])])
      if (!isBrought.has(id)) isBrought.set(id, true);
  }
  const inPool = new Set(now.papers_pool.map(({ id }) => id));
  const pooled = new Set(after.papers_pool.map(({ id }) => id));
  const kept = (after.excluded ?? []).filter(({ id }) => !pooled.has(id) || !inPool.has(id));
  const keptIds = new Set(kept.map(({ id }) => id));
  const mergedNow = (now.excluded ?? []).filter(
    ({ id, before }) => before !== undefined && !pooled.has(id) && !keptIds.has(id) && isBrought.get(id) !== true,
  );
  const excluded = [...kept, ...mergedNow];
  const pool = after.papers_pool.filter(({ id }) => !keptIds.has(id));
  return {
    ...after,
    papers_pool: pool,
    ...(excluded.length === 0 && after.excluded === undefined ? {} : { excluded }),
  };
}

/** Resets the papers that the undone iterations read. It is used if their journal is missing. */
function resetUndonePapers(rrd: Rrd, undone: readonly LedgerLine[], accepted: ReadonlyMap<string, number>): Rrd {
  const read = new Set(
    undone.filter(({ outcome, unit }) => outcome === "accepted" && !accepted.has(unit)).map(({ unit }) => unit),
  );
  return rrd.papers_pool.filter(({ id }) => read.has(id)).reduce(removeReading, rrd);
}

/** Kinds that the user can reset as a whole. */
const resettableKinds = (): string[] => kinds.flatMap(({ name, reset }) => (reset === undefined ? [] : [name]));
