import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { costCommand } from "../../../src/commands/inspect/cost.js";
import { statusCommand } from "../../../src/commands/inspect/status.js";
import { costsOf } from "../../../src/research/overview/costs.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";

import { recordUnfiledWork } from "../../../src/engine/storage/state/ledger.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, line, makeResearch, paper } from "../../support/projects/research-folder.js";
import { accountOf } from "../../../src/research/workflow/forecast.js";

const tokens = (input: number) => ({ input, output: 1000 });
const pool = [paper("a", "presented"), paper("b", "rejected"), paper("c", "pending"), paper("d", "pending")];
const ledger = [
  line(1, "discovery-1", {
    phase: "DISCOVERY",
    agent: "claude",
    model: "m1",
    tokens: tokens(9000),
    cost_usd: 0.1,
    duration_seconds: 60,
  }),
  line(2, "a", {
    agent: "claude",
    model: "m1",
    tokens: tokens(29_000),
    cost_usd: 0.2,
    duration_seconds: 120,
    context: { largest_request: 60_000, window: 200_000, share: 0.3 },
  }),
  line(3, "b", {
    agent: "codex",
    model: "m2",
    outcome: "refused",
    tokens: tokens(19_000),
    cost_usd: 0.3,
    estimated: true,
    duration_seconds: 60,
  }),
  line(4, "b", {
    agent: "codex",
    model: "m2",
    tokens: tokens(19_000),
    cost_usd: 0.3,
    estimated: true,
    duration_seconds: 60,
  }),
  line(5, "c", {
    agent: "claude",
    model: "m1",
    outcome: "failed",
    tokens: tokens(4000),
    cost_usd: 0.1,
    billing: "subscription",
    duration_seconds: 30,
  }),
];
const rrd = { project: "R", requirements: { target_papers: 4 }, phase: "ANALYSIS", papers_pool: pool } as Rrd;

test("costs add up by phase, agent and model, and tell what was spent for nothing", () => {
  const costs = costsOf(rrd, ledger);
  expect(costs.total).toMatchObject({
    iterations: 5,
    tokens: 85_000,
    cost_usd: expect.closeTo(1),
    seconds: 330,
    estimated: true,
    subscription: true,
  });
  for (const sums of [costs.phases, costs.agents, costs.models]) {
    expect(Object.values(sums).reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0)).toBeCloseTo(1);
  }
  expect(costs.agents["codex"]).toMatchObject({ iterations: 2, estimated: true });
  expect(costs.agents["claude"]).not.toHaveProperty("estimated");
  expect([costs.refused.cost_usd, costs.failed.cost_usd]).toEqual([0.3, 0.1]);
  expect(costs.contexts).toEqual({ paper: 0.3 });
});

test("work of an agent without a model costs nothing and is of no unknown model, and its time is that which status tells", async () => {
  const cwd = freshFolder();
  const spent = { agent: "baseline", cost_usd: 0, tokens: { input: 0, output: 0 }, duration_seconds: 2.9 };
  const folder = makeResearch(cwd, "a", { papers_pool: [paper("a", "presented")] }, [
    line(1, "a", spent),
    line(2, "report", spent),
    line(3, "ideas", spent),
  ]);
  const said = async (command: typeof costCommand) => {
    const io = fakeIo({ cwd });
    await command({ folder, json: false }, io);
    return io.out();
  };
  expect(await said(costCommand)).toMatch(/Total +3 iterations +\$0\.00 +0 tokens +8s\n[\s\S]*By model\n +none /);
  expect(await said(statusCommand)).toMatch(/Time +8s of agent time[\s\S]*Cost +\$0\.00\n/);
});

test("work of an agent that reports nothing has no known cost and no known tokens", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "a", { papers_pool: [paper("a", "presented")] }, [
    line(1, "a", { agent: "cmd:mine" }),
  ]);
  const io = fakeIo({ cwd });
  await costCommand({ folder, json: false }, io);
  expect(io.out()).toMatch(/Total +1 iteration +not known +– tokens /);
  expect(io.out()).not.toContain("0 tokens");
});

