import { ExpectedError } from "../../../engine/lib/errors.js";
import { withoutSourcePrefix } from "../../../engine/lib/sanitise.js";
import type { Delay, Unit } from "../../../engine/loop/types.js";
import { timesTooFull } from "../../derived/status.js";
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
import { awayText, type Batch, nextBatch } from "./screening-batch.js";
import { searchSoFar } from "./search-session.js";
import { candidatesFor } from "./readers.js";

/** What is judged: a batch of records. */
export interface ScreeningMaterial extends Material {
  readonly batch: Batch;
}

/**
 * Milliseconds that a batch may wait for its retraction check; what is left unchecked is checked before the report.
 */
const maxCheckMs = 20_000;

/**
 * Searches for a batch, and says of its candidates what happened to them since they were published. Put off where only
 * services are left that rest.
 * @throws ExpectedError where no source can be searched for now, or the disk is full.
 */
export async function prepareBatch(
  { library, now }: Pick<PreparationContext, "library" | "now">,
  state: ResearchState,
  unit: Unit,
): Promise<ScreeningMaterial | Delay> {
  const listed = await nextBatch(state.rrd, library, timesTooFull(state.ledger, unit.id));
  const same = sameBatch(state, unit, listed);
  if (same !== undefined) return { batch: same };
  const wait = isForNobody({ batch: listed }) && listed.moved === undefined ? waitFor(state, listed, now()) : undefined;
  if (wait !== undefined) return wait;
  const batch = withOwnRecords(listed, await library.ownRecords(listed.candidates));
  return { batch: flagged(batch, await library.updates(unflagged(batch), maxCheckMs)) };
}

/**
 * Until when the next batch waits for busy services; undefined where there is something to write of them.
 * @throws ExpectedError where nothing else is left to do, and they were waited for as long as a run does.
 */
function waitFor({ status }: ResearchState, { busy }: Batch, now: number): Delay | undefined {
  if (busy?.waits === undefined || busy.answered.length > 0) return undefined;
  const { until, atMost } = busy.waits;
  if (now >= atMost && status.readable.length === 0) throw new ExpectedError(awayText(busy.rests), 5);
  const reason = busy.rests.map(({ name, reason: why }) => `${name}: ${withoutSourcePrefix(name, why)}`).join(" ");
  return { until: now < atMost ? Math.min(until, atMost) : until, reason };
}

/** The batch of what was found so far. */
export async function keptBatch(
  { folder, now, signal: _, ...sources }: Disk,
  state: ResearchState,
  unit: Unit,
): Promise<StoredMaterial<ScreeningMaterial>> {
  const { rrd, ledger } = state;
  let asked: readonly string[] = [];
  const search: Sources["search"] = async (__, names) => {
    const found = await searchSoFar(rrd, names, folder, now);
    asked = found.asks;
    return found.session;
  };
  const batch = await nextBatch(rrd, { ...sources, search }, timesTooFull(ledger, unit.id));
  const { checks, isWhole } = await cachedChecks(folder, unflagged(batch), now());
  const first =
    asked.length === 0
      ? []
      : [`A run would search ${asked.join(", ")} first; these candidates are those found so far.`];
  return {
    material: { batch: sameBatch(state, unit, batch) ?? flagged(batch, checks) },
    missingSteps: [...first, ...servicesNotice(isWhole)],
  };
}

/** Whether a batch holds nothing for an agent: no candidate to judge and no source to search. */
export const isForNobody = ({ batch }: ScreeningMaterial): boolean =>
  batch.candidates.length === 0 && (batch.toAgent ?? []).length === 0;

/** The batch that another reader has judged before; a third one is given what the two disagree on. */
function sameBatch(state: ResearchState, unit: Unit, batch: Batch): Batch | undefined {
  const candidates = candidatesFor(state, unit);
  return candidates === undefined ? undefined : { ...batch, candidates, judgeOnly: true };
}

/** The batch in which documents of this machine have the authors, year and place of the works that they are. */
function withOwnRecords(batch: Batch, own: ReadonlyMap<string, DocumentRecord>): Batch {
  const candidates = batch.candidates.map((candidate) => {
    const { record, merged } = own.get(candidate.id) ?? {};
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

/** Candidates of which nobody has said yet that they are retracted. */
const unflagged = ({ candidates }: Batch) => candidates.filter(({ retracted }) => retracted !== true);

/**
 * The batch with what happened to its candidates since they were published, so that an agent knows which are retracted.
 */
function flagged(batch: Batch, checks: ReadonlyMap<string, UpdateCheck>): Batch {
  const candidates = batch.candidates.map((candidate) => {
    const { updates = [] } = checks.get(candidate.id) ?? {};
    if (candidate.retracted === true || updates.length === 0) return candidate;
    return { ...candidate, updates, ...(updates.some(isRetraction) ? { retracted: true } : {}) };
  });
  return { ...batch, candidates };
}
