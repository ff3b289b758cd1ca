import { existsSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { stopOnSignal } from "../../../../src/engine/loop/stop-conditions/limits.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import type { Answer, Query, Source } from "../../../../src/research/sources/shared/source.js";
import {
  runSearch,
  type SearchOptions,
  type SearchProgress,
} from "../../../../src/research/units/screening/search-session.js";
import type { SearchSession } from "../../../../src/research/screening/paper-sources.js";
import { searchKey } from "../../../../src/research/derived/status.js";
import { nextBatch } from "../../../../src/research/units/screening/screening-batch.js";
import { goodAgent, library, researchFolder, rrdWith, temporaryFolder } from "../../../support/projects/research.js";
import { candidatesFile, searchFile } from "../../../../src/research/project-files/layout.js";
import { reportsOf } from "../../../../src/research/units/screening/source-reports.js";
import { sourceRests } from "../../../../src/research/search/source-rests.js";
import { fakeClock } from "../../../support/clock.js";
import { unwatched } from "../../../support/network/unwatched-search.js";

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
  requirements: {
    keywords: ["matter alpha", "matter beta"],
    focus_area: "matter",
    sources: ["One"],
    target_papers: 5,
    ...more,
  },
});

type Search = (query: Query) => Answer<readonly PaperRecord[]> | Promise<Answer<readonly PaperRecord[]>>;
const found = (...ids: string[]): Answer<readonly PaperRecord[]> => ({
  status: "ok",
  value: ids.map((id) => record(id)),
});

/** A search of sources that answer as told; every query asked of them is noted. */
function searching(sources: Readonly<Record<string, Search>>, more: Partial<SearchOptions> = {}) {
  const asked: string[] = [];
  const told: string[] = [];
  const how: SearchOptions = {
    folder: temporaryFolder(),
    now: () => Date.parse("2026-03-01T00:00:00Z"),
    signal: new AbortController().signal,
    ...unwatched,
    onReport: (message) => void told.push(message),
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
      return {
        source,
        context: {
          http: { get: () => Promise.reject(new Error("no network")) },
          endpoint: "",
          contextFor: () => ({ unavailable: "no network" }),
        },
      };
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
    const seen: SearchProgress[] = [];
    const first = searching({ One: cut }, { signal: stop.signal, onProgress: (progress) => void seen.push(progress) });
    const session = await runSearch(wanting(), ["One"], first.how);
    expect([session.steps, session.works, session.exhausted, first.told]).toEqual([[], [], undefined, []]);
    expect(seen.filter(({ failed }) => failed === true)).toEqual([]);
    expect(existsSync(candidatesFile(first.how.folder))).toBe(false);
    const second = searching({ One: ({ terms }) => found(terms.split(" ")[1] ?? "") }, { folder: first.how.folder });
    expect((await runSearch(wanting(), ["One"], second.how)).works).toHaveLength(2);
  });

  test("starts no agent, and the run ends as interrupted", async () => {
    const stop = new AbortController();
    const none = searching({}, { signal: stop.signal });
    const interrupted = library({
      serves: () => false,
      services: (name) => [name],
      search: async (rrd, names) => {
        stop.abort("SIGINT");
        return runSearch(rrd, names, none.how);
      },
    });
    const { run } = researchFolder(wanting(), interrupted);
    const { verdict, events } = await run(goodAgent(), 9, {
      stopConditions: [stopOnSignal(stop.signal)],
      finish: stop.signal,
      abort: stop.signal,
    });
    expect(verdict.verdict).toBe("interrupted");
    expect(events.map(({ type }) => type)).not.toContain("iteration-started");
  });
});

