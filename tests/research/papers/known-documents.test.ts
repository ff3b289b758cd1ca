import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { localSources } from "../../../src/compose/library.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { storedFields } from "../../../src/research/papers/paper-record.js";
import { withDocumentsFound } from "../../../src/research/papers/known-documents.js";
import { readResearch } from "../../../src/research/project-files/research.js";
import { nextBatch } from "../../../src/research/units/screening/screening-batch.js";
import { library, rrdWith, temporaryFolder } from "../../support/projects/research.js";

const { signal } = new AbortController();
/** What a project in `researches/x` has left to screen of the folder `texts` beside it. */
const batchOf = async (root: string, rrd: Rrd) =>
  await nextBatch(
    { ...rrd, requirements: { ...rrd.requirements, sources: ["folder:texts"] } },
    library(localSources(join(root, "researches", "x"), root, signal)),
  );

describe.each(["2026-11-27", "ac64460"])("a folder of format %s that was moved with its documents", (format) => {
  it("finds them by the ends of their paths, and has nothing of them to screen", async () => {
    const root = temporaryFolder();
    const folder = join(root, "researches", "x");
    cpSync(packageFile("tests/fixtures/formats", format, "complete"), folder, { recursive: true });
    cpSync(packageFile("demo/corpus"), join(root, "texts"), { recursive: true });
    const { rrd } = await readResearch(folder);
    const addresses = rrd.papers_pool.map(({ url }) => url);
    expect(addresses.length).toBeGreaterThan(4);
    for (const address of addresses) expect(address).toContain(pathToFileURL(join(root, "texts")).href);
    expect(rrd.excluded?.every(({ url }) => url === undefined || !url?.includes("project-root"))).toBe(true);
    const offered = await batchOf(root, rrd);
    const known = new Set([...rrd.papers_pool, ...(rrd.excluded ?? [])].map(({ id }) => id));
    expect(offered.candidates.filter(({ id }) => known.has(id))).toEqual([]);
  });
});

/** A folder of two notes that were screened: the state, and where it lies. */
async function screened() {
  const root = temporaryFolder();
  mkdirSync(join(root, "researches", "x"), { recursive: true });
  mkdirSync(join(root, "texts", "old"), { recursive: true });
  const texts = { one: join(root, "texts", "old", "one.txt"), two: join(root, "texts", "two.txt") };
  writeFileSync(texts.one, "Shrews drink at night, as we saw.");
  writeFileSync(texts.two, "Moles dig by day, which nobody knew.");
  const { candidates } = await batchOf(root, rrdWith([]));
  const [one, two] = candidates;
  if (one === undefined || two === undefined) throw new Error("two notes");
  const rrd = rrdWith([
    { ...storedFields(one), status: "presented" },
    { ...storedFields(two), status: "rejected" },
  ]);
  return { root, texts, rrd, ids: [one.id, two.id] as const };
}

describe("a document is known again", () => {
  it("by its text where it was renamed, and the paper then lies there", async () => {
    const { root, texts, rrd, ids } = await screened();
    const renamed = join(root, "texts", "a new name.txt");
    renameSync(texts.one, renamed);
    const { candidates, moved = [] } = await batchOf(root, rrd);
    expect(candidates).toEqual([]);
    expect(moved).toMatchObject([
      { id: ids[0], set: { url: pathToFileURL(renamed).href, document: { path: "../../texts/a new name.txt" } } },
    ]);
  });

  it("by its path where its text was changed: it is the same paper", async () => {
    const { root, texts, rrd, ids } = await screened();
    writeFileSync(texts.two, "Moles dig by night. We were wrong.");
    const { candidates, moved = [] } = await batchOf(root, rrd);
    expect(candidates).toEqual([]);
    expect(moved.map(({ id }) => id)).toEqual([ids[1]]);
  });

  it("by both where another text took its place: the text goes with its paper, and the new one is new", async () => {
    const { root, texts, rrd, ids } = await screened();
    renameSync(texts.two, join(root, "texts", "kept.txt"));
    writeFileSync(texts.two, "Voles are another matter altogether.");
    const { candidates, moved = [] } = await batchOf(root, rrd);
    expect(moved.map(({ id }) => id)).toEqual([ids[1]]);
    expect(candidates).toHaveLength(1);
    expect(ids).not.toContain(candidates[0]?.id);
  });

  it("by its path from the project, wherever both lie, and where the old folder is still there", async () => {
    const { root, rrd } = await screened();
    const elsewhere = temporaryFolder();
    cpSync(root, elsewhere, { recursive: true });
    expect((await batchOf(elsewhere, rrd)).candidates).toEqual([]);
    const still = withDocumentsFound(rrd, join(elsewhere, "researches", "x"));
    expect(still).toBe(rrd);
    rmSync(root, { recursive: true });
    const found = withDocumentsFound(rrd, join(elsewhere, "researches", "x"));
    expect(found.papers_pool.map(({ id }) => id)).toEqual(rrd.papers_pool.map(({ id }) => id));
    for (const { url } of found.papers_pool) expect(url).toContain(pathToFileURL(elsewhere).href);
  });
});
