import { describe, expect, it } from "vitest";
import type { HttpFailure } from "../../src/net/http-failure.js";
import { fakeClock, httpWith, pretending, type Pretended, temporaryFolder } from "../support/network/network.js";

const minute = 60_000;

/** One host and a new process for each question to it: nothing is remembered but what is on the disk. */
function host(answer: (n: number) => Pretended, url = "https://export.arxiv.org/api/query") {
  const clock = fakeClock();
  let [n, questions] = [0, 0];
  const { fetch, asked } = pretending(clock, () => answer((n += 1)));
  const stateDir = temporaryFolder();
  const ask = () => httpWith({ stateDir, clock, fetch }).get({ url: `${url}?n=${(questions += 1)}`, limit: 1000 });
  return { clock, asked, ask };
}
const untilOf = (answer: unknown) => (answer as HttpFailure).retryAt;

describe("a host that asks to wait", () => {
  it("is left alone for as long as it said, by later processes too, which are told until when", async () => {
    const { clock, asked, ask } = host((n) => (n === 1 ? { status: 429, headers: { "retry-after": "120" } } : {}));
    const began = clock.now();
    expect(await ask()).toMatchObject({
      status: "rate_limited",
      code: 429,
      transient: true,
      retryAt: began + 2 * minute,
    });
    expect(await ask()).toEqual({
      status: "rate_limited",
      transient: true,
      retryAt: began + 2 * minute,
      unsent: true,
      reason: "export.arxiv.org is rate-limiting us; no request is sent before 2026-11-22T00:02:00Z.",
    });
    expect(asked).toHaveLength(1);
    clock.set(began + 2 * minute);
    expect(await ask()).toMatchObject({ status: "ok" });
  });

  it("without a key is still asked with one, and a refused key leaves another alone; arXiv, which knows no keys, is not asked", async () => {
    const clock = fakeClock();
    let refused = true;
    const { fetch } = pretending(clock, () => (refused ? { status: 429, headers: { "retry-after": "120" } } : {}));
    const http = httpWith({ stateDir: temporaryFolder(), clock, fetch });
    const hosts = ["https://api.semanticscholar.org/graph", "https://export.arxiv.org/api"];
    const ask = async (key?: string) => {
      const secret = key === undefined ? {} : { secret: { headers: { "x-api-key": key } } };
      return Promise.all(hosts.map(async (url) => (await http.get({ url, limit: 1000, ...secret })).status));
    };
    expect(await ask()).toEqual(["rate_limited", "rate_limited"]);
    refused = false;
    expect(await ask()).toEqual(["rate_limited", "rate_limited"]);
    expect(await ask("first-key")).toEqual(["ok", "rate_limited"]);
    refused = true;
    expect(await ask("first-key")).toEqual(["rate_limited", "rate_limited"]);
    refused = false;
    expect(await ask("second-key")).toEqual(["ok", "rate_limited"]);
  });

  it("may name a moment instead", async () => {
    const { clock, ask } = host(() => ({ status: 503, headers: { "retry-after": "Sun, 22 Nov 2026 00:10:00 GMT" } }));
    expect(untilOf(await ask())).toBe(clock.now() + 10 * minute);
  });

  it("without saying how long is left alone for a minute, twice as long each time, and 15 minutes at most", async () => {
    const { clock, ask } = host(() => ({ status: 429, body: "Rate exceeded." }));
    const waits: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const until = untilOf(await ask()) ?? 0;
      waits.push((until - clock.now()) / minute);
      clock.set(until);
    }
    expect(waits).toEqual([1, 2, 4, 8, 15, 15]);
  });

  it("starts from a minute again once it has answered", async () => {
    const { clock, ask } = host((n) => (n === 2 || n === 3 ? {} : { status: 429 }));
    clock.set(untilOf(await ask()) ?? 0);
    await ask();
    await ask();
    expect(untilOf(await ask())).toBe(clock.now() + minute);
  });

  it("is not waited for, however short the time is", async () => {
    const { clock, asked, ask } = host(() => ({ status: 429, headers: { "retry-after": "1" } }));
    const began = clock.now();
    expect(await ask()).toMatchObject({ status: "rate_limited" });
    expect(clock.now()).toBe(began);
    expect(asked).toHaveLength(1);
  });

  it("is never believed for more than two days", async () => {
    const { clock, ask } = host(() => ({ status: 429, headers: { "retry-after": "99999999" } }));
    expect(untilOf(await ask())).toBe(clock.now() + 48 * 60 * minute);
  });
});

describe("a budget", () => {
  it("of OpenAlex that is used up ends its questions for the day, with an answer as with a refusal", async () => {
    const spent = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "54000" };
    const { clock, asked, ask } = host((n) => (n === 1 ? { headers: spent } : {}), "https://api.openalex.org/works");
    expect(await ask()).toMatchObject({ status: "ok" });
    expect(untilOf(await ask())).toBe(clock.now() + 15 * 60 * minute);
    expect(asked).toHaveLength(1);
    const refused = host(() => ({ status: 429, headers: spent }), "https://api.openalex.org/works");
    expect(untilOf(await refused.ask())).toBe(refused.clock.now() + 15 * 60 * minute);
  });

  it("of GitHub that is used up is no refusal of access, and ends at the second it names", async () => {
    const reset = Date.UTC(2026, 10, 22, 0, 0, 40);
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(reset / 1000) };
    const { ask } = host(
      () => ({ status: 403, headers, body: '{"message":"API rate limit exceeded"}' }),
      "https://api.github.com/search/repositories",
    );
    expect(await ask()).toMatchObject({ status: "rate_limited", retryAt: reset });
  });

  it("that is not used up stops nothing, and a plain 403 stays a refusal", async () => {
    const { ask, asked } = host((n) => ({
      status: n === 1 ? 200 : 403,
      headers: { "x-ratelimit-remaining": "7", "x-ratelimit-reset": "60" },
    }));
    expect(await ask()).toMatchObject({ status: "ok" });
    expect(await ask()).toMatchObject({ status: "blocked" });
    expect(asked).toHaveLength(2);
  });
});

describe("a host that is out of service", () => {
  it("is left alone after three failures in a row, retries included", async () => {
    const { clock, asked, ask } = host(() => ({ status: 503 }));
    expect(await ask()).toMatchObject({ status: "error", transient: true, retryAt: clock.now() + minute });
    expect(asked).toHaveLength(3);
    expect(await ask()).toMatchObject({ status: "rate_limited" });
    expect(asked).toHaveLength(3);
  });
});
