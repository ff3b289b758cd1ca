import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Fetch } from "../../../src/net/http.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { contextsWith } from "../../../src/research/sources/source-settings.js";
import { scholarlySearch } from "../../../src/research/units/screening/search-session.js";
import { fakeClock } from "../../support/clock.js";
import { httpWith, type Pretended, pretending, temporaryFolder, web } from "../../support/network/network.js";
import { goodAgent, library, researchFolder, rrdWith } from "../../support/projects/research.js";

const minute = 60_000;
const off = ["crossref", "semanticscholar", "europepmc", "biorxiv", "searxng", "brave", "tavily", "unpaywall"];
const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const kinds = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** What arXiv says of so many papers, the first of which has this number. */
const feed = (first: number, papers: number): string =>
  `<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults>${papers}</opensearch:totalResults>${Array.from(
    { length: papers },
    (_, index) => {
      const id = `2401.${String(first + index).padStart(5, "0")}`;
      return `<entry><id>http://arxiv.org/abs/${id}v1</id><title>A hand that feels ${kinds[index % 10]} kinds of tools, part ${first + index}</title><published>2024-01-31T09:00:00Z</published><updated>2024-01-31T09:00:00Z</updated><summary>We study hands and tools.</summary><author><name>Ann Lee ${first + index}</name></author></entry>`;
    },
  ).join("")}</feed>`;

/** What OpenAlex says of so many works. */
const works = (papers: number): string =>
  JSON.stringify({
    meta: { count: papers },
    results: Array.from({ length: papers }, (_, index) => ({
      id: `https://openalex.org/W${1000 + index}`,
      title: `Grasping ${kinds[index % 10]} tools by touch, study ${index}`,
      publication_date: "2024-02-01",
      authorships: [{ author: { display_name: `Bo Kim ${index}` } }],
      abstract_inverted_index: { hands: [0], tools: [1] },
    })),
  });

interface Services {
  readonly arxiv: string;
  readonly openalex?: string;
  readonly fetch?: Fetch;
  readonly patienceMs?: number;
  readonly sources?: readonly string[];
  readonly target?: number;
}

/** A project whose sources answer as told, and a run of it on a clock of its own. */
function project({
  arxiv,
  openalex,
  fetch,
  patienceMs = 120 * minute,
  sources = ["arXiv"],
  target = 3,
}: Services): ReturnType<typeof researchFolder> & { readonly clock: ReturnType<typeof fakeClock> } {
  const clock = fakeClock();
  const stateDir = temporaryFolder();
  const settings = Object.fromEntries([
    ...off.map((name) => [name, { off: true }]),
    ["arxiv", { endpoint: arxiv, interval_ms: 0 }],
    ["openalex", openalex === undefined ? { off: true } : { endpoint: openalex, interval_ms: 0 }],
  ]);
  const services = [
    { name: "arXiv", officialAddress: "https://export.arxiv.org", endpoint: arxiv, intervalMs: 0 },
    {
      name: "OpenAlex",
      officialAddress: "https://api.openalex.org",
      endpoint: openalex ?? "https://off.test",
      intervalMs: 0,
    },
  ];
  const http = httpWith({ stateDir, clock, services, ...(fetch === undefined ? {} : { fetch }) });
  const rrd: Rrd = {
    ...rrdWith([]),
    phase: "DISCOVERY",
    blocked_sources: [],
    handoff: { product_ideation: { enabled: false } },
    requirements: { target_papers: target, sources: [...sources], keywords: ["tactile grasping"] },
  };
  const folder = temporaryFolder();
  const search = scholarlySearch({
    folder,
    root: folder,
    now: clock.now,
    patienceMs,
    signal: new AbortController().signal,
    contextFor: contextsWith({ sources: settings }, {}, http),
    replay: async () => [],
    onReport: () => undefined,
    onProgress: () => undefined,
  });
  return { ...researchFolder(rrd, library({ serves: () => false, ...search })), clock };
}

/** Keeps every candidate that it is offered. */
const keeping = (whenever: () => void = () => undefined) =>
  goodAgent(({ kind, unit, candidates = [] }) => {
    whenever();
    if (kind !== "discovery") return undefined;
    const kept = (candidates as { id: string }[]).map(({ id }) => ({ id, priority: 3, reason: "It fits." }));
    return { result: { unit, kept, papers: [], sources: [] } };
  });

