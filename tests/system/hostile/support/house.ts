import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "vitest";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import type { Paper, Rrd } from "../../../../src/research/generated/rrd.js";
import type { LoopEvent, Verdict } from "../../../../src/engine/loop/types.js";
import { problemsOf } from "../../../../src/engine/storage/schema-check.js";
import { newRrd } from "../../../../src/research/workflow/new-research.js";
import { exitCodeOf } from "../../../../src/engine/loop/exit-codes.js";

/** What the planted private key and API key hold; neither may reach a file of ours. */
export const secrets = { key: "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0", apiKey: "tok-4f1d0c9a77e2b1" };

const text = (name: string, more = ""): string => `# On the ${name} small matter

Ada Author

## Abstract

The ${name} paper measures a small matter with cheap cameras.

## Results

Earlier work needed an hour [3, 4] for the same task [5] and used four machines. The method reached 87.5 percent accuracy on 1200 samples.
It needs 14 minutes on one machine. We did not test it on any other machine. The cameras cost 40 euros each.

${more}
`;

export interface HouseOptions {
  /** Text added to the first paper. */
  readonly paper?: string;
  readonly git?: boolean;
  /** Entries of the config's `agents`. */
  readonly agents?: Record<string, object>;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly events: readonly LoopEvent[];
  /** Of the run-ended event; undefined where there was none. */
  readonly verdict?: Verdict;
  /** Messages of the notices. */
  readonly notices: readonly string[];
  readonly milliseconds: number;
  /** Most memory of the command's own process, megabytes. */
  readonly peakMb: number;
}

/**
 * A git repository with two papers, a research over them that is about to read the first, another research, and a home
 * with secrets.
 */