describe("a search that failed", () => {
  const away: Search = () => ({
    status: "error",
    reason: "example.org does not answer.",
    transient: true,
    unreached: true,
  });

  test.each([[["One", "Two"]], [["One", "Two", "web"]]])(
    "for want of a network ends the run before an agent starts, whatever else it could search (%s), and names every source",
    async (sources) => {
      const gone = (host: string) => (): ReturnType<Search> => ({
        status: "error",
        reason: `${host} was not found (ENOTFOUND); check the network.`,
        transient: true,
        unreached: true,
      });
      const { how } = searching({ One: gone("one.org"), Two: gone("two.org") });
      const services = (name: string) => (name === "web" ? [] : [name]);
      const { run } = researchFolder(
        wanting({ sources }),
        library({ serves: () => false, services, search: (rrd, names) => runSearch(rrd, names, how) }),
      );
      const { verdict, events, ledger } = await run(goodAgent());
      expect(verdict).toEqual({
        verdict: "blocked",
        reason:
          'No source can be searched for now: One: one.org was not found (ENOTFOUND); Two: two.org was not found (ENOTFOUND); check the network; run again later, or use your own papers, which needs no network: research-ralph <folder of papers> "…".',
      });
      expect(events.map(({ type }) => type)).not.toContain("iteration-started");
      expect(ledger).toEqual([]);
    },
  );

  test("for want of a network is not kept, and the next run searches", async () => {
    const first = searching({ One: away });
    const over = (how: SearchOptions) =>
      library({ serves: () => false, services: (name) => [name], search: (rrd, names) => runSearch(rrd, names, how) });
    const { run } = researchFolder(wanting(), over(first.how));
    const { verdict, events } = await run(goodAgent());
    expect(verdict).toEqual({
      verdict: "blocked",
      reason:
        'No source can be searched for now: One: example.org does not answer; run again later, or use your own papers, which needs no network: research-ralph <folder of papers> "…".',
    });
    expect(events.map(({ type }) => type)).not.toContain("iteration-started");
    expect(existsSync(candidatesFile(first.how.folder))).toBe(false);
    const second = searching({ One: () => found("a") }, { folder: first.how.folder });
    expect((await nextBatch(wanting(), over(second.how))).candidates).toHaveLength(1);
    // What can be had without the network is still offered.
    const papers = {
      ...over(first.how),
      serves: (name: string) => name === "samples",
      candidates: async () => [record("mine")],
    };
    expect((await nextBatch(wanting({ sources: ["One", "samples"] }), papers)).candidates.map(({ id }) => id)).toEqual([
      "mine",
    ]);
  });

  test("at services that are all busy is handed to an agent that searches the web; where that can't, the run waits for them", async () => {
    const busy: Search = () => ({ status: "rate_limited", reason: "example.org asks to wait.", transient: true });
    const clock = fakeClock();
    const rests = sourceRests({ now: clock.now, patienceMs: 3_600_000 });
    const { how } = searching({ One: busy }, { now: clock.now, rests });
    const requested = wanting({ sources: ["One", "web"] });
    const services = (name: string) => (name === "One" ? ["One"] : []);
    const folder = researchFolder(
      requested,
      library({
        serves: () => false,
        services,
        search: (rrd, names) => runSearch(rrd, names, how),
        givenUp: () => rests.all().flatMap(({ name, isGivenUp }) => (isGivenUp ? [name] : [])),
      }),
    );
    const skipping = goodAgent(({ kind, unit }) =>
      kind === "discovery"
        ? { result: { unit, papers: [], sources: [{ name: "web", status: "skipped", reason: "no web access" }] } }
        : undefined,
    );
    const { verdict, rrd, ledger } = await folder.run(skipping, 40, { clock });
    expect(verdict).toEqual({
      verdict: "blocked",
      reason:
        'No source can be searched for now: One: example.org asks to wait; run again later, or use your own papers, which needs no network: research-ralph <folder of papers> "…".',
    });
    expect(ledger.map(({ agent }) => agent)).toEqual(["scripted", undefined]);
    expect(rrd.blocked_sources).toEqual([{ name: "One", reason: "example.org asks to wait." }]);
    expect(rrd.statistics?.discovery_metrics).toMatchObject({
      sources_tried: ["One", "web"],
      sources_skipped: ["web"],
      source_failure_reasons: { One: "example.org asks to wait.", web: "no web access" },
    });
    expect(readFileSync(join(folder.folder, "progress.txt"), "utf8")).toMatch(/- One was skipped: .*asks to wait/);
  });

  test("and leaves nothing to judge and nothing to search starts no agent; the log says how each source did", async () => {
    const missing = library({
      serves: () => true,
      candidates: () => Promise.reject(new Error("There is no folder papers.")),
    });
    const folder = researchFolder(wanting({ sources: ["folder:papers"] }), missing);
    const { verdict, events, ledger } = await folder.run(goodAgent());
    expect(verdict).toMatchObject({
      verdict: "blocked",
      reason: expect.stringContaining("folder:papers: There is no folder papers"),
    });
    expect(events.map(({ type }) => type)).not.toContain("iteration-started");
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "notice",
        message: expect.stringMatching(/no agent was started\. folder:papers was skipped: There is no folder/),
      }),
    );
    expect(ledger.every(({ agent, outcome }) => agent === undefined && outcome === "accepted")).toBe(true);
    expect(readFileSync(join(folder.folder, "progress.txt"), "utf8")).toContain("There is no folder papers.");
  });

  test("is made again by the next run, for the queries that had no answer and no others, and not within one run", async () => {
    const busy: Search = ({ terms }) =>
      terms === "matter alpha" ? found("a") : { status: "rate_limited", reason: "Busy.", transient: true };
    const first = searching({ One: busy, Two: () => found("b") });
    const before = await runSearch(wanting(), ["One", "Two"], first.how);
    expect(
      reportsOf(before.listings, before.candidates, () => false).find(({ name }) => name === "One")?.failures,
    ).toBe(1);
    const second = searching(
      { One: () => found("c"), Two: () => found("d") },
      { folder: first.how.folder, isFirstSearch: () => false },
    );
    await runSearch(wanting(), ["One", "Two"], second.how);
    expect(second.asked).toEqual([]);
    const third = searching(
      { One: () => found("c"), Two: () => found("d") },
      { folder: first.how.folder, isFirstSearch: () => true },
    );
    const after = await runSearch(wanting(), ["One", "Two"], third.how);
    expect(third.asked).toEqual(["One: matter beta"]);
    expect(after.works.map(({ record: { id } }) => id).toSorted()).toEqual(["a", "b", "c"]);
    expect(after.steps).toEqual(before.steps);
  });

  test("counts as one failure a batch where the network or a busy service is to blame, else as many as there were", async () => {
    const offer = async (One: Search) =>
      runSearch(
        wanting({ keywords: ["a b", "c d", "e f"] }),
        ["One", "Two"],
        searching({ One, Two: () => found("b") }).how,
      );
    const failuresOf = ({ listings, candidates }: SearchSession) =>
      reportsOf(listings, candidates, () => false).find(({ name }) => name === "One")?.failures;
    expect(failuresOf(await offer(away))).toBe(1);
    expect(failuresOf(await offer(() => ({ status: "error", reason: "One answers nonsense." })))).toBe(3);
  });
});

