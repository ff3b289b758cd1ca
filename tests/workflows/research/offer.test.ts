import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Rrd } from "../../../src/generated/rrd.js";
import { heedSignals } from "../../../src/loop/guards.js";
import type { PaperRecord } from "../../../src/sources/paper-record.js";
import type { Answer, Query, Source } from "../../../src/sources/source.js";
import { keptSearch } from "../../../src/store/kept-search.js";
import { offerOf, type Searching } from "../../../src/workflows/research/offer.js";
import { goodAgent, library, researchFolder, rrdWith, temporaryFolder } from "../../support/research.js";

const record = (id: string, over: Partial<PaperRecord> = {}): PaperRecord => ({
  id,
  title: `On the matter that is called ${id}`,
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: [`Ada ${id}`],
  date: "2026-01-01",
  source: "One",
  abstract: `About the matter ${id}.`,
  identifiers: { doi: `10.5555/${id}` },
  ...over,
});

const wanting = (more: Partial<Rrd["requirements"]> = {}): Rrd => ({
  ...rrdWith([]),
  phase: "DISCOVERY",
  requirements: { keywords: ["matter alpha", "matter beta"], focus_area: "matter", sources: ["One"], target_papers: 5, ...more },
});

type Search = (query: Query) => Answer<readonly PaperRecord[]> | Promise<Answer<readonly PaperRecord[]>>;
const found = (...ids: string[]): Answer<readonly PaperRecord[]> => ({ status: "ok", value: ids.map((id) => record(id)) });

/** A search of sources that answer as told; every query asked of them is noted. */
function searching(sources: Readonly<Record<string, Search>>, more: Partial<Searching> = {}) {
  const asked: string[] = [];
  const told: string[] = [];
  const how: Searching = {
    folder: temporaryFolder(),
    now: () => Date.parse("2026-03-01T00:00:00Z"),
    signal: new AbortController().signal,
    tell: (message) => void told.push(message),
    open: (name) => {
      const search = sources[name];
      if (search === undefined) return { unavailable: `There is no ${name}.` };
      const source: Source = {
        name,
        aliases: [],
        endpoint: "",
        search: async (query) => {
          asked.push(`${name}: ${query.terms}`);
          return search(query);
        },
      };
      return { source, context: { http: { get: () => Promise.reject(new Error("no network")) }, endpoint: "" } };
    },
    ...more,
  };
  return { how, asked, told };
}

describe("a search that is interrupted", () => {
  test("is not kept as made: the next one asks the same again", async () => {
    const stop = new AbortController();
    const cut: Search = () => {
      stop.abort();
      return { status: "error", reason: "The request was ended." };
    };
    const first = searching({ One: cut }, { signal: stop.signal });
    const offer = await offerOf(wanting(), ["One"], first.how);
    expect([offer.steps, offer.works, offer.exhausted, first.told]).toEqual([[], [], undefined, []]);
    expect(existsSync(keptSearch(first.how.folder))).toBe(false);
    const second = searching({ One: ({ terms }) => found(terms.split(" ")[1] ?? "") }, { folder: first.how.folder });
    expect((await offerOf(wanting(), ["One"], second.how)).works).toHaveLength(2);
  });

  test("starts no agent, and the run ends as interrupted", async () => {
    const stop = new AbortController();
    const none = searching({}, { signal: stop.signal });
    const interrupted = library({
      serves: () => false,
      services: (name) => [name],
      offer: async (rrd, names) => {
        stop.abort("SIGINT");
        return offerOf(rrd, names, none.how);
      },
    });
    const { run } = researchFolder(wanting(), interrupted);
    const { verdict, events } = await run(goodAgent(), 9, { guards: [heedSignals(stop.signal)], finish: stop.signal, abort: stop.signal });
    expect(verdict.verdict).toBe("interrupted");
    expect(events.map(({ type }) => type)).not.toContain("iteration-started");
  });
});
