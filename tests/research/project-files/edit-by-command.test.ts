import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { type EditOptions, editResearch } from "../../../src/research/project-files/edit-by-command.js";
import { formatLine } from "../../../src/engine/storage/state/ledger.js";
import {
  acceptance,
  derive,
  git,
  open,
  paperOf,
  read,
  readRrd,
  repository,
  researchFolder,
  researchIn,
  sampleRrd,
  type Told,
  writeRrd,
} from "../../support/folders.js";

const withFive = (rrd: Rrd): Rrd => ({ ...rrd, requirements: { ...rrd.requirements, target_papers: 5 } });
const options = (over: Partial<EditOptions> = {}): EditOptions => ({
  derive,
  git: false,
  notify: () => undefined,
  ...over,
});

it("an edit is written with everything derived from it, and the files as they were are kept where asked for", async () => {
  const folder = researchFolder(sampleRrd(2));
  const before = read(folder, "rrd.json");
  const { rrd, backup } = await editResearch(folder, withFive, options({ backupAt: Date.UTC(2026, 1, 3, 4, 5, 6) }));
  expect(rrd).toEqual(readRrd(folder));
  expect(rrd).toMatchObject({
    requirements: { target_papers: 5 },
    custom: { kept: true },
    statistics: { total_analyzed: 0, lines: 0 },
  });
  expect(backup).toBe(join(folder, ".ralph/backups/2026-02-03T04-05-06.000Z"));
  expect(read(backup ?? "", "rrd.json")).toBe(before);
  expect((await editResearch(folder, withFive, options())).backup).toBeUndefined();
});

it("an edit waits for no other process: a research that is being worked on refuses it and stays as it is", async () => {
  const folder = researchFolder();
  const research = await open(folder);
  const before = read(folder, "rrd.json");
  await expect(editResearch(folder, withFive, options())).rejects.toThrow(/sample-2026-01-01/);
  expect(read(folder, "rrd.json")).toBe(before);
  await research.close();
});

it("an iteration that was interrupted while it was saved is made up for before the edit", async () => {
  const folder = researchFolder(sampleRrd(2));
  const { changes, progress = "", ...fold } = acceptance(1);
  const research = await open(folder);
  await research.close();
  const entry = {
    iteration: 1,
    at: fold.at,
    message: fold.message,
    changes: changes.map((change) => ({ ...change, was: change.was === undefined ? {} : change.was })),
  };
  const logs = { progress: { offset: 0, text: progress }, ledger: { offset: 0, text: formatLine(fold.ledger) } };
  writeFileSync(join(folder, ".ralph/journal/1.json"), JSON.stringify({ ...entry, ...logs }));
  const told: Told[] = [];
  const { rrd } = await editResearch(
    folder,
    withFive,
    options({ notify: (level, message) => told.push({ level, message }) }),
  );
  expect(paperOf(rrd, "sample_1")?.status).toBe("presented");
  expect(rrd.requirements.target_papers).toBe(5);
  expect(told.map(({ message }) => message)).toEqual([
    "Iteration 1 was interrupted while it was saved; it is complete now.",
  ]);
  expect(readdirSync(join(folder, ".ralph/journal"))).toEqual(["done"]);
});

it("what a person saves in this very moment is not lost", async () => {
  const folder = researchFolder(sampleRrd(2));
  let calls = 0;
  const { rrd } = await editResearch(
    folder,
    (standing) => {
      calls += 1;
      if (calls === 1) writeRrd(folder, { ...standing, description: "By hand" });
      return withFive(standing);
    },
    options(),
  );
  expect(calls).toBe(2);
  expect(readRrd(folder)).toEqual(rrd);
  expect(rrd).toMatchObject({ description: "By hand", requirements: { target_papers: 5 } });
});

it("the next checkpoint commits an edit", async () => {
  const root = repository();
  const folder = researchIn(root);
  await editResearch(folder, withFive, options({ git: true }));
  expect(git(root, "log", "--format=%s").trim()).toBe("begin");
  const research = await open(folder, { git: true });
  await research.load();
  await research.fold(acceptance(1));
  expect(git(root, "show", "HEAD:researches/sample-2026-01-01/rrd.json")).toContain('"target_papers": 5');
});
