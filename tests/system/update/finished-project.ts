import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { invented, textOf, type Invented } from "../../fixtures/invented-papers.js";
import { serveScholars } from "../../fixtures/scholar-server.js";
import { cli } from "../../support/processes/in-process.js";

const folderName = "touch-2026-11-22";

/**
 * The first run of a project of each kind, which the tests go on from in a copy; the test files of a run share it, and
 * it goes with the run's temporary folder.
 */
const bases = new Map<string, Promise<string>>();

async function findOrMake(over: Partial<Rrd["requirements"]>): Promise<string> {
  const shared = join(tmpdir(), `rr-update-${createHash("sha256").update(JSON.stringify(over)).digest("hex")}`);
  if (existsSync(shared)) return shared;
  const made = await makeBase(over);
  try {
    renameSync(made, shared);
  } catch {
    // Another test file was quicker.
    rmSync(made, { recursive: true });
  }
  return shared;
}

/** Without the one that only a citation leads to. */
const known = (): Invented[] => invented.filter(({ key }) => key !== "p12");

const gitIn =
  (home: string) =>
  (...args: string[]): string =>
    execFileSync("git", args, { cwd: home, encoding: "utf8" });

const configure = (home: string, sources: object): void =>
  writeFileSync(join(home, "ralph.config.json"), JSON.stringify({ state_dir: join(home, "..", "state"), sources }));

async function makeBase(over: Partial<Rrd["requirements"]>): Promise<string> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "rr-update-base-")));
  const home = join(top, "home");
  const folder = join(home, "researches", folderName);
  mkdirSync(folder, { recursive: true });
  const rrd: Rrd = {
    project: "Research: Tactile grasping",
    description: "Robots that grasp by touch.",
    requirements: {
      focus_area: "robotics",
      keywords: ["tactile grasping", "soft robot"],
      historical_lookback_days: 1500,
      target_papers: 6,
      sources: ["arXiv", "OpenAlex", "Crossref"],
      ...over,
    },
    mission: { blue_ocean_scoring: true, min_combined_score: 1 },
    phase: "DISCOVERY",
    papers_pool: [],
    insights: [],
    handoff: { product_ideation: { enabled: false } },
  };
  writeFileSync(join(folder, "rrd.json"), JSON.stringify(rrd, null, 2));
  const scholars = await serveScholars(undefined, known());
  configure(home, scholars.sources);
  const git = gitIn(home);
  git("init", "-q");
  git("config", "user.name", "A Person");
  git("config", "user.email", "person@example.org");
  const first = await cli(["run", folder, "--agent", "baseline", "--iterations", "30"], home);
  await scholars.close();
  expect({ code: first.code, err: first.code === 0 ? "" : first.err }).toEqual({ code: 0, err: "" });
  // The home of this person lies in the repository: what the program remembers there is not the project.
  writeFileSync(join(home, ".gitignore"), "ralph.config.json\n.local\n");
  git("add", "-A");
  git("commit", "-qm", "all", "--allow-empty");
  return top;
}

/** A finished project over scripted sources whose papers and pages may change, in a repository of its own. */
export async function finished(over: Partial<Rrd["requirements"]> = {}) {
  const kind = JSON.stringify(over);
  const base = bases.get(kind) ?? findOrMake(over);
  bases.set(kind, base);
  const papers = known();
  /** Pages that say something else than at first, by the paper's key. */
  const pages = new Map<string, string>();
  const scholars = await serveScholars((paper) => pages.get(paper.key) ?? textOf(paper), papers);
  onTestFinished(() => scholars.close());
  const top = realpathSync(mkdtempSync(join(tmpdir(), "rr-update-")));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  cpSync(await base, top, { recursive: true, preserveTimestamps: true });
  const home = join(top, "home");
  configure(home, scholars.sources);
  const folder = join(home, "researches", folderName);
  const text = (name: string): string => readFileSync(join(folder, name), "utf8");
  const read = (): Rrd => JSON.parse(text("rrd.json")) as Rrd;
  return {
    papers,
    pages,
    scholars,
    home,
    folder,
    text,
    read,
    git: gitIn(home),
    ralph: (...args: string[]) => cli(args, home),
    /** `update` with the agent that uses no model. */
    update: (...args: string[]) => cli(["update", folder, "--agent", "baseline", ...args], home),
    write: (rrd: Rrd) => writeFileSync(join(folder, "rrd.json"), JSON.stringify(rrd, null, 2)),
    lines: (): LedgerLine[] =>
      text("ledger.jsonl")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as LedgerLine),
    /** Changes an invented paper, and answers with its record in the pool. */
    alter(key: string, change: Partial<Invented>) {
      const at = papers.findIndex((paper) => paper.key === key);
      const old = papers[at];
      const record = read().papers_pool.find(({ title }) => title === old?.title);
      if (old === undefined || record === undefined) throw new Error(`${key} is not in the pool`);
      papers[at] = { ...old, ...change };
      return record;
    },
  };
}

/** The same outside of git, whose programs take a third of the time: for rules in which no commit occurs. */
export async function finishedOutsideGit(over: Partial<Rrd["requirements"]> = {}) {
  const { git: _, ...project } = await finished(over);
  rmSync(join(project.home, ".git"), { recursive: true });
  return project;
}

export const since = ["--since", "2026-01-01"];

/** A paper that came after the first search. */
export const newcomer: Invented = {
  key: "p13",
  title: "Tactile Grasping of Wet Objects",
  abstract: "We study wet objects for tactile grasping. In 52 trials the method succeeds in 71 percent of cases.",
  authors: ["Cy Newcomer"],
  date: "2026-06-20",
  arxiv: "2606.00013",
  openalex: "W9000000013",
  s2: "13".repeat(20),
  cited: 0,
  cites: ["p01"],
  knownTo: ["arxiv", "openalex"],
};
export const newcomerId = "arxiv_2606.00013";
