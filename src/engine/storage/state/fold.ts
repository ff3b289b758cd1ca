import { createHash } from "node:crypto";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { JournalEntry } from "../../generated/journal.js";
import type { LedgerLine } from "../../generated/ledger.js";
import { ExpectedError } from "../../lib/errors.js";
import { appendOnce, type Stamp, sizeOf } from "../atomic-file.js";
import type { Checkpoints } from "../checkpoints.js";
import type { Fields, StateFormat } from "./format.js";
import { stateVersion } from "./format-version.js";
import { lastJournalledIteration, markDone, pendingEntries, readEntry, setEntryAside, writeEntry } from "./journal.js";
import { formatLine } from "./ledger.js";
import { type OutputFile, type Restores, restoreFiles, writeOutputs } from "./output-files.js";
import { type Change, completeChange, mergeChanges } from "./hand-edits/merge-hand-edits.js";
import { repairStaleSaves } from "./hand-edits/stale-saves.js";
import { openLedger, openStateFile } from "./state-file.js";
import { orderLike } from "./hand-edits/order-like.js";
import { readBackedUpState } from "./backed-up-state.js";

/**
 * A fold writes accepted results in these steps. Each step is idempotent:
 * 1. the journal entry of each result (record changes, log entry, ledger line, output files), synced to the disk before
 *    anything else is written
 * 2. the state file with all results, merged with the edits of a person, by an atomic rename
 * 3. the log entries and ledger lines, each appended once, and the copy of the last good state; then the output files
 * 4. the mark of each journal entry as done; then one git commit that names all of them.
 * After a kill between two steps, the next start replays the journal. Between `hold` and `write` only the first step
 * happens at once, because reading and writing a large state is nearly the whole cost of a fold.
 */

/** Everything that one iteration writes. */
export interface Fold {
  readonly iteration: number;
  /** End of the iteration, ISO 8601 in UTC. */
  readonly at: string;
  /** Subject of the git commit. */
  readonly message: string;
  /**
   * Whether the fold is committed together with the next one: if a service is down, failed iterations must not fill
   * git's history.
   */
  readonly commitsLater?: boolean;
  readonly changes: readonly Change[];
  /**
   * The text to append to the log, with its line feed. It must differ from every other entry: it contains the time or a
   * record's id.
   */
  readonly progress?: string;
  readonly ledger: LedgerLine;
  /** Lines for other logs of the folder, with their line feeds. Each must differ from every existing line. */
  readonly appends?: readonly { readonly name: string; readonly text: string }[];
  /** Output files of the folder to write, such as a report, or to remove. */
  readonly files?: readonly OutputFile[];
  /** Files that are put back as they were before an earlier reset, in the order of whose state the records stand. */
  readonly restores?: Restores;
}

export interface WriterOptions<State> {
  /** Computes the derived fields, such as counts and the phase. Pure. Applied to every state before it is written. */
  readonly derive: (state: State, ledger: readonly LedgerLine[]) => State;
  /** Computes only the derived fields that the next of several folds needs; absent: `derive`. */
  readonly deriveBetween?: (state: State, ledger: readonly LedgerLine[]) => State;
  readonly notify: (level: "info" | "warning", message: string) => void;
}

/** The part of a record store that reads and writes its files. The caller holds the lock. */
export interface Writer<State> {
  load(): Promise<{ readonly state: State; readonly ledger: readonly LedgerLine[] }>;
  nextIteration(): number;
  edit(change: (state: State) => State): Promise<State>;
  fold(fold: Fold): Promise<void>;
  /**
   * From now on, folds are only written to the journal, and edits are only kept in memory. `load` returns the state
   * that results from them.
   */
  hold(): void;
  /** Writes the folds and edits that were held back. */
  write(): Promise<void>;
}

/** A journal entry to fold, or an edit between two entries. */
type Step<State> = JournalEntry | ((state: State) => State);

/** The new content of the state file, and the version on which it is based. */
interface Plan<State> {
  readonly state: State;
  /** The ledger with the lines of the folded entries. */
  readonly lines: readonly LedgerLine[];
  /** Whether the derived fields of the state are up to date. */
  readonly isDerived: boolean;
  readonly before: State;
  readonly stamp: Stamp;
  readonly notices: readonly string[];
}

