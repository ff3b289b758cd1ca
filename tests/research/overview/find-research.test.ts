import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findResearch, nameFor } from "../../../src/research/overview/find-research.js";
import { freshFolder, makeResearch } from "../../support/projects/research-folder.js";

const long = "does-simulation-training-transfer-to-robot-hands-2026-03-01";

test("a command names a project by the beginning of a long name, and finds it by that", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, long);
  expect(nameFor(cwd, folder)).toBe("does-simulation-training");
  expect(await findResearch(cwd, nameFor(cwd, folder))).toBe(folder);
  const other = makeResearch(cwd, "does-simulation-training-transfer-to-cars-2026-03-01");
  for (const each of [folder, other]) expect(await findResearch(cwd, nameFor(cwd, each))).toBe(each);
  expect(nameFor(cwd, folder)).toBe("does-simulation-training-transfer-to-robot");
  mkdirSync(join(cwd, nameFor(cwd, folder)));
  expect(await findResearch(cwd, nameFor(cwd, folder))).toBe(folder);
});

test("in a project's own folder its name is understood, whole or by its beginning", async () => {
  const folder = makeResearch(freshFolder(), long);
  for (const name of ["does-simulation-training", long]) expect(await findResearch(folder, name)).toBe(folder);
});

test("a short name, one of which another is the beginning, and a path stay whole", () => {
  const cwd = freshFolder();
  expect(nameFor(cwd, makeResearch(cwd, "hands-2026-03-01"))).toBe("hands-2026-03-01");
  const first = makeResearch(cwd, long);
  makeResearch(cwd, `${long}-2`);
  expect(nameFor(cwd, first)).toBe(long);
  expect(nameFor(cwd, join(cwd, "elsewhere", long))).toBe(`elsewhere/${long}`);
});
