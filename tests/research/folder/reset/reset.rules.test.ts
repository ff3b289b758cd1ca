import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../../../src/engine/generated/journal.js";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { ExpectedError } from "../../../../src/engine/lib/errors.js";
import { makeJournal, markDone, writeEntry } from "../../../../src/engine/storage/records/journal.js";
import { asksAgain, type ResetTarget, stateAfter } from "../../../../src/research/folder/reset/reset-targets.js";
import { pendingPaper, sampleRrd, temporaryFolder } from "../../../support/folders.js";

const line = (iteration: number, unit: string, over: Partial<LedgerLine> = {}): LedgerLine => ({
  iteration,
  at: "2026-01-01T00:00:00Z",
  unit,
  phase: "ANALYSIS",
  outcome: "accepted",
  ...over,
});
const presented = (n: number) => ({ ...pendingPaper(n), status: "presented" as const, score: 30 });
const after = (rrd: Rrd, target: ResetTarget, ledger: readonly LedgerLine[] = [], folder = "/r") =>
  stateAfter(folder, target, rrd, ledger);
const refusal = (unit: string) => ({ unit, iteration: 1, at: "2026-01-01T00:00:00Z", reasons: ["x"] });

describe("a reset of a paper", () => {
  const rrd: Rrd = {
    ...sampleRrd(2),
    papers_pool: [
      {
        ...presented(1),
        read_depth: "full",
        text_sha256: "a",
        iteration: 3,
        warnings: ["w"],
        refusals: [],
        priority: 5,
        retracted: true,
      },
      presented(2),
    ],
    insights: [1, 2, 3].map((n) => ({ id: `insight_${n}`, paper_id: n === 2 ? "sample_2" : "sample_1", insight: "x" })),
  };

  it("keeps what was known before it was read, and says how many insights go", async () => {
    const { after: state, unit, to, sentences } = await after(rrd, { paper: "sample_1" });
    expect(state.papers_pool).toEqual([
      {
        ...pendingPaper(1),
        notes: null,
        score_breakdown: null,
        analysis: null,
        decision: null,
        priority: 5,
        retracted: true,
      },
      presented(2),
    ]);
    expect(state.insights?.map(({ id }) => id)).toEqual(["insight_2"]);
    expect([unit, to]).toEqual(["sample_1", undefined]);
    expect(sentences).toEqual([
      "sample_1 is pending again; its analysis, scores, refusals and 2 insights are taken out.",
    ]);
  });

  it("of a file without insights makes none", async () => {
    const { insights: _, ...bare } = rrd;
    const { after: state, sentences } = await after(bare as Rrd, { paper: "sample_2" });
    expect(state).not.toHaveProperty("insights");
    expect(sentences[0]).toContain("0 insights");
  });

  it("that is not there says where to look", async () => {
    const failure: unknown = await after(rrd, { paper: "p9" }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ExpectedError);
    expect((failure as Error).message).toBe(
      "There is no paper p9 in /r/rrd.json; 'research-ralph status /r --papers' lists them.",
    );
    await expect(after(rrd, { paper: "ideas" })).rejects.toThrow(
      "There is no paper ideas in /r/rrd.json; '--unit ideas' is what takes it back.",
    );
  });
});

describe("a reset of everything", () => {
  it("leaves what a person set, and says how much goes", async () => {
    const rrd: Rrd = {
      ...sampleRrd(1),
      insights: [{ insight: "a" }, { insight: "b" }],
      refusals: [refusal("report")],
      excluded: [{ id: "x", reason: "off topic" }],
      mine: 1,
      timing: {},
    };
    const answer = await after(rrd, { all: true });
    const { refusals: _, excluded: __, ...kept } = rrd;
    const empty = {
      papers_pool: [],
      insights: [],
      visited_urls: [],
      blocked_sources: [],
      statistics: null,
      timing: null,
    };
    expect(answer).toEqual({
      after: { ...kept, ...empty, phase: "DISCOVERY" },
      unit: "*",
      to: 0,
      sentences: ["The research begins again: 1 paper and 2 insights are taken out."],
    });
    expect(answer.after).not.toHaveProperty("refusals");
    const { insights: ___, ...bare } = sampleRrd(2);
    expect((await after(bare as Rrd, { all: true })).sentences).toEqual([
      "The research begins again: 2 papers and 0 insights are taken out.",
    ]);
  });
});

