import { join } from "node:path";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import type { Rrd, Paper } from "../generated/rrd.js";
import type { Redact } from "../../engine/lib/redact.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import type { AgentRun, Outcome, Tell, Unit, Verdict, Workflow } from "../../engine/loop/types.js";
import { stampOf, type Stamp, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { type Change, phaseOfDocuments, type Research } from "../project-files/research.js";
import { readRrdFile, formatRrd, parseRrd } from "../project-files/rrd-file.js";
import { type Experience, accountOf } from "./forecast.js";
import { loadWithInstructions } from "./steering/apply-steering.js";
import { memoryOf } from "../derived/observations.js";
import { withErrorVerdict } from "../../engine/loop/in-workflows.js";
import { withoutFrontMatter } from "./brief/front-matter.js";
import { agreedPrompt, fill } from "./brief/prompt-file.js";
import { saysComplete } from "../../engine/loop/sentinel.js";
import { readingsText, statusOf } from "./next-unit.js";
import { progressOf, undecidedFields } from "../derived/status.js";
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
  /** The prompt without front matter; used if prompt.md is deleted later. */
  readonly prompt: string;
  /** The repository's root, in which the agent works and which contains prompt.md. */
  readonly root: string;
  readonly workspaces: Pick<Workspaces, "stateDir">;
  readonly now: () => number;
  /** Removes the user's secrets from their messages. */
  readonly redact: Redact;
  /** Saves the user's messages to the project before an agent starts. */
  readonly guardFiles: (iteration: number) => Promise<Guard>;
  readonly memory: HistoryLimits;
  /** The basis of forecasts until the project has its own figures. */
  readonly experience: Experience;
  /** Closes the project at the end of the run. */
  readonly close: (verdict?: Verdict) => Promise<void>;
}

export type ClassicWorkflow = Workflow<ResearchState, Unit, undefined, FolderBefore>;

/**
 * Classic mode, as in the original tool: one agent at a time edits the project folder itself, with the whole prompt.md.
 * After every iteration the folder is validated, broken files are restored, and statistics and phase are derived again.
 */
export function classicWorkflow(options: ClassicOptions): ClassicWorkflow {
  const { research, root, prompt } = options;
  const { folder } = research;
  const { stateDir } = options.workspaces;
  // While an agent works, the inbox may contain messages that the agent wrote.
  let isAgentRunning = false;
  return {
    name: "classic",
    load: (tell) =>
      withErrorVerdict(async () => {
        const { rrd, ledger } = await (isAgentRunning
          ? research.load()
          : loadWithInstructions(research, options, tell));
        return { rrd, ledger, status: statusOf(rrd, ledger), agentNotes: new Map() };
      }),
    // Two agents in one folder would undo each other's work.
    next: ({ rrd }, busy) => (busy.length > 0 ? "wait" : nextClassicUnit(rrd, folder)),
    progress: ({ rrd }) => progressOf(rrd),
    account: ({ rrd, ledger }) => accountOf(rrd, ledger, options.experience),
    memory: ({ rrd, ledger }) => memoryOf(rrd, ledger, options.memory),
    close: options.close,
    brief: (_state, _unit, _prepared, notes) =>
      withErrorVerdict(async () => {
        const iteration = research.nextIteration();
        const currentPrompt = await agreedPrompt(root, stateDir);
        const before: FolderBefore = {
          guard: await options.guardFiles(iteration),
          log: await readRegularText(progressFile(folder)).catch(() => ""),
          documents: await documentStamps(folder),
        };
        const text = classicBrief(
          currentPrompt === undefined ? prompt : withoutFrontMatter(currentPrompt),
          folder,
          notes.steering,
        );
        const brief = {
          iteration,
          text,
          tokens: estimateTokens(text),
          workspace: root,
          access: { web: true, read: true, everything: true },
        };
        isAgentRunning = true;
        return { brief, context: before };
      }),
    accept: (state, unit, done, { tell }) =>
      withErrorVerdict(async () => {
        if ("prepared" in done) throw new Error("classic mode settles nothing by itself");
        isAgentRunning = false;
        const { agent } = done.run;
        for (const message of await done.context.guard.end({ agent, during: `${agent} ran unconfined` }))
          await tell({ type: "notice", level: "warning", message });
        return await acceptClassic(options, state, unit, done.run, done.context, tell);
      }),
  };
}

