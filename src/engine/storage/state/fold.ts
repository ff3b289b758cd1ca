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
import { lastJournalled, markDone, pendingEntries, readEntry, setAside, writeEntry } from "./journal.js";
import { formatLine } from "./ledger.js";
import { type OutputFile, writeOutputs } from "./output-files.js";
import { type Change, completeChange, mergeChanges } from "./hand-edits/merge-hand-edits.js";
import { restoreStaleSaves } from "./hand-edits/stale-saves.js";
import { openLedger, openStateFile } from "./state-file.js";

/**
 * What is written when accepted results are folded into the state, in this order, each step the same however often it
 * is done:
 * 1. the journal entry of each (record changes, log entry, ledger line, whole files), on the disk before anything takes
 *    effect
 * 2. the state file with all of them, merged with what a person edited meanwhile, by an atomic rename
 * 3. the entries of the log and the ledger lines, each appended once, and the copy of the last good state; then whole
 *    output files
 * 4. the mark of each entry that it is done; then one git commit, which names them all.
 * A kill between two steps is made good at the next start by replaying the journal. Between `hold` and `write` only the
 * first step is done at once: of a large state, reading and writing it is nearly all that a fold costs.
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
  /** The part of it that the next of several folds builds on; absent: all of it. */
  readonly deriveBetween?: (state: State, ledger: readonly LedgerLine[]) => State;
  readonly notify: (level: "info" | "warning", message: string) => void;
}

/** The part of a record store that reads and writes its files, once the lock is held. */
export interface Writer<State> {
  load(): Promise<{ readonly state: State; readonly ledger: readonly LedgerLine[] }>;
  nextIteration(): number;
  edit(change: (state: State) => State): Promise<State>;
  fold(fold: Fold): Promise<void>;
  /** From now on folds are journalled and edits remembered, and `load` answers with the state that they make. */
  hold(): void;
  /** Writes what was held back. */
  write(): Promise<void>;
}

/** What is folded in, or an edit between two of those. */
type Step<State> = JournalEntry | ((state: State) => State);

/** What the state file should become, and the version of it that this was made from. */
interface Plan<State> {
  readonly state: State;
  /** The ledger with the lines of what is folded in. */
  readonly lines: readonly LedgerLine[];
  /** Whether the state holds what follows from its records and these lines. */
  readonly isDerived: boolean;
  readonly before: State;
  readonly stamp: Stamp;
  readonly notices: readonly string[];
}

/** What is to be written. */
interface Held<State> {
  readonly plan: Plan<State>;
  readonly steps: readonly Step<State>[];
  /** Whether it is to be committed now, not with what comes next. */
  readonly commits: boolean;
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
  const warned = new Set<string>();
  let base: State | undefined;
  let highest = lastJournalled(folder);
  let given = 0;
  let isHolding = false;
  let held: Held<State> | undefined;

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

  const derived = (plan: Plan<State>): Plan<State> => ({
    ...plan,
    state: { ...(isHolding ? deriveBetween : derive)(plan.state, plan.lines), format: stateVersion },
    isDerived: !isHolding,
  });
  const whole = (plan: Plan<State>): State =>
    plan.isDerived ? plan.state : { ...derive(plan.state, plan.lines), format: stateVersion };

  /** The disk's state with stale saves put right, before `steps` are taken. */
  const planBefore = async (steps: readonly Step<State>[]): Promise<Plan<State>> => {
    const lines = await ledger();
    const { state: before, stamp } = await file.read();
    // A record under reset is undone on purpose; a record under acceptance is not a stale save yet.
    const resets = entriesIn(steps)
      .map(lineOf)
      .filter(({ outcome }) => outcome === "reset");
    const { state, restored, lost } = await restoreStaleSaves(format, before, [...lines, ...resets], entryOf);
    // Where a reset takes back a reset, nobody saved an old version.
    const from = (id: string) =>
      `${format.file} was saved from a version before ${id} was done; its result was restored.`;
    const notices = restored.map((id) => (resets.length > 0 ? `The result of ${id} was restored.` : from(id)));
    for (const id of lost.filter((each) => !warned.has(each))) {
      warned.add(id);
      notices.push(
        `The ledger says that ${id} is done, ${format.file} does not, and the journal that could restore it is gone; it will be done again.`,
      );
    }
    return { state, lines, isDerived: restored.length === 0 && !isOlder(before, lines), before, stamp, notices };
  };

  const planAfter = (plan: Plan<State>, step: Step<State>): Plan<State> => {
    if (typeof step === "function") return derived({ ...plan, state: step(whole(plan)) });
    const line = lineOf(step);
    const { state, notices } = mergeChanges(format, plan.state, step.changes, line.outcome === "accepted");
    return derived({ ...plan, state, lines: [...plan.lines, line], notices: [...plan.notices, ...notices] });
  };

