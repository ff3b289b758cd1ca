import { findInstructions } from "../../text/documents/text/find-injections.js";
import { buildText } from "../../text/documents/text/document-text.js";
import type { Clock } from "../../engine/lib/clock.js";
import { given } from "../../engine/lib/given.js";
import { type Delay, isVerdict, type Prepared, type Verdict } from "../../engine/loop/types.js";
import { judgeSettled } from "./accept.js";
import { readKeptPaper } from "../full-text/find-text.js";
import { textsFolder } from "../project-files/layout.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { openUpdate } from "../derived/open-update.js";
import { needsWriting } from "../units/report/close-update.js";
import { readNarrative } from "../units/report/kept-narrative.js";
import { readAbout } from "../paper-lookups/code-and-citations.js";
import { keptChecks, type UpdateCheck } from "../paper-lookups/kept-retraction-checks.js";
import type { PaperLookups, TextAnswer } from "../paper-lookups/paper-lookups.js";
import type { Material } from "./brief/write-brief.js";
import { nextUnit } from "./next-unit.js";
import { candidatesFor } from "../units/shared-unit.js";
import { workBasis } from "./work-basis.js";
import { paperOf, type ResearchState, type ResearchUnit, statusOf, timesTooFull } from "../derived/status.js";
import { type Batch, nextBatch } from "../units/screening/screening-batch.js";
import { searchSoFar, type Sources } from "../units/screening/search-session.js";
import { isRetraction, papersToCheck, type RetractionCheck, withChecks } from "../units/retractions.js";
import { isRetracted } from "../units/reading/judge-paper.js";

/** What the world outside offers to a project. */
export type Library = Sources & PaperLookups;

/** What code brought for a unit before its brief. */
export interface PreparedUnit {
  readonly material: Material;
  /** Stands for the part of the state that it was made from. */
  readonly basis: string;
}

interface Outside extends Clock {
  /** The project's. */
  readonly folder: string;
  readonly library: Library;
  /** Whether a busy host is waited for. */
  readonly isPatient: boolean;
}

/** Milliseconds between the tries to get a text whose host is busy. */
const pauses = [2_000, 10_000, 30_000];
/** For so many milliseconds other papers go first. */
const putOffMs = 10 * 60_000;
/**
 * Milliseconds that a screening batch may wait for its retraction check; what is left unchecked is checked before the
 * report.
 */
const maxBatchCheckMs = 20_000;
/** Milliseconds that a paper may wait for its retraction check. */
const maxPaperCheckMs = 15_000;

/**
 * Brings what a unit needs from outside: a screening batch is searched for, a paper is checked for retraction and gets
 * its text, code links and citations, the report the retraction checks of what it rests on. A batch that holds nothing
 * for an agent is settled, and so is a retracted paper, whose text is not even fetched; a paper whose host is only busy
 * is put off.
 * @throws ExpectedError where no source can be searched for now, or the disk is full.
 */
export async function prepareUnit(
  outside: Outside,
  state: ResearchState,
  unit: ResearchUnit,
  signal: AbortSignal,
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
function isSettled({ rrd }: ResearchState, unit: ResearchUnit, { batch, check, sameReport: same }: Material): boolean {
  if (same !== undefined) return true;
  const paper = unit.kind === "paper" ? paperOf(rrd, unit.id) : undefined;
  return paper === undefined ? batch !== undefined && isForNobody(batch) : isRetracted(paper, check);
}

/** Whether what a unit was prepared from has changed since, as by a person's edit. */
export const isStale = (state: ResearchState, unit: ResearchUnit, { basis }: PreparedUnit): boolean =>
  basisOf(state, unit) !== basis;

/** Whether a batch holds nothing for an agent: no candidate to judge and no source to search. */
const isForNobody = (batch: Batch): boolean => batch.candidates.length === 0 && (batch.toAgent ?? []).length === 0;

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
    const same = sameBatch(state, unit, batch);
    return { batch: same ?? flagged(batch, await library.updates(unflagged(batch), maxBatchCheckMs)) };
  }
  if (unit.kind === "report") {
    const papers = papersToCheck(rrd);
    const retraction = papers.length === 0 ? undefined : { checks: await library.updates(papers) };
    return { ...given({ retraction }), ...(await sameReport(outside.folder, rrd, retraction)) };
  }
  return paper === undefined ? {} : await paperMaterial(outside, paper, signal);
}

/** The narrative of the report where an update left all that it rests on as it was. */
async function sameReport(
  folder: string,
  rrd: Rrd,
  retraction: RetractionCheck | undefined,
): Promise<Pick<Material, "sameReport">> {
  if (openUpdate(rrd) === undefined) return {};
  const narrative = await readNarrative(folder);
  const checked = withChecks(rrd, retraction).rrd;
  return narrative === undefined || needsWriting(checked, narrative) ? {} : { sameReport: narrative };
}

async function paperMaterial(outside: Outside, paper: Paper, signal: AbortSignal): Promise<Material | Delay> {
  // One that is known to be retracted asks nobody.
  const check = paper.retracted === true ? undefined : await checkOf(outside.library, paper);
  const checked = check === undefined ? {} : { check };
  if (isRetracted(paper, check)) return checked;
  const answer = await textOf(outside, paper, signal);
  // Decided from its abstract now, the paper would never be read in full.
  if (isTransient(answer)) return { until: outside.now() + putOffMs, reason: answer.unavailable };
  return { ...materialOf(answer), ...checked, about: await outside.library.about(paper) };
}

/** What happened to a paper since it was published; undefined where nobody can tell. */
const checkOf = async (library: Library, paper: Paper): Promise<UpdateCheck | undefined> =>
  (await library.updates([paper], maxPaperCheckMs)).get(paper.id);

