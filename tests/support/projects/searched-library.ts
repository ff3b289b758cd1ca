import { expect } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import type { Open } from "../../../src/research/search/result-list.js";
import type { Source } from "../../../src/research/sources/shared/source.js";
import { pageRecord } from "../../../src/research/sources/shared/web-page.js";
import { runSearch } from "../../../src/research/units/screening/search-session.js";
import { unwatched } from "../network/unwatched-search.js";
import { library, rrdWith, temporaryFolder } from "./research.js";

export const now = () => Date.parse("2026-03-01T00:00:00Z");
export const wanting = (sources: readonly string[], target_papers: number): Rrd => ({
  ...rrdWith([]),
  requirements: {
    keywords: ["matter alpha", "matter beta"],
    focus_area: "matter",
    sources: [...sources],
    target_papers,
    time_window_days: 400,
    historical_lookback_days: 1500,
  },
});

/** Opens sources that give the same answers to every question. */
const answering =
  (answers: Readonly<Record<string, readonly PaperRecord[]>>): Open =>
  (name) => {
    const value = answers[name];
    if (value === undefined) return { unavailable: `There is no ${name}.` };
    const source: Source = {
      name,
      aliases: [],
      endpoint: "",
      // A page is a record of its own in each answer, as one that was parsed is.
      search: async () =>
        value.length === 0
          ? { status: "empty", reason: "nothing" }
          : { status: "ok", value: structuredClone([...value]) },
    };
    const http = { get: () => Promise.reject(new Error("no network")) };
    return { source, context: { http, endpoint: "", contextFor: () => ({ unavailable: "no network" }) } };
  };

/** A library of one folder and of sources that are searched. */
export function libraryOf(
  documents: readonly PaperRecord[],
  answers: Readonly<Record<string, readonly PaperRecord[]>>,
) {
  const open = answering(answers);
  const folder = temporaryFolder();
  const signal = new AbortController().signal;
  return library({
    serves: (name) => name === "folder:papers",
    offered: documents,
    services: (name) => (name in answers ? [name] : []),
    search: (rrd, names) => runSearch(rrd, names, { ...unwatched, folder, open, now, signal }),
  });
}

type Flow = NonNullable<NonNullable<NonNullable<Rrd["statistics"]>["discovery_metrics"]>["flow"]>;
export const sum = (counts: Readonly<Record<string, number>> = {}) => Object.values(counts).reduce((a, b) => a + b, 0);

/** Every record is identified once and ends in one place: removed, excluded, included, or not screened. */
export function expectWhole({
  identified,
  duplicates_removed = 0,
  screened = 0,
  excluded,
  included = 0,
  waiting = 0,
  ineligible = 0,
  not_screened = 0,
}: Flow) {
  const counts = [...Object.values(identified ?? {}), ...Object.values(excluded ?? {})];
  for (const count of [...counts, duplicates_removed, screened, included, waiting, ineligible, not_screened])
    expect(count).toBeGreaterThanOrEqual(0);
  expect(sum(identified)).toBe(duplicates_removed + sum(excluded) + included + waiting + ineligible + not_screened);
}

export const page = (url: string, title: string, date?: string, source = "SearXNG"): PaperRecord =>
  pageRecord(source, { url, title, snippet: "A page.", date }) as PaperRecord;
export const document = (id: string, title: string): PaperRecord => ({
  id,
  title,
  url: `file:///papers/${id}.pdf`,
  pdf_url: null,
  authors: ["Ada Author"],
  date: "2026-01-01",
  source: "folder:papers",
  abstract: null,
  identifiers: {},
});
