import type { Paper } from "../../generated/rrd.js";
import { type Pair, sideBySide } from "../../units/report/opposite-findings.js";
import { type PaperName, type Quote, quoteAt } from "../quotes.js";
import { type SaidSentence, type Statement, statementOf, type StatementSources } from "../statements.js";

/** Two quotes of different papers on one outcome, as a report shows them. */
export interface ShownPair extends Pick<Pair, "outcome" | "stand"> {
  readonly sides: readonly ShownSide[];
  /** What the agent of the report says differs between the two. */
  readonly differs?: Statement;
}

export interface ShownSide {
  readonly quote: Quote;
  /** What with what, as the reader of the paper stated it. */
  readonly compared: string;
  /** What the outcome does under the first of the two. */
  readonly says: string;
}

/** The words for each way that an outcome goes. */
const ways = { up: "goes up", down: "goes down", none: "no significant difference" } as const;

/** How two sides stand to each other. */
export const standWords: Readonly<Record<Pair["stand"], string>> = {
  agreed: "agreed",
  opposite: "opposite",
  apart: "one finds no significant difference",
};

/** The pairs of a project, with what its report says of each. Pure. */
export function shownPairs(
  papers: readonly Paper[],
  said: readonly SaidSentence[],
  sources: StatementSources,
): readonly ShownPair[] {
  const byHandles = new Map(said.map((sentence) => [keyOf(sentence.rests_on ?? []), sentence]));
  return sideBySide(papers).map(({ outcome, stand, sides }) => {
    const differs = byHandles.get(keyOf(sides.map(({ handle }) => handle)));
    return {
      outcome,
      stand,
      sides: sides.flatMap(({ paper, handle, about }): ShownSide[] => {
        const number = Number(handle.slice(handle.lastIndexOf("#") + 1));
        const evidence = paper.analysis?.evidence?.[number - 1];
        const quote =
          evidence === undefined
            ? undefined
            : quoteAt(paper, sources.names.get(paper.id) as PaperName, evidence, number);
        if (quote === undefined) return [];
        const { compared, direction } = about;
        return [{ quote, compared, says: ways[direction] }];
      }),
      ...(differs === undefined ? {} : { differs: statementOf(differs, sources) }),
    };
  });
}

const keyOf = (handles: readonly string[]): string => JSON.stringify([...handles].toSorted());
