import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { oldNames, summaries } from "../../src/commands/help-text.js";
import { main } from "../../src/commands/main.js";
import { cli, ioIn, type } from "../support/processes/in-process.js";
import { freshFolder } from "../support/projects/research-folder.js";

let cwd: string;
beforeAll(async () => {
  cwd = freshFolder();
  expect(await cli(["demo", "--quiet"], cwd)).toMatchObject({ code: 0 });
});

/**
 * All names of members in a JSON value. Names of kinds of units, agents and dimensions are data, and are spelled alike.
 */
const names = (value: unknown): string[] =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [...(Array.isArray(value) ? [] : [name]), ...names(inner)]);

test.each([
  ["status"],
  ["list"],
  ["cost"],
  ["verify"],
  ["validate"],
  ["brief"],
  ["doctor"],
  ["run"],
  ["read", "sample_01"],
])("JSON is spelled one way: names in snake_case, times in seconds, money in cost_usd (%s)", async (...args) => {
  const only = args[0] === "verify" || args[0] === "validate" ? ["sample"] : [];
  const { out } = await cli([...args, ...only, "--json", ...(args[0] === "read" ? ["--agent", "baseline"] : [])], cwd);
  const values = (
    out.includes("\n{") && !out.startsWith("{\n") && !out.startsWith("[\n") ? out.trim().split("\n") : [out]
  ).map((text) => JSON.parse(text) as unknown);
  const odd = values
    .flatMap(names)
    .filter((name) => /^[a-z]+[A-Z]/.test(name) || /(^|_)(ms|milliseconds|minutes|hours|usd)$/.test(name))
    .filter((name) => name !== "cost_usd");
  expect([...new Set(odd)]).toEqual([]);
});

test("--json stands before or behind a command", async () => {
  expect((await cli(["--json", "list"], cwd)).out).toBe((await cli(["list", "--json"], cwd)).out);
  expect((await cli(["--json", "--json", "list"], cwd)).out).toBe((await cli(["list", "--json"], cwd)).out);
});

test("show prints a paper as read does, an iteration with its brief and answer, and names what it does not know", async () => {
  const [{ pool }] = [
    JSON.parse((await cli(["status", "--json"], cwd)).out) as { pool: { id: string; key: string; title: string }[] },
  ];
  const best = pool[0]!;
  expect((await cli(["show"], cwd)).out).toContain(pool.at(-1)!.key);
  for (const args of [
    ["show", best.id],
    ["show", "sample", best.id],
  ]) {
    const { out, code } = await cli(args, cwd);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^One Calibration[\s\S]*Evidence\n {2}✓ /) });
    expect(out).not.toContain("Thirty papers");
  }
  // These tests' agents are no processes, so nothing they print is kept.
  const { folder } = JSON.parse((await cli(["status", "--json"], cwd)).out) as { folder: string };
  mkdirSync(join(folder, ".ralph/transcripts"), { recursive: true });
  writeFileSync(join(folder, ".ralph/transcripts/2.jsonl"), "Thinking.\n\nIt scores high.\n");
  const iteration = await cli(["show", "sample", "2", "--json"], cwd);
  expect(JSON.parse(iteration.out)).toMatchObject({
    iteration: 2,
    outcome: "accepted",
    brief: expect.stringContaining(best.title),
    answer: expect.stringMatching(/^It scores high\.$/),
  });
  expect((await cli(["show", "sample", "2"], cwd)).out).toMatch(
    /^#2 ANALYSIS: sample_01 accepted[\s\S]*\nAnswer\n[\s\S]*\nBrief\n/,
  );
  expect(await cli(["show", "sample", "nope"], cwd)).toMatchObject({ code: 2, out: "" });
  const { key = "" } = pool[0] ?? {};
  expect((await cli(["show", "sample", `${key}x`], cwd)).err).toMatch(
    new RegExp(`; the nearest name is ${key}; .* 'research-ralph report' shows the report`),
  );
});

test("add puts papers into the pool once, to be read next, and says which could not be had", async () => {
  const added = await cli(["add", "sample", "sample:sample_02", "sample:nothing", "--no-git", "--json"], cwd);
  expect(added.code).toBe(1);
  expect(JSON.parse(added.out)).toMatchObject({
    papers: [{ result: "not found" }, { result: "already there", id: "sample_02" }],
  });
});

