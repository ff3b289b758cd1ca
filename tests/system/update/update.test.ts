import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { type SearchedUntil, nextWindow } from "../../../src/research/update/window.js";
import type { Invented } from "../../fixtures/invented-papers.js";
import { allSources } from "../../../src/research/sources/registry.js";
import { finished, finishedOutsideGit, newcomer, newcomerId, since } from "./finished-project.js";

describe("the update of a finished project", () => {
  it("says in one line that nothing came, and changes no byte that git sees", async () => {
    const { git, update, read } = await finished();
    const head = git("rev-parse", "HEAD");
    const done = await update(...since);
    expect({ code: done.code, err: done.err }).toEqual({ code: 0, err: "" });
    expect(done.out).toMatch(
      /^touch-2026-11-22: nothing new from 2026-01-01 to \d{4}-\d\d-\d\d \(3 sources asked\)\.\n$/,
    );
    expect(git("status", "--porcelain")).toBe("");
    expect(git("rev-parse", "HEAD")).toBe(head);
    expect(read().updates).toBeUndefined();
  });

  it("screens and reads a new paper, and writes the report again", async () => {
    const { papers, git, update, read } = await finished();
    papers.push(newcomer);
    const done = await update(...since);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    const { updates = [], papers_pool: pool, phase } = read();
    expect(phase).toBe("COMPLETE");
    expect(updates).toHaveLength(1);
    expect(updates[0]).toMatchObject({ id: "update-1", new: [newcomerId], retracted: [], changed: [] });
    expect(updates[0]?.closed_at).toBeDefined();
    expect(pool.find(({ id }) => id === newcomerId)?.read_depth).toBe("full");
    expect(git("status", "--porcelain")).toBe("");
    const head = git("rev-parse", "HEAD");
    const again = await update(...since);
    expect(again.out).toContain("nothing new");
    expect({ code: again.code, head: git("rev-parse", "HEAD"), status: git("status", "--porcelain") }).toEqual({
      code: 0,
      head,
      status: "",
    });
  });

  it("reads one of four: a new paper, a retracted one, a preprint printed unchanged, a dropped one under another id", async () => {
    const { papers, git, update, read, write, lines, text } = await finished({ target_papers: 8 });
    const before = read();
    const pool = new Map(before.papers_pool.map((paper) => [paper.title, paper]));
    const printed = papers.findIndex(({ title, doi }) => doi === undefined && pool.get(title)?.status === "presented");
    const gone = papers.findIndex(({ title, doi }) => doi !== undefined && pool.get(title)?.status === "presented");
    const preprint = papers[printed] as Invented;
    const withdrawn = papers[gone] as Invented;
    papers[printed] = {
      ...preprint,
      doi: "10.5555/inv.99",
      venue: "Journal of Invented Robotics",
      printed: "2026-06-25",
      knownTo: ["arxiv", "openalex", "crossref"],
    };
    papers[gone] = { ...withdrawn, retracted: true };
    papers.push(newcomer);
    // One that was left out comes back with another id and nothing but its title, first author and year.
    const rrd = read();
    const dropped = { id: "web_abc", title: "Tactile Grasping in the Dark", year: 2026, first_author: "Di Drop" };
    rrd.excluded = [...(rrd.excluded ?? []), { ...dropped, reason: "off topic", stage: "screened" }];
    write(rrd);
    git("commit", "-qam", "by hand");
    papers.push({
      ...newcomer,
      key: "p14",
      title: dropped.title,
      authors: ["Di Drop"],
      arxiv: "2606.00014",
      openalex: "W9000000014",
    });

    const dry = await update(...since, "--dry-run");
    expect({ code: dry.code, err: dry.err, status: git("status", "--porcelain") }).toEqual({
      code: 0,
      err: "",
      status: "",
    });
    expect(dry.out).toContain("1 new work, 1 paper changed, 1 retracted");
    expect(dry.out).toContain("new: Tactile Grasping of Wet Objects");
    expect(dry.out).toMatch(/published in Journal of Invented Robotics as 10\.5555\/inv\.99, the same text/);
    expect(dry.out).toMatch(/^Forecast: /m);

    const had = lines().length;
    const done = await update(...since);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    const after = read();
    const readBy = lines()
      .slice(had)
      .flatMap(({ unit, agent }) => (agent !== undefined && unit.startsWith("arxiv_") ? [unit] : []));
    expect(readBy).toEqual([newcomerId]);
    expect(after.updates).toHaveLength(1);
    expect(after.updates?.[0]).toMatchObject({
      new: [newcomerId],
      retracted: [pool.get(withdrawn.title)?.id],
      changed: [{ id: pool.get(preprint.title)?.id, read_again: false }],
    });
    expect(after.papers_pool.find(({ title }) => title === withdrawn.title)).toMatchObject({
      retracted: true,
      status: "rejected",
    });
    expect(after.papers_pool.find(({ title }) => title === preprint.title)?.identifiers?.doi).toBe("10.5555/inv.99");
    expect(after.papers_pool.some(({ title }) => title === dropped.title)).toBe(false);
    const report = text("research-report.md");
    expect(report).toMatch(/## What changed\n\nChanges from 2026-01-01 to \S+:\n/);
    expect(report).toContain("- **New:**");
    expect(report).toContain("- **Retracted:**");
    expect(report).toMatch(/Findings: .*(?:gone|new|kept)/);
    expect(report.indexOf("## What changed")).toBeLessThan(report.indexOf("## Question"));

    const head = git("rev-parse", "HEAD");
    expect(git("status", "--porcelain")).toBe("");
    const again = await update(...since);
    expect({ code: again.code, err: again.err }).toEqual({ code: 0, err: "" });
    expect(again.out).toContain("nothing new");
    expect({ head: git("rev-parse", "HEAD"), status: git("status", "--porcelain") }).toEqual({ head, status: "" });
  });

  it("finds by its citation what no keyword leads to", async () => {
    const { papers, update, read } = await finishedOutsideGit();
    const { title = "" } = read().papers_pool.find(({ status }) => status === "presented") ?? {};
    const cited = papers.find((paper) => paper.title === title)?.key ?? "";
    const words = { title: "Tactile Robots and Wet Objects", abstract: "Robots grasp by tactile sense in 52 trials." };
    papers.push({ ...newcomer, ...words, cites: [cited] });
    const done = await update(...since);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    expect(read().updates).toEqual([expect.objectContaining({ works: 1, new: [newcomerId] })]);
    const came = read().papers_pool.find(({ id }) => id === newcomerId);
    expect(came?.found?.cites).toHaveLength(1);
    expect((await update(...since)).out).toContain("nothing new");
  });

  it("goes on where it was ended, and asks for nothing again", async () => {
    const { papers, scholars, update, read } = await finishedOutsideGit();
    papers.push(newcomer);
    const stopped = await update(...since, "--iterations", "1");
    expect(stopped.code).toBe(3);
    expect(read().updates?.[0]).toMatchObject({ id: "update-1" });
    expect(read().updates?.[0]?.closed_at).toBeUndefined();
    const asked = scholars.requests.filter((path) => path.includes("search_query")).length;
    const done = await update();
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    expect(done.err).toContain("continuing update-1, opened on");
    expect(read().updates).toHaveLength(1);
    expect(read().updates?.[0]?.new).toEqual([newcomerId]);
    expect(scholars.requests.filter((path) => path.includes("search_query")).length).toBe(asked);
  });

  it("is undone by a reset to the iteration before it, and comes again", async () => {
    const { papers, folder, update, ralph, read } = await finishedOutsideGit();
    const before = read();
    papers.push(newcomer);
    expect((await update(...since)).code).toBe(0);
    const { iteration = 0 } = read().updates?.[0] ?? {};
    expect((await ralph("reset", folder, "--to", String(iteration - 1))).code).toBe(0);
    const undone = read();
    expect({ phase: undone.phase, updates: undone.updates ?? [] }).toEqual({ phase: "COMPLETE", updates: [] });
    expect(undone.papers_pool.map(({ id }) => id)).toEqual(before.papers_pool.map(({ id }) => id));
    expect((await update(...since)).code).toBe(0);
    expect(read().updates).toEqual([expect.objectContaining({ id: "update-1", new: [newcomerId] })]);
  });

  it("ends with 5 and keeps no day where no source answers, and keeps the window of one that fails", async () => {
    const { scholars, folder, update, read, text } = await finishedOutsideGit();
    const all = ["arxiv", "openalex", "crossref"] as const;
    for (const service of all) scholars.fail(service, 403);
    const none = await update("--since", "2026-02-01");
    expect({ code: none.code, out: none.out }).toEqual({ code: 5, out: "" });
    expect(none.err).toContain("no source answered");
    expect(existsSync(join(folder, ".ralph", "update.json"))).toBe(false);
    for (const service of all) scholars.fail(service, undefined);
    scholars.fail("arxiv", 403);
    const one = await update("--since", "2026-02-02");
    expect(one.code).toBe(0);
    const kept = JSON.parse(text(".ralph/update.json")) as SearchedUntil;
    expect(kept.failed).toEqual({ arXiv: "2026-02-02" });
    const next = nextWindow("x", { rrd: read(), ledger: [] }, kept, Date.now());
    expect(next.sources).toEqual({ arXiv: "2026-02-02" });
  });

  it("refuses a day that lies ahead, a project that is not finished or has nobody to ask, and a clock that was set back", async () => {
    const { folder, update, read, write } = await finishedOutsideGit();
    const ahead = await update("--since", "2999-01-01");
    expect(ahead.code).toBe(2);
    expect(ahead.err).toContain("lies in the future");
    expect((await update("--since", "soon")).code).toBe(2);
    const state = { rrd: read(), ledger: [] };
    expect(() => nextWindow("x", state, { until: "2026-11-01", failed: {} }, Date.parse("2001-01-01"))).toThrow(
      "clock",
    );
    const blocked = { ...state.rrd, blocked_sources: allSources.map(({ name }) => name) };
    write(blocked);
    const nobody = await update(...since);
    expect([nobody.code, nobody.err]).toEqual([5, expect.stringContaining("none of its sources can be asked")]);
    expect(existsSync(join(folder, ".ralph", "update.json"))).toBe(false);
    const bare = { ...state.rrd, statistics: null, updates: [] } as unknown as Rrd;
    expect(() => nextWindow("x", { rrd: bare, ledger: [] }, undefined, Date.now())).toThrow("--since");
    write({
      ...state.rrd,
      phase: "ANALYSIS",
      papers_pool: [...state.rrd.papers_pool, { id: "late", title: "Late", status: "pending" }],
    });
    const unfinished = await update(...since);
    expect(unfinished.code).toBe(2);
    expect(unfinished.err).toContain("is not finished");
  });
});
