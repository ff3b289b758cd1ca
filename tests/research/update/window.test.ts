import { describe, expect, it } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { ProjectUpdate, Rrd } from "../../../src/research/generated/rrd.js";
import { type SearchedUntil, searchedAfter, nextWindow } from "../../../src/research/update/window.js";

const batch = (iteration: number, day: string): LedgerLine => ({
  iteration,
  at: `${day}T10:00:00Z`,
  unit: `discovery-${iteration}`,
  phase: "DISCOVERY",
  outcome: "accepted",
});
const update = (over: Partial<ProjectUpdate>): ProjectUpdate => ({
  id: "update-1",
  since: "2026-05-01",
  until: "2026-06-01",
  at: "2026-06-01T10:00:00Z",
  iteration: 10,
  ...over,
});
const state = (updates: readonly ProjectUpdate[] = [], requirements = {}) =>
  ({ requirements, papers_pool: [], updates }) as unknown as Rrd;
const windowOf = (
  known: Parameters<typeof nextWindow>[1],
  kept?: SearchedUntil,
  today = "2026-11-20",
  since?: string,
) => nextWindow("touch", known, kept, Date.parse(`${today}T12:00:00Z`), since);

describe("the window of the next update", () => {
  it("begins 30 days before the day that the first search took for today, however long it was judged", () => {
    const known = { rrd: state(), ledger: [batch(1, "2026-06-01"), batch(5, "2026-09-01")] };
    expect(windowOf({ ...known, searchedOn: "2026-06-01" })).toEqual({
      since: "2026-05-02",
      until: "2026-11-20",
      sources: {},
    });
    expect(windowOf(known).since).toBe("2026-08-02");
  });

  it("does not take the batches of an update, judged weeks later, for a search", () => {
    const ledger = [batch(1, "2026-05-31"), batch(11, "2026-10-01")];
    const failed = { arXiv: "2026-05-01" };
    const known = { rrd: state([update({ closed_at: "2026-10-02T10:00:00Z", failed })]), ledger };
    expect(windowOf(known)).toEqual({ since: "2026-05-02", until: "2026-11-20", sources: failed });
  });

  it("leaves open what lies before a window that a person let begin later", () => {
    const gap = update({ id: "update-2", since: "2026-09-01", until: "2026-10-01" });
    expect(windowOf({ rrd: state([update({}), gap]), ledger: [batch(1, "2026-05-31")] }).since).toBe("2026-05-02");
    const known = { rrd: state([update({})]), ledger: [batch(1, "2026-05-31")] };
    const kept = searchedAfter(known, undefined, { since: "2026-09-01", until: "2026-10-01", sources: {} }, {});
    expect(kept).toEqual({ until: "2026-06-01", failed: {}, updates: 1 });
    expect(searchedAfter(known, kept, { since: "2026-05-02", until: "2026-10-01", sources: {} }, {}).until).toBe(
      "2026-10-01",
    );
  });

  it("leaves open the 30 days of overlap that a window of a later day did not ask for", () => {
    const known = { rrd: state([update({ since: "2026-05-15", until: "2026-09-01" })]), ledger: [] };
    const first = { ...known, searchedOn: "2026-06-01" };
    expect(windowOf(first).since).toBe("2026-05-02");
    const none = { rrd: state(), ledger: [], searchedOn: "2026-06-01" };
    const asked = (since: string) =>
      searchedAfter(none, undefined, { since, until: "2026-09-01", sources: {} }, {}).until;
    expect([asked("2026-05-03"), asked("2026-05-02")]).toEqual(["2026-06-01", "2026-09-01"]);
  });

  it("takes a day later than every batch for that of a record made anew, not of the search", () => {
    const known = { rrd: state(), ledger: [batch(1, "2026-06-01")], searchedOn: "2026-11-20" };
    expect(windowOf(known).since).toBe("2026-05-02");
  });

  it("keeps the window of a source that failed, also where a person names a later day", () => {
    const known = { rrd: state([update({ failed: { arXiv: "2026-03-01" } })]), ledger: [] };
    expect(windowOf(known, undefined, "2026-11-20", "2026-10-01").sources).toEqual({ arXiv: "2026-03-01" });
    expect(windowOf(known, undefined, "2026-11-20", "2026-01-01").sources).toEqual({});
  });

  it("does not ask for the window of a failed source again once an update of the same day has", () => {
    const known = { rrd: state([update({ failed: {} })]), ledger: [] };
    const before = { until: "2026-06-01", failed: { arXiv: "2026-03-01" }, updates: 0 };
    expect(windowOf(known, before)).toEqual({ since: "2026-05-02", until: "2026-11-20", sources: {} });
    expect(windowOf(known, { ...before, updates: 1 }).sources).toEqual({ arXiv: "2026-03-01" });
  });

  it("refuses a clock that was set back, and counts what a right one says after a wrong one", () => {
    const ahead = update({ until: "2031-01-01" });
    const known = { rrd: state([ahead]), ledger: [] };
    expect(() => windowOf(known)).toThrow("was searched on 2031-01-01 already; correct the clock");
    const again = update({ id: "update-2", since: "2026-05-01", until: "2026-11-20" });
    expect(windowOf({ rrd: state([ahead, again]), ledger: [] }, undefined, "2026-11-27").since).toBe("2026-10-21");
  });

  it("takes a last day of publication, which a person set, for no day of asking", () => {
    const rounds = [{ kind: "search", sources: [], queries: [{ terms: "x", until: "2031-01-01", most: 10 }] }];
    const rrd = { ...state([], { published_until: "2031-01-01" }), statistics: { discovery_metrics: { rounds } } };
    expect(windowOf({ rrd: rrd as unknown as Rrd, ledger: [batch(1, "2026-06-01")] }).since).toBe("2026-05-02");
  });
});
