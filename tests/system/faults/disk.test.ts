import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { makeReadOnly, noMounts, smallDisk } from "./support/mounts.js";
import { type Ended, expectNoTrace, expectSentence, expectWhole, lastWords, makeRepository } from "./support/place.js";

const place = useBuiltCli();

const noSpace = /There is no space left on the disk for (\S+); free some space and run again\./;

/** The file that a full disk stopped, without what differs from run to run. */
function stoppedAt({ err }: Ended): string {
  const path = noSpace.exec(err)?.[1] ?? "";
  return path
    .slice(path.indexOf("small-grippers-2026-03-01") + "small-grippers-2026-03-01/".length)
    .replace(/\d+\.json$/, "N.json");
}

describe.skipIf(noMounts !== undefined)(`a full disk (${noMounts ?? "a tmpfs of 600 KB"})`, () => {
  test("at each write of an iteration: one sentence, exit code 1; with space again the run completes with nothing lost or doubled", async () => {
    const disk = smallDisk(600);
    const here = place({ at: join(disk.at, "work"), papers: 2 });
    const stops = new Set<string>();
    // A page of a tmpfs is 4 KB. More and more is left, so that each run comes further than the one before.
    for (let left = 0; left <= 40; left += 2) {
      disk.leave(left);
      const ended = await here.cli(["run", here.research, "--agent", "baseline", "--no-git"]);
      expectNoTrace(ended.err);
      expect(here.left()).toEqual([]);
      if (ended.code === 0) break;
      expect({ code: ended.code, out: ended.out }, ended.err).toEqual({ code: 1, out: "" });
      expect(ended.err).toMatch(noSpace);
      stops.add(stoppedAt(ended));
      // What stands on the disk is whole, also while it is full.
      expect(() => here.rrd()).not.toThrow();
    }
    expect(Array.from(stops)).toEqual(expect.arrayContaining([".ralph/lock", ".ralph/journal/N.json", "rrd.json"]));
    expect(stops.size).toBeGreaterThanOrEqual(4);
    disk.free();
    expect((await here.cli(["run", here.research, "--agent", "baseline", "--no-git"])).code).toBe(0);
    expectWhole(here, 2);
    expect(readdirSync(here.research).filter((name) => name.includes("ralph-tmp"))).toEqual([]);
    expect(readdirSync(join(here.research, ".ralph")).filter((name) => name.includes("ralph-tmp"))).toEqual([]);
  });

  test("is a sentence in every program that writes, whichever of its files finds no room", async () => {
    const disk = smallDisk(1500);
    const here = place({ at: join(disk.at, "work") });
    const [code, task] = [join(disk.at, "code"), join(disk.at, "task")];
    for (const folder of [code, task]) mkdirSync(folder);
    writeFileSync(join(code, "package.json"), '{"scripts":{"test":"node --test"}}');
    writeFileSync(join(code, "x.test.js"), 'require("node:test")("x", () => { throw new Error("no") })');
    makeRepository(code);
    const acceptance_criteria = [{ type: "file_exists", path: "never" }];
    writeFileSync(join(task, "ralph.json"), JSON.stringify({ task: "x", acceptance_criteria, max_iterations: 2 }));
    writeFileSync(join(here.cwd, "list.ris"), "TY  - JOUR\nTI  - Tools for hands\nER  - \n");
    writeFileSync(join(here.top, "agent.sh"), "#!/bin/sh\ncat > /dev/null\n", { mode: 0o755 });
    const working = ["--agent", `cmd:${join(here.top, "agent.sh")}`, "--unconfined", "--sandbox", "host", "-i", "1"];
    // The user's home is full too.
    const env = { HOME: join(disk.at, "home"), TMPDIR: join(disk.at, "home") };
    mkdirSync(env.HOME);
    for (const left of [0, 12, 24])
      for (const [folder, ...args] of [
        [code, "code", ...working],
        [task, "task", ...working],
        [here.cwd, "add", here.research, "list.ris"],
        [here.cwd, "export", here.research, "--as", "bibtex", "--to", "all.bib"],
      ] as const) {
        disk.leave(left);
        const ended = await here.cli(args, env, folder);
        expectNoTrace(ended.err);
        expect(ended.err).not.toMatch(/is a bug|ENOSPC[^\n]*\n    at/);
        if (ended.code === 1)
          expect(ended.err, args.join(" ")).toMatch(/no space left on the disk|No space left|disk may be full/);
      }
  });

  test("during an iteration costs at most that one", async () => {
    const disk = smallDisk(600);
    const here = place({ at: join(disk.at, "work") });
    const run = await here.startWaiting("--no-git");
    disk.leave(0);
    here.go();
    const ended = await run.ended;
    expect({ code: ended.code, out: ended.out }).toEqual({ code: 1, out: "" });
    expect(lastWords(ended)).toMatch(noSpace);
    disk.free();
    expect((await here.cli(["run", here.research, "--agent", "baseline", "--no-git"])).code).toBe(0);
    expectWhole(here);
  });

  test("under git's objects costs commits and no iteration, leaves the repository whole, and a later commit makes up for them", async () => {
    const disk = smallDisk(3000);
    const here = place({ at: join(disk.at, "work"), git: true });
    let warned = "";
    for (let left = 24, code: number | null = 1; code !== 0; left += 30) {
      disk.leave(left);
      const ended = await here.cli(["run", here.research, "--agent", "baseline"]);
      ({ code } = ended);
      if (code !== 0) expect(ended.err).toMatch(noSpace);
      expectNoTrace(ended.err);
      warned += ended.err;
    }
    expect(warned).toMatch(
      /warning: No checkpoint: (?:git said '[^\n]*No space left on device[^\n]*'; the next|There is no space left[^\n]*run) (?:iteration tries )?again\./,
    );
    disk.free();
    expect(existsSync(join(here.cwd, ".git", "index.lock"))).toBe(false);
    here.git("fsck", "--strict");
    expectWhole(here);
    const [paper] = here.rrd().papers_pool;
    expect((await here.cli(["reset", here.research, "--paper", paper?.id ?? ""])).code).toBe(0);
    expect((await here.cli(["run", here.research, "--agent", "baseline"])).code).toBe(0);
    expect(here.git("status", "--short")).toBe("");
  });

  test("under the agents' workspaces is said before an agent starts, and no paper is given up for it", async () => {
    const disk = smallDisk(2000);
    const here = place();
    disk.leave(400);
    const state = { XDG_STATE_HOME: disk.at };
    const ended = await here.cli(["run", here.research, "--agent", "baseline"], state);
    expect(ended.code).toBe(1);
    expect(lastWords(ended)).toMatch(
      /^failed: There is no space left on the disk for an agent to work in \S+; free some space, or set state_dir to another disk, and run again\.$/,
    );
    expect(here.ledger()).toEqual([]);
    disk.free();
    expect((await here.cli(["run", here.research, "--agent", "baseline"], state)).code).toBe(0);
    expectWhole(here);
  });

  test("at add is the one thing that is said, and nothing is added", async () => {
    const disk = smallDisk(600);
    const here = place({ at: join(disk.at, "work") });
    const other = join(mkdtempSync(join(tmpdir(), "rr-add-")), "other.txt");
    onTestFinished(() => rmSync(dirname(other), { recursive: true, force: true }));
    writeFileSync(other, `Title: Another gripper\n\n${"It holds what it is given. ".repeat(400)}\n`);
    const before = here.rrd().papers_pool.length;
    disk.leave(0);
    const ended = await here.cli(["add", here.research, other, "--no-git"]);
    expect({ code: ended.code, out: ended.out }).toEqual({ code: 1, out: "" });
    expect(ended.err).toMatch(
      /^research-ralph: There is no space left on the disk for \S+; free some space and run again\.$/m,
    );
    disk.free();
    expect(here.rrd().papers_pool).toHaveLength(before);
    expect((await here.cli(["add", here.research, other, "--no-git"])).code).toBe(0);
    expect(here.rrd().papers_pool).toHaveLength(before + 1);
  });

  test("that the left-overs of a killed run fill is freed of them, and the run goes on", async () => {
    const disk = smallDisk(3000);
    const here = place({ at: join(disk.at, "work") });
    const state = { XDG_STATE_HOME: join(disk.at, "state") };
    const run = (...args: string[]) => here.cli(["run", here.research, "--no-git", ...args], state);
    const fills = "cmd:head -c 2000000 /dev/zero > big; kill -9 $PPID; sleep 100";
    await run("--agent", fills, "--unconfined");
    disk.leave(0);
    const ended = await run("--agent", "baseline");
    expect(ended.code, ended.err).toBe(0);
    expectWhole(here);
  });

  test("that keeps an agent from leaving its result is not held against the paper", async () => {
    const disk = smallDisk(3000);
    const here = place();
    const state = { XDG_STATE_HOME: disk.at };
    const agent = `cmd:head -c 9000000 /dev/zero > big; cp big result.json; echo done`;
    const ended = await here.cli(["run", here.research, "--agent", agent, "--unconfined"], state);
    expect(ended.code).toBe(1);
    expect(lastWords(ended)).toMatch(/^failed: There is no space left on the disk for an agent to work in/);
    expect(here.ledger().filter(({ outcome }) => outcome === "refused")).toEqual([]);
    expect((await here.cli(["run", here.research, "--agent", "baseline"], state)).code).toBe(0);
    expectWhole(here);
  });
});

