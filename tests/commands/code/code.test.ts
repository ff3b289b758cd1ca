import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isValid } from "../../../src/engine/storage/schema-check.js";
import { watchCommand } from "../../../src/commands/inspect/watch.js";
import { cli, ioIn } from "../../support/processes/in-process.js";
import { byRole, codeProject, offByOne } from "../../support/projects/code-project.js";

let project: ReturnType<typeof codeProject>;
beforeEach(() => {
  project = codeProject(offByOne);
});
afterEach(() => project.remove());

describe("a coding run", () => {
  // One run, which is looked at from all sides.
  const end = new AbortController();
  let run: Awaited<ReturnType<typeof project.json>>;
  let worked: typeof project;
  let seen: { type: string; line: { unit: string } }[];
  const here = async (...args: string[]) => await cli(args, worked.folder);
  beforeAll(async () => {
    worked = codeProject(offByOne);
    const io = ioIn(worked.folder);
    const watching = watchCommand({ json: true }, io, end.signal);
    run = await worked.json(...worked.agent(byRole({})));
    while (!io.out().includes('"stopped"')) await sleep(10);
    end.abort();
    expect(await watching).toBe(0);
    seen = io
      .out()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  });
  afterAll(() => worked.remove());

  it("repairs the tests by librarian, artisan, critic, tests and adversary", async () => {
    const { code, last, lines, err } = run;
    expect(err).toBe("");
    expect([code, last.verdict, last.rounds, last.iterations, last.failing]).toEqual([0, "complete", 1, 4, 0]);
    expect(worked.read("src/range.mjs")).toContain("i <= b");
    expect(worked.state().rounds[0]?.steps.map(({ role, event }) => `${role} ${event}`)).toEqual([
      "librarian ok",
      "artisan ok",
      "critic approve",
      "tests pass",
      "adversary ok",
    ]);
    expect(isValid("ralph-code", worked.state())).toBe(true);
    expect(worked.ledger().map(({ unit, phase, role, round }) => [unit, phase, role, round])).toEqual([
      ["librarian:1", "CODE", "librarian", 1],
      ["artisan:1", "CODE", "artisan", 1],
      ["critic:1", "CODE", "critic", 1],
      ["adversary:1", "CODE", "adversary", 1],
    ]);
    for (const line of lines.slice(0, -1)) expect(isValid("event", line)).toBe(true);
    expect(worked.git("status", "--porcelain")).toBe("M src/range.mjs");
  });

  it("says where the run stands, in words and as JSON", async () => {
    const { code, out } = await here("status");
    expect(code).toBe(0);
    expect(out).toMatch(
      /Repair the failing tests[^]*complete[^]*3 passed, 0 failing[^]*round 1: librarian ok, artisan/,
    );
    const report = JSON.parse((await here("status", "--json")).out);
    expect([report.done, report.running, report.tests.failing, report.spent.iterations]).toEqual([true, false, 0, 4]);
  });

  it("shows in its status what a person has told the agents", async () => {
    await here("steer", "Use no library.");
    expect((await here("status")).out).toContain("  Steering   Use no library.");
    expect(JSON.parse((await here("status", "--json")).out).steering).toEqual(["Use no library."]);
    await here("steer", "--clear");
    expect((await here("status")).out).not.toContain("Steering");
  });

  it("is watched from outside", () => {
    expect(seen.at(-1)).toMatchObject({ phase: "CODE", last_run: { verdict: "complete" } });
    expect(seen.filter(({ type }) => type === "iteration").map(({ line }) => line.unit)).toEqual([
      "librarian:1",
      "artisan:1",
      "critic:1",
      "adversary:1",
    ]);
  });

  it("says what it cost by role, and writes its report again", async () => {
    const { code, out } = await here("cost");
    expect([code, out]).toEqual([0, expect.stringMatching(/By role[^]*librarian \(cmd[^]*adversary/)]);
    const { total, parts } = JSON.parse((await here("cost", "--json")).out);
    expect([total.iterations, Object.keys(parts).length]).toEqual([4, 4]);
    rmSync(worked.path("code-report.md"));
    const report = await here("report");
    expect([report.code, report.out]).toEqual([0, expect.stringContaining("Written in .: code-report.md")]);
    expect(worked.read("code-report.md")).toContain("compared with <=");
    expect(JSON.parse((await here("report", "--json")).out).rounds).toHaveLength(1);
    expect((await here("report", "--check")).code).toBe(2);
    await worked.json(...worked.agent(byRole({})));
    expect(worked.read("code-report.md")).toContain("compared with <=");
    worked.write("code-report.md", "mine");
    expect((await here("report")).out).toContain("stays as it is");
    expect(worked.read("code-report.md")).toBe("mine");
  });

  it("is complete without an agent where all tests pass and nothing else is asked for", async () => {
    project.write("src/range.mjs", project.read("src/range.mjs").replace("i < b", "i <= b"));
    const { code, last } = await project.json(...project.agent("exit 1"));
    expect([code, last.verdict, last.iterations]).toEqual([0, "complete", 0]);
    expect(existsSync(`${project.top}/counts`)).toBe(false);
  });
});

describe("where agents can't help", () => {
  it("the tests that can't be run are named, and no agent starts", async () => {
    project.write("package.json", JSON.stringify({ scripts: { test: "TZ=UTC nosuchrunner && vitest" } }));
    const { code, last } = await project.json(...project.agent("exit 1"));
    expect([code, last.verdict, last.iterations]).toEqual([5, "blocked", 0]);
    expect(last.reason).toMatch(/nosuchrunner: (?:command )?not found/);
    expect(existsSync(`${project.top}/counts`)).toBe(false);
  });

  it("takes no folder and no empty text for the file that it is about", async () => {
    for (const [target, said] of [
      ["src", "is a folder; name a file in it"],
      ["", "--target is empty"],
    ] as const)
      for (const more of [[], ["--graph"]]) {
        const { code, err } = await cli(["code", "--target", target, ...more], project.folder, project.home);
        expect([code, err.includes(said)], err).toEqual([2, true]);
      }
  });

  it("is none in the user's home: its agents would have all of it", async () => {
    for (const HOME of [project.folder, project.path("home")]) {
      const { code, err } = await cli(["code", ...project.agent("exit 1")], project.folder, { HOME });
      expect(
        [code, err.includes("make a folder of its own"), existsSync(project.path("ralph.code.json"))],
        err,
      ).toEqual([2, true, false]);
    }
  });

  it("a folder in no git repository is left as it is", async () => {
    rmSync(project.path(".git"), { recursive: true });
    const { code, err } = await cli(["code", ...project.agent("exit 1")], project.folder, project.home);
    expect([code, err]).toEqual([2, expect.stringContaining("not in a git repository")]);
    expect(readdirSync(project.folder).toSorted()).toEqual(["package.json", "src", "test"]);
  });
});

describe("who can't do it", () => {
  it.each([
    [
      { critic: { agent: "clade" } },
      /^research-ralph: \/code\/roles\/critic\/agent: Unknown agent 'clade'.*Did you mean claude\?/,
    ],
    [
      { artisan: { agent: ["claude", "fleet:claude"] } },
      /\/code\/roles\/artisan\/agent\/1: fleet:claude works on another/,
    ],
    [{ librarian: { agent: "baseline" } }, /\/code\/roles\/librarian\/agent: baseline only extracts sentences/],
    [{ criticc: {} }, /\/code\/roles\/criticc is not a role .*Did you mean critic\?/],
  ])("as %j says is refused with its place before anything begins", async (roles, message) => {
    project.write("ralph.config.json", JSON.stringify({ code: { roles } }));
    const { code, err } = await cli(["code"], project.folder, project.home);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
    expect(existsSync(project.path("ralph.code.json"))).toBe(false);
  });

  it.each(["fleet:claude", "claude,fleet:codex", "baseline"])(
    "as --agent %s is refused, for a task too",
    async (agent) => {
      for (const args of [["code"], ["task", "x", "--check", "true"]]) {
        const { code, err } = await cli([...args, "--agent", agent], project.folder, project.home);
        expect([code, err]).toEqual([2, expect.stringMatching(/works on another machine|only extracts sentences/)]);
      }
      expect(existsSync(project.path(".ralph"))).toBe(false);
    },
  );

  it("because it is not installed is told so, counts for nothing, and no agent for papers is offered", async () => {
    const programs = project.path("../programs");
    mkdirSync(programs);
    for (const name of ["git", "node", "sh"])
      symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(programs, name));
    const { code, out } = await cli(["code", "--json", "--sandbox", "host"], project.folder, {
      ...project.home,
      PATH: programs,
    });
    const last = JSON.parse(out.trim().split("\n").at(-1) ?? "{}");
    expect([code, last.verdict, last.iterations, last.not_counted]).toEqual([1, "failed", 0, 1]);
    expect(last.reason).toMatch(/name another agent with --agent\.$/);
  });
});

describe("the words of the command", () => {
  it("take `memory` alone for the command, not for a task", async () => {
    const { code, err } = await cli(["code", "memory"], project.folder);
    expect([code, err]).toEqual([2, expect.stringContaining("list, show <id> or forget <id>")]);
    expect(existsSync(project.path("ralph.code.json"))).toBe(false);
  });
});