  /** The plan after a step that the state holds already: what it left there is what follows from it, no edit. */
  const planWritten = (plan: Plan<State>, next: Plan<State>): Plan<State> =>
    isDeepStrictEqual(next.state, plan.state) ? { ...next, notices: plan.notices } : next;

  const planOf = async (steps: readonly Step<State>[]): Promise<Plan<State>> => {
    const plan = steps.reduce(planAfter, await planBefore(steps));
    return { ...plan, state: whole(plan) };
  };

  /** Whether a state can be written. Records of `known`, a valid state, need no second look. */
  const isValid = (state: State, known: State): boolean =>
    format.problemsOf(withoutKnown(format, state, known)).length === 0;

  const carryOut = async (first: Plan<State>, steps: readonly Step<State>[]): Promise<State> => {
    let plan = first;
    const entries = entriesIn(steps);
    const last = entries.length > 1 ? entries.at(-1) : undefined;
    // Only when a person saved the file in this very moment is there another round.
    while (plan.state !== plan.before) {
      if (last !== undefined) await writeEntry(folder, { ...last, parts_sha256: partsHash(format, plan.state) });
      if (await file.replace(plan.state, plan.stamp)) break;
      plan = await planOf(steps);
    }
    for (const notice of plan.notices) notify("warning", notice);
    return plan.state;
  };

  /**
   * Every step can be repeated. The ledger's lines tell that the state file is done, so they are written after it; the
   * logs go side by side because each waits for the disk on its own. `entries`: also those whose lines are there.
   */
  const apply = async (
    { plan, steps }: Pick<Held<State>, "plan" | "steps">,
    entries: readonly JournalEntry[],
  ): Promise<void> => {
    let newest = (await ledger()).reduce((most, { iteration }) => Math.max(most, iteration), 0);
    if (steps.length > 0) base = await carryOut(plan, steps);
    const appends = entries.flatMap((entry) => appendsOf(format, entry));
    const names = new Set(appends.map(({ name }) => name));
    await Promise.all([
      ...[...names].map((log) => appendOnce(join(folder, log), ...appends.filter(({ name }) => name === log))),
      file.keepCopy(),
    ]);
    for (const { iteration, files = [], at } of entries) {
      if (iteration >= newest)
        await writeOutputs(folder, files, Date.parse(at), (message) => notify("warning", message));
      newest = Math.max(newest, iteration);
    }
    for (const { iteration } of entries) markDone(folder, iteration);
  };

  const replay = async (): Promise<void> => {
    const entries: JournalEntry[] = [];
    const unusable = (iteration: number) =>
      notify("warning", `A journal entry can't be used; it is kept as ${setAside(folder, iteration)}.`);
    for (const iteration of pendingEntries(folder)) {
      const entry = await entryOf(iteration);
      if (entry === undefined) unusable(iteration);
      else entries.push(entry);
    }
    if (entries.length === 0) return;
    // In the order in which they were folded.
    entries.sort((a, b) => a.ledger.offset - b.ledger.offset);
    const there = new Set((await ledger()).map(({ iteration }) => iteration));
    let plan = await planBefore(entries);
    let known = plan.before;
    const merged = entries.findLastIndex(({ parts_sha256: hash }) => hash === partsHash(format, known));
    const [steps, done]: [JournalEntry[], JournalEntry[]] = [[], []];
    for (const [index, { changes, ...rest }] of entries.entries()) {
      // Lists in parts are bounded: what was merged into them may be gone again, and must not be added once more.
      const isLeft = (change: Change) => index > merged || !format.parts.includes(change.in);
      const entry = { ...rest, changes: changes.filter(isLeft) };
      const next = there.has(entry.iteration) ? plan : planWritten(plan, planAfter(plan, entry));
      if (next !== plan && !isValid(next.state, known)) {
        unusable(entry.iteration);
        continue;
      }
      if (next !== plan) steps.push(entry);
      done.push(entry);
      [plan, known] = [next, next.state];
    }
    await apply({ plan, steps }, done);
    for (const { iteration } of done)
      notify("info", `Iteration ${iteration} was interrupted while it was saved; it is complete now.`);
    if (done.length > 0) await checkpoints?.commit(messageOf(done), undefined, done.length);
  };

  const write = async (): Promise<void> => {
    isHolding = false;
    if (held === undefined) return;
    const { plan, steps, commits } = held;
    const entries = entriesIn(steps);
    // What can't be written now stands in the journal.
    held = undefined;
    const state = whole(plan);
    if (!isValid(state, plan.state)) throw new Error(`what follows from the records would make ${format.file} invalid`);
    await apply({ plan: { ...plan, state }, steps }, entries);
    if (entries.length > 0) await checkpoints?.commit(messageOf(entries), commits ? undefined : true, entries.length);
  };

  const take = async (plan: Plan<State>, step: Step<State>, commits: boolean): Promise<State> => {
    held = { plan, steps: [...(held?.steps ?? []), step], commits: commits || held?.commits === true };
    if (isHolding) return plan.state;
    await write();
    return base as State;
  };

