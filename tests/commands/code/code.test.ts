import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli } from "../../support/processes/in-process.js";
import { codeProject, offByOne } from "../../support/projects/code-project.js";

let project: ReturnType<typeof codeProject>;
beforeEach(() => {
  project = codeProject(offByOne);
});
afterEach(() => project.remove());

describe("where agents can't help", () => {
  it("the tests that can't be run are named, and no agent starts", async () => {
    project.write("package.json", JSON.stringify({ scripts: { test: "TZ=UTC nosuchrunner && vitest" } }));
    const { code, last } = await project.json(...project.agent("exit 1"));
    expect([code, last.verdict, last.runs]).toEqual([5, "blocked", 0]);
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
        [code, err.includes("make a folder of its own"), existsSync(project.path("ralph.state.json"))],
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
    expect(existsSync(project.path("ralph.state.json"))).toBe(false);
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
    expect([code, last.verdict, last.runs, last.not_counted]).toEqual([1, "failed", 0, 1]);
    expect(last.reason).toMatch(/name another agent with --agent\.$/);
  });
});

describe("the words of the command", () => {
  it("take `memory` alone for the command, not for a task", async () => {
    const { code, err } = await cli(["code", "memory"], project.folder);
    expect([code, err]).toEqual([2, expect.stringContaining("list, show <id> or forget <id>")]);
    expect(existsSync(project.path("ralph.state.json"))).toBe(false);
  });
});
