import { expect, test } from "vitest";
import { resolveConfig } from "../../src/compose/config.js";
import { forecastOfSize } from "../../src/compose/forecast-basis.js";
import type { LedgerLine } from "../../src/engine/generated/ledger.js";
import { extract } from "../../src/research/units/form/kind.js";
import { ioIn } from "../support/processes/in-process.js";
import { freshFolder } from "../support/projects/research-folder.js";
import { rrdWith } from "../support/projects/research.js";

test("a forecast of one kind goes at the speed of its agent in the project, and a free agent stays free", async () => {
  const io = ioIn(freshFolder());
  const config = await resolveConfig(io, {});
  const line = { at: "2026-11-22T10:00:00Z", phase: "ANALYSIS", outcome: "accepted", cost_usd: 0 } as const;
  const ledger = ["one", "two"].map((unit, index): LedgerLine => ({
    ...line,
    iteration: index + 1,
    unit,
    agent: "cmd:mine",
    duration_seconds: 1,
  }));
  const forecast = (lines: readonly LedgerLine[]) =>
    forecastOfSize(
      config,
      io,
      "cmd:mine",
      { rrd: rrdWith([]), ledger: lines },
      { kind: extract.name, figure: extract.estimate, units: 10 },
    );
  expect(forecast([])?.seconds).toBeGreaterThan(300);
  expect(forecast(ledger)).toMatchObject({ seconds: expect.toSatisfy((seconds: number) => seconds < 30), cost_usd: 0 });
});
