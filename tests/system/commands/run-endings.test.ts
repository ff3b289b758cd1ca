import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { isGroupAlive } from "../../../src/engine/process/descendants.js";
import { writeOriginalFolders } from "../../fixtures/original-folders.js";
import { main } from "../../../src/commands/main.js";
import { cli, ioIn } from "../../support/processes/in-process.js";
import { unitAgent, withUnitAgent } from "../../support/processes/command-agents.js";
import { freshFolder, makeResearch, paper, sampleResearch } from "../../support/projects/research-folder.js";

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

/** Starts a run with --json, sends `signals` once its agent has spoken, and answers with what came of it. */
async function interrupted(
  cwd: string,
  args: readonly string[],
  signals: readonly NodeJS.Signals[],
  env: Record<string, string> = {},
) {
  let out = "";
  let sent = 0;
  const io = ioIn(cwd, env, {
    stdout: (text) => {
      out += text;
      if (sent > 0 || !out.includes('"text":"Begun')) return;
      for (const signal of signals) setTimeout(() => io.signals.emit(signal), 100 * sent++);
    },
  });
  const code = await main(["run", "--json", "--unconfined", "--no-git", ...args], io, "0.0.0");
  return { code, out };
}

describe("which research", () => {
  test("the end of a run says what came of it and what is next, and the file how it ended; -q and --json keep silent", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    const stopped = await cli(["run", ...withUnitAgent, "-i", "2"], cwd);
    expect(stopped.err).toMatch(/Papers +\d included, .*1 not read yet/);
    expect(stopped.err).toMatch(
      /run it again to continue:\n *research-ralph run grasping-2026-03-01 --agent .+ --unconfined\n/,
    );
    const lastRun = () => (JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd).loop?.last_run;
    expect(lastRun()).toMatchObject({ verdict: "limit", cause: "iterations", at: expect.any(String) });
    expect((await cli(["status"], cwd)).out).toMatch(/Last run +limit, \d\d:\d\d: /);
    const quiet = await cli(["run", ...withUnitAgent, "-i", "1", "--quiet"], cwd);
    expect(quiet.err).not.toContain("Papers");
    const done = await cli(["run", ...withUnitAgent], cwd);
    expect(done.err).toContain(`    ${join(folder, "report.html")}\n    ${join(folder, "research-report.md")}\n`);
    expect(done.err).toMatch(/Quotes +\d+ of \d+ found/);
    expect(lastRun()).toMatchObject({ verdict: "complete" });
    const before = readFileSync(join(folder, "rrd.json"), "utf8");
    const again = await cli(["run", ...withUnitAgent, "--json"], cwd);
    expect(again.err).toBe("");
    expect(readFileSync(join(folder, "rrd.json"), "utf8")).toBe(before);

    // The page is written again where it, or what it is made of, is no longer the same, and only then.
    const page = join(folder, "report.html");
    const written = () => statSync(page).ino;
    const first = written();
    await cli(["run", ...withUnitAgent, "--quiet"], cwd);
    expect(written()).toBe(first);
    writeFileSync(join(folder, "rrd.json"), before.replace('"project": "', '"project": "Renamed: '));
    await cli(["run", ...withUnitAgent, "--quiet"], cwd);
    expect(readFileSync(page, "utf8")).toContain("Renamed: ");
    const second = readFileSync(page, "utf8");
    writeFileSync(page, "mine");
    expect((await cli(["run", ...withUnitAgent, "--quiet"], cwd)).err).toContain("your version is kept as");
    expect(readFileSync(page, "utf8").length).toBe(second.length);
  });

  test("what a run wrote is committed when it ends, also of one whose only iteration failed", async () => {
    const cwd = freshFolder();
    execFileSync("git", ["init", "-q"], { cwd });
    sampleResearch(cwd);
    await cli(["run", "--agent", "cmd:false", "--unconfined", "-i", "1"], cwd);
    expect(execFileSync("git", ["status", "--porcelain"], { cwd, encoding: "utf8" })).not.toMatch(
      /rrd\.json|ledger|progress/,
    );
  });

  test("of several unfinished ones, off a terminal, all are listed in one sentence: exit 2", async () => {
    const cwd = freshFolder();
    for (const name of ["a-2026-03-01", "b-2026-03-01"]) sampleResearch(cwd, name);
    expect(await cli(["run"], cwd)).toEqual({
      code: 2,
      out: "",
      err: "research-ralph: There are 2 unfinished projects: a-2026-03-01, b-2026-03-01; name one, as in research-ralph run a-2026-03-01.\n",
    });
  });
});

