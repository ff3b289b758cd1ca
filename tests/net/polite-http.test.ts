import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { QueryLine } from "../../src/engine/generated/query.js";
import type { HttpDocument, Request } from "../../src/net/http.js";
import type { PoliteHttpOptions } from "../../src/net/polite-http.js";
import type { Page } from "../fixtures/web-server.js";
import { fakeClock, httpWith, pretending, standsFor, temporaryFolder, web } from "../support/network/network.js";

/** A test server asked as OpenAlex, with what is kept and recorded of it. */
async function world(pages: Record<string, Page | readonly Page[]>, over: Partial<PoliteHttpOptions> = {}) {
  const server = await web(pages);
  const folder = temporaryFolder();
  const lines: QueryLine[] = [];
  const http = httpWith({
    stateDir: join(folder, "state"),
    cacheDir: join(folder, "http"),
    services: [standsFor("OpenAlex", "https://api.openalex.org", server.origin)],
    record: async (line) => void lines.push(line),
    ...over,
  });
  const get = (path: string, request: Partial<Request> = {}) =>
    http.get({ url: `${server.origin}${path}`, limit: 100_000, ...request });
  return { server, folder, lines, get };
}
const text = (answer: unknown) => Buffer.from((answer as HttpDocument).bytes).toString();
const json = { "content-type": "application/json" };

describe("an answer", () => {
  it("is asked for once a day; both times are recorded, with its hash and the number of its results", async () => {
    const clock = fakeClock();
    const { server, lines, get } = await world({ "/works": { headers: json, body: '{"results":[1,2]}' } }, { clock });
    const answers = [await get("/works?search=x"), await get("/works?search=x")];
    expect(answers.map(text)).toEqual(['{"results":[1,2]}', '{"results":[1,2]}']);
    expect(server.requests).toHaveLength(1);
    clock.set(clock.now() + 24 * 3600_000);
    await get("/works?search=x");
    expect(server.requests).toHaveLength(2);
    expect(lines.map(({ source, from, results }) => [source, from, results])).toEqual([
      ["OpenAlex", "network", 2],
      ["OpenAlex", "cache", 2],
      ["OpenAlex", "network", 2],
    ]);
    expect(new Set(lines.map(({ sha256 }) => sha256)).size).toBe(1);
    expect(lines[0]).toMatchObject({
      at: "2026-11-22T00:00:00.000Z",
      method: "GET",
      url: `${server.origin}/works?search=x`,
      status: "ok",
      bytes: 17,
    });
  });

  it("is kept apart for another body, another kind of document and another address", async () => {
    const { server, get } = await world({ "/works": { headers: json, body: "{}" } });
    await get("/works", { json: { ids: [1] } });
    await get("/works", { json: { ids: [2] } });
    await get("/works", { accept: "text/html" });
    await get("/works");
    await get("/works?a");
    expect(server.requests).toHaveLength(5);
    await get("/works", { json: { ids: [1] } });
    expect(server.requests).toHaveLength(5);
  });

  it("that has aged is confirmed by its ETag or its date, without being sent again", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock, () =>
      asked.length === 1
        ? { headers: { etag: '"v1"', "last-modified": "Sun, 01 Nov 2026 00:00:00 GMT" }, body: "first" }
        : { status: 304, body: "" },
    );
    const lines: QueryLine[] = [];
    const http = httpWith({
      stateDir: temporaryFolder(),
      cacheDir: temporaryFolder(),
      clock,
      fetch,
      record: async (line) => void lines.push(line),
    });
    const get = () => http.get({ url: "https://api.openalex.org/works", limit: 100 });
    await get();
    clock.set(clock.now() + 25 * 3600_000);
    expect(text(await get())).toBe("first");
    expect(asked[1]!.headers).toMatchObject({
      "If-None-Match": '"v1"',
      "If-Modified-Since": "Sun, 01 Nov 2026 00:00:00 GMT",
    });
    expect(text(await get())).toBe("first");
    expect(asked).toHaveLength(2);
    expect(lines.map(({ from }) => from)).toEqual(["network", "confirmed", "cache"]);
  });

  it("that is a failure is not kept, but its body and its reason are recorded", async () => {
    const { server, lines, folder, get } = await world({ "/works": { status: 400, body: "bad filter" } });
    await get("/works");
    await get("/works");
    expect(server.requests).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      status: "error",
      code: 400,
      bytes: 10,
      reason: expect.stringContaining("HTTP 400"),
    });
    expect(readFileSync(join(folder, "http", "bodies", lines[0]!.sha256!), "utf8")).toBe("bad filter");
  });
});

