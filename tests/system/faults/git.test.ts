import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { expectNoTrace, expectWhole, interruptOnce, lastWords, researchName, until } from "./support/place.js";

const place = useBuiltCli();

const complete = { code: 0, out: "<promise>COMPLETE</promise>\n" };

test("git absent from PATH: the research completes without history, and doctor says what to do", async () => {
  const here = place();
  const bin = join(here.top, "bin");
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, "node"));
  const ended = await here.cli(["run", here.research, "--agent", "baseline"], { PATH: bin });
  expect(ended).toMatchObject(complete);
  expectNoTrace(ended.err);
  expectWhole(here);
  const doctor = await here.cli(["doctor"], { PATH: bin });
  expect(doctor.out).toMatch(/git +.*not .*\n +→ .*git/i);
  expectNoTrace(doctor.out + doctor.err);
});

test("no identity, commit.gpgsign without a key, and hooks that hang: every iteration is committed all the same", async () => {
  const here = place({ git: true });
  here.git("config", "--unset", "user.name");
  here.git("config", "--unset", "user.email");
  here.git("config", "commit.gpgsign", "true");
  here.git("config", "gpg.program", "false");
  for (const hook of ["pre-commit", "commit-msg", "post-commit"]) {
    writeFileSync(join(here.cwd, ".git", "hooks", hook), "#!/bin/sh\necho no >&2\nsleep 1000\nexit 1\n");
    chmodSync(join(here.cwd, ".git", "hooks", hook), 0o755);
  }
  const ended = await here.cli(["run", here.research, "--agent", "baseline"], { GIT_CONFIG_NOSYSTEM: "1" });
  expect(ended).toMatchObject(complete);
  expect(ended.err).not.toContain("No checkpoint");
  // One more says how the run ended.
  expect(here.git("log", "--format=%s").split("\n")).toHaveLength(here.ledger().length + 2);
  expect(here.git("status", "--short")).toBe("");
  expectWhole(here);
});

test.each([
  ["SIGTERM once", "SIGTERM", 143],
  ["SIGINT twice", "SIGINT", 130],
] as const)(
  "a clean filter that hangs: %s ends the run, nothing is left running, and a later run commits all",
  async (_, signal, code) => {
    const here = place({ git: true });
    writeFileSync(join(here.cwd, ".gitattributes"), "ledger.jsonl filter=slow\n");
    const filtering = join(here.top, "filtering");
    here.git("config", "filter.slow.clean", `: > '${filtering}'; sleep 1000`);
    const run = here.start(["run", here.research, "--agent", "baseline"]);
    await until(() => existsSync(filtering));
    if (signal === "SIGINT") await interruptOnce(run);
    process.kill(run.pid, signal);
    // The filter would go on for longer than a test may take.
    const ended = await run.ended;
    expect(ended.code).toBe(code);
    expectNoTrace(ended.err);
    expect(here.left()).toEqual([]);
    here.git("config", "filter.slow.clean", "cat");
    expect(await here.cli(["run", here.research, "--agent", "baseline"])).toMatchObject(complete);
    expect(here.git("status", "--short", "researches")).toBe("");
    expectWhole(here);
  },
);

test("mid-merge no commit is made, which is said once; the merge stays as it was", async () => {
  const here = place({ git: true });
  here.git("checkout", "-q", "-b", "other");
  here.git("commit", "-q", "--allow-empty", "-m", "other");
  here.git("checkout", "-q", "main");
  here.git("merge", "-q", "--no-ff", "--no-commit", "other");
  const ended = await here.cli(["run", here.research, "--agent", "baseline"]);
  expect(ended).toMatchObject(complete);
  expect(
    ended.err.match(
      /warning: No checkpoint while a git merge is under way; finish it and the next iteration commits\./g,
    ),
  ).toHaveLength(1);
  expect(existsSync(join(here.cwd, ".git", "MERGE_HEAD"))).toBe(true);
  expectWhole(here);
});

test("a stale index.lock is named once a run with what to do, also where the research is finished, and never deleted; a run without it commits all", async () => {
  const here = place({ git: true });
  const lock = join(here.cwd, ".git", "index.lock");
  writeFileSync(lock, "");
  for (const _ of ["at work", "finished"]) {
    const ended = await here.cli(["run", here.research, "--agent", "baseline"]);
    expect(ended).toMatchObject(complete);
    expect(
      ended.err.match(/warning: No checkpoint: git's lock \S+index\.lock exists; if no git is running, delete it\./g),
    ).toHaveLength(1);
    expect(lastWords(ended)).toMatch(/^complete: /);
    expect(existsSync(lock)).toBe(true);
  }
  rmSync(lock);
  expect(await here.cli(["run", here.research, "--agent", "baseline"])).toMatchObject(complete);
  expect(here.git("status", "--short")).toBe("");
  expect(here.git("show", `HEAD:researches/${researchName}/ledger.jsonl`)).toBe(here.read("ledger.jsonl").trim());
});

test("a repository that is broken costs the history and nothing else", async () => {
  const here = place({ git: true });
  writeFileSync(join(here.cwd, ".git", "index"), "not an index");
  const ended = await here.cli(["run", here.research, "--agent", "baseline"]);
  expect(ended).toMatchObject(complete);
  expect(ended.err).toMatch(/warning: No checkpoint: git said '[^\n]+'; the next iteration tries again\./);
  expectNoTrace(ended.err);
  expectWhole(here);
});

test("eight researches of one repository at once: each commits its own files, none is left out, and git is left without a lock", async () => {
  const here = place({ git: true });
  const names = Array.from({ length: 8 }, (_, n) => `research-${n + 1}-2026-03-01`);
  for (const name of names) cpSync(here.research, join(here.cwd, "researches", name), { recursive: true });
  const ends = await Promise.all(
    names.map((name) => here.cli(["run", join("researches", name), "--agent", "baseline"])),
  );
  for (const ended of ends) expect(ended).toMatchObject(complete);
  expect(ends.map(({ err }) => err).join("")).not.toContain("No checkpoint");
  expect(existsSync(join(here.cwd, ".git", "index.lock"))).toBe(false);
  expect(existsSync(join(here.cwd, ".git", "research-ralph.lock"))).toBe(false);
  here.git("fsck", "--strict");
  for (const name of names) {
    const folder = join(here.cwd, "researches", name);
    expect(here.git("show", `HEAD:researches/${name}/rrd.json`)).toBe(
      readFileSync(join(folder, "rrd.json"), "utf8").trim(),
    );
    const touched = here.git("log", "--format=%H", "--", `researches/${name}`).split("\n");
    // One more says how the run ended.
    expect(touched).toHaveLength(here.ledger(folder).length + 1);
    for (const commit of touched) {
      const files = here.git("show", "--name-only", "--format=", commit).split("\n");
      expect(files.every((file) => file.startsWith(`researches/${name}/`))).toBe(true);
    }
  }
});
