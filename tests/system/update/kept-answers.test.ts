import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SearchRecord } from "../../../src/research/search/search-record.js";
import { finished, finishedOutsideGit, newcomer, newcomerId, since } from "./finished-project.js";

/** One iteration of an agent that fails. */
const failing = ["--agent", "cmd:false", "--unconfined", "--iterations", "1"];

/** An update that is open and asked, of which nothing is judged yet. */
async function opened() {
  const project = await finishedOutsideGit();
  project.papers.push(newcomer);
  const stopped = await project.ralph("update", project.folder, ...since, ...failing);
  expect(stopped.code).not.toBe(0);
  expect(project.read().updates?.[0]).toMatchObject({ id: "update-1", iteration: expect.any(Number) });
  return project;
}

const searches = (requests: readonly string[]) => requests.filter((path) => /[?&](?:search|search_query)=/.test(path));

describe("what sources said to an update", () => {
  it("is asked for anew, whatever they said an hour ago", async () => {
    const { papers, update, git, scholars } = await finished();
    expect((await update(...since)).out).toContain("nothing new");
    papers.push(newcomer);
    const asked = searches(scholars.requests).length;
    const dry = await update(...since, "--dry-run");
    expect(dry.out).toContain("new: Tactile Grasping of Wet Objects");
    expect(searches(scholars.requests).length).toBeGreaterThan(asked);
    expect(git("status", "--porcelain")).toBe("");
  });

  it("is in the log of questions once, however the work on it ends", async () => {
    const { text, update, read } = await opened();
    const rows = text("queries.jsonl").trim().split("\n");
    expect((await update()).code).toBe(0);
    const after = text("queries.jsonl").trim().split("\n");
    expect(after.slice(0, rows.length)).toEqual(rows);
    expect(after.length).toBe(rows.length);
    expect(read().updates?.[0]).toMatchObject({ new: [newcomerId] });
  });

  it("is not taken for the next one's where a kill came before the update was opened", async () => {
    const { papers, folder, update, read } = await finishedOutsideGit();
    const candidates = join(folder, ".ralph", "candidates.json");
    const kept = JSON.parse(readFileSync(candidates, "utf8")) as SearchRecord;
    // Left over: a window that was asked for, and brought nothing then.
    const [first] = kept.steps;
    const listing = kept.listings[0];
    if (first === undefined || listing === undefined) throw new Error("the search kept nothing");
    const [steps, step] = [[...kept.steps, { ...first, update: "update-1" }], kept.steps.length];
    const listings = [...kept.listings, { ...listing, step, records: [] }];
    writeFileSync(candidates, JSON.stringify({ ...kept, steps, listings }));
    papers.push(newcomer);
    expect((await update(...since)).code).toBe(0);
    expect(read().updates?.[0]).toMatchObject({ new: [newcomerId] });
    const rounds = read().statistics?.discovery_metrics?.rounds ?? [];
    expect(rounds.slice(0, kept.steps.length)).toEqual(kept.steps);
    expect(rounds.filter((each) => each.update === "update-1")).toHaveLength(2);
  });

  it("is asked for again where it was lost, and the first search is replayed from what is committed", async () => {
    const { folder, update, read } = await opened();
    const before = read();
    rmSync(join(folder, ".ralph"), { recursive: true });
    const done = await update();
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    const after = read();
    expect(after.updates).toHaveLength(1);
    expect(after.updates?.[0]).toMatchObject({ new: [newcomerId] });
    const flow = (rrd: typeof after) => rrd.statistics?.discovery_metrics?.flow?.identified?.["OpenAlex"] ?? 0;
    expect(flow(after)).toBeGreaterThan(flow(before));
  });

  it("is found by the first search's rounds, asked again, where nothing at all is left of it", async () => {
    const { papers, folder, update, read } = await finishedOutsideGit();
    const before = read();
    for (const name of [".ralph", "search-records.json.gz", "queries.jsonl"])
      rmSync(join(folder, name), { recursive: true, force: true });
    papers.push(newcomer);
    const dayKept = () => {
      const kept = JSON.parse(readFileSync(join(folder, ".ralph", "candidates.json"), "utf8")) as SearchRecord;
      return kept.day;
    };
    const done = await update(...since);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    const [old, now] = [before, read()].map(({ statistics }) => statistics?.discovery_metrics);
    expect(now?.rounds?.slice(0, old?.rounds?.length)).toEqual(old?.rounds);
    const counted = [old, now].map((metrics) => metrics?.flow?.identified?.["OpenAlex"] ?? 0);
    expect(counted[1]).toBeGreaterThanOrEqual(counted[0] ?? 0);
    expect(read().updates?.[0]?.new).toContain(newcomerId);
    // Not the one on which the old rounds were asked again.
    expect(dayKept()).toBe("2026-01-01");
  });

  it("gives up the window of a source that answers when the update goes on", async () => {
    const { papers, scholars, ralph, folder, update, read, text } = await finishedOutsideGit();
    papers.push(newcomer);
    scholars.fail("arxiv", 403);
    await ralph("update", folder, ...since, ...failing);
    expect(read().updates?.[0]?.failed).toEqual({ arXiv: "2026-01-01" });
    scholars.fail("arxiv", undefined);
    expect((await update()).code).toBe(0);
    expect(read().updates?.[0]?.failed ?? {}).toEqual({});
    expect(text("research-report.md")).not.toContain("Not asked in full");
  });

  it("leaves the window of a blocked source open until it can be asked", async () => {
    const { papers, update, read, write, text } = await finishedOutsideGit();
    write({ ...read(), blocked_sources: ["Crossref"] });
    papers.push(newcomer);
    const done = await update(...since);
    expect(done.code).toBe(0);
    expect(read().updates?.[0]?.failed).toEqual({ Crossref: "2026-01-01" });
    expect(text("research-report.md")).toContain("Not searched completely for this period: Crossref.");
    const next = await update("--dry-run");
    expect(next.out).toMatch(/nothing new .*Crossref: it is blocked\./);
    write({ ...read(), blocked_sources: [] });
    expect((await update()).out).toMatch(/nothing new from .* \(3 sources asked\)\.\n$/);
  });
});
