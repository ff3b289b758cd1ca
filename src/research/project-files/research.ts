import { resolve } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import {
  openRecordStore,
  readRecords,
  type RecordStore,
  type StoreOptions,
} from "../../engine/storage/state/record-store.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { requireKnownFormats } from "../../engine/storage/state/format-version.js";
import type { Rrd } from "../generated/rrd.js";
import { withDocumentsFound } from "../papers/known-documents.js";
import { withKeys } from "../papers/paper-keys.js";
import { researchFormat } from "./rrd-file.js";

export type { Change } from "../../engine/storage/state/hand-edits/merge-hand-edits.js";
export type { Fold } from "../../engine/storage/state/fold.js";

/** The state of a project and its ledger. */
interface LoadedResearch {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
}

/**
 * A project's folder that this process alone writes. The file is read again before each fold; what a person saved
 * meanwhile is merged field by field, and wins (`engine/storage/state/hand-edits/merge-hand-edits.ts`).
 */
export interface Research extends Omit<RecordStore<Rrd>, "load"> {
  /**
   * The state as it stands on the disk; papers that an editor's stale save took back are restored first.
   * @throws ExpectedError for an invalid rrd.json; it is never overwritten.
   */
  load(): Promise<LoadedResearch>;
}

export type ResearchOptions = StoreOptions<Rrd>;

/**
 * Opens a project for writing, as openRecordStore does.
 * @throws ExpectedError when another process holds it, the folder can't be written, or rrd.json is invalid.
 */
export async function openResearch(folder: string, options: ResearchOptions): Promise<Research> {
  const store = await openRecordStore(folder, researchFormat, options);
  let last = 0;
  return {
    ...store,
    async load() {
      const loaded = asResearch(await store.load(), folder);
      // The ledger may be gone: in a clone without it, or deleted.
      last = loaded.rrd.loop?.iteration ?? 0;
      return loaded;
    },
    nextIteration() {
      let next = store.nextIteration();
      while (next <= last) next = store.nextIteration();
      return next;
    },
  };
}

/**
 * Reads a project without its lock and without changing anything. Every record has its key, also where none is written
 * yet.
 * @throws ExpectedError when rrd.json is missing or invalid.
 */
export const readResearch = async (folder: string): Promise<LoadedResearch> =>
  withKeyed(asResearch(await readRecords(folder, researchFormat), folder));

/**
 * One sentence for a project of which a later version wrote a file, so that what is read may be less than it holds;
 * undefined for any other.
 */
export const laterFormatIn = (folder: string): Promise<string | undefined> =>
  requireKnownFormats(folder, researchFormat).then(
    () => undefined,
    (error: unknown) => (error instanceof ExpectedError ? error.message : Promise.reject(error)),
  );

const withKeyed = ({ rrd, ledger }: LoadedResearch): LoadedResearch => ({ rrd: withKeys(rrd), ledger });

const asResearch = (
  { state, ledger }: Awaited<ReturnType<RecordStore<Rrd>["load"]>>,
  folder: string,
): LoadedResearch => ({ rrd: withDocumentsFound(state, resolve(folder)), ledger });
