import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { stateVersion } from "../../../../src/engine/storage/state/format-version.js";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import { ExpectedError } from "../../../../src/engine/lib/errors.js";
import { makeJournal, readEntry, writeEntry } from "../../../../src/engine/storage/state/journal.js";
import { openRecordStore, readRecords } from "../../../../src/engine/storage/state/record-store.js";
import { resetRecords, stateBefore } from "../../../../src/engine/storage/state/reset.js";
import type { Fold } from "../../../../src/engine/storage/state/fold.js";
import { git, repository, temporaryFolder } from "../../../support/folders.js";
import { type Task, taskFormat } from "../../../support/projects/task-format.js";
import { hastenDates } from "../../../support/clock.js";

/** What units of a task write, none of which is reset by everything. */
const whole = { outputs: { summary: ["summary.md"] }, everything: false };

const start: Task = {
  title: "A task",
  criteria: [
    { key: "C1", status: "open" },
    { key: "C2", status: "open" },
  ],
};

/** A task's folder below `root`. */
function taskFolder(root = temporaryFolder()): string {
  const folder = join(root, "task");
  mkdirSync(folder);
  writeTask(folder, start);
  return folder;
}
const writeTask = (folder: string, task: unknown): void =>
  writeFileSync(join(folder, "task.json"), JSON.stringify(task));
const readTask = (folder: string): Task => JSON.parse(readFileSync(join(folder, "task.json"), "utf8"));
const text = (folder: string, name: string): string => readFileSync(join(folder, name), "utf8");
const statusOf = (task: Task): string[] => task.criteria.map(({ status }) => status);

const derive = (task: Task, ledger: readonly LedgerLine[]): Task =>
  ledger.length === 0
    ? task
    : { ...task, run: { ...task.run, last: Math.max(...ledger.map((line) => line.iteration)) } };

async function open(folder: string, told: string[] = [], commits = false) {
  const store = await openRecordStore(folder, taskFormat, {
    derive,
    git: commits,
    notify: (_, message) => void told.push(message),
  });
  onTestFinished(() => store.close());
  return store;
}

/** What meeting a criterion leaves. */
const met = (iteration: number, key: string, finding = "F1"): Fold => ({
  iteration,
  at: `2026-01-01T00:0${iteration}:00.000Z`,
  message: `${key}: met`,
  changes: [
    { in: "criteria", id: key, set: { status: "met" } },
    { in: "findings", id: finding, set: { criterion: key, text: `how ${key} was met` }, was: null },
    { in: "run", set: { effort: iteration } },
    { in: "task", set: {}, add: { touched: [`${key}.ts`] } },
  ],
  progress: `- ${key} is met\n`,
  ledger: { iteration, at: "2026-01-01T00:00:00.000Z", unit: key, phase: "WORK", outcome: "accepted" },
});