/** A plan that is not written yet. */
interface PendingWrite<State> {
  readonly plan: Plan<State>;
  readonly steps: readonly Step<State>[];
  /** Whether to commit now, not together with the next fold. */
  readonly commitsNow: boolean;
}

export async function openWriter<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  { derive, deriveBetween = derive, notify }: WriterOptions<State>,
  checkpoints: Checkpoints | undefined,
): Promise<Writer<State>> {
  const file = openStateFile(folder, format, (message) => notify("info", message));
  const readLines = openLedger(join(folder, format.ledger), (message) => notify("warning", message));
  const entryOf = (iteration: number) => readEntry(folder, format, iteration);
  const reportedUnits = new Set<string>();
  /** The states that entries restore, by iteration; they say in which order records and fields stand. */
  const restoredStates = new Map<number, State>();
  let lastState: State | undefined;
  let highestIteration = lastJournalledIteration(folder);
  let lastAssignedIteration = 0;
  let isHolding = false;
  let pendingWrite: PendingWrite<State> | undefined;

  const readCurrentLedger = async (): Promise<readonly LedgerLine[]> => {
    const lines = await readLines();
    highestIteration = lines.reduce((highest, { iteration }) => Math.max(highest, iteration), highestIteration);
    return lines;
  };

  /**
   * Whether the file is a version from before the last iteration. Then its phase and counts are outdated, even if its
   * records are not.
   */
  const isOutdated = (state: State, lines: readonly LedgerLine[]): boolean => {
    const lastIteration = format.iterationOf(state);
    return lastIteration !== undefined && lines.some(({ iteration }) => iteration > lastIteration);
  };

  const derivePlan = (plan: Plan<State>): Plan<State> => ({
    ...plan,
    state: { ...(isHolding ? deriveBetween : derive)(plan.state, plan.lines), format: stateVersion },
    isDerived: !isHolding,
  });
  const fullState = (plan: Plan<State>): State =>
    plan.isDerived ? plan.state : { ...derive(plan.state, plan.lines), format: stateVersion };

  /** The state on the disk, with stale saves repaired, before `steps` are applied. */
  const loadPlan = async (steps: readonly Step<State>[]): Promise<Plan<State>> => {
    const lines = await readCurrentLedger();
    const { state: savedState, stamp } = await file.read();
    // Resets among the steps undo records on purpose, so these records are not stale saves.
    const resets = entriesIn(steps)
      .map(lineOf)
      .filter(({ outcome }) => outcome === "reset");
    // The records that a reset changes or adds. They are not repaired: the values of the reset are valid.
    const resetChanges = entriesIn(steps)
      .filter((entry) => lineOf(entry).outcome === "reset")
      .flatMap(({ changes }) => changes);
    const unitChanges = resetChanges.filter(({ in: where }) => where === format.units.collection);
    const idsOf = (changes: typeof unitChanges) => new Set(changes.flatMap(({ id }) => id ?? []));
    const { state, restoredIds, unrecoverableUnits } = await repairStaleSaves(
      format,
      savedState,
      [...lines, ...resets],
      entryOf,
      {
        changed: idsOf(unitChanges),
        added: idsOf(unitChanges.filter(({ was }) => was === null)),
        state: resets.length === 0 ? savedState : mergeChanges(format, savedState, resetChanges, false).state,
      },
    );
    for (const { iteration, restores } of entriesIn(steps)) {
      if (restores === undefined || restoredStates.has(iteration)) continue;
      const restoredState = await readBackedUpState(folder, format, restores.backup);
      if (restoredState !== undefined) restoredStates.set(iteration, restoredState);
    }
    // If a reset undoes an earlier reset, nobody has saved an old version, so the notice does not say so.
    const restoredText = (id: string) =>
      `${format.file} was saved from a version before ${id} was done; its result was restored.`;
    const notices = restoredIds.map((id) =>
      resets.length > 0 ? `The result of ${id} was restored.` : restoredText(id),
    );
    for (const id of unrecoverableUnits.filter((id) => !reportedUnits.has(id))) {
      reportedUnits.add(id);
      notices.push(
        `The ledger says that ${id} is done, ${format.file} does not, and the journal that could restore it is gone; it will be done again.`,
      );
    }
    return {
      state,
      lines,
      isDerived: restoredIds.length === 0 && !isOutdated(savedState, lines),
      before: savedState,
      stamp,
      notices,
    };
  };

  const applyStep = (plan: Plan<State>, step: Step<State>): Plan<State> => {
    if (typeof step === "function") return derivePlan({ ...plan, state: step(fullState(plan)) });
    const line = lineOf(step);
    const { state: merged, notices } = mergeChanges(format, plan.state, step.changes, line.outcome === "accepted");
    const restoredState = restoredStates.get(step.iteration);
    const inOrder = (state: State) => (restoredState === undefined ? state : orderLike(restoredState, state));
    const lines = [...plan.lines, line];
    // What is derived depends on the order of the records, and is put into its own order after that.
    const next = derivePlan({ ...plan, state: inOrder(merged), lines, notices: [...plan.notices, ...notices] });
    return { ...next, state: inOrder(next.state) };
  };

  /** The plan after a step that the state file already contains; a notice about a hand edit would then be wrong. */
  const applyWrittenStep = (plan: Plan<State>, nextPlan: Plan<State>): Plan<State> =>
    isDeepStrictEqual(nextPlan.state, plan.state) ? { ...nextPlan, notices: plan.notices } : nextPlan;

  const planOf = async (steps: readonly Step<State>[]): Promise<Plan<State>> => {
    const plan = steps.reduce(applyStep, await loadPlan(steps));
    return { ...plan, state: fullState(plan) };
  };

  /** Whether a state can be written. Records that are unchanged since `validState` are not checked again. */
  const isValid = (state: State, validState: State): boolean =>
    format.problemsOf(withoutUnchanged(format, state, validState)).length === 0;

  const writePlan = async (firstPlan: Plan<State>, steps: readonly Step<State>[]): Promise<State> => {
    let plan = firstPlan;
    const entries = entriesIn(steps);
    const lastEntry = entries.length > 1 ? entries.at(-1) : undefined;
    // The loop repeats only if a person saves the file at this moment.
    while (plan.state !== plan.before) {
      if (lastEntry !== undefined)
        await writeEntry(folder, { ...lastEntry, parts_sha256: partsHash(format, plan.state) });
      if (await file.replace(plan.state, plan.stamp)) break;
      plan = await planOf(steps);
    }
    for (const notice of plan.notices) notify("warning", notice);
    return plan.state;
  };

  /**
   * Every step can be repeated. A ledger line says that the state file is written, so it comes after the state file.
   * Logs are written in parallel, because each waits for its own sync. `entries` includes those whose lines exist.
   */
  const apply = async (
    { plan, steps }: Pick<PendingWrite<State>, "plan" | "steps">,
    entries: readonly JournalEntry[],
  ): Promise<void> => {
    let newestWritten = (await readCurrentLedger()).reduce((highest, { iteration }) => Math.max(highest, iteration), 0);
    if (steps.length > 0) lastState = await writePlan(plan, steps);
    const appends = entries.flatMap((entry) => appendsOf(format, entry));
    const names = new Set(appends.map(({ name }) => name));
    await Promise.all([
      ...[...names].map((log) => appendOnce(join(folder, log), ...appends.filter(({ name }) => name === log))),
      file.keepCopy(),
    ]);
    for (const { iteration, files = [], restores, at } of entries) {
      if (iteration >= newestWritten) {
        const warn = (message: string) => notify("warning", message);
        await writeOutputs(folder, files, Date.parse(at), warn);
        if (restores !== undefined) await restoreFiles(folder, restores, Date.parse(at), warn);
      }
      newestWritten = Math.max(newestWritten, iteration);
    }
    for (const { iteration } of entries) markDone(folder, iteration);
  };

  const replay = async (): Promise<void> => {
    const entries: JournalEntry[] = [];
    const setUnusableAside = (iteration: number) =>
      notify("warning", `A journal entry can't be used; it is kept as ${setEntryAside(folder, iteration)}.`);
    for (const iteration of pendingEntries(folder)) {
      const entry = await entryOf(iteration);
      if (entry === undefined) setUnusableAside(iteration);
      else entries.push(entry);
    }
    if (entries.length === 0) return;
    // In the order of the folds.
    entries.sort((a, b) => a.ledger.offset - b.ledger.offset);
    const ledgerIterations = new Set((await readCurrentLedger()).map(({ iteration }) => iteration));
    let plan = await loadPlan(entries);
    let lastValid = plan.before;
    const lastMergedIndex = entries.findLastIndex(({ parts_sha256: hash }) => hash === partsHash(format, lastValid));
    const [steps, completedEntries]: [JournalEntry[], JournalEntry[]] = [[], []];
    for (const [index, { changes, ...otherFields }] of entries.entries()) {
      // Lists in parts have a maximum length: a merged value may have been dropped again, and must not be added twice.
      const isUnmerged = (change: Change) => index > lastMergedIndex || !format.parts.includes(change.in);
      const entry = { ...otherFields, changes: changes.filter(isUnmerged) };
      const nextPlan = ledgerIterations.has(entry.iteration) ? plan : applyWrittenStep(plan, applyStep(plan, entry));
      if (nextPlan !== plan && !isValid(nextPlan.state, lastValid)) {
        setUnusableAside(entry.iteration);
        continue;
      }
      if (nextPlan !== plan) steps.push(entry);
      completedEntries.push(entry);
      [plan, lastValid] = [nextPlan, nextPlan.state];
    }
    await apply({ plan, steps }, completedEntries);
    for (const { iteration } of completedEntries)
      notify("info", `Iteration ${iteration} was interrupted while it was saved; it is complete now.`);
    if (completedEntries.length > 0)
      await checkpoints?.commit(commitMessageOf(completedEntries), undefined, completedEntries.length);
  };

  const write = async (): Promise<void> => {
    isHolding = false;
    if (pendingWrite === undefined) return;
    const { plan, steps, commitsNow } = pendingWrite;
    const entries = entriesIn(steps);
    // If the write fails, the journal still has the entries.
    pendingWrite = undefined;
    const state = fullState(plan);
    if (!isValid(state, plan.state)) throw new Error(`what follows from the records would make ${format.file} invalid`);
    await apply({ plan: { ...plan, state }, steps }, entries);
    if (entries.length > 0)
      await checkpoints?.commit(commitMessageOf(entries), commitsNow ? undefined : true, entries.length);
  };

  const addStep = async (plan: Plan<State>, step: Step<State>, commitsNow: boolean): Promise<State> => {
    pendingWrite = {
      plan,
      steps: [...(pendingWrite?.steps ?? []), step],
      commitsNow: commitsNow || pendingWrite?.commitsNow === true,
    };
    if (isHolding) return plan.state;
    await write();
    return lastState as State;
  };

  return {
    hold: () => void (isHolding = true),
    write,
    nextIteration: () => (lastAssignedIteration = Math.max(highestIteration, lastAssignedIteration) + 1),
    async load() {
      if (pendingWrite !== undefined) return { state: pendingWrite.plan.state, ledger: pendingWrite.plan.lines };
      await replay();
      const plan = await planOf([]);
      lastState = await writePlan(plan, []);
      await file.keepCopy();
      return { state: lastState, ledger: plan.lines };
    },
    async edit(change) {
      const currentPlan = pendingWrite?.plan ?? (await loadPlan([]));
      const plan = applyStep(currentPlan, change);
      if (!isValid(plan.state, pendingWrite === undefined ? currentPlan.before : currentPlan.state))
        throw new Error(`the edit would make ${format.file} invalid`);
      return await addStep(plan, change, false);
    },
    async fold(fold) {
      let entry: JournalEntry | undefined;
      let plan: Plan<State> | undefined;
      let validState = pendingWrite?.plan.state;
      let readError: ExpectedError | undefined;
      const makeEntry = () =>
        entryFor(folder, format, fold, pendingWrite?.plan.state ?? lastState, entriesIn(pendingWrite?.steps ?? []));
      try {
        if (pendingWrite === undefined) await replay();
        const lines = pendingWrite?.plan.lines ?? (await readCurrentLedger());
        if (lines.some(({ iteration }) => iteration === fold.iteration)) return;
        entry = makeEntry();
        const currentPlan = pendingWrite?.plan ?? (await loadPlan([entry]));
        validState ??= currentPlan.before;
        plan = applyStep(currentPlan, entry);
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        readError = error;
      }
      if (plan !== undefined && !isValid(plan.state, validState as State))
        throw new Error(`the fold of iteration ${fold.iteration} would make ${format.file} invalid`);
      entry ??= makeEntry();
      await writeEntry(folder, entry);
      highestIteration = Math.max(highestIteration, fold.iteration);
      // After a read error, for example of a state file that the user broke, the iteration is not lost: the journal has
      // it.
      if (plan === undefined) {
        // A second read throws an error whose restore command includes this iteration.
        await file.read();
        throw readError;
      }
      await addStep(plan, entry, fold.commitsLater !== true);
    },
  };
}

