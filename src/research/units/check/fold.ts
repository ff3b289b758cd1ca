import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { quantity } from "../../../engine/lib/words.js";
import type { ReportFile } from "../../generated/report.js";
import type { Checked, Meaning, OpenCheck, Rrd } from "../../generated/rrd.js";
import { reportDataName } from "../../project-files/layout.js";
import type { Change } from "../../project-files/research.js";
import { type Checkers, isProven, isFailing, withRates } from "../../derived/checker-rates.js";
import { meaningMark } from "../../derived/meaning-mark.js";
import { parseHandle } from "../narrative/handles.js";
import { type Acceptance, changeOf, dayOf } from "../judged-result.js";
import { applyCheck } from "./close.js";
import { isRejected, papersById, findUnanswered } from "../narrative/open-check.js";
import { sentencesOf } from "../narrative/sentences.js";
import { type BatchItem, type CheckAnswer, isControl } from "./sentence.js";

/** The answers of one checker to a batch. */
export interface CheckerAnswers {
  readonly by: string;
  readonly answers: readonly CheckAnswer[];
}

/** Accepts the answers to a batch and returns the changes. `checked`: the verdicts, by the id of the sentence. */
export function acceptAnswers(
  rrd: Rrd,
  narrative: ReportFile | undefined,
  batch: readonly BatchItem[],
  allAnswers: readonly CheckerAnswers[],
  checked: ReadonlyMap<string, Checked>,
  at: Date,
): Acceptance {
  const checkers = computeRates(rrd, batch, allAnswers);
  const changes = claimChanges(rrd, checked);
  const open = openCheckOf(rrd);
  const openSentences = open.sentences.map((item) => {
    const check = checked.get(item.where);
    return check === undefined ? item : { ...item, check };
  });
  // Claims of readings may be in the same batch as the sentences of the report.
  const [reportSentences, claims] = [[...checked].filter(isOfReport), [...checked].filter((each) => !isOfReport(each))];
  const parts = [
    ...(reportSentences.length === 0 && claims.length > 0 ? [] : [["sentence", new Map(reportSentences)] as const]),
    ...(claims.length === 0 ? [] : [["claim", new Map(claims)] as const]),
  ];
  const earlierChecks = narrative === undefined ? [] : earlierChecksOf(narrative);
  const reportChecks = [...earlierChecks, ...openSentences.flatMap(({ check }) => check ?? [])];
  const summary = summaryText(parts, checkers, reportChecks);
  return continueOrEndCheck({
    rrd,
    narrative,
    checkers,
    open: { ...open, sentences: openSentences },
    changes,
    summary,
    at,
  });
}

/** Like `acceptAnswers`, for claims of readings. `unchecked`: the reason why the claims are given up, as a clause. */
export function acceptClaims(
  rrd: Rrd,
  batch: readonly BatchItem[],
  allAnswers: readonly CheckerAnswers[],
  checked: ReadonlyMap<string, Checked>,
  at: Date,
  unchecked?: string,
): Acceptance {
  const { claims = [], ...rest } = { ...rrd.meaning, checkers: computeRates(rrd, batch, allAnswers) };
  const remaining = unchecked === undefined ? claims.filter((handle) => !checked.has(handle)) : [];
  const summary =
    unchecked === undefined
      ? summaryText([["claim", checked]], rest.checkers)
      : `Claims were not checked: ${unchecked}`;
  const meaning = remaining.length === 0 ? rest : { ...rest, claims: remaining };
  const { toRender: _, ...judged } = createAcceptance(
    { rrd, changes: claimChanges(rrd, checked), summary, at },
    meaning,
  );
  return judged;
}

/** Shortens the reason why something is not available to one clause, without the unit's title and the advice. */
export const clauseOf = (why: string): string =>
  (why.split(/;|\. /)[0] ?? why).replace(/\.$/, "").replace(/^(?:Correction of )?(?:sentences|claims): /, "");

