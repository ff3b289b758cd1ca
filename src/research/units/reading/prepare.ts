import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Delay, Unit } from "../../../engine/loop/types.js";
import { paperOf } from "../../derived/status.js";
import type { Paper } from "../../generated/rrd.js";
import { type AboutPaper, readAbout } from "../../paper-lookups/code-and-citations.js";
import { cachedChecks, type UpdateCheck } from "../../paper-lookups/kept-retraction-checks.js";
import { readStoredText, prepareText } from "../paper-text/prepare-text.js";
import {
  servicesNotice,
  type Disk,
  type StoredMaterial,
  type Library,
  type PreparationContext,
  type Project,
  type ResearchState,
} from "../unit-kind.js";
import { findMovedDocument, lookUpDocument } from "./own-document.js";
import { isKnownRetracted, type PaperMaterial } from "./settled-paper.js";

/** The material for reading a paper, in addition to its record. */
export interface ReadingMaterial extends PaperMaterial {
  /** Code and citations of the paper. */
  readonly about?: AboutPaper;
}

/** Maximum milliseconds for a paper's retraction check. */
const maxCheckMs = 15_000;

/**
 * Checks a paper for retraction, and gets its text, code links and citations. The text of a retracted paper is not
 * fetched.
 */
export async function preparePaper(
  outside: PreparationContext,
  { rrd }: Pick<Project, "rrd">,
  { id }: Unit,
  signal: AbortSignal,
): Promise<ReadingMaterial | Delay> {
  const paper = paperOf(rrd, id);
  if (paper === undefined) return {};
  // A paper that is known to be retracted needs no request.
  const check = paper.retracted === true ? undefined : await checkUpdates(outside.library, paper);
  const checked = check === undefined ? {} : { check };
  if (isKnownRetracted(paper, check)) return checked;
  const movedFields = await findMovedDocument(outside.library, rrd, paper);
  const located = { ...paper, ...movedFields };
  const prepared = await prepareText(outside, located, signal);
  if ("until" in prepared) return prepared;
  const documentFields = {
    ...movedFields,
    ...(prepared.text === undefined ? {} : await lookUpDocument(outside.library, located, prepared.text)),
  };
  return {
    ...prepared,
    ...checked,
    ...(Object.keys(documentFields).length === 0 ? {} : { documentFields }),
    about: await outside.library.about({ ...located, ...documentFields }),
  };
}

/** The paper's updates since its publication; undefined if no service knows them. */
const checkUpdates = async (library: Library, paper: Paper): Promise<UpdateCheck | undefined> =>
  (await library.updates([paper], maxCheckMs)).get(paper.id);

/** The material of a paper that earlier preparations have stored. */
export async function loadStoredPaper(
  disk: Disk,
  { rrd }: Pick<ResearchState, "rrd">,
  { id }: Unit,
): Promise<StoredMaterial<ReadingMaterial>> {
  const paper = paperOf(rrd, id);
  if (paper === undefined) return { material: {}, missingSteps: [] };
  const { folder, now } = disk;
  const { checks, isWhole } = await cachedChecks(folder, [paper], now());
  const check = checks.get(paper.id);
  if (isKnownRetracted(paper, check)) return { material: withoutUndefined({ check }), missingSteps: [] };
  const stored = await readStoredText(disk, paper);
  const material: ReadingMaterial = { ...stored.material, ...withoutUndefined({ check }) };
  const about = await readAbout(folder, paper, now());
  return {
    material: about === undefined ? material : { ...material, about },
    missingSteps: [...stored.missingSteps, ...servicesNotice(isWhole && about !== undefined)],
  };
}