test("a work left out as a duplicate is offered again once a person says that it is another", async () => {
  const excluded = [{ id: "a", reason: "the same work as p1", stage: "duplicate" as const, duplicate_of: "p1" }];
  const offer = async (more: Partial<Rrd>) =>
    (await runSearch({ ...wanting(), excluded, ...more }, ["One"], searching({ One: () => found("a") }).how)).works.map(
      ({ record: { id } }) => id,
    );
  expect(await offer({})).toEqual([]);
  expect(await offer({ apart: [["p1", "a"]] })).toEqual(["a"]);
});

test("says how many records a list has, which are duplicates in it, and which are retracted", async () => {
  const [a, b, c] = ["a", "b", "c"].map((id) => record(id, { database: "list.ris" })) as [
    PaperRecord,
    ...PaperRecord[],
  ];
  const value = [a, { ...a }, b as PaperRecord, { ...(c as PaperRecord), retracted: true }];
  const { how, told } = searching({ "list.ris": () => ({ status: "ok", value }) });
  const rrd = wanting({ sources: ["list.ris"], keywords: ["matter alpha"] });
  const { works } = await runSearch(rrd, ["list.ris"], how);
  expect(works.map((work) => work.record.id).toSorted()).toEqual(["a", "b"]);
  expect(told).toEqual([
    "list.ris: 4 found, 1 duplicate in it",
    '1 record left out as retracted: "On the matter that is called c".',
  ]);
  // What was said before is not said again.
  await runSearch(rrd, ["list.ris"], how);
  expect(told).toHaveLength(2);
});

test("a work is within the dates of publication if its article or its preprint is", async () => {
  const title = "One matter in two versions of it";
  const preprint = { title, authors: ["Ada A"], date: "2020-10-30", kind: "preprint" as const };
  const article = { title, authors: ["Ada A"], date: "2021-04-12", venue: "PNAS", kind: "published" as const };
  const both = (): Answer<readonly PaperRecord[]> => ({
    status: "ok",
    value: [record("p", { ...preprint, identifiers: { doi: "10.1101/2020.10.30.123456" } }), record("a", article)],
  });
  const offer = async (published: Partial<Rrd["requirements"]>) => {
    const { works, excludedWorks } = await runSearch(wanting(published), ["One"], searching({ One: both }).how);
    return [works.map((work) => work.record.date), excludedWorks.map(({ reason }) => reason)];
  };
  expect(await offer({ published_from: "2021-01-01" })).toEqual([["2021-04-12"], []]);
  expect(await offer({ published_until: "2020-12-31" })).toEqual([["2021-04-12"], []]);
  expect(await offer({ published_from: "2022-01-01" })).toEqual([[], ["of 2021-04-12, outside 2022-01-01 to today"]]);
});