describe("another try", () => {
  const fine: Page = { headers: json, body: "{}" };

  it.each([
    ["of a failing server", [{ status: 500 }, { status: 502 }, fine], "ok", 3],
    ["of a server that goes on failing", [{ status: 500 }], "error", 3],
    ["of a connection that was cut", [{ cut: true }, fine], "ok", 2],
    [
      "of a body that was cut midway",
      [{ headers: { "content-length": "50" }, body: "half", cutAfter: true }, fine],
      "ok",
      2,
    ],
  ] as const)("is made %s", async (_what, pages, status, requests) => {
    const { server, get } = await world({ "/works": pages });
    expect(await get("/works")).toMatchObject({ status });
    expect(server.requests).toHaveLength(requests);
  });

  it.each([400, 401, 403, 404, 410, 422, 429])("is not made after HTTP %i", async (status) => {
    const { server, get } = await world({ "/works": { status } });
    await get("/works");
    expect(server.requests).toHaveLength(1);
  });

  it("waits a random part of a second that doubles", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock, () => ({ status: 500 }));
    const services = [standsFor("OpenAlex", "https://api.openalex.org", "https://mirror.example")];
    await httpWith({ stateDir: temporaryFolder(), clock, fetch, services, random: () => 0.5 }).get({
      url: "https://mirror.example/x",
      limit: 10,
    });
    expect(asked.map(({ at }) => at - asked[0]!.at)).toEqual([0, 500, 1500]);
  });
});

describe("a body", () => {
  // 200 times the same packed megabyte of zeros: packing all of them takes a CPU second.
  const megabyte = deflateRawSync(Buffer.alloc(1024 * 1024), { finishFlush: constants.Z_FULL_FLUSH });
  const zeros = Buffer.concat([...Array.from({ length: 200 }, () => megabyte), deflateRawSync("")]);
  const gzipHead = gzipSync("").subarray(0, 10);
  const zlibHead = deflateSync("").subarray(0, 2);

  it.each([
    ["gzip", Buffer.concat([gzipHead, zeros])],
    ["br", brotliCompressSync(Buffer.alloc(200 * 1024 * 1024), { params: { 1: 1 } })],
    ["deflate", Buffer.concat([zlibHead, zeros])],
  ])("is measured unpacked: a %s bomb of 200 MB is refused before it fills the memory", async (encoding, body) => {
    const { get, folder } = await world({ "/bomb": { headers: { ...json, "content-encoding": encoding }, body } });
    const before = process.memoryUsage.rss();
    expect(await get("/bomb", { limit: 1024 * 1024 })).toMatchObject({
      status: "error",
      reason: expect.stringContaining("more than 1 MB"),
    });
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
    expect(readdirSync(folder)).toEqual(["state"]);
  });

  const article = Buffer.from("The gripper learned to grasp objects that it had never felt before. ".repeat(200));
  const packed = {
    gzip: gzipSync(article),
    br: brotliCompressSync(article),
    deflate: deflateSync(article),
    raw: deflateRawSync(article),
  };

  it.each(Object.keys(packed) as (keyof typeof packed)[])(
    "packed by %s comes unpacked, and cut short it is none",
    async (coding) => {
      const headers = { ...json, "content-encoding": coding === "raw" ? "deflate" : coding };
      const { get } = await world({
        "/whole": { headers, body: packed[coding] },
        "/half": { headers, body: packed[coding].subarray(0, packed[coding].length / 2) },
        "/empty": { headers, body: "" },
      });
      const whole = await get("/whole", { limit: 1024 * 1024 });
      expect(whole.status === "ok" ? Buffer.from(whole.bytes).equals(article) : whole.reason).toBe(true);
      for (const path of ["/half", "/empty"])
        expect(await get(path, { limit: 1024 * 1024 })).toMatchObject({
          status: "error",
          reason: expect.stringContaining("incomplete"),
        });
    },
  );

  it("that is a part nobody asked for is a failure", async () => {
    const { get } = await world({
      "/part": { status: 206, headers: { "content-range": "bytes 0-99/1000" }, body: "x".repeat(100) },
    });
    expect(await get("/part", { limit: 1000 })).toMatchObject({
      status: "error",
      reason: expect.stringContaining("206"),
    });
  });

  it("of just the limit is taken, and one byte more is not", async () => {
    const { get } = await world({ "/a": { body: "x".repeat(1000) }, "/b": { body: "x".repeat(1001) } });
    expect(await get("/a", { limit: 1000 })).toMatchObject({ status: "ok" });
    expect(await get("/b", { limit: 1000 })).toMatchObject({ status: "error" });
  });
});

