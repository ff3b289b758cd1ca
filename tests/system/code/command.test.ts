import { existsSync, rmSync } from "node:fs";
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
    expect([code, last.verdict, last.rounds, last.runs, last.failing]).toEqual([0, "complete", 1, 4, 0]);
    expect(worked.read("src/range.mjs")).toContain("i <= b");
    expect(worked.state().rounds[0]?.steps.map(({ role, event }) => `${role} ${event}`)).toEqual([
      "librarian ok",
      "artisan ok",
      "critic approve",
      "tests pass",
      "adversary ok",
    ]);
    expect(isValid("ralph-state", worked.state())).toBe(true);
    expect(worked.ledger().map(({ unit, phase, role, round }) => [unit, phase, role, round])).toEqual([
      ["librarian:1", "TASK", "librarian", 1],
      ["artisan:1", "TASK", "artisan", 1],
      ["critic:1", "TASK", "critic", 1],
      ["adversary:1", "TASK", "adversary", 1],
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
    expect([report.status, report.running, report.tests.failing, report.spent.iterations]).toEqual([
      "success",
      false,
      0,
      1,
    ]);
  });

  it("shows in its status what a person has told the agents", async () => {
    await here("steer", "Use no library.");
    expect((await here("status")).out).toContain("  Steering   Use no library.");
    expect(JSON.parse((await here("status", "--json")).out).steering).toEqual(["Use no library."]);
    await here("steer", "--clear");
    expect((await here("status")).out).not.toContain("Steering");
  });

  it("is watched from outside", () => {
    expect(seen.at(-1)).toMatchObject({ phase: "TASK", last_run: { verdict: "complete" } });
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
    rmSync(worked.path("whole.task.md"));
    const report = await here("report");
    expect([report.code, report.out]).toEqual([0, expect.stringContaining("Written: whole.task.md")]);
    expect(worked.read("whole.task.md")).toContain("compared with <=");
    expect(JSON.parse((await here("report", "--json")).out).rounds).toHaveLength(1);
    expect((await here("report", "--check")).code).toBe(2);
    await worked.json(...worked.agent(byRole({})));
    expect(worked.read("whole.task.md")).toContain("compared with <=");
    worked.write("whole.task.md", "mine");
    expect((await here("report")).out).toContain("stays as it is");
    expect(worked.read("whole.task.md")).toBe("mine");
  });

  it("is complete without an agent where all tests pass and nothing else is asked for", async () => {
    project.write("src/range.mjs", project.read("src/range.mjs").replace("i < b", "i <= b"));
    const { code, last } = await project.json(...project.agent("exit 1"));
    expect([code, last.verdict, last.runs]).toEqual([0, "complete", 0]);
    expect(existsSync(`${project.top}/counts`)).toBe(false);
  });
});