test("what a model used to summarise the history counts in the total and in the research's account", () => {
  const summarised = { ...rrd, loop: { rch_metrics: { historian_tokens: 5000, historian_cost_usd: 0.5 } } } as Rrd;
  const costs = costsOf(summarised, ledger);
  expect(costs.total).toMatchObject({ tokens: 90_000, cost_usd: expect.closeTo(1.5) });
  expect(costs.historian).toMatchObject({ tokens: 5000, cost_usd: 0.5 });
  expect(accountOf(summarised, ledger).spent).toMatchObject({ tokens: 90_000, usd: expect.closeTo(1.5) });
});

test("a historian's dollars that we estimated are marked so, in the total too", () => {
  const of = (historian: object) =>
    costsOf({ ...rrd, loop: { rch_metrics: { historian_tokens: 5000, ...historian } } } as Rrd, ledger.slice(0, 1));
  expect(of({ historian_cost_usd: 0.5, historian_estimated: true })).toMatchObject({
    historian: { estimated: true },
    total: { estimated: true },
  });
  expect(of({ historian_cost_usd: 0.5 }).total).not.toHaveProperty("estimated");
});

test("a paper costs all that was spent on papers, for nothing too, divided by those read; the rest is forecast from the median", () => {
  const { per_paper, forecast } = costsOf(rrd, ledger);
  expect(per_paper).toMatchObject({ papers: 2, cost_usd: expect.closeTo(0.45), tokens: 37_500 });
  expect(forecast).toMatchObject({
    papers: 2,
    tokens: 70_000,
    cost_usd: expect.closeTo(0.8),
    seconds: 240,
    estimated: true,
  });
});

test("an iteration that cost nothing makes no money a subscription's, as a failed login that was called one", () => {
  const paidByKey = [
    line(1, "a", { cost_usd: 0.2, billing: "api" }),
    line(2, "b", { outcome: "failed", cost_usd: 0, billing: "subscription" }),
  ];
  expect(costsOf(rrd, paidByKey).total).not.toHaveProperty("subscription");
});

test("nothing is forecast before the first paper, or after the last", () => {
  expect(costsOf(rrd, ledger.slice(0, 1))).not.toHaveProperty("forecast");
  expect(costsOf({ ...rrd, papers_pool: pool.slice(0, 2) }, ledger)).not.toHaveProperty("forecast");
});

test("a research's costs are shown with their marks, or as one JSON value", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "one-2026-03-01", { papers_pool: pool }, ledger);
  const io = fakeIo({ cwd });
  expect(await costCommand({ folder: "one-2026-03-01", json: false }, io)).toBe(0);
  for (const expected of [
    "≈ $1.00*",
    "DISCOVERY",
    "codex",
    "m2",
    "refused",
    "Fullest context: paper 30 %",
    "left, in 6 iterations (2 papers, at most 3 checks of sentences)",
    "subscription",
  ]) {
    expect(io.out().replace(/\s+/g, " ")).toContain(expected);
  }
  const json = fakeIo({ cwd });
  await costCommand({ folder: "one-2026-03-01", json: true }, json);
  expect(JSON.parse(json.out())).toMatchObject({ total: { iterations: 5 }, forecast: { papers: 2 } });
});