describe("more than ten keywords", () => {
  const keywords = Array.from({ length: 12 }, (_, index) => `matter ${index + 1}`);

  test("are all searched for, the later ones where the first bring too little, and before any older work", async () => {
    const { how, asked, told } = searching({ One: () => found("a") });
    const { steps } = await runSearch(
      wanting({ keywords, time_window_days: 90, historical_lookback_days: 365 }),
      ["One"],
      how,
    );
    expect(asked).toEqual([...keywords, ...keywords].map((keyword) => `One: ${keyword}`));
    expect(steps.map((step) => (step.kind === "search" ? step.queries.length : 0))).toEqual([10, 2, 10, 2]);
    expect(told).toContain("Keywords for later rounds, if these bring too little: matter 11, matter 12.");
    const few = searching({ One: () => found("a") });
    await runSearch(wanting(), ["One"], few.how);
    expect(few.told.filter((message) => message.startsWith("Keywords"))).toEqual([]);
  });

  test("are searched for although the first ones no longer bring anything worth keeping", async () => {
    const many = Array.from({ length: 25 }, (_, index) => `w${index}`);
    const first = searching({ One: ({ terms }) => (terms === "matter 1" ? found(...many) : found("late")) });
    const rrd = wanting({ keywords });
    await runSearch(rrd, ["One"], first.how);
    expect(first.asked).toHaveLength(10);
    const statistics = { discovery_metrics: { screening: [{ screened: 20, kept: 0, rounds: 1 }] } };
    const excluded = many.slice(0, 20).map((id) => ({ id, reason: "no", stage: "screened" as const }));
    const next = searching({ One: () => found("late") }, { folder: first.how.folder });
    await runSearch({ ...rrd, excluded, statistics } as unknown as Rrd, ["One"], next.how);
    expect(next.asked).toEqual(["One: matter 11", "One: matter 12"]);
  });

  test("that were never searched for, as others brought enough, are named in the statistics", async () => {
    const { how } = searching({ One: () => found(...Array.from({ length: 30 }, (_, index) => `w${index}`)) });
    const offering = library({
      serves: () => false,
      services: (name) => [name],
      search: (rrd, names) => runSearch(rrd, names, how),
    });
    const agent = goodAgent((unit) => {
      const [first] = (unit["candidates"] ?? []) as { id: string }[];
      return unit["kind"] === "discovery"
        ? { result: { unit: unit["unit"], kept: [{ id: first?.id }], papers: [], sources: [] } }
        : undefined;
    });
    const { rrd } = await researchFolder(wanting({ keywords, target_papers: 1 }), offering).run(agent, 1);
    expect(rrd.statistics?.discovery_metrics?.keywords_not_searched).toEqual(["matter 11", "matter 12"]);
  });
});

test("whoever watches is told of each source at once: its start, every answer with what came of it, and that it is left alone", async () => {
  const seen: SearchProgress[] = [];
  let duringTwo: readonly SearchProgress[] = [];
  const Two: Search = async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    duringTwo = [...seen];
    return found("b");
  };
  const One: Search = ({ terms }) =>
    terms === "matter alpha" ? found("a", "c") : { status: "blocked", reason: "One refuses." };
  const { how } = searching({ One, Two }, { onProgress: (progress) => void seen.push(progress) });
  await runSearch(wanting({ keywords: ["matter alpha", "matter beta", "matter gamma"] }), ["One", "Two", "Three"], how);
  const round = seen.filter((each) => each.round === 1);
  const of = (name: string) =>
    round.filter(({ source }) => source === name).map(({ source: _, round: __, ...rest }) => rest);
  expect(of("One")).toEqual([
    { done: 0, all: 3, found: 0 },
    { done: 1, all: 3, found: 2, asked: "matter alpha", listed: 2 },
    { done: 2, all: 3, found: 2, asked: "matter beta", listed: 0, reason: "One refuses.", failed: true, over: true },
  ]);
  expect(of("Two").map(({ done, found: had, over }) => [done, had, over])).toEqual([
    [0, 0, undefined],
    [1, 1, undefined],
    [2, 2, undefined],
    [3, 3, true],
  ]);
  expect(of("Three").at(-1)).toEqual({
    done: 0,
    all: 3,
    found: 0,
    reason: "There is no Three.",
    failed: true,
    over: true,
  });
  // Not when the round is over.
  expect(duringTwo.filter(({ source }) => source === "One")).toHaveLength(3);
});

