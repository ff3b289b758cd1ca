import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stateVersion } from "../../../../src/engine/storage/state/format-version.js";
import { recordUnfiledWork } from "../../../../src/research/project-files/logs/spending-log.js";
import { read, temporaryFolder } from "../../../support/folders.js";

it("work that left no folder is added to the common ledger under its command, and what goes wrong costs nothing", async () => {
  const folder = temporaryFolder();
  const line = {
    iteration: 1,
    at: "2026-01-01T00:00:00Z",
    unit: "p1",
    phase: "ANALYSIS",
    outcome: "accepted",
  } as const;
  await recordUnfiledWork(folder, "new", []);
  expect(existsSync(join(folder, "ledger.jsonl"))).toBe(false);
  await recordUnfiledWork(folder, "new", [line, { ...line, iteration: 2 }]);
  await recordUnfiledWork(folder, "new", [{ ...line, iteration: 3 }]);
  const lines = read(folder, "ledger.jsonl").trimEnd().split("\n");
  expect(lines.map((row) => JSON.parse(row))).toEqual(
    [1, 2, 3].map((iteration) => ({ ...line, iteration, command: "new", format: stateVersion })),
  );
  await recordUnfiledWork(join(folder, "not-there"), "new", [line]);
});
