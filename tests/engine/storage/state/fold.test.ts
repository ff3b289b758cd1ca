import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../../../src/engine/generated/journal.js";
import { ExpectedError } from "../../../../src/engine/lib/errors.js";
import { makeJournal, writeEntry } from "../../../../src/engine/storage/state/journal.js";
import { openRecordStore } from "../../../../src/engine/storage/state/record-store.js";
import { openResearch, readResearch } from "../../../../src/research/project-files/research.js";
import { researchFormat } from "../../../../src/research/project-files/rrd-file.js";
import { openWriter } from "../../../../src/engine/storage/state/fold.js";
import {
  acceptance,
  derive,
  open,
  paperOf,
  pendingPaper,
  read,
  readRrd,
  researchFolder,
  sampleRrd,
  type Told,
  writeRrd,
} from "../../../support/folders.js";

/** A writer with checkpoints that only note what they are asked. */
async function writer(folder = researchFolder()) {
  await makeJournal(folder);
  const told: Told[] = [];
  const commits: [string, boolean?][] = [];
  const checkpoints = {
    commit: async (message: string, later?: boolean) =>
      void commits.push(later === undefined ? [message] : [message, later]),
    announce: async () => undefined,
    finish: async () => undefined,
  };
  const opened = await openWriter(
    folder,
    researchFormat,
    { derive, notify: (level, message) => void told.push({ level, message }) },
    checkpoints,
  );
  return { folder, told, commits, ...opened };
}

const entryOf = (iteration: number, over: Partial<JournalEntry> = {}): JournalEntry => {
  const { changes, ledger, message, at } = acceptance(iteration);
  const whole = changes.map((change) => ({
    ...change,
    was: change.in === "papers_pool" ? pendingPaper(iteration) : change.in === "rrd" ? {} : null,
  }));
  return {
    iteration,
    at,
    message,
    changes: whole as JournalEntry["changes"],
    progress: null,
    ledger: { offset: 0, text: `${JSON.stringify(ledger)}\n` },
    ...over,
  };
};
const journalled = (folder: string) => readdirSync(join(folder, ".ralph/journal")).filter((name) => name !== "done");

