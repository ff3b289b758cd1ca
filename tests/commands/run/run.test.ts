import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { main } from "../../../src/commands/main.js";
import { cli, ioIn } from "../../support/processes/in-process.js";
import { withUnitAgent } from "../../support/processes/command-agents.js";
import { finishedResearch, freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

const sentinel = "<promise>COMPLETE</promise>";
const ledgerOf = (folder: string): LedgerLine[] =>
  existsSync(join(folder, "ledger.jsonl"))
    ? readFileSync(join(folder, "ledger.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as LedgerLine)
    : [];
const outcomes = (folder: string) => ledgerOf(folder).map(({ unit, outcome }) => `${unit} ${outcome}`);
const isLocked = (folder: string) => existsSync(join(folder, ".ralph", "lock"));

describe("which research", () => {
  test("without any, the way to make one is named, and without an unfinished one there is nothing to do: exit 0, no agent", async () => {
    const cwd = freshFolder();
    expect(await cli([], cwd)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining('research-ralph new "<topic>"'),
    });
    finishedResearch(cwd, "a-2026-03-01");
    finishedResearch(cwd, "b-2026-03-01");
    expect(await cli(["--agent", "cmd:touch started", "--unconfined"], cwd)).toMatchObject({
      code: 0,
      out: `${sentinel}\n`,
      err: expect.stringContaining("All 2 projects here are complete"),
    });
  });

  test("a project that gets stuck when it begins names what to look at, and how a mended agent runs again", async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "ralph.config.yaml"), "stagnation_limit: 2\n");
    mkdirSync(join(cwd, "texts"));
    writeFileSync(
      join(cwd, "texts", "one.txt"),
      "Learning loss\n\nAbstract\nThe loss was 3.2 points in all of the schools.\n",
    );
    const agent = `cmd:echo '{"unit":"discovery-1"}'`;
    const { code, err } = await cli(
      ["texts", "How large is the loss?", "--agent", agent, "--unconfined", "--no-git", "--yes"],
      cwd,
    );
    expect(code, err).toBe(4);
    const text = err.replaceAll(/\s+/g, " ");
    expect(text).toContain(
      "Look at loop.observations in rrd.json; then give advice with 'research-ralph steer', use another --agent, or run again with --force.",
    );
    expect(text).not.toContain("undefined");
    expect(text).toContain("then run it again; if you mended the agent instead, add --force:");
  });

  test("agents that nothing confines are told of in one sentence, with what that changes", async () => {
    const cwd = freshFolder();
    sampleResearch(cwd);
    const [, agent = ""] = withUnitAgent;
    const two = ["--screeners", `${agent},${agent} again`, "--jobs", "2", "-i", "1", "--json"];
    const { out } = await cli(["run", ...withUnitAgent, ...two], cwd);
    const told = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { level?: string; message?: string })
      .filter(({ level }) => level === "warning");
    expect(told.map(({ message }) => message)).toEqual([
      `${agent} and ${agent} again run unconfined: they can read, change and send whatever you can, so papers are read one at a time.`,
    ]);
  });

  test("the only unfinished one is run to its end: files, ledger, sentinel as the last line, no lock and no workspace left", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    finishedResearch(cwd, "done-2026-03-01");
    const { code, out, err } = await cli(withUnitAgent, cwd);
    expect({ code, out }).toEqual({ code: 0, out: `${sentinel}\n` });
    expect(err).toContain("runs unconfined");
    expect(outcomes(folder)).toEqual([
      "discovery-1 accepted",
      expect.stringMatching(/^sample_\d+ accepted$/),
      expect.stringMatching(/^sample_\d+ accepted$/),
      "report accepted",
      "ideas accepted",
    ]);
    expect(readdirSync(folder).sort()).toEqual([
      ".ralph",
      "ledger.jsonl",
      "product-ideas.json",
      "progress.txt",
      "references.bib",
      "report.html",
      "report.json",
      "research-report.md",
      "rrd.json",
    ]);
    expect(isLocked(folder)).toBe(false);
    expect(readdirSync(join(cwd, ".local/state/research-ralph/workspaces"))).toEqual([]);
  });

  test("on a terminal the sentinel is not printed: it is for scripts", async () => {
    const cwd = freshFolder();
    finishedResearch(cwd, "a-2026-03-01");
    const io = ioIn(cwd, {}, { isShown: true });
    expect(await main(["run", "--agent", "baseline", "--no-git"], io, "0.0.0")).toBe(0);
    expect(io.out()).toBe("");
  });
});