/**
 * The user's prompt, followed by their instructions since then. `show next` prints it too.
 */
export function classicBrief(prompt: string, folder: string, steering: string | undefined): string {
  const text = fill(prompt, { RESEARCH_DIR: folder });
  return steering === undefined
    ? text
    : `${text.trimEnd()}\n\n---\n\n# What the person in charge asks\n\n${steering}\n`;
}

/** The state of the folder's other files before an iteration. */
interface FolderBefore {
  /** Removes messages that no command of this program wrote. */
  readonly guard: Guard;
  readonly log: string;
  readonly documents: readonly (Stamp | undefined)[];
}

const documentStamps = (folder: string): Promise<(Stamp | undefined)[]> =>
  Promise.all([reportName, ideasName].map((name) => stampOf(join(folder, name))));

/** Always the same unit, until the files prove that the project is complete. */
export function nextClassicUnit(rrd: Rrd, folder: string): Unit | Verdict {
  if (rrd.phase === "COMPLETE" && phaseByFiles(rrd, folder) === "COMPLETE")
    return { verdict: "complete", reason: `${readingsText(rrd)}.` };
  return { kind: "classic", id: "classic", phase: rrd.phase, title: "classic mode" };
}

/**
 * The phase that the files prove. If an agent sets a later phase too early, the work of the earlier phase would not be
 * done any more: in phase COMPLETE the original prompt only asks for the sentinel.
 */
function phaseByFiles(rrd: Rrd, folder: string): Rrd["phase"] {
  const { phase, papers_pool: pool } = rrd;
  if (phase === "DISCOVERY" || pool.length === 0) return "DISCOVERY";
  return pool.every(isDecided) ? phaseOfDocuments(rrd, folder) : "ANALYSIS";
}

async function acceptClassic(
  options: ClassicOptions,
  state: ResearchState,
  unit: Unit,
  run: AgentRun,
  before: FolderBefore,
  tell: Tell,
): Promise<Outcome> {
  const { research } = options;
  const { folder } = research;
  const time = new Date(options.now());
  const fold = { iteration: run.iteration, at: time.toISOString(), changes: [] as Change[] };
  const { reasons, notices } = await restoreRecords(folder, state.rrd, time);
  for (const message of [...notices, ...(await restoreLog(folder, before.log, time))])
    await tell({ type: "notice", level: "warning", message });

  const { ok: after = state.rrd } = await readRrdFile(rrdFile(folder));
  const phase = phaseByFiles(after, folder);
  const phaseProblem =
    phase === after.phase ? undefined : `phase ${after.phase} is not supported by the files; set back to ${phase}`;
  if (phaseProblem !== undefined) fold.changes.push({ in: "rrd", set: { phase }, was: { phase: after.phase } });
  if (run.failure !== undefined) {
    const { kind, message } = run.failure;
    await research.fold({
      ...fold,
      message: `classic: ${kind}`,
      commitsLater: true,
      ledger: { ...ledgerLine(unit, run, time, "failed"), failure: kind, reasons: [message, ...reasons] },
    });
    return { outcome: "failed", failure: run.failure };
  }

  const sentinel = sentinelOf(phase === "COMPLETE", saysComplete(run.message));
  const documents = await documentStamps(folder);
  const isUnchanged =
    JSON.stringify({ ...after, phase }) === JSON.stringify(state.rrd) &&
    documents.every((stamp, index) => stamp === before.documents[index]);
  if (isUnchanged && reasons.length === 0)
    reasons.push(phaseProblem ?? "neither rrd.json nor the report or the ideas were changed");
  else if (phaseProblem !== undefined)
    await tell({ type: "notice", level: "warning", message: `In rrd.json ${phaseProblem}.` });
  if (reasons.length > 0) {
    await research.fold({
      ...fold,
      message: "classic: refused",
      ledger: { ...ledgerLine(unit, run, time, "refused"), reasons, ...sentinel },
    });
    return { outcome: "refused", reasons };
  }
  const summary = summaryOf(state.rrd, { ...after, phase });
  await research.fold({
    ...fold,
    message: `classic: ${summary}`,
    ledger: { ...ledgerLine(unit, run, time, "accepted"), unit: unitInLedger(state.rrd.phase, phase), ...sentinel },
  });
  return { outcome: "accepted", summary };
}