/** The changes if a check continues without one of its two checkers. `missingCheckerReason`: a clause. */
export function continueWithoutChecker(rrd: Rrd, missingCheckerReason: string, at: Date): Acceptance | undefined {
  const { open } = { ...rrd.meaning };
  if (open === undefined) return undefined;
  return createAcceptance(
    { rrd, changes: [], summary: missingCheckerReason, at },
    { ...rrd.meaning, open: { ...open, unheard: missingCheckerReason } },
  );
}

const computeRates = ({ meaning }: Rrd, batch: readonly BatchItem[], allAnswers: readonly CheckerAnswers[]) =>
  allAnswers.reduce((rates, { by, answers }) => countControls(rates, by, batch, answers), meaning?.checkers ?? {});

/** Ids of sentences of the report are JSON pointers; ids of claims are handles. */
const isOfReport = ([id]: readonly [string, Checked]): boolean => id.startsWith("/");

/**
 * The summary of a batch, such as "3 of 4 sentences supported". If a checker's verdicts do not count, only the number
 * of checked sentences. `all`: the verdicts on all sentences of the report so far. If there are earlier ones among
 * them, the text is, for example, "0 of 2 new sentences supported (6 of 8 in all)".
 */
function summaryText(
  parts: readonly (readonly [what: "sentence" | "claim", checked: ReadonlyMap<string, Checked>])[],
  checkers: Checkers,
  all: readonly Checked[] = [],
): string {
  const checkerNames = new Set(parts.flatMap(([, checked]) => [...checked.values()].flatMap((check) => check.by)));
  const isCounted = [...checkerNames].every((name) => isProven(checkers, name));
  if (!isCounted)
    return `judged, not counted: ${parts.map(([what, checked]) => quantity(checked.size, what)).join(", ")}`;
  const countSupported = (checks: Iterable<Checked>) =>
    [...checks].filter((each) => meaningMark(each, checkers).kind === "supported").length;
  return parts
    .map(([what, checked], index) => {
      const count = countSupported(checked.values());
      const verb = index === parts.length - 1 ? " supported" : "";
      return what === "sentence" && all.length > checked.size
        ? `${count} of ${quantity(checked.size, "new sentence")}${verb} (${countSupported(all)} of ${all.length} in all)`
        : `${count} of ${quantity(checked.size, what)}${verb}`;
    })
    .join(", ");
}

/** The verdicts of earlier checks of a report, including those on sentences that were removed. */
const earlierChecksOf = (narrative: ReportFile): Checked[] => [
  ...sentencesOf(narrative).flatMap(([, { check }]) => check ?? []),
  ...(narrative.not_borne_out ?? []).map(({ check }) => check),
];

const openCheckOf = ({ meaning }: Rrd): OpenCheck =>
  meaning?.open ?? { report: 0, step: "check", sentences: [], claims: [] };

/** The changes of papers' records: the verdicts on their claims. */
function claimChanges(rrd: Rrd, checked: ReadonlyMap<string, Checked>): Change[] {
  const papers = papersById(rrd);
  const byPaper = new Map<string, Map<number, Checked>>();
  for (const [id, check] of checked) {
    const { paper, number = 0 } = id.startsWith("/") ? {} : (parseHandle(id) ?? {});
    if (paper === undefined || !papers.has(paper)) continue;
    byPaper.set(paper, (byPaper.get(paper) ?? new Map<number, Checked>()).set(number, check));
  }
  return [...byPaper].flatMap(([id, checksByNumber]) => {
    const paper = papers.get(id);
    if (paper?.analysis == null) return [];
    const evidence = (paper.analysis.evidence ?? []).map((claim, index) => {
      const check = checksByNumber.get(index + 1);
      return check === undefined ? claim : { ...claim, check };
    });
    return [changeOf(paper, { analysis: { ...paper.analysis, evidence } })];
  });
}

