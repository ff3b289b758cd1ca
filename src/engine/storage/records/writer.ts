import { join } from "node:path";
import type { JournalEntry } from "../../generated/journal.js";
import type { LedgerLine } from "../../generated/ledger.js";
import type { Rrd } from "../../../research/generated/rrd.js";
import { ExpectedError } from "../../lib/errors.js";
import { completeChange, mergeChanges } from "./record-merge.js";
import { writeDocuments } from "../../../research/folder/logs/output-files.js";
import { appendOnce, type Stamp, sizeOf } from "../atomic-file.js";
import type { Checkpoints } from "../checkpoints.js";
import { lastIteration, markDone, pendingEntries, readEntry, setAside, writeEntry } from "./journal.js";
import { formatLine } from "./ledger.js";
import type { Fold, Research, ResearchOptions } from "../../../research/folder/research-types.js";
import { restoreStaleSaves } from "./stale-saves.js";
import { openLedger, openStateFile } from "../../../research/folder/state-file.js";
import { problemsOf } from "../schema-check.js";

import { ledgerFile } from "../../lib/layout.js";
import { progressName } from "../../../research/folder/layout.js";

/** The part of a research that reads and writes its files, once the lock is held. */
export type Writer = Pick<Research, "load" | "nextIteration" | "edit" | "fold">;

/** What rrd.json should become, and the version of it that this was made from. */
interface Plan {
  readonly rrd: Rrd;
  readonly before: Rrd;
  readonly stamp: Stamp;
  readonly notices: readonly string[];
}

