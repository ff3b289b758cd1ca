import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { cli } from "../../support/processes/in-process.js";
import { type ScholarServer, serveScholars } from "../../fixtures/scholar-server.js";

let scholars: ScholarServer;
const folders: string[] = [];
beforeAll(async () => {
  scholars = await serveScholars();
});
afterAll(async () => {
  await scholars.close();
});
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A research over these sources, in a place of its own. */
function research(sources: readonly string[], more: Partial<Rrd["requirements"]> = {}) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "rr-scholarly-")));
  folders.push(home);
  const folder = join(home, "researches", "touch-2026-11-22");
  mkdirSync(folder, { recursive: true });
  const rrd: Rrd = {
    project: "Research: Tactile grasping",
    description: "Robots that grasp by touch.",
    requirements: {
      focus_area: "robotics",
      keywords: ["tactile grasping", "soft robot"],
      time_window_days: 400,
      historical_lookback_days: 1500,
      target_papers: 9,
      sources: [...sources],
      ...more,
    },
    phase: "DISCOVERY",
    papers_pool: [],
    insights: [],
    handoff: { product_ideation: { enabled: false } },
  };
  writeFileSync(join(folder, "rrd.json"), JSON.stringify(rrd, null, 2));
  writeFileSync(
    join(home, "ralph.config.json"),
    JSON.stringify({ state_dir: join(home, "state"), git: false, sources: scholars.sources }),
  );
  const ralph = (...args: string[]) => cli(args, home);
  const read = () => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
  return { home, folder, ralph, read };
}

describe("a research over scholarly services", () => {
  it("goes from four of them to COMPLETE without a model, says what became of every record, and can be replayed", async () => {
    const { folder, ralph, read } = research(["arXiv", "Google Scholar", "Crossref"]);
    const ended = await ralph("run", folder, "--agent", "baseline", "--iterations", "20");
    expect(ended.err + ended.out).toMatch(/arXiv: \d+ found/);
    expect(ended.err).toMatch(
      /Crossref 1 of 2, tactile grasping \(\d{4}-.*\): \d+ records?\n(?:.*\n)*.*#1 DISCOVERY: /,
    );
    expect({ code: ended.code, err: ended.code === 0 ? "" : ended.err }).toEqual({ code: 0, err: "" });
    const rrd = read();
    expect(rrd.phase).toBe("COMPLETE");
    expect(rrd.papers_pool.length).toBeGreaterThanOrEqual(8);

    // One record of the preprint and the article that three services describe.
    const article = rrd.papers_pool.filter(({ title }) => title === "Tactile Grasping with Soft Robot Fingers");
    expect(article).toHaveLength(1);
    expect(article[0]).toMatchObject({
      id: "arxiv_2601.00001",
      identifiers: { doi: "10.5555/inv.1" },
      venue: "Journal of Invented Robotics",
      volume: "7",
      pages: "160-169",
    });
    expect(new Set(article[0]?.found?.sources)).toEqual(new Set(["arXiv", "OpenAlex", "Semantic Scholar", "Crossref"]));
    expect(article[0]?.found?.merged?.every(({ why }) => why !== "")).toBe(true);
    expect(article[0]?.read_depth).toBe("full");
    expect(rrd.papers_pool.some(({ title }) => title.includes("Withdrawn"))).toBe(false);
    expect(rrd.excluded).toContainEqual(expect.objectContaining({ id: "doi_10.5555_inv.8", stage: "retracted" }));

    const { flow, substitutions, sources_tried } = rrd.statistics?.discovery_metrics ?? {};
    expect(substitutions?.["Google Scholar"]).toMatch(/OpenAlex and Semantic Scholar/);
    expect(sources_tried).toEqual(
      expect.arrayContaining(["arXiv", "Google Scholar", "OpenAlex", "Semantic Scholar", "Crossref"]),
    );
    const identified = Object.values(flow?.identified ?? {}).reduce((sum, count) => sum + count, 0);
    const leftOut = Object.entries(flow?.excluded ?? {}).reduce((sum, [, count]) => sum + count, 0);
    expect(flow?.included).toBe(rrd.papers_pool.length);
    expect(identified - (flow?.duplicates_removed ?? 0)).toBe(
      rrd.papers_pool.length + leftOut + (flow?.not_screened ?? 0),
    );

    expect(readFileSync(join(folder, "queries.jsonl"), "utf8").split("\n").length).toBeGreaterThan(8);
    const replayed = await ralph("replay", folder);
    expect({ code: replayed.code, err: replayed.err }).toEqual({ code: 0, err: "" });
  });

  it("goes on with the sources that answer, and blocks one that fails three times in a row with its reason", async () => {
    const { folder, ralph, read } = research(["arXiv", "OpenAlex"], {
      keywords: ["tactile grasping", "soft robot", "slip detection"],
      target_papers: 5,
    });
    scholars.fail("arxiv", 418);
    try {
      await ralph("run", folder, "--agent", "baseline", "--iterations", "1");
    } finally {
      scholars.fail("arxiv", undefined);
    }
    const rrd = read();
    expect(rrd.papers_pool.length).toBe(5);
    expect(rrd.blocked_sources).toEqual([{ name: "arXiv", reason: expect.stringContaining("418") }]);
    expect(rrd.statistics?.discovery_metrics?.source_failure_reasons?.["arXiv"]).toMatch(/418/);
    expect(readFileSync(join(folder, "progress.txt"), "utf8")).toContain("arXiv is blocked from now on");
  });

  it("searches another service in the place of one that refuses, asks it the same, and says so", async () => {
    const { folder, ralph, read } = research(["Crossref"]);
    scholars.fail("crossref", 403);
    let ended;
    try {
      ended = await ralph("run", folder, "--agent", "baseline", "--iterations", "20");
    } finally {
      scholars.fail("crossref", undefined);
    }
    expect(ended.err).toContain("Crossref is blocked; OpenAlex is searched in its place.");
    const { papers_pool: pool, statistics } = read();
    expect(pool.length).toBeGreaterThan(0);
    expect(new Set(pool.flatMap(({ found }) => found?.sources ?? []))).toEqual(new Set(["OpenAlex"]));
    expect(statistics?.discovery_metrics?.substitutions).toEqual({
      Crossref: "Crossref is blocked; OpenAlex is searched in its place.",
    });
  });

  it("ends blocked, with a reason for every source and without a paper, where none answers", async () => {
    const { folder, ralph, read } = research(["arXiv", "OpenAlex"], {
      keywords: ["tactile grasping", "soft robot", "slip detection"],
    });
    const all = ["arxiv", "openalex", "semanticscholar", "crossref", "europepmc"] as const;
    for (const service of all) scholars.fail(service, 403);
    let ended;
    try {
      ended = await ralph("run", folder, "--agent", "baseline", "--iterations", "9");
    } finally {
      for (const service of all) scholars.fail(service, undefined);
    }
    expect({ code: ended.code, err: ended.code === 5 ? "" : ended.err }).toEqual({ code: 5, err: "" });
    const rrd = read();
    expect(rrd.papers_pool).toEqual([]);
    expect(Object.keys(rrd.statistics?.discovery_metrics?.source_failure_reasons ?? {})).toEqual(
      expect.arrayContaining(["arXiv", "OpenAlex"]),
    );
  });
});
