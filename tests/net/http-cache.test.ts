import { appendFileSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stateVersion } from "../../src/engine/storage/state/format-version.js";
import { hashOf, httpCache } from "../../src/net/http-cache.js";
import { temporaryFolder } from "../support/network/network.js";

const answer = (bytes: Uint8Array) => ({
  sha256: hashOf(bytes),
  url: "https://a.example/",
  type: "text/plain",
  checkedAt: 1,
});
const key = (n: number) => hashOf(`key ${n}`);
const bytes = (text: string) => Buffer.from(text);

describe("a kept answer", () => {
  it("is found with its body, in another process too", async () => {
    const folder = temporaryFolder();
    await httpCache(folder).keep("k", answer(bytes("body")), bytes("body"));
    expect(await httpCache(folder).find("k")).toEqual({ answer: answer(bytes("body")), bytes: bytes("body") });
  });

  it.each([
    ["whose entry is torn", (folder: string) => writeFileSync(join(folder, "answers", "k.json"), '{"sha256":"')],
    ["whose entry is something else", (folder: string) => writeFileSync(join(folder, "answers", "k.json"), "[1]")],
    [
      "of a later format",
      (folder: string) => {
        const path = join(folder, "answers", "k.json");
        writeFileSync(path, readFileSync(path, "utf8").replace(/"format":\d+/, `"format":${stateVersion + 1}`));
      },
    ],
    ["whose body is torn", (folder: string) => writeFileSync(join(folder, "bodies", hashOf("body")), "bo")],
    ["whose body was changed", (folder: string) => appendFileSync(join(folder, "bodies", hashOf("body")), "!")],
  ])("%s is a miss, and is replaced", async (_what, harm) => {
    const folder = temporaryFolder();
    const cache = httpCache(folder);
    await cache.keep("k", answer(bytes("body")), bytes("body"));
    harm(folder);
    expect(await cache.find("k")).toBeUndefined();
    await cache.keep("k", answer(bytes("body")), bytes("body"));
    expect((await cache.find("k"))?.bytes).toEqual(bytes("body"));
  });

  it("leaves the body of an older answer to the same request where it is", async () => {
    const cache = httpCache(temporaryFolder());
    await cache.keep("k", answer(bytes("old")), bytes("old"));
    await cache.keep("k", answer(bytes("new")), bytes("new"));
    expect(await cache.body(hashOf("old"))).toEqual(bytes("old"));
  });

  it("is none where the disk refuses, and nobody is bothered with it", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const cache = httpCache(file);
    await cache.keep("k", answer(bytes("body")), bytes("body"));
    expect(await cache.find("k")).toBeUndefined();
  });

  it("is never looked for outside the cache", async () => {
    expect(await httpCache(temporaryFolder()).body("../../etc/passwd")).toBeUndefined();
  });
});

describe("the room of a cache", () => {
  const sizeOf = (folder: string) =>
    ["answers", "bodies"]
      .flatMap((part) => readdirSync(join(folder, part)).map((name) => statSync(join(folder, part, name)).size))
      .reduce((a, b) => a + b, 0);
  const body = (n: number) => Buffer.alloc(1000, n);

  it("is made of our own files alone: a folder that an agent links there keeps its own", async () => {
    const folder = temporaryFolder();
    const cache = httpCache(folder, 10_000);
    await cache.keep(key(1), answer(bytes("body")), bytes("body"));
    writeFileSync(join(folder, "bodies", "precious.jpg"), Buffer.alloc(20_000));
    for (const n of [2, 3, 4, 5, 6, 7, 8])
      await cache.keep(key(n), answer(Buffer.alloc(2000, n)), Buffer.alloc(2000, n));
    expect(readdirSync(join(folder, "bodies"))).toContain("precious.jpg");
    expect(await cache.find(key(8))).toBeDefined();
    expect(await cache.find(key(2))).toBeUndefined();
  });

  it("is never exceeded: what was not used for longest goes first", async () => {
    const folder = temporaryFolder();
    const cache = httpCache(folder, 10_000);
    for (const n of [1, 2, 3, 4, 5, 6]) {
      await cache.keep(key(n), answer(body(n)), body(n));
      const past = new Date(Date.now() - 3600_000 + n * 1000);
      for (const path of [join(folder, "answers", `${key(n)}.json`), join(folder, "bodies", hashOf(body(n)))])
        utimesSync(path, past, past);
    }
    // Used again, so that it is the newest.
    expect(await cache.find(key(1))).toBeDefined();
    for (const n of [7, 8, 9, 10]) await cache.keep(key(n), answer(body(n)), body(n));
    expect(sizeOf(folder)).toBeLessThanOrEqual(10_000);
    expect(await cache.find(key(1))).toBeDefined();
    expect(await cache.find(key(10))).toBeDefined();
    expect(await cache.find(key(2))).toBeUndefined();
  });

  it("is not given to one body alone", async () => {
    const folder = temporaryFolder();
    await httpCache(folder, 10_000).keep("k", answer(Buffer.alloc(6000)), Buffer.alloc(6000));
    expect(readdirSync(folder)).toEqual([]);
  });
});
