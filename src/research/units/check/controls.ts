import { clippedPassage } from "../../../text/evidence/quoted.js";
import type { Rrd } from "../../generated/rrd.js";
import { answerCount, emptyRate } from "../../derived/checker-rates.js";
import { controlsFor, shuffledBy } from "./make-controls.js";
import { type BatchItem, passageTokens, type Sentence, type SentencePassage } from "./sentence.js";

/**
 * The batch with controls anywhere among its sentences, of which a `checker` gets more that has answered few. Pure: the
 * same records, sentences and checker give the same batch, so that a run after a kill judges the same numbers.
 */
export function withControls(rrd: Rrd, sentences: readonly Sentence[], checker: string): BatchItem[] {
  if (sentences.length === 0) return [];
  const seed = JSON.stringify(sentences.map(({ id, text }) => [id, text]));
  const keyOf = ({ paper, passage }: SentencePassage) => `${paper}\n${passage}`;
  const cited = new Set(sentences.flatMap(({ passages }) => passages.map(keyOf)));
  const known = keptPassages(rrd).map((each) => ({ ...each, isCited: cited.has(keyOf(each.asShown)) }));
  const controls = controlsFor(
    known.filter(({ isCited }) => isCited),
    known.filter(({ isCited }) => !isCited),
    answerCount(rrd.meaning?.checkers?.[checker] ?? emptyRate),
    seed,
  );
  const items = controls.map(({ text, passage, holds }, index) => ({
    id: `control ${index + 1}`,
    text,
    passages: [passage.asShown],
    expects: holds ? ("borne-out" as const) : ("not-borne-out" as const),
  }));
  return shuffledBy<BatchItem>([...sentences, ...items], seed);
}

/** Every passage of the project that code found in its paper, and how a checker is shown it. */
const keptPassages = ({ papers_pool }: Rrd) =>
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