describe("-p", () => {
  test("on a research that has begun needs --force, keeps the old file, and searches on, also where the last search was exhausted", async () => {
    const cwd = freshFolder();
    const statistics = { discovery_metrics: { batches: 6, batches_without_new: 5 } };
    const folder = makeResearch(cwd, "a-2026-03-01", {
      phase: "COMPLETE",
      papers_pool: [paper("p1", "presented"), paper("p2", "rejected")],
      statistics,
    });
    const before = readFileSync(join(folder, "rrd.json"), "utf8");
    expect(await cli(["run", "-p", "9", "--agent", "baseline"], cwd)).toMatchObject({
      code: 2,
      err: expect.stringContaining("--force"),
    });
    expect(readFileSync(join(folder, "rrd.json"), "utf8")).toBe(before);

    expect((await cli(["run", "-p", "9", "--force", "--agent", "nobody"], cwd)).code).toBe(2);
    expect(readFileSync(join(folder, "rrd.json"), "utf8"), "changed for an agent that can't be used").toBe(before);

    touch(folder, "STOP");
    expect((await cli(["run", "-p", "9", "--force", "--agent", "baseline"], cwd)).code).toBe(130);
    const [backup = ""] = readdirSync(join(folder, ".ralph/backups"));
    expect(readFileSync(join(folder, ".ralph/backups", backup, "rrd.json"), "utf8")).toBe(before);
    expect(JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8"))).toMatchObject({
      phase: "DISCOVERY",
      requirements: { target_papers: 9 },
    });
    expect((await cli(["run", "-p", "1", "--force", "--agent", "baseline"], cwd)).err).toContain(
      "The project already has 2 papers",
    );
  });
});

const touch = (folder: string, name: string) => writeFileSync(join(folder, name), "");

describe("how a run ends", () => {
  test("one Ctrl+C lets the iteration finish, and its work counts: exit 130", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    const { code } = await interrupted(cwd, ["--agent", unitAgent], ["SIGINT"], { WAIT: "500" });
    expect({ code, outcomes: outcomes(folder), locked: isLocked(folder) }).toEqual({
      code: 130,
      outcomes: ["discovery-1 accepted"],
      locked: false,
    });
  });

  test.each([
    [["SIGINT", "SIGINT"], 130],
    [["SIGTERM"], 143],
    [["SIGHUP"], 129],
  ] as const)("%j ends the agent at once and leaves no process of it", async (signals, exitCode) => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    const pidFile = join(cwd, "pid");
    const { code, out } = await interrupted(
      cwd,
      ["--agent", `cmd:echo $$ > ${pidFile}; echo Begun; sleep 600 & sleep 600`],
      signals,
    );
    expect({ code, failure: ledgerOf(folder)[0]?.failure, locked: isLocked(folder) }).toEqual({
      code: exitCode,
      failure: "aborted",
      locked: false,
    });
    expect(out).toContain('"verdict":"interrupted"');
    expect(isGroupAlive(Number(readFileSync(pidFile, "utf8")))).toBe(false);
  });
});

describe("what can be wrong", () => {
  test("a broken rrd.json is left as it is, and the sentence says where and the way back", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    await cli(["run", "-i", "1", ...withUnitAgent], cwd);
    writeFileSync(join(folder, "rrd.json"), '{"project": }');
    expect(await cli(["run", ...withUnitAgent], cwd)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/rrd\.json:1:\d+.*reset .* --to 1/),
    });
    expect(readFileSync(join(folder, "rrd.json"), "utf8")).toBe('{"project": }');
  });

  test("a folder that is removed during a run ends it with a sentence, not with a bug", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    const { code, err } = await cli(
      ["run", "--quiet", "--agent", `cmd:rm -rf ${folder}`, "--unconfined", "--no-git"],
      cwd,
    );
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/failed: .*grasping-2026-03-01 was deleted or moved away/),
    });
  });

  test.skipIf(process.getuid?.() === 0)(
    "a folder without permission to write is a sentence (not as root)",
    async () => {
      const cwd = freshFolder();
      const folder = sampleResearch(cwd);
      mkdirSync(join(folder, ".ralph"), { mode: 0o500 });
      expect(await cli(["run", ...withUnitAgent], cwd)).toMatchObject({
        code: 1,
        err: expect.stringContaining("There is no permission for"),
      });
    },
  );
});

test("folders of the original list, validate, show status, and are complete without an agent", async () => {
  const cwd = freshFolder();
  const names = writeOriginalFolders(cwd);
  expect((await cli(["list"], cwd)).out).toContain(`${names.length} projects`);
  for (const name of names) {
    const before = readFileSync(join(cwd, "researches", name, "rrd.json"), "utf8");
    for (const command of ["status", "validate", "brief"])
      expect([command, (await cli([command, name], cwd)).code]).toEqual([command, 0]);
    expect(await cli(["run", name, "--agent", "cmd:false", "--unconfined"], cwd)).toMatchObject({
      code: 0,
      out: `${sentinel}\n`,
    });
    expect(readFileSync(join(cwd, "researches", name, "rrd.json"), "utf8")).toBe(before);
  }
});
