import type { ReportFile } from "../../generated/report.js";
import type { OpenCheck, Rrd } from "../../generated/rrd.js";
import { isProven } from "../narrative/rates.js";
import { isFallen } from "../narrative/open-check.js";

type Asked = OpenCheck["sentences"][number];
type Said = { readonly text: string; readonly rests_on?: string[] };

/**
 * The narrative at the end of its check: mended sentences in the place of what they were, what was said of each, and
 * what fell taken out of it. An answer of which nothing would be left stays whole. `unchecked`: why the check could not
 * come to its end.
 */
export function closedNarrative(
  { meaning = {} }: Pick<Rrd, "meaning">,
  narrative: ReportFile,
  open: OpenCheck,
  at: Date,
  unchecked?: string,
): ReportFile {
  const asked = new Map(open.sentences.map((each) => [each.where, each]));
  const falls = (each: Asked | undefined) => each !== undefined && isFallen(meaning, each);
  const answerFalls =
    narrative.answer.length > 0 && narrative.answer.every((_, index) => falls(asked.get(`/answer/${index}`)));
  const removed = open.sentences.filter((each) => falls(each) && !(answerFalls && each.where.startsWith("/answer/")));
  const isRemoved = (where: string) => removed.some((each) => each.where === where);
  const marked = <Sentence extends Said>(where: string, said: Sentence): Sentence => {
    const found = asked.get(where);
    if (found === undefined) return said;
    const { text, rests_on, was, check } = found;
    return {
      ...said,
      ...{ text, rests_on },
      ...(check === undefined ? {} : { check: { ...check, ...(was === undefined ? {} : { was }) } }),
    };
  };
  const list = <Sentence extends Said>(pointer: string, all: readonly Sentence[]): Sentence[] =>
    all.flatMap((said, index) => (isRemoved(`${pointer}/${index}`) ? [] : [marked(`${pointer}/${index}`, said)]));
  const { comparison, side_by_side, not_borne_out: _, ...said } = narrative;
  const by = [...new Set(open.sentences.flatMap(({ check }) => check?.by ?? []))];
  const unproven = by.filter((name) => !isProven(meaning.checkers, name));
  return {
    ...said,
    answer: list("/answer", said.answer),
    findings: list("/findings", said.findings),
    agreed: list("/agreed", said.agreed),
    disputed: said.disputed.flatMap((dispute, index) => {
      const sides = list(`/disputed/${index}/sides`, dispute.sides);
      return sides.length < 2 ? [] : [{ ...dispute, sides }];
    }),
    gaps: list("/gaps", said.gaps),
    themes: list("/themes", said.themes),
    ...(comparison == null
      ? {}
      : {
          comparison: {
            ...comparison,
            rows: comparison.rows.map((row, index) => ({
              ...row,
              cells: row.cells.map((cell, place) => {
                const where = `/comparison/rows/${index}/cells/${place}`;
                return isRemoved(where) ? { text: "not borne out" } : marked(where, cell);
              }),
            })),
          },
        }),
    recommendations: list("/recommendations", said.recommendations),
    ...(side_by_side === undefined ? {} : { side_by_side }),
    ...(removed.length === 0
      ? {}
      : {
          not_borne_out: removed.flatMap(({ where, text, rests_on, check }) =>
            check === undefined ? [] : [{ text, where, rests_on, check }],
          ),
        }),
    check: {
      at: at.toISOString(),
      ...(by.length === 0 ? {} : { by }),
      ...(unproven.length === 0 ? {} : { unproven }),
      ...(answerFalls ? { answer_falls: true } : {}),
      ...(unchecked === undefined ? {} : { unchecked }),
    },
  };
}
