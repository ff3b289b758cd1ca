import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { statusCommand } from "../../../src/commands/inspect/status.js";
import { writeOriginalFolders } from "../../fixtures/original-folders.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, line, makeResearch, paper } from "../../support/projects/research-folder.js";

async function status(cwd: string, folder?: string, json = false, papers = false, tableWidth = 80) {
  const io = fakeIo({ cwd, tableWidth, columns: tableWidth });
  const exitCode = await statusCommand({ folder, json, papers }, io);
  return { exitCode, out: io.out() };
}

const pool = [
  paper("a", "presented"),
  paper("b", "insights_extracted"),
  paper("c", "pending"),
  paper("d", "pending", {
    refusals: [1, 2, 3].map((iteration) => ({
      iteration,
      at: "2026-03-01T10:00:00Z",
      reasons: ["no quote is in the text"],
    })),
  }),
];
const ledger = [
  line(1, "a", { duration_seconds: 100, tokens: { input: 30_000, cached: 10_000, output: 1000 }, cost_usd: 0.1 }),
  line(2, "b", { duration_seconds: 50, outcome: "failed", tokens: { input: 5000, output: 0 } }),
  line(3, "b", { duration_seconds: 150, tokens: { input: 30_000, output: 1000 }, cost_usd: 0.2 }),
];

test("a folder's name, like all that a research holds, is printed without what would act on a terminal", async () => {
  const cwd = freshFolder();
  const name = "hands\u001b]0;own\u0007\u009b31m\u202e\nsecond";
  makeResearch(cwd, name, { papers_pool: pool });
  const { out } = await status(cwd, join("researches", name), false, true);
  expect(out).toContain("\nresearches/hands second\n");
  expect(out).toContain("reset hands second");
  // oxlint-disable-next-line no-control-regex -- none may be left
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});

test("status is computed from the records: counts, time, what is left, tokens, cost, what is blocked or refused", async () => {
  const cwd = freshFolder();
  makeResearch(
    cwd,
    "grasping-2026-03-01",
    {
      papers_pool: pool,
      insights: [{ insight: "x" }],
      blocked_sources: ["dl.acm.org"],
      statistics: { total_presented: 99 },
    },
    ledger,
  );
  const { out, exitCode } = await status(cwd, "grasping-2026-03-01");
  expect(exitCode).toBe(0);
  for (const expected of [
    "State      Not running, in analysis",
    "Next       'research-ralph run grasping-2026-03-01' continues it",
    "Progress   ██████████░░░░░░░░░░ 2 of 4 papers done (50%)",
    "Papers     1 included, 1 kept for insights, 0 rejected, 2 not read yet",
    "Insights   1",
    "Time       5m 00s of agent time, 2m 30s a paper, ≈ 14m 00s of work left",
    "Iterations 3",
    "Tokens     65.0k in (10.0k of it cached), 2.0k out",
    "Cost       $0.30",
    "Blocked    dl.acm.org",
    "Refused    paper-4, 3 times: no quote is in the text; given up:",
  ]) {
    expect(out).toContain(expected);
  }
  expect(Math.max(...out.split("\n").map((each) => each.length))).toBeLessThanOrEqual(80);
});

test("the papers stand in it with the keys that reset and tool want: the first twenty, or all of them with --papers", async () => {
  const cwd = freshFolder();
  const many = Array.from({ length: 23 }, (_, index) =>
    paper(`p${index + 1}`, index === 0 ? "presented" : "pending", { title: "A long title ".repeat(9) }),
  );
  makeResearch(cwd, "grasping-2026-03-01", { papers_pool: many });
  const { out } = await status(cwd);
  expect(out).toMatch(/^ {2}long-title-long +included +– +A long title /m);
  expect(out.match(/^ {2}long-title-long-\d+ .*not read yet/gm)).toHaveLength(19);
  expect(out).toContain("\n  and 3 more; --papers lists them all\n");
  expect(Math.max(...out.split("\n").map((each) => each.length))).toBeLessThanOrEqual(80);
  const all = (await status(cwd, undefined, false, true)).out;
  expect(all.match(/^ {2}long-title-long\S* /gm)).toHaveLength(23);
  expect(all).not.toContain("more;");
  expect(JSON.parse((await status(cwd, undefined, true)).out).pool).toHaveLength(23);
});

