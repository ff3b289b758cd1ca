import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { cli } from "../../support/processes/in-process.js";
import { folderProject } from "../../support/projects/folder-project.js";
import { readPapers } from "../../support/projects/passages-for-controls.js";
import { freshFolder } from "../../support/projects/research-folder.js";

const checker = fileURLToPath(new URL("../crash/check-agent.mjs", import.meta.url));
const agent = ["--agent", `cmd:${process.execPath} ${checker}`, "--unconfined", "--quiet", "--no-git"];

const question = "What helps grip strength and finger reach?";
const right = "Grip strength was higher in adults with a soft glove.";
const corrected = "Finger reach was higher in adults who stretched daily for two weeks.";
const madeUp = "Warm milk is cheaper than every other means.";

let cwd: string;
let folder: string;
const lines = <Line>(name: string): Line[] =>
  readFileSync(join(folder, name), "utf8")
    .trim()
    .split("\n")
    .map((row) => JSON.parse(row) as Line);
const rrd = () => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;

beforeEach(() => {
  cwd = freshFolder();
  const papers = readPapers();
  folder = folderProject(cwd, "hands", Object.fromEntries(papers.map(({ id }) => [id, `# ${id}\n`])));
  writeFileSync(join(folder, "rrd.json"), JSON.stringify({ ...rrd(), phase: "ANALYSIS", papers_pool: papers }));
});

test("an answer is printed, then checked: what says too much is corrected, what is made up is taken out", async () => {
  const { code, out } = await cli(["ask", question, "--check", ...agent], cwd);
  expect(code).toBe(0);
  const [first = "", then = ""] = out.split("Checked: ");
  expect(first.replace(/\s+/g, " ")).toContain(madeUp);
  expect(first.replace(/\s+/g, " ")).toContain(`${right} [1] ✓✓ ${corrected} [2] ✓✓`);
  expect(then.replace(/\s+/g, " ")).toContain("2 of 3 sentences supported by the sentences they cite");
  expect(then.replace(/\s+/g, " ")).toMatch(/1 corrected; 1 removed\. Not supported, and taken out: Warm milk/);
  const kept = lines<Answer>("answers.jsonl");
  expect(kept.map(({ id, statements }) => [id, statements.length])).toEqual([
    ...[1, 2, 3].map(() => ["answer-1", 3]),
    ["answer-1", 2],
  ]);
  const answer = kept.at(-1);
  expect(answer?.statements.map(({ text, rests_on, check }) => [text, rests_on, check?.verdict])).toEqual([
    [right, ["other_0#1"], "supported"],
    [corrected, ["other_3#1"], "supported"],
  ]);
  expect(answer?.not_borne_out?.map(({ text, rests_on }) => [text, rests_on])).toEqual([[madeUp, ["other_2#1"]]]);
  // The controls count for the whole project.
  expect(Object.values(rrd().meaning?.checkers ?? {})).toEqual(Object.values(answer?.controls ?? {}));
  expect(rrd().meaning?.open).toBeUndefined();
  expect(lines<LedgerLine>("ledger.jsonl").map(({ unit, role, outcome }) => [unit, role, outcome])).toEqual([
    ["answer-1", undefined, "accepted"],
    ["answer-1", "checker-1", "accepted"],
    ["answer-1", "mend", "accepted"],
    ["answer-1", "checker-1", "accepted"],
  ]);
  const again = await cli(["answers"], cwd);
  expect(again.out.replace(/\s+/g, " ")).toMatch(/✓✓.*Checked: 2 of 3.*taken out: Warm milk/);
  expect(again.out.split(question)).toHaveLength(2);
  const { out: costs } = await cli(["cost"], cwd);
  expect(costs).toContain("checker-1 (");
});

test("an answer of before is checked by its id, once", async () => {
  await cli(["ask", question, ...agent], cwd);
  expect(await cli(["ask", "answer-1", ...agent], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("answer-1 is an answer, not a question: 'research-ralph ask hands answer-1 --check'"),
  });
  expect(await cli(["ask", "answer-7", "--check", ...agent], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("hands has no answer-7"),
  });
  const { code, out } = await cli(["ask", "answer-1", "--check", ...agent], cwd);
  expect(code).toBe(0);
  expect(out.replace(/\s+/g, " ")).toMatch(/Checked: 2 of 3 .*1 corrected; 1 removed\. .*taken out: Warm milk/);
  const done = lines<LedgerLine>("ledger.jsonl").length;
  const again = await cli(["ask", "answer-1", "--check", ...agent], cwd);
  expect(again).toMatchObject({ code: 0, out: "", err: expect.stringContaining("No sentence of answer-1 is left") });
  expect(lines<LedgerLine>("ledger.jsonl")).toHaveLength(done);
});