describe("an iteration that is folded in", () => {
  it("is a checkpoint under its message, put off where that was asked", async () => {
    const { fold, load, commits } = await writer();
    await load();
    await fold(acceptance(1));
    await fold({ ...acceptance(2), commitsLater: true });
    expect(commits).toEqual([["analysis: sample_1 (presented)"], ["analysis: sample_2 (presented)", true]]);
  });

  it("a second time changes nothing and is no checkpoint", async () => {
    const { fold, load, commits, folder } = await writer();
    await load();
    await fold(acceptance(1));
    const before = read(folder, "rrd.json");
    await fold({ ...acceptance(1), changes: [{ in: "rrd", set: { description: "again" } }] });
    expect([commits.length, read(folder, "rrd.json"), journalled(folder)]).toEqual([1, before, []]);
  });

  it("without a word for the log leaves the log alone", async () => {
    const { fold, load, folder } = await writer();
    await load();
    const { progress: _, ...silent } = acceptance(1);
    await fold(silent);
    expect(existsSync(join(folder, "progress.txt"))).toBe(false);
    expect(JSON.parse(read(folder, ".ralph/journal/done/1.json"))).toMatchObject({ progress: null });
    await fold({ ...acceptance(2), files: [{ name: "research-report.md", text: "# Report\n" }] });
    expect(JSON.parse(read(folder, ".ralph/journal/done/2.json"))).toMatchObject({
      progress: { offset: 0 },
      ledger: { offset: Buffer.byteLength(read(folder, "ledger.jsonl").split("\n")[0] ?? "") + 1 },
      files: [{ name: "research-report.md", text: "# Report\n" }],
    });
  });

  it("adds its lines to other logs of the folder, once", async () => {
    const { fold, load, folder } = await writer();
    await load();
    const lines = ["one", "two"].map((query) => ({ name: "queries.jsonl", text: `{"query":"${query}"}\n` }));
    await fold({ ...acceptance(1), appends: lines });
    const [first, second] = lines.map(({ text }) => text);
    expect(read(folder, "queries.jsonl")).toBe(`${first}${second}`);
    // As a kill leaves it between the first line and the second.
    renameSync(join(folder, ".ralph/journal/done/1.json"), join(folder, ".ralph/journal/1.json"));
    writeFileSync(join(folder, "queries.jsonl"), first ?? "");
    await (await writer(folder)).load();
    expect(read(folder, "queries.jsonl")).toBe(`${first}${second}`);
  });

  it("keeps a document that a person edited beside the new one, and says so", async () => {
    const { fold, load, folder, told } = await writer();
    await load();
    const files = (text: string) => [{ name: "research-report.md", text }];
    await fold({ ...acceptance(1), files: files("one") });
    writeFileSync(join(folder, "research-report.md"), "mine");
    await fold({ ...acceptance(2), files: files("two") });
    const copy = readdirSync(folder).find((name) => name.includes(".edited-")) ?? "";
    expect([read(folder, copy), read(folder, "research-report.md")]).toEqual(["mine", "two"]);
    expect(told).toMatchObject([{ level: "warning", message: expect.stringContaining(copy) }]);
  });

  it("has its number in the ledger, whatever its line says", async () => {
    const { fold, load, folder } = await writer();
    await load();
    const { ledger, ...rest } = acceptance(1);
    await fold({ ...rest, ledger: { ...ledger, iteration: 99 } });
    expect(JSON.parse(read(folder, "ledger.jsonl"))).toMatchObject({ iteration: 1 });
  });

  it("puts its record back that a person removed meanwhile where it was accepted, and else leaves it out", async () => {
    const { fold, load, folder, told } = await writer();
    await load();
    const remove = (gone: string) => {
      const rrd = readRrd(folder);
      writeRrd(folder, { ...rrd, papers_pool: rrd.papers_pool.filter(({ id }) => id !== gone) });
    };
    remove("sample_1");
    await fold(acceptance(1));
    remove("sample_2");
    const { ledger, changes, ...refused } = acceptance(2);
    await fold({ ...refused, changes: changes.slice(0, 1), ledger: { ...ledger, outcome: "refused" } });
    const papers = readRrd(folder).papers_pool;
    expect(papers.map(({ id }) => id)).toEqual(["sample_3", "sample_4", "sample_5", "sample_1"]);
    expect(told.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      expect.stringMatching(/^warning: sample_1 was removed .*; it was restored\./),
      "warning: sample_2 was removed from rrd.json by hand and stays removed.",
    ]);
  });

  it("before anything was loaded is a bug of ours", async () => {
    const { fold } = await writer();
    await expect(fold(acceptance(1))).rejects.toThrow("a fold before the first load");
  });

  it("that would make the file invalid is a bug of ours, and leaves no entry", async () => {
    const { fold, load, folder } = await writer();
    await load();
    for (const change of [
      { in: "rrd", set: { phase: "NOWHERE" } },
      { in: "papers_pool", id: "sample_1", set: { status: "lost" } },
    ])
      await expect(fold({ ...acceptance(1), changes: [change] })).rejects.toThrow(
        "the fold of iteration 1 would make rrd.json invalid",
      );
    expect(journalled(folder)).toEqual([]);
  });

  it("over a file that a person broke waits in the journal, is no checkpoint, and keeps its number", async () => {
    const { fold, load, commits, folder, nextIteration } = await writer();
    await load();
    writeFileSync(join(folder, "rrd.json"), "{ broken }");
    const failed: unknown = await fold(acceptance(7)).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ExpectedError);
    // The way back that it names keeps this iteration.
    expect((failed as Error).message).toContain("--to 7'");
    expect([commits, journalled(folder), nextIteration()]).toEqual([[], ["7.json"], 8]);
    // The next one too, before which the one that waits can't be made up for.
    await expect(fold(acceptance(8))).rejects.toBeInstanceOf(ExpectedError);
    expect([commits, journalled(folder), nextIteration()]).toEqual([[], ["7.json", "8.json"], 9]);
    expect(existsSync(join(folder, "ledger.jsonl"))).toBe(false);
  });

  it("makes up first for those that wait, so that no line takes another's place", async () => {
    const { fold, load, folder } = await writer();
    await load();
    const whole = read(folder, "rrd.json");
    writeFileSync(join(folder, "rrd.json"), "{ broken }");
    await expect(fold(acceptance(1))).rejects.toBeInstanceOf(ExpectedError);
    writeFileSync(join(folder, "rrd.json"), whole);
    await fold(acceptance(2));
    expect(journalled(folder)).toEqual([]);
    const lines = read(folder, "ledger.jsonl").trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).iteration)).toEqual([1, 2]);
    expect(readRrd(folder).statistics).toEqual({ total_analyzed: 2, lines: 2 });
  });

  it("meets a bug below it as a bug", async () => {
    const folder = researchFolder();
    await makeJournal(folder);
    let broken = false;
    const failing = (...given: Parameters<typeof derive>) => {
      if (broken) throw new TypeError("ours");
      return derive(...given);
    };
    const { load, fold } = await openWriter(
      folder,
      researchFormat,
      { derive: failing, notify: () => undefined },
      undefined,
    );
    await load();
    broken = true;
    await expect(fold(acceptance(1))).rejects.toThrow("ours");
    expect(journalled(folder)).toEqual([]);
  });
});

