import { expect, test } from "vitest";
import type { LedgerLine } from "../../src/engine/generated/ledger.js";
import { costsOf, workCosts } from "../../src/research/overview/costs.js";
import type { Standing } from "../../src/engine/ui/state-text.js";
import { costPart, workParts } from "../../src/web/page/work.js";
import { rrdWith } from "../support/projects/research.js";

const line = (iteration: number, outcome: LedgerLine["outcome"]): LedgerLine => ({
  iteration,
  outcome,
  at: "2026-11-22T10:00:00Z",
  unit: `p${iteration}`,
  phase: "ANALYSIS",
  agent: "baseline",
});

test.each([
  ["1 of 1 iteration was refused or failed.", [line(1, "refused")]],
  ["1 of 2 iterations was refused or failed.", [line(1, "refused"), line(2, "accepted")]],
  ["2 of 3 iterations were refused or failed.", [line(1, "refused"), line(2, "failed"), line(3, "accepted")]],
])("says of lost iterations: %s", (says, ledger) => {
  const [part] = costPart(costsOf(rrdWith([]), ledger));
  expect(part?.text).toContain(says);
});

test("shows roles as what the work of a team cost was for, and in the table of its iterations", () => {
  const ledger = [{ ...line(1, "accepted"), agent: "claude", role: "artisan", round: 2 }];
  const [part] = costPart(workCosts({}, ledger));
  expect(part?.text).toContain("<td>artisan (claude)</td>");
  const standing = { noun: "task", ledger, underWay: [], held: [] } as unknown as Standing;
  const table = workParts(".", standing, 0).find(({ id }) => id === "iterations");
  expect(table?.text).toContain("<td>artisan 2, claude</td>");
});