describe("a key", () => {
  const key = "planted-key-0123456789";
  const token = "planted/token+with=signs";
  const secret = { query: { api_key: key }, headers: { Authorization: `Bearer ${token}`, "x-api-key": key } };
  const forms = [key, token, encodeURIComponent(token)];
  const clean = (told: unknown) => {
    const all =
      typeof told === "string"
        ? told
        : JSON.stringify(told, (_name, value) =>
            value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
          );
    expect(forms.filter((form) => all.includes(form))).toEqual([]);
  };
  const filesUnder = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

  it("is sent to the service, and found in no answer, record, file or file name, also where the service repeats it", async () => {
    const echo: Page[] = [
      { headers: json, body: JSON.stringify({ meta: { url: `/works?api_key=${key}`, auth: token } }) },
    ];
    const { server, lines, folder, get } = await world({
      "/works": echo,
      "/no": { status: 400, body: `unknown key ${key} ${token}` },
    });
    clean(await get("/works?search=x", { secret }));
    clean(await get("/no", { secret }));
    clean(await get("/works?search=x", { secret }));
    expect(server.requests[0]!.path).toBe(`/works?search=x&api_key=${key}`);
    clean(lines);
    const files = filesUnder(folder);
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) clean(file.name + readFileSync(join(file.parentPath, file.name), "latin1"));
  });

  it("stays out of what is said of a failure: a wrong header, a lost host, a redirect to nowhere", async () => {
    const { server, lines, get } = await world({
      "/loop": { status: 302, headers: { location: `ftp://x.example/?k=${key}&t=${encodeURIComponent(token)}` } },
      "/cut": { cut: true },
    });
    const answers = [
      await get("/x", { secret: { headers: { "x-api-key": `${key}\nx` } } }),
      await get("/loop", { secret }),
      await get("/cut", { secret }),
      await get("/missing", { secret }),
    ];
    expect(answers.every(({ status }) => status !== "ok")).toBe(true);
    clean(answers);
    clean(lines);
    expect(server.requests.length).toBeGreaterThan(2);
  });

  it("never follows a redirect to another origin, and a header follows one to the same", async () => {
    const clock = fakeClock();
    const hops: Record<string, string> = {
      "https://api.openalex.org/a?api_key=planted-key-0123456789": "https://elsewhere.example/b",
      "https://elsewhere.example/b": "https://api.openalex.org/c",
      "https://api.openalex.org/d?api_key=planted-key-0123456789": "/e",
    };
    const { fetch, asked } = pretending(clock, (url) =>
      hops[url] === undefined ? {} : { status: 302, headers: { location: hops[url] } },
    );
    const http = httpWith({ stateDir: temporaryFolder(), clock, fetch });
    await http.get({ url: "https://api.openalex.org/a", limit: 100, secret });
    await http.get({ url: "https://api.openalex.org/d", limit: 100, secret });
    expect(asked.map(({ url, headers }) => [url.split("?")[0], "x-api-key" in headers])).toEqual([
      ["https://api.openalex.org/a", true],
      ["https://elsewhere.example/b", false],
      ["https://api.openalex.org/c", false],
      ["https://api.openalex.org/d", true],
      ["https://api.openalex.org/e", true],
    ]);
  });

  it("in an address of the configuration, as its user and password, is sent as a header and told to nobody", async () => {
    const clock = fakeClock();
    const { fetch, asked } = pretending(clock);
    const lines: QueryLine[] = [];
    const http = httpWith({ stateDir: temporaryFolder(), clock, fetch, record: async (line) => void lines.push(line) });
    const answer = await http.get({
      url: "https://me:planted-key-0123456789@mirror.example/works?mailto=me@example.org&a=%20b",
      limit: 100,
    });
    expect(answer).toMatchObject({ status: "ok", url: "https://mirror.example/works?a=%20b" });
    expect(asked[0]!.headers["Authorization"]).toBe(`Basic ${Buffer.from(`me:${key}`).toString("base64")}`);
    expect(asked[0]!.url).toBe("https://mirror.example/works?mailto=me@example.org&a=%20b");
    expect(lines[0]!.url).toBe("https://mirror.example/works?a=%20b");
  });
});

describe("an address inside this machine or its network", () => {
  it("is asked where the configuration or a person names it, and nowhere else", async () => {
    const { server, get } = await world({ "/a": { body: "x" } });
    const stranger = httpWith({ stateDir: temporaryFolder() });
    const typed = httpWith({ stateDir: temporaryFolder(), typedAddresses: [`${server.origin}/other`] });
    expect(await get("/a")).toMatchObject({ status: "ok" });
    expect(await stranger.get({ url: `${server.origin}/a`, limit: 10 })).toMatchObject({ status: "blocked" });
    expect(await typed.get({ url: `${server.origin}/a`, limit: 10 })).toMatchObject({ status: "ok" });
    expect(await typed.get({ url: "http://127.0.0.2:1/a", limit: 10 })).toMatchObject({ status: "blocked" });
  });
});

describe("an interruption", () => {
  it("ends a wait for a turn at once and is not recorded", async () => {
    const stop = new AbortController();
    const lines: QueryLine[] = [];
    const http = httpWith({
      stateDir: temporaryFolder(),
      signal: stop.signal,
      fetch: pretending(fakeClock()).fetch,
      record: async (line) => void lines.push(line),
    });
    const get = () => http.get({ url: "https://export.arxiv.org/a", limit: 10 });
    await get();
    const waiting = get();
    stop.abort();
    expect(await waiting).toMatchObject({ status: "error", transient: true, reason: "Fetching was interrupted." });
    expect(lines).toHaveLength(1);
  });
});
