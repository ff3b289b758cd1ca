import type { Paper } from "../../../src/research/generated/rrd.js";
import type { CheckAnswer } from "../../../src/research/units/check/sentence.js";
import { paper } from "./research.js";

const things = ["Grip strength", "Walking speed", "Sleep quality", "Finger reach", "Heart rate", "Reading pace"];
const trials = ["a soft glove", "a long walk", "warm milk", "daily stretching", "slow breathing", "larger print"];

/** Two passages of each of six papers, which have little to do with each other. */
export const unlikePassages = things.flatMap((thing, index) => [
  {
    paper: `other_${index}`,
    passage: `${thing} was ${index + 12} percent higher in adults who were given ${trials[index]} for two weeks.`,
  },
  {
    paper: `other_${index}`,
    passage: `After ${trials[index]} ${thing.toLowerCase()} reached ${index + 40} percent at home and ${index + 60} percent at work.`,
  },
]);

/** Six papers that are read, whose passages give a checker's controls. */
export const readPapers = (): Paper[] =>
  things.map((_, index) =>
    paper(`other_${index}`, {
      status: "presented",
      analysis: {
        summary: "It was measured.",
        evidence: unlikePassages
          .filter((each) => each.paper === `other_${index}`)
          .map(({ passage }) => ({
            claim: passage,
            passage,
            quoted: `0-${passage.length}`,
            status: "verified" as const,
          })),
      },
    }),
  );

/** A sentence as the brief of a check shows it. */
export interface ShownSentence {
  readonly number: number;
  readonly sentence: string;
  readonly passages: readonly { readonly paper?: string; readonly handle?: string; readonly passage: string }[];
}

/** The right answer to a control: it stands in its passage, or it does not. */
export const answerByWords = ({ sentence, passages }: ShownSentence): Pick<CheckAnswer, "verdict"> => ({
  verdict: passages.some(({ passage }) => passage.replace(/[“”]/g, "").includes(sentence))
    ? "supported"
    : "not-supported",
});
