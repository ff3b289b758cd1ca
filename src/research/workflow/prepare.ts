import { createHash } from "node:crypto";
import { findInstructions } from "../../engine/documents/text/find-injections.js";
import type { Clock } from "../../engine/lib/clock.js";
import type { Delay, Prepared, Work } from "../../engine/loop/types.js";
import type { Paper } from "../generated/rrd.js";
import type { UpdateCheck } from "../paper-services/kept-retraction-checks.js";
import { repairFor } from "./analysis/repair.js";
import type { Material } from "./brief/material.js";
import { isRetracted } from "./analysis/retracted-paper.js";
import { type Batch, nextBatch } from "./discovery/screening-batch.js";
import { checkRetractions, isRetraction, papersToCheck } from "./report/warn-of-retractions.js";
import { type Library, paperOf, type ResearchState, type ResearchUnit, type TextAnswer } from "./derived/state.js";
import { timesTooFull } from "./decisions/status.js";
import type { Workspaces } from "./workspace.js";

/** What code brought for a unit before its brief. */
export interface PreparedUnit {
  readonly material: Material;
  /** Stands for the part of the state that it was made from. */
  readonly basis: string;
}

interface Outside extends Clock {
  readonly library: Library;
  readonly workspaces: Pick<Workspaces, "kept">;
  /** Whether a busy host is waited for. */
  readonly isPatient: boolean;
}

/** Milliseconds between the tries to get a text whose host is busy. */
const pauses = [2_000, 10_000, 30_000];
/** For so many milliseconds other papers go first. */
const putOffMs = 10 * 60_000;
/** Milliseconds that a screening batch may wait for its retraction check; what is left unchecked is checked before the report. */
const maxBatchCheckMs = 20_000;
/** Milliseconds that a paper may wait for its retraction check. */
const maxPaperCheckMs = 15_000;

/**
 * Brings what a unit needs from outside: a screening batch is searched for, a paper is checked for retraction and gets its text, code links
 * and citations, the report the retraction checks of what it rests on. A batch that holds nothing for an agent is settled, and so is a
 * retracted paper, whose text is not even fetched; a paper whose host is only busy is put off.
 * @throws ExpectedError where no source can be searched for now, or the disk is full.
 */
export async function prepareUnit(
  outside: Outside,
  state: ResearchState,
  unit: ResearchUnit,
  { signal }: Work,
): Promise<Prepared<PreparedUnit>> {
  const basis = basisOf(state, unit);
  const gathered = await gather(outside, state, unit, signal);
  if ("until" in gathered) return { later: gathered };
  // What was asked while the run was ending may be cut short.
  if (signal.aborted) return { later: { until: outside.now(), reason: "The run is ending." } };
  const prepared = { material: gathered, basis };
  return isSettled(state, unit, gathered) ? { settled: prepared } : { ready: prepared };
}

/** Whether code alone can do the unit: a batch that holds nothing for an agent, a paper that is retracted. */
function isSettled({ rrd }: ResearchState, unit: ResearchUnit, { batch, check }: Material): boolean {
  const paper = unit.kind === "paper" ? paperOf(rrd, unit.id) : undefined;
  return paper === undefined ? batch !== undefined && isForNobody(batch) : isRetracted(paper, check);
}

/** Whether what a unit was prepared from has changed since, as by a person's edit. */
export const isStale = (state: ResearchState, unit: ResearchUnit, { basis }: PreparedUnit): boolean =>
  basisOf(state, unit) !== basis;

/** Whether a batch holds nothing for an agent: no candidate to judge and no source to search. */
export const isForNobody = (batch: Batch): boolean =>
  batch.candidates.length === 0 && (batch.toAgent ?? []).length === 0;

async function gather(
  outside: Outside,
  state: ResearchState,
  unit: ResearchUnit,
  signal: AbortSignal,
): Promise<Material | Delay> {
  const { library } = outside;
  const { rrd, ledger } = state;
  const paper = unit.kind === "paper" ? paperOf(rrd, unit.id) : undefined;
  if (unit.kind === "discovery") {
    const batch = await nextBatch(rrd, library, timesTooFull(ledger, unit.id));
    return { batch: await flagged(batch, library.updates) };
  }
  if (unit.kind === "report") {
    const retraction = await checkRetractions(rrd, library);
    return retraction === undefined ? {} : { retraction };
  }
  return paper === undefined ? {} : await paperMaterial(outside, state, unit, paper, signal);
}

