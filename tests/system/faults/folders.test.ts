import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { expectNoTrace, expectSentence, expectWhole, lastWords } from "./support/place.js";

const place = useBuiltCli();

const gone = /^failed: The project folder \S+ is gone; run again where it is now/;

test("a research folder that is renamed under the run: nothing is made in its old place, and the run can go on in the new one", async () => {
  const here = place();
  const run = await here.startWaiting();
  const moved = join(here.cwd, "researches", "moved");
  renameSync(here.research, moved);
  // Its agent is still at work.
  expectSentence(
    await here.cli(["run", moved, "--agent", "baseline"]),
    6,
    new RegExp(`is in use by process ${run.pid} since`),
  );
  here.go();
  const ended = await run.ended;
  expect({ code: ended.code, out: ended.out }).toEqual({ code: 1, out: "" });
  expect(lastWords(ended)).toMatch(gone);
  expectNoTrace(ended.err);
  expect(existsSync(here.research)).toBe(false);
  expect((await here.cli(["run", moved, "--agent", "baseline"])).code).toBe(0);
  renameSync(moved, here.research);
  expectWhole(here);
});

test("a research folder that is deleted under the run stays deleted", async () => {
  const here = place();
  const run = await here.startWaiting();
  rmSync(here.research, { recursive: true });
  here.go();
  const ended = await run.ended;
  expect({ code: ended.code, out: ended.out }).toEqual({ code: 1, out: "" });
  expect(lastWords(ended)).toMatch(gone);
  expectNoTrace(ended.err);
  expect(existsSync(here.research)).toBe(false);
  expect(here.left()).toEqual([]);
});

test("the user's whole folder renamed under the run is the same, and so is the current one deleted before the start", async () => {
  const here = place();
  const run = await here.startWaiting();
  renameSync(here.cwd, join(here.top, "elsewhere"));
  here.go();
  const ended = await run.ended;
  expect(ended.code).toBe(1);
  expect(lastWords(ended)).toMatch(gone);
  expect(existsSync(here.cwd)).toBe(false);
  mkdirSync(here.cwd);
  const words = `rmdir '${here.cwd}'; ${here.shellCommand("list")}`;
  const list = spawnSync("/bin/sh", ["-c", words], { cwd: here.cwd, env: here.env, encoding: "utf8" });
  expectSentence({ code: list.status, out: list.stdout, err: list.stderr }, 1, /The current folder no longer exists; /);
  mkdirSync(here.cwd);
  const asked = `rmdir '${here.cwd}'; ${here.assistant} hello`;
  const ralph = spawnSync("/bin/sh", ["-c", asked], { cwd: here.cwd, env: here.env, encoding: "utf8" });
  expect([ralph.status, ralph.stderr]).toEqual([
    1,
    "ralph: The current folder no longer exists; change to another folder.\n",
  ]);
});

test("a .ralph that is deleted under the run costs nothing", async () => {
  const here = place();
  const run = await here.startWaiting();
  rmSync(join(here.research, ".ralph"), { recursive: true });
  here.go();
  expect(await run.ended).toMatchObject({ code: 0, out: "<promise>COMPLETE</promise>\n" });
  expectWhole(here);
});

test("a second run, or a reset, of a research at work is refused with the process that has it; looking at it is not", async () => {
  const here = place();
  const run = await here.startWaiting();
  const inUse = new RegExp(
    `^research-ralph: The \\w+ \\S+ is in use by process ${run.pid} since \\S+; wait until it ends, or stop it\\.$`,
    "m",
  );
  for (const args of [
    ["run", here.research, "--agent", "baseline"],
    ["reset", here.research],
  ])
    expectSentence(await here.cli(args), 6, inUse);
  for (const args of [["status"], ["list"], ["validate", here.research], ["brief", here.research]])
    expect((await here.cli(args)).code).toBe(0);
  here.go();
  expect((await run.ended).code).toBe(0);
  expectWhole(here);
});

test("of several runs started at once exactly one works, the others say who does", async () => {
  const here = place();
  const env = { FAULTS_GATE: here.gate };
  const runs = Array.from({ length: 4 }, () => here.start(["run", here.research, "--agent", "slow"], env));
  let refused = 0;
  const ends = runs.map(async (run) => {
    const ended = await run.ended;
    // The winner's agent waits until all the others were refused.
    if (ended.code === 6 && ++refused === 3) here.go();
    return ended;
  });
  const codes = (await Promise.all(ends)).map(({ code }) => code).toSorted();
  expect(codes).toEqual([0, 6, 6, 6]);
  expectWhole(here);
});

test("two new researches of one topic at once get a folder each", async () => {
  const here = place();
  rmSync(join(here.cwd, "researches"), { recursive: true });
  const made = await Promise.all(
    Array.from({ length: 3 }, () => here.cli(["new", "grasping in simulation", "--agent", "baseline"])),
  );
  expect(made.map(({ code }) => code)).toEqual([0, 0, 0]);
  const folders = made.map(({ out }) => out.trim());
  expect(new Set(folders).size).toBe(3);
  for (const folder of folders) expect(here.ledger(join(here.cwd, folder))).toHaveLength(1);
});

test("a paper that disappears under the run costs that paper's text and nothing else", async () => {
  const here = place({ papers: 2 });
  const run = await here.startWaiting();
  rmSync(join(here.cwd, "papers", "paper-2.md"));
  here.go();
  expect((await run.ended).code).toBe(0);
  const depths = here.rrd().papers_pool.map((paper) => paper.read_depth);
  expect(depths.toSorted()).toEqual(["abstract", "full"]);
});

test("a folder of papers that is not there is named with the source to correct", async () => {
  const here = place();
  rmSync(join(here.cwd, "papers"), { recursive: true });
  const ended = await here.cli(["run", here.research, "--agent", "baseline"]);
  expectNoTrace(ended.err);
  expect(ended.code).toBe(5);
  expect(lastWords(ended)).toMatch(
    /^blocked: .*There is no folder \S+papers; correct the source 'folder:<path>' in rrd\.json/,
  );
});

test("files of a finished report that somebody deletes are back at the next run, or are written anew", async () => {
  const here = place();
  const run = async () => await here.cli(["run", here.research, "--agent", "baseline"]);
  expect((await run()).code).toBe(0);
  const path = (name: string) => join(here.research, name);
  const text = (name: string) => readFileSync(path(name), "utf8");
  const names = ["report.json", "references.bib", "research-report.md"];
  const before = names.map(text);
  const linesBefore = text("ledger.jsonl");
  for (const name of names) rmSync(path(name));
  const again = await run();
  expect(again.code).toBe(0);
  for (const name of names) expect(again.err).toContain(`${name} was gone; it is `);
  expect(text("ledger.jsonl")).toBe(linesBefore);
  expect([text("report.json"), text("references.bib")]).toEqual(before.slice(0, 2));
  expect(text("research-report.md")).toContain("\n## Answer\n");
  expectWhole(here);

  rmSync(path("report.json"));
  rmSync(path("references.bib"));
  // As in a clone.
  rmSync(path(".ralph"), { recursive: true });
  const anew = await run();
  expect(anew.code).toBe(0);
  expect(anew.err).toContain("report.json is gone and can't be brought back, so it will be written again.");
  expect(JSON.parse(text("report.json"))).toMatchObject({ answer: expect.anything() });
});
