import type { AboutPaper } from "../../paper-services/about-paper.js";
import { findInstructions } from "../../../engine/documents/text/find-injections.js";
import type { PaperText } from "../../../engine/documents/text/paper-text.js";
import { checkRetractions, isRetraction, type RetractionCheck } from "../report/retraction.js";
import { type Batch, nextBatch } from "../discovery/screening-batch.js";
import { type Library, paperOf, type ResearchState, type ResearchUnit, type TextAnswer } from "../records/state.js";

/** What a brief was made from, kept until its result is judged. */
export interface Material {
  readonly text?: PaperText;
  /** Why there is no text. */
  readonly unavailable?: string;
  readonly batch?: Batch;
  /** Sentences of the text that give orders to its readers' models. */
  readonly instructions?: readonly string[];
  /** Code and citations of the paper. */
  readonly about?: AboutPaper;
  /** Whether the papers that a report rests on still stand. */
  readonly retraction?: RetractionCheck;
}

/** Everything a unit's brief needs from outside. `answer`: the paper's text, where the unit is a paper; `smaller`: how often the unit filled the context too far. */
export async function gather(
  library: Library,
  { rrd }: ResearchState,
  unit: ResearchUnit,
  answer: TextAnswer | undefined,
  isRepair: boolean,
  smaller = 0,
): Promise<Material> {
  if (unit.kind === "discovery") return { batch: await flagged(await nextBatch(rrd, library, smaller), library) };
  if (unit.kind === "report") {
    const retraction = await checkRetractions(rrd, library);
    return retraction === undefined ? {} : { retraction };
  }
  if (answer === undefined) return {};
  const paper = paperOf(rrd, unit.id);
  const about = paper === undefined || isRepair ? undefined : await library.about?.(paper);
  const known = about === undefined ? {} : { about };
  if ("unavailable" in answer) return { unavailable: answer.unavailable, ...known };
  return { text: answer.text, instructions: findInstructions(answer.text.text), ...known };
}

/** Milliseconds that a batch may wait for the check; what is left unchecked is checked before the report. */
const longestCheck = 20_000;

/** The batch with what happened to its candidates since they were published, so that whoever screens it knows which are retracted. */
async function flagged(batch: Batch, library: Library): Promise<Batch> {
  const unknown = batch.candidates.filter(({ retracted }) => retracted !== true);
  if (library.updates === undefined || unknown.length === 0) return batch;
  const checks = await library.updates(
    unknown.map(({ identifiers, ...candidate }) => ({
      ...candidate,
      ...(identifiers === undefined ? {} : { identifiers: { ...identifiers } }),
    })),
    longestCheck,
  );
  const candidates = batch.candidates.map((candidate) => {
    const { updates = [] } = checks.get(candidate.id) ?? {};
    return updates.length === 0
      ? candidate
      : { ...candidate, updates, ...(updates.some(isRetraction) ? { retracted: true } : {}) };
  });
  return { ...batch, candidates };
}
