import type { Delay } from "../../../engine/loop/types.js";
import { buildText } from "../../../text/documents/text/document-text.js";
import { findInstructions } from "../../../text/documents/text/find-injections.js";
import { readWithoutNetwork, readingAttempt } from "../../full-text/find-text.js";
import { localFile, replacementNames } from "../../full-text/local-file.js";
import type { Paper } from "../../generated/rrd.js";
import type { TextAnswer } from "../../paper-lookups/paper-lookups.js";
import { textsFolder } from "../../project-files/layout.js";
import type { Disk, Material, PreparationContext } from "../unit-kind.js";

/** The text of a paper, or why it has no text. */
export interface TextMaterial extends Material {
  /** Why there is no text. */
  readonly unavailable?: string;
  /** Without a text: what was tried, as the record keeps it. */
  readonly tried?: string;
  /** Without a text that should lie on this machine: names under which a readable document beside it is read. */
  readonly standIns?: readonly string[];
  /** Sentences of the text that give orders to its readers' models. */
  readonly instructions?: readonly string[];
}

/** Milliseconds between the tries to get a text whose host is busy. */
const pauses = [2_000, 10_000, 30_000];
/** For so many milliseconds other papers go first. */
const putOffMs = 10 * 60_000;

/** Gets a paper's text: what is kept of it, or from outside. A delay where its host is busy. */
export async function prepareText(
  outside: PreparationContext,
  paper: Paper,
  signal: AbortSignal,
): Promise<TextMaterial | Delay> {
  const answer = await textOf(outside, paper, signal);
  // Decided from its abstract now, the paper would never be read in full.
  if (isTransient(answer) && !(outside.abstracts === true && (paper.abstract ?? "") !== ""))
    return { until: outside.now() + putOffMs, reason: answer.unavailable };
  return await materialOf(answer, paper);
}

/** What a paper's text, or its absence, gives to a brief. */
async function materialOf(answer: TextAnswer, paper: Paper): Promise<TextMaterial> {
  if ("text" in answer && hasMoreThanTitle(answer.text.text, paper))
    return { text: answer.text, instructions: findInstructions(answer.text.text) };
  const unavailable = "text" in answer ? "What was found holds hardly more than a title." : answer.unavailable;
  const file = localFile(paper);
  const tried = await readingAttempt(paper);
  return { unavailable, tried, ...(file === undefined ? {} : { standIns: replacementNames(file) }) };
}

/** A text has at least so many letters and digits besides its paper's title. */
const minLetters = 60;

const lettersOf = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;

const hasMoreThanTitle = (text: string, { title }: Paper): boolean =>
  text.length > 10_000 || lettersOf(text) - lettersOf(title) >= minLetters;

/** The paper's text or why it has none. A host that is busy is asked again a few times. */
async function textOf(
  { library, isPatient, abstracts, now, sleep }: PreparationContext,
  paper: Paper,
  signal: AbortSignal,
): Promise<TextAnswer> {
  let answer = await library.text(paper);
  for (const pause of isPatient && abstracts !== true ? pauses : []) {
    if (!isTransient(answer) || signal.aborted) break;
    await sleep(now() + pause, signal);
    answer = await library.text(paper);
  }
  return answer;
}

const isTransient = (answer: TextAnswer): answer is Extract<TextAnswer, { unavailable: string }> =>
  "unavailable" in answer && answer.transient === true;

const notYet = "(The full text of the paper goes here. It is fetched when the paper's turn comes.)";

/** What earlier preparations have left of a paper's text; a line in its place where a run would fetch it. */
export async function keptText(
  { folder, signal }: Disk,
  paper: Paper,
): Promise<{ readonly material: TextMaterial; readonly missingSteps: readonly string[] }> {
  const kept = await readWithoutNetwork(paper, { cacheDir: textsFolder(folder), signal });
  if (kept === undefined)
    return {
      material: { text: buildText([{ text: notYet }], { kind: "markdown", depth: "full" }) },
      missingSteps: ["A run would fetch the paper's full text first; here a line replaces it."],
    };
  return {
    material: await materialOf(kept.status === "ok" ? kept : { unavailable: kept.reason }, paper),
    missingSteps: [],
  };
}
