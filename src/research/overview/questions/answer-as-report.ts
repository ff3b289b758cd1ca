import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Answer } from "../../generated/answer.js";
import type { ReportFile } from "../../generated/report.js";
import type { Evidence, OpenCheck, Paper } from "../../generated/rrd.js";
import { handleOf } from "../../units/narrative/handles.js";
import type { Checkers } from "../../derived/checker-rates.js";
import type { Pool } from "./pool.js";

/** An answer in the form of a report, so that its sentences are checked like those of a report. */
export interface AnswerAsReport {
  /** The papers of the question, with the quotes of the answer added to theirs. */
  readonly papers_pool: Paper[];
  readonly narrative: ReportFile;
  /** The open check of the answer; absent if no check is open. */
  readonly open?: OpenCheck;
  /** The handles of the answer, by the handles of the report. */
  readonly handles: ReadonlyMap<string, string>;
}

/** Converts an answer to a report. `papers`: the papers of the question. */
export function answerAsReport(answer: Answer, { papers }: Pick<Pool, "papers">): AnswerAsReport {
  const handles = new Map<string, string>();
  const papers_pool = papers.map(({ key, paper }) => {
    const storedEvidence = paper.analysis?.evidence ?? [];
    const itsQuotes = answer.quotes.filter((quote) => quote.paper === key);
    for (const [index, { handle }] of itsQuotes.entries())
      handles.set(handleOf(key, storedEvidence.length + index + 1), handle);
    const evidenceOfAnswer = itsQuotes.map(({ handle: _, paper: __, ...quote }) => ({
      ...quote,
      claim: "",
      status: "verified" as const,
    })) as Evidence[];
    return { ...paper, id: key, analysis: { ...paper.analysis, evidence: [...storedEvidence, ...evidenceOfAnswer] } };
  });
  const reportHandles = new Map([...handles].map(([reportHandle, answerHandle]) => [answerHandle, reportHandle]));
  const toReportHandle = (handle: string) => reportHandles.get(handle);
  const narrative = narrativeOfAnswer({ ...answer, statements: answer.statements.map(withHandles(toReportHandle)) });
  const open = answer.open && openCheckWithHandles(answer.open.check, toReportHandle);
  return { papers_pool, narrative, handles, ...withoutUndefined({ open }) };
}

/** The same text with other handles. Handles without a replacement are left out. */
const withHandles =
  (newHandle: (handle: string) => string | undefined) =>
  <Sentence extends { rests_on: string[] }>(sentence: Sentence): Sentence => ({
    ...sentence,
    rests_on: sentence.rests_on.flatMap((handle) => newHandle(handle) ?? []),
  });

/** An open check with other handles. */
export const openCheckWithHandles = (
  open: OpenCheck,
  newHandle: (handle: string) => string | undefined,
): OpenCheck => ({
  ...open,
  sentences: open.sentences.map(withHandles(newHandle)),
  ...withoutUndefined({ contradicted: open.contradicted?.map(withHandles(newHandle)) }),
});

/** The answer with an open check of its sentences; unchanged if all are already checked. */
export function withOpenCheck(answer: Answer): Answer {
  const sentences = answer.statements.flatMap(({ text, rests_on, check }, index) =>
    check === undefined ? [{ where: `/answer/${index}`, text, rests_on }] : [],
  );
  if (answer.open !== undefined || sentences.length === 0) return answer;
  return { ...answer, open: { check: { report: 0, step: "check", sentences, claims: [] } } };
}

/** The text of an answer, as the narrative of a report. */
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
  answer: statements.map(({ text, rests_on, check: checkResult }) => ({
    text,
    rests_on,
    ...(checkResult && { check: checkResult }),
  })),
  findings: [],
  agreed: [],
  disputed: [],
  gaps: [],
  themes: [],
  recommendations: [],
  ...(check === undefined ? {} : { check, not_borne_out }),
});

/** The answer with the results of a check. Corrected sentences lose their marks. */
export function withCheck(
  { open: _, ...answer }: Answer,
  { answer: sentences, not_borne_out = [], check }: ReportFile,
  handles: ReadonlyMap<string, string>,
  controls: Checkers,
): Answer {
  const answerHandles = (rests_on: readonly string[] = []) => rests_on.flatMap((handle) => handles.get(handle) ?? []);
  return {
    ...answer,
    statements: sentences.map(({ text, rests_on, check: checkResult }) => {
      const earlierStatement = answer.statements.find((statement) => statement.text === text);
      return {
        ...earlierStatement,
        text,
        rests_on: answerHandles(rests_on),
        ...(checkResult && { check: checkResult }),
      };
    }),
    ...(check && { check }),
    ...(not_borne_out.length === 0
      ? {}
      : {
          not_borne_out: not_borne_out.map((sentence) => ({ ...sentence, rests_on: answerHandles(sentence.rests_on) })),
        }),
    ...(Object.keys(controls).length === 0 ? {} : { controls }),
  };
}
