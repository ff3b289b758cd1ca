import type { ReportFile } from "../../generated/report.js";
import type { ReportResult } from "../../generated/result-report.js";
import type { Checked } from "../../generated/rrd.js";

/** A sentence of a narrative, with the ids of the quotes and claims that it cites. */
interface Sentence {
  readonly text: string;
  readonly rests_on?: readonly string[];
  /** The verdict of the agent that checked the sentence. */
  readonly check?: Checked;
}

/** All sentences of a narrative with their JSON pointers. */
export const sentencesOf = (
  narrative: Pick<ReportResult | ReportFile, "answer" | "findings" | "agreed" | "gaps" | "recommendations"> & {
    readonly disputed: readonly { readonly sides: readonly Sentence[] }[];
    readonly comparison?: { readonly rows: readonly { readonly cells: readonly Sentence[] }[] } | null;
    readonly themes: readonly Sentence[];
    readonly side_by_side?: readonly Sentence[];
  },
): (readonly [string, Sentence])[] => [
  ...(["answer", "findings", "agreed"] as const).flatMap((name) => withPointers(`/${name}`, narrative[name])),
  ...narrative.disputed.flatMap(({ sides }, index) => withPointers(`/disputed/${index}/sides`, sides)),
  ...withPointers("/gaps", narrative.gaps),
  ...withPointers("/themes", narrative.themes),
  ...(narrative.comparison?.rows ?? []).flatMap(({ cells }, index) =>
    withPointers(`/comparison/rows/${index}/cells`, cells),
  ),
  ...withPointers("/recommendations", narrative.recommendations),
  ...withPointers("/side_by_side", narrative.side_by_side ?? []),
];

/**
 * Whether the sentence at this pointer says what to do. Advice is not a statement about a passage, so it is
 * not checked; the claims that it cites are checked as usual.
 */
export const isAdvice = (where: string): boolean => where.startsWith("/recommendations/");

const withPointers = (pointer: string, list: readonly Sentence[]): (readonly [string, Sentence])[] =>
  list.map((sentence, index) => [`${pointer}/${index}`, sentence] as const);

/**
 * Applies `change` to every sentence of a narrative. If it returns undefined, the sentence is removed. A dispute with
 * only one remaining side is removed too, and a removed cell is replaced by a note.
 */
export function mapSentences(
  narrative: ReportFile,
  change: <S extends Sentence>(where: string, sentence: S) => S | undefined,
): ReportFile {
  const list = <S extends Sentence>(pointer: string, all: readonly S[]): S[] =>
    all.flatMap((sentence, index) => change(`${pointer}/${index}`, sentence) ?? []);
  const { comparison, side_by_side } = narrative;
  return {
    ...narrative,
    answer: list("/answer", narrative.answer),
    findings: list("/findings", narrative.findings),
    agreed: list("/agreed", narrative.agreed),
    disputed: narrative.disputed.flatMap((dispute, index) => {
      const sides = list(`/disputed/${index}/sides`, dispute.sides);
      return sides.length < 2 ? [] : [{ ...dispute, sides }];
    }),
    gaps: list("/gaps", narrative.gaps),
    themes: list("/themes", narrative.themes),
    recommendations: list("/recommendations", narrative.recommendations),
    ...(comparison == null
      ? {}
      : {
          comparison: {
            ...comparison,
            rows: comparison.rows.map((row, index) => ({
              ...row,
              cells: row.cells.map(
                (cell, cellIndex) =>
                  change(`/comparison/rows/${index}/cells/${cellIndex}`, cell) ?? { text: "not supported" },
              ),
            })),
          },
        }),
    ...(side_by_side === undefined ? {} : { side_by_side: list("/side_by_side", side_by_side) }),
  };
}