/** A finished step of a check. */
interface CheckStep {
  readonly rrd: Rrd;
  readonly narrative: ReportFile | undefined;
  readonly checkers: NonNullable<Meaning["checkers"]>;
  readonly open: OpenCheck;
  /** Changes of papers' records in this step. */
  readonly changes: readonly Change[];
  readonly summary: string;
  readonly at: Date;
}

/** The changes after a step: the check continues with a batch or with corrections, or it ends. */
export function continueOrEndCheck(finished: CheckStep): Acceptance {
  const { rrd, checkers, open, changes } = finished;
  const step = nextStep(applyChanges(rrd, changes, { checkers, open }), { checkers, open });
  return step === undefined
    ? endCheck(finished)
    : createAcceptance(finished, { ...rrd.meaning, checkers, open: { ...open, step } });
}

/** The changes at the end of a check, with its report. `unchecked`: the reason if the check ends early. */
export function endCheck(finished: CheckStep, unchecked?: string): Acceptance {
  const { rrd, narrative, checkers, open, changes, at } = finished;
  const { open: _, ...closed } = { ...rrd.meaning, checkers };
  // If the report was written again in the meantime, the verdicts belong to another report.
  const isSame = narrative !== undefined && (narrative.iteration ?? 0) === open.report;
  const reason = unchecked !== undefined && open.step === "mend" ? `mending was given up (${unchecked})` : unchecked;
  const report = isSame ? applyCheck(applyChanges(rrd, changes, closed), narrative, open, at, reason) : undefined;
  return createAcceptance(finished, closed, report);
}

/** The acceptance of a step: its files, its state and its log entry. */
function createAcceptance(
  { rrd, changes, summary, at }: Pick<CheckStep, "rrd" | "changes" | "summary" | "at">,
  meaning: Meaning,
  narrative?: ReportFile,
): Acceptance {
  const files = narrative && [{ name: reportDataName, text: `${JSON.stringify(narrative, null, 2)}\n` }];
  return {
    changes: [...changes, { in: "rrd", set: { meaning }, was: { meaning: rrd.meaning } }],
    ...withoutUndefined({ files }),
    toRender: { rrd: applyChanges(rrd, changes, meaning), ...withoutUndefined({ narrative }) },
    progress: [`## ${dayOf(at)} - Check`, "", `${summary}.`, ""].join("\n"),
    summary,
  };
}

/** Adds the verdicts on claims to the records. */
const applyChanges = (rrd: Rrd, changes: readonly Change[], meaning: Meaning): Rrd => ({
  ...rrd,
  meaning,
  papers_pool: rrd.papers_pool.map((paper) => ({ ...paper, ...changes.find(({ id }) => id === paper.id)?.set })),
});

/** The next step of the check; undefined if it is finished. */
function nextStep(rrd: Rrd, { checkers, open }: Pick<CheckStep, "checkers" | "open">): OpenCheck["step"] | undefined {
  if (findUnanswered(rrd).length > 0) return open.step;
  return open.step === "check" && open.sentences.some((each) => isRejected({ checkers }, each)) ? "mend" : undefined;
}

/**
 * The rates of all checkers after this checker's answers to the controls of a batch. `answers`: in the order of the
 * batch.
 */
export function countControls(
  checkers: Checkers,
  checker: string,
  batch: readonly BatchItem[],
  answers: readonly CheckAnswer[],
): Checkers {
  const countFor = (expects: "supported" | "not-supported") => {
    // The answer "cannot tell" counts as wrong.
    const isRight = (verdict: CheckAnswer["verdict"] | undefined) =>
      verdict !== undefined && (expects === "supported" ? verdict === "supported" : isFailing(verdict));
    const results = batch.flatMap((item, index) =>
      isControl(item) && item.expects === expects ? [isRight(answers[index]?.verdict)] : [],
    );
    return { asked: results.length, right: results.filter(Boolean).length };
  };
  return withRates(checkers, {
    [checker]: { borne_out: countFor("supported"), not_borne_out: countFor("not-supported") },
  });
}
