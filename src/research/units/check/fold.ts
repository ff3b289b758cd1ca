import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { many } from "../../../engine/lib/words.js";
import type { ReportFile } from "../../generated/report.js";
import type { Checked, Meaning, OpenCheck, Rrd } from "../../generated/rrd.js";
import { reportDataName } from "../../project-files/layout.js";
import type { Change } from "../../project-files/research.js";
import { type Checkers, isProven } from "../../derived/checker-rates.js";
import { meaningMark } from "../../derived/meaning-mark.js";
import { parseHandle } from "../narrative/handles.js";
import { type Acceptance, changeOf, dayOf } from "../judged-result.js";
import { closedNarrative } from "./close.js";
import { countControls } from "./count-controls.js";
import { isFallen, papersOf, unanswered } from "../narrative/open-check.js";
import { sentences } from "../narrative/sentences.js";
import type { BatchItem, CheckAnswer } from "./sentence.js";

/** The answers of one checker to a batch. */
export interface Checking {
  readonly by: string;
  readonly answers: readonly CheckAnswer[];
}

/** What is written once a batch is answered. `checked`: what is kept of the answers, by the sentence's id. */
export function foldAnswers(
  rrd: Rrd,
  narrative: ReportFile | undefined,
  batch: readonly BatchItem[],
  checkings: readonly Checking[],
  checked: ReadonlyMap<string, Checked>,
  at: Date,
): Acceptance {
  const checkers = ratesAfter(rrd, batch, checkings);
  const changes = claimChanges(rrd, checked);
  const open = openOf(rrd);
  const asked = open.sentences.map((each) => {
    const check = checked.get(each.where);
    return check === undefined ? each : { ...each, check };
  });
  // The claims of readings that wait are judged beside the sentences of the report.
  const [said, claims] = [[...checked].filter(isOfReport), [...checked].filter((each) => !isOfReport(each))];
  const parts = [
    ...(said.length === 0 && claims.length > 0 ? [] : [["sentence", new Map(said)] as const]),
    ...(claims.length === 0 ? [] : [["claim", new Map(claims)] as const]),
  ];
  const kept = narrative === undefined ? [] : keptChecks(narrative);
  const all = [...kept, ...asked.flatMap(({ check }) => check ?? [])];
  const summary = judgedText(parts, checkers, all);
  return advanced({ rrd, narrative, checkers, open: { ...open, sentences: asked }, changes, summary, at });
}

/** The same for claims of readings that wait. `unchecked`: they are given up for this reason, a clause. */
export function foldClaims(
  rrd: Rrd,
  batch: readonly BatchItem[],
  checkings: readonly Checking[],
  checked: ReadonlyMap<string, Checked>,
  at: Date,
  unchecked?: string,
): Acceptance {
  const { claims = [], ...rest } = { ...rrd.meaning, checkers: ratesAfter(rrd, batch, checkings) };
  const left = unchecked === undefined ? claims.filter((handle) => !checked.has(handle)) : [];
  const summary =
    unchecked === undefined ? judgedText([["claim", checked]], rest.checkers) : `Claims were not checked: ${unchecked}`;
  const meaning = left.length === 0 ? rest : { ...rest, claims: left };
  const { toRender: _, ...judged } = told({ rrd, changes: claimChanges(rrd, checked), summary, at }, meaning);
  return judged;
}

/** Why something can't be had, a sentence, as a clause: what to do about it and the unit's title are left out. */
export const clauseOf = (why: string): string =>
  (why.split(/;|\. /)[0] ?? why).replace(/\.$/, "").replace(/^(?:Check|Mending) of (?:sentences|claims): /, "");

/** A check that goes on without one of its two checkers, for this reason, a clause. */
export function foldUnheard(rrd: Rrd, unheard: string, at: Date): Acceptance | undefined {
  const { open } = { ...rrd.meaning };
  if (open === undefined) return undefined;
  return told({ rrd, changes: [], summary: unheard, at }, { ...rrd.meaning, open: { ...open, unheard } });
}

const ratesAfter = ({ meaning }: Rrd, batch: readonly BatchItem[], checkings: readonly Checking[]) =>
  checkings.reduce((rates, { by, answers }) => countControls(rates, by, batch, answers), meaning?.checkers ?? {});

/** Sentences of a report are known by a pointer into it, claims of papers by a handle. */
const isOfReport = ([id]: readonly [string, Checked]): boolean => id.startsWith("/");

/**
 * "3 of 4 sentences borne out"; only how many were judged, where what a checker says does not count. `all`: what was
 * said of every sentence of the report so far; where that is more than these, "0 of 2 new sentences borne out (6 of 8
 * in all)".
 */
