import { expect, test } from "vitest";
import { askForSummary } from "../../../src/engine/loop/history/ask-model.js";
import { limitBudget } from "../../../src/engine/loop/stop-conditions/budget.js";
import { limitIterations } from "../../../src/engine/loop/stop-conditions/limits.js";
import { totalOf } from "../../../src/research/overview/costs.js";
import { emptyTally, usageSoFar, addToTally } from "../../../src/engine/ui/terminal/tally.js";
import { historyLine } from "../../../src/engine/ui/terminal/history-lines.js";
import { fakeClock } from "../../support/clock.js";
import { goodAgent, paper, researchFolder, rrdWith, temporaryFolder } from "../../support/projects/research.js";
import { researchWords } from "../../../src/research/project-files/words.js";

const papers = Array.from({ length: 20 }, (_, n) => paper(`p${n + 1}`));
/** A historian whose every answer costs a dollar, of which we know by our own list of prices. */
const dear = {
  every: 5,
  ask: {
    name: "scribe",
    run: async () => ({ summary: "So far.", tokens: 100, cost_usd: 1, estimated: true as const }),
  },
};

test("an agent that summarises hands on what it used, and whether its cost is our estimate", async () => {
  const scribe = {
    name: "scribe",
    confinement: "workspace" as const,
    async *run() {
      yield {
        type: "usage" as const,
        usage: { input: 90, cached: 0, output: 10, requests: 1 },
        cost_usd: 0.5,
        estimated: true as const,
      };
      yield { type: "end" as const, message: "So far." };
    },
  };
  const how = {
    stateDir: temporaryFolder(),
    clock: fakeClock(),
    signal: new AbortController().signal,
    redact: (text: string) => text,
  };
  expect(await askForSummary(scribe, "What was?", how)).toEqual({
    summary: "So far.",
    tokens: 100,
    cost_usd: 0.5,
    estimated: true,
  });
});

test("a summary's estimated cost is marked in the file, in its event, in what is shown, and in the sums", async () => {
  const { rrd, ledger, events } = await researchFolder(rrdWith(papers)).run(goodAgent(), 6, { history: dear });
  expect(rrd.loop?.rch_metrics).toMatchObject({ historian_cost_usd: 1, historian_estimated: true });
  const compressed = events.find(({ type }) => type === "history-compressed");
  expect(compressed).toMatchObject({ cost_usd: 1, estimated: true });
  expect(compressed?.type === "history-compressed" && historyLine(compressed)).toContain("≈ $1.00");
  expect(usageSoFar(events.reduce(addToTally, emptyTally))).toContain("≈ $1.06");
  expect(totalOf(rrd, ledger)).toMatchObject({ cost_usd: expect.closeTo(1.06), estimated: true, input: 6_100 });
});

test("summaries count in the budget of the run that made them, and not in that of the next", async () => {
  const folder = researchFolder(rrdWith(papers));
  const stopConditions = [limitIterations(30), limitBudget(researchWords, { usd: 1.02 })];
  const first = await folder.run(goodAgent(), 30, { history: dear, stopConditions });
  expect(first.verdict).toMatchObject({
    verdict: "limit",
    reason: expect.stringMatching(/\$1\.02, is used up: \$1\.05/),
  });
  expect(first.ledger).toHaveLength(5);
  const second = await folder.run(goodAgent(), 30, { history: dear, stopConditions });
  expect(second.ledger).toHaveLength(10);
});
