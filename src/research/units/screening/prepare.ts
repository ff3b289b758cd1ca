import { ExpectedError } from "../../../engine/lib/errors.js";
import { withoutSourcePrefix } from "../../../engine/lib/sanitise.js";
import type { Delay, Unit } from "../../../engine/loop/types.js";
import { countContextOverflows } from "../../derived/status.js";
import type { DocumentRecord } from "../../full-text/own-record.js";
import { cachedChecks, type UpdateCheck } from "../../paper-lookups/kept-retraction-checks.js";
import type { Sources } from "../../screening/paper-sources.js";
import { isRetraction } from "../retractions.js";
import {
  servicesNotice,
  type Disk,
  type StoredMaterial,
  type Material,
  type PreparationContext,
  type ResearchState,
} from "../unit-kind.js";
import { noSourceMessage, type Batch, nextBatch } from "./screening-batch.js";
import { readSearchSoFar } from "./search-session.js";
import { candidatesFor } from "./readers.js";

/** The batch of records that the agent judges. */
export interface ScreeningMaterial extends Material {
  readonly batch: Batch;
}

/** Maximum milliseconds for the retraction check of a batch. Unchecked papers are checked before the report. */
const maxCheckMs = 20_000;

/**
 * Searches for a batch and adds the updates of its candidates since their publication. Returns a delay if only busy
 * services remain.
 * @throws ExpectedError if no source can be searched now, or the disk is full.
 */
export async function prepareBatch(
  { library, now }: Pick<PreparationContext, "library" | "now">,
  state: ResearchState,
  unit: Unit,
): Promise<ScreeningMaterial | Delay> {
  const found = await nextBatch(state.rrd, library, countContextOverflows(state.ledger, unit.id));
  const sharedBatch = batchOfEarlierReader(state, unit, found);
  if (sharedBatch !== undefined) return { batch: sharedBatch };
  const delay = needsNoAgent({ batch: found }) && found.moved === undefined ? delayFor(state, found, now()) : undefined;
  if (delay !== undefined) return delay;
  const batch = addOwnRecords(found, await library.ownRecords(found.candidates));
  return { batch: addUpdates(batch, await library.updates(notRetracted(batch), maxCheckMs)) };
}

/**
 * The delay if the next batch must wait for busy services; undefined if the batch has something to record.
 * @throws ExpectedError if nothing else can be done and the run has waited as long as it may.
 */
function delayFor({ status }: ResearchState, { busy }: Batch, now: number): Delay | undefined {
  if (busy?.waits === undefined || busy.answered.length > 0) return undefined;
  const { until, atMost } = busy.waits;
  if (now >= atMost && status.readablePapers.length === 0) throw new ExpectedError(noSourceMessage(busy.rests), 5);
  const reason = busy.rests.map(({ name, reason: why }) => `${name}: ${withoutSourcePrefix(name, why)}`).join(" ");
  return { until: now < atMost ? Math.min(until, atMost) : until, reason };
}

/** The batch of the records that were found so far. */
export async function loadStoredBatch(
  { folder, now, signal: _, ...sources }: Disk,
  state: ResearchState,
  unit: Unit,
): Promise<StoredMaterial<ScreeningMaterial>> {
  const { rrd, ledger } = state;
  let sourcesToAsk: readonly string[] = [];
  const search: Sources["search"] = async (__, names) => {
    const found = await readSearchSoFar(rrd, names, folder, now);
    sourcesToAsk = found.sourcesToAsk;
    return found.session;
  };
  const batch = await nextBatch(rrd, { ...sources, search }, countContextOverflows(ledger, unit.id));
  const { checks, isWhole } = await cachedChecks(folder, notRetracted(batch), now());
  const first =
    sourcesToAsk.length === 0
      ? []
      : [`A run would search ${sourcesToAsk.join(", ")} first; these candidates are those found so far.`];
  return {
    material: { batch: batchOfEarlierReader(state, unit, batch) ?? addUpdates(batch, checks) },
    missingSteps: [...first, ...servicesNotice(isWhole)],
  };
}

/** Whether a batch needs no agent: it has no candidates and no source for the agent to search. */
export const needsNoAgent = ({ batch }: ScreeningMaterial): boolean =>
  batch.candidates.length === 0 && (batch.toAgent ?? []).length === 0;

/** The batch of an earlier reader of this unit. A third reader gets only the records on which the two disagree. */
function batchOfEarlierReader(state: ResearchState, unit: Unit, batch: Batch): Batch | undefined {
  const candidates = candidatesFor(state, unit);
  return candidates === undefined ? undefined : { ...batch, candidates, judgeOnly: true };
}

/** Adds the authors, year and journal of the work to documents of this machine. */
function addOwnRecords(batch: Batch, recordsById: ReadonlyMap<string, DocumentRecord>): Batch {
  const candidates = batch.candidates.map((candidate) => {
    const { record, merged } = recordsById.get(candidate.id) ?? {};
    if (record === undefined) return candidate;
    const { found = { sources: [candidate.source], why: "" } } = candidate;
    return {
      ...candidate,
      ...record,
      ...(merged === undefined ? {} : { found: { ...found, merged: [...(found.merged ?? []), merged] } }),
    };
  });
  return { ...batch, candidates };
}

/** Candidates that are not known to be retracted. */
const notRetracted = ({ candidates }: Batch) => candidates.filter(({ retracted }) => retracted !== true);

/** Adds the updates of the candidates, so that the agent knows which are retracted. */
function addUpdates(batch: Batch, checks: ReadonlyMap<string, UpdateCheck>): Batch {
  const candidates = batch.candidates.map((candidate) => {
    const { updates = [] } = checks.get(candidate.id) ?? {};
    if (candidate.retracted === true || updates.length === 0) return candidate;
    return { ...candidate, updates, ...(updates.some(isRetraction) ? { retracted: true } : {}) };
  });
  return { ...batch, candidates };
}
