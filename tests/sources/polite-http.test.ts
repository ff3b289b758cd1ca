import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { QueryLine } from "../../src/generated/query.js";
import { politeHttp } from "../../src/sources/polite-http.js";
import { serve, type WebServer } from "../fixtures/web-server.js";

let folder: string;
let server: WebServer | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "polite-"));
});
afterEach(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

describe("answers", () => {
  it("come from the network once and then from the cache", async () => {
    server = await serve({ "/api": { headers: { "content-type": "application/json" }, body: '{"results":[1,2]}' } });
    const lines: QueryLine[] = [];
    const http = politeHttp({
      signal: new AbortController().signal,
      stateDir: join(folder, "state"),
      cacheDir: join(folder, "http"),
      services: [{ name: "OpenAlex", own: "https://api.openalex.org", endpoint: server.origin }],
      record: async (line) => void lines.push(line),
    });
    const url = `${server.origin}/api?search=x`;
    expect(await http.get({ url, limit: 1000 })).toMatchObject({ status: "ok", url });
    expect(await http.get({ url, limit: 1000 })).toMatchObject({ status: "ok", url });
    expect(server.requests).toHaveLength(1);
    expect(lines.map(({ source, from, results }) => [source, from, results])).toEqual([
      ["OpenAlex", "network", 2],
      ["OpenAlex", "cache", 2],
    ]);
  });
});
