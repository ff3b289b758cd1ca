import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import {
  openRecordStore,
  readRecords,
  type RecordStore,
  type StoreOptions,
} from "../../engine/storage/state/record-store.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { readTextSync } from "../../engine/storage/regular-file.js";
import { requireKnownFormats } from "../../engine/storage/state/format-version.js";
import type { Rrd } from "../generated/rrd.js";
import { withDocumentsFound } from "../papers/known-documents.js";
import { withKeys } from "../papers/paper-keys.js";
import { ideasName, reportDataName, reportName } from "./layout.js";
import { maxRrdBytes, researchFormat } from "./rrd-file.js";

export type { Change } from "../../engine/storage/state/hand-edits/merge-hand-edits.js";
export type { Fold } from "../../engine/storage/state/fold.js";

/** The state of a project and its ledger. */
interface LoadedResearch {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
}

/**
 * An opened project, which only this process writes. The file is read again before each fold. If the user has saved it
 * meanwhile, those fields win (`engine/storage/state/hand-edits/merge-hand-edits.ts`).
 */
export interface Research extends Omit<RecordStore<Rrd>, "load"> {
  /**
   * The state on the disk. If an editor has saved an outdated version, accepted results are first restored.
   * @throws ExpectedError if rrd.json is invalid; such a file is never overwritten.
   */
  load(): Promise<LoadedResearch>;
}

export type ResearchOptions = StoreOptions<Rrd>;

/**
 * Opens a project for writing, like openRecordStore.
 * @throws ExpectedError if another process has locked it, the folder can't be written, or rrd.json is invalid.
 */
export async function openResearch(folder: string, options: ResearchOptions): Promise<Research> {
  const store = await openRecordStore(folder, researchFormat, options);
  let lastIteration = 0;
  return {
    ...store,
    async load() {
      const records = await store.load();
      const loaded = toResearch(records, folder);
      const { phase } = loaded.rrd;
      if (phase !== records.state.phase) await store.edit((rrd) => ({ ...rrd, phase }));
      // The ledger may be missing, so the state's iteration counts too.
      lastIteration = loaded.rrd.loop?.iteration ?? 0;
      return loaded;
    },
    nextIteration() {
      let next = store.nextIteration();
      while (next <= lastIteration) next = store.nextIteration();
      return next;
    },
  };
}

/**
 * Reads a project without its lock and without changing anything. Every record gets a key, even if the file has none.
 * @throws ExpectedError if rrd.json is missing or invalid.
 */
export const readResearch = async (folder: string): Promise<LoadedResearch> =>
  withAllKeys(toResearch(await readRecords(folder, researchFormat), folder));

/**
 * One sentence if a later version wrote a file of the project, so that this version may not read all of it; otherwise
 * undefined.
 */
export const laterFormatIn = (folder: string): Promise<string | undefined> =>
  requireKnownFormats(folder, researchFormat).then(
    () => undefined,
    (error: unknown) => (error instanceof ExpectedError ? error.message : Promise.reject(error)),
  );

const withAllKeys = ({ rrd, ledger }: LoadedResearch): LoadedResearch => ({ rrd: withKeys(rrd), ledger });

function toResearch({ state, ledger }: Awaited<ReturnType<RecordStore<Rrd>["load"]>>, folder: string): LoadedResearch {
  const rrd = withDocumentsFound(state, resolve(folder));
  // Without a ledger, the phase alone says whether the report is written, and its file may not have been copied too.
  const phase = ledger.length === 0 ? phaseOfDocuments(rrd, folder) : rrd.phase;
  return { rrd: phase === rrd.phase ? rrd : { ...rrd, phase }, ledger };
}

/** The phase that rrd.json states, or an earlier one if the report or the ideas are missing that it implies. */
export function phaseOfDocuments({ phase, handoff }: Pick<Rrd, "phase" | "handoff">, folder: string): Rrd["phase"] {
  if (phase !== "IDEATION" && phase !== "COMPLETE") return phase;
  if (!hasReport(folder)) return "ANALYSIS";
  const { enabled, output_filename: originalName = ideasName } = handoff?.product_ideation ?? {};
  // The agent of the original tool wrote its ideas under the name that rrd.json says.
  const hasIdeas = [ideasName, originalName].some((name) => existsSync(join(folder, name)));
  return phase === "COMPLETE" && enabled === true && !hasIdeas ? "IDEATION" : phase;
}

/** Whether the folder has a report with sentences of an agent: not one that was rendered from rrd.json alone. */
function hasReport(folder: string): boolean {
  if (existsSync(join(folder, reportDataName))) return true;
  const report = existsSync(join(folder, reportName)) ? readTextSync(join(folder, reportName), maxRrdBytes) : undefined;
  return report !== undefined && !/^\*Made by research-ralph on \S+ from rrd\.json:/m.test(report);
}
