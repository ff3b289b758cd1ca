import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Answer } from "../../generated/answer.js";
import type { ReportFile } from "../../generated/report.js";
import type { Evidence, OpenCheck, Paper } from "../../generated/rrd.js";
import { handleOf } from "../../units/narrative/handles.js";
import type { Checkers } from "../../derived/checker-rates.js";
import type { Pool } from "./pool.js";

/** An answer as a report of nothing but its answer, so that its sentences are checked as those of any report. */
export interface AnswerAsReport {
  /** The papers that were asked, the answer's own quotes among theirs. */
  readonly papers_pool: Paper[];
  readonly narrative: ReportFile;
  /** The open check of the answer; absent where none is open. */
  readonly open?: OpenCheck;
  /** The handles of the answer, by those of the report. */
  readonly handles: ReadonlyMap<string, string>;
}

/** The report of an answer that has papers at hand. */
export function answerAsReport(answer: Answer, { papers }: Pick<Pool, "papers">): AnswerAsReport {
  const handles = new Map<string, string>();
  const papers_pool = papers.map(({ key, paper }) => {
    const known = paper.analysis?.evidence ?? [];
    const own = answer.quotes.filter((quote) => quote.paper === key);
    for (const [index, { handle }] of own.entries()) handles.set(handleOf(key, known.length + index + 1), handle);
    const quoted = own.map(({ handle: _, paper: __, ...quote }) => ({
      ...quote,
      claim: "",
      status: "verified" as const,
    })) as Evidence[];
    return { ...paper, id: key, analysis: { ...paper.analysis, evidence: [...known, ...quoted] } };
  });
  const numbered = new Map([...handles].map(([ofReport, ofAnswer]) => [ofAnswer, ofReport]));
  const named = (handle: string) => numbered.get(handle);
  const narrative = narrativeOfAnswer({ ...answer, statements: answer.statements.map(renamed(named)) });
  const open = answer.open && openIn(answer.open.check, named);
  return { papers_pool, narrative, handles, ...withoutUndefined({ open }) };
}

/** What rests on handles, with those that this names; others lead nowhere and are left out. */
const renamed =
  (named: (handle: string) => string | undefined) =>
  <Said extends { rests_on: string[] }>(said: Said): Said => ({
    ...said,
    rests_on: said.rests_on.flatMap((handle) => named(handle) ?? []),
  });

/** An open check with its handles as this names them. */
export const openIn = (open: OpenCheck, named: (handle: string) => string | undefined): OpenCheck => ({
  ...open,
  sentences: open.sentences.map(renamed(named)),
  ...withoutUndefined({ contradicted: open.contradicted?.map(renamed(named)) }),
});

/** The answer with a check of its sentences open; as it is where each of them was judged. */
export function withOpenCheck(answer: Answer): Answer {
  const sentences = answer.statements.flatMap(({ text, rests_on, check }, index) =>
    check === undefined ? [{ where: `/answer/${index}`, text, rests_on }] : [],
  );
  if (answer.open !== undefined || sentences.length === 0) return answer;
  return { ...answer, open: { check: { report: 0, step: "check", sentences, claims: [] } } };
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
  written_at: at,
  question,
  agent,
  answer: statements.map(({ text, rests_on, check: own }) => ({ text, rests_on, ...(own && { check: own }) })),
  findings: [],
  agreed: [],
  disputed: [],
  gaps: [],
  themes: [],
  recommendations: [],
  ...(check === undefined ? {} : { check, not_borne_out }),
});

/** The answer with what its report says at the end of its check. Marks of a sentence that was mended go with it. */
export function withCheck(
  { open: _, ...answer }: Answer,
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
