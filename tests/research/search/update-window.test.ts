import { describe, expect, it } from "vitest";
import type { ProjectUpdate, Rrd, Step } from "../../../src/research/generated/rrd.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import { isFailed, type Open } from "../../../src/research/search/result-list.js";
import { runStep } from "../../../src/research/search/run-round.js";
import type { Answer, Query, Source, SourceContext } from "../../../src/research/sources/shared/source.js";
import { openWindows } from "../../../src/research/units/screening/update-rounds.js";

const update: ProjectUpdate = { id: "update-1", since: "2026-01-01", until: "2026-02-28", at: "2026-02-28T10:00:00Z" };
const rrd = { requirements: { keywords: ["soft robot"], sources: ["One"] }, papers_pool: [] } as unknown as Rrd;
const day = (index: number) => new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10);
const record = (index: number, date: string): PaperRecord => ({
  id: `r${index}`,
  title: `Work ${index}`,
  url: `https://example.org/${index}`,
  pdf_url: null,
  authors: [],
  date,
  source: "One",
  abstract: null,
  identifiers: {},
});
const round = (of?: string): Step => ({
  kind: "search",
  sources: ["One"],
  queries: [{ terms: "soft robot", from: update.since, until: update.until, most: 50 }],
  ...(of === undefined ? {} : { update: of }),
});

/** A source that lists the first of what it holds in a period, and is asked so often. */
function holding(records: readonly PaperRecord[], more: Partial<Extract<Answer<never>, { status: "ok" }>> = {}) {
  const asked: Query[] = [];
  const search = async (query: Query): Promise<Answer<readonly PaperRecord[]>> => {
    asked.push(query);
    const its = records.filter(({ date }) => (date ?? "") >= (query.from ?? "") && (date ?? "") <= (query.until ?? ""));
    return its.length === 0
      ? { status: "empty", reason: "None." }
      : { status: "ok", value: its.slice(0, query.most), total: its.length, ...more };
  };
  const source: Source = { name: "One", aliases: [], endpoint: "", search };
  const open: Open = () => ({ source, context: {} as SourceContext });
  return { open, asked };
}
const leftOpen = async (open: Open, step: Step) => {
  const listings = await runStep(0, step, open);
  return { listings, left: openWindows(rrd, update, { steps: [step], listings }, ["One"]) };
};

describe("a query of an update", () => {
  it("that lists as many works as were asked for is asked for each half of its period, until all are listed", async () => {
    const works = Array.from({ length: 177 }, (_, index) => record(index, day(index % 59)));
    const { open, asked } = holding(works);
    const { listings, left } = await leftOpen(open, round("update-1"));
    expect(new Set(listings.flatMap(({ records }) => records.map(({ id }) => id))).size).toBe(177);
    expect([...left]).toEqual([]);
    expect(asked.length).toBe(7);
    expect(listings.some(isFailed)).toBe(false);
  });

  it("that fails is told by what its source says, which is named beside it and not twice", async () => {
    const search = async (): Promise<Answer<readonly PaperRecord[]>> => ({ status: "error", reason: "One: no route." });
    const source: Source = { name: "One", aliases: [], endpoint: "", search };
    const { left } = await leftOpen(() => ({ source, context: {} as SourceContext }), round("update-1"));
    expect([...left]).toEqual([["One", { since: "2026-01-01", reason: "no route." }]]);
  });

  it("leaves its source's period open where a day holds more, after a bounded number of requests", async () => {
    const works = Array.from({ length: 60 }, (_, index) => record(index, "2026-01-20"));
    const { open, asked } = holding(works);
    const { left } = await leftOpen(open, round("update-1"));
    expect(left.get("One")).toEqual({ since: "2026-01-01", reason: expect.stringContaining("there may be more") });
    expect(asked.length).toBeLessThanOrEqual(31);
  });

  it("leaves it open where a page could not be had", async () => {
    const { open } = holding([record(1, "2026-01-20")], { incomplete: "Page 2 could not be read." });
    const { left } = await leftOpen(open, round("update-1"));
    expect(left.get("One")?.reason).toBe("Page 2 could not be read.");
  });

  it("is asked once in a first search, which wants the best of each list", async () => {
    const works = Array.from({ length: 177 }, (_, index) => record(index, day(index % 59)));
    const { open, asked } = holding(works);
    await runStep(0, round(), open);
    expect(asked.length).toBe(1);
  });

  it("does not leave open what nobody searches for want of a keyword", () => {
    const bare = { ...rrd, requirements: { sources: ["One"] } } as unknown as Rrd;
    expect([...openWindows(bare, update, { steps: [], listings: [] }, ["One"])]).toEqual([]);
    const blocked = { ...rrd, blocked_sources: ["one"] } as unknown as Rrd;
    const why = (state: Rrd) => openWindows(state, update, { steps: [], listings: [] }, ["One"]).get("One")?.reason;
    expect([why(blocked), why(rrd)]).toEqual(["it is blocked", "it was not searched"]);
  });
});