/** The batch that another reader has judged before; a third one is given what the two disagree on. */
function sameBatch(state: ResearchState, unit: ResearchUnit, batch: Batch): Batch | undefined {
  const candidates = candidatesFor(state, unit);
  return candidates === undefined ? undefined : { ...batch, candidates, judgeOnly: true };
}

/** What a paper's text, or its absence, gives to a brief. */
const materialOf = (answer: TextAnswer): Material =>
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

/** What the preparation of a unit depends on, as a hash. */
function basisOf(state: ResearchState, unit: ResearchUnit): string {
  const { rrd, ledger } = state;
  const basis = workBasis(rrd, unit);
  if (unit.kind !== "discovery") return basis;
  const readers = candidatesFor(state, unit)?.map(({ id }) => id) ?? [];
  return JSON.stringify([basis, ...readers, rrd.statistics?.discovery_metrics, timesTooFull(ledger, unit.id)]);
}

const notYet = "(The full text of the paper goes here. It is fetched when the paper's turn comes.)";

/** Where what is kept lies, and what can be listed without the network. */
interface Disk extends Omit<Sources, "search"> {
  readonly folder: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** What the next brief can be made from without asking anybody. */
interface KeptUnit {
  /** Once what needs no agent is done. */
  readonly state: ResearchState;
  readonly unit: ResearchUnit;
  readonly material: Material;
  /** How many units code would settle before. */
  readonly settled: number;
  /** What a run would do before it wrote this brief, a sentence each. */
  readonly first: readonly string[];
}

/**
 * The next unit that an agent would be briefed for, with what earlier preparations have left on the disk. Asks nobody
 * and writes nothing.
 */
export async function nextKept(disk: Disk, before: ResearchState): Promise<KeptUnit | Verdict> {
  const first: string[] = [];
  let state = before;
  for (let settled = 0; ; settled += 1) {
    const unit = nextUnit(state, [], [], disk.folder);
    if (unit === "wait") throw new Error("the workflow waits although nothing is under way");
    if (isVerdict(unit)) return unit;
    const kept = await keptMaterial(disk, state, unit);
    first.push(...kept.first);
    if (kept.first.length > 0 || !isSettled(state, unit, kept.material))
      return { state, unit, material: kept.material, settled, first };
    first.push(`A run would settle ${unit.title} first, without an agent.`);
    state = afterSettling(state, unit, kept.material, disk.now());
  }
}

/** The state once code has settled the unit. */
function afterSettling(state: ResearchState, unit: ResearchUnit, material: Material, now: number): ResearchState {
  const { changes } = judgeSettled(state.rrd, unit, material, { iteration: 0, agent: "", at: new Date(now) });
  let { rrd } = state;
  for (const { in: where, id, set, add = {} } of changes) {
    const added = Object.entries(add).map(([name, values]) => [name, [...((rrd[name] as unknown[]) ?? []), ...values]]);
    rrd =
      where === "rrd"
        ? { ...rrd, ...set, ...Object.fromEntries(added) }
        : { ...rrd, papers_pool: rrd.papers_pool.map((paper) => (paper.id === id ? { ...paper, ...set } : paper)) };
  }
  return { ...state, rrd, status: statusOf(rrd, state.ledger) };
}

/** What earlier preparations have left for a unit, and what is missing. */
async function keptMaterial(
  { folder, now, signal, ...sources }: Disk,
  state: ResearchState,
  unit: ResearchUnit,
): Promise<Pick<KeptUnit, "material" | "first">> {
  const { rrd, ledger } = state;
  if (unit.kind === "discovery") {
    let asked: readonly string[] = [];
    const search: Sources["search"] = async (_, names) => {
      const found = await searchSoFar(rrd, names, folder, now);
      asked = found.asks;
      return found.session;
    };
    const batch = await nextBatch(rrd, { ...sources, search }, timesTooFull(ledger, unit.id));
    const { checks, isWhole } = await keptChecks(folder, unflagged(batch), now());
    const first =
      asked.length === 0
        ? []
        : [`A run would search ${asked.join(", ")} first; these candidates are those found so far.`];
    return {
      material: { batch: sameBatch(state, unit, batch) ?? flagged(batch, checks) },
      first: [...first, ...asking(isWhole)],
    };
  }
  if (unit.kind === "report") {
    const papers = papersToCheck(rrd);
    const { checks, isWhole } = await keptChecks(folder, papers, now());
    const retraction = papers.length === 0 ? undefined : { checks };
    const material = { ...given({ retraction }), ...(await sameReport(folder, rrd, retraction)) };
    return { material, first: asking(isWhole) };
  }
  const paper = unit.kind === "paper" ? paperOf(rrd, unit.id) : undefined;
  if (paper === undefined) return { material: {}, first: [] };
  const { checks, isWhole } = await keptChecks(folder, [paper], now());
  const check = checks.get(paper.id);
  if (isRetracted(paper, check)) return { material: given({ check }), first: [] };
  const kept = await readKeptPaper(paper, { cacheDir: textsFolder(folder), signal });
  const text = kept?.status === "ok" ? kept.text : buildText([{ text: notYet }], { kind: "markdown", depth: "full" });
  const read: Material = {
    ...materialOf(kept === undefined || kept.status === "ok" ? { text } : { unavailable: kept.reason }),
    ...given({ check }),
  };
  const about = await readAbout(folder, paper, now());
  return {
    material: about === undefined ? read : { ...read, about },
    first: [
      ...(kept === undefined ? ["A run would fetch the paper's full text first; here a line replaces it."] : []),
      ...asking(isWhole && about !== undefined),
    ],
  };
}

const asking = (isWhole: boolean): string[] =>
  isWhole ? [] : ["A run would ask services about the papers first; their answers are missing here."];
