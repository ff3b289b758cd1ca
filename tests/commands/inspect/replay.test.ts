import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replayCommand } from "../../../src/commands/inspect/replay.js";
import { httpFor } from "../../../src/research/sources/network.js";
import { resolveConfig } from "../../../src/compose/config.js";
import type { Step } from "../../../src/research/generated/rrd.js";
import { candidatesOf, candidatesText } from "../../../src/research/search/candidates.js";
import { commitSearch, readCommittedSearch } from "../../../src/research/search/committed-search.js";
import type { Listing } from "../../../src/research/search/result-list.js";
import { runStep } from "../../../src/research/search/run-round.js";
import { searchFile } from "../../../src/research/project-files/layout.js";
import { sourceNamed } from "../../../src/research/sources/registry.js";
import { contextsWith } from "../../../src/research/sources/source-settings.js";
import { queryRecorder } from "../../../src/research/project-files/logs/query-log.js";
import type { Page } from "../../fixtures/web-server.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch } from "../../support/projects/research-folder.js";
import { atom, scholarly, works } from "../../support/network/scholarly.js";

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
  const listings: Listing[] = [];
  for (const [index, step] of steps.entries())
    listings.push(
      ...(await runStep(index, step, (wanted) => {
        const source = sourceNamed(wanted);
        if (source === undefined) throw new Error(wanted);
        const context = contextsWith(config, place.env, http)(source);
        return "unavailable" in context ? context : { source, context };
      })),
    );
  const pool = candidatesOf(listings, []);
  await commitSearch(searchFile(folder), { search: "hands", day: "2026-03-01", steps, listings });
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
  rmSync(searchFile(folder));
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

test("a clone, which has no answers of the sources, replays from the records that are committed", async () => {
  const { folder, text, replay } = await searched(atom, works);
  rmSync(join(folder, ".ralph"), { recursive: true });
  const { exitCode, out } = await replay();
  expect(exitCode).toBe(0);
  expect(out).toContain("identical, byte for byte: 2 works in 1 round");
  expect(out).toContain("From the records in search-records.json.gz: merging and ranking were replayed");
  expect((await replay(true)).out).toBe(text);

  writeFileSync(searchFile(folder), "broken");
  const broken = await replay();
  expect(broken.exitCode).toBe(1);
  expect(broken.err).toContain("this folder is a clone");
  expect(broken.err).toContain("search-records.json.gz can't be read");
  rmSync(searchFile(folder));
  expect((await replay()).err).toContain(
    "there is no search-records.json.gz; commit it from the machine that searched",
  );
});

test("what is committed of a search holds each record once, and the same search writes the same bytes", async () => {
  const { folder } = await searched(atom, works);
  const path = searchFile(folder);
  const kept = await readCommittedSearch(path);
  if (kept === undefined) throw new Error("nothing was committed");
  const before = readFileSync(path);
  const many = { ...kept, listings: Array.from({ length: 50 }, () => kept.listings).flat() };
  await commitSearch(path, many);
  expect(readFileSync(path).length).toBeLessThan(before.length + 500);
  expect((await readCommittedSearch(path))?.listings).toEqual(many.listings);
  await commitSearch(path, kept);
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(await readCommittedSearch(join(folder, "rrd.json"))).toBe(undefined);
});

test("the documents of a folder are listed again, wherever it lies, and one that changed is noticed", async () => {
  const cwd = freshFolder();
  mkdirSync(join(cwd, "papers"));
  writeFileSync(join(cwd, "papers", "a.md"), "# On touch\n\nBy Ann Lee\n\n## Abstract\n\nWe touch.\n");
  makeResearch(cwd, "mine", { requirements: { sources: ["folder:papers"], target_papers: 1 }, phase: "DISCOVERY" });
  await cli(["run", "mine", "--agent", "baseline", "-i", "1", "--no-git"], cwd);
  const moved = freshFolder();
  cpSync(cwd, moved, { recursive: true });
  for (const place of [cwd, moved])
    expect(await cli(["replay", "mine"], place)).toMatchObject({
      code: 0,
      out: expect.stringContaining("The listing is identical: 1 document of folder:papers"),
    });
  const json = await cli(["replay", "mine", "--json"], moved);
  const read: unknown = JSON.parse(json.out);
  expect(read).toMatchObject({ identical: true, sources: ["folder:papers"], documents: 1 });
  writeFileSync(join(moved, "papers", "b.md"), "# On sight\n\nWe see.\n");
  expect(await cli(["replay", "mine"], moved)).toMatchObject({
    code: 1,
    err: expect.stringContaining("The listing differs: 2 documents of folder:papers"),
  });
});

test("the sample project of the package replays", async () => {
  const folder = packageFile("researches");
  const name = "sample-sim2real-transfer-dexterous-manipulation-2026-11-22";
  const cwd = freshFolder();
  cpSync(join(folder, name), join(cwd, "researches", name), { recursive: true });
  expect(await cli(["replay", name], cwd)).toMatchObject({
    code: 0,
    out: expect.stringContaining("The listing is identical: 12 documents of samples"),
  });
});

test("what a run commits is enough for a clone to replay its search", async () => {
  const { cwd } = await scholarly(atom, works);
  const git = (at: string, ...args: readonly string[]) => execFileSync("git", args, { cwd: at, stdio: "ignore" });
  git(cwd, "init", "-q");
  makeResearch(cwd, "hands-2026-03-01", {
    phase: "DISCOVERY",
    requirements: { sources: ["arXiv", "Crossref"], keywords: ["hands that feel tools"], target_papers: 1 },
  });
  expect((await cli(["run", "hands", "--agent", "baseline", "-i", "1"], cwd)).code).toBe(3);
  const clone = join(freshFolder(), "clone");
  git(cwd, "clone", "-q", cwd, clone);
  cpSync(join(cwd, "ralph.config.yaml"), join(clone, "ralph.config.yaml"));
  expect(existsSync(join(clone, "researches", "hands-2026-03-01", ".ralph"))).toBe(false);
  expect(await cli(["replay", "hands"], clone)).toMatchObject({
    code: 0,
    out: expect.stringContaining("identical, byte for byte"),
  });
});
