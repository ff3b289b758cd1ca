import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { invented, type Invented } from "../../fixtures/invented-papers.js";
import { serveScholars } from "../../fixtures/scholar-server.js";
import { cli } from "../../support/in-process.js";

/** A finished project over scripted sources whose papers may change, in a repository of its own. */
async function finished(over: Partial<Rrd["requirements"]> = {}, sources = ["arXiv", "OpenAlex", "Crossref"]) {
  const papers: Invented[] = [...invented];
  const scholars = await serveScholars(undefined, papers);
  onTestFinished(() => scholars.close());
  const home = realpathSync(mkdtempSync(join(tmpdir(), "rr-update-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const git = (...args: string[]) => execFileSync("git", args, { cwd: home, encoding: "utf8" });
  git("init", "-q");
  const folder = join(home, "researches", "touch-2026-11-22");
  mkdirSync(folder, { recursive: true });
  const rrd: Rrd = {
    project: "Research: Tactile grasping",
    description: "Robots that grasp by touch.",
    requirements: {
      focus_area: "robotics",
      keywords: ["tactile grasping", "soft robot"],
      historical_lookback_days: 1500,
      target_papers: 6,
      sources,
      ...over,
    },
    phase: "DISCOVERY",
    papers_pool: [],
    insights: [],
    handoff: { product_ideation: { enabled: false } },
  };
  writeFileSync(join(folder, "rrd.json"), JSON.stringify(rrd, null, 2));
  const config = { state_dir: join(home, "..", `${home.split("/").at(-1)}-state`), sources: scholars.sources };
  onTestFinished(() => rmSync(config.state_dir, { recursive: true, force: true }));
  writeFileSync(join(home, "ralph.config.json"), JSON.stringify(config));
  const ralph = (...args: string[]) => cli(args, home);
  const read = () => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
  const first = await ralph("run", folder, "--agent", "baseline", "--iterations", "30");
  expect({ code: first.code, err: first.code === 0 ? "" : first.err }).toEqual({ code: 0, err: "" });
  git("add", "-A");
  git("commit", "-qm", "all", "--allow-empty");
  /** A week goes by: what services said of papers is asked again. */
  const later = () => {
    for (const kept of ["updates.json", "http", "documents", "about"])
      rmSync(join(folder, ".ralph", kept), { recursive: true, force: true });
  };
  return { papers, scholars, home, folder, git, ralph, read, later };
}

const since = ["--since", "2026-01-01"];
const update = ["--agent", "baseline"];

const newcomer: Invented = {
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

describe("the update of a finished project", () => {
  it("says in one line that nothing came, and changes no byte that git sees", async () => {
    const { folder, git, ralph, read } = await finished();
    const head = git("rev-parse", "HEAD");
    const done = await ralph("update", folder, ...since, ...update);
    expect({ code: done.code, err: done.err }).toEqual({ code: 0, err: "" });
    expect(done.out).toMatch(
      /^touch-2026-11-22: nothing new from 2026-01-01 to \d{4}-\d\d-\d\d \(3 sources asked\)\.\n$/,
    );
    expect(git("status", "--porcelain")).toBe("");
    expect(git("rev-parse", "HEAD")).toBe(head);
    expect(read().updates).toBeUndefined();
  });

  it("screens and reads a new paper, and writes the report again", async () => {
    const { papers, folder, git, ralph, read } = await finished();
    papers.push(newcomer);
    const done = await ralph("update", folder, ...since, ...update);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    const { updates = [], papers_pool: pool, phase } = read();
    expect(phase).toBe("COMPLETE");
    expect(updates).toHaveLength(1);
    expect(updates[0]).toMatchObject({ id: "update-1", new: ["arxiv_2606.00013"], retracted: [], changed: [] });
    expect(updates[0]?.closed_at).toBeDefined();
    expect(pool.find(({ id }) => id === "arxiv_2606.00013")?.read_depth).toBe("full");
    expect(git("status", "--porcelain")).toBe("");
    const head = git("rev-parse", "HEAD");
    const again = await ralph("update", folder, ...since, ...update);
    expect(again.out).toContain("nothing new");
    expect({ code: again.code, head: git("rev-parse", "HEAD"), status: git("status", "--porcelain") }).toEqual({
      ...{ code: 0, head, status: "" },
    });
  });
});
