import { readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatRrd } from "../../../src/research/folder/rrd-file.js";
import { openStateFile } from "../../../src/research/folder/state-file.js";
import { acceptance, open, read, readRrd, researchFolder, sampleRrd, type Told } from "../../support/folders.js";

const text = formatRrd(sampleRrd(3));

it.each([
  ["has emptied it to write it in place", (path: string) => writeFileSync(path, "")],
  ["has written a part of it", (path: string) => writeFileSync(path, text.slice(0, 200))],
  [
    "has written it up to the end of a paper",
    (path: string) => writeFileSync(path, text.slice(0, text.indexOf("}") + 1)),
  ],
  ["has moved the old one away", (path: string) => renameSync(path, `${path}~`)],
])("an rrd.json is waited for while an editor %s", async (_, begin) => {
  const folder = researchFolder(sampleRrd(1));
  const path = join(folder, "rrd.json");
  begin(path);
  setTimeout(() => writeFileSync(path, text), 100);
  expect((await openStateFile(folder, () => undefined).read()).rrd.papers_pool).toHaveLength(3);
});

it("an rrd.json that is whole and wrong is not waited for", async () => {
  const folder = researchFolder(sampleRrd(1));
  const path = join(folder, "rrd.json");
  for (const [wrong, says] of [
    [text.replace('"phase"', "phase"), /the name of a field belongs here/],
    [text.replace("ANALYSIS", "NAPPING"), /NAPPING/],
  ] as const) {
    writeFileSync(path, wrong);
    const saved = setTimeout(() => writeFileSync(path, text), 500);
    await expect(openStateFile(folder, () => undefined).read()).rejects.toThrow(says);
    clearTimeout(saved);
  }
});

it("an rrd.json that stays cut off or gone is said to be", async () => {
  const folder = researchFolder(sampleRrd(1));
  const path = join(folder, "rrd.json");
  writeFileSync(path, text.slice(0, 200));
  utimesSync(path, new Date(0), new Date(0));
  await expect(openStateFile(folder, () => undefined).read()).rejects.toThrow(/the file ends in the middle/);
  rmSync(path);
  await expect(openStateFile(folder, () => undefined).read()).rejects.toThrow(/There is no /);
});

describe("a file in an older shape", () => {
  const odd = { ...sampleRrd(2), phase: "Analysis", mine: { kept: true } };

  it("is not touched by reading it", async () => {
    const folder = researchFolder(odd as never);
    const before = read(folder, "rrd.json");
    await (await open(folder)).load();
    expect(read(folder, "rrd.json")).toBe(before);
  });

  it("is written in today's shape with the next result, and kept as it was", async () => {
    const folder = researchFolder(odd as never);
    const before = read(folder, "rrd.json");
    const told: Told[] = [];
    const research = await open(folder, { told });
    await research.load();
    for (const iteration of [1, 2]) await research.fold(acceptance(iteration));
    expect(readRrd(folder)).toMatchObject({
      phase: "ANALYSIS",
      mine: { kept: true },
      papers_pool: [{ status: "presented" }, { status: "presented" }],
    });
    const backups = readdirSync(join(folder, ".ralph/backups"));
    expect(backups).toHaveLength(1);
    expect(read(folder, `.ralph/backups/${backups[0]}/rrd.json`)).toBe(before);
    expect(told).toEqual([{ level: "info", message: expect.stringContaining(`today's shape`) }]);
  });
});