/**
 * The unit in the ledger line, with the names of the other workflow: its projects get their phase from these lines.
 */
function unitInLedger(before: Rrd["phase"], after: Rrd["phase"]): string {
  if (before === "IDEATION" && after === "COMPLETE") return "ideas";
  return (before === "DISCOVERY" || before === "ANALYSIS") && (after === "IDEATION" || after === "COMPLETE")
    ? "report"
    : "classic";
}

function summaryOf(before: Rrd, after: Rrd): string {
  const countDecided = (rrd: Rrd) => rrd.papers_pool.filter(isDecided).length;
  const papers = (count: number) => `${count} ${count === 1 ? "paper" : "papers"}`;
  const newCount = after.papers_pool.length - before.papers_pool.length;
  const decidedCount = countDecided(after) - countDecided(before);
  const parts = [
    ...(newCount > 0 ? [`${papers(newCount)} found`] : []),
    ...(decidedCount > 0 ? [`${papers(decidedCount)} analysed`] : []),
    ...(after.phase !== before.phase ? [`phase ${before.phase} to ${after.phase}`] : []),
  ];
  return parts.length > 0 ? parts.join(", ") : "the folder was changed";
}

/** Fields of a decided paper that an agent can't change. 'reset --paper' makes the paper pending again. */
const decisionFields = ["status", "decision", "score", "score_breakdown"] as const;

/** The result of restoring the records after an iteration. */
interface Restored {
  /** One sentence for each fault that refuses the iteration. */
  readonly reasons: string[];
  /** One sentence for each change that was undone without refusing the iteration. */
  readonly notices: readonly string[];
}

/**
 * Restores records that the agent broke or removed in rrd.json. A broken file is kept under another name. New records
 * of a valid file stay, but only one new decision counts in an iteration.
 */
