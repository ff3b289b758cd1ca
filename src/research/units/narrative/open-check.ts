import type { Meaning, OpenCheck, Paper, Rrd } from "../../generated/rrd.js";
import type { ReportFile } from "../../generated/report.js";
import type { Change } from "../../project-files/research.js";
import { evidenceOf } from "./handles.js";
import { isAdvice, sentencesOf } from "./sentences.js";
import { isFailing, isProven } from "../../derived/checker-rates.js";

type OpenSentence = OpenCheck["sentences"][number];

/** Opens a check of this report in the state. Changes nothing if no sentence cites passages. */
export function openCheck(rrd: Rrd, narrative: ReportFile): { readonly rrd: Rrd; readonly changes: readonly Change[] } {
  const open = createCheck(rrd, narrative);
  const stateWithCheck = { ...rrd, meaning: { ...rrd.meaning, open } };
  if (findUnanswered(stateWithCheck).length === 0) return { rrd, changes: [] };
  return {
    rrd: stateWithCheck,
    changes: [{ in: "rrd", set: { meaning: stateWithCheck.meaning }, was: { meaning: rrd.meaning } }],
  };
}

/** A check of every sentence that cites passages, except advice, and of the cited claims. */
function createCheck(rrd: Rrd, narrative: ReportFile): OpenCheck {
  const papers = papersById(rrd);
  const sentencesToCheck = sentencesOf(narrative).flatMap(([where, { text, rests_on = [], check }]): OpenSentence[] => {
    const foundHandles = evidenceOf(rests_on, papers).map(({ handle }) => handle);
    return foundHandles.length === 0 || check !== undefined || isAdvice(where)
      ? []
      : [{ where, text, rests_on: foundHandles }];
  });
  const citedHandles = sentencesOf(narrative).flatMap(([, { rests_on = [] }]) => rests_on);
  return {
    report: narrative.iteration ?? 0,
    step: "check",
    sentences: sentencesToCheck,
    claims: [...new Set(citedHandles)].toSorted(),
  };
}

/** A sentence that was not checked yet, with the ids of the quotes and claims that it cites. */
export interface UncheckedSentence {
  /** The JSON pointer of a sentence of the report, or the handle of a claim. */
  readonly id: string;
  readonly text: string;
  readonly rests_on: readonly string[];
}

/** The sentences that the open check has not answered, report sentences first; empty if no check is open. */
export function findUnanswered({ meaning, papers_pool }: Pick<Rrd, "meaning" | "papers_pool">): UncheckedSentence[] {
  const open = meaning?.open;
  if (open === undefined || open.step === "mend") return [];
  const papers = papersById({ papers_pool });
  return [
    ...open.sentences.flatMap(({ where, text, rests_on, check }) =>
      check === undefined && evidenceOf(rests_on, papers).length > 0 ? [{ id: where, text, rests_on }] : [],
    ),
    ...uncheckedClaims(papers, open.claims),
  ];
}

/** The unchecked claims of readings, if the project checks all claims. */
export const waitingClaims = ({ meaning, papers_pool }: Pick<Rrd, "meaning" | "papers_pool">): UncheckedSentence[] =>
  meaning?.claims === undefined ? [] : uncheckedClaims(papersById({ papers_pool }), meaning.claims);

/** Claims that have not been checked yet. */
const uncheckedClaims = (papers: ReadonlyMap<string, Paper>, handles: readonly string[]): UncheckedSentence[] =>
  evidenceOf(handles, papers).flatMap(({ handle, evidence: { check, claim } }) =>
    check === undefined ? [{ id: handle, text: claim, rests_on: [handle] }] : [],
  );

/** Whether a sentence must be removed or changed: its passages do not support it, according to proven checkers. */
export const isRejected = ({ checkers }: Pick<Meaning, "checkers">, { check }: Pick<OpenSentence, "check">): boolean =>
  check !== undefined && isFailing(check.verdict) && check.by.every((name) => isProven(checkers, name));

/** Sentences of the open check that the writer of the report must change. */
export const sentencesToMend = ({ meaning }: Pick<Rrd, "meaning">): readonly OpenSentence[] =>
  meaning?.open?.step === "mend" ? meaning.open.sentences.filter((each) => isRejected(meaning, each)) : [];

export const papersById = ({ papers_pool }: Pick<Rrd, "papers_pool">): ReadonlyMap<string, Paper> =>
  new Map(papers_pool.map((paper) => [paper.id, paper]));
