import type { Paper } from "../../generated/rrd.js";
import { type Pair, findPairs, standOf } from "../../units/report/opposite-findings.js";
import { type PaperName, type Quote, quoteAt } from "../quotes.js";
import { type StoredSentence, type Statement, statementOf, type StatementSources } from "../statements.js";

/** Quotes of different papers on the same outcome, two or more, as the report shows them. */
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
  apart: "not all find a significant difference",
};

/**
 * The pairs of a project, with the sentences of its report about them. Quotes of which any two
 * relate in the same way, and that no sentence is about, are shown together. Pure.
 */
export function shownPairs(
  papers: readonly Paper[],
  contrasts: readonly StoredSentence[],
  sources: StatementSources,
): readonly ShownPair[] {
  const byHandles = new Map(contrasts.map((sentence) => [keyOf(sentence.rests_on ?? []), sentence]));
  const groups: { pair: Pair; sides: Pair["sides"][number][]; differs: StoredSentence | undefined }[] = [];
  for (const pair of findPairs(papers)) {
    const differs = byHandles.get(keyOf(pair.sides.map(({ handle }) => handle)));
    const group = groups.find(
      (known) =>
        differs === undefined &&
        known.differs === undefined &&
        known.sides.some(({ handle }) => pair.sides.some((side) => side.handle === handle)) &&
        known.sides.every((one) =>
          pair.sides.every((side) => side.handle === one.handle || standOf(one, side) === pair.stand),
        ),
    );
    if (group === undefined) groups.push({ pair, sides: [...pair.sides], differs });
    else group.sides.push(...pair.sides.filter((side) => group.sides.every(({ handle }) => handle !== side.handle)));
  }
  return groups.map(({ pair: { outcome, stand }, sides, differs }) => ({
    outcome,
    stand,
    sides: sides.flatMap(({ paper, number, evidence, about: { compared, direction } }): ShownSide[] => {
      const quote = quoteAt(paper, sources.names.get(paper.id) as PaperName, evidence, number);
      return quote === undefined ? [] : [{ quote, compared, says: directionWords[direction] }];
    }),
    ...(differs === undefined ? {} : { differs: statementOf(differs, sources) }),
  }));
}

const keyOf = (handles: readonly string[]): string => JSON.stringify([...handles].toSorted());
