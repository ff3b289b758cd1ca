import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replayCommand } from "../../../src/commands/inspect/replay.js";
import { httpFor } from "../../../src/compose/library.js";
import { resolveConfig } from "../../../src/engine/config/resolve.js";
import type { Step } from "../../../src/research/generated/rrd.js";
import { assembleCandidates, candidatesText } from "../../../src/research/search/candidates.js";
import { sourceNamed } from "../../../src/research/sources/registry.js";
import { contextOf } from "../../../src/research/sources/source-settings.js";
import { queryRecorder } from "../../../src/research/folder/logs/query-log.js";
import type { Page } from "../../fixtures/web-server.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { makeResearch } from "../../support/research-folder.js";
import { atom, scholarly, works } from "../../support/scholarly.js";

const steps: Step[] = [
  {
    kind: "search",
    sources: ["arXiv", "Crossref", "Semantic Scholar"],
    queries: [
      { terms: "shape of tools", most: 20 },
      { terms: "hands", most: 20 },
    ],
  },
];

/** A research whose search was made once through the network, which is gone since. */
async function searched(arxiv: Page, crossref: Page) {
  const place = await scholarly(arxiv, crossref);
  const name = "hands-2026-03-01";
  const folder = makeResearch(place.cwd, name);
  mkdirSync(join(folder, ".ralph"));
  const config = await resolveConfig({ env: place.env, cwd: place.cwd });
  const http = httpFor(config, new AbortController().signal, {
    cacheDir: join(folder, ".ralph", "http"),
    record: queryRecorder(folder),
  });
  const pool = await assembleCandidates(steps, (name) => {
    const source = sourceNamed(name);
    if (source === undefined) throw new Error(name);
    const context = contextOf(source, { config: config.sources, env: place.env, http });
    return "unavailable" in context ? context : { source, context };
  });
  const text = candidatesText(steps, pool);
  const pool_sha256 = createHash("sha256").update(text).digest("hex");
  makeResearch(place.cwd, name, {
    statistics: { discovery_metrics: { rounds: steps as never, pool_sha256 } } as never,
  });
  await Promise.all([place.arxiv.close(), place.crossref.close()]);
  const replay = async (json = false) => {
    const io = fakeIo({ cwd: place.cwd, env: place.env });
    return { exitCode: await replayCommand({ folder: name, json }, io), out: io.out(), err: io.err() };
  };
  return { folder, text, pool, replay };
}

test("a search comes out byte for byte the same without the network, the failures of a source included", async () => {
  const { replay, text, pool } = await searched(atom, works);
  expect(pool.works.length).toBe(2);
  expect(await replay()).toMatchObject({
    exitCode: 0,
    out: expect.stringContaining("identical, byte for byte: 2 works in 1 round"),
  });
  expect((await replay(true)).out).toBe(text);
  const failing = await searched(atom, { status: 403 });
  expect(failing.pool.works.length).toBe(1);
  expect(await failing.replay()).toMatchObject({ exitCode: 0 });
});

test("an answer that is gone or was changed is named, and the search comes out otherwise", async () => {
  const { folder, replay } = await searched(atom, works);
  const bodies = join(folder, ".ralph", "http", "bodies");
  for (const name of readdirSync(bodies)) appendFileSync(join(bodies, name), " ");
  const changed = await replay();
  expect(changed.exitCode).toBe(1);
  expect(changed.err).toMatch(/The answer of 20\d\d-.* to http:.*\/api\/query.* is no longer in /);
  expect(changed.err).toContain("answers are missing");
  rmSync(join(folder, "queries.jsonl"));
  // A log without a source says that it was not asked.
  expect((await replay()).exitCode).toBe(1);
});

test("a search that was begun again is replayed by its later answers, behind a torn line of the log too", async () => {
  const { folder, replay } = await searched(atom, works);
  const log = readFileSync(join(folder, "queries.jsonl"), "utf8");
  const earlier = log
    .trim()
    .split("\n")
    .map((row) => JSON.stringify({ ...JSON.parse(row), status: "error", reason: "It was down.", sha256: undefined }));
  writeFileSync(join(folder, "queries.jsonl"), `${earlier.join("\n")}\n${log}{"at":"20`);
  expect(await replay()).toMatchObject({ exitCode: 0 });
});

test("a research whose papers no code searched for has nothing to replay, and says so", async () => {
  const place = await scholarly(atom, works);
  makeResearch(place.cwd, "mine");
  const io = fakeIo({ cwd: place.cwd, env: place.env });
  await expect(replayCommand({ folder: "mine", json: false }, io)).rejects.toThrow(/mine has no recorded search/);
});

test("what agents asked through tools, the same questions too, has no part in a replay", async () => {
  const { folder, replay } = await searched(atom, works);
  const log = readFileSync(join(folder, "queries.jsonl"), "utf8");
  const tools = log
    .trim()
    .split("\n")
    .map((row) =>
      JSON.stringify({ ...JSON.parse(row), by: "tool", status: "error", reason: "It was down.", sha256: undefined }),
    );
  writeFileSync(join(folder, "queries.jsonl"), `${tools.join("\n")}\n${log}${tools.join("\n")}\n`);
  expect(await replay()).toMatchObject({ exitCode: 0, err: "" });
});