const touch = (folder: string, name: string) => writeFileSync(join(folder, name), "");

describe("how a run ends", () => {
  test("the last allowed iteration ends it with exit 3, and another run goes on from there", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    expect(await cli(["run", "-i", "1", ...withUnitAgent], cwd)).toMatchObject({ code: 3, out: "" });
    expect(await cli(["run", "-i", "4", ...withUnitAgent], cwd)).toMatchObject({ code: 0 });
    expect(ledgerOf(folder).map(({ iteration }) => iteration)).toEqual([1, 2, 3, 4, 5]);
  });

  test("PAUSE blocks with exit 5 and STOP ends with exit 130, each naming its file, and no agent is started", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    touch(folder, "PAUSE");
    expect(await cli(["run", "--quiet", ...withUnitAgent], cwd)).toMatchObject({
      code: 5,
      err: expect.stringContaining(join(folder, "PAUSE")),
    });
    renameSync(join(folder, "PAUSE"), join(folder, "STOP"));
    expect(await cli(["run", "--quiet", ...withUnitAgent], cwd)).toMatchObject({
      code: 130,
      err: expect.stringContaining(join(folder, "STOP")),
    });
    expect(ledgerOf(folder)).toEqual([]);
  });

  test("with --json stdout is events alone, the verdict last; with --quiet it is the path of the report and the sentinel", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    const { code, out } = await cli(["run", "--json", "--agent", "baseline", "--no-git"], cwd);
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; verdict?: { verdict: string } });
    expect({ code, last: events.at(-1)?.verdict?.verdict }).toEqual({ code: 0, last: "complete" });
    expect(await cli(["run", folder, "--quiet", "--agent", "baseline"], cwd)).toEqual({
      code: 0,
      out: `${join(folder, "report.html")}\n${sentinel}\n`,
      err: "",
    });
    const io = ioIn(cwd, {}, { isShown: true });
    expect(await main(["run", folder, "--quiet", "--agent", "baseline"], io, "0.0.0")).toBe(0);
    expect([io.out(), io.err()]).toEqual([expect.stringMatching(/^researches\/.*report\.html\n$/), ""]);
  });
});

describe("what can be wrong", () => {
  test("an agent that is not there, not known or not confined is one sentence with its exit code", async () => {
    const cwd = freshFolder();
    sampleResearch(cwd);
    expect(await cli(["run", "--quiet", "--agent", "claude", "--no-git"], cwd, { PATH: "/nonexistent" })).toMatchObject(
      { code: 1, err: expect.stringMatching(/^failed: claude can't be started, because there is no program claude/) },
    );
    expect(await cli(["run", "--agent", "cladue"], cwd)).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean claude?"),
    });
    // Neither bubblewrap nor Docker is there.
    expect(await cli(["run", "--agent", "cmd:true"], cwd, { PATH: "/nonexistent" })).toMatchObject({
      code: 2,
      err: expect.stringContaining("--unconfined"),
    });
  });
});

test("a prompt.md of the original's kind asks for a choice: off a terminal both are named, and nothing starts", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  const prompt = "# Agent\n\nWork in {{RESEARCH_DIR}}.\n";
  writeFileSync(join(cwd, "prompt.md"), prompt);
  for (const command of ["run", "brief"]) {
    const { code, err } = await cli([command, folder], cwd);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/--classic.*workspace: fresh/) });
  }
  writeFileSync(join(cwd, "prompt.md"), `---\nworkspace: fresh\n---\n${prompt}`);
  expect((await cli(["run", "-i", "1", ...withUnitAgent], cwd)).code).toBe(3);
});
