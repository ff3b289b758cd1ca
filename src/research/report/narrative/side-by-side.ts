import type { Paper } from "../../generated/rrd.js";
import { type Pair, findPairs } from "../../units/report/opposite-findings.js";
import { type PaperName, type Quote, quoteAt } from "../quotes.js";
import { type StoredSentence, type Statement, statementOf, type StatementSources } from "../statements.js";

/** Two quotes of different papers on the same outcome, as the report shows them. */
export interface ShownPair extends Pick<Pair, "outcome" | "stand"> {
  readonly sides: readonly ShownSide[];
  /** The agent's sentence on the difference between the two. */
  readonly differs?: Statement;
}

export interface ShownSide {
  readonly quote: Quote;
  /** What is compared with what, as stated by the reader of the paper. */
  readonly compared: string;
  /** How the outcome changes with the first of the two. */
  readonly says: string;
}

/** The text for each direction of an outcome. */
const directionWords = { up: "goes up", down: "goes down", none: "no significant difference" } as const;

/** The text for the relation between the two sides. */
export const relationWords: Readonly<Record<Pair["stand"], string>> = {
  agreed: "agreed",
  opposite: "opposite",
  apart: "one finds no significant difference",
};

/** The pairs of a project, with the sentences of its report about them. Pure. */
export function shownPairs(
  papers: readonly Paper[],
  contrasts: readonly StoredSentence[],
  sources: StatementSources,
): readonly ShownPair[] {
  const byHandles = new Map(contrasts.map((sentence) => [keyOf(sentence.rests_on ?? []), sentence]));
  return findPairs(papers).map(({ outcome, stand, sides }) => {
    const differs = byHandles.get(keyOf(sides.map(({ handle }) => handle)));
    return {
      outcome,
      stand,
      sides: sides.flatMap(({ paper, number, evidence, about: { compared, direction } }): ShownSide[] => {
        const quote = quoteAt(paper, sources.names.get(paper.id) as PaperName, evidence, number);
        return quote === undefined ? [] : [{ quote, compared, says: directionWords[direction] }];
      }),
      ...(differs === undefined ? {} : { differs: statementOf(differs, sources) }),
    };
  });
}

const keyOf = (handles: readonly string[]): string => JSON.stringify([...handles].toSorted());
