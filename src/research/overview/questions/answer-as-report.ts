import type { Answer } from "../../generated/answer.js";
import type { ReportFile } from "../../generated/report.js";
import type { Evidence, Rrd } from "../../generated/rrd.js";
import { handleOf } from "../../units/narrative/handles.js";
import { openCheck } from "../../units/narrative/open-check.js";
import type { Checkers } from "../../derived/checker-rates.js";
import type { Pool } from "./pool.js";

/** An answer as a report of nothing but its answer, so that its sentences are checked as those of any report. */
export interface AnswerAsReport {
  /** The papers that were asked, the answer's own quotes among theirs, and the open check. */
  readonly rrd: Rrd;
  readonly narrative: ReportFile;
  /** The handles of the answer, by those of the report. */
  readonly handles: ReadonlyMap<string, string>;
}

/** The report of an answer that has papers at hand. `checkers`: how they answered to controls in its project so far. */
export function answerAsReport(
  answer: Answer,
  { papers }: Pick<Pool, "papers">,
  home: Rrd,
  checkers: Checkers,
): AnswerAsReport {
  const handles = new Map<string, string>();
  const papers_pool = papers.map(({ key, paper }) => {
    const known = paper.analysis?.evidence ?? [];
    const own = answer.quotes.filter((quote) => quote.paper === key);
    for (const [index, { handle }] of own.entries()) handles.set(handleOf(key, known.length + index + 1), handle);
    const quoted = own.map(({ handle: _, paper: __, ...quote }) => ({
      ...{ ...quote, claim: "", status: "verified" as const },
    })) as Evidence[];
    return { ...paper, id: key, analysis: { ...paper.analysis, evidence: [...known, ...quoted] } };
  });
  const numbered = new Map([...handles].map(([ofReport, ofAnswer]) => [ofAnswer, ofReport]));
  const narrative = narrativeOfAnswer({
    ...answer,
    statements: answer.statements.map((statement) => ({
      ...statement,
      rests_on: statement.rests_on.flatMap((handle) => numbered.get(handle) ?? []),
    })),
  });
  const { rrd } = openCheck({ ...home, papers_pool, meaning: { checkers } }, narrative);
  const { open } = { ...rrd.meaning };
  // What readers said of their papers is checked with a report that cites it.
  return { rrd: { ...rrd, meaning: { checkers, ...(open && { open: { ...open, claims: [] } }) } }, narrative, handles };
}

/** What an answer says, as the narrative of a report. */
export const narrativeOfAnswer = ({
  at,
  question,
  agent = "",
  statements,
  check,
  not_borne_out = [],
}: Answer): ReportFile => ({
  ...{ written_at: at, question, agent },
  answer: statements.map(({ text, rests_on, check: own }) => ({ text, rests_on, ...(own && { check: own }) })),
  ...{ findings: [], agreed: [], disputed: [], gaps: [], themes: [], recommendations: [] },
  ...(check === undefined ? {} : { check, not_borne_out }),
});

/** The answer with what its report says at the end of its check. Marks of a sentence that was mended go with it. */
export function withCheck(
  answer: Answer,
  { answer: said, not_borne_out = [], check }: ReportFile,
  handles: ReadonlyMap<string, string>,
  controls: Checkers,
): Answer {
  const own = (rests_on: readonly string[] = []) => rests_on.flatMap((handle) => handles.get(handle) ?? []);
  return {
    ...answer,
    statements: said.map(({ text, rests_on, check: judged }) => {
      const before = answer.statements.find((each) => each.text === text);
      return { ...before, text, rests_on: own(rests_on), ...(judged && { check: judged }) };
    }),
    ...(check && { check }),
    ...(not_borne_out.length === 0
      ? {}
      : { not_borne_out: not_borne_out.map((each) => ({ ...each, rests_on: own(each.rests_on) })) }),
    ...(Object.keys(controls).length === 0 ? {} : { controls }),
  };
}