describe("an interrupted iteration", () => {
  it("is made up for under its own message, several as one commit that names them, and the person told", async () => {
    const folder = researchFolder();
    await makeJournal(folder);
    await writeEntry(folder, entryOf(2));
    await writeEntry(folder, entryOf(10));
    writeRrd(folder, sampleRrd(10));
    const { load, commits, told } = await writer(folder);
    await load();
    expect(commits).toEqual([
      ["2 iterations\n\n#2 analysis: sample_2 (presented)\n#10 analysis: sample_10 (presented)\n"],
    ]);
    await writeEntry(folder, entryOf(3));
    await load();
    expect(commits.slice(1)).toEqual([["analysis: sample_3 (presented)"]]);
    expect(told.splice(2)).toHaveLength(1);
    expect(told).toEqual(
      [2, 10].map((n) => ({
        level: "info",
        message: `Iteration ${n} was interrupted while it was saved; it is complete now.`,
      })),
    );
  });

  it("whose state file was written before the kill changes nothing of it, and is no edit of a person's", async () => {
    const folder = researchFolder();
    await makeJournal(folder);
    const said: string[] = [];
    // What follows from the records: a key of each, and a count.
    const opened = () =>
      openWriter(
        folder,
        researchFormat,
        {
          derive: (rrd) => ({
            ...rrd,
            excluded: (rrd.excluded ?? []).map((one) => ({ ...one, key: `key of ${one.id}` })),
            statistics: { ...rrd.statistics, total_discovered: rrd.papers_pool.length },
          }),
          notify: (_, message) => void said.push(message),
        },
        undefined,
      );
    const { load, fold } = await opened();
    await load();
    const excluded = [{ id: "x1", title: "Mice", reason: "mice", stage: "screened" }];
    const statistics = { total_discovered: 99 };
    const { ledger, ...rest } = acceptance(1);
    const changes = [{ in: "rrd", set: { statistics }, add: { excluded } }];
    await fold({ ...rest, changes, ledger: { ...ledger, unit: "discovery-1" } });
    const written = readRrd(folder);
    expect(written.excluded).toMatchObject([{ id: "x1", key: "key of x1" }]);
    // As a kill leaves it right after rrd.json was written.
    renameSync(join(folder, ".ralph/journal/done/1.json"), join(folder, ".ralph/journal/1.json"));
    rmSync(join(folder, "ledger.jsonl"));
    await (await opened()).load();
    expect(readRrd(folder)).toEqual(written);
    expect(said).toEqual(["Iteration 1 was interrupted while it was saved; it is complete now."]);
  });

  it("whose changes would make the file invalid is set aside, and the others are made up for", async () => {
    const folder = researchFolder();
    await makeJournal(folder);
    const invalid = { changes: [{ in: "rrd", set: { phase: "NOWHERE" }, was: { phase: "ANALYSIS" } }] };
    await writeEntry(folder, entryOf(1, invalid));
    await writeEntry(folder, entryOf(2));
    const { load, told, commits } = await writer(folder);
    await load();
    expect(journalled(folder)).toEqual(["1.json.unusable"]);
    expect(told[0]).toEqual({
      level: "warning",
      message: `A journal entry can't be used; it is kept as ${join(folder, ".ralph/journal/1.json.unusable")}.`,
    });
    expect(commits).toHaveLength(1);
    expect(paperOf(readRrd(folder), "sample_2")?.status).toBe("presented");
    await writeEntry(folder, entryOf(3, invalid));
    await load();
    expect([journalled(folder).length, commits.length]).toEqual([2, 1]);
  });

  it("that was a reset takes its paper for no stale save: it is unread on purpose", async () => {
    const { folder, load, fold } = await writer();
    await load();
    await fold(acceptance(1));
    const reset = { iteration: 2, at: acceptance(2).at, unit: "sample_1", phase: "ANALYSIS", outcome: "reset" };
    const offset = Buffer.byteLength(read(folder, "ledger.jsonl"));
    const changes = [
      {
        in: "papers_pool" as const,
        id: "sample_1",
        set: { status: "pending" },
        was: paperOf(readRrd(folder), "sample_1") ?? {},
      },
    ];
    await writeEntry(folder, entryOf(2, { changes, ledger: { offset, text: `${JSON.stringify(reset)}\n` } }));
    // As a kill leaves it right after rrd.json was written.
    const rrd = readRrd(folder);
    writeRrd(folder, {
      ...rrd,
      papers_pool: rrd.papers_pool.map((each) => (each.id === "sample_1" ? { ...each, status: "pending" } : each)),
    });
    const again = await writer(folder);
    await again.load();
    expect(paperOf(readRrd(folder), "sample_1")?.status).toBe("pending");
    expect(again.told.map(({ message }) => message)).toEqual([
      "Iteration 2 was interrupted while it was saved; it is complete now.",
    ]);
  });

  it("that is older than what was done since writes no document over a newer one", async () => {
    const folder = researchFolder();
    await makeJournal(folder);
    const files = [{ name: "research-report.md", text: "old" }];
    await writeEntry(folder, entryOf(1, { files }));
    writeFileSync(join(folder, "ledger.jsonl"), `${JSON.stringify({ ...acceptance(2).ledger, outcome: "refused" })}\n`);
    await (await writer(folder)).load();
    expect(existsSync(join(folder, "research-report.md"))).toBe(false);
    await writeEntry(folder, entryOf(3, { files }));
    await (await writer(folder)).load();
    expect(read(folder, "research-report.md")).toBe("old");
  });

  it("whose line is in the ledger already still writes its documents: the kill came between the two", async () => {
    const folder = researchFolder();
    await makeJournal(folder);
    await writeEntry(folder, entryOf(1, { files: [{ name: "research-report.md", text: "new" }] }));
    writeFileSync(join(folder, "ledger.jsonl"), `${JSON.stringify(acceptance(1).ledger)}\n`);
    await (await writer(folder)).load();
    expect([read(folder, "research-report.md"), journalled(folder)]).toEqual(["new", []]);
    // And is no second iteration.
    expect(readRrd(folder).statistics).toEqual({ total_analyzed: 1, lines: 1 });
  });
});

