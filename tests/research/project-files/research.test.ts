import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { readResearch } from "../../../src/research/project-files/research.js";
import {
  acceptance,
  open,
  paperOf,
  pendingPaper,
  read,
  readRrd,
  researchFolder,
  sampleRrd,
  type Told,
  writeRrd,
} from "../../support/folders.js";
import { temporaryName } from "../../../src/engine/storage/atomic-file.js";
import { hastenDates } from "../../support/clock.js";

const count = (text: string, part: string) => text.split(part).length - 1;

describe("a fold", () => {
  it("leaves record, insight, log entry and ledger line, with the derived part made from them", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    await research.load();
    await research.fold({ ...acceptance(1), files: [{ name: "research-report.md", text: "# Report\n" }] });

    const rrd = readRrd(folder);
    expect(paperOf(rrd, "sample_1")).toMatchObject({ status: "presented", score: 30, title: "Sample 1", iteration: 1 });
    expect(rrd.insights).toEqual([{ id: "insight_1", paper_id: "sample_1", insight: "Found in 1", tags: [] }]);
    expect(rrd.visited_urls).toEqual(["https://example.org/sample_1"]);
    expect(rrd.statistics).toEqual({ total_analyzed: 1, lines: 1 });
    expect(rrd.custom).toEqual({ kept: true });
    expect(read(folder, "progress.txt")).toContain("Paper: sample_1");
    expect(JSON.parse(read(folder, "ledger.jsonl"))).toMatchObject({
      iteration: 1,
      unit: "sample_1",
      outcome: "accepted",
    });
    expect(read(folder, "research-report.md")).toBe("# Report\n");
  });

  it("that is made twice counts once", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    await research.fold(acceptance(1));
    const before = readRrd(folder);
    await research.fold(acceptance(1));
    expect(readRrd(folder)).toEqual(before);
    expect(count(read(folder, "ledger.jsonl"), "\n")).toBe(1);
    expect(count(read(folder, "progress.txt"), "Paper:")).toBe(1);
  });

  it("gives each iteration a number above all before, also after reopening", async () => {
    const folder = researchFolder();
    const first = await open(folder);
    expect(first.nextIteration()).toBe(1);
    await first.fold(acceptance(1));
    expect(first.nextIteration()).toBe(2);
    await first.close();
    expect((await open(folder)).nextIteration()).toBe(2);
  });

  it("that our own code would make invalid is a bug, and nothing is written", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    const before = read(folder, "rrd.json");
    const fold = {
      ...acceptance(1),
      changes: [{ in: "papers_pool" as const, id: "sample_1", set: { status: "read" } }],
    };
    await expect(research.fold(fold)).rejects.toThrow(/would make rrd.json invalid/);
    expect(read(folder, "rrd.json")).toBe(before);
    expect(existsSync(join(folder, "ledger.jsonl"))).toBe(false);
    expect(readdirSync(join(folder, ".ralph/journal"))).toEqual(["done"]);
  });

  it("works when .ralph was deleted during the run", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    await research.fold(acceptance(1));
    rmSync(join(folder, ".ralph"), { recursive: true });
    await research.load();
    await research.fold(acceptance(2));
    expect(paperOf(readRrd(folder), "sample_2")?.status).toBe("presented");
  });
});

