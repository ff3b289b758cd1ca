import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { killProcesses } from "../../../support/processes/kill-processes.js";

export interface PlaceOptions {
  /** Where the user's folder is made; by default a temporary one. */
  readonly at?: string;
  readonly papers?: number;
  /** Make the user's folder a git repository with one commit and an identity. */
  readonly git?: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A command under way, and how it will have ended. */
export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<Ended>;
}

const paperText = (n: number): string => `# Gripper study number ${n}

## Abstract

Grippers of kind ${n} are measured on forty parts. The new method of kind ${n} succeeds on 8${n} % of them.

## Results

We ran 4${n}0 trials on three machines. Success rose from 41 % to 8${n} % with the new method of kind ${n}. Calibration took 1${n} minutes.

## Limitations

We did not test soft parts of kind ${n}. The four tasks use rigid parts only.
`;

export const researchName = "small-grippers-2026-03-01";

/**
 * A user's folder with a few papers and a research over them that nothing has been done for, a home, and the built
 * command.
 * `slow` stands for the agent that waits (slow-claude.mjs); `baseline` works at once.
 */
export function makePlace(dist: string, { at, papers = 1, git = false }: PlaceOptions = {}) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "rr-faults-")));
  const cwd = at ?? join(top, "work");
  const [home, gate] = [join(top, "home"), join(top, "gate")];
  const research = join(cwd, "researches", researchName);
  for (const folder of [home, gate, join(cwd, "papers"), research]) mkdirSync(folder, { recursive: true });
  for (let n = 1; n <= papers; n += 1) writeFileSync(join(cwd, "papers", `paper-${n}.md`), paperText(n));
  writeFileSync(join(research, "rrd.json"), `${JSON.stringify(freshRrd(papers), null, 2)}\n`);
  const slow = fileURLToPath(new URL("slow-claude.mjs", import.meta.url));
  writeFileSync(
    join(cwd, "ralph.config.json"),
    JSON.stringify({ agents: { slow: { type: "claude", command: slow } } }),
  );
  if (git) makeRepository(cwd);

  const mark = randomUUID();
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    RESEARCH_RALPH_CHECK: "false",
    RESEARCH_RALPH_TRUST: "true",
    LANG: "C.UTF-8",
    FAULTS_MARK: mark,
    FAULTS_BASELINE: join(dist, "baseline-agent.js"),
  };
  // Whatever a failed test left behind must not outlive it.
  onTestFinished(() => {
    killProcesses(processesWith(mark));
    rmSync(top, { recursive: true, force: true, maxRetries: 5 });
  });

  const read = (name: string): string => readFileSync(join(research, name), "utf8");
  const command = (args: readonly string[]): string[] => [join(dist, "cli.js"), ...args];
  const start = (args: readonly string[], more: NodeJS.ProcessEnv = {}, folder = cwd): Running =>
    running(
      spawn(process.execPath, command(args), {
        cwd: folder,
        env: { ...env, ...more },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      }),
    );

  return {
    top,
    cwd,
    home,
    gate,
    env,
    research,
    read,
    /** The command line of the built command, for a shell or a terminal. */
    shellCommand: (...args: string[]) => [process.execPath, ...command(args)].map((word) => `'${word}'`).join(" "),
    /** The command line of `ralph`, for a shell. */
    assistant: `'${process.execPath}' '${join(dist, "ralph.js")}'`,
    rrd: (): Rrd => JSON.parse(read("rrd.json")) as Rrd,
    ledger: (folder = research): LedgerLine[] =>
      linesOf(join(folder, "ledger.jsonl")).map((line) => JSON.parse(line) as LedgerLine),
    /** Starts the command; it is in a process group of its own. */
    start,
    /** Runs the command to its end. */
    cli: (args: readonly string[], more: NodeJS.ProcessEnv = {}, folder = cwd): Promise<Ended> =>
      start(args, more, folder).ended,
    /** Starts a run whose agent waits, and resolves once the agent is at work. */
    async startWaiting(...args: string[]): Promise<Running> {
      const run = start(["run", research, "--agent", "slow", ...args], { FAULTS_GATE: gate });
      await until(() => existsSync(join(gate, "started")));
      return run;
    },
    /** Lets the waiting agent, and every later one, go on. */
    go: () => writeFileSync(join(gate, "go"), ""),
    /** Processes that the commands of this place have left running. */
    left: () => processesWith(mark),
    git: (...args: string[]): string =>
      execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim(),
  };
}

