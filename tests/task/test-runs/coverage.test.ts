import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkAll } from "../../../src/task/criteria/check-criteria.js";
import { coverageIn } from "../../../src/task/test-runs/coverage.js";
import { placeOnHost } from "../place.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coverage-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const istanbul = JSON.stringify({ total: { lines: { pct: 81.257 }, branches: { pct: 60 } } });
const coveragePy = JSON.stringify({
  totals: { covered_lines: 3, num_statements: 4, covered_branches: 1, num_branches: 4 },
});
const cobertura =
  '<?xml version="1.0"?><!DOCTYPE coverage><coverage line-rate="0.5" branch-rate="0.25" branches-valid="8"><packages/></coverage>';

describe("the coverage that a run of tests leaves", () => {
  it.each([
    ["coverage/coverage-summary.json", istanbul, { line_coverage: 81.26, branch_coverage: 60 }],
    ["coverage.json", coveragePy, { line_coverage: 75, branch_coverage: 25 }],
    ["cobertura.xml", cobertura, { line_coverage: 50, branch_coverage: 25 }],
    ["cobertura.xml", cobertura.replace('"8"', '"0"'), { line_coverage: 50 }],
    ["cobertura.xml", cobertura.slice(0, -8), undefined],
    ["coverage.json", "{ broken", undefined],
    ["coverage.json", '{"totals":null}', undefined],
    ["coverage/coverage-summary.json", '{"total":{"lines":{"pct":"Unknown"}}}', undefined],
  ])("is read from %s", async (name, text, wanted) => {
    put(name, text);
    expect(await coverageIn(folder, Date.now())).toEqual(wanted);
  });

  it("is not taken from a run before", async () => {
    utimesSync(put("coverage.json", coveragePy), new Date(0), new Date(0));
    expect(await coverageIn(folder, Date.now())).toBeUndefined();
  });

  it("meets a criterion from so many percent on", async () => {
    const place = placeOnHost();
    const command = `printf '%s' '${coveragePy}' > coverage.json`;
    const criteria = [
      { type: "coverage" as const, lines: 75, command },
      { type: "coverage" as const, lines: 75, branches: 26, command },
      { type: "coverage" as const, lines: 1, command: "rm -f coverage.json" },
    ];
    const checked = await checkAll(criteria, place, { seenTests: [] }, async () => undefined);
    expect(checked?.checks.map(({ passed }) => passed)).toEqual([true, false, false]);
    expect(checked?.checks[1]?.detail).toContain("25 % of branches are covered; 26 % are asked for");
    expect(checked?.checks[1]?.criterion).toBe("coverage lines 75 %, branches 26 %");
    rmSync(place.cwd, { recursive: true });
  });
});
