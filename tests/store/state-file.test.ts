import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { formatRrd } from "../../src/store/rrd-file.js";
import { openStateFile } from "../../src/store/state-file.js";
import { researchFolder, sampleRrd } from "./folders.js";

const text = formatRrd(sampleRrd(3));

it.each([
  ["has emptied it to write it in place", (path: string) => writeFileSync(path, "")],
  ["has written half of it", (path: string) => writeFileSync(path, text.slice(0, 200))],
  ["has moved the old one away", (path: string) => renameSync(path, `${path}~`)],
])("an rrd.json is waited for while an editor %s", async (_, begin) => {
  const folder = researchFolder(sampleRrd(1));
  const path = join(folder, "rrd.json");
  begin(path);
  setTimeout(() => writeFileSync(path, text), 100);
  expect((await openStateFile(folder).read()).rrd.papers_pool).toHaveLength(3);
});

it("an rrd.json that stays broken or gone is said to be", async () => {
  const folder = researchFolder(sampleRrd(1));
  const path = join(folder, "rrd.json");
  writeFileSync(path, text.slice(0, 200));
  await expect(openStateFile(folder).read()).rejects.toThrow(/the file ends in the middle/);
  rmSync(path);
  await expect(openStateFile(folder).read()).rejects.toThrow(/There is no /);
});
