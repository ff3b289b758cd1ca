import { join } from "node:path";
import type { LedgerLine } from "../../../engine/generated/ledger.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { ExpectedError } from "../../../engine/lib/errors.js";
import { type Reset as ResetOf, undoneAfter } from "../../../engine/storage/state/reset.js";
import { currentAccepted } from "../../../engine/storage/state/ledger.js";
import { nameOf } from "../../papers/paper-keys.js";
import { reportName, rrdName } from "../layout.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import { researchFormat } from "../rrd-file.js";
import { shellWord } from "../../../engine/lib/sanitise.js";
import { given } from "../../../engine/lib/given.js";

const resetUnits = ["discovery", "report", "ideas"] as const;

/** A unit that is not a paper, as a person names it. */
export type ResetUnit = (typeof resetUnits)[number];

/** What is to be done again: everything, one paper, a unit that is not a paper, or everything after an iteration. */
export type ResetTarget =
  | { readonly all: true }
  | { readonly paper: string }
  | { readonly unit: ResetUnit }
  | { readonly to: number };

type Reset = ResetOf<Rrd>;

/**
 * Works out what a reset leaves; it writes nothing. @throws ExpectedError where there is no such paper, or nothing to
 * search for.
 */
export async function stateAfter(
  folder: string,
  target: ResetTarget,
  rrd: Rrd,
  ledger: readonly LedgerLine[],
): Promise<Reset> {
  if ("paper" in target) return resetPaper(folder, rrd, target.paper);
  if ("unit" in target) return resetUnit(folder, rrd, target.unit);
  if ("to" in target) return resetTo(folder, rrd, ledger, target.to);
  // What an agent dropped may be just what is wanted now.
  const { refusals: _, excluded: __, ...kept } = rrd;
  const empty = {
    papers_pool: [],
    insights: [],
    visited_urls: [],
    blocked_sources: [],
    statistics: null,
    timing: null,
  };
  const sentence = `The project begins again: ${count(rrd.papers_pool.length, "paper")} and ${count(rrd.insights?.length ?? 0, "insight")} are removed.`;
  return { after: { ...kept, ...empty, phase: "DISCOVERY" }, unit: "*", to: 0, sentences: [sentence] };
}

function resetPaper(folder: string, rrd: Rrd, id: string): Reset {
  const paper = rrd.papers_pool.find((each) => each.id === id);
  if (paper === undefined)
    throw new ExpectedError(
      `There is no paper ${id} in ${join(folder, rrdName)}; ${isUnit(id) ? `'--unit ${id}' resets it` : `'research-ralph status ${shellWord(folder)} --papers' lists them`}.`,
      2,
    );
  const after = withoutResult(rrd, paper);
  const gone = (rrd.insights?.length ?? 0) - (after.insights?.length ?? 0);
  return {
    after,
    unit: id,
    sentences: [
      `${nameOf(paper)} is pending again; its analysis, scores, refusals and ${count(gone, "insight")} are removed.`,
      ...(paper.override === undefined ? [] : [`So is the decision to ${paper.override.decision} it.`]),
    ],
  };
}

/** What a reading leaves in a paper's record and another reading makes again. */
export function withoutResult(rrd: Rrd, paper: Paper): Rrd {
  const { read_depth: _, text_sha256: __, iteration: ___, refusals: ____, warnings: _____, ...others } = paper;
  // A person's decision rested on this reading; what screening answered does not.
  const {
    held_scores: _held,
    excluded_by: _by,
    override: _override,
    extracted: _extracted,
    not_retrieved: _missing,
    answers = [],
    ...kept
  } = others;
  const screened = answers.filter(({ stage }) => stage === "screening");
  const unread: Paper = {
    ...kept,
    ...(screened.length === 0 ? {} : { answers: screened }),
    status: "pending",
    score: null,
    score_breakdown: null,
    analysis: null,
    decision: null,
    notes: null,
  };
  const insights = rrd.insights?.filter((insight) => insight.paper_id !== paper.id);
  return {
    ...rrd,
    papers_pool: rrd.papers_pool.map((each) => (each === paper ? unread : each)),
    ...(insights && { insights }),
  };
}

/** Lets a unit that is not a paper be tried again. Its document stays until a new one is written. */
async function resetUnit(folder: string, rrd: Rrd, unit: ResetUnit): Promise<Reset> {
  const { refusals = [], ...rest } = rrd;
  const isOf = (refused: string | undefined) =>
    unit === "discovery" ? refused?.startsWith("discovery-") === true : refused === unit;
  const others = refusals.filter((refusal) => !isOf(refusal.unit));
  const kept: Rrd = others.length === 0 ? rest : { ...rest, refusals: others };
  const gone = refusals.length - others.length;
  const cleared = gone === 0 ? "" : `; ${count(gone, "refusal")} cleared`;
  if (unit === "discovery") {
    const after = searchingAgain(folder, kept);
    const again = (rrd.excluded ?? []).length - (after.excluded ?? []).length;
    return {
      after,
      unit,
      sentences: [
        `The search continues${cleared}.`,
        ...(again === 0
          ? []
          : [`${count(again, "work")} that ${again === 1 ? "was" : "were"} excluded may be screened again.`]),
      ],
    };
  }
  const phase =
    unit === "report" && rrd.phase !== "DISCOVERY" ? "ANALYSIS" : rrd.phase === "COMPLETE" ? "IDEATION" : rrd.phase;
  const sentence = unit === "report" ? "The report will be written again" : "The ideas will be derived again";
  const statistics = unit === "report" ? await withStated(folder, rrd.statistics) : rrd.statistics;
  return { after: { ...kept, ...given({ statistics }), phase }, unit, sentences: [`${sentence}${cleared}.`] };
}

