import { identifiersOf } from "../../../src/research/papers/identifiers.js";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { localSources } from "../../../src/compose/library.js";
import { systemClock } from "../../../src/engine/lib/clock.js";
import { textsFolder, updatesFile } from "../../../src/research/project-files/layout.js";
import { saveText } from "../../../src/research/full-text/text-cache.js";
import { cacheAbout } from "../../../src/research/paper-lookups/code-and-citations.js";
import { checkWorks } from "../../../src/research/paper-lookups/kept-retraction-checks.js";
import { serviceNames } from "../../../src/research/units/screening/search-session.js";
import { nextFromStored } from "../../../src/research/workflow/prepare.js";
import type { ReadingMaterial } from "../../../src/research/units/reading/prepare.js";
import { statusOf } from "../../../src/research/workflow/next-unit.js";
import { paper, paperText, rrdWith, temporaryFolder } from "../../support/projects/research.js";

const one = paper("p1", { identifiers: { doi: "10.1000/one", arxiv: "2601.00001" } });

/** What is kept for the paper's brief. */
async function kept(folder: string) {
  const rrd = rrdWith([one]);
  const { signal } = new AbortController();
  const state = { rrd, ledger: [], status: statusOf(rrd, []), agentNotes: new Map() };
  const sources = { ...localSources(folder, folder, signal), ...serviceNames(folder) };
  const next = await nextFromStored({ ...sources, folder, signal, now: Date.now }, state);
  if ("verdict" in next) throw new Error(next.reason);
  return { ...next, material: next.material as ReadingMaterial };
}

test("where nothing is kept of a paper, nothing is written, and it is said what a run would ask", async () => {
  const folder = temporaryFolder();
  const { material, firstSteps: first } = await kept(folder);
  expect(material.text?.text).toContain("The full text of the paper goes here");
  expect(material.about).toBeUndefined();
  expect(first).toEqual([
    expect.stringContaining("fetch the paper's full text"),
    expect.stringMatching(/ask .* about the papers/),
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

test("what a preparation has kept is what the brief is made from, for a day", async () => {
  const folder = temporaryFolder();
  await saveText(textsFolder(folder), "p1", paperText("p1"), one.url ?? "");
  const about = { code: [], citations: { count: 7, source: "OpenAlex" }, unchecked: [] };
  await cacheAbout(folder, one, about, Date.now());
  expect((await kept(folder)).firstSteps).toEqual([expect.stringMatching(/ask .* about the papers/)]);
  await checkWorks([{ ...one, identifiers: identifiersOf(one) }], {
    file: updatesFile(folder),
    ask: async (works) => works.map(() => ({ updates: [], checkedBy: ["Crossref"], unchecked: [] })),
    clock: systemClock,
    signal: new AbortController().signal,
    within: 60_000,
    anew: false,
  });
  expect(await kept(folder)).toMatchObject({
    material: { text: { text: paperText("p1").text }, about },
    firstSteps: [],
  });
  await cacheAbout(folder, one, about, Date.now() - 25 * 3600_000);
  expect((await kept(folder)).material.about).toBeUndefined();
});

test("an answer about the paper under another title or identifier is not its answer", async () => {
  const folder = temporaryFolder();
  const about = { code: [], unchecked: [] };
  await cacheAbout(folder, { ...one, title: "Another" }, about, Date.now());
  expect((await kept(folder)).material.about).toBeUndefined();
});