describe("a state of another kind than a project's", () => {
  it("is folded: its records, top level and parts, its log and its ledger", async () => {
    const folder = taskFolder();
    const store = await open(folder);
    await store.load();
    expect(store.nextIteration()).toBe(1);
    await store.fold(met(1, "C1"));
    await store.fold(met(1, "C1"));
    expect(readTask(folder)).toEqual({
      ...start,
      criteria: [
        { key: "C1", status: "met" },
        { key: "C2", status: "open" },
      ],
      findings: [{ number: "F1", criterion: "C1", text: "how C1 was met" }],
      touched: ["C1.ts"],
      run: { effort: 1, last: 1 },
      format: stateVersion,
    });
    expect(text(folder, "log.md")).toBe("- C1 is met\n");
    expect(text(folder, "ledger.jsonl").trim().split("\n")).toHaveLength(1);
    expect((await store.load()).ledger).toMatchObject([{ unit: "C1", phase: "WORK" }]);
    expect(existsSync(join(folder, ".ralph", "task.last-good.json"))).toBe(true);
  });

  it("numbers what two iterations found at the same time as its format says", async () => {
    const folder = taskFolder();
    const told: string[] = [];
    const store = await open(folder, told);
    await store.load();
    await store.fold(met(1, "C1", "F1"));
    await store.fold(met(2, "C2", "F1"));
    expect(readTask(folder).findings?.map(({ number, criterion }) => [number, criterion])).toEqual([
      ["F1", "C1"],
      ["F2", "C2"],
    ]);
    expect(told).toEqual([expect.stringContaining("finding of C2 is F2")]);
  });

  it("keeps what a person changed meanwhile, also in the record that is folded", async () => {
    const folder = taskFolder();
    const store = await open(folder);
    await store.load();
    const [first, second] = start.criteria;
    writeTask(folder, { ...start, title: "Mine", criteria: [{ ...first, note: "mine" }, second] });
    await store.fold({ ...met(1, "C1"), changes: [{ in: "criteria", id: "C1", set: { status: "met", note: "its" } }] });
    expect(readTask(folder)).toMatchObject({ title: "Mine", criteria: [{ status: "met", note: "mine" }, second] });
  });

  it("is restored where an editor saved it from before a criterion was met", async () => {
    const folder = taskFolder();
    const told: string[] = [];
    const store = await open(folder, told);
    await store.load();
    await store.fold(met(1, "C1"));
    writeTask(folder, { ...start, title: "Saved late" });
    const { state } = await store.load();
    expect([state.title, statusOf(state), state.findings?.length, state.run?.last]).toEqual([
      "Saved late",
      ["met", "open"],
      1,
      1,
    ]);
    expect(told).toEqual([expect.stringContaining("task.json was saved from a version before C1 was done")]);
  });

  it("has a mark back that a review left on a record, and not one of a record that was done since", async () => {
    const folder = taskFolder();
    const store = await open(folder);
    await store.load();
    await store.fold(met(1, "C1"));
    const before = readTask(folder);
    await store.fold({
      ...met(2, "review"),
      changes: [{ in: "criteria", id: "C1", set: { reviewed: true } }],
      ledger: { iteration: 2, at: "2026-01-01T00:00:00.000Z", unit: "review", phase: "REVIEW", outcome: "accepted" },
    });
    await store.fold(met(3, "C2", "F2"));
    writeTask(folder, { ...before, criteria: [before.criteria[0], readTask(folder).criteria[1]] });
    expect((await store.load()).state.criteria).toEqual([
      { key: "C1", status: "met", reviewed: true },
      { key: "C2", status: "met" },
    ]);
  });

  it.each(["nothing of it", "the state", "the state and the log"])(
    "is whole after a kill in the middle of a fold that had written %s",
    async (written) => {
      const folder = taskFolder();
      await makeJournal(folder);
      const { changes: _, files: __, appends: ___, ledger, progress, ...rest } = met(1, "C1");
      const [first, second] = start.criteria;
      await writeEntry(folder, {
        ...rest,
        changes: [{ in: "criteria", id: "C1", set: { status: "met" }, was: { ...first } }],
        progress: { offset: 0, text: progress ?? "" },
        ledger: { offset: 0, text: `${JSON.stringify(ledger)}\n` },
      });
      const done = {
        ...start,
        criteria: [{ ...first, status: "met" }, second],
        run: { last: 1 },
        format: stateVersion,
      };
      if (written !== "nothing of it") writeTask(folder, done);
      if (written === "the state and the log") writeFileSync(join(folder, "log.md"), "- C1 is");
      const told: string[] = [];
      const store = await open(folder, told);
      expect((await store.load()).state).toEqual(done);
      expect([text(folder, "log.md"), text(folder, "ledger.jsonl")]).toEqual([progress, `${JSON.stringify(ledger)}\n`]);
      expect(readdirSync(join(folder, ".ralph", "journal"))).toEqual(["done"]);
      expect(told).toEqual([expect.stringContaining("Iteration 1")]);
    },
  );

  it("sets an entry of the journal aside that names what its format does not have", async () => {
    const folder = taskFolder();
    await makeJournal(folder);
    const { changes: _, ledger, files: __, appends: ___, ...rest } = met(1, "C1");
    await writeEntry(folder, {
      ...rest,
      changes: [{ in: "papers_pool", id: "C1", set: {}, was: null }],
      progress: null,
      ledger: { offset: 0, text: `${JSON.stringify(ledger)}\n` },
    });
    expect(await readEntry(folder, taskFormat, 1)).toBeUndefined();
    await open(folder);
    expect([readTask(folder), existsSync(join(folder, "ledger.jsonl"))]).toEqual([start, false]);
    expect(readdirSync(join(folder, ".ralph", "journal"))).toEqual(["1.json.unusable", "done"]);
  });

  it("goes back to an iteration, its output files with it, and says so in its log", async () => {
    const folder = taskFolder();
    const store = await open(folder);
    await store.load();
    await store.fold(met(1, "C1"));
    const after = readTask(folder);
    await store.fold(met(2, "C2", "F2"));
    await store.fold({
      ...met(3, "summary"),
      changes: [],
      files: [{ name: "summary.md", text: "all met" }],
      ledger: { iteration: 3, at: "2026-01-01T00:00:00.000Z", unit: "summary", phase: "DONE", outcome: "accepted" },
    });
    await store.close();
    const done = await resetRecords(
      folder,
      taskFormat,
      async (loaded) => {
        const { state, undoneLines, missingIterations } = await stateBefore(folder, taskFormat, loaded, 1);
        expect([undoneLines.map(({ iteration }) => iteration), missingIterations]).toEqual([[2, 3], []]);
        return { newState: state, unit: "*", to: 1, sentences: ["Back to 1."] };
      },
      { derive, git: false, now: () => 0, to: 1, ...whole },
    );
    const { criteria, findings } = readTask(folder);
    expect({ criteria, findings }).toEqual({ criteria: after.criteria, findings: after.findings });
    expect([existsSync(join(folder, "summary.md")), text(folder, "log.md")]).toEqual([
      false,
      expect.stringContaining("Reset\n- Back to 1.\n- summary.md is removed.\n"),
    ]);
    expect(done).toContain("Back to 1.");
    const ledger = text(folder, "ledger.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(ledger.at(-1)).toMatchObject({ iteration: 4, outcome: "reset", to: 1, phase: "DONE" });
    const [backup = ""] = readdirSync(join(folder, ".ralph", "backups"));
    expect(readdirSync(join(folder, ".ralph", "backups", backup)).toSorted()).toEqual([
      "log.md",
      "summary.md",
      "task.json",
    ]);
  });

  it("that was broken by hand is never overwritten, and a reset puts the last good version in its place", async () => {
    const folder = taskFolder();
    const store = await open(folder);
    await store.load();
    await store.fold(met(1, "C1"));
    writeFileSync(join(folder, "task.json"), "{ broken }");
    await expect(store.load()).rejects.toThrow(`task reset ${folder} 1`);
    expect(text(folder, "task.json")).toBe("{ broken }");
    await store.close();
    await resetRecords(
      folder,
      taskFormat,
      async ({ state }) => ({ newState: state, unit: "C9", sentences: ["Again."] }),
      { derive, git: false, now: () => 0, ...whole },
    );
    expect(statusOf(readTask(folder))).toEqual(["met", "open"]);
    const broken = readdirSync(folder).find((name) => name.startsWith("task.json.broken-")) ?? "";
    expect(text(folder, broken)).toBe("{ broken }");
  });

  it("is committed under its own names", async () => {
    const root = repository();
    const folder = taskFolder(root);
    writeFileSync(join(folder, "other.md"), "a person's");
    const store = await open(folder, [], true);
    await store.load();
    await store.fold(met(1, "C1"));
    await store.close();
    expect(git(root, "log", "-1", "--format=%s", "--name-only").trim().split("\n").filter(Boolean)).toEqual([
      "C1: met",
      "task/ledger.jsonl",
      "task/log.md",
      "task/task.json",
    ]);
  });

  it("that is missing or broken is told of in its own words", async () => {
    const folder = taskFolder();
    rmSync(join(folder, "task.json"));
    hastenDates();
    await expect(readRecords(folder, taskFormat)).rejects.toThrow(/task\.json; write one\.$/);
    await expect(readRecords(join(folder, "gone"), taskFormat)).rejects.toThrow(/^The task folder/);
    writeTask(folder, { title: "x", criteria: [{ key: "C1", status: "later" }] });
    await expect(readRecords(folder, taskFormat)).rejects.toBeInstanceOf(ExpectedError);
  });
});