describe("one busy source does not end a run", () => {
  test.each([
    ["429", { status: 429 }],
    ["503 with Retry-After", { status: 503, headers: { "retry-after": "120" } }],
    ["500", { status: 500 }],
    ["an answer that can't be read", { body: "<html>" }],
  ])("a source that answers with %s twice is asked after each rest, and the run is complete", async (_, busy) => {
    let tries = 0;
    const server = await web({});
    const answers = pretending(fakeClock(), (url) => {
      if (!url.includes("/api/query")) return { status: 404 };
      // A failure of the server that names no time is tried three times at once.
      tries += 1;
      return tries <= ("status" in busy && busy.status === 500 ? 6 : 2) ? busy : { body: feed(1, 4) };
    });
    const run = project({ arxiv: server.origin, fetch: answers.fetch });
    const { verdict, ledger, rrd, events } = await run.run(keeping(), 40, { clock: run.clock });
    expect(verdict).toMatchObject({ verdict: "complete" });
    expect(rrd.blocked_sources).toEqual([]);
    expect(ledger.filter(({ phase }) => phase === "DISCOVERY")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "waiting").length).toBeGreaterThan(0);
  });

  test("after three tries it is blocked with its reason, the next that can search takes over, and that is told once", async () => {
    const arxiv = await web({ "/api/query": { status: 429, body: "slow down" } });
    const openalex = await web({ "/works": { headers: { "content-type": "application/json" }, body: works(4) } });
    const run = project({ arxiv: arxiv.origin, openalex: openalex.origin });
    const { verdict, rrd, events, ledger } = await run.run(keeping(), 40, { clock: run.clock });
    expect(verdict).toMatchObject({ verdict: "complete" });
    expect(rrd.blocked_sources).toEqual([
      { name: "arXiv", reason: expect.stringMatching(/^arXiv: .*asks to wait \(HTTP 429\)/) },
    ]);
    expect(arxiv.requests.filter(({ path }) => path.startsWith("/api/query"))).toHaveLength(3);
    const told = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
    expect(told.filter((message) => message.includes("OpenAlex is searched in its place"))).toHaveLength(1);
    expect(readFileSync(join(run.folder, "progress.txt"), "utf8")).toMatch(
      /- arXiv is blocked from now on \(.*HTTP 429.*\); remove it/,
    );
    expect(rrd.papers_pool.every(({ source }) => source === "OpenAlex")).toBe(true);
    // What code settles is no iteration of an agent.
    expect(ledger.filter(({ agent, phase }) => agent !== undefined && phase === "DISCOVERY")).toHaveLength(1);
  });

  test("where nothing else can search, the run waits as long as its patience, then it is blocked, and says why", async () => {
    const arxiv = await web({ "/api/query": { status: 503 } });
    const run = project({ arxiv: arxiv.origin, patienceMs: 60 * minute });
    const began = run.clock.now();
    const { verdict, ledger } = await run.run(keeping(), 40, { clock: run.clock });
    expect(verdict).toEqual({
      verdict: "blocked",
      reason: expect.stringMatching(
        /^No source can be searched for now: arXiv: .*503.*; run again later, or use your own papers/,
      ),
    });
    expect((run.clock.now() - began) / minute).toBeCloseTo(60, 0);
    expect(ledger.every(({ agent }) => agent === undefined)).toBe(true);
  });

  test("a source that was given up is asked again every 15 minutes at most, and an answer takes it off the list", async () => {
    let tries = 0;
    const clock = fakeClock();
    const times: number[] = [];
    const { fetch } = pretending(clock, (url) => {
      if (!url.includes("/api/query")) return { status: 404 };
      times.push(clock.now());
      tries += 1;
      return tries <= 5 ? { status: 429 } : { body: feed(1, 4) };
    });
    const run = project({ arxiv: "https://arxiv.test", fetch });
    const ticking: typeof clock = { ...run.clock, now: run.clock.now };
    // The pretended host reads the clock of the run.
    Object.assign(clock, { now: run.clock.now });
    const { verdict, rrd } = await run.run(keeping(), 40, { clock: ticking });
    expect(verdict).toMatchObject({ verdict: "complete" });
    expect(rrd.blocked_sources).toEqual([]);
    const pauses = times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / minute);
    expect(pauses.slice(2).every((pause) => pause >= 15)).toBe(true);
    expect(readFileSync(join(run.folder, "progress.txt"), "utf8")).toContain(
      "- arXiv answers again and is blocked no longer",
    );
  });

  test("where the one that takes over can't be reached, the run waits for the busy one", async () => {
    let tries = 0;
    const server = await web({});
    const answers = pretending(fakeClock(), (url) => {
      if (!url.includes("/api/query")) return { status: 404 };
      tries += 1;
      return tries <= 4 ? { status: 429 } : { body: feed(1, 4) };
    });
    const run = project({
      arxiv: server.origin,
      openalex: "http://127.0.0.1:1",
      fetch: (url, options) =>
        String(url).startsWith("http://127.0.0.1:1/")
          ? Promise.reject(Object.assign(new TypeError("fetch failed"), { cause: refused }))
          : answers.fetch(url, options),
    });
    const { verdict, rrd } = await run.run(keeping(), 40, { clock: run.clock });
    expect(verdict).toMatchObject({ verdict: "complete" });
    expect(tries).toBe(5);
    expect(rrd.blocked_sources).toEqual([]);
  });

  test("other sources and readings go on while one rests", async () => {
    const clock = fakeClock();
    let tries = 0;
    const { fetch } = pretending(clock, (url) => {
      if (url.includes("/works")) return { body: works(2) };
      if (!url.includes("/api/query")) return { status: 404 };
      tries += 1;
      return tries === 1 ? { status: 429, headers: { "retry-after": "1800" } } : { body: feed(1, 4) };
    });
    const run = project({
      arxiv: "https://arxiv.test",
      openalex: "https://openalex.test",
      fetch,
      sources: ["arXiv", "OpenAlex"],
      target: 5,
    });
    const { verdict, rrd, events } = await run.run(keeping(), 40, { clock: run.clock });
    expect(verdict).toMatchObject({ verdict: "complete" });
    expect(rrd.papers_pool.length).toBe(5);
    const order = events.flatMap((event) =>
      event.type === "iteration-started" ? [event.phase] : event.type === "waiting" ? ["wait"] : [],
    );
    expect(order.slice(0, 4)).toEqual(["DISCOVERY", "ANALYSIS", "ANALYSIS", "wait"]);
    expect(order.indexOf("DISCOVERY", 1)).toBeGreaterThan(3);
  });
});

