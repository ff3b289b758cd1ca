import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  acceptance,
  git,
  open,
  read,
  readRrd,
  repository,
  researchFolder,
  researchIn,
  sampleRrd,
  type Told,
  temporaryFolder,
} from "../../support/folders.js";

const subjects = (folder: string) => git(folder, "log", "--format=%s").trim().split("\n");
const messages = (told: readonly Told[]) => told.map(({ message }) => message);

describe("a checkpoint", () => {
  it("is one commit an iteration, of this research's files alone, whatever else is staged or changed", async () => {
    const root = repository();
    const folder = researchIn(root);
    writeFileSync(join(root, "mine.txt"), "staged\n");
    git(root, "add", "mine.txt");
    writeFileSync(join(root, "README"), "changed\n");
    writeFileSync(join(folder, "notes.txt"), "not ours\n");
    const research = await open(folder, { git: true });
    await research.fold(acceptance(1));
    await research.fold({ ...acceptance(2), files: [{ name: "research-report.md", text: "# Report\n" }] });

    expect(subjects(root)).toEqual(["analysis: sample_2 (presented)", "analysis: sample_1 (presented)", "begin"]);
    expect(git(root, "show", "--name-only", "--format=", "HEAD~1").trim().split("\n")).toEqual(
      ["ledger.jsonl", "progress.txt", "rrd.json"].map((name) => `researches/sample-2026-01-01/${name}`),
    );
    expect(git(root, "show", "--name-only", "--format=", "HEAD")).toContain("research-report.md");
    const status = git(root, "status", "--short", "--untracked-files=all").trimEnd().split("\n");
    expect(status).toEqual([" M README", "A  mine.txt", "?? researches/sample-2026-01-01/notes.txt"]);
  });

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

  it("is left out silently where there is no repository", async () => {
    const told: Told[] = [];
    const research = await open(researchFolder(), { git: true, told });
    await research.fold(acceptance(1));
    expect(told).toEqual([]);
  });

  it("that fails is told once, costs nothing, and is made up for by the next", async () => {
    const root = repository();
    const folder = researchIn(root);
    const told: Told[] = [];
    const research = await open(folder, { git: true, told });
    const lock = join(root, ".git/index.lock");
    writeFileSync(lock, "");
    await research.fold(acceptance(1));
    await research.fold(acceptance(2));
    expect(messages(told)).toEqual([`No checkpoint: git's lock ${lock} is there; if no git is running, delete it.`]);
    expect(existsSync(lock)).toBe(true);
    expect(readRrd(folder).papers_pool[1]?.status).toBe("presented");

    rmSync(lock);
    await research.fold(acceptance(3));
    expect(git(root, "show", "HEAD:researches/sample-2026-01-01/ledger.jsonl").trim().split("\n")).toHaveLength(3);
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
    const folder = researchIn(root);
    const killed = await open(folder, { git: false });
    await killed.fold(acceptance(1));
    await killed.close();
    await (await open(folder, { git: true })).close();
    expect(subjects(root)).toEqual(["What an interrupted run left", "begin"]);
    expect(git(root, "show", "HEAD:researches/sample-2026-01-01/ledger.jsonl")).toBe(read(folder, "ledger.jsonl"));
    writeFileSync(join(folder, "progress.txt"), "A person's own note.\n", { flag: "a" });
    await (await open(folder, { git: true })).close();
    expect(subjects(root)).toHaveLength(2);
  });

  it("of a failed iteration is made with the next one, or at the end", async () => {
    const root = repository();
    const folder = researchIn(root);
    const research = await open(folder, { git: true });
    await research.fold({ ...acceptance(1), later: true });
    expect(subjects(root)).toEqual(["begin"]);
    await research.fold(acceptance(2));
    expect(subjects(root)).toEqual(["analysis: sample_2 (presented)", "begin"]);
    await research.fold({ ...acceptance(3), later: true });
    await research.close();
    expect(subjects(root)[0]).toBe("analysis: sample_3 (presented)");
  });

  it("waits while a merge or a rebase is under way", async () => {
    const root = repository();
    const folder = researchIn(root);
    const told: Told[] = [];
    const research = await open(folder, { git: true, told });
    git(root, "checkout", "-q", "-b", "other");
    git(root, "commit", "-q", "--allow-empty", "-m", "other");
    git(root, "checkout", "-q", "main");
    git(root, "merge", "-q", "--no-ff", "--no-commit", "other");
    await research.fold(acceptance(1));
    expect(messages(told)).toEqual([
      "No checkpoint while a git merge is under way; finish it and the next iteration commits.",
    ]);
    git(root, "commit", "-q", "-m", "merged");
    mkdirSync(join(root, ".git/rebase-merge"));
    await research.fold(acceptance(2));
    expect(messages(told).at(-1)).toContain("a git rebase is under way");
    rmSync(join(root, ".git/rebase-merge"), { recursive: true });
    await research.fold(acceptance(3));
    expect(subjects(root)[0]).toBe("analysis: sample_3 (presented)");
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
      "No checkpoint: the research folder is ignored by git; take it out of .gitignore to have its history.",
    ]);
  });

  it("of a file above 2 MB is made every tenth fold and at the end", async () => {
    const root = repository();
    const folder = researchIn(root, { ...sampleRrd(12), filler: "x".repeat(2_100_000) });
    const research = await open(folder, { git: true });
    for (let n = 1; n <= 9; n++) await research.fold(acceptance(n));
    expect(subjects(root)).toEqual(["begin"]);
    await research.fold(acceptance(10));
    expect(subjects(root)).toHaveLength(2);
    await research.fold(acceptance(11));
    await research.close();
    expect(subjects(root)[0]).toBe("analysis: sample_11 (presented)");
    expect(subjects(root)).toHaveLength(3);
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