export function openHouse(cli: string, options: HouseOptions = {}) {
  const top = mkdtempSync(join(tmpdir(), "rr-hostile-"));
  const root = join(top, "repo");
  const home = join(top, "home");
  const research = join(root, "researches", "small-matter");
  const other = join(root, "researches", "other");
  const mark = randomUUID();
  for (const folder of [join(root, "papers"), join(home, ".ssh"), research, other])
    mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(home, ".ssh", "id_rsa"),
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${secrets.key}\n-----END OPENSSH PRIVATE KEY-----\n`,
  );
  writeFileSync(join(root, "papers", "first.md"), text("first", options.paper));
  writeFileSync(join(root, "papers", "second.md"), text("second"));
  writeFileSync(join(root, "AGENTS.md"), "# What agents should know\n\nBe exact.\n");
  const rrd = rrdOver(join(root, "papers"));
  writeFileSync(join(research, "rrd.json"), `${JSON.stringify(rrd, null, 2)}\n`);
  writeFileSync(join(research, "progress.txt"), "# Progress\n\nA line from before.\n");
  writeFileSync(join(other, "rrd.json"), `${JSON.stringify(rrd, null, 2)}\n`);
  writeFileSync(
    join(root, "ralph.config.json"),
    JSON.stringify({ state_dir: join(top, "state"), agents: options.agents ?? {} }),
  );
  if (options.git === true) {
    execFileSync("git", ["init", "-q", root]);
    execFileSync("git", [
      "-C",
      root,
      "-c",
      "user.name=t",
      "-c",
      "user.email=t@localhost",
      "-c",
      "commit.gpgsign=false",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "start",
    ]);
  }

  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    RESEARCH_RALPH_CHECK: "false",
    RESEARCH_RALPH_TRUST: "true",
    HOSTILE_ROOT: root,
    HOSTILE_MARK: mark,
    HOSTILE_CLI: cli,
    HOSTILE_API_KEY: secrets.apiKey,
    LANG: "C.UTF-8",
  };
  const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");
  const lines = (name: string): string[] =>
    existsSync(join(research, name))
      ? read("researches", "small-matter", name)
          .split("\n")
          .filter((line) => line !== "")
      : [];

  const house = {
    root,
    research,
    home,
    state: join(top, "state"),
    read,
    rrd: () => JSON.parse(read("researches", "small-matter", "rrd.json")) as Rrd,
    paper: (id: string): Paper | undefined =>
      (JSON.parse(read("researches", "small-matter", "rrd.json")) as Rrd).papers_pool.find((each) => each.id === id),
    ledger: () => lines("ledger.jsonl").map((line) => JSON.parse(line) as LedgerLine),
    progress: () => read("researches", "small-matter", "progress.txt"),
    /** Problems of rrd.json by its schema. */
    problems: () => problemsOf("rrd", JSON.parse(read("researches", "small-matter", "rrd.json"))),
    /** Processes that inherited this house's environment and still run. */
    left: (): string[] => processesWith(`HOSTILE_MARK=${mark}`),
    /** Every file below `folder` that holds `needle`. */
    holding: (needle: string, folder = top): string[] => filesHolding(folder, needle, new Set([join(home, ".ssh")])),
    /** Runs the research with an agent: the name of a script here with its arguments, or a name from the config. */
    run: async (agent: string, ...args: string[]): Promise<Ended> => {
      const script = /^(\w+\.mjs)(.*)$/s.exec(agent);
      const spec =
        script === null
          ? agent
          : `cmd:${fileURLToPath(new URL(`../agents/${script[1]}`, import.meta.url))}${script[2]}`;
      const quick = ["--idle-minutes", "2", ...(options.git === true ? [] : ["--no-git"])];
      const ended = await runCli(cli, ["run", research, "--agent", spec, "--unconfined", ...quick, ...args], root, env);
      expectAlways(house, ended);
      return ended;
    },
    /** What the next agent would be given. */
    brief: (): string => execFileSync(process.execPath, [cli, "brief", research], { cwd: root, env, encoding: "utf8" }),
    close: () => rmSync(top, { recursive: true, force: true, maxRetries: 5 }),
  };
  return house;
}

/** What holds after every run, whatever its agent did. */
function expectAlways(
  { research, ledger, problems, left }: Pick<House, "research" | "ledger" | "problems" | "left">,
  ended: Ended,
): void {
  const { code, err, events, verdict } = ended;
  expect(left(), "processes that are left").toEqual([]);
  expect(err).not.toMatch(/^ {4}at /m);
  expect(err).not.toContain("this is a bug in research-ralph");
  if (events.length > 0)
    expect({ code, last: events.at(-1)?.type }).toEqual({ code: verdict && exitCodeOf(verdict), last: "run-ended" });
  if (!existsSync(research)) return;
  expect(problems()).toEqual([]);
  const iterations = ledger().map(({ iteration }) => iteration);
  expect(new Set(iterations).size).toBe(iterations.length);
}

export type House = ReturnType<typeof openHouse>;

function rrdOver(papers: string): Rrd {
  const about = {
    name: "a small matter",
    description: "Small matters.",
    focus_area: "matter",
    keywords: ["small", "matter"],
  };
  const rrd = newRrd({ papers: 2, sources: ["folder:papers"], rubric: "original" }, about);
  const pool = ["first", "second"].map((name, index): Paper => ({
    id: name,
    key: index === 0 ? "author2026" : "author2026b",
    title: `On the ${name} small matter`,
    url: pathToFileURL(join(papers, `${name}.md`)).href,
    authors: ["Ada Author"],
    date: "2026-01-02",
    source: "folder:papers",
    abstract: `The ${name} paper measures a small matter with cheap cameras.`,
    priority: 5 - index,
    status: "pending",
  }));
  const handoff = { product_ideation: { enabled: false } };
  return { ...rrd, handoff: { ...rrd.handoff, ...handoff }, papers_pool: pool, phase: "ANALYSIS" } as Rrd;
}

function runCli(cli: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const json = args.includes("--plain") ? [] : ["--json"];
    const child = spawn(process.execPath, [cli, ...args.filter((arg) => arg !== "--plain"), ...json], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    let peakMb = 0;
    const watch = setInterval(() => {
      peakMb = Math.max(peakMb, peakOf(child.pid));
    }, 100);
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      clearInterval(watch);
      const events =
        json.length === 0
          ? []
          : out.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as LoopEvent] : []));
      const last = events.find((event) => event.type === "run-ended");
      const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
      const verdict = last?.type === "run-ended" ? { verdict: last.verdict } : {};
      resolve({ code, out, err, events, ...verdict, notices, milliseconds: performance.now() - started, peakMb });
    });
  });
}

/** VmHWM, in megabytes; 0 where /proc does not say. */
function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function processesWith(entry: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`).includes(entry);
      } catch {
        return false; // another user's, or gone
      }
    });
}

function filesHolding(folder: string, needle: string, except: ReadonlySet<string>): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (except.has(path)) return [];
    if (entry.isDirectory()) return filesHolding(path, needle, except);
    return entry.isFile() && readFileSync(path).includes(needle) ? [path] : [];
  });
}