test("a night with a source that answers, asks to wait, fails, hangs and lies is complete; nothing is asked too soon or twice", async () => {
  for (const seed of [1, 2, 3]) {
    let state = seed;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const clock = fakeClock();
    const early: string[] = [];
    const answered: string[] = [];
    const twice: string[] = [];
    let notBefore = 0;
    const answer = (url: string): Pretended => {
      if (clock.now() < notBefore) early.push(`${url} ${notBefore - clock.now()} ms too soon`);
      const mood = random();
      if (mood < 0.2) {
        notBefore = clock.now() + 300_000;
        return { status: 429, headers: { "retry-after": "300" } };
      }
      if (mood < 0.4) return { status: 503 };
      if (mood < 0.5) {
        clock.advance(20_000);
        throw new DOMException("It hangs.", "TimeoutError");
      }
      if (mood < 0.6) return { body: "<html>busy</html>" };
      if (answered.includes(url)) twice.push(url);
      answered.push(url);
      return { body: feed(answered.length * 100, 3) };
    };
    const { fetch } = pretending(clock, answer);
    const run = project({ arxiv: "https://arxiv.test", fetch, target: 9, patienceMs: 600 * minute });
    Object.assign(clock, { now: run.clock.now, advance: run.clock.advance });
    const { verdict, rrd } = await run.run(
      keeping(() => run.clock.advance(7 * minute)),
      200,
      { clock: run.clock, jobs: 3 },
    );
    expect({ seed, early, twice }).toEqual({ seed, early: [], twice: [] });
    expect({ seed, ...verdict }).toMatchObject({ seed, verdict: "complete" });
    expect(rrd.papers_pool.length).toBeGreaterThan(0);
    expect(existsSync(join(run.folder, "research-report.md"))).toBe(true);
  }
});
