import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isValid } from "../../../src/engine/storage/schema-check.js";
import { cli } from "../../support/in-process.js";
import { byRole, codeProject, offByOne } from "../../support/code-project.js";

let project: ReturnType<typeof codeProject>;
beforeEach(() => {
  project = codeProject(offByOne);
});
afterEach(() => project.remove());

describe("a coding run", () => {
  it("repairs the tests by librarian, artisan, critic, tests and adversary", async () => {
    const { code, last, lines, err } = await project.json(...project.agent(byRole({})));
    expect(err).toBe("");
    expect([code, last.verdict, last.rounds, last.iterations, last.failing]).toEqual([0, "complete", 1, 4, 0]);
    expect(project.read("src/range.mjs")).toContain("i <= b");
    expect(project.state().rounds[0]?.steps.map(({ role, event }) => `${role} ${event}`)).toEqual([
      "librarian ok",
      "artisan ok",
      "critic approve",
      "tests pass",
      "adversary ok",
    ]);
    expect(isValid("ralph-code", project.state())).toBe(true);
    expect(project.ledger().map(({ unit, phase, role, round }) => [unit, phase, role, round])).toEqual([
      ["librarian:1", "CODE", "librarian", 1],
      ["artisan:1", "CODE", "artisan", 1],
      ["critic:1", "CODE", "critic", 1],
      ["adversary:1", "CODE", "adversary", 1],
    ]);
    for (const line of lines.slice(0, -1)) expect(isValid("event", line)).toBe(true);
    expect(project.git("status", "--porcelain")).toBe("M src/range.mjs");
  });

  it("is complete without an agent where all tests pass and nothing else is asked for", async () => {
    project.write("src/range.mjs", project.read("src/range.mjs").replace("i < b", "i <= b"));
    const { code, last } = await project.json(...project.agent("exit 1"));
    expect([code, last.verdict, last.iterations]).toEqual([0, "complete", 0]);
    expect(existsSync(`${project.top}/counts`)).toBe(false);
  });
});

describe("a folder in which a coding run has worked", () => {
  const here = async (...args: string[]) => await cli(args, project.folder);

  it("says where the run stands, in words and as JSON", async () => {
    await project.json(...project.agent(byRole({})));
    const { code, out } = await here("status");
    expect(code).toBe(0);
    expect(out).toMatch(
      /Repair the failing tests[^]*complete[^]*3 passed, 0 failing[^]*round 1: librarian ok, artisan/,
    );
    const report = JSON.parse((await here("status", "--json")).out);
    expect([report.done, report.running, report.tests.failing, report.spent.iterations]).toEqual([true, false, 0, 4]);
  });

  it("can be paused, stopped and resumed, as its messages say", async () => {
    await project.json(...project.agent(byRole({})), "--rounds", "1", "-i", "1");
    for (const [hold, file, exit] of [
      ["pause", "PAUSE", 5],
      ["stop", "STOP", 130],
    ] as const) {
      expect((await here(hold)).code).toBe(0);
      expect(existsSync(project.path(file))).toBe(true);
      expect((await project.json(...project.agent(byRole({})))).code).toBe(exit);
      const { code, err } = await here("resume");
      expect([code, err]).toEqual([0, expect.stringContaining("can run again: research-ralph code\n")]);
      expect(existsSync(project.path(file))).toBe(false);
    }
  });

  it("takes `memory` alone for the command, not for a task", async () => {
    const { code, err } = await here("code", "memory");
    expect([code, err]).toEqual([2, expect.stringContaining("list, show <id> or forget <id>")]);
    expect(existsSync(project.path("ralph.code.json"))).toBe(false);
  });
});