describe("numbers of iterations", () => {
  it("are above all that were given, folded or journalled, also by an earlier run", async () => {
    const folder = researchFolder();
    await makeJournal(folder);
    await writeEntry(folder, entryOf(4));
    expect((await writer(folder)).nextIteration()).toBe(5);
    writeFileSync(join(folder, "ledger.jsonl"), `${JSON.stringify({ ...acceptance(9).ledger, outcome: "refused" })}\n`);
    const { load, fold, nextIteration } = await writer(folder);
    await load();
    expect([nextIteration(), nextIteration()]).toEqual([10, 11]);
    await fold(acceptance(3));
    expect(nextIteration()).toBe(12);
    await fold({ ...acceptance(5), iteration: 20 });
    expect(nextIteration()).toBe(21);
  });
});

describe("what stands in rrd.json", () => {
  it("is written only where something is to be changed", async () => {
    const folder = researchFolder();
    const text = read(folder, "rrd.json");
    await (await open(folder)).load();
    expect(read(folder, "rrd.json")).toBe(text);
    expect(read(folder, ".ralph/rrd.last-good.json")).toBe(text);
  });

  it("is derived anew where the file was saved from before the last iteration, and otherwise a person's to set", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    await research.fold(acceptance(1));
    await research.fold(acceptance(2));
    const statistics = { total_analyzed: 0, lines: 0 };
    const after = readRrd(folder);
    writeRrd(folder, { ...after, statistics, loop: { iteration: 2 } });
    expect((await research.load()).rrd.statistics).toEqual(statistics);
    writeRrd(folder, { ...after, statistics });
    expect((await research.load()).rrd.statistics).toEqual(statistics);
    writeRrd(folder, { ...after, statistics, loop: { iteration: 1 } });
    expect((await research.load()).rrd.statistics).toEqual({ total_analyzed: 2, lines: 2 });
    expect(readRrd(folder).statistics).toEqual({ total_analyzed: 2, lines: 2 });
  });

  it("has a paper pending again that a reset takes back, and not its old result", async () => {
    const folder = researchFolder();
    const told: Told[] = [];
    const research = await open(folder, { told });
    await research.fold(acceptance(1));
    const { at } = acceptance(2);
    await research.fold({
      iteration: 2,
      at,
      message: "reset",
      changes: [{ in: "papers_pool", id: "sample_1", set: { status: "pending", score: null } }],
      ledger: { iteration: 2, at, unit: "sample_1", phase: "ANALYSIS", outcome: "reset" },
    });
    expect(paperOf(readRrd(folder), "sample_1")?.status).toBe("pending");
    expect(paperOf((await research.load()).rrd, "sample_1")?.status).toBe("pending");
    expect(told).toEqual([]);
    // A reset to the time before that one takes it back; nobody saved an old version.
    const ledger = { iteration: 3, at, unit: "reset", phase: "ANALYSIS", outcome: "reset" as const, to: 1 };
    await research.fold({ iteration: 3, at, message: "reset", changes: [], ledger });
    expect(paperOf(readRrd(folder), "sample_1")?.status).toBe("presented");
    expect(told.map(({ message }) => message)).toEqual(["The result of sample_1 was restored."]);
  });

  it("is done again where the ledger alone says that it was done, which is told once", async () => {
    const folder = researchFolder();
    writeFileSync(
      join(folder, "ledger.jsonl"),
      [1, 2].map((iteration) => `${JSON.stringify(acceptance(iteration).ledger)}\n`).join(""),
    );
    const { load, told } = await writer(folder);
    await load();
    await load();
    expect(readRrd(folder).papers_pool.map(({ status }) => status)).toEqual(Array(5).fill("pending"));
    const gone = "is done, rrd.json does not, and the journal that could restore it is gone; it will be done again.";
    expect(told).toEqual(
      ["sample_1", "sample_2"].map((id) => ({ level: "warning", message: `The ledger says that ${id} ${gone}` })),
    );
  });

  it("by an edit is checked, derived and kept as the last good version, and is no checkpoint", async () => {
    const { edit, load, folder, commits } = await writer();
    await load();
    const before = read(folder, "rrd.json");
    await expect(edit((rrd) => ({ ...rrd, phase: "NOWHERE" as never }))).rejects.toThrow(
      "the edit would make rrd.json invalid",
    );
    expect(read(folder, "rrd.json")).toBe(before);
    const edited = await edit((rrd) => ({ ...rrd, description: "mine" }));
    expect(edited).toMatchObject({ description: "mine", statistics: { total_analyzed: 0, lines: 0 } });
    expect(readRrd(folder)).toEqual(edited);
    expect(read(folder, ".ralph/rrd.last-good.json")).toBe(read(folder, "rrd.json"));
    expect(commits).toEqual([]);
  });

  it("that nobody reads of the ledger is told once, with its place", async () => {
    const folder = researchFolder();
    writeFileSync(join(folder, "ledger.jsonl"), "torn\n{}\n");
    const told: Told[] = [];
    const research = await open(folder, { told });
    await research.load();
    expect(told.every(({ level }) => level === "warning")).toBe(true);
    expect(told.map(({ message }) => /ledger\.jsonl:(\d)/.exec(message)?.[1])).toEqual(["1", "2"]);
  });
});

