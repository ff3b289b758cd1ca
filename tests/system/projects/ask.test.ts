import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { findQuote } from "../../../src/text/evidence/find-quote.js";
import { passageText, quotedWords } from "../../../src/text/evidence/quoted.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { unitAgent } from "../../support/processes/command-agents.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, recordsOf, sampleResearch } from "../../support/projects/research-folder.js";

const agent = ["--agent", unitAgent, "--unconfined", "--quiet", "--no-git"];
const baseline = ["--agent", "baseline", "--quiet", "--no-git"];
const question = "How long does the calibration of a dexterous hand take?";

let cwd: string;
let folder: string;
const { lines, answers, rrd, save } = recordsOf(() => folder);
const textOf = (id: string) =>
  (JSON.parse(readFileSync(join(folder, ".ralph/texts", `${id}.json`), "utf8")) as { text: string }).text;

beforeAll(async () => {
  cwd = freshFolder();
  folder = sampleResearch(cwd);
  expect((await cli(["run", ...agent], cwd)).code).toBe(0);
});

test("an answer rests on quotes that stand in the papers they name; what fails is left out, with the reason", async () => {
  const before = rrd();
  const { code, out } = await cli(["ask", question, ...agent], cwd);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("Left out of the answer:") });
  const answer = answers().at(-1);
  for (const quote of answer?.quotes ?? []) {
    expect(quote).not.toHaveProperty("quote");
    expect(out.replace(/\s+/g, " "), "the sentence, its quoted words between marks").toContain(
      passageText(quote).replace(/\s+/g, " "),
    );
  }
  expect(answer).toMatchObject({ id: "answer-1", question });
  expect(answer?.statements).toHaveLength(2);
  expect(answer?.quotes.map((quote) => findQuote(textOf(quote.paper), quotedWords(quote)).found)).toEqual([true, true]);
  const why = answer?.left_out?.map((each) => each.why);
  expect(why).toEqual([
    "None of its passages holds 4711.",
    "None of its quotes was found.",
    "None of its quotes was found.",
  ]);
  expect(out).toContain("! None of its passages holds 4711.");
  expect(lines<LedgerLine>("ledger.jsonl").at(-1)).toMatchObject({ unit: "answer-1", outcome: "accepted" });
  expect({ phase: rrd().phase, papers: rrd().papers_pool }).toEqual({
    phase: before.phase,
    papers: before.papers_pool,
  });
});

test("a question may stand before the project that it is put to", async () => {
  const { code } = await cli(["ask", question, folder, ...agent], cwd);
  expect({ code, question: answers().at(-1)?.question }).toEqual({ code: 0, question });
});

test("a finished project stays finished, and a run starts no agent for it", async () => {
  const count = lines("ledger.jsonl").length;
  expect(await cli(["run", ...agent], cwd)).toMatchObject({ code: 0 });
  expect(lines("ledger.jsonl")).toHaveLength(count);
});

test("the baseline quotes sentences of the papers, and nothing where no passage holds most of the question", async () => {
  await cli(["ask", `What is known of ${rrd().papers_pool[0]?.title}?`, ...baseline], cwd);
  const found = answers().at(-1);
  expect(found?.quotes.length).toBeGreaterThan(0);
  for (const quote of found?.quotes ?? []) expect(findQuote(textOf(quote.paper), quotedWords(quote)).found).toBe(true);
  const { out } = await cli(["ask", "Does aspirin reduce mortality after stroke?", ...baseline], cwd);
  expect(out).toMatch(/^No passage found: baseline only compares words,/);
});

test("a question that shares no word with the papers is put to the agent, and an answer in vain says so", async () => {
  const { code, out } = await cli(["ask", "Помогает ли рандомизация?", ...baseline], cwd);
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^No passage found: baseline [^\n]+\n[^]*\nNo passage shares/),
  });
  expect(answers().at(-1)).toHaveProperty("agent", "baseline");
});

test("answers lists them, and says which no longer stand and why; --again asks those anew", async () => {
  const { out } = await cli(["answers", "--json"], cwd);
  const all = JSON.parse(out) as (Answer & { stale: string[]; latest: boolean })[];
  expect(all.flatMap(({ stale }) => stale)).toEqual([]);
  const rested = all.findLast(({ question: asked, latest }) => latest && asked === question);
  const id = rested?.quotes[0]?.paper ?? "";
  save((before) => ({
    ...before,
    papers_pool: before.papers_pool.map((paper) => (paper.id === id ? { ...paper, retracted: true } : paper)),
  }));
  expect((await cli(["answers"], cwd)).out).toContain(
    `Out of date: ${rrd().papers_pool.find((paper) => paper.id === id)?.key} was retracted.`,
  );
  const count = answers().length;
  await cli(["ask", "--again", ...agent], cwd);
  expect(answers().length).toBeGreaterThan(count);
  expect((await cli(["ask", "--again", "--agent", "baseline", "--no-git"], cwd)).err).toContain("up to date");
});

describe("what is wrong in an answer or around it", () => {
  const name = "hostile-2026-03-04";
  let home: string;
  let ids: readonly string[];
  const kept = () =>
    readFileSync(join(home, "answers.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((row) => JSON.parse(row) as Answer);

  beforeAll(async () => {
    home = sampleResearch(cwd, name);
    expect((await cli(["run", name, ...agent], cwd)).code).toBe(0);
    ids = (JSON.parse(readFileSync(join(home, "rrd.json"), "utf8")) as Rrd).papers_pool.map(({ id }) => id);
  });

  test("a text that was damaged counts as none, and the answer says so", async () => {
    const [one = ""] = ids;
    const path = join(home, ".ralph/texts", `${one}.json`);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("hand", "land"));
    const { out } = await cli(["ask", name, question, ...agent], cwd);
    expect(out).toContain("No text is stored of 1 paper");
    expect(kept().at(-1)?.without_text).toEqual([one]);
  });

  test("--fetch reads the texts that are missing, and keeps them", async () => {
    rmSync(join(home, ".ralph/texts"), { recursive: true });
    const { code, out } = await cli(["ask", name, question, "--fetch", ...agent], cwd);
    expect({ code, out }).toEqual({ code: 0, out: expect.not.stringContaining("No text is stored") });
    expect(kept().at(-1)).not.toHaveProperty("without_text");
    expect(ids.map((id) => existsSync(join(home, ".ralph/texts", `${id}.json`)))).toEqual(ids.map(() => true));
  });
});

describe("without a choice of the person, a question goes to", () => {
  const askedOf = async (agent: string): Promise<string> => {
    const bin = freshFolder();
    writeFileSync(join(bin, "codex"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const path = join(folder, "ledger.jsonl");
    const before = readFileSync(path, "utf8");
    const changed = lines<LedgerLine>("ledger.jsonl").map((line) => JSON.stringify({ ...line, agent }));
    writeFileSync(path, `${changed.join("\n")}\n`);
    const { code, err } = await cli(["ask", "grasping-2026-03-01", question, "--quiet", "--no-git"], cwd, {
      PATH: bin,
    });
    writeFileSync(path, before);
    expect(code).not.toBe(0);
    return err;
  };

  test("the agent that last read the project, where it is here", async () => {
    const err = await askedOf("codex");
    expect(err).toContain("codex");
    expect(err).not.toContain("claude");
  });

  test("the default, where the project names a command: what a folder says is not started", async () => {
    const err = await askedOf(`touch ${join(cwd, "started")}`);
    expect(err).toContain("claude");
    expect(existsSync(join(cwd, "started"))).toBe(false);
  });
});
