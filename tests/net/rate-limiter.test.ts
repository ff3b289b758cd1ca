import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Fetch } from "../../src/net/http.js";
import { fakeClock, httpWith, pretending, standsFor, temporaryFolder } from "../support/network/network.js";

const gaps = (times: readonly number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0));

describe("the pace of a host", () => {
  it("is one request in three seconds over all of arXiv's hosts, and no slower", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock);
    const http = httpWith({ stateDir: temporaryFolder(), clock, fetch });
    for (const host of ["export.arxiv.org", "arxiv.org", "oaipmh.arxiv.org", "export.arxiv.org"]) {
      await http.get({ url: `https://${host}/x`, limit: 100 });
    }
    expect(gaps(asked.map(({ at }) => at))).toEqual([3000, 3000, 3000]);
  });

  it("is kept by requests that are made at the same time and through different doors", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock);
    const stateDir = temporaryFolder();
    const doors = [httpWith({ stateDir, clock, fetch }), httpWith({ stateDir, clock, fetch })];
    await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) =>
        doors[n % 2]!.get({ url: `https://export.arxiv.org/api/query?n=${n}`, limit: 100 }),
      ),
    );
    expect(gaps(asked.map(({ at }) => at))).toEqual([3000, 3000, 3000, 3000, 3000]);
  });

  it.each([
    ["https://api.semanticscholar.org/graph/v1/paper/search", {}, {}, 1000],
    ["https://api.crossref.org/works", {}, {}, 200],
    ["https://api.crossref.org/works", { contact: "a@example.org" }, {}, 100],
    ["https://api.crossref.org/works", { contact: "https://example.org" }, {}, 200],
    ["https://api.github.com/search/repositories", {}, {}, 6000],
    [
      "https://api.github.com/search/repositories",
      {},
      { secret: { headers: { Authorization: "Bearer 12345678" } } },
      2000,
    ],
    ["https://api.github.com/repos/a/b", {}, {}, 1000],
    ["https://somewhere.example/paper.pdf", {}, {}, 1000],
  ])("for %s %j %j is %i ms", async (url, options, request, interval) => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock);
    const http = httpWith({ stateDir: temporaryFolder(), clock, fetch, ...options });
    for (const n of [1, 2, 3]) await http.get({ url: `${url}?n=${n}`, limit: 100, ...request });
    expect(gaps(asked.map(({ at }) => at))).toEqual([interval, interval]);
  });

  it("of one host does not hold up another", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock);
    const http = httpWith({ stateDir: temporaryFolder(), clock, fetch });
    for (const url of ["https://export.arxiv.org/a", "https://api.crossref.org/works/a"])
      await http.get({ url, limit: 100 });
    expect(gaps(asked.map(({ at }) => at))).toEqual([0]);
  });

  it("is not spent by a request that never left this machine, as of a host without a name or without a network", async () => {
    const clock = fakeClock();
    const asked: number[] = [];
    const fetch: Fetch = async () => {
      asked.push(clock.now());
      throw new TypeError("fetch failed", {
        cause: Object.assign(new Error("getaddrinfo"), { code: asked.length === 3 ? "ECONNRESET" : "ENOTFOUND" }),
      });
    };
    const http = httpWith({
      stateDir: temporaryFolder(),
      clock,
      fetch,
      lookup: () => Promise.reject(new Error("no network")),
      random: () => 0,
    });
    for (const n of [1, 2, 3]) await http.get({ url: `https://export.arxiv.org/${n}`, limit: 100 });
    expect(gaps(asked)).toEqual([0, 0, 3000]);
  });

  it("is kept for the host that a redirect leads to, too", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock, (url) =>
      url.includes("doi.example") ? { status: 302, headers: { location: `https://arxiv.org/abs/${url.at(-1)}` } } : {},
    );
    const http = httpWith({ stateDir: temporaryFolder(), clock, fetch });
    for (const n of [1, 2]) await http.get({ url: `https://doi.example/${n}`, limit: 100 });
    expect(gaps(asked.filter(({ url }) => url.includes("arxiv")).map(({ at }) => at))).toEqual([3000]);
  });

  it("is tightened by what Crossref tells in its headers, and never loosened", async () => {
    const clock = fakeClock();
    let told: Record<string, string> = {
      "x-rate-limit-limit": "2",
      "x-rate-limit-interval": "1s",
      "x-concurrency-limit": "1",
    };
    const { fetch, asked } = pretending(clock, () => ({ headers: told }));
    const http = httpWith({ stateDir: temporaryFolder(), clock, fetch, contact: "a@example.org" });
    const get = (n: number) => http.get({ url: `https://api.crossref.org/works?n=${n}`, limit: 100 });
    for (const n of [1, 2, 3]) await get(n);
    told = { "x-rate-limit-limit": "5000", "x-rate-limit-interval": "1s" };
    for (const n of [4, 5, 6]) await get(n);
    expect(gaps(asked.map(({ at }) => at))).toEqual([500, 500, 500, 500, 100]);
  });

  it("of a mirror or a test server is that of the service it stands for, unless its owner says otherwise", async () => {
    for (const [intervalMs, expected] of [
      [undefined, 3000],
      [50, 50],
      [0, 0],
    ] as const) {
      const clock = fakeClock();
      const { fetch, asked } = pretending(clock);
      const service = {
        name: "arXiv",
        officialAddress: "https://export.arxiv.org",
        endpoint: "https://mirror.example/arxiv",
        ...(intervalMs === undefined ? {} : { intervalMs }),
      };
      const http = httpWith({ stateDir: temporaryFolder(), clock, fetch, services: [service] });
      for (const n of [1, 2]) await http.get({ url: `https://mirror.example/arxiv/api/query?n=${n}`, limit: 100 });
      expect(gaps(asked.map(({ at }) => at))).toEqual([expected]);
    }
  });

  it("of services that one test server stands for is told apart by their paths", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock);
    const services = [
      standsFor("arXiv", "https://export.arxiv.org", "https://mirror.example/ar", 700),
      standsFor("Crossref", "https://api.crossref.org", "https://mirror.example/ar/crossref", 0),
      standsFor("Other", "https://other.example", "https://mirror.example", 50),
    ];
    const http = httpWith({ stateDir: temporaryFolder(), clock, fetch, services });
    const gapAt = async (path: string) => {
      for (const n of [1, 2]) await http.get({ url: `https://mirror.example${path}?n=${n}`, limit: 100 });
      clock.set(clock.now() + 10_000);
      return gaps(asked.splice(0).map(({ at }) => at))[0];
    };
    expect([
      await gapAt("/ar/api"),
      await gapAt("/ar/crossref/works"),
      await gapAt("/art"),
      await gapAt("/ar"),
    ]).toEqual([700, 0, 50, 700]);
  });

  it("goes on where the clock was set back by an hour", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock);
    const stateDir = temporaryFolder();
    const get = (n: number) => httpWith({ stateDir, clock, fetch }).get({ url: `https://arxiv.org/${n}`, limit: 100 });
    await get(1);
    const before = clock.now() - 3600_000;
    clock.set(before);
    await get(2);
    expect(clock.now() - before).toBeLessThanOrEqual(3000);
    expect(asked).toHaveLength(2);
  });

  it("survives a state file that a power cut emptied", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock);
    const stateDir = temporaryFolder();
    mkdirSync(join(stateDir, "hosts"));
    writeFileSync(join(stateDir, "hosts", "arxiv.json"), "");
    const began = clock.now();
    expect(await httpWith({ stateDir, clock, fetch }).get({ url: "https://arxiv.org/1", limit: 100 })).toMatchObject({
      status: "ok",
    });
    expect(asked[0]!.at - began).toBe(3000);
  });

  it("can't be kept where the state can't be written: the host is not asked, and the sentence says why", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock);
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    expect(
      await httpWith({ stateDir: file, clock, fetch }).get({ url: "https://arxiv.org/1", limit: 100 }),
    ).toMatchObject({
      status: "error",
      transient: true,
      reason: expect.stringMatching(/^The rate limit of arxiv\.org cannot be kept: .*file/),
    });
    expect(asked).toEqual([]);
  });
});
