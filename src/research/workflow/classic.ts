import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import type { Rrd, Paper } from "../generated/rrd.js";
import type { Redact } from "../../engine/lib/redact.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import type { AgentRun, Outcome, Tell, Unit, Verdict, Workflow } from "../../engine/loop/types.js";
import { stampOf, type Stamp, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import type { Change, Research } from "../project-files/research.js";
import { readRrdFile, formatRrd, parseRrd } from "../project-files/rrd-file.js";
import { type Experience, accountOf } from "./forecast.js";
import { loadSteered } from "./steering/apply-steering.js";
import { memoryOf } from "../derived/observations.js";
import { orVerdict } from "../../engine/loop/in-workflows.js";
import { withoutFrontMatter } from "./brief/front-matter.js";
import { agreedPrompt, fill } from "./brief/prompt-file.js";
import { saysComplete } from "../../engine/loop/sentinel.js";
import { allRead } from "./next-unit.js";
import { progressOf } from "../derived/status.js";
import { statusOf } from "./next-unit.js";
import type { ResearchState } from "../units/unit-kind.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { ideasName, progressFile, reportName, rrdFile, rrdName } from "../project-files/layout.js";
import type { Guard } from "../../engine/storage/guard/guard.js";
import type { Workspaces } from "./workspace.js";
import { ledgerLine } from "../../engine/loop/run-record/ledger-line.js";
import { sentinelOf } from "./accept.js";
import { rename, writeFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { timeForName } from "../../engine/lib/clock.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

interface ClassicOptions {
  readonly research: Research;
  /** The prompt, front matter taken off, where prompt.md is gone later. */
  readonly prompt: string;
  /** The repository's root, where the agent works and prompt.md lies. */
  readonly root: string;
  readonly workspaces: Pick<Workspaces, "stateDir">;
  readonly now: () => number;
  /** Takes the user's secrets out of what they say. */
  readonly redact: Redact;
  /** Remembers what a person has told the project, before an agent starts. */
  readonly guardFiles: (iteration: number) => Promise<Guard>;
  readonly memory: HistoryLimits;
  /** What forecasts rest on until the project has its own. */
  readonly experience: Experience;
  /** Puts the project away at the end of the run. */
  readonly close: (verdict?: Verdict) => Promise<void>;
}

export type ClassicWorkflow = Workflow<ResearchState, Unit, undefined, Before>;

/**
 * The original's way: the agent edits the project folder itself, with the whole prompt.md, one at a time. After every
 * iteration the folder is validated, restored where it is broken, and its statistics and phase are derived again.
 */
export function classicWorkflow(options: ClassicOptions): ClassicWorkflow {
  const { research, root, prompt } = options;
  const { folder } = research;
  const { stateDir } = options.workspaces;
  /** Set while an agent works: what then stands in the inbox may be its own. */
  let guarded = false;
  return {
    name: "classic",
    load: (tell) =>
      orVerdict(async () => {
        const { rrd, ledger } = await (guarded ? research.load() : loadSteered(research, options, tell));
        return { rrd, ledger, status: statusOf(rrd, ledger), agentNotes: new Map() };
      }),
    // Agents that edit one folder would undo each other's work.
    next: ({ rrd }, busy) => (busy.length > 0 ? "wait" : nextClassicUnit(rrd, folder)),
    progress: ({ rrd }) => progressOf(rrd),
    account: ({ rrd, ledger }) => accountOf(rrd, ledger, options.experience),
    memory: ({ rrd, ledger }) => memoryOf(rrd, ledger, options.memory),
    close: options.close,
    brief: (_state, _unit, _prepared, notes) =>
      orVerdict(async () => {
        const iteration = research.nextIteration();
        const now = await agreedPrompt(root, stateDir);
        const before: Before = {
          guard: await options.guardFiles(iteration),
          log: await readRegularText(progressFile(folder)).catch(() => ""),
          documents: await documentStamps(folder),
        };
        const text = classicBrief(now === undefined ? prompt : withoutFrontMatter(now), folder, notes.steering);
        const brief = {
          iteration,
          text,
          tokens: estimateTokens(text),
          workspace: root,
          access: { web: true, read: true, everything: true },
        };
        guarded = true;
        return { brief, context: before };
      }),
    accept: (state, unit, done, { tell }) =>
      orVerdict(async () => {
        if ("prepared" in done) throw new Error("classic mode settles nothing by itself");
        guarded = false;
        const { agent } = done.run;
        for (const message of await done.context.guard.end({ agent, during: `${agent} ran unconfined` }))
          await tell({ type: "notice", level: "warning", message });
        return await acceptClassic(options, state, unit, done.run, done.context, tell);
      }),
  };
}

/**
 * The user's prompt as it is; behind it, marked as theirs, what they have said since. Also what `show next`
 * prints.
 */
export function classicBrief(prompt: string, folder: string, steering: string | undefined): string {
  const text = fill(prompt, { RESEARCH_DIR: folder });
  return steering === undefined
    ? text
    : `${text.trimEnd()}\n\n---\n\n# What the person in charge asks\n\n${steering}\n`;
}

/** The folder's other files as an iteration found them. */
interface Before {
  /** Takes messages away that none of our commands left. */
  readonly guard: Guard;
  readonly log: string;
  readonly documents: readonly (Stamp | undefined)[];
}

const documentStamps = (folder: string): Promise<(Stamp | undefined)[]> =>
  Promise.all([reportName, ideasName].map((name) => stampOf(join(folder, name))));

/** The one unit there is, over and over, until the files prove that the project is done. */
export function nextClassicUnit(rrd: Rrd, folder: string): Unit | Verdict {
  if (rrd.phase === "COMPLETE" && provenPhase(rrd, folder) === "COMPLETE")
    return { verdict: "complete", reason: `${allRead(rrd)}.` };
  return { kind: "classic", id: "classic", phase: rrd.phase, title: "classic mode" };
}

/**
 * The phase that the files bear out. Agents go on too early, and in the phase they then find written down they would do
 * nothing more: in COMPLETE the original's prompt only asks for the sentinel.
 */
function provenPhase(rrd: Rrd, folder: string): Rrd["phase"] {
  const { phase, papers_pool: pool, handoff } = rrd;
  if (phase === "DISCOVERY" || pool.length === 0) return "DISCOVERY";
  if (phase === "ANALYSIS" || !pool.every(isDecided) || !existsSync(join(folder, reportName))) return "ANALYSIS";
  return phase === "COMPLETE" && handoff?.product_ideation?.enabled === true && !existsSync(join(folder, ideasName))
    ? "IDEATION"
    : phase;
}

async function acceptClassic(
  options: ClassicOptions,
  state: ResearchState,
  unit: Unit,
  run: AgentRun,
  before: Before,
  tell: Tell,
): Promise<Outcome> {
  const { research } = options;
  const { folder } = research;
  const at = new Date(options.now());
  const fold = { iteration: run.iteration, at: at.toISOString(), changes: [] as Change[] };
  const { reasons, notices } = await restoreRecords(folder, state.rrd, at);
  for (const message of [...notices, ...(await restoreLog(folder, before.log, at))])
    await tell({ type: "notice", level: "warning", message });

  const { ok: after = state.rrd } = await readRrdFile(rrdFile(folder));
  const phase = provenPhase(after, folder);
  const tooEarly =
    phase === after.phase ? undefined : `phase ${after.phase} is not supported by the files; set back to ${phase}`;
  if (tooEarly !== undefined) fold.changes.push({ in: "rrd", set: { phase }, was: { phase: after.phase } });
  if (run.failure !== undefined) {
    const { kind, message } = run.failure;
    await research.fold({
      ...fold,
      message: `classic: ${kind}`,
      later: true,
      ledger: { ...ledgerLine(unit, run, at, "failed"), failure: kind, reasons: [message, ...reasons] },
    });
    return { outcome: "failed", failure: run.failure };
  }

  const sentinel = sentinelOf(phase === "COMPLETE", saysComplete(run.message));
  const documents = await documentStamps(folder);
  const isUnchanged =
    JSON.stringify({ ...after, phase }) === JSON.stringify(state.rrd) &&
    documents.every((stamp, index) => stamp === before.documents[index]);
  if (isUnchanged && reasons.length === 0)
    reasons.push(tooEarly ?? "neither rrd.json nor the report or the ideas were changed");
  else if (tooEarly !== undefined)
    await tell({ type: "notice", level: "warning", message: `In rrd.json ${tooEarly}.` });
  if (reasons.length > 0) {
    await research.fold({
      ...fold,
      message: "classic: refused",
      ledger: { ...ledgerLine(unit, run, at, "refused"), reasons, ...sentinel },
    });
    return { outcome: "refused", reasons };
  }
  const summary = summaryOf(state.rrd, { ...after, phase });
  await research.fold({
    ...fold,
    message: `classic: ${summary}`,
    ledger: { ...ledgerLine(unit, run, at, "accepted"), unit: doneUnit(state.rrd.phase, phase), ...sentinel },
  });
  return { outcome: "accepted", summary };
}

/**
 * What the ledger calls done, in the words of the other workflow: a project that was begun there gets its phase from
 * them.
 */
function doneUnit(before: Rrd["phase"], after: Rrd["phase"]): string {
  if (before === "IDEATION" && after === "COMPLETE") return "ideas";
  return (before === "DISCOVERY" || before === "ANALYSIS") && (after === "IDEATION" || after === "COMPLETE")
    ? "report"
    : "classic";
}

function summaryOf(before: Rrd, after: Rrd): string {
  const decided = (rrd: Rrd) => rrd.papers_pool.filter(isDecided).length;
  const papers = (count: number) => `${count} ${count === 1 ? "paper" : "papers"}`;
  const found = after.papers_pool.length - before.papers_pool.length;
  const read = decided(after) - decided(before);
  const parts = [
    ...(found > 0 ? [`${papers(found)} found`] : []),
    ...(read > 0 ? [`${papers(read)} analysed`] : []),
    ...(after.phase !== before.phase ? [`phase ${before.phase} to ${after.phase}`] : []),
  ];
  return parts.length > 0 ? parts.join(", ") : "the folder was changed";
}

/** What is settled once a paper is decided: 'reset --paper' opens it again, an agent does not. */
const judgement = ["status", "decision", "score", "score_breakdown"] as const;

/** What an iteration left, put right. */
interface Restored {
  /** What was wrong and refuses the iteration, a sentence each. */
  readonly reasons: string[];
  /** What was put back and does not. */
  readonly notices: readonly string[];
}

/**
 * Puts back what an agent that edits rrd.json itself broke or lost; a broken file is kept next to it, and of a valid
 * one everything that is new stays, but for papers beyond the one that an iteration reads.
 */
async function restoreRecords(folder: string, before: Rrd, at: Date): Promise<Restored> {
  const path = rrdFile(folder);
  const text = await readRegularText(path).catch(() => undefined);
  if (text === undefined) {
    await writeFileAtomic(path, formatRrd(before));
    return { reasons: ["rrd.json was left deleted and was restored"], notices: [] };
  }
  const { ok: now, problems } = parseRrd(text, rrdName);
  if (now === undefined) {
    const broken = `rrd.json.broken-${timeForName(at.getTime())}`;
    await rename(path, join(folder, broken));
    await writeFileAtomic(path, formatRrd(before));
    const [first] = problems;
    const what = first === undefined ? "" : ` (${first.pointer === "" ? "" : `${first.pointer} `}${first.message})`;
    return { reasons: [`rrd.json was left broken${what} and was restored; the broken one is ${broken}`], notices: [] };
  }

  const old = new Map(before.papers_pool.map((paper) => [paper.id, paper]));
  const decidedBefore = ({ id }: Paper) => {
    const was = old.get(id);
    return was !== undefined && isDecided(was) ? was : undefined;
  };
  const isUndone = (paper: Paper) => {
    const was = decidedBefore(paper);
    return was !== undefined && (!isDecided(paper) || (was.analysis != null && paper.analysis == null));
  };
  const isRejudged = (paper: Paper) => {
    const was = decidedBefore(paper);
    return (
      was !== undefined && !isUndone(paper) && judgement.some((field) => !isDeepStrictEqual(was[field], paper[field]))
    );
  };
  const fresh = now.papers_pool.filter((paper) => isDecided(paper) && decidedBefore(paper) === undefined);
  const [, ...more] = fresh.toSorted((a, b) => (b.priority ?? 3) - (a.priority ?? 3));
  const beyond = new Set(more.map(({ id }) => id));
  const papers = missing(before.papers_pool, now.papers_pool);
  const undone = now.papers_pool.filter(isUndone);
  const rejudged = now.papers_pool.filter(isRejudged);
  const insights = missing(before.insights ?? [], now.insights ?? []);
  const known = new Set((before.insights ?? []).map(({ id }) => id));
  const lost = [
    [papers, "paper", "papers", "removed"],
    [undone, "analysis", "analyses", "removed"],
    [insights, "insight", "insights", "removed"],
    [rejudged, "decided paper", "decided papers", "judged anew"],
  ] as const;
  const said = lost.flatMap(([{ length }, one, many, done]) =>
    length === 0 ? [] : [`${length} ${length === 1 ? one : many} ${done}`],
  );
  const restored = (paper: Paper): Paper => {
    const was = old.get(paper.id);
    if (beyond.has(paper.id)) return was ?? { ...paper, ...unread };
    if (was === undefined || isUndone(paper)) return was ?? paper;
    return isRejudged(paper)
      ? { ...paper, ...Object.fromEntries(judgement.map((field) => [field, was[field]])) }
      : paper;
  };
  const own = ofThePerson(before, now);
  const whole =
    said.length + beyond.size === 0
      ? own
      : {
          ...own,
          papers_pool: [...now.papers_pool.map(restored), ...papers],
          insights: [
            ...(now.insights ?? []).filter(({ id, paper_id }) => known.has(id) || !beyond.has(paper_id ?? "")),
            ...insights,
          ],
        };
  if (whole !== now) await writeFileAtomic(path, formatRrd(whole));
  return {
    reasons: said.length === 0 ? [] : [`rrd.json was left with ${said.join(", ")}; the previous content was restored`],
    notices:
      beyond.size === 0
        ? []
        : [
            `${fresh.length} papers were decided in one iteration; one counts, and ${[...beyond].join(", ")} will be read again.`,
          ],
  };
}

/** A paper that was found and decided at once, as it was found. */
const unread = { status: "pending", score: null, score_breakdown: null, analysis: null, decision: null } as const;

/**
 * With what agents have no say in: what the loop remembers, the words of the person among it, and a budget that the
 * agent dropped. One that was changed stays: a person may raise it at any time.
 */
function ofThePerson(before: Rrd, now: Rrd): Rrd {
  const isLoopSame = isDeepStrictEqual(now.loop, before.loop);
  const isBudgetGone = now.budget == null && before.budget != null;
  if (isLoopSame && !isBudgetGone) return now;
  const { loop: _, ...rest } = now;
  return { ...rest, ...withoutUndefined({ loop: before.loop }), ...(isBudgetGone ? { budget: before.budget } : {}) };
}

/** Records of `before` whose id is in none of `now`. */
function missing<Item extends { id?: string | null }>(before: readonly Item[], now: readonly Item[]): Item[] {
  const ids = new Set(now.map(({ id }) => id));
  return before.filter(({ id }) => id != null && !ids.has(id));
}

/**
 * progress.txt only grows: where an agent rewrote it, the earlier text comes back and the agent's version is kept.
 * Answers with what was done. It is not a reason to refuse the iteration: the records are whole.
 */
async function restoreLog(folder: string, before: string, at: Date): Promise<string[]> {
  const path = progressFile(folder);
  const now = await readRegularText(path).catch(() => "");
  if (now.startsWith(before)) return [];
  await writeFileAtomic(path, before);
  if (now.trim() === "") return ["progress.txt was emptied instead of appended to; the earlier text is back"];
  const kept = join(folder, `progress.txt.rewritten-${timeForName(at.getTime())}`);
  await writeFile(kept, now);
  return [
    `progress.txt was rewritten instead of appended to; the earlier text is back, the agent's version is ${kept}`,
  ];
}
