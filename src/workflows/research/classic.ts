import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Rrd } from "../../generated/rrd.js";
import { estimateTokens } from "../../lib/tokens.js";
import type { AgentRun, Notice, Outcome, Unit, Verdict, Workflow } from "../../loop/types.js";
import { writeFileAtomic } from "../../store/files.js";
import type { Research } from "../../store/research.js";
import { formatRrd, parseRrd } from "../../store/rrd-file.js";
import { problemsOf } from "../../store/validate.js";
import { ledgerLine } from "./ledger-line.js";
import { orVerdict } from "./or-verdict.js";
import { fill } from "./prompt.js";
import { saysComplete } from "./sentinel.js";
import { isDecided, progressOf, standingOf } from "./standing.js";
import type { ResearchState } from "./state.js";

export interface ClassicOptions {
  readonly research: Research;
  /** The prompt, front matter taken off. */
  readonly prompt: string;
  /** The repository's root, where the agent works. */
  readonly root: string;
  readonly now: () => number;
  readonly notices: Omit<Notice, "type" | "at">[];
}

const promptHolder = /^---\r?\n([\s\S]*?)\r?\n---\r?\n/;

/** Whether a prompt.md asks for classic mode, for ours, or leaves it open as the original's own does. */
export function workspaceOf(prompt: string): "folder" | "fresh" | "open" {
  const said = /^workspace:\s*["']?(folder|fresh)["']?\s*$/m.exec(promptHolder.exec(prompt)?.[1] ?? "")?.[1];
  if (said === "folder" || said === "fresh") return said;
  return prompt.includes("{{RESEARCH_DIR}}") && !/^# (COMMON|ANALYSIS)\s*$/m.test(prompt) ? "open" : "fresh";
}

export const withoutFrontMatter = (prompt: string): string => prompt.replace(promptHolder, "");

/**
 * The original's way: the agent edits the research folder itself, with the whole prompt.md, one at a time. After every iteration
 * the folder is validated, restored where it is broken, and its statistics and phase are derived again.
 */
export function classicWorkflow(options: ClassicOptions): Workflow<ResearchState> {
  const { research, root, prompt } = options;
  const { folder } = research;
  let logBefore = "";
  return {
    name: "classic",
    load: () =>
      orVerdict(async () => {
        const { rrd, ledger } = await research.load();
        return { rrd, ledger, standing: standingOf(rrd, ledger) };
      }),
    next: ({ rrd }) => nextClassic(rrd, folder),
    progress: ({ rrd }) => progressOf(rrd),
    notices: () => options.notices.splice(0),
    brief: () =>
      orVerdict(async () => {
        logBefore = await readFile(join(folder, "progress.txt"), "utf8").catch(() => "");
        const text = fill(prompt, { RESEARCH_DIR: folder });
        return { iteration: research.nextIteration(), text, tokens: estimateTokens(text), workspace: root, access: { web: true, read: true, everything: true } };
      }),
    accept: (state, unit, run) => orVerdict(() => settleClassic(options, state, unit, run, logBefore)),
  };
}

function nextClassic(rrd: Rrd, folder: string): Unit | Verdict {
  const pending = rrd.papers_pool.some((paper) => !isDecided(paper));
  if (rrd.phase !== "COMPLETE" || pending) return { kind: "classic", id: "classic", phase: rrd.phase, title: `${rrd.phase}, classic mode` };
  const missing = ["research-report.md", ...(rrd.handoff?.product_ideation?.enabled === true ? ["product-ideas.json"] : [])].filter((name) => !existsSync(join(folder, name)));
  if (missing.length === 0) return { verdict: "complete", reason: `All ${rrd.papers_pool.length} papers are analysed.` };
  return { kind: "classic", id: "classic", phase: rrd.phase, title: `${missing.join(", ")}, classic mode` };
}

async function settleClassic(options: ClassicOptions, state: ResearchState, unit: Unit, run: AgentRun, logBefore: string): Promise<Outcome> {
  const { research, notices } = options;
  const at = new Date(options.now());
  const reasons = [...(await restore(research.folder, state.rrd, at)), ...(await restoreLog(research.folder, logBefore, at))];
  for (const message of reasons) notices.push({ level: "warning", message });
  const after = await parsed(research.folder);
  const before = JSON.stringify(state.rrd);
  const isUnchanged = after === undefined || JSON.stringify(after) === before;
  const fold = { iteration: run.iteration, at: at.toISOString(), changes: [] };
  if (run.failure !== undefined) {
    const { kind, message } = run.failure;
    await research.fold({ ...fold, message: `classic: ${kind}`, ledger: { ...ledgerLine(unit, run, at, "failed"), failure: kind, reasons: [message] } });
    return { outcome: "failed", failure: run.failure };
  }
  if (isUnchanged && !(await finishedFile(state, research.folder))) reasons.push("nothing in rrd.json was changed");
  if (reasons.length > 0) {
    await research.fold({ ...fold, message: "classic: refused", ledger: { ...ledgerLine(unit, run, at, "refused"), reasons } });
    return { outcome: "refused", reasons };
  }
  const complete = after !== undefined && after.phase === "COMPLETE" && after.papers_pool.every(isDecided);
  const said = saysComplete(run.message);
  const sentinel = complete ? (said ? ("seen" as const) : ("absent" as const)) : said ? ("false-claim" as const) : undefined;
  const summary = summaryOf(state.rrd, after);
  await research.fold({
    ...fold,
    message: `classic: ${summary}`,
    ledger: { ...ledgerLine(unit, run, at, "accepted"), ...(sentinel === undefined ? {} : { sentinel }) },
  });
  return { outcome: "accepted", summary };
}

/** Puts back what a broken or lossy rrd.json lost; the broken file is kept beside it. Answers with what was wrong. */
async function restore(folder: string, before: Rrd, at: Date): Promise<string[]> {
  const path = join(folder, "rrd.json");
  const stamp = at.toISOString().replace(/[:.]/g, "-");
  const text = await readFile(path, "utf8").catch(() => undefined);
  const read = text === undefined ? undefined : parseRrd(text, path);
  if (read?.ok !== undefined) {
    const now = read.ok;
    const ids = new Set(now.papers_pool.map((paper) => paper.id));
    const lost = before.papers_pool.filter((paper) => !ids.has(paper.id));
    const undone = now.papers_pool.filter((paper) => !isDecided(paper) && before.papers_pool.some((old) => old.id === paper.id && isDecided(old)));
    if (lost.length === 0 && undone.length === 0) return [];
    const old = new Map(before.papers_pool.map((paper) => [paper.id, paper]));
    const pool = [...now.papers_pool.map((paper) => (undone.includes(paper) ? (old.get(paper.id) ?? paper) : paper)), ...lost];
    await writeFileAtomic(path, formatRrd({ ...now, papers_pool: pool }));
    return [`${lost.length + undone.length} papers were removed from rrd.json or lost their analysis; they were put back`];
  }
  if (text !== undefined) await rename(path, join(folder, `rrd.json.broken-${stamp}`));
  await writeFileAtomic(path, formatRrd(before));
  return [`rrd.json was left ${text === undefined ? "deleted" : "broken"} and was restored${text === undefined ? "" : `; the broken one is rrd.json.broken-${stamp}`}`];
}

/** progress.txt only grows: what was cut off is put back in front of what is new. */
async function restoreLog(folder: string, before: string, at: Date): Promise<string[]> {
  const path = join(folder, "progress.txt");
  const now = await readFile(path, "utf8").catch(() => "");
  if (now.startsWith(before)) return [];
  const kept = join(folder, ".ralph", `progress-${at.toISOString().replace(/[:.]/g, "-")}.txt`);
  await writeFile(kept, now).catch(() => undefined);
  await writeFileAtomic(path, before);
  return [`progress.txt was rewritten instead of appended to; the earlier text was put back and the new one kept as ${kept}`];
}

async function parsed(folder: string): Promise<Rrd | undefined> {
  const path = join(folder, "rrd.json");
  const read = parseRrd(await readFile(path, "utf8").catch(() => ""), path);
  return read.ok;
}

/** The last iteration may write the ideas alone; they count as work if they are valid. */
async function finishedFile({ rrd }: ResearchState, folder: string): Promise<boolean> {
  if (rrd.phase !== "COMPLETE") return false;
  const text = await readFile(join(folder, "product-ideas.json"), "utf8").catch(() => "");
  try {
    return problemsOf("product-ideas", JSON.parse(text)).length === 0;
  } catch {
    return false;
  }
}

function summaryOf(before: Rrd, after: Rrd | undefined): string {
  const decided = (rrd: Rrd | undefined) => rrd?.papers_pool.filter(isDecided).length ?? 0;
  const found = (after?.papers_pool.length ?? 0) - before.papers_pool.length;
  const parts = [
    ...(found > 0 ? [`${found} new papers`] : []),
    ...(decided(after) > decided(before) ? [`${decided(after) - decided(before)} papers analysed`] : []),
    ...(after !== undefined && after.phase !== before.phase ? [`phase ${before.phase} to ${after.phase}`] : []),
  ];
  return parts.length > 0 ? parts.join(", ") : "the folder was changed";
}
