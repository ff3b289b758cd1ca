import { given } from "../../../engine/lib/given.js";
import type { Delay, Unit } from "../../../engine/loop/types.js";
import { buildText } from "../../../text/documents/text/document-text.js";
import { findInstructions } from "../../../text/documents/text/find-injections.js";
import { paperOf } from "../../derived/status.js";
import { readKeptPaper, triedFor } from "../../full-text/find-text.js";
import { localFile, standInsFor } from "../../full-text/local-file.js";
import type { Paper } from "../../generated/rrd.js";
import { type AboutPaper, readAbout } from "../../paper-lookups/code-and-citations.js";
import { keptChecks, type UpdateCheck } from "../../paper-lookups/kept-retraction-checks.js";
import type { TextAnswer } from "../../paper-lookups/paper-lookups.js";
import { textsFolder } from "../../project-files/layout.js";
import {
  asking,
  type Disk,
  type KeptMaterial,
  type Library,
  type Outside,
  type Project,
  type ResearchState,
} from "../unit-kind.js";
import { isRetracted, type PaperMaterial } from "./settled-paper.js";

/** What is known of a paper besides its record. */
export interface ReadingMaterial extends PaperMaterial {
  /** Code and citations of the paper. */
  readonly about?: AboutPaper;
}

/** Milliseconds between the tries to get a text whose host is busy. */
const pauses = [2_000, 10_000, 30_000];
/** For so many milliseconds other papers go first. */
const putOffMs = 10 * 60_000;
/** Milliseconds that a paper may wait for its retraction check. */
const maxCheckMs = 15_000;

/** Checks a paper for retraction, and gets its text, code links and citations. A retracted one is not even fetched. */
export async function preparePaper(
  outside: Outside,
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
  const answer = await textOf(outside, paper, signal);
  // Decided from its abstract now, the paper would never be read in full.
  if (isTransient(answer)) return { until: outside.now() + putOffMs, reason: answer.unavailable };
  return { ...(await materialOf(answer, paper)), ...checked, about: await outside.library.about(paper) };
}

/** What happened to a paper since it was published; undefined where nobody can tell. */
const checkOf = async (library: Library, paper: Paper): Promise<UpdateCheck | undefined> =>
  (await library.updates([paper], maxCheckMs)).get(paper.id);

/** What a paper's text, or its absence, gives to a brief. */
async function materialOf(answer: TextAnswer, paper: Paper): Promise<ReadingMaterial> {
  if ("text" in answer && hasMoreThanTitle(answer.text.text, paper))
    return { text: answer.text, instructions: findInstructions(answer.text.text) };
  const unavailable = "text" in answer ? "What was found holds hardly more than a title." : answer.unavailable;
  const file = localFile(paper);
  const tried = await triedFor(paper);
  return { unavailable, tried, ...(file === undefined ? {} : { standIns: standInsFor(file) }) };
}

/** A text has at least so many letters and digits besides its paper's title. */
const minLetters = 60;

const lettersOf = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;

const hasMoreThanTitle = (text: string, { title }: Paper): boolean =>
  text.length > 10_000 || lettersOf(text) - lettersOf(title) >= minLetters;

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

const notYet = "(The full text of the paper goes here. It is fetched when the paper's turn comes.)";

/** What earlier preparations have left of a paper. */
export async function keptPaper(
  { folder, now, signal }: Disk,
  { rrd }: Pick<ResearchState, "rrd">,
  { id }: Unit,
): Promise<KeptMaterial<ReadingMaterial>> {
  const paper = paperOf(rrd, id);
  if (paper === undefined) return { material: {}, first: [] };
  const { checks, isWhole } = await keptChecks(folder, [paper], now());
  const check = checks.get(paper.id);
  if (isRetracted(paper, check)) return { material: given({ check }), first: [] };
  const kept = await readKeptPaper(paper, { cacheDir: textsFolder(folder), signal });
  const read: ReadingMaterial = {
    ...(kept === undefined
      ? { text: buildText([{ text: notYet }], { kind: "markdown", depth: "full" }) }
      : await materialOf(kept.status === "ok" ? kept : { unavailable: kept.reason }, paper)),
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
