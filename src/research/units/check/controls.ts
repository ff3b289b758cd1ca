import { clippedPassage } from "../../../text/evidence/quoted.js";
import type { Rrd } from "../../generated/rrd.js";
import { answerCount, emptyRate } from "../../derived/checker-rates.js";
import { makeControls, shuffle } from "./make-controls.js";
import { type BatchItem, passageTokens, type Sentence, type SentencePassage } from "./sentence.js";

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
