import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Delay, Unit } from "../../../engine/loop/types.js";
import { paperOf } from "../../derived/status.js";
import type { Paper } from "../../generated/rrd.js";
import { type AboutPaper, readAbout } from "../../paper-lookups/code-and-citations.js";
import { cachedChecks, type UpdateCheck } from "../../paper-lookups/kept-retraction-checks.js";
import { storedText, prepareText } from "../paper-text/prepare-text.js";
import {
  servicesNotice,
  type Disk,
  type StoredMaterial,
  type Library,
  type PreparationContext,
  type Project,
  type ResearchState,
} from "../unit-kind.js";
import { movedDocument, ownFacts } from "./own-document.js";
import { isRetracted, type PaperMaterial } from "./settled-paper.js";

/** What is known of a paper besides its record. */
export interface ReadingMaterial extends PaperMaterial {
  /** Code and citations of the paper. */
  readonly about?: AboutPaper;
}

/** Milliseconds that a paper may wait for its retraction check. */
const maxCheckMs = 15_000;

/** Checks a paper for retraction, and gets its text, code links and citations. A retracted one is not even fetched. */
export async function preparePaper(
  outside: PreparationContext,
  { rrd }: Pick<Project, "rrd">,
  { id }: Unit,
  signal: AbortSignal,
): Promise<ReadingMaterial | Delay> {
  const paper = paperOf(rrd, id);
  if (paper === undefined) return {};
  // One that is known to be retracted asks nobody.
  const check = paper.retracted === true ? undefined : await checkOf(outside.library, paper);
  const checked = check === undefined ? {} : { check };
  if (isRetracted(paper, check)) return checked;
  const moved = await movedDocument(outside.library, rrd, paper);
  const found = { ...paper, ...moved };
  const prepared = await prepareText(outside, found, signal);
  if ("until" in prepared) return prepared;
  const own = {
    ...moved,
    ...(prepared.text === undefined ? {} : await ownFacts(outside.library, found, prepared.text)),
  };
  return {
    ...prepared,
    ...checked,
    ...(Object.keys(own).length === 0 ? {} : { own }),
    about: await outside.library.about({ ...found, ...own }),
  };
}

/** What happened to a paper since it was published; undefined where nobody can tell. */
const checkOf = async (library: Library, paper: Paper): Promise<UpdateCheck | undefined> =>
  (await library.updates([paper], maxCheckMs)).get(paper.id);

/** What earlier preparations have left of a paper. */
export async function keptPaper(
  disk: Disk,
  { rrd }: Pick<ResearchState, "rrd">,
  { id }: Unit,
): Promise<StoredMaterial<ReadingMaterial>> {
  const paper = paperOf(rrd, id);
  if (paper === undefined) return { material: {}, missingSteps: [] };
  const { folder, now } = disk;
  const { checks, isWhole } = await cachedChecks(folder, [paper], now());
  const check = checks.get(paper.id);
  if (isRetracted(paper, check)) return { material: withoutUndefined({ check }), missingSteps: [] };
  const kept = await storedText(disk, paper);
  const read: ReadingMaterial = { ...kept.material, ...withoutUndefined({ check }) };
  const about = await readAbout(folder, paper, now());
  return {
    material: about === undefined ? read : { ...read, about },
    missingSteps: [...kept.missingSteps, ...servicesNotice(isWhole && about !== undefined)],
  };
}
