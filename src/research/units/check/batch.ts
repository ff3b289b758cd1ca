import { clippedPassage } from "../../../text/evidence/quoted.js";
import type { Unit } from "../../../engine/loop/types.js";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { evidenceOf } from "../narrative/handles.js";
import type { Material } from "../unit-kind.js";
import { answerCount, emptyRate } from "../../derived/checker-rates.js";
import { makeControls, shuffle } from "./make-controls.js";
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

/**
 * Adds controls at arbitrary places among the sentences of a batch. A `checker` with few earlier answers gets more
 * controls. Pure: the same records, sentences and checker give the same batch, so a run that continues after a kill
 * uses the same numbers.
 */
export function addControls(rrd: Rrd, sentences: readonly Sentence[], checker: string): BatchItem[] {
  if (sentences.length === 0) return [];
  const seed = JSON.stringify(sentences.map(({ id, text }) => [id, text]));
  const keyOf = ({ paper, passage }: SentencePassage) => `${paper}\n${passage}`;
  const citedKeys = new Set(sentences.flatMap(({ passages }) => passages.map(keyOf)));
  const allPassages = verifiedPassages(rrd).map((each) => ({ ...each, isCited: citedKeys.has(keyOf(each.asShown)) }));
  const controls = makeControls(
    allPassages.filter(({ isCited }) => isCited),
    allPassages.filter(({ isCited }) => !isCited),
    answerCount(rrd.meaning?.checkers?.[checker] ?? emptyRate),
    seed,
  );
  const items = controls.map(({ text, passage, isSupported }, index) => ({
    id: `control ${index + 1}`,
    text,
    passages: [passage.asShown],
    expects: isSupported ? ("supported" as const) : ("not-supported" as const),
  }));
  return shuffle<BatchItem>([...sentences, ...items], seed);
}

/** All verified passages of the project, each also in the form that a checker sees. */
const verifiedPassages = ({ papers_pool }: Rrd) =>
  papers_pool.flatMap(({ id, analysis, retracted }) =>
    (retracted === true ? [] : (analysis?.evidence ?? [])).flatMap(({ passage, quoted, status }) =>
      passage === undefined || status !== "verified"
        ? []
        : [
            {
              paper: id,
              passage,
              quoted,
              asShown: { paper: id, passage: clippedPassage({ passage, quoted }, passageTokens) },
            },
          ],
    ),
  );
