import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runGit } from "../../../src/engine/storage/git-command.js";
import { repository, temporaryFolder } from "../../support/folders.js";

describe("a command of git", () => {
  const inherited = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
  ];

  it("speaks plainly, asks nothing, and goes to the repository of its folder", async () => {
    const root = repository();
    for (const name of inherited) process.env[name] = "/elsewhere";
    try {
      const { ok, stdout } = await runGit(root, ["-c", "alias.env=!env", "env"]);
      expect(ok).toBe(true);
      expect(stdout).toMatch(/^LC_ALL=C$/m);
      expect(stdout).toMatch(/^GIT_TERMINAL_PROMPT=0$/m);
      expect(stdout).not.toContain("/elsewhere");
    } finally {
      for (const name of inherited) delete process.env[name];
    }
  });

  it("is the user's, whatever program of its name an agent has left in the folder", async () => {
    const folder = repository();
    const own = join(folder, "node_modules", ".bin");
    mkdirSync(own, { recursive: true });
    for (const place of [folder, own]) writeFileSync(join(place, "git"), "#!/bin/sh\necho planted", { mode: 0o755 });
    const { PATH } = process.env;
    process.env["PATH"] = ["node_modules/.bin", own, PATH].join(":");
    try {
      expect(await runGit(folder, ["rev-parse", "--is-inside-work-tree"])).toMatchObject({ ok: true, stdout: "true" });
      // An empty PATH would name the folder itself.
      process.env["PATH"] = own;
      expect((await runGit(folder, ["--version"])).stdout).not.toContain("planted");
    } finally {
      process.env["PATH"] = PATH;
    }
  });

  it("uses no transport: in a partial clone git would fetch what it misses by a program that the configuration names", async () => {
    const folder = repository();
    const asked = ["-c", "protocol.ext.allow=always", "ls-remote", `ext::touch ${join(folder, "ran")}`];
    await runGit(folder, asked);
    expect(existsSync(join(folder, "ran"))).toBe(false);
    expect(() => execFileSync("git", asked, { cwd: folder, stdio: "ignore" })).toThrow();
    expect(existsSync(join(folder, "ran"))).toBe(true);
  });

  it("that fails says why, also where it could not be started at all", async () => {
    const folder = temporaryFolder();
    expect(await runGit(folder, ["no-such-command"])).toMatchObject({
      ok: false,
      stdout: "",
      stderr: expect.stringContaining("no-such-command"),
    });
    const gone = await runGit(join(folder, "gone"), ["status"]);
    expect(gone).toMatchObject({ ok: false, stderr: expect.stringMatching(/\S/) });
    expect(await runGit(repository(), ["rev-parse", "--is-inside-work-tree"])).toEqual({
      ok: true,
      stdout: "true",
      stderr: "",
    });
  });

  it("stands in a group of its own, so that a kill of ours does not meet it in the middle of a commit", async () => {
    const group = async (of: string) => Number(execFileSync("ps", ["-o", "pgid=", "-p", of], { encoding: "utf8" }));
    const { stdout } = await runGit(repository(), ["-c", "alias.group=!ps -o pgid= -p $$", "group"]);
    expect(Number(stdout)).toBeGreaterThan(1);
    expect(Number(stdout)).not.toBe(await group(String(process.pid)));
  });

  it("that takes long is ended a moment after the run is to end at once, and not before", async () => {
    const end = new AbortController();
    const slow = runGit(repository(), ["-c", "alias.slow=!sleep 1.5 && echo done", "slow"], { abort: end.signal });
    expect(await slow).toEqual({ ok: true, stdout: "done", stderr: "" });
    setTimeout(() => end.abort(), 100);
    const hanging = await runGit(repository(), ["-c", "alias.hang=!sleep 600", "hang"], { abort: end.signal });
    expect(hanging).toMatchObject({ ok: false, endReason: "the run was interrupted" });
  });

  it("has nothing to read: whatever asks for input ends", async () => {
    expect(await runGit(repository(), ["hash-object", "--stdin"])).toMatchObject({
      ok: true,
      stdout: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    });
  });
});
