import { join } from "node:path";
import type { JournalEntry } from "../../generated/journal.js";
import type { LedgerLine } from "../../generated/ledger.js";
import { ExpectedError } from "../../lib/errors.js";
import { appendOnce, type Stamp, sizeOf } from "../atomic-file.js";
import type { Checkpoints } from "../checkpoints.js";
import type { Fields, StateFormat } from "./format.js";
import { stateVersion } from "./format-version.js";
import { lastIteration, markDone, pendingEntries, readEntry, setAside, writeEntry } from "./journal.js";
import { formatLine } from "./ledger.js";
import { type OutputFile, writeOutputs } from "./output-files.js";
import { type Change, completeChange, mergeChanges } from "./merge-hand-edits.js";
import { restoreStaleSaves } from "./stale-saves.js";
import { openLedger, openStateFile } from "./state-file.js";

/**
 * What is written when an accepted result is folded into the state, in this order, each step the same however often it
 * is done:
 * 1. the journal entry (record changes, log entry, ledger line, whole files), on the disk before anything takes effect
 * 2. the state file, merged with what a person edited meanwhile, by an atomic rename
 * 3. the entry of the log and the ledger line, each appended once, and the copy of the last good state; then whole
 *    output files
 * 4. the mark that the entry is done; then git commits all of it.
 * A kill between two steps is made good at the next start by replaying the journal.
 */

/** Everything one iteration leaves behind. */
export interface Fold {
  readonly iteration: number;
  /** End of the iteration, ISO 8601 in UTC. */
  readonly at: string;
  /** Subject of the git commit. */
  readonly message: string;
  /** Commit it with the next one: a service that is away for hours must not fill the history. */
  readonly later?: boolean;
  readonly changes: readonly Change[];
  /**
   * What is added to the log, line feed included. It must differ from every other entry, as one with the time or a
   * record's id does.
   */
  readonly progress?: string;
  readonly ledger: LedgerLine;
  /** Lines for other logs of the folder, line feed included. They must differ from every line that is there. */
  readonly appends?: readonly { readonly name: string; readonly text: string }[];
  /** Whole files of the folder to write, such as a report, or to take away. */
  readonly files?: readonly OutputFile[];
}

export interface WriterOptions<State> {
  /** What follows from the records, such as counts and the phase; pure. Applied to every state before it is written. */
  readonly derive: (state: State, ledger: readonly LedgerLine[]) => State;
  readonly notify: (level: "info" | "warning", message: string) => void;
}

/** The part of a record store that reads and writes its files, once the lock is held. */
export interface Writer<State> {
  load(): Promise<{ readonly state: State; readonly ledger: readonly LedgerLine[] }>;
  nextIteration(): number;
  edit(change: (state: State) => State): Promise<State>;
  fold(fold: Fold): Promise<void>;
}

/** What the state file should become, and the version of it that this was made from. */
interface Plan<State> {
  readonly state: State;
  readonly before: State;
  readonly stamp: Stamp;
  readonly notices: readonly string[];
}

