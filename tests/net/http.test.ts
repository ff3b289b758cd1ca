import { afterEach, describe, expect, it } from "vitest";
import { exchange, type Fetch, type HttpOptions } from "../../src/net/http.js";
import { type Page, serve, type WebServer } from "../fixtures/web-server.js";

const servers: WebServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function web(pages: Record<string, Page>): Promise<WebServer> {
  const server = await serve(pages);
  servers.push(server);
  return server;
}
/** Every host may be asked at once. */
const openGate: HttpOptions["gate"] = {
  enter: async () => ({ markAnswered: () => undefined, end: async () => undefined }),
};

const get = (url: string, over: Partial<HttpOptions> = {}) =>
  exchange(
    { url, limit: 100_000 },
    { signal: new AbortController().signal, privateAddresses: false, gate: openGate, ...over },
  );

/** Answers for hosts that tests can't reach: a redirect for each address, else a page. */
const pretending =
  (redirects: Record<string, string>, asked: string[] = []): Fetch =>
  async (url) => {
    asked.push(url);
    const location = redirects[url];
    const headers = new Headers(location === undefined ? { "content-type": "text/html" } : { location });
    return {
      status: location === undefined ? 200 : 302,
      headers,
      body: new Blob(["a page"]).stream() as unknown as AsyncIterable<Uint8Array>,
    };
  };

describe("an address inside this machine or its network", () => {
  const secret = { "/": { body: "a secret of the intranet" } };

  it("is refused by its number and by its name, and nothing is asked of it", async () => {
    const inside = await web(secret);
    const { port } = new URL(inside.origin);
    const numbers = [
      "127.0.0.1",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "127.1",
      "127.0.0.1.",
      "１２７.0.0.1",
      "0",
      "0.0.0.0",
    ];
    const names = [
      "localhost",
      "LOCALHOST",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::127.0.0.1]",
      "[64:ff9b::7f00:1]",
      "[64:ff9b:1::7f00:1]",
    ];
    for (const host of [...numbers, ...names]) {
      expect(await get(`http://${host}:${port}/`), host).toMatchObject({
        status: "blocked",
        reason: expect.stringContaining("this machine or its network"),
      });
    }
    expect(inside.requests).toEqual([]);
  });

  it.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0251.0376.0251.0376/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fd00:ec2::254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://10.0.0.1:8080/",
    "http://user:word@192.168.1.1/",
    "//172.16.0.9/",
  ])("is refused where a public page redirects to it: %s", async (inside) => {
    const asked: string[] = [];
    const fetch = pretending({ "https://papers.example/1": "/2", "https://papers.example/2": inside }, asked);
    expect(await get("https://papers.example/1", { fetch })).toMatchObject({
      status: "blocked",
      reason: expect.stringContaining("its network"),
    });
    expect(asked).toEqual(["https://papers.example/1", "https://papers.example/2"]);
  });

  it("is read where a person named it, a redirect of its own included", async () => {
    const inside = await web({ "/": { status: 302, headers: { location: "/next" } }, "/next": { body: "there" } });
    expect(await get(inside.origin, { privateAddresses: true })).toMatchObject({
      status: "ok",
      url: `${inside.origin}/next`,
    });
  });

  it("is refused where a page redirects to it, from another private host as from a public one", async () => {
    const inside = await web(secret);
    const named = await web({ "/": { status: 302, headers: { location: inside.origin } } });
    expect(await get(named.origin, { privateAddresses: true })).toMatchObject({ status: "blocked" });
    const asked: string[] = [];
    const fetch = pretending({ "https://papers.example/1": `${inside.origin}/` }, asked);
    expect(await get("https://papers.example/1", { fetch, privateAddresses: true })).toMatchObject({
      status: "blocked",
    });
    expect(asked).toEqual(["https://papers.example/1"]);
    expect(inside.requests).toEqual([]);
  });
});

describe("redirects", () => {
  it("are followed, relative ones too, and the last address is the document's", async () => {
    const fetch = pretending({
      "https://doi.example/10.1/x": "https://papers.example/a/",
      "https://papers.example/a/": "../b?c=1",
    });
    expect(await get("https://doi.example/10.1/x", { fetch })).toMatchObject({
      status: "ok",
      url: "https://papers.example/b?c=1",
    });
  });

  it("end after ten", async () => {
    const asked: string[] = [];
    expect(
      await get("https://a.example/", { fetch: pretending({ "https://a.example/": "https://a.example/" }, asked) }),
    ).toMatchObject({ status: "error", reason: "a.example redirects more than 10 times." });
    expect(asked).toHaveLength(11);
  });

  it("lead to no other kind of address", async () => {
    const fetch = pretending({ "https://a.example/": "file:///etc/passwd" });
    expect(await get("https://a.example/", { fetch })).toMatchObject({
      status: "error",
      reason: "'file:///etc/passwd' is not an http or https address.",
    });
  });
});

describe("a host that is not found", () => {
  const fetch: Fetch = async () => {
    throw new TypeError("fetch failed", {
      cause: Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }),
    });
  };

  it("may be found later while no other host is found either, and does not exist where others are", async () => {
    const offline = async () => Promise.reject(new Error("offline"));
    expect(await get("https://made-up.example/", { fetch, lookup: offline })).toMatchObject({
      status: "error",
      transient: true,
    });
    const online = await get("https://made-up.example/", { fetch, lookup: async () => ["93.184.215.14"] });
    expect(online).toEqual({ status: "not-found", reason: "There is no host made-up.example; check the address." });
  });
});
