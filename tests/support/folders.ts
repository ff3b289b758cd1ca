import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LedgerLine } from "../../src/engine/generated/ledger.js";
import { openCheckpoints } from "../../src/engine/storage/checkpoints.js";
import type { Rrd } from "../../src/research/generated/rrd.js";
import { committedFiles } from "../../src/research/project-files/layout.js";
import type { Fold, Research } from "../../src/research/project-files/research.js";
import { openResearch } from "../../src/research/project-files/research.js";
import { copyTemplate, templateRepositoryNow } from "./projects/git-template.js";

/** A new folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ralph-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const pendingPaper = (n: number) => ({
  id: `sample_${n}`,
  title: `Sample ${n}`,
  status: "pending" as const,
  score: null,
  notes: "",
});

export const sampleRrd = (papers = 5): Rrd => ({
  project: "Research: samples",
  custom: { kept: true },
  requirements: { keywords: ["sample"], target_papers: papers },
  phase: "ANALYSIS",
  papers_pool: Array.from({ length: papers }, (_, n) => pendingPaper(n + 1)),
  insights: [],
  visited_urls: [],
  statistics: null,
});

export function researchFolder(rrd: Rrd = sampleRrd()): string {
  const folder = join(temporaryFolder(), "sample-2026-01-01");
  mkdirSync(folder);
  writeRrd(folder, rrd);
  return folder;
}

export const writeRrd = (folder: string, rrd: unknown): void =>
  writeFileSync(join(folder, "rrd.json"), JSON.stringify(rrd, null, 2));
export const readRrd = (folder: string): Rrd => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8"));
export const paperOf = (rrd: Rrd, id: string) => rrd.papers_pool.find((paper) => paper.id === id);
export const read = (folder: string, name: string): string => readFileSync(join(folder, name), "utf8");

/** Counts what is decided, as the real derivation does, so a test sees that it ran on the merged state. */
export const derive = (rrd: Rrd, ledger: readonly LedgerLine[]): Rrd => ({
  ...rrd,
  statistics: {
    total_analyzed: rrd.papers_pool.filter(({ status }) => status !== "pending").length,
    lines: ledger.length,
  },
});

export interface Told {
  readonly level: string;
  readonly message: string;
}

/** The sentences of what was told. */
export const messages = (told: readonly Told[]): string[] => told.map(({ message }) => message);

export async function open(folder: string, options: { git?: boolean; told?: Told[] } = {}): Promise<Research> {
  const research = await openResearch(folder, {
    derive,
    git: options.git ?? false,
    notify: (level, message) => options.told?.push({ level, message }),
  });
  onTestFinished(() => research.close());
  return research;
}

/** What accepting one paper leaves: its record, an insight, an entry in the log, a line in the ledger. */
export function acceptance(iteration: number, id = `sample_${iteration}`): Fold {
  const at = new Date(Date.UTC(2026, 0, 1, 0, iteration)).toISOString();
  return {
    iteration,
    at,
    message: `analysis: ${id} (presented)`,
    changes: [
      {
        in: "papers_pool",
        id,
        set: { status: "presented", score: 30, analysis: { summary: `Read in ${iteration}` }, iteration },
      },
      {
        in: "insights",
        id: `insight_${iteration}`,
        set: { paper_id: id, insight: `Found in ${iteration}`, tags: [] },
        was: null,
      },
      { in: "rrd", set: {}, add: { visited_urls: [`https://example.org/${id}`] } },
    ],
    progress: `\n## ${at} - Paper: ${id}\nRead in iteration ${iteration}.\n\n---\n`,
    ledger: { iteration, at, unit: id, phase: "ANALYSIS", outcome: "accepted" },
  };
}

export const git = (folder: string, ...args: string[]): string =>
  execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** A repository with one commit and an identity of its own. */
export function repository(): string {
  const root = temporaryFolder();
  copyTemplate(root, "begun", (at) => {
    templateRepositoryNow(at);
    writeFileSync(join(at, "README"), "samples\n");
    git(at, "add", "README");
    git(at, "commit", "-q", "-m", "begin");
  });
  return root;
}

export function researchIn(root: string, rrd: Rrd = sampleRrd()): string {
  const folder = join(root, "researches", "sample-2026-01-01");
  mkdirSync(folder, { recursive: true });
  writeRrd(folder, rrd);
  return folder;
}

/** The commits on the branch main, the last first, as git writes them down itself. */
export const subjects = (root: string): string[] =>
  [...readFileSync(join(root, ".git/logs/HEAD"), "utf8").matchAll(/\tcommit(?: \(\w+\))?: (.*)$/gm)]
    .map(([, subject = ""]) => subject)
    .toReversed();

/** Checkpoints of a research in a repository, and what they told. */
export async function checkpoints(
  root = repository(),
  options: { readonly unconfined?: boolean; readonly abort?: AbortSignal } = {},
) {
  const folder = researchIn(root);
  const told: string[] = [];
  const opened = await openCheckpoints(folder, committedFiles, (message) => void told.push(message), options);
  if (opened === undefined) throw new Error("no repository");
  let count = 0;
  /** As an iteration does: a new line in the ledger, then a checkpoint. */
  const fold = async (message: string) => {
    count += 1;
    writeFileSync(join(folder, "ledger.jsonl"), `{"n": ${count}}\n`, { flag: "a" });
    await opened.commit(message);
  };
  return { root, folder, told, fold, ...opened };
}