/** The statistics with what the report that goes away states of the work, where another program wrote it. */
async function withStated(folder: string, statistics: Rrd["statistics"]): Promise<Rrd["statistics"]> {
  const report = await readRegularText(join(folder, reportName)).catch(() => "");
  const stated = { ...statistics?.stated, ...statedByReport(report) };
  return Object.keys(stated).length === 0 ? statistics : { ...statistics, stated };
}

function searchingAgain(folder: string, rrd: Rrd): Rrd {
  const { target_papers: target } = rrd.requirements;
  if (target !== undefined && rrd.papers_pool.length >= target) {
    throw new ExpectedError(
      `The pool holds ${rrd.papers_pool.length} of ${target} papers, so there is nothing to search for; 'research-ralph run ${shellWord(folder)} -p <more> --force' asks for more.`,
      2,
    );
  }
  const { statistics, ...kept } = rrd;
  const {
    failures_in_a_row = {},
    source_failure_reasons: _,
    sources_skipped: __,
    ...metrics
  } = statistics?.discovery_metrics ?? {};
  // A source that failed was given up by the run and is asked again; what else stands there a person wants left out.
  const inARow = new Map(Object.entries(failures_in_a_row));
  const blocked_sources = rrd.blocked_sources?.filter(
    (blocked) => typeof blocked !== "string" || (inARow.get(blocked) ?? 0) === 0,
  );
  // By keywords, a window or criteria that may be others by now; what a person decided stays.
  const excluded = rrd.excluded?.filter(
    ({ stage, override }) => override !== undefined || (stage !== "screened" && stage !== "window"),
  );
  return {
    ...kept,
    phase: "DISCOVERY",
    ...given({ excluded, blocked_sources }),
    statistics: { ...statistics, discovery_metrics: { ...withoutRounds(metrics), batches_without_new: 0 } },
  };
}

/** What was asked so far, and why there would be nothing more, is no longer true once everything is asked again. */
export function withoutRounds(metrics: object): object {
  const gone = ["exhausted", "rounds", "screening", "recall", "pool_sha256"];
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => !gone.includes(name)));
}

/** Whether the answers kept of a search are to go, so that it is asked again. */
export const asksAgain = (target: ResetTarget): boolean =>
  "all" in target || ("unit" in target && target.unit === "discovery");

async function resetTo(folder: string, rrd: Rrd, ledger: readonly LedgerLine[], to: number): Promise<Reset> {
  const { state, undone, missing } = await undoneAfter(folder, researchFormat, { state: rrd, ledger }, to);
  let after = state;
  // The phase is derived and in no entry; the first iteration that is undone tells in which one it was.
  const [first] = undone;
  if (first !== undefined) after = { ...after, phase: first.phase as Rrd["phase"] };
  const sentences = [`Everything after iteration ${to} is undone: ${count(undone.length, "iteration")}.`];
  const then = currentAccepted(ledger.filter(({ iteration }) => iteration <= to));
  const back = [...then.keys()].filter((unit) => !currentAccepted(ledger).has(unit));
  if (back.length > 0) {
    const resets = undone.filter(({ outcome }) => outcome === "reset").map(({ iteration }) => iteration);
    sentences.push(
      `${count(resets.length, "reset")} (iteration ${resets.join(", ")}) ${resets.length === 1 ? "is" : "are"} undone with it, so ${count(back.length, "result")} ${back.length === 1 ? "counts" : "count"} again: ${back.join(", ")}.`,
    );
  }
  if (missing.length > 0) {
    after = withoutResultsOf(after, undone, then);
    sentences.push(
      `The journal of iterations ${missing.join(", ")} is gone, so papers that they found stay, as pending ones.`,
    );
  }
  return { after, unit: "*", to, sentences };
}

/** Without a journal at least the papers read since can be taken back. */
function withoutResultsOf(rrd: Rrd, undone: readonly LedgerLine[], accepted: ReadonlyMap<string, number>): Rrd {
  const read = new Set(
    undone.filter(({ outcome, unit }) => outcome === "accepted" && !accepted.has(unit)).map(({ unit }) => unit),
  );
  return rrd.papers_pool.filter(({ id }) => read.has(id)).reduce(withoutResult, rrd);
}

const isUnit = (id: string): id is ResetUnit => (resetUnits as readonly string[]).includes(id);

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

/** How the original's report begins: "**Research Period:** January 14-15, 2026". */
const headLine = /^\*\*(Research Period|Agent):\*\*\s*(.{1,200})$/gm;

/** Period and agent that another program's report states at its head; nothing of our own report, which derives them. */
function statedByReport(report: string): { readonly research_period?: string; readonly agent?: string } {
  if (/every table, count and score by code/.test(report)) return {};
  const head = report.slice(0, 4_000);
  const said = new Map([...head.matchAll(headLine)].map(([, name = "", text = ""]) => [name, text.trim()]));
  return given({ research_period: said.get("Research Period"), agent: said.get("Agent") });
}