describe("a hand edit during a run", () => {
  it("stays in the field it changed, and is told; the other fields are folded in", async () => {
    const folder = researchFolder();
    const told: Told[] = [];
    const research = await open(folder, { told });
    await research.load();
    const rrd = readRrd(folder);
    const edited = {
      ...rrd,
      papers_pool: rrd.papers_pool.map((p) => (p.id === "sample_1" ? { ...p, score: 12, mine: "note" } : p)),
      description: "By hand",
    };
    writeRrd(folder, edited);
    await research.fold(acceptance(1));

    const after = readRrd(folder);
    expect(paperOf(after, "sample_1")).toMatchObject({ score: 12, mine: "note", status: "presented" });
    expect(after.description).toBe("By hand");
    expect(told).toEqual([
      { level: "warning", message: "You changed score of sample_1 during the run; your version stays." },
    ]);
  });

  it("that adds or removes pending papers stays", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    await research.load();
    const rrd = readRrd(folder);
    writeRrd(folder, {
      ...rrd,
      papers_pool: [...rrd.papers_pool.filter(({ id }) => id !== "sample_3"), pendingPaper(9)],
    });
    await research.fold(acceptance(1));
    expect(readRrd(folder).papers_pool.map(({ id }) => id)).toEqual([
      "sample_1",
      "sample_2",
      "sample_4",
      "sample_5",
      "sample_9",
    ]);
  });

  it("that breaks the file costs nothing: the file stays as it is, and the fold is made up for once it is mended", async () => {
    const folder = researchFolder();
    const told: Told[] = [];
    const research = await open(folder, { told });
    const { rrd } = await research.load();
    const broken = '{ "project": "half }';
    writeFileSync(join(folder, "rrd.json"), broken);
    const failure = await research.fold(acceptance(1)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ExpectedError);
    expect((failure as Error).message).toMatch(/rrd\.json:1:14: a string begins here/);
    expect((failure as Error).message).toContain("restore the last good version with");
    expect((failure as Error).message).toContain(`research-ralph reset ${folder} --to 1`);
    expect(read(folder, "rrd.json")).toBe(broken);
    await expect(research.load()).rejects.toBeInstanceOf(ExpectedError);
    // A second iteration in flight is kept as well.
    await expect(research.fold(acceptance(2))).rejects.toBeInstanceOf(ExpectedError);

    writeRrd(folder, rrd);
    const { rrd: mended, ledger } = await research.load();
    expect(paperOf(mended, "sample_1")?.status).toBe("presented");
    expect(paperOf(mended, "sample_2")?.status).toBe("presented");
    expect(ledger.map(({ iteration }) => iteration)).toEqual([1, 2]);
  });

  it("is seen by the next load even when size and time of the file are the same", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    await research.load();
    const path = join(folder, "rrd.json");
    const { atime, mtime } = statSync(path);
    utimesSync(path, atime, mtime);
    await research.load();
    // Long after the file was read, as an editor that keeps the time may save it.
    await sleep(50);
    await research.load();
    writeFileSync(path, read(folder, "rrd.json").replace("Sample 1", "Simple 1"));
    utimesSync(path, atime, mtime);
    expect((await research.load()).rrd.papers_pool[0]?.title).toBe("Simple 1");
  });
});

describe("a fold that was interrupted", () => {
  // A folder in the place of a file stops a fold at just that step, as a kill would.
  const obstacles = {
    "after the journal": "rrd.json",
    "after rrd.json": "progress.txt",
    "after progress.txt": "ledger.jsonl",
    "after the ledger": "research-report.md",
  };

  for (const [when, name] of Object.entries(obstacles)) {
    it(`${when} is completed at the next start, and nothing is there twice`, async () => {
      const folder = researchFolder();
      const research = await open(folder);
      const { rrd } = await research.load();
      const path = join(folder, name);
      if (name === "rrd.json") rmSync(path);
      mkdirSync(path);
      const fold = { ...acceptance(1), files: [{ name: "research-report.md", text: "# Report\n" }] };
      await expect(research.fold(fold)).rejects.toBeInstanceOf(ExpectedError);
      await research.close();
      rmdirSync(path);
      if (name === "rrd.json") writeRrd(folder, rrd);

      const told: Told[] = [];
      const again = await open(folder, { told });
      const state = await again.load();
      expect(told.map(({ message }) => message)).toEqual([
        "Iteration 1 was interrupted while it was saved; it is complete now.",
      ]);
      expect(paperOf(state.rrd, "sample_1")?.status).toBe("presented");
      expect(state.rrd.insights).toHaveLength(1);
      expect(state.rrd.statistics).toEqual({ total_analyzed: 1, lines: 1 });
      expect(count(read(folder, "progress.txt"), "Paper: sample_1")).toBe(1);
      expect(count(read(folder, "ledger.jsonl"), "\n")).toBe(1);
      expect(read(folder, "research-report.md")).toBe("# Report\n");
      expect(readdirSync(join(folder, ".ralph/journal"))).toEqual(["done"]);
    });
  }

  it("after the ledger does not touch rrd.json again, so a hand edit made since stays", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    mkdirSync(join(folder, "research-report.md"));
    await expect(
      research.fold({ ...acceptance(1), files: [{ name: "research-report.md", text: "# Report\n" }] }),
    ).rejects.toThrow();
    await research.close();
    rmdirSync(join(folder, "research-report.md"));
    const rrd = readRrd(folder);
    writeRrd(folder, { ...rrd, insights: [] });
    await open(folder);
    expect(readRrd(folder).insights).toEqual([]);
    expect(read(folder, "research-report.md")).toBe("# Report\n");
  });

  it("leaves temporary files, which the next start sweeps", async () => {
    const folder = researchFolder();
    const text = temporaryName(join(folder, ".ralph/texts/p1.json"));
    mkdirSync(dirname(text), { recursive: true });
    for (const path of [join(folder, ".rrd.json.0123456789ab.ralph-tmp"), text]) writeFileSync(path, "half");
    await open(folder);
    expect(readdirSync(folder).toSorted()).toEqual([".ralph", "rrd.json"]);
    expect(readdirSync(dirname(text))).toEqual([]);
  });

  it("whose journal entry can't be read is set aside and told", async () => {
    const folder = researchFolder();
    mkdirSync(join(folder, ".ralph/journal"), { recursive: true });
    writeFileSync(join(folder, ".ralph/journal/7.json"), "{}");
    const told: Told[] = [];
    await open(folder, { told });
    expect(told).toEqual([
      {
        level: "warning",
        message: `A journal entry can't be used; it is kept as ${join(folder, ".ralph/journal/7.json.unusable")}.`,
      },
    ]);
  });
});