export type Place = ReturnType<typeof makePlace>;

function running(child: ChildProcess): Running {
  const ended = new Promise<Ended>((resolve, reject) => {
    const said = { out: "", err: "" };
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (said.out += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (said.err += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...said }));
  });
  return { child, pid: child.pid ?? Number.NaN, ended };
}

function freshRrd(papers: number): Rrd {
  return {
    project: "Research: small grippers",
    description: "How small grippers are measured.",
    custom: { kept: true },
    requirements: {
      focus_area: "grippers",
      keywords: ["gripper", "method"],
      target_papers: papers,
      sources: ["folder:papers"],
    },
    phase: "DISCOVERY",
    papers_pool: [],
    insights: [],
    visited_urls: [],
    blocked_sources: [],
  };
}

export function makeRepository(cwd: string): void {
  const git = (...args: string[]) => execFileSync("git", args, { cwd, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "A Person");
  git("config", "user.email", "person@example.org");
  git("config", "commit.gpgsign", "false");
  git("add", ".");
  git("commit", "-q", "-m", "begin");
}

const linesOf = (path: string): string[] =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];

/** Processes whose environment holds `mark`; zombies have none. Empty where there is no /proc. */
function processesWith(mark: string): number[] {
  const pids = existsSync("/proc") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  return pids.map(Number).filter((pid) => {
    try {
      return pid !== process.pid && readFileSync(`/proc/${pid}/environ`).includes(mark);
    } catch {
      return false;
    }
  });
}

/** Waits for something that a process does; the test's own timeout ends a wait in vain. */
export async function until(done: () => boolean): Promise<void> {
  while (!done()) await sleep(20);
}

/** Sends the first SIGINT and waits until the run has said what it does: two at once are delivered as one. */
export async function interruptOnce(run: Running, target = run.pid): Promise<void> {
  let said = "";
  run.child.stderr?.on("data", (text: string) => (said += text));
  process.kill(target, "SIGINT");
  await until(() => said.includes("Stopping after this iteration; press Ctrl+C again to stop at once."));
}

/**
 * What every failure that a person can meet has in common: one sentence on stderr, no stack trace, no claim to be our
 * bug.
 */
export function expectSentence({ code, out, err }: Ended, exitCode: number, sentence: RegExp): void {
  expect({ code, out }, err).toEqual({ code: exitCode, out: "" });
  expect(err).toMatch(/^research-ralph: [^\n]+[.?]?\n$/);
  expect(err).toMatch(sentence);
  expectNoTrace(err);
}

export function expectNoTrace(said: string): void {
  expect(said).not.toMatch(/^ {4}at /m);
  expect(said).not.toContain("this is a bug in research-ralph");
}

/** The last words of a run on stderr: how it ended and why. */
export const lastWords = ({ err }: Ended): string =>
  err
    .split("\n")
    .map((line) => line.replace(/^\d\d:\d\d:\d\d /, ""))
    .findLast((line) => /^(complete|limit|stuck|blocked|failed|interrupted): /.test(line)) ?? "";

/** Ends of everything that a complete research of `papers` papers is made of: each exactly once. */
export function expectWhole(place: Place, papers = 1): void {
  const accepted = place.ledger().filter(({ outcome }) => outcome === "accepted");
  const units = accepted.map(({ unit }) => unit);
  expect(new Set(units).size).toBe(units.length);
  const rrd = place.rrd();
  expect(rrd.phase).toBe("COMPLETE");
  expect(rrd.papers_pool).toHaveLength(papers);
  expect(units.toSorted()).toEqual([...rrd.papers_pool.map(({ id }) => id), "discovery-1", "report"].toSorted());
  expect(rrd["custom"]).toEqual({ kept: true });
  const iterations = place.ledger().map(({ iteration }) => iteration);
  expect(new Set(iterations).size).toBe(iterations.length);
  const progress = place.read("progress.txt");
  const entries = Array.from(progress.matchAll(/^Iteration: (\d+)$/gm), ([, n]) => Number(n));
  expect(entries).toEqual(accepted.map(({ iteration }) => iteration));
  expect(place.read("research-report.md").length).toBeGreaterThan(500);
  const evidence = rrd.papers_pool.flatMap((paper) => paper.analysis?.evidence ?? []);
  expect(evidence.length).toBeGreaterThan(0);
  expect(new Set(evidence.map(({ status }) => status))).toEqual(new Set(["verified"]));
}
