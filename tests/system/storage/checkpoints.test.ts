import { existsSync, mkdirSync, rmSync, writeFileSync, readFileSync, renameSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  acceptance,
  checkpoints,
  git,
  messages,
  open,
  read,
  repository,
  researchIn,
  subjects,
  type Told,
  temporaryFolder,
} from "../../support/folders.js";
import { execFileSync } from "node:child_process";
import { hostname } from "node:os";
import { listeningGit } from "../../support/processes/listening-git.js";
import { openCheckpoints, noCommitsReason } from "../../../src/engine/storage/checkpoints.js";
import { committedFiles } from "../../../src/research/project-files/layout.js";

describe("a checkpoint", () => {
  it("needs no identity, no hook's consent and no signature, and switches no branch", async () => {
    const root = repository();
    git(root, "config", "--unset", "user.name");
    git(root, "config", "--unset", "user.email");
    git(root, "config", "commit.gpgsign", "true");
    git(root, "config", "user.useConfigOnly", "true");
    writeFileSync(join(root, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const folder = researchIn(root);
    const told: Told[] = [];
    const research = await open(folder, { git: true, told });
    await research.fold(acceptance(1));
    expect(told).toEqual([]);
    expect(subjects(root)[0]).toBe("analysis: sample_1 (presented)");
    expect(git(root, "branch", "--show-current").trim()).toBe("main");
  });

  it("is made in a repository without any commit, and on a detached HEAD", async () => {
    const root = temporaryFolder();
    git(root, "init", "-q");
    const folder = researchIn(root);
    const told: Told[] = [];
    const research = await open(folder, { git: true, told });
    await research.fold(acceptance(1));
    git(root, "checkout", "-q", "--detach");
    await research.fold(acceptance(2));
    expect(told).toEqual([]);
    expect(subjects(root)).toHaveLength(2);
  });

  it("that failed last is made up for at the end", async () => {
    const root = repository();
    const folder = researchIn(root);
    const research = await open(folder, { git: true });
    const lock = join(root, ".git/index.lock");
    writeFileSync(lock, "");
    await research.fold(acceptance(1));
    rmSync(lock);
    await research.close();
    expect(subjects(root)[0]).toBe("analysis: sample_1 (presented)");
  });

  it("that a kill left out is made by a run that has nothing to fold; nothing new makes none", async () => {
    const root = repository();
    // Its path has the letter by which git tells of a file that is gone.
    const folder = researchIn(join(root, "My Data"));
    const killed = await open(folder, { git: false });
    await killed.fold(acceptance(1));
    await killed.close();
    await (await open(folder, { git: true })).close();
    expect(subjects(root)).toEqual(["What an interrupted run left", "begin"]);
    expect(git(root, "show", "HEAD:My Data/researches/sample-2026-01-01/ledger.jsonl")).toBe(
      read(folder, "ledger.jsonl"),
    );
    writeFileSync(join(folder, "progress.txt"), "A person's own note.\n", { flag: "a" });
    await (await open(folder, { git: true })).close();
    expect(subjects(root)).toHaveLength(2);
    rmSync(join(folder, "ledger.jsonl"));
    await (await open(folder, { git: true })).close();
    expect(subjects(root)).toHaveLength(2);
  });

  it("of an ignored folder is told once", async () => {
    const root = repository();
    writeFileSync(join(root, ".gitignore"), "researches/\n");
    const folder = researchIn(root);
    const told: Told[] = [];
    const research = await open(folder, { git: true, told });
    await research.fold(acceptance(1));
    await research.fold(acceptance(2));
    expect(messages(told)).toEqual([
      "No checkpoint: the project folder is ignored by git; remove it from .gitignore to commit it.",
    ]);
  });

  it("goes into the folder's own repository, also when run from a git hook of another", async () => {
    const root = repository();
    const folder = researchIn(root);
    process.env.GIT_DIR = "/nowhere";
    try {
      const research = await open(folder, { git: true });
      await research.fold(acceptance(1));
    } finally {
      delete process.env.GIT_DIR;
    }
    expect(subjects(root)[0]).toBe("analysis: sample_1 (presented)");
    expect(read(folder, ".ralph/.gitignore")).toBe("*\n");
  });

  it("of a file that the person took out of the index is made again", async () => {
    const root = repository();
    const folder = researchIn(root);
    const told: Told[] = [];
    const research = await open(folder, { git: true, told });
    await research.fold(acceptance(1));
    git(folder, "rm", "-q", "--cached", "progress.txt");
    await research.fold(acceptance(2));
    await research.fold(acceptance(3));
    expect(git(root, "status", "--short")).toBe("");
  });
});

describe("a git that hangs", () => {
  /** A git that hangs on the first `add`, and a clock that goes on by itself and can be put forward. */
  function hangingGit() {
    const hung = join(temporaryFolder(), "hung");
    const asked = listeningGit(
      undefined,
      `case "$*" in *" add "*) [ -e '${hung}' ] || { touch '${hung}'; exec sleep 1000; };; esac`,
    );
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const hangs = () => expect.poll(() => existsSync(hung), { interval: 20 }).toBe(true);
    return { asked, hangs };
  }

  it("is ended after a minute, which costs nothing, and asked again at the end of a run that ends by itself", async () => {
    const { root, told, fold, finish } = await checkpoints();
    const { hangs } = hangingGit();
    const folded = fold("one");
    await hangs();
    await vi.advanceTimersByTimeAsync(60_000);
    await folded;
    expect(told).toEqual([
      "No checkpoint: git was ended because it took longer than 60 seconds; a filter of the repository may hang; the next iteration tries again.",
    ]);
    await finish();
    expect(subjects(root)).toEqual(["one", "begin"]);
  });

  it("is ended a moment after the run is to end at once, and not asked again", async () => {
    const abort = new AbortController();
    const { root, told, fold, finish } = await checkpoints(repository(), { abort: abort.signal });
    const { asked, hangs } = hangingGit();
    const folded = fold("one");
    await hangs();
    abort.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    await folded;
    expect(told).toEqual([
      "No checkpoint: git was ended because the run was interrupted; the next iteration tries again.",
    ]);
    asked();
    await finish();
    expect([asked(), subjects(root)]).toEqual([[], ["begin"]]);
  });
});

it("what was put off is committed at the end of a run that is to end at once, where git answers", async () => {
  const abort = new AbortController();
  const { root, folder, commit, finish } = await checkpoints(repository(), { abort: abort.signal });
  writeFileSync(join(folder, "ledger.jsonl"), "{}\n");
  await commit("later", true);
  abort.abort();
  await finish();
  expect(subjects(root)).toEqual(["later", "begin"]);
});

describe("beside an agent that nothing confines", () => {
  /** A program that shows that it ran, and hands its input on. */
  const program = (): { readonly command: string; readonly ran: () => boolean } => {
    const trace = join(temporaryFolder(), "ran");
    return { command: `touch '${trace}'; cat`, ran: () => existsSync(trace) };
  };

  it("a monitor of files is never started, whoever configured it", async () => {
    const root = repository();
    const monitor = program();
    git(root, "config", "core.fsmonitor", monitor.command);
    const { fold } = await checkpoints(root);
    await fold("one");
    expect([subjects(root)[0], monitor.ran()]).toEqual(["one", false]);
  });

  it("nor one of a submodule, with something to commit and with nothing", async () => {
    const root = repository();
    const monitor = program();
    const { fold, commit, finish } = await checkpoints(root, { unconfined: true });
    const inner = join(root, "inner");
    mkdirSync(inner);
    git(inner, "init", "-q");
    git(inner, "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-m", "x");
    git(root, "add", "inner");
    git(root, "config", "submodule.inner.ignore", "none");
    git(inner, "config", "core.fsmonitor", monitor.command);
    await fold("one");
    await commit("two");
    await finish();
    expect([subjects(root)[0], monitor.ran()]).toEqual(["one", false]);
  });

  it("what was planted in one run is not run in the next, nor with a confined agent, until the person says that it is theirs", async () => {
    const root = repository();
    const [own, planted] = [program(), program()];
    writeFileSync(join(root, ".gitattributes"), "rrd.json filter=own\nledger.jsonl filter=evil\n");
    git(root, "config", "filter.own.clean", own.command);
    const first = await checkpoints(root, { unconfined: true });
    git(root, "config", "filter.evil.clean", planted.command);
    git(root, "config", "filter.own.clean", planted.command);
    await first.fold("one");
    for (const unconfined of [true, false]) {
      const next = await checkpoints(root, { unconfined });
      await next.fold(`next ${unconfined}`);
      expect(next.told).toEqual([
        expect.stringContaining("(filter.own.clean, filter.evil.clean); checkpoints start none"),
      ]);
    }
    expect([own.ran(), planted.ran(), subjects(root)[0]]).toEqual([true, false, "next false"]);
    // Taken out, and their own again: there is nothing to tell of any more.
    git(root, "config", "--unset", "filter.evil.clean");
    git(root, "config", "filter.own.clean", own.command);
    expect((await checkpoints(root)).told).toEqual([]);
    git(root, "config", "filter.evil.clean", planted.command);
    rmSync(join(root, ".git/research-ralph-planted.json"));
    const last = await checkpoints(root, { unconfined: false });
    await last.fold("last");
    expect([planted.ran(), last.told]).toEqual([true, []]);
  });

  it("a filter of the person's that was changed runs as it was", async () => {
    const root = repository();
    writeFileSync(join(root, ".gitattributes"), "ledger.jsonl filter=own\n");
    git(root, "config", "filter.own.clean", "true\nsed s/n/own/");
    const { fold, folder } = await checkpoints(root, { unconfined: true });
    git(root, "config", "filter.own.clean", "sed s/n/forged/");
    await fold("one");
    expect(git(folder, "show", "HEAD:./ledger.jsonl")).toBe('{"own": 1}\n');
  });

  it("git does not tidy up where a program was planted that it would ask", async () => {
    const root = repository();
    const { fold, finish } = await checkpoints(root, { unconfined: true });
    await fold("one");
    git(root, "config", "gc.recentObjectsHook", "true");
    const since = listeningGit();
    await finish();
    expect(since().filter((each) => each.startsWith("gc"))).toEqual([]);
  });

  it("hooks and filters that the configuration names by now are switched off, and nothing else of it", async () => {
    const root = repository();
    const { fold, told } = await checkpoints(root, { unconfined: true });
    git(root, "config", "hook.mine.command", "true");
    git(root, "config", "filter.evil.clean", "true");
    git(root, "config", "filter.evil.required", "true");
    git(root, "config", "user.name", "Another");
    const log = join(temporaryFolder(), "log");
    const since = listeningGit(undefined, `env | grep ^GIT_CONFIG_ >> '${log}'`);
    await fold("one");
    expect(since().some((each) => each.includes("commit -q"))).toBe(true);
    const said = readFileSync(log, "utf8");
    const keys = [...said.matchAll(/^GIT_CONFIG_KEY_(\d)=(.*)$/gm)].map(
      ([, n, key]) => `${key}=${new RegExp(`^GIT_CONFIG_VALUE_${n}=(.*)$`, "m").exec(said)?.[1]}`,
    );
    expect([...new Set(keys)].toSorted()).toEqual([
      "filter.evil.clean=",
      "filter.evil.required=false",
      "hook.mine.command=",
      "hook.mine.enabled=false",
    ]);
    expect(told).toEqual([
      expect.stringContaining("(hook.mine.command, filter.evil.clean, filter.evil.required); checkpoints start no"),
    ]);
  });
});

describe("checkpoints", () => {
  it("that a kill left out after files of no iteration is made at the next opening, and no edit of a person's is", async () => {
    const root = repository();
    const folder = researchIn(root);
    const page = join(folder, "report.html");
    const first = await open(folder, { git: true });
    await first.rewrite([{ name: "report.html", text: "one" }], 0, "report.html: rendered");
    await first.close();
    writeFileSync(page, "by hand");
    await (await open(folder, { git: true })).close();
    expect(subjects(root)).toEqual(["report.html: rendered", "begin"]);
    expect(git(root, "status", "--short")).not.toBe("");

    const killed = await openCheckpoints(folder, committedFiles, () => undefined);
    await killed?.announce();
    writeFileSync(page, "two");
    await (await open(folder, { git: true })).close();
    expect(subjects(root)).toEqual(["What an interrupted run left", "report.html: rendered", "begin"]);
    expect(git(root, "status", "--short")).toBe("");
    writeFileSync(page, "by hand");
    await (await open(folder, { git: true })).close();
    expect(git(root, "status", "--short")).not.toBe("");
  });

  it("of files of no iteration that failed to the last is made at the next opening", async () => {
    const root = repository();
    const folder = researchIn(root);
    const lock = join(root, ".git/index.lock");
    const research = await open(folder, { git: true, told: [] });
    writeFileSync(lock, "");
    await research.rewrite([{ name: "report.html", text: "one" }], 0, "report.html: rendered");
    await research.close();
    rmSync(lock);
    await (await open(folder, { git: true })).close();
    expect(subjects(root)[0]).toBe("What an interrupted run left");
    expect(git(root, "status", "--short")).toBe("");
  });

  it("leave the index alone while they only look, as another research may be committing", async () => {
    const { root, folder, fold } = await checkpoints();
    await fold("one");
    // The same bytes with another time: git would write down that it has compared them.
    utimesSync(join(folder, "ledger.jsonl"), 1_000_000_000, 1_000_000_000);
    const index = readFileSync(join(root, ".git/index"));
    await openCheckpoints(folder, committedFiles, () => undefined);
    expect(readFileSync(join(root, ".git/index")).equals(index)).toBe(true);
  });

  it("wait while a file is there by which git knows that something is under way", async () => {
    const { root, told, fold } = await checkpoints();
    const files = {
      MERGE_HEAD: "merge",
      CHERRY_PICK_HEAD: "cherry-pick",
      REVERT_HEAD: "revert",
      "rebase-merge": "rebase",
      "rebase-apply": "rebase",
    };
    for (const [file, operation] of Object.entries(files)) {
      writeFileSync(join(root, ".git", file), "");
      await fold("while it is");
      expect(told.pop()).toContain(`while a git ${operation} is under way; finish it and the next iteration commits.`);
      rmSync(join(root, ".git", file));
      await fold(`after ${file}`);
    }
    expect([subjects(root), told]).toEqual([
      [...Object.keys(files).map((file) => `after ${file}`)].toReversed().concat("begin"),
      [],
    ]);
  });

  it("go to no repository further up where the own one went", async () => {
    const outer = repository();
    const inner = join(outer, "inner");
    mkdirSync(inner);
    git(inner, "init", "-q", "-b", "main");
    const { told, fold, finish } = await checkpoints(inner);
    await fold("one");
    renameSync(join(inner, ".git"), join(inner, "git-away"));
    await fold("two");
    await fold("three");
    expect(told).toEqual([
      `No checkpoint: ${join(inner, ".git")} is gone; the project continues without git. 'git init' starts a new history.`,
    ]);
    await finish();
    expect(subjects(outer)).toEqual(["begin"]);
    renameSync(join(inner, "git-away"), join(inner, ".git"));
    await fold("four");
    expect(subjects(inner)).toEqual(["four", "one"]);
  });

  it("tell what went wrong once, and again after it went well in between", async () => {
    const { root, told, fold } = await checkpoints();
    const lock = join(root, ".git/index.lock");
    const said = `No checkpoint: git's lock ${lock} exists; if no git is running, delete it.`;
    writeFileSync(lock, "");
    await fold("one");
    await fold("two");
    rmSync(lock);
    await fold("three");
    writeFileSync(lock, "");
    await fold("four");
    expect(told).toEqual([said, said]);
  });

  it("tell what else git says in its own first words", async () => {
    const { root, told, fold } = await checkpoints();
    await fold("one");
    const config = readFileSync(join(root, ".git/config"), "utf8");
    git(root, "config", "core.autocrlf", "perhaps");
    await fold("two");
    expect(told).toEqual([
      expect.stringMatching(/^No checkpoint: git said '\S.*autocrlf.*'; the next iteration tries again\.$/),
    ]);
    writeFileSync(join(root, ".git/config"), config);
    await fold("three");
    expect(subjects(root)).toEqual(["three", "one", "begin"]);
  });

  it("tell that git is to leave a file of the research alone", async () => {
    const { root, folder, told, fold } = await checkpoints();
    git(folder, "add", "rrd.json");
    git(folder, "update-index", "--skip-worktree", "rrd.json");
    await fold("one");
    expect(told).toEqual([
      expect.stringMatching(
        /^No checkpoint: git was told to ignore a file of the project .*--no-skip-worktree' with its path/,
      ),
    ]);
    git(folder, "update-index", "--no-skip-worktree", "rrd.json");
    await fold("two");
    expect(subjects(root)).toEqual(["two", "begin"]);
  });

  it("tell the first line that is no hint", async () => {
    const { told, fold } = await checkpoints();
    for (const [answer, said] of [
      ["hint: Did you mean this?\\n\\n  \\nfatal: no hint: here\\nmore\\n", "git said 'fatal: no hint: here'"],
      ["the end of a hint:", "git said 'the end of a hint:'"],
    ] as const) {
      listeningGit(answer);
      await fold("one");
      expect(told.pop()).toBe(`No checkpoint: ${said}; the next iteration tries again.`);
    }
  });

  it("wait ten seconds for another research's, and go on without where it takes longer", async () => {
    const { root, folder, told, fold } = await checkpoints();
    writeFileSync(
      join(root, ".git/research-ralph.lock"),
      JSON.stringify({ pid: process.pid, host: hostname(), token: "another" }),
    );
    const real = performance.now.bind(performance);
    let asked = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => real() + (asked++ < 3 ? 0 : 9_990));
    onTestFinished(() => clock.mockRestore());
    await fold("one");
    expect(asked).toBeGreaterThan(3);
    expect(told).toEqual([
      `No checkpoint: The repository is in use by process ${process.pid}; wait until it ends, or stop it.`,
    ]);
    rmSync(join(root, ".git/research-ralph.lock"));
    await fold("two");
    expect([subjects(root), git(folder, "status", "--short")]).toEqual([["two", "begin"], ""]);
  });

  it("ask git for no more than they must: files are added once, and rubbish is looked for at the end", async () => {
    const { fold, finish } = await checkpoints();
    const asked = listeningGit();
    await finish();
    expect(asked()).toEqual([]);
    await fold("one");
    expect(asked()).toEqual([
      expect.stringMatching(/^ls-files -- rrd\.json /),
      "add -- rrd.json ledger.jsonl",
      "-c gc.auto=0 -c maintenance.auto=false -c commit.gpgsign=false commit -q -m one --only -- rrd.json ledger.jsonl",
    ]);
    await fold("two");
    expect(asked()).toEqual([expect.stringContaining("commit -q -m two --only")]);
    await finish();
    expect(asked()).toEqual(["gc --auto --quiet"]);
  });

  it("of a large file are made ten minutes after the first that was put off", async () => {
    const { root, folder, fold } = await checkpoints();
    writeFileSync(join(folder, "rrd.json"), `"${"x".repeat(2_000_000)}"`);
    const real = Date.now;
    let later = 0;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => real() + later);
    onTestFinished(() => clock.mockRestore());
    for (later of [0, 5 * 60_000, 9.9 * 60_000]) await fold("put off");
    expect(subjects(root)).toEqual(["begin"]);
    later = 10 * 60_000;
    await fold("one");
    later += 5 * 60_000;
    await fold("put off again");
    expect(subjects(root)).toEqual(["one", "begin"]);
  });

  it.each([
    ["user.email", "A Person <research-ralph@localhost>"],
    ["user.name", "research-ralph <person@example.org>"],
  ])("stand in for %s alone where it is not known", async (unknown, author) => {
    const root = repository();
    git(root, "config", "--unset", unknown);
    // Whoever runs this may have told git both for all repositories.
    const { GIT_CONFIG_GLOBAL: before } = process.env;
    process.env["GIT_CONFIG_GLOBAL"] = "/dev/null";
    try {
      await (await checkpoints(root)).fold("one");
    } finally {
      if (before === undefined) delete process.env["GIT_CONFIG_GLOBAL"];
      else process.env["GIT_CONFIG_GLOBAL"] = before;
    }
    expect(git(root, "log", "-1", "--format=%an <%ae>").trim()).toBe(author);
  });

  it("of nothing new are none, and nothing went wrong", async () => {
    const { root, told, fold, commit } = await checkpoints();
    await fold("one");
    await commit("nothing");
    expect([subjects(root), told]).toEqual([["one", "begin"], []]);
  });

  it("hold all that a research keeps, what went since, and nothing else", async () => {
    const { root, folder, fold } = await checkpoints();
    const names = ["progress.txt", "queries.jsonl", "research-report.md", "references.bib", "product-ideas.json"];
    for (const name of [...names, "mine.txt"]) writeFileSync(join(folder, name), name);
    await fold("one");
    const committed = () => git(folder, "ls-tree", "--name-only", "HEAD", "./").trim().split("\n").toSorted();
    expect(committed()).toEqual(["ledger.jsonl", "rrd.json", ...names].toSorted());
    rmSync(join(folder, "references.bib"));
    await fold("two");
    expect(committed()).not.toContain("references.bib");
    expect(existsSync(join(folder, "mine.txt"))).toBe(true);
    // Of an earlier run too.
    const told: string[] = [];
    const again = await openCheckpoints(folder, committedFiles, (message) => void told.push(message));
    rmSync(join(folder, "queries.jsonl"));
    await again?.commit("three");
    expect([committed().includes("queries.jsonl"), git(root, "status", "--short").trim(), told]).toEqual([
      false,
      "?? researches/sample-2026-01-01/mine.txt",
      [],
    ]);
    writeFileSync(join(folder, "ledger.jsonl"), "four\n");
    await again?.commit("four");
    expect([subjects(root).slice(0, 2), told]).toEqual([["four", "three"], []]);
  });

  it("leave whatever a person staged as it is", async () => {
    const { root, fold } = await checkpoints();
    writeFileSync(join(root, "README"), "changed\n");
    git(root, "add", "README");
    await fold("one");
    expect(git(root, "diff", "--cached", "--name-only").trim()).toBe("README");
  });
});

it("a repository that git can't work in is told of, with what git says", async () => {
  const [broken, without] = [repository(), repository()];
  writeFileSync(join(broken, ".git/config"), "[broken\n");
  expect(await noCommitsReason(broken)).toMatch(
    /^Nothing is committed, because git refuses its repository \(bad config/,
  );
  execFileSync("git", ["config", "core.bare", "true"], { cwd: without });
  expect(await noCommitsReason(without)).toContain("is in a git repository without files");
});
