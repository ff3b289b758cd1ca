import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stateVersion } from "../../../../src/engine/storage/state/format-version.js";
import type { JournalEntry } from "../../../../src/engine/generated/journal.js";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { ExpectedError } from "../../../../src/engine/lib/errors.js";
import {
  lastJournalledIteration,
  makeJournal,
  markDone,
  pendingEntries,
  readEntry,
  setEntryAside,
  writeEntry,
} from "../../../../src/engine/storage/state/journal.js";
import { restoreStaleSaves } from "../../../support/projects/rrd-merge.js";
import { researchFormat } from "../../../../src/research/project-files/rrd-file.js";
import { paperOf, pendingPaper, read, sampleRrd, temporaryFolder } from "../../../support/folders.js";
import { journalFolder } from "../../../../src/engine/lib/layout.js";

type Change = JournalEntry["changes"][number];

const entry = (iteration: number, changes: JournalEntry["changes"] = []): JournalEntry => ({
  iteration,
  at: "2026-01-01T00:00:00.000Z",
  message: `analysis: ${iteration}`,
  changes,
  progress: null,
  ledger: { offset: 0, text: "{}\n" },
  format: stateVersion,
});
const journal = async () => {
  const folder = temporaryFolder();
  makeJournal(folder);
  return folder;
};
const inJournal = (folder: string, ...names: string[]) => join(folder, ".ralph/journal", ...names);

describe("the journal", () => {
  it("keeps an entry as it is until it has taken effect, and afterwards among those done", async () => {
    const folder = await journal();
    expect(journalFolder(folder)).toBe(inJournal(folder));
    await writeEntry(folder, entry(7));
    expect(JSON.parse(read(folder, ".ralph/journal/7.json"))).toEqual(entry(7));
    expect(pendingEntries(folder)).toEqual([7]);
    markDone(folder, 7);
    expect(pendingEntries(folder)).toEqual([]);
    expect(existsSync(inJournal(folder, "7.json"))).toBe(false);
    expect(await readEntry(folder, researchFormat, 7)).toEqual(entry(7));
    expect(lastJournalledIteration(folder)).toBe(7);
  });

  it("gives back the entry that waits before one that is done under the same number", async () => {
    const folder = await journal();
    await writeEntry(folder, entry(1));
    markDone(folder, 1);
    await writeEntry(folder, { ...entry(1), message: "again" });
    expect(await readEntry(folder, researchFormat, 1)).toMatchObject({ message: "again" });
  });

  it("lists what waits by number, and nothing that is no entry", async () => {
    const folder = await journal();
    for (const name of ["10.json", "9.json", "2.json", "3.json.unusable", "x4.json", "5.json.tmp", "readme"])
      writeFileSync(inJournal(folder, name), "{}");
    expect(pendingEntries(folder)).toEqual([2, 9, 10]);
    writeFileSync(inJournal(folder, "done", "12.json"), "{}");
    expect(lastJournalledIteration(folder)).toBe(12);
    writeFileSync(inJournal(folder, "30.json"), "{}");
    expect(lastJournalledIteration(folder)).toBe(30);
  });

  it("that is not there holds nothing", async () => {
    const folder = temporaryFolder();
    expect([
      pendingEntries(folder),
      lastJournalledIteration(folder),
      await readEntry(folder, researchFormat, 1),
    ]).toEqual([[], 0, undefined]);
    writeFileSync(join(folder, ".ralph"), "");
    expect([pendingEntries(folder), await readEntry(folder, researchFormat, 1)]).toEqual([[], undefined]);
    expect(() => makeJournal(folder)).toThrow(ExpectedError);
  });

  it("believes no entry that is torn or has another shape", async () => {
    const folder = await journal();
    writeFileSync(inJournal(folder, "1.json"), '{"iteration": 1');
    writeFileSync(inJournal(folder, "2.json"), '{"iteration": 2}');
    expect([await readEntry(folder, researchFormat, 1), await readEntry(folder, researchFormat, 2)]).toEqual([
      undefined,
      undefined,
    ]);
    // Not even where an older one of that number is done.
    writeFileSync(inJournal(folder, "done", "1.json"), JSON.stringify(entry(1)));
    expect(await readEntry(folder, researchFormat, 1)).toBeUndefined();
  });

  it("gives nobody an entry of a later format, wherever it lies, and says which file it is: a person is needed", async () => {
    const folder = await journal();
    for (const place of ["", "done"]) {
      const path = inJournal(folder, place, "3.json");
      writeFileSync(path, JSON.stringify({ ...entry(3), format: stateVersion + 1 }));
      await expect(readEntry(folder, researchFormat, 3)).rejects.toMatchObject({
        exitCode: 5,
        message: expect.stringContaining(path),
      });
      rmSync(path);
    }
  });

  it("writes no entry of ours that is wrong: that is a bug", async () => {
    const folder = await journal();
    await expect(writeEntry(folder, { ...entry(3), progress: {} } as unknown as JournalEntry)).rejects.toThrow(
      /^the journal entry 3 is not valid: .*progress/,
    );
    expect(readdirSync(inJournal(folder))).toEqual(["done"]);
  });

  it("sets an entry aside under another name and says where", async () => {
    const folder = await journal();
    writeFileSync(inJournal(folder, "4.json"), "torn");
    expect(setEntryAside(folder, 4)).toBe(inJournal(folder, "4.json.unusable"));
    expect(read(folder, ".ralph/journal/4.json.unusable")).toBe("torn");
    expect(pendingEntries(folder)).toEqual([]);
  });

  it("says in a sentence what keeps it from being read or written", async () => {
    const folder = await journal();
    mkdirSync(inJournal(folder, "5.json"));
    await expect(readEntry(folder, researchFormat, 5)).rejects.toBeInstanceOf(ExpectedError);
    expect(() => markDone(folder, 6)).toThrow(ExpectedError);
    expect(() => setEntryAside(folder, 6)).toThrow(ExpectedError);
    const other = temporaryFolder();
    mkdirSync(join(other, ".ralph"));
    symlinkSync("journal", join(other, ".ralph/journal"));
    expect(() => pendingEntries(other)).toThrow(ExpectedError);
  });
});

