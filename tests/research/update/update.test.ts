import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { type Asked, nextWindow } from "../../../src/research/update/window.js";
import { invented, type Invented } from "../../fixtures/invented-papers.js";
import { serveScholars } from "../../fixtures/scholar-server.js";
import { allSources } from "../../../src/research/sources/registry.js";
import { cli } from "../../support/in-process.js";

/** A finished project over scripted sources whose papers may change, in a repository of its own. */
async function finished(over: Partial<Rrd["requirements"]> = {}, sources = ["arXiv", "OpenAlex", "Crossref"]) {
  // Without the one that only a citation leads to.
  const papers: Invented[] = invented.filter(({ key }) => key !== "p12");
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
    mission: { blue_ocean_scoring: true, min_combined_score: 1 },
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

  it("reads one of four: a new paper, a retracted one, a preprint printed unchanged, a dropped one under another id", async () => {
    const { papers, folder, git, ralph, read, later } = await finished({ target_papers: 8 });
    const before = read();
    const pool = new Map(before.papers_pool.map((paper) => [paper.title, paper]));
    const printed = papers.findIndex(({ title, doi }) => doi === undefined && pool.get(title)?.status === "presented");
    const gone = papers.findIndex(({ title, doi }) => doi !== undefined && pool.get(title)?.status === "presented");
    const preprint = papers[printed] as Invented;
    const withdrawn = papers[gone] as Invented;
    papers[printed] = {
      ...preprint,
      ...{ doi: "10.5555/inv.99", venue: "Journal of Invented Robotics", printed: "2026-06-25" },
      knownTo: ["arxiv", "openalex", "crossref"],
    };
    papers[gone] = { ...withdrawn, retracted: true };
    papers.push(newcomer);
    // One that was left out comes back with another id and nothing but its title, first author and year.
    const rrd = read();
    const dropped = { id: "web_abc", title: "Tactile Grasping in the Dark", year: 2026, first_author: "Di Drop" };
    rrd.excluded = [...(rrd.excluded ?? []), { ...dropped, reason: "off topic", stage: "screened" }];
    writeFileSync(join(folder, "rrd.json"), JSON.stringify(rrd, null, 2));
    git("commit", "-qam", "by hand");
    papers.push({
      ...newcomer,
      ...{ key: "p14", title: dropped.title, authors: ["Di Drop"], arxiv: "2606.00014", openalex: "W9000000014" },
    });
    later();

    const dry = await ralph("update", folder, ...since, ...update, "--dry-run");
    expect({ code: dry.code, err: dry.err, status: git("status", "--porcelain") }).toEqual({
      ...{ code: 0, err: "", status: "" },
    });
    expect(dry.out).toContain("1 new work, 1 paper changed, 1 retracted");
    expect(dry.out).toContain("new: Tactile Grasping of Wet Objects");
    expect(dry.out).toMatch(/published in Journal of Invented Robotics as 10\.5555\/inv\.99, the same text/);
    expect(dry.out).toMatch(/^Forecast: /m);

    const lines = () => readFileSync(join(folder, "ledger.jsonl"), "utf8").trim().split("\n");
    const had = lines().length;
    const done = await ralph("update", folder, ...since, ...update);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    const after = read();
    const readBy = lines()
      .slice(had)
      .map((line) => JSON.parse(line) as { unit: string; agent?: string })
      .flatMap(({ unit, agent }) => (agent !== undefined && unit.startsWith("arxiv_") ? [unit] : []));
    expect(readBy).toEqual(["arxiv_2606.00013"]);
    expect(after.updates).toHaveLength(1);
    expect(after.updates?.[0]).toMatchObject({
      new: ["arxiv_2606.00013"],
      retracted: [pool.get(withdrawn.title)?.id],
      changed: [{ id: pool.get(preprint.title)?.id, read_again: false }],
    });
    expect(after.papers_pool.find(({ title }) => title === withdrawn.title)).toMatchObject({
      ...{ retracted: true, status: "rejected" },
    });
    expect(after.papers_pool.find(({ title }) => title === preprint.title)?.identifiers?.doi).toBe("10.5555/inv.99");
    expect(after.papers_pool.some(({ title }) => title === dropped.title)).toBe(false);
    const report = readFileSync(join(folder, "research-report.md"), "utf8");
    expect(report).toMatch(/## What changed\n\nOf the time from 2026-01-01 to /);
    expect(report).toContain("- **New:**");
    expect(report).toContain("- **Retracted:**");
    expect(report).toMatch(/Findings: .*(?:gone|new|kept)/);
    expect(report.indexOf("## What changed")).toBeLessThan(report.indexOf("## Question"));

    const head = git("rev-parse", "HEAD");
    expect(git("status", "--porcelain")).toBe("");
    later();
    const again = await ralph("update", folder, ...since, ...update);
    expect({ code: again.code, err: again.err }).toEqual({ code: 0, err: "" });
    expect(again.out).toContain("nothing new");
    expect({ head: git("rev-parse", "HEAD"), status: git("status", "--porcelain") }).toEqual({ head, status: "" });
  });

  it("goes on where it was ended, and asks for nothing again", async () => {
    const { papers, scholars, folder, ralph, read } = await finished();
    papers.push(newcomer);
    const stopped = await ralph("update", folder, ...since, ...update, "--iterations", "1");
    expect(stopped.code).toBe(3);
    expect(read().updates?.[0]).toMatchObject({ id: "update-1" });
    expect(read().updates?.[0]?.closed_at).toBeUndefined();
    const asked = scholars.requests.filter((path) => path.includes("search_query")).length;
    const done = await ralph("update", folder, ...update);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    expect(done.err).toContain("update-1, opened on");
    expect(read().updates).toHaveLength(1);
    expect(read().updates?.[0]?.new).toEqual(["arxiv_2606.00013"]);
    expect(scholars.requests.filter((path) => path.includes("search_query")).length).toBe(asked);
  });

  it("ends with 5 and keeps no day where no source answers, and keeps the window of one that fails", async () => {
    const { scholars, folder, ralph, read } = await finished();
    const all = ["arxiv", "openalex", "crossref"] as const;
    for (const service of all) scholars.fail(service, 403);
    const none = await ralph("update", folder, "--since", "2026-02-01", ...update);
    expect({ code: none.code, out: none.out }).toEqual({ code: 5, out: "" });
    expect(none.err).toContain("no source answered");
    expect(existsSync(join(folder, ".ralph", "update.json"))).toBe(false);
    for (const service of all) scholars.fail(service, undefined);
    scholars.fail("arxiv", 403);
    const one = await ralph("update", folder, "--since", "2026-02-02", ...update);
    expect(one.code).toBe(0);
    const kept = JSON.parse(readFileSync(join(folder, ".ralph", "update.json"), "utf8")) as Asked;
    expect(kept.failed).toEqual({ arXiv: "2026-02-02" });
    const next = nextWindow("x", { rrd: read(), ledger: [] }, kept, Date.now());
    expect(next.sources).toEqual({ arXiv: "2026-02-02" });
  });

  it("refuses a day that lies ahead, a project that is not finished or has nobody to ask, and a clock that was set back", async () => {
    const { folder, ralph, read } = await finished({}, ["arXiv"]);
    const ahead = await ralph("update", folder, "--since", "2999-01-01", ...update);
    expect(ahead.code).toBe(2);
    expect(ahead.err).toContain("lies in the future");
    expect((await ralph("update", folder, "--since", "soon", ...update)).code).toBe(2);
    const state = { rrd: read(), ledger: [] };
    expect(() => nextWindow("x", state, { until: "2026-11-01", failed: {} }, Date.parse("2001-01-01"))).toThrow(
      "clock",
    );
    const blocked = { ...state.rrd, blocked_sources: allSources.map(({ name }) => name) };
    writeFileSync(join(folder, "rrd.json"), JSON.stringify(blocked));
    const nobody = await ralph("update", folder, ...since, ...update);
    expect([nobody.code, nobody.err]).toEqual([5, expect.stringContaining("none of its sources can be asked")]);
    expect(existsSync(join(folder, ".ralph", "update.json"))).toBe(false);
    const bare = { ...state.rrd, statistics: null, updates: [] } as unknown as Rrd;
    expect(() => nextWindow("x", { rrd: bare, ledger: [] }, undefined, Date.now())).toThrow("--since");
    writeFileSync(
      join(folder, "rrd.json"),
      JSON.stringify({
        ...state.rrd,
        phase: "ANALYSIS",
        papers_pool: [...state.rrd.papers_pool, { id: "late", title: "Late", status: "pending" }],
      }),
    );
    const unfinished = await ralph("update", folder, ...since, ...update);
    expect(unfinished.code).toBe(2);
    expect(unfinished.err).toContain("is not finished");
  });
});