  return {
    hold: () => void (isHolding = true),
    write,
    nextIteration: () => (given = Math.max(highest, given) + 1),
    async load() {
      if (held !== undefined) return { state: held.plan.state, ledger: held.plan.lines };
      await replay();
      const plan = await planOf([]);
      base = await carryOut(plan, []);
      await file.keepCopy();
      return { state: base, ledger: plan.lines };
    },
    async edit(change) {
      const from = held?.plan ?? (await planBefore([]));
      const plan = planAfter(from, change);
      if (!isValid(plan.state, held === undefined ? from.before : from.state))
        throw new Error(`the edit would make ${format.file} invalid`);
      return await take(plan, change, false);
    },
    async fold(fold) {
      let entry: JournalEntry | undefined;
      let plan: Plan<State> | undefined;
      let known = held?.plan.state;
      let obstacle: ExpectedError | undefined;
      const entryNow = () => entryFor(folder, format, fold, held?.plan.state ?? base, entriesIn(held?.steps ?? []));
      try {
        if (held === undefined) await replay();
        const lines = held?.plan.lines ?? (await ledger());
        if (lines.some(({ iteration }) => iteration === fold.iteration)) return;
        entry = entryNow();
        const from = held?.plan ?? (await planBefore([entry]));
        known ??= from.before;
        plan = planAfter(from, entry);
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        obstacle = error;
      }
      if (plan !== undefined && !isValid(plan.state, known as State))
        throw new Error(`the fold of iteration ${fold.iteration} would make ${format.file} invalid`);
      entry ??= entryNow();
      await writeEntry(folder, entry);
      highest = Math.max(highest, fold.iteration);
      // What stands in the way now, such as a state file broken by hand, must not cost the iteration: the journal keeps
      // it.
      if (plan === undefined) {
        // Asked again, the state says a way back that counts this iteration in.
        await file.read();
        throw obstacle;
      }
      await take(plan, entry, fold.later !== true);
    },
  };
}

const entriesIn = <State>(steps: readonly Step<State>[]): JournalEntry[] =>
  steps.filter((step) => typeof step !== "function");

const lineOf = (entry: JournalEntry): LedgerLine => JSON.parse(entry.ledger.text);

/** What an entry adds to logs, by their names. */
const appendsOf = (
  { log, ledger }: Pick<StateFormat<Fields>, "log" | "ledger">,
  entry: JournalEntry,
): { readonly name: string; readonly offset: number; readonly text: string }[] => [
  ...(entry.progress === null ? [] : [{ name: log, ...entry.progress }]),
  { name: ledger, ...entry.ledger },
  ...(entry.appends ?? []),
];

/** The message of a commit: the first line of several says which iterations, the others what came of each. */
function messageOf(entries: readonly JournalEntry[]): string {
  const [first, ...more] = entries;
  if (first === undefined || more.length === 0) return first?.message ?? "";
  const each = entries.map(({ iteration, message }) => `#${iteration} ${message}\n`).join("");
  return `${entries.length} iterations\n\n${each}`;
}

/** Stands for the objects of a state that only this program writes. */
const partsHash = <State extends Fields>({ parts }: Pick<StateFormat<State>, "parts">, state: State): string =>
  createHash("sha256")
    .update(JSON.stringify(parts.map((name) => state[name] ?? null)))
    .digest("hex");

/** A state without the records that are the very ones of another. */
function withoutKnown<State extends Fields>(
  { collections }: Pick<StateFormat<State>, "collections">,
  state: State,
  known: State,
): State {
  const rest: Fields = { ...state };
  for (const { name } of collections) {
    const [list, others] = [state[name], known[name]];
    if (Array.isArray(list) && Array.isArray(others))
      rest[name] = list.filter((record, index) => record !== others[index]);
  }
  return rest as State;
}

/** `waiting`: entries that are not written yet, after which this one is. */
function entryFor<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  fold: Fold,
  base: State | undefined,
  waiting: readonly JournalEntry[],
): JournalEntry {
  if (base === undefined) throw new Error("a fold before the first load");
  const { iteration, at, message, changes, progress, appends, files } = fold;
  const added = waiting.flatMap((entry) => appendsOf(format, entry));
  const place = (name: string, text: string) => {
    const before = added.filter((each) => each.name === name);
    const offset = before.reduce((sum, each) => sum + Buffer.byteLength(each.text), sizeOf(join(folder, name)));
    return { offset, text };
  };
  return {
    iteration,
    at,
    message,
    changes: changes.map((change) => completeChange(format, change, base)),
    progress: progress === undefined ? null : place(format.log, progress),
    ledger: place(format.ledger, formatLine({ ...fold.ledger, iteration })),
    ...(appends === undefined ? {} : { appends: appends.map(({ name, text }) => ({ name, ...place(name, text) })) }),
    ...(files === undefined ? {} : { files: files.map(({ name, text }) => ({ name, text })) }),
  };
}