describe("opening a research", () => {
  it("keeps what is hidden out of the repository, and what a person wrote there", async () => {
    const folder = researchFolder();
    await (await open(folder)).close();
    expect(read(folder, ".ralph/.gitignore")).toBe("*\n");
    writeFileSync(join(folder, ".ralph/.gitignore"), "mine\n");
    await (await open(folder)).close();
    expect(read(folder, ".ralph/.gitignore")).toBe("mine\n");
  });

  it("sweeps what writes left anywhere in it", async () => {
    const folder = researchFolder();
    const places = [folder, join(folder, ".ralph"), join(folder, ".ralph/journal"), join(folder, ".ralph/texts")];
    for (const place of places) {
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, ".x.json.0123456789ab.ralph-tmp"), "half");
    }
    await open(folder);
    for (const place of places) expect(readdirSync(place).filter((name) => name.endsWith("ralph-tmp"))).toEqual([]);
  });

  it("that fails gives the lock back", async () => {
    const folder = researchFolder();
    writeFileSync(join(folder, "rrd.json"), '{"project": 1}');
    await expect(open(folder)).rejects.toBeInstanceOf(ExpectedError);
    expect(existsSync(join(folder, ".ralph/lock"))).toBe(false);
    const options = { derive, git: false, notify: () => undefined };
    writeRrd(folder, sampleRrd());
    await expect(
      openRecordStore(folder, researchFormat, options, () => Promise.reject(new TypeError("ours"))),
    ).rejects.toThrow("ours");
    expect(existsSync(join(folder, ".ralph/lock"))).toBe(false);
  });

  it("prepares under the lock, before anything is read", async () => {
    const folder = researchFolder();
    writeFileSync(join(folder, "rrd.json"), "broken");
    const research = await openRecordStore(
      folder,
      researchFormat,
      { derive, git: false, notify: () => undefined },
      async () => {
        expect(existsSync(join(folder, ".ralph/lock"))).toBe(true);
        writeRrd(folder, sampleRrd());
      },
    );
    expect(research.folder).toBe(folder);
    await research.close();
    expect(existsSync(join(folder, ".ralph/lock"))).toBe(false);
  });

  it("of a wrong path makes no folder there", async () => {
    const folder = researchFolder();
    rmSync(join(folder, "rrd.json"));
    await expect(openResearch(folder, { derive, git: false, notify: () => undefined })).rejects.toBeInstanceOf(
      ExpectedError,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is told of by its folder where another holds it", async () => {
    const folder = researchFolder();
    await open(folder);
    await expect(open(folder)).rejects.toThrow(`The project ${folder} is in use`);
  });
});

