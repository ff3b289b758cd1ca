import { basename } from "node:path";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Delay } from "../../../engine/loop/types.js";
import { buildText } from "../../../text/documents/text/document-text.js";
import { findInstructions } from "../../../text/documents/text/find-injections.js";
import { readWithoutNetwork, readingAttempt } from "../../full-text/find-text.js";
import { localFile, replacementNames } from "../../full-text/local-file.js";
import type { Paper } from "../../generated/rrd.js";
import type { TextAnswer } from "../../paper-lookups/paper-lookups.js";
import { textsFolder } from "../../project-files/layout.js";
import type { Disk, Material, PreparationContext } from "../unit-kind.js";

/** The text of a paper, or the reason why it is not available. */
export interface TextMaterial extends Material {
  /** The reason why there is no text. */
  readonly unavailable?: string;
  /** True if the text may be available some minutes or hours later. */
  readonly mayComeLater?: true;
  /** If there is no full text: the attempts to get it, as stored in the record. */
  readonly tried?: string;
  /**
   * If there is no text and it should be on this machine: the file names of readable documents that can replace it.
   * Empty if its document can be read, but is too short.
   */
  readonly replacementFiles?: readonly string[];
  /** Sentences of the text that give instructions to AI readers. */
  readonly instructions?: readonly string[];
}

/** Milliseconds between attempts to get a text from a busy host. */
const retryPausesMs = [2_000, 10_000, 30_000];
/** Milliseconds for which a paper is postponed, so that other papers come first. */
const postponeMs = 10 * 60_000;

/** Gets a paper's text from the stored copies or from outside. Returns a delay if the host is busy. */
export async function prepareText(
  outside: PreparationContext,
  paper: Paper,
  signal: AbortSignal,
): Promise<TextMaterial | Delay> {
  const answer = await fetchText(outside, paper, signal);
  if (!isTransient(answer)) return await toMaterial(answer, paper);
  // With `abstracts`, no paper waits for its text. An interrupted request says nothing about a text.
  if (outside.abstracts !== true || signal.aborted)
    return { until: outside.now() + postponeMs, reason: answer.unavailable };
  return { ...(await toMaterial(answer, paper)), mayComeLater: true };
}

/** The material from a text, or from the reason why the text is missing. */
async function toMaterial(answer: TextAnswer, paper: Paper): Promise<TextMaterial> {
  const tried = await readingAttempt(paper);
  if ("text" in answer && hasMoreThanTitle(answer.text.text, paper))
    return {
      text: answer.text,
      instructions: findInstructions(answer.text.text),
      ...(answer.text.depth === "abstract" ? { tried } : {}),
    };
  const file = localFile(paper);
  const unavailable =
    "text" in answer
      ? `The text ${file === undefined ? "that was found" : `of ${basename(file)}`} is hardly longer than a title.`
      : answer.unavailable;
  const replacementFiles = file === undefined ? undefined : "text" in answer ? [] : replacementNames(file);
  return { unavailable, tried, ...withoutUndefined({ replacementFiles }) };
}

/** A text has at least this many letters and digits more than its paper's title. */
const minExtraLetters = 60;

const letterCount = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;

const hasMoreThanTitle = (text: string, { title }: Paper): boolean =>
  text.length > 10_000 || letterCount(text) - letterCount(title) >= minExtraLetters;

/** The paper's text, or the reason why it is missing. A busy host is asked several times. */
async function fetchText(
  { library, isPatient, abstracts, now, sleep }: PreparationContext,
  paper: Paper,
  signal: AbortSignal,
): Promise<TextAnswer> {
  let answer = await library.text(paper);
  for (const pauseMs of isPatient && abstracts !== true ? retryPausesMs : []) {
    if (!isTransient(answer) || signal.aborted) break;
    await sleep(now() + pauseMs, signal);
    answer = await library.text(paper);
  }
  return answer;
}

const isTransient = (answer: TextAnswer): answer is Extract<TextAnswer, { unavailable: string }> =>
  "unavailable" in answer && answer.transient === true;

const placeholder = "(The full text of the paper goes here. It is fetched when the paper's turn comes.)";

/** The stored text of a paper. If nothing is stored, a placeholder, because a run would fetch the text. */
export async function readStoredText(
  { folder, signal }: Disk,
  paper: Paper,
): Promise<{ readonly material: TextMaterial; readonly missingSteps: readonly string[] }> {
  const stored = await readWithoutNetwork(paper, { cacheDir: textsFolder(folder), signal });
  if (stored === undefined)
    return {
      material: { text: buildText([{ text: placeholder }], { kind: "markdown", depth: "full" }) },
      missingSteps: ["A run would fetch the paper's full text first; here, one line stands for it."],
    };
  return {
    material: await toMaterial(stored.status === "ok" ? stored : { unavailable: stored.reason }, paper),
    missingSteps: [],
  };
}
