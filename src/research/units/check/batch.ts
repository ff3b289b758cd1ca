import { clippedPassage } from "../../../text/evidence/quoted.js";
import type { Unit } from "../../../engine/loop/types.js";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { evidenceAt } from "../narrative/handles.js";
import type { Material } from "../unit-kind.js";
import { withControls } from "./controls.js";
import { papersOf, unanswered, waitingClaims } from "../narrative/open-check.js";
import { type BatchItem, passageTokens, type Sentence, type SentencePassage } from "./sentence.js";
import type { ReportFile } from "../../generated/report.js";

/** Sentences of one batch, controls besides; and tokens of all of it. */
const maxSentences = 60;
const maxTokens = 10_000;
/** What the controls take of them. */
const controlTokens = 1_500;

/** What a checker and the writer that mends work on. */
export interface CheckMaterial extends Material {
  /** The narrative that is checked. */
  readonly narrative?: ReportFile;
  /** What the checker was shown, in the order of its numbers. */
  readonly batch?: readonly BatchItem[];
}

/**
 * The next sentences that this unit judges, with controls among them. `checker`: the first agent that judges it.
 * `smaller`: how often the unit filled a context too far.
 */
export function nextBatch(rrd: Rrd, { kind }: Pick<Unit, "kind">, checker: string, smaller: number): BatchItem[] {
  const waiting = kind === "claims" ? waitingClaims(rrd) : unanswered(rrd);
  const scale = 1 / 2 ** smaller;
  let room = (maxTokens - controlTokens) * scale;
  const taken: Sentence[] = [];
  const papers = papersOf(rrd);
  for (const { id, text, rests_on } of waiting) {
    const sentence = { id, text, passages: passagesOf(papers, rests_on) };
    room -= estimateTokens(JSON.stringify(shownItem(sentence, 1), null, 1)) + 4;
    if (taken.length >= maxSentences * scale || (room < 0 && taken.length > 0)) break;
    taken.push(sentence);
  }
  return withControls(rrd, taken, checker);
}

/** A sentence as a checker sees it; nothing tells a control from the others. */
export const shownItem = ({ text, passages }: BatchItem, number: number) => ({ number, sentence: text, passages });

/** What the quotes of these handles stand in; of a handle that leads nowhere nothing. */
const passagesOf = (papers: ReadonlyMap<string, Paper>, handles: readonly string[]): SentencePassage[] =>
  handles.flatMap((handle) => {
    const found = evidenceAt(handle, papers);
    return "reason" in found ? [] : [{ paper: found.paper.id, passage: clippedPassage(found.evidence, passageTokens) }];
  });
