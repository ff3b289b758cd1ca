import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../generated/rrd.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { backUp } from "./backup.js";
import { readOnceSaved } from "../../engine/storage/wait-for-editor.js";
import { type Stamp, stampOf, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { lastIteration } from "../../engine/storage/records/journal.js";
import { readLedger } from "../../engine/storage/records/ledger.js";
import { formatRrd, parseRrd, readRrdText, summarise } from "./rrd-file.js";
import type { Problem } from "../../engine/storage/schema-check.js";
import { shellWord } from "../../engine/lib/sanitise.js";

import { ledgerFile } from "../../engine/lib/layout.js";
import { lastGoodFile, rrdName } from "./layout.js";

/** A copy of the last valid rrd.json, for when a hand edit breaks it. */

/** rrd.json of an open research, parsed once for each version of the file. */
interface StateFile {
  /** @throws ExpectedError when the file is invalid or gone. */
  read(): Promise<{ readonly rrd: Rrd; readonly stamp: Stamp }>;
  /** Writes a new version in place of the one with `stamp`; false when the file has changed since. */
  replace(rrd: Rrd, stamp: Stamp): Promise<boolean>;
  /** Brings the copy of the last good version up to date. */
  keepCopy(): Promise<void>;
}

interface Version {
  readonly rrd: Rrd;
  readonly stamp: Stamp;
  readonly text: string;
  readonly readAt: number;
  /** How many of its values were read in another shape than the one that is written. */
  readonly changes: number;
}

/**
 * A file changed twice within the time step of the file system (some 4 ms, 2 s on FAT) keeps its time of change,
 * so a version read that shortly after its writing is looked at again.
 */
const coarsestTimeStep = 2000;

export function openStateFile(folder: string, notify: (message: string) => void): StateFile {
  const path = join(folder, rrdName);
  let known: Version | undefined;
  let copied: string | undefined;

  const readNow = async (): Promise<Version> => {
    await requireState(folder);
    const stamp = (await stampOf(path)) ?? "";
    const changedAt = Number(stamp.split(":")[2]);
    if (known?.stamp === stamp && known.readAt - changedAt > coarsestTimeStep) return known;

    const { text, problem } = await readRrdText(path);
    if (known?.text === text) known = { ...known, stamp, readAt: Date.now() };
    else {
      const { ok, changes, problems } =
        problem === undefined ? parseRrd(text, path) : { changes: [], problems: [problem] };
      if (ok === undefined) throw await invalid(folder, problems);
      known = { rrd: ok, stamp, text, readAt: Date.now(), changes: changes.length };
    }
    return known as Version;
  };

  return {
    read: () => readOnceSaved(path, readNow),
    async replace(rrd, stamp) {
      const text = formatRrd(rrd);
      if (text === known?.text) return true;
      // What an object was read as may say less than the object did.
      const backup =
        known === undefined || known.changes === 0 ? undefined : await backUp(folder, Date.now(), [rrdName]);
      const written = await writeFileAtomic(path, text, { ifStill: stamp });
      if (written === undefined) return false;
      if (backup !== undefined)
        notify(
          `rrd.json is written in today's shape from now on; as it was it is in ${backup}, and 'research-ralph validate' on it says what differs.`,
        );
      known = { rrd, stamp: written, text, readAt: Date.now(), changes: 0 };
      return true;
    },
    async keepCopy() {
      if (known === undefined || known.text === copied) return;
      const { text } = known;
      // It helps against a slip of the hand, not against a power cut, so it is not worth a sync.
      await writeFileAtomic(lastGoodFile(folder), text, { durable: false });
      copied = text;
    },
  };
}

/**
 * Says what to do where there is no rrd.json.
 * @throws ExpectedError unless there is one.
 */
export async function requireState(folder: string): Promise<void> {
  const path = join(folder, rrdName);
  if ((await stampOf(path)) !== undefined) return;
  if ((await stampOf(folder)) === undefined)
    throw new ExpectedError(`The research folder ${folder} is gone; run again where it is now, or bring it back.`);
  const lastGood = lastGoodFile(folder);
  if ((await stampOf(lastGood)) !== undefined)
    throw new ExpectedError(`There is no ${path}; copy its last good version, ${lastGood}, there.`);
  throw new ExpectedError(
    `There is no ${path}; name a research folder, or make one with 'research-ralph new "<topic>"'.`,
  );
}

/** The highest number of an iteration; 0 before the first. One that only the journal holds yet must not be taken back with the rest. */
export async function lastRecorded(folder: string): Promise<number> {
  const { lines } = await readLedger(folder);
  return lines.reduce((highest, line) => Math.max(highest, line.iteration), await lastIteration(folder));
}

/** How a person whose rrd.json can't be used gets an earlier one back. */
export async function wayBack(folder: string): Promise<string> {
  const lastGood = lastGoodFile(folder);
  if ((await stampOf(lastGood)) === undefined) return "or put an earlier version in its place";
  return `or go back to the last good version (${lastGood}) with 'research-ralph reset ${shellWord(folder)} --to ${await lastRecorded(folder)}'; yours is kept beside it`;
}

/** What to tell a person whose rrd.json can't be used, and the way back. */
export async function invalid(folder: string, problems: readonly Problem[]): Promise<ExpectedError> {
  const back = `, ${await wayBack(folder)}.`;
  // A word that no version has had so far, and no slip of the hand either.
  const isNews = problems.some(({ message, hint }) => message.startsWith("must be one of") && hint === undefined);
  const update = isNews ? "Update research-ralph if a later version wrote it, mend it" : "Mend it";
  return new ExpectedError(`${summarise(join(folder, rrdName), problems)}. ${update}${back}`);
}

/** The ledger of an open research, read again only when the file has changed. */
export function openLedger(folder: string, notify: (message: string) => void): () => Promise<readonly LedgerLine[]> {
  const path = ledgerFile(folder);
  let known: { stamp: Stamp | undefined; lines: readonly LedgerLine[] } = { stamp: undefined, lines: [] };
  const told = new Set<string>();
  return async () => {
    const stamp = await stampOf(path);
    if (stamp === known.stamp) return known.lines;
    const { lines, notices } = await readLedger(folder);
    for (const notice of notices.filter((each) => !told.has(each))) {
      told.add(notice);
      notify(notice);
    }
    known = { stamp, lines };
    return lines;
  };
}