describe("what a search found", () => {
  const two: Record<string, Search> = { One: ({ terms }) => found(terms === "matter alpha" ? "a" : "b") };

  /** A research whose search was made and noted by an accepted batch. */
  async function searched() {
    const first = searching(two);
    const { steps, candidatesSha256: sha256 } = await runSearch(wanting(), ["One"], first.how);
    const discovery_metrics = { searched_for: searchKey(wanting()), rounds: steps, pool_sha256: sha256 };
    return {
      rrd: { ...wanting(), statistics: { discovery_metrics } } as unknown as Rrd,
      path: candidatesFile(first.how.folder),
      folder: first.how.folder,
      candidatesSha256: sha256,
    };
  }
  const replayed = (sources: Readonly<Record<string, Search>>, missing: readonly string[] = []) => {
    const { how } = searching(sources);
    return () => ({ open: how.open, unanswered: () => missing });
  };

  test.each([
    ["gone", undefined, "is gone"],
    ["torn", '{"search":', "can't be read"],
    [
      "of another form",
      '{"search":null,"day":"2026-03-01","steps":[],"listings":[{"step":0,"records":[null]}]}',
      "can't be read",
    ],
  ])(
    "is made again from the log where it is %s, without asking anybody, and the person is told",
    async (_, text, said) => {
      const { rrd, path, folder, candidatesSha256 } = await searched();
      if (text === undefined) unlinkSync(path);
      else writeFileSync(path, text);
      const earlier = replayed({ One: () => ({ status: "error", reason: "It was down." }) });
      const { how, asked, told } = searching(two, { folder, replay: async () => [earlier, replayed(two)] });
      const session = await runSearch(rrd, ["One"], how);
      expect(session.candidatesSha256).toBe(candidatesSha256);
      expect(asked).toEqual([]);
      expect(told).toEqual([
        `What the search has found (${path}) ${said}; it was rebuilt from the answers in queries.jsonl, without asking any source.`,
      ]);
      await runSearch(rrd, ["One"], how);
      expect(told).toHaveLength(1);
    },
  );

  test("is rebuilt in a clone, which has neither, from what was committed", async () => {
    const { rrd, path, folder, candidatesSha256 } = await searched();
    unlinkSync(path);
    const { how, asked, told } = searching(two, { folder, replay: async () => [replayed({}, ["one", "two"])] });
    expect((await runSearch(rrd, ["One"], how)).candidatesSha256).toBe(candidatesSha256);
    expect(asked).toEqual([]);
    expect(told).toEqual([
      `What the search has found (${path}) is gone; it was rebuilt from search-records.json.gz, without asking any source.`,
    ]);
  });

  test("is searched for again where answers are lost too, and the person is told", async () => {
    const { rrd, path, folder } = await searched();
    unlinkSync(path);
    unlinkSync(searchFile(folder));
    const { how, asked, told } = searching(two, { folder, replay: async () => [replayed({}, ["one", "two"])] });
    expect((await runSearch(rrd, ["One"], how)).works).toHaveLength(2);
    expect(asked).toEqual(["One: matter alpha", "One: matter beta"]);
    expect(told[0]).toBe(
      `What the search has found (${path}) is gone, and so are 2 answers of sources; the sources are asked again.`,
    );
  });

  test("a first search has lost nothing, nor has one for something else", async () => {
    const { how, told, asked } = searching(two);
    await runSearch(wanting(), ["One"], how);
    await runSearch(wanting({ keywords: ["matter gamma"] }), ["One"], how);
    expect(told.filter((message) => message.startsWith("What the search"))).toEqual([]);
    expect(asked).toHaveLength(3);
  });

  test("two records of one work are two works once a person sets them apart, and the log of merges shows neither in the other", async () => {
    const both: Record<string, Search> = {
      One: () => ({ status: "ok", value: [record("a")] }),
      Two: () => ({
        status: "ok",
        value: [
          record("b", {
            title: record("a").title,
            authors: ["Ada a"],
            identifiers: { doi: "10.5555/a" },
            source: "Two",
          }),
        ],
      }),
    };
    const offer = async (more: Partial<Rrd>) =>
      await runSearch(
        { ...wanting({ keywords: ["matter alpha"], sources: ["One", "Two"] }), ...more },
        ["One", "Two"],
        searching(both).how,
      );
    const [joined, apart] = [await offer({}), await offer({ apart: [["b", "a"]] })];
    expect([joined.works.length, joined.candidates.merges.length]).toEqual([1, 1]);
    expect(apart.works.map(({ record: { id } }) => id).toSorted()).toEqual(["a", "b"]);
    expect(apart.candidates.merges).toEqual([]);
    // Each keeps the places at which its own source listed it.
    for (const { provenance } of apart.works)
      expect(new Set(provenance.places.map(({ source }) => source)).size).toBe(1);
    expect(apart.candidatesSha256).not.toBe(joined.candidatesSha256);
  });
});