const entriesIn = <State>(steps: readonly Step<State>[]): JournalEntry[] =>
  steps.filter((step) => typeof step !== "function");

const lineOf = (entry: JournalEntry): LedgerLine => JSON.parse(entry.ledger.text);

/** The texts that an entry appends to logs, with the logs' names. */
const appendsOf = (
  { log, ledger }: Pick<StateFormat<Fields>, "log" | "ledger">,
  entry: JournalEntry,
): { readonly name: string; readonly offset: number; readonly text: string }[] => [
  ...(entry.progress === null ? [] : [{ name: log, ...entry.progress }]),
  { name: ledger, ...entry.ledger },
  ...(entry.appends ?? []),
];

/** The message of a commit. For several entries: a line with their number, then one line for each iteration. */
function commitMessageOf(entries: readonly JournalEntry[]): string {
  const [firstEntry, ...otherEntries] = entries;
  if (firstEntry === undefined || otherEntries.length === 0) return firstEntry?.message ?? "";
  const lines = entries.map(({ iteration, message }) => `#${iteration} ${message}\n`).join("");
  return `${entries.length} iterations\n\n${lines}`;
}

/** Hash of the objects of a state that only this program writes. */
const partsHash = <State extends Fields>({ parts }: Pick<StateFormat<State>, "parts">, state: State): string =>
  createHash("sha256")
    .update(JSON.stringify(parts.map((name) => state[name] ?? null)))
    .digest("hex");