test("what some iterations did not report makes the sum a lower bound, and is never $0.00", async () => {
  const cwd = freshFolder();
  const silent = { agent: "it", tokens: { input: 10, output: 1 } };
  const lines = [line(1, "a", silent), line(2, "b", { ...silent, cost_usd: 0.4 }), line(3, "b", { outcome: "failed" })];
  const folder = makeResearch(cwd, "some-2026-03-01", { papers_pool: pool }, lines);
  const none = makeResearch(cwd, "none-2026-03-01", { papers_pool: pool }, lines.slice(0, 1));
  expect(costsOf(rrd, lines).total).toMatchObject({ cost_usd: 0.4, unreported: 1 });
  // A run that is interrupted does not wait for its agent to say what it has used; one that never began used nothing.
  const ended = (failure: string) => line(4, "c", { agent: "it", outcome: "failed", failure });
  expect(costsOf(rrd, [...lines, ended("aborted"), ended("idle")]).total).toMatchObject({ unreported: 3 });
  expect(costsOf(rrd, [...lines, ended("missing"), ended("rate-limit")]).total).toMatchObject({ unreported: 1 });
  for (const command of [costCommand, statusCommand]) {
    const [some, nothing] = [fakeIo({ cwd }), fakeIo({ cwd })];
    await command({ folder, json: false }, some);
    await command({ folder: none, json: false }, nothing);
    expect(some.out()).toMatch(/at least \$0\.40[\s\S]*1 iteration/);
    expect(nothing.out()).toContain("not known");
    expect(nothing.out()).not.toContain("$0.00");
  }
});

test("of a research that has cost nothing yet there are no empty tables", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "new-2026-03-01");
  const io = fakeIo({ cwd });
  await costCommand({ folder: "new-2026-03-01", json: false }, io);
  expect(io.out()).toMatch(/^Nothing has been spent yet\.\n\nForecast: /);
});

test("without a folder all researches count, and the work of new and read that left none", async () => {
  const cwd = freshFolder();
  const state = join(cwd, "state", "research-ralph");
  mkdirSync(state, { recursive: true });
  makeResearch(cwd, "one-2026-03-01", { papers_pool: pool }, ledger);
  makeResearch(
    cwd,
    "two-2026-03-01",
    { loop: { rch_metrics: { historian_tokens: 3, historian_cost_usd: 0.25 } } },
    ledger.slice(0, 1),
  );
  await recordUnfiledWork(state, "read", [line(1, "p", { cost_usd: 0.5, tokens: tokens(1000) })]);
  const io = fakeIo({ cwd, env: { HOME: cwd, XDG_STATE_HOME: join(cwd, "state") } });
  await costCommand({ json: true }, io);
  expect(JSON.parse(io.out())).toMatchObject({
    researches: [{ cost_usd: expect.closeTo(1) }, { cost_usd: 0.35, tokens: 10_003 }],
    elsewhere: { cost_usd: 0.5, iterations: 1 },
    total: { cost_usd: expect.closeTo(1.85), iterations: 7, estimated: true },
  });
});

test("waiting for a service uses up no iteration of a research's budget", () => {
  const waited = line(9, "c", { outcome: "failed", failure: "rate-limit" });
  const crashed = line(10, "c", { outcome: "failed", failure: "crashed" });
  expect(accountOf(rrd, [...ledger, waited, crashed]).spent.iterations).toBe(
    accountOf(rrd, ledger).spent.iterations + 1,
  );
});

test("a ledger that is gone is told: nothing says that the project has cost $0.00", async () => {
  const cwd = freshFolder();
  const loop = { iteration: 12 };
  const gone = makeResearch(cwd, "gone", { papers_pool: [paper("a", "presented")], loop } as Partial<Rrd>, []);
  const said = async (command: typeof costCommand, folder: string) => {
    const io = fakeIo({ cwd });
    await command({ folder, json: false }, io);
    return io.out();
  };
  expect(await said(costCommand, gone)).toMatch(/^ {2}Cost not known: the records of 12 iterations are missing\.$/m);
  expect(await said(statusCommand, gone)).toMatch(/Cost +not known\n/);
  const half = makeResearch(cwd, "half", { loop } as Partial<Rrd>, [line(11, "a", { cost_usd: 0.5, agent: "claude" })]);
  expect(await said(statusCommand, half)).toMatch(/Cost +at least \$0\.50; the records of 10 iterations are missing\n/);
});