export async function openWriter<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  { derive, notify }: WriterOptions<State>,
  checkpoints: Checkpoints | undefined,
): Promise<Writer<State>> {
  const file = openStateFile(folder, format, (message) => notify("info", message));
  const readLines = openLedger(join(folder, format.ledger), (message) => notify("warning", message));
  const entryOf = (iteration: number) => readEntry(folder, format, iteration);
  const isValid = (planned: Plan<State> | undefined): boolean =>
    planned !== undefined && format.problemsOf(planned.state).length === 0;
  const warned = new Set<string>();
  let base: State | undefined;
  let highest = lastIteration(folder);
  let given = 0;

  const ledger = async (): Promise<readonly LedgerLine[]> => {
    const lines = await readLines();
    highest = lines.reduce((most, { iteration }) => Math.max(most, iteration), highest);
    return lines;
  };

  /**
   * Whether the file was saved from before the last iteration: its phase and counts are then of the past, although no
   * record is.
   */
  const isOlder = (state: State, lines: readonly LedgerLine[]): boolean => {
    const last = format.iterationOf(state);
    return last !== undefined && lines.some(({ iteration }) => iteration > last);
  };

  /** The disk's state with stale saves put right and the entry's changes merged in. */
  const plan = async (lines: readonly LedgerLine[], entry?: JournalEntry): Promise<Plan<State>> => {
    const { state, stamp } = await file.read();
    const line = entry === undefined ? undefined : lineOf(entry);
    const withLine = line === undefined ? lines : [...lines, line];
    // A record under reset is undone on purpose; a record under acceptance is not a stale save yet.
    const counting = line?.outcome === "reset" ? withLine : lines;
    const { state: whole, restored, lost } = await restoreStaleSaves(format, state, counting, entryOf);
    // Where a reset takes back a reset, nobody saved an old version.
    const from = (id: string) =>
      `${format.file} was saved from a version before ${id} was done; its result was restored.`;
    const notices = restored.map((id) => (line?.outcome === "reset" ? `The result of ${id} was restored.` : from(id)));
    for (const id of lost.filter((each) => !warned.has(each))) {
      warned.add(id);
      notices.push(
        `The ledger says that ${id} is done, ${format.file} does not, and the journal that could restore it is gone; it will be done again.`,
      );
    }
    const merged = mergeChanges(format, whole, entry?.changes ?? [], line?.outcome === "accepted");
    const isAsDerived = entry === undefined && restored.length === 0 && !isOlder(state, lines);
    const next = isAsDerived ? state : stamped(derive(merged.state, withLine));
    return { state: next, before: state, stamp, notices: [...notices, ...merged.notices] };
  };

  const carryOut = async (first: Plan<State>, again: () => Promise<Plan<State>>): Promise<State> => {
    let { state, before, stamp, notices } = first;
    // Only when a person saved the file in this very moment is there another round.
    while (state !== before && !(await file.replace(state, stamp))) ({ state, before, stamp, notices } = await again());
    for (const notice of notices) notify("warning", notice);
    return state;
  };

  /**
   * Every step can be repeated. The ledger's line tells that the state file is done, so it is written after it; the
   * logs go side by side because each waits for the disk on its own.
   */
  const apply = async (entry: JournalEntry, planned?: Plan<State>): Promise<void> => {
    const lines = await ledger();
    if (!lines.some(({ iteration }) => iteration === entry.iteration)) {
      base = await carryOut(planned ?? (await plan(lines, entry)), () => plan(lines, entry));
    }
    await Promise.all([
      entry.progress === null ? undefined : appendOnce(join(folder, format.log), entry.progress),
      appendOnce(join(folder, format.ledger), entry.ledger),
      ...(entry.appends ?? []).map(({ name, ...append }) => appendOnce(join(folder, name), append)),
      file.keepCopy(),
    ]);
    const isNewest = lines.every(({ iteration }) => iteration <= entry.iteration);
    if (isNewest)
      await writeOutputs(folder, entry.files ?? [], Date.parse(entry.at), (message) => notify("warning", message));
    markDone(folder, entry.iteration);
  };

  const replay = async (): Promise<void> => {
    for (const iteration of pendingEntries(folder)) {
      const entry = await entryOf(iteration);
      const planned = entry === undefined ? undefined : await plan(await ledger(), entry);
      if (entry === undefined || !isValid(planned)) {
        notify("warning", `A journal entry can't be used; it is kept as ${setAside(folder, iteration)}.`);
        continue;
      }
      await apply(entry, planned);
      notify("info", `Iteration ${iteration} was interrupted while it was saved; it is complete now.`);
      await checkpoints?.commit(entry.message);
    }
  };

  return {
    nextIteration: () => (given = Math.max(highest, given) + 1),
    async load() {
      await replay();
      const lines = await ledger();
      base = await carryOut(await plan(lines), () => plan(lines));
      await file.keepCopy();
      return { state: base, ledger: lines };
    },
    async edit(change) {
      const lines = await ledger();
      const edited = async (): Promise<Plan<State>> => {
        const planned = await plan(lines);
        return { ...planned, state: stamped(derive(change(planned.state), lines)) };
      };
      const planned = await edited();
      if (!isValid(planned)) throw new Error(`the edit would make ${format.file} invalid`);
      base = await carryOut(planned, edited);
      await file.keepCopy();
      return base;
    },
    async fold(fold) {
      let entry: JournalEntry | undefined;
      let planned: Plan<State> | undefined;
      let obstacle: ExpectedError | undefined;
      try {
        await replay();
        const lines = await ledger();
        if (lines.some(({ iteration }) => iteration === fold.iteration)) return;
        entry = entryFor(folder, format, fold, base);
        planned = await plan(lines, entry);
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        obstacle = error;
      }
      if (planned !== undefined && !isValid(planned))
        throw new Error(`the fold of iteration ${fold.iteration} would make ${format.file} invalid`);
      entry ??= entryFor(folder, format, fold, base);
      await writeEntry(folder, entry);
      highest = Math.max(highest, fold.iteration);
      // What stands in the way now, such as a state file broken by hand, must not cost the iteration: the journal keeps
      // it.
      if (obstacle !== undefined) {
        // Asked again, the state says a way back that counts this iteration in.
        await file.read();
        throw obstacle;
      }
      await apply(entry, planned);
      await checkpoints?.commit(fold.message, fold.later);
    },
  };
}

const stamped = <State extends Fields>(state: State): State => ({ ...state, format: stateVersion });

const lineOf = (entry: JournalEntry): LedgerLine => JSON.parse(entry.ledger.text);

function entryFor<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  fold: Fold,
  base: State | undefined,
): JournalEntry {
  if (base === undefined) throw new Error("a fold before the first load");
  const { iteration, at, message, changes, progress, appends, files } = fold;
  return {
    iteration,
    at,
    message,
    changes: changes.map((change) => completeChange(format, change, base)),
    progress: progress === undefined ? null : { offset: sizeOf(join(folder, format.log)), text: progress },
    ledger: { offset: sizeOf(join(folder, format.ledger)), text: formatLine({ ...fold.ledger, iteration }) },
    ...(appends === undefined
      ? {}
      : { appends: appends.map(({ name, text }) => ({ name, offset: sizeOf(join(folder, name)), text })) }),
    ...(files === undefined ? {} : { files: files.map(({ name, text }) => ({ name, text })) }),
  };
}
