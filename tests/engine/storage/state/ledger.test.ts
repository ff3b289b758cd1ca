import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stateVersion } from "../../../../src/engine/storage/state/format-version.js";
import type { LedgerLine } from "../../../../src/engine/generated/ledger.js";
import {
  currentAccepted,
  formatLine,
  parseLedger,
  readLedger,
  recordUnfiledWork,
} from "../../../../src/engine/storage/state/ledger.js";
import { read, temporaryFolder } from "../../../support/folders.js";

const line = (
  iteration: number,
  unit: string,
  outcome: LedgerLine["outcome"] = "accepted",
  to?: number,
): LedgerLine => ({
  iteration,
  at: "2026-01-01T00:00:00Z",
  unit,
  phase: "ANALYSIS",
  outcome,
  format: stateVersion,
  ...(to === undefined ? {} : { to }),
});
const accepted = (...lines: LedgerLine[]) => Object.fromEntries(currentAccepted(lines));

it("a folder without a ledger has an empty one", async () => {
  expect(await readLedger(temporaryFolder())).toEqual({ lines: [], notices: [] });
});

it("a ledger that is there and can't be read is an error, not an empty one", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "ledger.jsonl"));
  await expect(readLedger(folder)).rejects.toThrow();
});

it("an empty line, or one of white space alone, is none", () => {
  expect(parseLedger(`\n  \t\n${formatLine(line(1, "a"))} \n\n`, "x")).toEqual({ lines: [line(1, "a")], notices: [] });
});

it("a torn last line is left out; other lines that can't be read are named", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "ledger.jsonl");
  const future = { ...line(3, "c"), outcome: "postponed", more: true };
  writeFileSync(
    path,
    `${formatLine(line(1, "a"))}not JSON\n\n{"iteration":2}\n${JSON.stringify(future)}\n{"iteration":4,"un`,
  );
  expect(await readLedger(folder)).toEqual({
    lines: [line(1, "a"), future],
    notices: [2, 4].map((n) => `${path}:${n} can't be read and is ignored.`),
  });
});

it("of many lines that can't be read five are named and the rest counted; a byte order mark is none", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "ledger.jsonl");
  writeFileSync(path, `\uFEFF${formatLine(line(1, "a"))}${"x\n".repeat(40)}`);
  expect(await readLedger(folder)).toEqual({
    lines: [line(1, "a")],
    notices: [
      ...[2, 3, 4, 5, 6].map((n) => `${path}:${n} can't be read and is ignored.`),
      `${path}: 35 more of its lines can't be read and are ignored.`,
    ],
  });
});

it("a line nested thousands deep can't be read: nothing could write it again", () => {
  const deep = formatLine(line(1, "a")).replace("{", `{"more":${"[".repeat(20_000)}${"]".repeat(20_000)},`);
  expect(parseLedger(`${deep}${formatLine(line(2, "b"))}`, "l")).toEqual({
    lines: [line(2, "b")],
    notices: ["l:1 can't be read and is ignored."],
  });
});

it("a field that can't be is left out of its line, fields of a later version are kept", () => {
  const line = { iteration: 1, at: "2026-01-01T00:00:00.000Z", unit: "p1", phase: "ANALYSIS", outcome: "accepted" };
  const odd = { ...line, duration_seconds: "12 s", tokens: { input: -1, output: 2 }, cost_usd: 0.5, mood: "good" };
  expect(parseLedger(`${JSON.stringify(odd)}\n`, "l").lines).toEqual([{ ...line, cost_usd: 0.5, mood: "good" }]);
});

it.each([
  ["iteration", 0],
  ["at", "yesterday"],
  ["unit", 7],
  ["phase", 3],
  ["outcome", undefined],
])("a line whose %s is %j is no line, and is named", (name, value) => {
  const line = {
    iteration: 1,
    at: "2026-01-01T00:00:00.000Z",
    unit: "p1",
    phase: "ANALYSIS",
    outcome: "accepted",
    [name]: value,
  };
  expect(parseLedger(`${JSON.stringify(line)}\n`, "l")).toEqual({
    lines: [],
    notices: ["l:1 can't be read and is ignored."],
  });
});

it("a unit is accepted at its latest acceptance, whatever failed before or since", () => {
  expect(
    accepted(line(1, "a", "failed"), line(2, "a"), line(3, "b", "refused"), line(4, "a"), line(5, "a", "failed")),
  ).toEqual({ a: 4 });
});

it("a reset of one unit takes that one back until it is accepted again", () => {
  expect(accepted(line(1, "a"), line(2, "b"), line(3, "a", "reset"))).toEqual({ b: 2 });
  expect(accepted(line(1, "a"), line(2, "a", "reset"), line(3, "a"))).toEqual({ a: 3 });
});

it("a reset to an iteration brings back what was accepted then, also what was reset since", () => {
  expect(accepted(line(1, "a"), line(2, "b"), line(3, "*", "reset", 1))).toEqual({ a: 1 });
  expect(accepted(line(1, "a"), line(2, "a", "reset"), line(3, "*", "reset", 1))).toEqual({ a: 1 });
  expect(
    accepted(line(1, "a"), line(2, "b"), line(3, "*", "reset", 1), line(4, "c"), line(5, "*", "reset", 2)),
  ).toEqual({ a: 1, b: 2 });
  expect(accepted(line(1, "a"), line(2, "*", "reset", 0))).toEqual({});
});

it("work that left no folder is added to the common ledger under its command, and what goes wrong costs nothing", async () => {
  const folder = temporaryFolder();
  const work = {
    iteration: 1,
    at: "2026-01-01T00:00:00Z",
    unit: "p1",
    phase: "ANALYSIS",
    outcome: "accepted",
  } as const;
  await recordUnfiledWork(folder, "new", []);
  expect(existsSync(join(folder, "ledger.jsonl"))).toBe(false);
  await recordUnfiledWork(folder, "new", [work, { ...work, iteration: 2 }]);
  await recordUnfiledWork(folder, "new", [{ ...work, iteration: 3 }]);
  const lines = read(folder, "ledger.jsonl").trimEnd().split("\n");
  expect(lines.map((row) => JSON.parse(row))).toEqual(
    [1, 2, 3].map((iteration) => ({ ...work, iteration, command: "new", format: stateVersion })),
  );
  await recordUnfiledWork(join(folder, "not-there"), "new", [work]);
});