test("titles stand whole: beside the facts of their papers, or below them where there is little room", async () => {
  const cwd = freshFolder();
  const title = "Cost and benefit of hip surgery within a day of the fracture in older adults";
  makeResearch(cwd, "grasping-2026-03-01", { papers_pool: [paper("a", "presented", { title })] });
  const linesIn = async (tableWidth: number) =>
    (await status(cwd, undefined, false, false, tableWidth)).out.split("\n");
  for (const tableWidth of [60, 80]) {
    const lines = await linesIn(tableWidth);
    expect(lines.join(" ").replace(/\s+/g, " ")).toContain(title);
    expect(Math.max(...lines.map((each) => each.length))).toBeLessThan(tableWidth);
  }
  expect(await linesIn(60)).toContain("    Cost and benefit of hip surgery within a day of the");
  expect(await linesIn(80)).toContainEqual(expect.stringMatching(/included +– +Cost and benefit of hip surgery/));
});

test("a cost that we estimated is not said to be reported", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "grasping-2026-03-01", { papers_pool: pool }, [line(1, "a", { cost_usd: 0.1, estimated: true })]);
  const { out } = await status(cwd);
  expect(out).toContain("Cost       ≈ $0.10");
});

test("as JSON the same numbers are plain values", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "grasping-2026-03-01", { papers_pool: pool }, ledger);
  expect(JSON.parse((await status(cwd, undefined, true)).out)).toMatchObject({
    phase: "ANALYSIS",
    progress: { done: 2, total: 4 },
    papers: { presented: 1, insights_extracted: 1, pending: 2, rejected: 0 },
    seconds: 300,
    seconds_per_paper: 150,
    seconds_left: 840,
    input: 65_000,
    cost_usd: 0.3,
    refused: [{ id: "d", times: 3, given_up: true }],
  });
});

test("the papers are listed by score, with their year, those not read yet last", async () => {
  const cwd = freshFolder();
  const score = (points: number) => ({
    novelty: points,
    feasibility: points,
    time_to_poc: points,
    value_market: points,
    defensibility: points,
    adoption: points,
  });
  const scored = [
    paper("low", "rejected", { score_breakdown: score(1), date: "2024-01-02" }),
    paper("next", "pending", { priority: 5 }),
    paper("high", "presented", { score_breakdown: score(5), date: "2026" }),
    paper("later", "pending", { priority: 1 }),
  ];
  makeResearch(cwd, "grasping-2026-03-01", { papers_pool: scored });
  const { pool: listed } = JSON.parse((await status(cwd, undefined, true)).out) as { pool: object[] };
  expect(listed).toMatchObject([
    { id: "high", score: 30, year: 2026 },
    { id: "low", score: 6, year: 2024 },
    { id: "next", score: null },
    { id: "later", year: null },
  ]);
});

test("the beginning of a name names a project where only one begins so", async () => {
  const cwd = freshFolder();
  for (const name of ["grasping-2026-03-01", "grasping-2026-03-02", "walking-2026-03-01"]) makeResearch(cwd, name);
  expect((await status(cwd, "walk")).out).toContain("researches/walking-2026-03-01");
  await expect(status(cwd, "grasp")).rejects.toThrow(/grasping-2026-03-01, grasping-2026-03-02/);
});

test("a research is found by path, by name, by its rrd.json, and without a word when it is the only one", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "grasping-2026-03-01");
  for (const argument of [
    folder,
    "researches/grasping-2026-03-01",
    "grasping-2026-03-01",
    `${folder}/rrd.json`,
    undefined,
  ]) {
    expect((await status(cwd, argument)).out).toMatch(/^grasping-2026-03-01\nresearches|^grasping-2026-03-01\n/);
  }
  expect((await status(folder, undefined)).out).toMatch(/^grasping-2026-03-01\nresearches|^grasping-2026-03-01\n/);
});

