import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { cli } from "../../support/processes/in-process.js";
import { withUnitAgent } from "../../support/processes/command-agents.js";
import { freshFolder, makeResearch, paper, sampleResearch } from "../../support/projects/research-folder.js";

const rrdOf = (folder: string): Rrd => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
const standing = (folder: string) => ({
  phase: rrdOf(folder).phase,
  papers: rrdOf(folder).papers_pool.map(({ status }) => status),
});
const presented = ["presented", "presented"];

test("reset takes back one paper, everything after an iteration, or all, with a copy before each, and the run goes on to the end", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  await cli(withUnitAgent, cwd);
  expect(standing(folder)).toEqual({ phase: "COMPLETE", papers: presented });
  const [paper] = rrdOf(folder).papers_pool;

  expect(await cli(["reset", "", "--yes"], cwd)).toMatchObject({ code: 2, err: expect.stringContaining("empty") });
  expect(await cli(["reset", folder, "--paper", "nope"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("There is no paper nope"),
  });
  expect((await cli(["reset", folder, "--paper", paper?.id ?? "", "--no-git"], cwd)).code).toBe(0);
  expect(standing(folder)).toEqual({ phase: "ANALYSIS", papers: ["pending", "presented"] });
  expect((await cli(withUnitAgent, cwd)).code).toBe(0);
  expect(standing(folder)).toEqual({ phase: "COMPLETE", papers: presented });

  expect((await cli(["reset", folder, "--to", "1", "--no-git"], cwd)).code).toBe(0);
  expect(standing(folder)).toEqual({ phase: "ANALYSIS", papers: ["pending", "pending"] });
  expect((await cli(["--reset", folder, "--yes", "--no-git"], cwd)).code).toBe(0);
  expect(standing(folder)).toEqual({ phase: "DISCOVERY", papers: [] });
  expect(readdirSync(join(folder, ".ralph/backups"))).toHaveLength(4);
  expect((await cli(withUnitAgent, cwd)).code).toBe(0);
  expect(standing(folder)).toEqual({ phase: "COMPLETE", papers: presented });
});

test("reset --undo takes the last reset back, whatever was reset, and a second one does it again", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  expect(await cli(["reset", folder, "--undo", "--no-git"], cwd)).toMatchObject({ code: 2 });
  await cli(withUnitAgent, cwd);
  const report = readFileSync(join(folder, "research-report.md"), "utf8");
  const complete = standing(folder);
  for (const what of [
    ["--yes"],
    ["--paper", rrdOf(folder).papers_pool[0]?.id ?? ""],
    ["--unit", "report"],
    ["--to", "1"],
  ]) {
    const did = await cli(["reset", folder, ...what, "--no-git"], cwd);
    expect([did.code, did.err]).toEqual([
      0,
      expect.stringMatching(/reset grasping-2026-03-01 --undo' takes this back\.$/m),
    ]);
    expect(standing(folder).phase).not.toBe("COMPLETE");
    const undone = await cli(["reset", folder, "--undo", "--no-git"], cwd);
    expect(undone).toMatchObject({ code: 0, out: expect.not.stringContaining("saved from a version before") });
    expect(undone.out).toMatch(/^The last reset \(iteration \d+\) is taken back\.$/m);
    expect(standing(folder)).toEqual(complete);
    expect(readFileSync(join(folder, "research-report.md"), "utf8")).toBe(report);
  }
  await cli(["reset", folder, "--undo", "--no-git"], cwd);
  expect(standing(folder)).not.toEqual(complete);
});

test("reset --unit has the report written again, with the ideas after it, and takes neither another name nor another target beside it", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  await cli(withUnitAgent, cwd);
  const accepted = () =>
    readFileSync(join(folder, "ledger.jsonl"), "utf8")
      .split("\n")
      .filter((line) => /"unit":"report".*"outcome":"accepted"/.test(line)).length;
  expect(accepted()).toBe(1);

  expect(await cli(["reset", folder, "--unit", "papers"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining('"papers" can\'t be reset; name one of discovery, claims, report, ideas, check, mend'),
  });
  for (const both of [
    ["--unit", "report", "--to", "1"],
    ["--to", "1", "--paper", "p1"],
  ])
    expect(await cli(["reset", folder, ...both], cwd)).toMatchObject({
      code: 2,
      err: expect.stringContaining("cannot be used with"),
    });
  expect(standing(folder)).toEqual({ phase: "COMPLETE", papers: presented });

  const { code, out } = await cli(["reset", folder, "--unit", "report", "--no-git"], cwd);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("The report will be written again.") });
  expect(standing(folder)).toEqual({ phase: "ANALYSIS", papers: presented });
  expect((await cli(withUnitAgent, cwd)).code).toBe(0);
  expect(standing(folder)).toEqual({ phase: "COMPLETE", papers: presented });
  expect(accepted()).toBe(2);
});

test("reset --to brings a broken rrd.json back to its last good version and keeps the broken one", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  await cli(["run", "-i", "2", ...withUnitAgent], cwd);
  const good = standing(folder);
  writeFileSync(join(folder, "rrd.json"), "{");
  expect((await cli(["reset", folder, "--to", "2", "--no-git"], cwd)).code).toBe(0);
  expect(standing(folder)).toEqual(good);
  const kept = readdirSync(folder).find((name) => name.startsWith("rrd.json.broken-")) ?? "none";
  expect(readFileSync(join(folder, kept), "utf8")).toBe("{");
});

test("reset --undo leaves what a person joined and parted since as it is: each record stands once, and none is lost", async () => {
  const ids = ({ papers_pool: pool, excluded = [] }: Rrd) => [...pool, ...excluded].map(({ id }) => id).toSorted();
  for (const [before, since] of [
    [
      ["join", "one", "two"],
      ["join", "two", "--part"],
    ],
    [[], ["join", "one", "two"]],
  ] as const) {
    const cwd = freshFolder();
    const folder = makeResearch(cwd, "hands", {
      phase: "DISCOVERY",
      papers_pool: [paper("one", "pending"), paper("two", "pending")],
      excluded: [{ id: "late", title: "Late", reason: "The search ended.", stage: "screened" }],
      statistics: { discovery_metrics: { batches: 4, batches_without_new: 2 } },
    });
    const step = async ([command, ...args]: readonly string[]) => {
      if (command === undefined) return;
      expect(await cli([command, folder, ...args, "--no-git"], cwd), command).toMatchObject({ code: 0 });
    };
    await step(before);
    await step(["reset", "--unit", "discovery"]);
    await step(since);
    const pool = rrdOf(folder).papers_pool.map(({ id }) => id);
    await step(["reset", "--undo"]);
    expect(ids(rrdOf(folder)), since.join(" ")).toEqual(["late", "one", "two"]);
    expect(rrdOf(folder).papers_pool.map(({ id }) => id)).toEqual(pool);
  }
});