/** A state without the records that are identical in another state. */
function withoutUnchanged<State extends Fields>(
  { collections }: Pick<StateFormat<State>, "collections">,
  state: State,
  validState: State,
): State {
  const changedState: Fields = { ...state };
  for (const { name } of collections) {
    const [list, otherList] = [state[name], validState[name]];
    if (Array.isArray(list) && Array.isArray(otherList))
      changedState[name] = list.filter((record, index) => record !== otherList[index]);
  }
  return changedState as State;
}

/** Makes the journal entry of a fold. `unwrittenEntries`: earlier entries that are not in the files yet. */
function entryFor<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  fold: Fold,
  base: State | undefined,
  unwrittenEntries: readonly JournalEntry[],
): JournalEntry {
  if (base === undefined) throw new Error("a fold before the first load");
  const { iteration, at, message, changes, progress, appends, files, restores } = fold;
  const pendingAppends = unwrittenEntries.flatMap((entry) => appendsOf(format, entry));
  const locateAppend = (name: string, text: string) => {
    const earlierAppends = pendingAppends.filter((pendingAppend) => pendingAppend.name === name);
    const offset = earlierAppends.reduce(
      (sum, append) => sum + Buffer.byteLength(append.text),
      sizeOf(join(folder, name)),
    );
    return { offset, text };
  };
  return {
    iteration,
    at,
    message,
    changes: changes.map((change) => completeChange(format, change, base)),
    progress: progress === undefined ? null : locateAppend(format.log, progress),
    ledger: locateAppend(format.ledger, formatLine({ ...fold.ledger, iteration })),
    ...(appends === undefined
      ? {}
      : { appends: appends.map(({ name, text }) => ({ name, ...locateAppend(name, text) })) }),
    ...(files === undefined ? {} : { files: files.map(({ name, text }) => ({ name, text })) }),
    ...(restores === undefined ? {} : { restores }),
  };
}
