import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { notedFolder } from "../../../src/engine/lib/layout.js";
import {
  saveNotes,
  type AgentNotes,
  openLines,
  readNoted,
  removeOldNotes,
  unitsWithNotes,
} from "../../../src/engine/storage/agent-notes.js";
import { temporaryFolder } from "../../support/folders.js";

const at = "2026-03-01T00:00:00.000Z";
const line = (
  iteration: number,
  unit: string,
  outcome: LedgerLine["outcome"],
  more: Partial<LedgerLine> = {},
): LedgerLine => ({ iteration, at, unit, phase: "ANALYSIS", outcome, ...more });
const noted = (iteration: number): AgentNotes => ({
  iteration,
  role: "reader",
  round: 1,
  agent: "claude",
  basis: "b",
  value: { said: `é ${iteration}` },
});

/** A folder in which the iterations have noted something, and their lines. */
async function withNoted(...iterations: number[]) {
  const folder = join(temporaryFolder(), "project");
  mkdirSync(join(folder, ".ralph"), { recursive: true });
  const lines = [];
  for (const iteration of iterations)
    lines.push(line(iteration, "p1", "noted", { kept_sha256: await saveNotes(folder, noted(iteration)) }));
  return { folder, lines };
}

describe("what an agent noted", () => {
  it("is read as it was left, in the order of the lines", async () => {
    const { folder, lines } = await withNoted(1, 2);
    expect(await readNoted(folder, lines.toReversed())).toMatchObject([noted(2), noted(1)]);
  });

  it("counts for nothing once its file is gone, was changed or is something else", async () => {
    const { folder, lines } = await withNoted(1, 2, 3, 4, 5);
    const file = (iteration: number) => join(notedFolder(folder), `${iteration}.json`);
    rmSync(file(1));
    writeFileSync(file(2), JSON.stringify(noted(2)));
    for (const iteration of [3, 4]) rmSync(file(iteration));
    mkdirSync(file(3));
    symlinkSync(file(4), file(4));
    expect(await readNoted(folder, lines)).toMatchObject([...Array(4).fill(undefined), noted(5)]);
    rmSync(notedFolder(folder), { recursive: true });
    writeFileSync(notedFolder(folder), "");
    expect(await readNoted(folder, lines.slice(4))).toEqual([undefined]);
  });
});

it("what can't be read for another reason is not taken for gone: its work was paid for", async () => {
  const { folder, lines } = await withNoted(1);
  const file = join(notedFolder(folder), "1.json");
  rmSync(file);
  symlinkSync("/dev/null", file);
  await expect(readNoted(folder, lines)).rejects.toThrow("is not a regular file");
});

describe("a unit is open", () => {
  it("with its lines since it was last accepted or reset, save those that failed", () => {
    const ledger = [
      line(1, "p1", "noted"),
      line(2, "p1", "accepted"),
      line(3, "p1", "noted"),
      line(4, "p1", "reset"),
      line(5, "p1", "noted"),
      line(6, "p1", "failed"),
      line(7, "p2", "noted"),
      line(8, "p1", "refused"),
    ];
    expect(openLines(ledger, "p1").map(({ iteration }) => iteration)).toEqual([5, 8]);
    expect(openLines(ledger.slice(0, 3), "p1").map(({ iteration }) => iteration)).toEqual([3]);
    expect(openLines(ledger, "p3")).toEqual([]);
  });

  it("for the next agent where something was noted since", () => {
    const ledger = [
      line(1, "p1", "noted"),
      line(2, "p2", "noted"),
      line(3, "p1", "noted"),
      line(4, "p2", "accepted"),
      line(5, "p2", "refused"),
      line(6, "p3", "refused"),
    ];
    expect(unitsWithNotes(ledger)).toEqual(["p1"]);
    expect(unitsWithNotes([...ledger, line(7, "reset", "reset", { to: 0 })])).toEqual([]);
  });
});

describe("at a start", () => {
  const names = (folder: string) => readdirSync(notedFolder(folder)).toSorted();

  it("what nobody asks for any more is removed, that of a killed iteration too, and nothing of a person's", async () => {
    const { folder, lines } = await withNoted(1, 2, 10);
    for (const name of ["mine.txt", "2.json.bak", "a2.json"]) writeFileSync(join(notedFolder(folder), name), "");
    const [first, second] = lines as [LedgerLine, LedgerLine, LedgerLine];
    await removeOldNotes(folder, [first, line(9, "p1", "accepted"), second]);
    expect(names(folder)).toEqual(["2.json", "2.json.bak", "a2.json", "mine.txt"]);
  });

  it("nothing is to be removed where nothing was noted", async () => {
    const folder = temporaryFolder();
    await removeOldNotes(folder, []);
    expect(readdirSync(folder)).toEqual([]);
  });
});
