import { expect, test } from "vitest";
import type { LedgerLine } from "../../src/engine/generated/ledger.js";
import { costsOf } from "../../src/research/overview/costs.js";
import { costPart } from "../../src/web/page/costs.js";
import { rrdWith } from "../support/projects/research.js";

const line = (iteration: number, outcome: LedgerLine["outcome"]): LedgerLine => ({
  ...{ iteration, outcome, at: "2026-11-22T10:00:00Z", unit: `p${iteration}`, phase: "ANALYSIS", agent: "baseline" },
});

test.each([
  ["1 of 1 iteration was refused or failed.", [line(1, "refused")]],
  ["1 of 2 iterations was refused or failed.", [line(1, "refused"), line(2, "accepted")]],
  ["2 of 3 iterations were refused or failed.", [line(1, "refused"), line(2, "failed"), line(3, "accepted")]],
])("says of lost iterations: %s", (says, ledger) => {
  const [part] = costPart(costsOf(rrdWith([]), ledger));
  expect(part?.text).toContain(says);
});