describe.skipIf(noMounts !== undefined)(`a read-only folder (${noMounts ?? "a bind mount"})`, () => {
  const readOnly = /is on a read-only file system; make it writable, or copy the project folder elsewhere\./;

  test("is named by every command that has to write there; the others work", async () => {
    const here = place();
    const undo = makeReadOnly(here.cwd);
    const writing = [
      ["run", here.research, "--agent", "baseline"],
      ["run", here.research, "--agent", "baseline", "-p", "4"],
      ["reset", here.research],
      ["config", "papers=3"],
      ["init"],
    ];
    for (const ended of await Promise.all(writing.map((args) => here.cli(args)))) expectSentence(ended, 1, readOnly);
    for (const args of [["list"], ["status"], ["validate", here.research], ["brief", here.research]]) {
      const ended = await here.cli(args);
      expect(ended.code, args[0]).toBe(0);
      expectNoTrace(ended.err);
    }
    expectSentence(await here.cli(["new", "grasping in simulation", "--agent", "baseline"]), 1, readOnly);
    undo();
    expect((await here.cli(["run", here.research, "--agent", "baseline"])).code).toBe(0);
    expectWhole(here);
  });

  test("for workspaces is named with the setting that moves them", async () => {
    const here = place();
    const state = join(here.top, "state");
    mkdirSync(state);
    makeReadOnly(state);
    const run = await here.cli(["run", here.research, "--agent", "baseline"], { XDG_STATE_HOME: state });
    expect(run.code).toBe(1);
    expect(lastWords(run)).toMatch(
      /^failed: No workspace could be made at \S+ \(EROFS: .*; set state_dir in the config to a folder you can write to\.$/,
    );
    const read = await here.cli(["read", join(here.cwd, "papers", "paper-1.md"), "--agent", "baseline"], {
      XDG_STATE_HOME: state,
    });
    expectSentence(read, 1, /is on a read-only file system/);
  });

  test("that became so during a run ends it with one sentence, and nothing is lost", async () => {
    const here = place();
    const run = await here.startWaiting();
    const undo = makeReadOnly(here.cwd);
    here.go();
    const ended = await run.ended;
    expect(ended.code).toBe(1);
    expect(lastWords(ended)).toMatch(readOnly);
    expectNoTrace(ended.err);
    undo();
    expect((await here.cli(["run", here.research, "--agent", "baseline"])).code).toBe(0);
    expectWhole(here);
  });
});