export async function openWriter(
  folder: string,
  { derive, notify }: ResearchOptions,
  checkpoints: Checkpoints | undefined,
): Promise<Writer> {
  const state = openStateFile(folder, (message) => notify("info", message));
  const readLines = openLedger(folder, (message) => notify("warning", message));
  const warned = new Set<string>();
  let base: Rrd | undefined;
  let highest = await lastIteration(folder);
  let given = 0;

  const ledger = async (): Promise<readonly LedgerLine[]> => {
    const lines = await readLines();
    highest = lines.reduce((most, { iteration }) => Math.max(most, iteration), highest);
    return lines;
  };

  /** The disk's state with stale saves put right and the entry's changes merged in. */
  const plan = async (lines: readonly LedgerLine[], entry?: JournalEntry): Promise<Plan> => {
    const { rrd, stamp } = await state.read();
    const line = entry === undefined ? undefined : lineOf(entry);
    const withLine = line === undefined ? lines : [...lines, line];
    // A paper under reset is unread on purpose; a paper under acceptance is not a stale save yet.
    const {
      rrd: whole,
      restored,
      lost,
    } = await restoreStaleSaves(rrd, line?.outcome === "reset" ? withLine : lines, (n) => readEntry(folder, n));
    const notices = restored.map((id) => `rrd.json was saved from before ${id} was done; its result is back.`);
    for (const id of lost.filter((each) => !warned.has(each))) {
      warned.add(id);
      notices.push(
        `The ledger says that ${id} is done, rrd.json does not, and the journal that could restore it is gone; it will be done again.`,
      );
    }
    const merged = mergeChanges(whole, entry?.changes ?? [], line?.outcome === "accepted");
    const isAsDerived = entry === undefined && restored.length === 0 && !isOlder(rrd, lines);
    const next = isAsDerived ? rrd : derive(merged.rrd, withLine);
    return { rrd: next, before: rrd, stamp, notices: [...notices, ...merged.notices] };
  };

  const carryOut = async (first: Plan, again: () => Promise<Plan>): Promise<Rrd> => {
    let { rrd, before, stamp, notices } = first;
    // Only when a person saved the file in this very moment is there another round.
    while (rrd !== before && !(await state.replace(rrd, stamp))) ({ rrd, before, stamp, notices } = await again());
    for (const notice of notices) notify("warning", notice);
    return rrd;
  };

  /**
   * Every step can be repeated. The ledger's line tells that rrd.json is done, so it is written after it; the logs go side by side
   * because each waits for the disk on its own.
   */
  const apply = async (entry: JournalEntry, planned?: Plan): Promise<void> => {
    const lines = await ledger();
    if (!lines.some(({ iteration }) => iteration === entry.iteration)) {
      base = await carryOut(planned ?? (await plan(lines, entry)), () => plan(lines, entry));
    }
    await Promise.all([
      entry.progress === null ? undefined : appendOnce(join(folder, progressName), entry.progress),
      appendOnce(ledgerFile(folder), entry.ledger),
      state.keepCopy(),
    ]);
    const isNewest = lines.every(({ iteration }) => iteration <= entry.iteration);
    if (isNewest)
      await writeDocuments(folder, entry.files ?? [], Date.parse(entry.at), (message) => notify("warning", message));
    await markDone(folder, entry.iteration);
  };

  const replay = async (): Promise<void> => {
    for (const iteration of await pendingEntries(folder)) {
      const entry = await readEntry(folder, iteration);
      const planned = entry === undefined ? undefined : await plan(await ledger(), entry);
      if (entry === undefined || !isValid(planned)) {
        notify("warning", `A journal entry can't be used; it is kept as ${await setAside(folder, iteration)}.`);
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
      await state.keepCopy();
      return { rrd: base, ledger: lines };
    },
    async edit(change) {
      const lines = await ledger();
      const edited = async (): Promise<Plan> => {
        const standing = await plan(lines);
        return { ...standing, rrd: derive(change(standing.rrd), lines) };
      };
      const planned = await edited();
      if (!isValid(planned)) throw new Error("the edit would make rrd.json invalid");
      base = await carryOut(planned, edited);
      await state.keepCopy();
      return base;
    },
    async fold(fold) {
      let entry: JournalEntry | undefined;
      let planned: Plan | undefined;
      let obstacle: ExpectedError | undefined;
      try {
        await replay();
        const lines = await ledger();
        if (lines.some(({ iteration }) => iteration === fold.iteration)) return;
        entry = await entryFor(folder, fold, base);
        planned = await plan(lines, entry);
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        obstacle = error;
      }
      if (planned !== undefined && !isValid(planned))
        throw new Error(`the fold of iteration ${fold.iteration} would make rrd.json invalid`);
      entry ??= await entryFor(folder, fold, base);
      await writeEntry(folder, entry);
      highest = Math.max(highest, fold.iteration);
      // What stands in the way now, such as an rrd.json broken by hand, must not cost the iteration: the journal keeps it.
      if (obstacle !== undefined) {
        // Asked again, the state says a way back that counts this iteration in.
        await state.read();
        throw obstacle;
      }
      await apply(entry, planned);
      await checkpoints?.commit(fold.message, fold.later);
    },
  };
}

/** Whether the file was saved from before the last iteration: its phase and statistics are then of the past, although no paper is. */
const isOlder = ({ loop }: Rrd, lines: readonly LedgerLine[]): boolean =>
  loop?.iteration !== undefined && lines.some(({ iteration }) => iteration > (loop?.iteration ?? 0));

const isValid = (planned: Plan | undefined): boolean =>
  planned !== undefined && problemsOf("rrd", planned.rrd).length === 0;

const lineOf = (entry: JournalEntry): LedgerLine => JSON.parse(entry.ledger.text);

async function entryFor(folder: string, fold: Fold, base: Rrd | undefined): Promise<JournalEntry> {
  if (base === undefined) throw new Error("a fold before the first load");
  const { iteration, at, message, changes, progress, files } = fold;
  return {
    iteration,
    at,
    message,
    changes: changes.map((change) => completeChange(change, base)),
    progress: progress === undefined ? null : { offset: await sizeOf(join(folder, progressName)), text: progress },
    ledger: { offset: await sizeOf(ledgerFile(folder)), text: formatLine({ ...fold.ledger, iteration }) },
    ...(files === undefined ? {} : { files: files.map(({ name, text }) => ({ name, text })) }),
  };
}
