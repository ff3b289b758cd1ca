import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../generated/ledger.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { ExpectedError } from "../lib/errors.js";
import { makeFolder } from "../lib/make-folder.js";
import { changesBetween, undoChanges } from "./changes.js";
import { stampOf, writeFileAtomic } from "./files.js";
import { hiddenName, readEntry } from "./journal.js";
import { currentAccepted } from "./ledger.js";
import { progressName } from "./progress-log.js";
import { openResearchAfter } from "./research.js";
import type { Fold, ResearchOptions } from "./research-types.js";
import { formatRrd, readRrdFile, rrdName } from "./rrd-file.js";
import { invalid, lastGoodOf } from "./state-file.js";
import { explaining } from "./system-error.js";

/** What is to be done again: everything, one paper, or everything after an iteration. */
export type ResetTarget = { readonly all: true } | { readonly paper: string } | { readonly to: number };

export interface ResetOptions {
  readonly derive: ResearchOptions["derive"];
  readonly git: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Takes results back, after a copy of rrd.json and progress.txt was put into .ralph/backups/. Nothing is lost in the logs: the reset
 * is an iteration of its own. An rrd.json that was broken by hand is kept beside the last good version, which takes its place.
 * Returns what was done, a sentence each.
 * @throws ExpectedError when another process holds the research, the paper is unknown, or there is no version to go back to.
 */
export async function resetResearch(folder: string, target: ResetTarget, options: ResetOptions): Promise<string[]> {
  const at = new Date(options.now()).toISOString();
  const done: string[] = [];
  const notify = (_: string, message: string) => void done.push(message);
  const research = await openResearchAfter(folder, { ...options, notify }, async () => {
    done.push(await backUp(folder, at));
    done.push(...(await replaceBroken(folder, at)));
  });
  try {
    const { rrd, ledger } = await research.load();
    const iteration = research.nextIteration();
    const { after, unit, to, sentences } = await stateAfter(folder, target, rrd, ledger);
    done.push(...sentences);
    const line: LedgerLine = { iteration, at, unit, phase: rrd.phase, outcome: "reset", ...(to === undefined ? {} : { to }) };
    const progress = `\n## ${at} - Reset\n${sentences.map((sentence) => `- ${sentence}\n`).join("")}\n---\n`;
    const fold: Fold = { iteration, at, message: `reset: ${sentences[0]}`, changes: changesBetween(rrd, after), progress, ledger: line };
    await research.fold(fold);
  } finally {
    await research.close();
  }
  return done;
}

interface Reset {
  readonly after: Rrd;
  readonly unit: string;
  readonly to?: number;
  readonly sentences: readonly string[];
}

async function stateAfter(folder: string, target: ResetTarget, rrd: Rrd, ledger: readonly LedgerLine[]): Promise<Reset> {
  if ("paper" in target) return resetPaper(folder, rrd, target.paper);
  if ("to" in target) return resetTo(folder, rrd, ledger, target.to);
  const { refusals: _, ...kept } = rrd;
  const empty = { papers_pool: [], insights: [], visited_urls: [], blocked_sources: [], statistics: null, timing: null };
  const sentence = `The research begins again: ${count(rrd.papers_pool.length, "paper")} and ${count(rrd.insights?.length ?? 0, "insight")} are taken out.`;
  return { after: { ...kept, ...empty, phase: "DISCOVERY" }, unit: "*", to: 0, sentences: [sentence] };
}

function resetPaper(folder: string, rrd: Rrd, id: string): Reset {
  const paper = rrd.papers_pool.find((each) => each.id === id);
  if (paper === undefined)
    throw new ExpectedError(`There is no paper ${id} in ${join(folder, rrdName)}; 'research-ralph status ${folder}' lists them.`);
  const after = withoutResult(rrd, paper);
  const gone = (rrd.insights?.length ?? 0) - (after.insights?.length ?? 0);
  return { after, unit: id, sentences: [`${id} is pending again; its analysis, scores, refusals and ${count(gone, "insight")} are taken out.`] };
}

/** What a reading leaves in a paper's record and another reading makes anew. */
function withoutResult(rrd: Rrd, paper: Paper): Rrd {
  const { read_depth: _, text_sha256: __, iteration: ___, refusals: ____, warnings: _____, ...kept } = paper;
  const unread: Paper = { ...kept, status: "pending", score: null, score_breakdown: null, analysis: null, decision: null, notes: null };
  const insights = rrd.insights?.filter((insight) => insight.paper_id !== paper.id);
  return { ...rrd, papers_pool: rrd.papers_pool.map((each) => (each === paper ? unread : each)), ...(insights && { insights }) };
}

async function resetTo(folder: string, rrd: Rrd, ledger: readonly LedgerLine[], to: number): Promise<Reset> {
  const undone = ledger.filter(({ iteration }) => iteration > to).toSorted((a, b) => a.iteration - b.iteration);
  const missing: number[] = [];
  let after = rrd;
  for (const { iteration } of undone.toReversed()) {
    const entry = await readEntry(folder, iteration);
    if (entry === undefined) missing.push(iteration);
    else after = undoChanges(after, entry.changes);
  }
  // The phase is derived and in no entry; the first iteration that is undone tells in which one it was.
  const [first] = undone;
  if (first !== undefined) after = { ...after, phase: first.phase };
  const sentences = [`Everything after iteration ${to} is undone: ${count(undone.length, "iteration")}.`];
  if (missing.length > 0) {
    after = withoutResultsOf(after, undone, to === 0 ? new Map() : currentAccepted(ledger.filter(({ iteration }) => iteration <= to)));
    sentences.push(`The journal of iterations ${missing.toReversed().join(", ")} is gone, so papers that they found stay, as pending ones.`);
  }
  return { after, unit: "*", to, sentences };
}

/** Without a journal at least the papers read since can be taken back. */
function withoutResultsOf(rrd: Rrd, undone: readonly LedgerLine[], accepted: ReadonlyMap<string, number>): Rrd {
  const read = new Set(undone.filter(({ outcome, unit }) => outcome === "accepted" && !accepted.has(unit)).map(({ unit }) => unit));
  return rrd.papers_pool.filter(({ id }) => read.has(id)).reduce(withoutResult, rrd);
}

async function backUp(folder: string, at: string): Promise<string> {
  const backup = join(folder, hiddenName, "backups", forName(at));
  await explaining(backup, async () => {
    await makeFolder(backup);
    for (const name of [rrdName, progressName]) {
      const path = join(folder, name);
      if ((await stampOf(path)) !== undefined) await explaining(path, () => copyFile(path, join(backup, name)));
    }
  });
  return `A copy of the files as they were is in ${backup}.`;
}

async function replaceBroken(folder: string, at: string): Promise<string[]> {
  const path = join(folder, rrdName);
  const { problems } = await readRrdFile(path);
  if (problems === undefined) return [];
  const lastGood = lastGoodOf(folder);
  const good = (await stampOf(lastGood)) === undefined ? undefined : await readRrdFile(lastGood);
  if (good?.ok === undefined) throw await invalid(folder, problems);
  const broken = `${path}.broken-${forName(at)}`;
  await explaining(broken, () => copyFile(path, broken));
  await writeFileAtomic(path, formatRrd(good.ok));
  return [`rrd.json was broken; it is kept as ${broken}, and the last good version is back.`];
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

/** A time that every file system takes in a name. */
const forName = (at: string): string => at.replaceAll(":", "-");