test.each(["bash", "zsh", "fish"])(
  "completion prints a script with every command for %s, and bash can read it",
  async (shell) => {
    const { code, out } = await cli(["completion", shell], cwd);
    expect(code).toBe(0);
    for (const word of ["status", "completion", "max-usd"]) expect(out).toContain(word);
    if (shell !== "bash") return;
    const typed = `${out}COMP_WORDS=(research-ralph status sam) COMP_CWORD=2; _research_ralph; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync("bash", ["-c", typed], { cwd, encoding: "utf8" })).toMatch(/^sample-/);
    expect(await cli(["completion", "csh"], cwd)).toMatchObject({ code: 2 });
  },
);

test("where there is no project a person on a terminal is asked what to begin with", async () => {
  const empty = freshFolder();
  const io = ioIn(empty, {}, { canAsk: true });
  type(io, "\u001b[B", "\r");
  expect(await main(["--no-git"], io, "0.0.0")).toBe(0);
  expect((await cli(["list"], empty)).out).toContain("COMPLETE");
});

test.each([60, 80])("every line of every help holds on %i columns", async (columns) => {
  for (const args of [["--help"], ["help", "all"], ...Object.keys(summaries).map((name) => [name, "--help"])]) {
    const io = ioIn(cwd, {}, { columns });
    expect(await main(args, io, "0.0.0")).toBe(0);
    // A word that is longer than a line, as a path, stands alone.
    const broken = io
      .out()
      .split("\n")
      .filter((line) => line.length > columns && line.trim().includes(" "));
    expect(broken, args.join(" ")).toEqual([]);
  }
});

test("--help lists ten commands, help all the others too, and old names go on working", async () => {
  const first = await cli(["--help"], cwd);
  const all = await cli(["help", "all"], cwd);
  const listed = (help: string) => [...help.matchAll(/^ {2}([a-z]+)(?: .*)?$/gm)].map(([, name]) => name ?? "");
  expect(listed(first.out)).toHaveLength(10);
  expect(listed(all.out)).toEqual(expect.arrayContaining([...listed(first.out), "steer", "task", "help"]));
  expect(listed(all.out).length).toBeLessThanOrEqual(32);
  for (const [old, now] of Object.entries(oldNames)) {
    expect(listed(all.out)).not.toContain(old);
    expect((await cli([old, "--help"], cwd)).out).toBe((await cli([now.split(" ")[0] ?? "", "--help"], cwd)).out);
  }
  for (const [old, now] of [
    ["answers sample", "ask sample --list"],
    ["brief sample", "show sample next"],
    ["export sample --as csv", "report sample --as csv"],
    ["list", "status --all"],
    ["patterns sample", "show sample patterns"],
    ["validate sample", "verify sample --files"],
    ["approve sample", "trust sample --edits"],
    ["pause sample", "stop sample --pause"],
    ["resume sample", "stop sample --undo"],
  ] as const)
    expect((await cli(now.split(" "), cwd)).out).toBe((await cli(old.split(" "), cwd)).out);
});

test("an option that is far from every other is told without a guess", async () => {
  const { err } = await cli(["task", "words", "--rounds", "3"], cwd);
  expect(err).toBe("research-ralph: unknown option '--rounds'; see research-ralph task --help.\n");
});

test("a path that is not there and an option of another command are told as what they are", async () => {
  const cwd = freshFolder();
  mkdirSync(join(cwd, "papers"));
  writeFileSync(join(cwd, "export.ris"), "");
  for (const [typed, said] of [
    [["paper/", "how do hands learn?"], "There is no folder or file paper/ here; papers/ is beside it."],
    [["exprt.ris", "how do hands learn?"], "There is no folder or file exprt.ris here; export.ris is beside it."],
    [["nowhere/at/all"], "There is no folder or file nowhere/at/all here."],
    [["openalex.jsn", "how do hands learn?"], "There is no folder or file openalex.jsn here."],
    [["documents", "how do hands learn?"], "There is no folder or file documents here."],
    [["sttus", "how do hands learn?"], "unknown command 'sttus'. Did you mean status?"],
    [["export.ris", "--screeners", "a,b"], "then type research-ralph run --screeners."],
    [["run", "--criterion", "include: hands"], "change requirements.criteria in the project's rrd.json"],
    [["run", "--quick"], 'it goes with a question: research-ralph "…" --quick.'],
  ] as const) {
    const { code, err } = await cli([...typed], cwd);
    expect([code, err.replace(/\s+/g, " ")]).toEqual([2, expect.stringContaining(said)]);
  }
});

test.each(["new", "ask", "task"])(
  "a slip in an option of every run is known at %s, whose help does not repeat it",
  async (name) => {
    expect((await cli([name, "words", "--agnet", "x"], cwd)).err).toContain("Did you mean --agent?");
    const { out } = await cli([name, "--help"], cwd);
    expect(out).not.toContain("--idle-minutes");
    expect(out).toContain("Options of every run");
  },
);