describe("a version of rrd.json from before a paper was done", () => {
  const line = (iteration: number, unit: string, over: Partial<LedgerLine> = {}): LedgerLine => ({
    iteration,
    at: "2026-01-01T00:00:00.000Z",
    unit,
    phase: "ANALYSIS",
    outcome: "accepted",
    ...over,
  });
  const result = (id: string, iteration = 1): JournalEntry =>
    entry(iteration, [
      { in: "papers_pool", id, set: { status: "presented", score: 30 }, was: pendingPaper(Number(id.split("_")[1])) },
      { in: "papers_pool", id: "sample_5", set: { notes: "of another" }, was: pendingPaper(5) },
      {
        in: "insights",
        id: `insight_${iteration}`,
        set: { id: `insight_${iteration}`, paper_id: id, insight: "It works." },
        was: null,
      },
      { in: "rrd", set: { description: "mine" }, was: {} },
    ]);
  const rrd = sampleRrd();
  const restored = (lines: readonly LedgerLine[], entries: readonly JournalEntry[], state = rrd) =>
    restoreStaleSaves(state, lines, async (iteration) => entries.find((each) => each.iteration === iteration));

  it.each(["pending", "analyzing"] as const)(
    "has its result and insights back where it is %s, and nothing else of that iteration",
    async (status) => {
      const state = { ...rrd, papers_pool: rrd.papers_pool.map((paper) => ({ ...paper, status })) };
      const answer = await restored([line(1, "sample_1")], [result("sample_1")], state);
      expect(answer).toMatchObject({ restored: ["sample_1"], lost: [] });
      expect(paperOf(answer.rrd, "sample_1")).toMatchObject({ status: "presented", score: 30 });
      expect(answer.rrd.insights).toEqual([expect.objectContaining({ id: "insight_1", insight: "It works." })]);
      expect(paperOf(answer.rrd, "sample_5")?.notes).toBe("");
      expect(answer.rrd.description).toBeUndefined();
    },
  );

  it("is left alone where the paper is decided, without a look into the journal", async () => {
    const state = { ...rrd, papers_pool: [{ ...pendingPaper(1), status: "rejected" as const }] };
    const answer = await restoreStaleSaves(state, [line(1, "sample_1")], () => Promise.reject(new Error("looked")));
    expect(answer).toEqual({ rrd: state, restored: [], lost: [] });
  });

  it("has a paper back that it does not hold at all", async () => {
    const state = { ...rrd, papers_pool: [] };
    const answer = await restored([line(1, "sample_1")], [result("sample_1")], state);
    expect(answer).toMatchObject({ restored: ["sample_1"], lost: [] });
    expect(answer.rrd.papers_pool.map(({ id, status }) => [id, status])).toContainEqual(["sample_1", "presented"]);
  });

  it("of several keeps all that can be had, and names those that can't", async () => {
    const lines = [
      line(1, "sample_1"),
      line(2, "sample_2"),
      line(3, "sample_3"),
      line(4, "sample_4", { outcome: "refused" }),
    ];
    const answer = await restored(lines, [result("sample_1"), result("sample_3", 3)]);
    expect(answer).toMatchObject({ restored: ["sample_1", "sample_3"], lost: ["sample_2"] });
    expect(answer.rrd.papers_pool.map(({ status }) => status)).toEqual([
      "presented",
      "pending",
      "presented",
      "pending",
      "pending",
    ]);
  });

  it("counts a paper as lost whose entry says nothing of its status", async () => {
    const silent = entry(1, [{ in: "papers_pool", id: "sample_1", set: { notes: "x" }, was: pendingPaper(1) }]);
    expect(await restored([line(1, "sample_1")], [silent])).toEqual({ rrd, restored: [], lost: ["sample_1"] });
  });

  it("misses no unit that is no paper: a batch, the report, the ideas, a classic iteration", async () => {
    const lines = [
      line(1, "discovery-1", { phase: "DISCOVERY" }),
      line(2, "report"),
      line(3, "ideas", { phase: "IDEATION" }),
      line(4, "classic"),
      line(5, "a-later-kind"),
    ];
    expect(await restored(lines, [entry(5)])).toEqual({ rrd, restored: [], lost: [] });
    // A line that counts quotes is that of a paper.
    const evidence = { verified: 1, near: 0, not_in_text: 0, could_not_check: 0 };
    const gone = (iteration: number) => line(iteration, "gone_1", { evidence });
    expect(await restored([gone(5)], [])).toMatchObject({ lost: ["gone_1"] });
    // What counts is the line of the acceptance, not that of a try before.
    const tried = [line(1, "gone_1", { phase: "DISCOVERY", outcome: "failed" }), gone(2)];
    expect(await restored(tried, [])).toMatchObject({ lost: ["gone_1"] });
    expect(await restored(tried.toReversed(), [])).toMatchObject({ lost: ["gone_1"] });
    // One that is not there and whose entry is about other papers was none itself.
    expect(await restored([gone(2)], [result("sample_2", 2)])).toEqual({ rrd, restored: [], lost: [] });
  });

  it("counts a paper as lost whose entry is about other papers", async () => {
    expect(await restored([line(1, "sample_1")], [result("sample_2")])).toMatchObject({
      restored: [],
      lost: ["sample_1"],
    });
  });

  describe("has what the report's check found of papers back", () => {
    const read = { ...pendingPaper(1), status: "presented" as const };
    const state = { ...rrd, papers_pool: [read, pendingPaper(2)] };
    const check = { at: "2026-01-02T00:00:00.000Z", by: ["Crossref"] };
    const checked = (over: object = {}): JournalEntry =>
      entry(5, [
        {
          in: "papers_pool",
          id: "sample_1",
          set: { retracted: true, status: "rejected", updates_check: check },
          was: { ...read, ...over },
        },
      ]);
    const lines = [line(1, "sample_1"), line(5, "report")];

    it("where the file is as it was before the check", async () => {
      const answer = await restored(lines, [checked()], state);
      expect(answer).toMatchObject({ restored: ["sample_1"], lost: [] });
      expect(paperOf(answer.rrd, "sample_1")).toEqual({
        ...read,
        retracted: true,
        status: "rejected",
        updates_check: check,
      });
      const earlier = { at: "2025-01-01T00:00:00.000Z", by: [] };
      const before = { ...state, papers_pool: [{ ...read, updates_check: earlier }] } as unknown as Rrd;
      expect((await restored(lines, [checked({ updates_check: earlier })], before)).restored).toEqual(["sample_1"]);
    });

    it("once, also where the paper itself had to come back", async () => {
      const reading = {
        ...result("sample_1"),
        changes: [{ in: "papers_pool" as const, id: "sample_1", set: { status: "presented" }, was: pendingPaper(1) }],
      };
      const answer = await restored(lines, [reading, checked()], { ...rrd, papers_pool: [pendingPaper(1)] });
      expect(answer.restored).toEqual(["sample_1"]);
      expect(paperOf(answer.rrd, "sample_1")).toMatchObject({ retracted: true });
    });

    it("without a word of a paper that a person took out, where another's mark comes back", async () => {
      const both = {
        ...checked(),
        changes: [...checked().changes, { ...checked().changes[0], id: "sample_9" } as Change],
      };
      const answer = await restored(lines, [both], state);
      expect(answer.restored).toEqual(["sample_1"]);
      expect(answer.rrd.papers_pool.map(({ id }) => id)).toEqual(["sample_1", "sample_2"]);
    });

    it("but not where it stands, was checked again since, or the paper was read again after the report", async () => {
      const standing = { ...state, papers_pool: [{ ...read, updates_check: check }] } as unknown as Rrd;
      expect((await restored(lines, [checked()], standing)).restored).toEqual([]);
      expect((await restored([line(6, "sample_1"), line(5, "report")], [checked()], state)).restored).toEqual([]);
      expect((await restored([line(1, "sample_1")], [checked()], state)).restored).toEqual([]);
      expect((await restored(lines, [], state)).restored).toEqual([]);
    });

    it("and nothing of a paper that is gone, of one that it found nothing new of, or of anything but papers", async () => {
      expect(
        (await restored([line(5, "report")], [checked()], { ...state, papers_pool: [pendingPaper(2)] })).restored,
      ).toEqual([]);
      expect(
        (
          await restored(lines, [checked({ updates_check: check })], {
            ...state,
            papers_pool: [{ ...read, updates_check: check }],
          } as unknown as Rrd)
        ).restored,
      ).toEqual([]);
      const silent = entry(5, [{ in: "papers_pool", id: "sample_1", set: { notes: "x" }, was: read }]);
      expect((await restored(lines, [silent], state)).rrd).toBe(state);
      const insights = { ...state, insights: [{ id: "sample_1", insight: "x" }] };
      const other = entry(5, [
        { in: "insights", id: "sample_1", set: { updates_check: check }, was: { id: "sample_1", insight: "x" } },
      ]);
      expect((await restored(lines, [other], insights)).rrd).toBe(insights);
    });
  });
});