function judgedText(
  parts: readonly (readonly [what: "sentence" | "claim", checked: ReadonlyMap<string, Checked>])[],
  checkers: Checkers,
  all: readonly Checked[] = [],
): string {
  const by = new Set(parts.flatMap(([, checked]) => [...checked.values()].flatMap((check) => check.by)));
  const isCounted = [...by].every((name) => isProven(checkers, name));
  if (!isCounted) return `judged, not counted: ${parts.map(([what, checked]) => many(checked.size, what)).join(", ")}`;
  const borneOut = (checks: Iterable<Checked>) =>
    [...checks].filter((each) => meaningMark(each, checkers).kind === "borne-out").length;
  return parts
    .map(([what, checked]) => {
      const count = borneOut(checked.values());
      return what === "sentence" && all.length > checked.size
        ? `${count} of ${many(checked.size, "new sentence")} borne out (${borneOut(all)} of ${all.length} in all)`
        : `${count} of ${many(checked.size, what)} borne out`;
    })
    .join(", ");
}

/** What an earlier check said of the sentences of a report, those that it took out included. */
const keptChecks = (narrative: ReportFile): Checked[] => [
  ...sentences(narrative).flatMap(([, { check }]) => check ?? []),
  ...(narrative.not_borne_out ?? []).map(({ check }) => check),
];

const openOf = ({ meaning }: Rrd): OpenCheck =>
  meaning?.open ?? { report: 0, step: "check", sentences: [], claims: [] };

/** The records of papers with what was said of their claims. */
function claimChanges(rrd: Rrd, checked: ReadonlyMap<string, Checked>): Change[] {
  const papers = papersOf(rrd);
  const byPaper = new Map<string, Map<number, Checked>>();
  for (const [id, check] of checked) {
    const { paper, number = 0 } = id.startsWith("/") ? {} : (parseHandle(id) ?? {});
    if (paper === undefined || !papers.has(paper)) continue;
    byPaper.set(paper, (byPaper.get(paper) ?? new Map<number, Checked>()).set(number, check));
  }
  return [...byPaper].flatMap(([id, ofPaper]) => {
    const paper = papers.get(id);
    if (paper?.analysis == null) return [];
    const evidence = (paper.analysis.evidence ?? []).map((each, index) => {
      const check = ofPaper.get(index + 1);
      return check === undefined ? each : { ...each, check };
    });
    return [changeOf(paper, { analysis: { ...paper.analysis, evidence } })];
  });
}

/** A step of a check that is done: the check as it stands by it, and what is told of it. */
interface Step {
  readonly rrd: Rrd;
  readonly narrative: ReportFile | undefined;
  readonly checkers: NonNullable<Meaning["checkers"]>;
  readonly open: OpenCheck;
  /** Changes of papers' records that come with it. */
  readonly changes: readonly Change[];
  readonly summary: string;
  readonly at: Date;
}

/** The state one step on: another batch, the sentences that go back to their writer, or the end of the check. */
export function advanced(done: Step): Acceptance {
  const { rrd, checkers, open, changes } = done;
  const step = nextStep(withChanges(rrd, changes, { checkers, open }), { checkers, open });
  return step === undefined ? ended(done) : told(done, { ...rrd.meaning, checkers, open: { ...open, step } });
}

/** The end of a check: its report with what was said of each sentence. `unchecked`: why it ends too early. */
export function ended(done: Step, unchecked?: string): Acceptance {
  const { rrd, narrative, checkers, open, changes, at } = done;
  const { open: _, ...closed } = { ...rrd.meaning, checkers };
  // A report that was written again since, by hand or by a later run, is another one.
  const isSame = narrative !== undefined && (narrative.iteration ?? 0) === open.report;
  const why = unchecked !== undefined && open.step === "mend" ? `mending was given up (${unchecked})` : unchecked;
  const kept = isSame ? closedNarrative(withChanges(rrd, changes, closed), narrative, open, at, why) : undefined;
  return told(done, closed, kept);
}

/** What is written and shown of a step. */
function told(
  { rrd, changes, summary, at }: Pick<Step, "rrd" | "changes" | "summary" | "at">,
  meaning: Meaning,
  narrative?: ReportFile,
): Acceptance {
  const files = narrative && [{ name: reportDataName, text: `${JSON.stringify(narrative, null, 2)}\n` }];
  return {
    changes: [...changes, { in: "rrd", set: { meaning }, was: { meaning: rrd.meaning } }],
    ...withoutUndefined({ files }),
    toRender: { rrd: withChanges(rrd, changes, meaning), ...withoutUndefined({ narrative }) },
    progress: [`## ${dayOf(at)} - Check`, "", `${summary}.`, ""].join("\n"),
    summary,
  };
}

/** The records with what was said of claims. */
const withChanges = (rrd: Rrd, changes: readonly Change[], meaning: Meaning): Rrd => ({
  ...rrd,
  meaning,
  papers_pool: rrd.papers_pool.map((paper) => ({ ...paper, ...changes.find(({ id }) => id === paper.id)?.set })),
});

/** What the check does next; undefined where it has come to its end. */
function nextStep(rrd: Rrd, { checkers, open }: Pick<Step, "checkers" | "open">): OpenCheck["step"] | undefined {
  if (unanswered(rrd).length > 0) return open.step;
  return open.step === "check" && open.sentences.some((each) => isFallen({ checkers }, each)) ? "mend" : undefined;
}