async function paperMaterial(
  outside: Outside,
  state: ResearchState,
  unit: ResearchUnit,
  paper: Paper,
  signal: AbortSignal,
): Promise<Material | Delay> {
  // One that is known to be retracted asks nobody.
  const check = paper.retracted === true ? undefined : await checkOf(outside.library, paper);
  const checked = check === undefined ? {} : { check };
  if (isRetracted(paper, check)) return checked;
  const answer = await textOf(outside, paper, signal);
  // Decided from its abstract now, the paper would never be read in full.
  if (isTransient(answer)) return { until: outside.now() + putOffMs, reason: answer.unavailable };
  const read = { ...materialOf(answer), ...checked };
  const repair = await repairFor(outside.workspaces, state, unit, read.text);
  return repair === undefined ? { ...read, about: await outside.library.about(paper) } : read;
}

/** What happened to a paper since it was published; undefined where nobody can tell. */
const checkOf = async (library: Library, paper: Paper): Promise<UpdateCheck | undefined> =>
  (await library.updates([paper], maxPaperCheckMs)).get(paper.id);

/** What a paper's text, or its absence, gives to a brief. */
export const materialOf = (answer: TextAnswer): Material =>
  "unavailable" in answer
    ? { unavailable: answer.unavailable }
    : { text: answer.text, instructions: findInstructions(answer.text.text) };

/** The paper's text or why it has none. A host that is busy is asked again a few times. */
async function textOf(
  { library, isPatient, now, sleep }: Outside,
  paper: Paper,
  signal: AbortSignal,
): Promise<TextAnswer> {
  let answer = await library.text(paper);
  for (const pause of isPatient ? pauses : []) {
    if (!isTransient(answer) || signal.aborted) break;
    await sleep(now() + pause, signal);
    answer = await library.text(paper);
  }
  return answer;
}

const isTransient = (answer: TextAnswer): answer is Extract<TextAnswer, { unavailable: string }> =>
  "unavailable" in answer && answer.transient === true;

/** The batch with what happened to its candidates since they were published, so that an agent knows which are retracted. */
export async function flagged(batch: Batch, updates: NonNullable<Library["updates"]>): Promise<Batch> {
  const unknown = batch.candidates.filter(({ retracted }) => retracted !== true);
  if (unknown.length === 0) return batch;
  const checks = await updates(
    unknown.map(({ identifiers, ...candidate }) => ({
      ...candidate,
      ...(identifiers === undefined ? {} : { identifiers: { ...identifiers } }),
    })),
    maxBatchCheckMs,
  );
  const candidates = batch.candidates.map((candidate) => {
    const { updates: found = [] } = checks.get(candidate.id) ?? {};
    return found.length === 0
      ? candidate
      : { ...candidate, updates: found, ...(found.some(isRetraction) ? { retracted: true } : {}) };
  });
  return { ...batch, candidates };
}

/** What the preparation of a unit depends on, as a hash. */
function basisOf({ rrd, ledger }: ResearchState, unit: ResearchUnit): string {
  const hash = (...parts: unknown[]) => createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  switch (unit.kind) {
    case "discovery": {
      const { description, requirements, papers_pool, excluded, apart, blocked_sources, statistics } = rrd;
      const ids = papers_pool.map(({ id, priority, identifiers }) => [id, priority, identifiers]);
      const metrics = statistics?.discovery_metrics;
      const smaller = timesTooFull(ledger, unit.id);
      return hash(description, requirements, ids, excluded, apart, blocked_sources, metrics, smaller);
    }
    case "paper": {
      const { title, url, pdf_url, identifiers, abstract, refusals, retracted } = paperOf(rrd, unit.id) ?? {};
      return hash(title, url, pdf_url, identifiers, abstract, refusals?.length, retracted);
    }
    case "report":
      return hash(papersToCheck(rrd).map(({ id, url, pdf_url, identifiers }) => [id, url, pdf_url, identifiers]));
    case "ideas":
      return hash();
  }
}