describe("a reset of a unit that is no paper", () => {
  const of = (phase: Rrd["phase"], unit: "report" | "ideas") => after({ ...sampleRrd(1), phase }, { unit });

  it.each([
    ["DISCOVERY", "report", "DISCOVERY"],
    ["ANALYSIS", "report", "ANALYSIS"],
    ["COMPLETE", "report", "ANALYSIS"],
    ["COMPLETE", "ideas", "IDEATION"],
    ["IDEATION", "ideas", "IDEATION"],
    ["ANALYSIS", "ideas", "ANALYSIS"],
  ] as const)("in %s of the %s leads to %s", async (phase, unit, to) => {
    expect((await of(phase, unit)).after.phase).toBe(to);
  });

  it("says what is to be done again, and clears its own refusals alone", async () => {
    const rrd: Rrd = { ...sampleRrd(1), refusals: [refusal("report"), refusal("ideas")] };
    const { after: state, unit, sentences } = await after(rrd, { unit: "report" });
    expect([state.refusals, unit, sentences]).toEqual([
      [refusal("ideas")],
      "report",
      ["The report is to be written again; 1 refusal cleared."],
    ]);
    const ideas = await after({ ...rrd, refusals: [refusal("ideas")] }, { unit: "ideas" });
    expect(ideas.sentences).toEqual(["The ideas are to be had again; 1 refusal cleared."]);
    expect(ideas.after).not.toHaveProperty("refusals");
    expect((await after(sampleRrd(1), { unit: "ideas" })).sentences).toEqual([
      "The ideas are to be had again; 0 refusals cleared.",
    ]);
  });

  it("of the search clears the refusals of every batch, and of nothing that is only called alike", async () => {
    const rrd: Rrd = {
      ...sampleRrd(1),
      requirements: {},
      refusals: [refusal("discovery-1"), refusal("discovery-12"), refusal("discovery"), refusal("x-discovery-1")],
    };
    const { after: state, unit, sentences } = await after(rrd, { unit: "discovery" });
    expect([state.refusals?.map((each) => each.unit), unit, sentences]).toEqual([
      ["discovery", "x-discovery-1"],
      "discovery",
      [expect.stringMatching(/^The search goes on; 2 refusals cleared\b/)],
    ]);
  });

  it("of the search has nothing to do where the pool is full, and says how to ask for more", async () => {
    const full = { ...sampleRrd(2), requirements: { target_papers: 2 } };
    const failure: unknown = await after(full, { unit: "discovery" }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      exitCode: 2,
      message:
        "The pool holds 2 of 2 papers, so there is nothing to search for; 'research-ralph run /r -p <more> --force' asks for more.",
    });
    expect((await after({ ...full, requirements: { target_papers: 3 } }, { unit: "discovery" })).after.phase).toBe(
      "DISCOVERY",
    );
    expect((await after({ ...full, requirements: {} }, { unit: "discovery" })).after.phase).toBe("DISCOVERY");
  });

  it("of the search asks again whoever failed, and nobody whom a person left out, whatever they are called", async () => {
    const statistics = {
      mine: 1,
      discovery_metrics: { batches: 2, batches_without_new: 2, failures_in_a_row: { arXiv: 3, web: 0 }, mine: 2 },
    };
    const rrd = {
      ...sampleRrd(1),
      requirements: {},
      statistics,
      blocked_sources: ["arXiv", "web", "constructor", { name: "news" }],
    } as Rrd;
    const { after: state } = await after(rrd, { unit: "discovery" });
    expect(state.blocked_sources).toEqual(["web", "constructor", { name: "news" }]);
    expect(state.statistics).toEqual({ mine: 1, discovery_metrics: { batches: 2, batches_without_new: 0, mine: 2 } });
    const { blocked_sources: _, ...open } = rrd;
    expect((await after(open as Rrd, { unit: "discovery" })).after).not.toHaveProperty("blocked_sources");
  });

  it("of the search, or of everything, asks the sources again; no other does", () => {
    const targets: ResetTarget[] = [
      { all: true },
      { unit: "discovery" },
      { unit: "report" },
      { paper: "discovery" },
      { to: 0 },
    ];
    expect(targets.map(asksAgain)).toEqual([true, true, false, false, false]);
  });
});

describe("a reset to an iteration", () => {
  const entry = (iteration: number, id: string): JournalEntry => ({
    iteration,
    at: "2026-01-01T00:00:00Z",
    message: "x",
    changes: [
      { in: "papers_pool", id, set: { status: "presented", score: 30 }, was: pendingPaper(Number(id.split("_")[1])) },
    ],
    progress: null,
    ledger: { offset: 0, text: "{}\n" },
  });
  const journal = async (...entries: JournalEntry[]) => {
    const folder = temporaryFolder();
    await makeJournal(folder);
    for (const each of entries) {
      await writeEntry(folder, each);
      await markDone(folder, each.iteration);
    }
    return folder;
  };
  const read = { ...sampleRrd(3), papers_pool: [1, 2, 3].map(presented) };

  it("undoes what came after it from the last to the first, and says how many", async () => {
    const folder = await journal(entry(1, "sample_1"), entry(2, "sample_2"), {
      ...entry(3, "sample_2"),
      changes: [{ in: "papers_pool", id: "sample_2", set: { score: 30 }, was: { ...pendingPaper(2), score: 7 } }],
    });
    const ledger = [line(3, "sample_2"), line(1, "sample_1"), line(2, "sample_2", { phase: "IDEATION" })];
    const { after: state, unit, to, sentences } = await after(read, { to: 1 }, ledger, folder);
    expect(state.papers_pool).toEqual([presented(1), pendingPaper(2), presented(3)]);
    expect([state.phase, unit, to, sentences]).toEqual([
      "IDEATION",
      "*",
      1,
      ["Everything after iteration 1 is undone: 2 iterations."],
    ]);
    expect((await after(read, { to: 2 }, ledger, folder)).sentences).toEqual([
      "Everything after iteration 2 is undone: 1 iteration.",
    ]);
  });

  it("after the last undoes nothing", async () => {
    const { after: state, sentences } = await after(read, { to: 3 }, [line(3, "sample_3")], await journal());
    expect([state, sentences]).toEqual([read, ["Everything after iteration 3 is undone: 0 iterations."]]);
  });

  it("without the journal takes back what was read since, and names the iterations", async () => {
    const ledger = [
      line(1, "sample_1"),
      line(2, "sample_2", { outcome: "refused" }),
      line(3, "sample_3"),
      line(4, "sample_1"),
    ];
    const folder = await journal();
    const { after: state, sentences } = await after(read, { to: 2 }, ledger, folder);
    expect(state.papers_pool.map(({ status }) => status)).toEqual(["presented", "presented", "pending"]);
    expect(sentences[1]).toBe(
      "The journal of iterations 3, 4 is gone, so papers that they found stay, as pending ones.",
    );
    expect((await after(read, { to: 0 }, ledger, folder)).after.papers_pool.map(({ status }) => status)).toEqual([
      "pending",
      "presented",
      "pending",
    ]);
  });
});
