import { clippedPassage } from "../../../text/evidence/quoted.js";
import type { Unit } from "../../../engine/loop/types.js";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { evidenceOf } from "../narrative/handles.js";
import type { Material } from "../unit-kind.js";
import { addControls } from "./controls.js";
import { papersById, findUnanswered, waitingClaims } from "../narrative/open-check.js";
import { type BatchItem, passageTokens, type Sentence, type SentencePassage } from "./sentence.js";
import type { ReportFile } from "../../generated/report.js";

/** Maximum number of sentences in a batch, without the controls. */
const maxSentences = 60;
/** Maximum size of a batch with its controls, in tokens. */
const maxTokens = 10_000;
/** The part of `maxTokens` that is reserved for controls. */
const controlTokens = 1_500;

/** The material of a check, and of the correction of sentences that failed it. */
export interface CheckMaterial extends Material {
  /** The report whose sentences are checked. */
  readonly narrative?: ReportFile;
  /** The batch that the checker was shown, in the order of its numbers. */
  readonly batch?: readonly BatchItem[];
}

/**
 * The next sentences that this unit checks, with controls among them. `checker`: the first agent that checks the batch.
 * `contextOverflows`: how often the unit exceeded a model's context; each time, the batch is half as large.
 */
export function nextCheckBatch(
  rrd: Rrd,
  { kind }: Pick<Unit, "kind">,
  checker: string,
  contextOverflows: number,
): BatchItem[] {
  const unchecked = kind === "claims" ? waitingClaims(rrd) : findUnanswered(rrd);
  const scale = 1 / 2 ** contextOverflows;
  let freeTokens = (maxTokens - controlTokens) * scale;
  const chosen: Sentence[] = [];
  const papers = papersById(rrd);
  for (const { id, text, rests_on } of unchecked) {
    const sentence = { id, text, passages: passagesOf(papers, rests_on) };
    freeTokens -= estimateTokens(JSON.stringify(itemForChecker(sentence, 1), null, 1)) + 4;
    if (chosen.length >= maxSentences * scale || (freeTokens < 0 && chosen.length > 0)) break;
    chosen.push(sentence);
  }
  return addControls(rrd, chosen, checker);
}

/** A sentence as the checker sees it. A control looks like any other sentence. */
export const itemForChecker = ({ text, passages }: BatchItem, number: number) => ({ number, sentence: text, passages });

/** The passages around the quotes of these handles. A handle without a quote gives none. */
const passagesOf = (papers: ReadonlyMap<string, Paper>, handles: readonly string[]): SentencePassage[] =>
  evidenceOf(handles, papers).map(({ paper, evidence }) => ({
    paper: paper.id,
    passage: clippedPassage(evidence, passageTokens),
  }));