describe("a research whose lock went during the run", () => {
  const other = { pid: 1, host: `not-${hostname()}`, token: "far" };

  it.each(["load", "edit", "fold"] as const)("is not touched by %s where another has it by now", async (what) => {
    const folder = researchFolder();
    const research = await open(folder);
    writeFileSync(join(folder, ".ralph/lock"), JSON.stringify(other));
    const before = read(folder, "rrd.json");
    const done =
      what === "load"
        ? research.load()
        : what === "edit"
          ? research.edit((rrd) => ({ ...rrd, description: "x" }))
          : research.fold(acceptance(1));
    await expect(done).rejects.toThrow(`on the machine ${other.host}`);
    expect([read(folder, "rrd.json"), journalled(folder)]).toEqual([before, []]);
  });

  it("is taken again where nobody has it", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    rmSync(join(folder, ".ralph"), { recursive: true });
    await research.edit((rrd) => ({ ...rrd, description: "x" }));
    expect(JSON.parse(read(folder, ".ralph/lock"))).toMatchObject({ pid: process.pid });
    await expect(open(folder)).rejects.toThrow("in use");
    await research.close();
    expect(existsSync(join(folder, ".ralph/lock"))).toBe(false);
  });

  it("is not made anew where the whole folder is gone", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    rmSync(folder, { recursive: true });
    await expect(research.load()).rejects.toThrow(`The project folder ${folder} is gone`);
    expect(existsSync(folder)).toBe(false);
  });
});

it("reading a research names what is wrong with its file", async () => {
  const folder = researchFolder();
  writeRrd(folder, { ...sampleRrd(), phase: "NOWHERE" });
  await expect(readResearch(folder)).rejects.toThrow(/rrd\.json is not valid: line \d+, \/phase must be one of/);
});
