import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  acceptance,
  checkpoints,
  git,
  messages,
  open,
  readRrd,
  repository,
  researchFolder,
  researchIn,
  sampleRrd,
  subjects,
  type Told,
  temporaryFolder,
} from "../../support/folders.js";
import { openCheckpoints, noCommitsReason } from "../../../src/engine/storage/checkpoints.js";
import { committedFiles } from "../../../src/research/project-files/layout.js";

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
    expect(messages(told)).toEqual([`No checkpoint: git's lock ${lock} exists; if no git is running, delete it.`]);
    expect(existsSync(lock)).toBe(true);
    expect(readRrd(folder).papers_pool[1]?.status).toBe("presented");

    rmSync(lock);
    await research.fold(acceptance(3));
    expect(git(root, "show", "HEAD:researches/sample-2026-01-01/ledger.jsonl").trim().split("\n")).toHaveLength(3);
  });

  it("of a failed iteration is made with the next one, or at the end", async () => {
    const root = repository();
    const folder = researchIn(root);
    const research = await open(folder, { git: true });
    await research.fold({ ...acceptance(1), commitsLater: true });
    expect(subjects(root)).toEqual(["begin"]);
    await research.fold(acceptance(2));
    expect(subjects(root)).toEqual(["analysis: sample_2 (presented)", "begin"]);
    await research.fold({ ...acceptance(3), commitsLater: true });
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
});

it("a folder in the place of the note that something is to be committed is no obstacle", async () => {
  const root = repository();
  const note = join(root, "researches/sample-2026-01-01/.ralph/uncommitted");
  mkdirSync(note, { recursive: true });
  const { told, fold } = await checkpoints(root);
  await fold("one");
  expect([told, existsSync(note), subjects(root)[0]]).toEqual([[], false, "one"]);
});

describe("beside an agent that nothing confines", () => {
  /** A program that shows that it ran, and hands its input on. */
  const program = (): { readonly command: string; readonly ran: () => boolean } => {
    const trace = join(temporaryFolder(), "ran");
    return { command: `touch '${trace}'; cat`, ran: () => existsSync(trace) };
  };

  it("filters that appeared since are not run, and the person's own is, and each is told once", async () => {
    const root = repository();
    const [own, planted] = [program(), program()];
    writeFileSync(join(root, ".gitattributes"), "rrd.json filter=own\nledger.jsonl filter=a=b\n");
    git(root, "config", "filter.own.clean", own.command);
    const { fold, told, finish } = await checkpoints(root, { unconfined: true });
    git(root, "config", "filter.a=b.clean", planted.command);
    git(root, "config", "filter.a=b.required", "true");
    await fold("one");
    await fold("two");
    await finish();
    expect([own.ran(), planted.ran(), subjects(root)[0]]).toEqual([true, false, "two"]);
    expect(told).toEqual([expect.stringContaining("(filter.a=b.clean, filter.a=b.required)")]);
  });

  it("a note of planted programs in another shape says nothing", async () => {
    const root = repository();
    const own = program();
    writeFileSync(join(root, ".gitattributes"), "ledger.jsonl filter=own\n");
    git(root, "config", "filter.own.clean", own.command);
    const now = [own.command];
    for (const each of [{ now, before: 5 }, { now: own.command, before: null }, { before: null }, null]) {
      writeFileSync(join(root, ".git/research-ralph-planted.json"), JSON.stringify({ "filter.own.clean": each }));
      expect((await checkpoints(root, { unconfined: true })).told).toEqual([]);
    }
    const { fold } = await checkpoints(root);
    await fold("one");
    expect([own.ran(), subjects(root)[0]]).toEqual([true, "one"]);
  });
});

describe("checkpoints", () => {
  it("are none outside of a repository, in a bare one, and within git's own folder", async () => {
    const none = () => undefined;
    expect(await openCheckpoints(researchFolder(), committedFiles, none)).toBeUndefined();
    const root = repository();
    expect(await openCheckpoints(join(root, ".git"), committedFiles, none)).toBeUndefined();
    const bare = temporaryFolder();
    git(bare, "init", "-q", "--bare");
    expect(await openCheckpoints(bare, committedFiles, none)).toBeUndefined();
    expect(await openCheckpoints(root, committedFiles, none)).toBeDefined();
  });

  it("that were put off are made with the next one or at the end, once", async () => {
    const { root, folder, commit, finish, fold } = await checkpoints();
    writeFileSync(join(folder, "ledger.jsonl"), "{}\n");
    await commit("later", true);
    expect(subjects(root)).toEqual(["begin"]);
    await finish();
    await finish();
    expect(subjects(root)).toEqual(["later", "begin"]);
    await fold("now");
    await finish();
    expect(subjects(root)).toEqual(["now", "later", "begin"]);
  });
});

it("that nothing can be committed is said only where there is no repository", async () => {
  const bare = temporaryFolder();
  expect(await noCommitsReason(bare)).toBe(
    "Nothing is committed, because this folder is not in a git repository; 'research-ralph init' creates one, --no-git turns commits off.",
  );
  expect(await noCommitsReason(bare, { hasRun: true })).toBeUndefined();
  expect(await noCommitsReason(repository())).toBeUndefined();
  expect(await noCommitsReason(join(bare, "gone"))).toBeUndefined();
});