async function restoreRecords(folder: string, earlier: Rrd, at: Date): Promise<Restored> {
  const path = rrdFile(folder);
  const text = await readRegularText(path).catch(() => undefined);
  if (text === undefined) {
    await writeFileAtomic(path, formatRrd(earlier));
    return { reasons: ["rrd.json was left deleted and was restored"], notices: [] };
  }
  const { ok: now, problems } = parseRrd(text, rrdName);
  if (now === undefined) {
    const broken = `rrd.json.broken-${timeForName(at.getTime())}`;
    await rename(path, join(folder, broken));
    await writeFileAtomic(path, formatRrd(earlier));
    const [first] = problems;
    const place = first === undefined ? "" : ` (${first.pointer === "" ? "" : `${first.pointer} `}${first.message})`;
    return { reasons: [`rrd.json was left broken${place} and was restored; the broken one is ${broken}`], notices: [] };
  }

  const earlierPapers = new Map(earlier.papers_pool.map((paper) => [paper.id, paper]));
  const earlierDecision = ({ id }: Paper) => {
    const earlier = earlierPapers.get(id);
    return earlier !== undefined && isDecided(earlier) ? earlier : undefined;
  };
  const hasLostResult = (paper: Paper) => {
    const earlier = earlierDecision(paper);
    return earlier !== undefined && (!isDecided(paper) || (earlier.analysis != null && paper.analysis == null));
  };
  const hasOtherDecision = (paper: Paper) => {
    const earlier = earlierDecision(paper);
    return (
      earlier !== undefined &&
      !hasLostResult(paper) &&
      decisionFields.some((field) => !isDeepStrictEqual(earlier[field], paper[field]))
    );
  };
  const newlyDecided = now.papers_pool.filter((paper) => isDecided(paper) && earlierDecision(paper) === undefined);
  const [, ...extraPapers] = newlyDecided.toSorted((a, b) => (b.priority ?? 3) - (a.priority ?? 3));
  const extraIds = new Set(extraPapers.map(({ id }) => id));
  const missingPapers = recordsMissingIn(earlier.papers_pool, now.papers_pool);
  const lostResults = now.papers_pool.filter(hasLostResult);
  const otherDecisions = now.papers_pool.filter(hasOtherDecision);
  const missingInsights = recordsMissingIn(earlier.insights ?? [], now.insights ?? []);
  const earlierInsightIds = new Set((earlier.insights ?? []).map(({ id }) => id));
  const losses = [
    [missingPapers, "paper", "papers", "removed"],
    [lostResults, "analysis", "analyses", "removed"],
    [missingInsights, "insight", "insights", "removed"],
    [otherDecisions, "decided paper", "decided papers", "judged anew"],
  ] as const;
  const lossTexts = losses.flatMap(([{ length }, singular, plural, verb]) =>
    length === 0 ? [] : [`${length} ${length === 1 ? singular : plural} ${verb}`],
  );
  const restorePaper = (paper: Paper): Paper => {
    const earlier = earlierPapers.get(paper.id);
    // A paper without an earlier record was found and decided in the same iteration.
    if (extraIds.has(paper.id)) return earlier ?? { ...paper, ...undecidedFields };
    if (earlier === undefined || hasLostResult(paper)) return earlier ?? paper;
    return hasOtherDecision(paper)
      ? { ...paper, ...Object.fromEntries(decisionFields.map((field) => [field, earlier[field]])) }
      : paper;
  };
  const withProgramFields = restoreProgramFields(earlier, now);
  const repaired =
    lossTexts.length + extraIds.size === 0
      ? withProgramFields
      : {
          ...withProgramFields,
          papers_pool: [...now.papers_pool.map(restorePaper), ...missingPapers],
          insights: [
            ...(now.insights ?? []).filter(
              ({ id, paper_id }) => earlierInsightIds.has(id) || !extraIds.has(paper_id ?? ""),
            ),
            ...missingInsights,
          ],
        };
  if (repaired !== now) await writeFileAtomic(path, formatRrd(repaired));
  return {
    reasons:
      lossTexts.length === 0
        ? []
        : [`rrd.json was left with ${lossTexts.join(", ")}; the previous content was restored`],
    notices:
      extraIds.size === 0
        ? []
        : [
            `${newlyDecided.length} papers were decided in one iteration; one counts, and ${[...extraIds].join(", ")} will be read again.`,
          ],
  };
}

/**
 * Restores fields that agents must not change: `loop`, which contains the user's instructions, and a removed budget. A
 * changed budget stays, because the user may raise it at any time.
 */
function restoreProgramFields(earlier: Rrd, now: Rrd): Rrd {
  const isLoopUnchanged = isDeepStrictEqual(now.loop, earlier.loop);
  const isBudgetMissing = now.budget == null && earlier.budget != null;
  if (isLoopUnchanged && !isBudgetMissing) return now;
  const { loop: _, ...rest } = now;
  return {
    ...rest,
    ...withoutUndefined({ loop: earlier.loop }),
    ...(isBudgetMissing ? { budget: earlier.budget } : {}),
  };
}

/** The records of `before` whose ids do not occur in `now`. */
function recordsMissingIn<Item extends { id?: string | null }>(before: readonly Item[], now: readonly Item[]): Item[] {
  const ids = new Set(now.map(({ id }) => id));
  return before.filter(({ id }) => id != null && !ids.has(id));
}

/**
 * progress.txt may only grow. If an agent rewrote it, restores the earlier text and keeps the agent's version in
 * another file. Returns notices; the iteration is not refused for this.
 */
async function restoreLog(folder: string, earlier: string, at: Date): Promise<string[]> {
  const path = progressFile(folder);
  const now = await readRegularText(path).catch(() => "");
  if (now.startsWith(earlier)) return [];
  await writeFileAtomic(path, earlier);
  if (now.trim() === "") return ["progress.txt was emptied instead of appended to; the earlier text is back"];
  const rewrittenPath = join(folder, `progress.txt.rewritten-${timeForName(at.getTime())}`);
  await writeFile(rewrittenPath, now);
  return [
    `progress.txt was rewritten instead of appended to; the earlier text is back, the agent's version is ${rewrittenPath}`,
  ];
}
