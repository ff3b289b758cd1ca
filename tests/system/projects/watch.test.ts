import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { watchCommand } from "../../../src/commands/inspect/watch.js";
import { isIrrelevant } from "../../../src/web/watch-folder.js";
import { acquireLock, type Lock } from "../../../src/engine/storage/lock.js";
import { openResearch } from "../../../src/research/project-files/research.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, line, makeResearch, paper } from "../../support/projects/research-folder.js";

const tokens = { input: 30_000, output: 1_200 };

/** Watches a folder while `during` happens, and returns what was printed. */
async function watching(
  cwd: string,
  json: boolean,
  during: (seen: (text: string) => Promise<void>) => Promise<void>,
  folder?: string,
) {
  const end = new AbortController();
  const io = fakeIo({ cwd });
  const watch = watchCommand({ ...(folder === undefined ? {} : { folder }), json }, io, end.signal);
  const seen = async (text: string) => {
    while (!`${io.out()}${io.err()}`.includes(text)) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  try {
    await during(seen);
  } finally {
    end.abort();
    expect(await watch).toBe(0);
  }
  return { out: io.out(), err: io.err() };
}

const add = (folder: string, ...args: Parameters<typeof line>) =>
  appendFileSync(join(folder, "ledger.jsonl"), `${JSON.stringify(line(...args))}\n`);

/** Takes the lock of a research as a run elsewhere does. */
function hold(folder: string): Promise<Lock> {
  mkdirSync(join(folder, ".ralph"), { recursive: true });
  return acquireLock(join(folder, ".ralph", "lock"), { subject: "It" });
}

describe("watch", () => {
  test("shows what is there, then each iteration of a run elsewhere once, and at its end what it cost", async () => {
    const cwd = freshFolder();
    const folder = makeResearch(
      cwd,
      "hands-2026-03-01",
      { papers_pool: [paper("p1", "presented"), paper("p2", "pending")] },
      [line(1, "p1", { cost_usd: 0.1, tokens, duration_seconds: 60 })],
    );
    const { err, out } = await watching(cwd, false, async (seen) => {
      await seen("1/2");
      const research = await openResearch(folder, { derive, git: false, notify: () => undefined });
      await seen("a run is under way");
      await research.load();
      const fold = {
        at: "2026-03-01T11:00:00.000Z",
        message: "p2",
        progress: "p2 is done\n",
        changes: [{ in: "papers_pool" as const, id: "p2", set: { status: "rejected" } }],
      };
      await research.fold({
        ...fold,
        iteration: 2,
        ledger: line(2, "p2", { cost_usd: 0.15, tokens, duration_seconds: 60 }),
      });
      await seen("#2 paper-2 accepted (2 of 2 papers done)");
      await research.close();
      await seen("the run ended");
    });
    expect(err).toContain("cost 62.4k tokens · $0.25 · 2m 00s\n");
    expect(err.split("#2 paper-2")).toHaveLength(2);
    expect(err).not.toContain("#1 p1");
    expect(out).toBe("");
  });

  test("with --json prints one object a change, and nothing else", async () => {
    const cwd = freshFolder();
    const folder = makeResearch(cwd, "hands-2026-03-01", { papers_pool: [paper("p1", "pending")] });
    const held = await hold(folder);
    const { out, err } = await watching(cwd, true, async (seen) => {
      await seen('"started"');
      add(folder, 1, "p1", { outcome: "refused", reasons: ["no number"] });
      await seen('"iteration":1');
      await held.release();
      await seen('"stopped"');
      rmSync(folder, { recursive: true });
      await seen('"gone"');
    });
    expect(err).toBe("");
    const changes = out
      .trim()
      .split("\n")
      .map((each) => JSON.parse(each));
    expect(changes.map(({ type }) => type)).toEqual(["started", "iteration", "stopped", "gone"]);
    expect(changes[1]).toMatchObject({
      research: "hands-2026-03-01",
      line: { iteration: 1, outcome: "refused" },
      progress: { done: 0, total: 1 },
    });
  });

  test("tells a run that was killed from one that ended, and a research that is held from one at rest", async () => {
    const cwd = freshFolder();
    const folder = makeResearch(cwd, "hands-2026-03-01", { papers_pool: [paper("p1", "pending")] });
    mkdirSync(join(folder, ".ralph"), { recursive: true });
    const lock = join(folder, ".ralph", "lock");
    const held = await hold(folder);
    const mine = readFileSync(lock, "utf8");
    writeFileSync(join(makeResearch(cwd, "paused-2026-03-01"), "PAUSE"), "");
    const { err } = await watching(cwd, false, async (seen) => {
      await seen("a run is under way");
      // As a kill leaves it: the lock of a process that is gone.
      writeFileSync(lock, mine.replaceAll(String(process.pid), "999999999"));
      await seen("hands-2026-03-01: its run was killed");
    });
    await held.release();
    expect(err).toMatch(/paused-2026-03-01 .*Paused/);
    expect(err).toMatch(/hands-2026-03-01 .*Running/);
  });

  test("finds a research that is made while it watches", async () => {
    const cwd = freshFolder();
    const { err } = await watching(cwd, false, async (seen) => {
      await seen("waiting for one");
      const folder = makeResearch(cwd, "new-2026-03-01", { papers_pool: [paper("p1", "pending")] });
      const held = await hold(folder);
      await seen("new-2026-03-01: a run is under way");
      await held.release();
      await seen("the run ended");
    });
    expect(err).toContain("the run ended; its cost is not recorded");
  });

  test("takes a research's name as every other command does, and waits for none in a folder that is not there", async () => {
    const cwd = freshFolder();
    makeResearch(cwd, "hands-2026-03-01", { papers_pool: [paper("p1", "pending")] });
    makeResearch(cwd, "feet-2026-03-01", { papers_pool: [paper("p1", "pending")] });
    const { err } = await watching(cwd, false, async () => undefined, "hands-2026-03-01");
    expect(err).toMatch(/^hands-2026-03-01 .*\n$/);
    const nowhere = watchCommand({ folder: "hans-2026-03-01", json: false }, fakeIo({ cwd }), AbortSignal.abort());
    await expect(nowhere).rejects.toThrow(
      "There is no project 'hans-2026-03-01'; the nearest one is hands-2026-03-01.",
    );
    symlinkSync("loop", join(cwd, "loop"));
    for (const folder of ["loop", "a".repeat(5_000)])
      await expect(watchCommand({ folder, json: false }, fakeIo({ cwd }), AbortSignal.abort())).rejects.toThrow(
        `There is no project '${folder}'`,
      );
    expect((await watching(freshFolder(), false, async (seen) => seen("waiting for one"), ".")).err).toContain(
      "No project or task under",
    );
  });

  test.each([
    ["researches/a/rrd.json", true, false],
    ["researches/a/ledger.jsonl", true, false],
    ["researches/a/.ralph/lock", true, false],
    ["researches/a/.ralph", false, false],
    ["researches/a/.ralph/texts", false, true],
    ["researches/a/.ralph/journal/1.json", true, true],
    ["researches/a/progress.txt", true, true],
    ["node_modules/x", false, true],
    [".git", false, true],
  ])("looks at %s: %s", (path, isFile, ignored) => {
    expect(isIrrelevant("/home", `/home/${path}`, isFile, ["rrd.json"])).toBe(ignored);
  });
});