test("a check that was stopped says so where the answer is read, and goes on without asking anyone twice", async () => {
  // Its second line, as a kill behind the first batch leaves the file.
  await cli(["ask", question, "--check", ...agent], cwd);
  const whole = lines<Answer>("answers.jsonl");
  expect(whole.map(({ open }) => open?.check.step)).toEqual(["check", "mend", "again", undefined]);
  const stopped = whole[1]?.open?.check.sentences.map(({ check }) => check?.verdict);
  expect(stopped).toEqual(["supported", "not-supported", "not-supported"]);
  writeFileSync(
    join(folder, "answers.jsonl"),
    whole
      .slice(0, 2)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  );
  const { out } = await cli(["answers"], cwd);
  expect(out.replace(/\s+/g, " ")).toContain(
    "Checked: Not to the end: 3 of 3 sentences judged so far. 'research-ralph ask answer-1 --check' goes on.",
  );
  const before = lines<LedgerLine>("ledger.jsonl").length;
  await cli(["ask", "answer-1", "--check", ...agent], cwd);
  expect(
    lines<LedgerLine>("ledger.jsonl")
      .slice(before)
      .map(({ role }) => role),
  ).toEqual(["mend", "checker-1"]);
  const { statements, not_borne_out, controls } = lines<Answer>("answers.jsonl").at(-1) as Answer;
  const expected = whole.at(-1) as Answer;
  expect({ statements, not_borne_out, controls }).toEqual({
    statements: expected.statements,
    not_borne_out: expected.not_borne_out,
    controls: expected.controls,
  });
});

test("nobody is asked but by --check or where the settings say all", async () => {
  const plain = await cli(["ask", question, ...agent], cwd, { RESEARCH_RALPH_CHECK: "" });
  expect(plain.out).not.toContain("Checked:");
  const all = await cli(["ask", question, ...agent], cwd, { RESEARCH_RALPH_CHECK: "all" });
  expect(all.out).toContain("Checked: 2 of 3");
  const free = await cli(["ask", question, "--check", "--agent", "baseline"], cwd);
  expect(free).toMatchObject({ code: 2, err: expect.stringContaining("Only a model can check") });
  const unused = await cli(["ask", question, "--agent", "baseline"], cwd, { RESEARCH_RALPH_CHECK: "all" });
  expect(unused.out).not.toContain("Checked:");
});

test("an answer stands, and says why, where its check can't be had", async () => {
  appendFileSync(
    join(cwd, "broken.mjs"),
    `${readFileSync(checker, "utf8")}\nif (kind === "check") writeFileSync("result.json", "{}");\n`,
  );
  const broken = ["--agent", `cmd:${process.execPath} ${join(cwd, "broken.mjs")}`, ...agent.slice(2)];
  const { code, out } = await cli(["ask", question, "--check", ...broken], cwd);
  expect(code).toBe(0);
  expect(out.replace(/\s+/g, " ")).toContain(
    "Checked: Its sentences were not checked: the checker's results could not be used 3 times.",
  );
  const answer = lines<Answer>("answers.jsonl").at(-1);
  expect(answer?.statements).toHaveLength(3);
  expect(answer?.not_borne_out).toBeUndefined();
});

test("while a run holds the project answer and check wait in its inbox, and become one answer", async () => {
  mkdirSync(join(folder, ".ralph"));
  const lock = await acquireLock(join(folder, ".ralph/lock"), { subject: "test" });
  try {
    expect((await cli(["ask", question, "--check", ...agent], cwd)).code).toBe(0);
    expect((await cli(["ask", "What helps the reach of fingers?", "--check", ...agent], cwd)).code).toBe(0);
  } finally {
    await lock.release();
  }
  await cli(["run", ...agent], cwd);
  const { out } = await cli(["answers", "--json"], cwd);
  const kept = JSON.parse(out) as Answer[];
  expect(kept.map(({ id, statements, not_borne_out }) => [id, statements.length, not_borne_out?.length])).toEqual([
    ["answer-1", 2, 1],
    ["answer-2", 2, 1],
  ]);
});