test("an unknown name has the exit code of wrong usage and the nearest names", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "grasping-2026-03-01");
  makeResearch(cwd, "walking-robots-2026-03-01");
  await expect(status(cwd, "graspnig")).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining("the nearest one is grasping-2026-03-01"),
  });
  await expect(status(cwd, "robots")).rejects.toThrow("the nearest one is walking-robots-2026-03-01");
  await expect(status(cwd, "2026")).rejects.toThrow("near are grasping-2026-03-01, walking-robots-2026-03-01");
  await expect(status(cwd)).rejects.toThrow(
    "There are 2 projects here: grasping-2026-03-01, walking-robots-2026-03-01; name one",
  );
  await expect(status(freshFolder())).rejects.toThrow('research-ralph new "<topic>"');
});

test("the time of a run of the original comes from its phases", async () => {
  const cwd = freshFolder();
  writeOriginalFolders(cwd);
  const { out } = await status(cwd, "auditable-robot-hands-2026-01-19");
  expect(out).toContain("5 of 5 papers done (100%)");
  expect(out).toContain("2 included, 2 kept for insights, 1 rejected");
  expect(out).toContain("1h 42m of agent time, 18m 00s a paper");
});

test("what a check for retractions found and could not check is said, and nothing where nobody has looked", async () => {
  const cwd = freshFolder();
  const check = (checked_by: string[]) => ({ at: "2026-03-02T10:00:00.000Z", checked_by, unchecked: [] });
  const papers = [
    paper("a", "presented", { updates_check: check(["Crossref"]) }),
    paper("b", "presented", { updates_check: check([]) }),
    paper("c", "rejected", { retracted: true, updates_check: { ...check(["Crossref"]), demoted_from: "presented" } }),
  ];
  makeResearch(cwd, "grasping-2026-03-01", { papers_pool: papers });
  expect((await status(cwd)).out).toContain(
    "Retracted  1 paper; 2 papers checked on 2026-03-02, 1 could not be checked",
  );
  expect(JSON.parse((await status(cwd, undefined, true)).out)).toMatchObject({
    retracted: 1,
    retraction_check: { demoted: ["c"] },
  });
  makeResearch(cwd, "other-2026-03-02", { papers_pool: pool });
  expect((await status(cwd, "other-2026-03-02")).out).not.toContain("Retracted");
});

test("status says what holds a research, what was told to its agents, and how long it has got nowhere", async () => {
  const cwd = freshFolder();
  const refused = [1, 2, 3].map((n) => line(n, "c", { outcome: "refused" }));
  const folder = makeResearch(
    cwd,
    "grasping-2026-03-01",
    { papers_pool: pool, loop: { steering: [{ id: "1", text: "Mind the cost." }] } },
    refused,
  );
  expect((await status(cwd, "grasping-2026-03-01")).out).toContain("State      Not running, in analysis");
  writeFileSync(join(folder, "PAUSE"), "");
  const { out } = await status(cwd, "grasping-2026-03-01");
  expect(out.replaceAll(/\s+/g, " ")).toMatch(
    /State Paused, in analysis Next 'research-ralph stop --undo \S+' removes PAUSE;/,
  );
  expect(out).toMatch(/Steering +Mind the cost\./);
  expect(out.replaceAll(/\s+/g, " ")).toContain(
    "No result for 3 iterations in a row; a run stops as stuck after 15, or after 5 that repeat each other",
  );
  expect(JSON.parse((await status(cwd, "grasping-2026-03-01", true)).out)).toMatchObject({
    running: false,
    held: ["PAUSE"],
    without_result: 3,
  });
});

test("the limit of repetitions is the configured one, and a stuck project is told of --force", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "ralph.config.yaml"), "stagnation_limit: 4\n");
  const last_run = { at: "2026-03-01T10:00:00Z", verdict: "stuck" as const, reason: "No progress." };
  const refused = [1, 2].map((n) => line(n, "c", { outcome: "refused" }));
  makeResearch(cwd, "grasping-2026-03-01", { papers_pool: pool, loop: { last_run } }, refused);
  const out = (await status(cwd, "grasping-2026-03-01")).out.replaceAll(/\s+/g, " ");
  expect(out).toContain("a run stops as stuck after 15, or after 4 that repeat each other");
  expect(out).toContain(
    "Next 'research-ralph run grasping-2026-03-01' continues it after new advice; if you mended the agent instead, add --force",
  );
});