describe("a stale save", () => {
  it("from an editor does not take an accepted paper back, nor its insights; other edits in it stay", async () => {
    const folder = researchFolder();
    const told: Told[] = [];
    const research = await open(folder, { told });
    const old = readRrd(folder);
    await research.fold(acceptance(1));
    await research.fold(acceptance(2));
    writeRrd(folder, { ...old, description: "Typed for an hour" });

    const { rrd } = await research.load();
    expect(rrd.papers_pool.slice(0, 3).map(({ status }) => status)).toEqual(["presented", "presented", "pending"]);
    expect(rrd.insights?.map(({ id }) => id)).toEqual(["insight_1", "insight_2"]);
    expect(rrd.description).toBe("Typed for an hour");
    expect(rrd.statistics).toEqual({ total_analyzed: 2, lines: 2 });
    expect(readRrd(folder)).toEqual(rrd);
    expect(told.map(({ message }) => message)).toEqual([
      "rrd.json was saved from a version before sample_1 was done; its result was restored.",
      "rrd.json was saved from a version before sample_2 was done; its result was restored.",
    ]);
  });

  it("between two runs, or in the middle of an iteration, is put right as well", async () => {
    const folder = researchFolder();
    const old = readRrd(folder);
    const first = await open(folder);
    await first.fold(acceptance(1));
    await first.close();
    writeRrd(folder, { ...old, papers_pool: old.papers_pool.slice(1) });
    const second = await open(folder);
    expect(paperOf(readRrd(folder), "sample_1")).toMatchObject({ status: "presented", title: "Sample 1" });
    await second.load();
    writeRrd(folder, old);
    await second.fold(acceptance(2));
    expect(readRrd(folder).papers_pool.filter(({ status }) => status === "presented")).toHaveLength(2);
  });

  it("can't be put right without the journal: that is said once", async () => {
    const folder = researchFolder();
    const first = await open(folder);
    await first.fold(acceptance(1));
    await first.close();
    rmSync(join(folder, ".ralph"), { recursive: true });
    writeRrd(folder, sampleRrd());
    const told: Told[] = [];
    const second = await open(folder, { told });
    await second.load();
    await second.load();
    expect(told).toHaveLength(1);
    expect(told[0]?.message).toContain("sample_1");
  });
});

describe("opening a research", () => {
  it("is refused while another holds it, naming its process, and possible again after close", async () => {
    const folder = researchFolder();
    const first = await open(folder);
    await expect(open(folder)).rejects.toThrow(`is in use by process ${process.pid}`);
    await first.close();
    await open(folder);
  });

  it("without an rrd.json says so", async () => {
    const folder = researchFolder();
    rmSync(join(folder, "rrd.json"));
    hastenDates();
    await expect(open(folder)).rejects.toThrow(/There is no .*rrd\.json/);
    await expect(readResearch(folder)).rejects.toThrow(ExpectedError);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("whose rrd.json was deleted names the last good version", async () => {
    const folder = researchFolder();
    await (await open(folder)).close();
    rmSync(join(folder, "rrd.json"));
    hastenDates();
    await expect(open(folder)).rejects.toThrow(
      `copy its last good version, ${join(folder, ".ralph/rrd.last-good.json")}, there.`,
    );
  });

  it("reading alone needs no lock and leaves no trace", async () => {
    const folder = researchFolder();
    const { rrd, ledger } = await readResearch(folder);
    expect(rrd.papers_pool).toHaveLength(5);
    expect(ledger).toEqual([]);
    expect(readdirSync(folder)).toEqual(["rrd.json"]);
  });

  it.skipIf(process.getuid?.() === 0)("in a folder that can't be written is an error that says so", async () => {
    const folder = researchFolder();
    chmodSync(folder, 0o555);
    await expect(open(folder)).rejects.toThrow(/no permission/);
    chmodSync(folder, 0o755);
  });
});
