import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { costCommand } from "../../../src/commands/inspect/cost.js";
import { runCommand } from "../../../src/commands/run/run.js";
import { experienceFor } from "../../../src/compose/forecast-basis.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import {
  type CheckPlan,
  type Experience,
  figuresFor,
  forecastOf,
  medianUsageOf,
  usageAtPace,
} from "../../../src/research/workflow/forecast.js";
import { freshFolder, line, makeResearch, paper } from "../../support/projects/research-folder.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { withoutUndefined } from "../../../src/engine/lib/without-undefined.js";

const fresh = {
  project: "R",
  requirements: { target_papers: 16 },
  phase: "DISCOVERY",
  papers_pool: [],
} as unknown as Rrd;
const take = (tokens: number, minutes = 1) => ({ tokens, minutes, usd: tokens / 1_000 });
const before: Experience = {
  usage: { discovery: take(10), paper: take(100), report: take(5), ideas: take(7) },
  from: "elsewhere",
};
const read = (iteration: number, unit: string, input: number, more: Partial<LedgerLine> = {}) =>
  line(iteration, unit, {
    agent: "claude",
    model: "claude-sonnet-5",
    tokens: { input, output: 0 },
    cost_usd: input / 1_000,
    duration_seconds: 60,
    ...more,
  });

test("a fresh research is forecast whole: batches to its target, every paper, the report, and the ideas where they are wanted", () => {
  expect(forecastOf(fresh, [], before)).toEqual({
    papers: 16,
    left: "16 papers",
    iterations: 2 + 16 + 1,
    tokens: 2 * 10 + 16 * 100 + 5,
    seconds: 19 * 60,
    cost_usd: expect.closeTo(1.625),
    from: "elsewhere",
  });
  const withIdeas = { ...fresh, handoff: { product_ideation: { enabled: true } } } as Rrd;
  expect(forecastOf(withIdeas, [], before)).toMatchObject({ iterations: 20, tokens: 1_632 });
});

test("what a research took itself goes before what others did, kind by kind, and it says which", () => {
  const rrd = { ...fresh, phase: "ANALYSIS", papers_pool: [paper("a", "presented"), paper("b", "pending")] } as Rrd;
  expect(forecastOf(rrd, [read(1, "a", 40)], before)).toMatchObject({
    papers: 1,
    iterations: 2,
    tokens: 40 + 5,
    from: "what it took so far and elsewhere",
  });
});

test("neither what made a research nor a batch without new papers tells how many batches are left", () => {
  const batch = (iteration: number, new_papers: number) =>
    read(iteration, `discovery-${iteration}`, 10, { phase: "DISCOVERY", new_papers });
  const made = read(1, "requirements", 1, { phase: "DISCOVERY" });
  expect(forecastOf(fresh, [made], before)).toMatchObject({ iterations: 2 + 16 + 1, tokens: 2 * 10 + 16 * 100 + 5 });
  const rrd = { ...fresh, papers_pool: [1, 2, 3, 4].map((n) => paper(`p${n}`, "pending")) } as Rrd;
  expect(forecastOf(rrd, [made, batch(2, 4), batch(3, 0)], before)).toMatchObject({ iterations: 3 + 16 + 1 });
});

test("what has no price of its own is priced as papers are, and marked as estimated", () => {
  const rrd = { ...fresh, phase: "ANALYSIS", papers_pool: [paper("a", "presented"), paper("b", "pending")] } as Rrd;
  const unpriced: Experience = { usage: { report: { tokens: 20, minutes: 1 } }, from: "figures" };
  expect(forecastOf(rrd, [read(1, "a", 40)], unpriced)).toMatchObject({
    tokens: 60,
    cost_usd: expect.closeTo(0.06),
    estimated: true,
  });
});

test("what another agent took tells nothing of the one that will work", () => {
  const rrd = { ...fresh, phase: "ANALYSIS", papers_pool: [paper("a", "presented"), paper("b", "pending")] } as Rrd;
  expect(forecastOf(rrd, [read(1, "a", 40)], { ...before, agents: ["codex"] })).toMatchObject({
    tokens: 100 + 5,
    from: "elsewhere",
  });
});

test("tokens that an agent does not report are counted by its briefs, never as none", () => {
  const rrd = { ...fresh, phase: "ANALYSIS", papers_pool: [paper("a", "presented"), paper("b", "pending")] } as Rrd;
  const { cost_usd: _, ...silent } = read(1, "a", 0, { brief_tokens: 1_600 });
  expect(forecastOf(rrd, [silent], before)).toMatchObject({
    tokens: 1_600 + 2_500 + 5,
    from: "what it took so far and elsewhere, tokens by the size of its briefs",
  });
  // A model that nobody could start used none, and an agent without a model costs nothing.
  expect(medianUsageOf([[{ ...silent, failure: "missing", outcome: "failed" }, silent]])["paper"]?.tokens).toBe(4_100);
  expect(medianUsageOf([[read(1, "a", 0, { brief_tokens: 1_600 })]])["paper"]?.tokens).toBe(0);
});

test("two units tell the pace of the agent also for the kinds that it has not done yet", () => {
  const papers = [paper("a", "presented"), paper("b", "presented"), paper("c", "pending")];
  const rrd = { ...fresh, phase: "ANALYSIS", papers_pool: papers } as Rrd;
  const quick = (n: number, unit: string) => read(n, unit, 20, { duration_seconds: 6 });
  // A fifth of the tokens and a tenth of the minutes of what such papers took elsewhere.
  expect(forecastOf(rrd, [quick(1, "a"), quick(2, "b")], before)).toMatchObject({
    tokens: 20 + 1,
    seconds: 6 + 6,
    from: "what it took so far",
  });
});

test("of documents that a person brings the size is known before the start", async () => {
  const cwd = freshFolder();
  const forecast = async (words: number) => {
    const io = fakeIo({ cwd, env: { HOME: cwd, RESEARCH_RALPH_AGENT: "codex" } });
    mkdirSync(join(cwd, "notes"), { recursive: true });
    for (const name of ["a.md", "b.md"]) writeFileSync(join(cwd, "notes", name), "word ".repeat(words));
    makeResearch(cwd, "own-2026-03-01", { ...fresh, requirements: { target_papers: 2, sources: ["folder:notes"] } });
    await costCommand({ folder: "own-2026-03-01", json: true }, io);
    return JSON.parse(io.out()).forecast as { tokens: number; from: string };
  };
  const [few, many] = [await forecast(60), await forecast(12_000)];
  expect(few.from).toContain("documents of this size");
  expect(few.tokens).toBeLessThan(50_000);
  expect(many.tokens).toBeGreaterThan(few.tokens + 2 * 12_000);
});

test("nothing is forecast where nothing is known of papers, or nothing is left", () => {
  expect(forecastOf(fresh, [])).toBeUndefined();
  const done = { ...fresh, phase: "COMPLETE", papers_pool: [paper("a", "presented")] } as Rrd;
  expect(forecastOf(done, [], before)).toBeUndefined();
});

test("attempts for nothing belong to the unit that they led to, and papers of the same id in two researches are two", () => {
  const ledger = [read(1, "a", 10, { outcome: "refused" }), read(2, "a", 20), read(3, "b", 70, { outcome: "failed" })];
  expect(medianUsageOf([ledger, [read(1, "a", 50)]]).paper).toMatchObject({ tokens: 40 });
});

test("in classic mode one iteration is like the other, and one accepted stands for one paper", () => {
  const classic = [read(1, "classic", 10, { outcome: "refused" }), read(2, "classic", 30), read(3, "classic", 60)];
  const forecast = forecastOf(fresh, classic, { usage: {}, from: "", classic: true });
  expect(forecast).toMatchObject({ iterations: 19, tokens: 19 * 50 });
});

test("the dated figures are priced as estimates, and an agent without a model costs nothing", () => {
  const priced = figuresFor({ name: "codex" }, ({ input, output }) => [(input + output) / 1_000_000]);
  expect(forecastOf(fresh, [], priced)).toMatchObject({
    estimated: true,
    cost_usd: expect.any(Number),
    from: "typical papers",
  });
  expect(
    forecastOf(
      fresh,
      [],
      figuresFor({ name: "claude" }, () => []),
    ),
  ).not.toHaveProperty("cost_usd");
  expect(
    forecastOf(
      fresh,
      [],
      figuresFor({ name: "baseline", free: true }, () => [9]),
    ),
  ).toMatchObject({ tokens: 0, cost_usd: 0 });
});

test("other researches in the folder are what a fresh one rests on: those of the same agent and model, the newest twenty", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "fresh-2026-03-01", fresh);
  const beside = (name: string, lines: readonly LedgerLine[], age: number) => {
    const at = makeResearch(cwd, name, {}, lines);
    const time = Date.now() / 1000 - age;
    utimesSync(join(at, "ledger.jsonl"), time, time);
  };
  for (let n = 0; n < 20; n += 1) beside(`other-${n}`, [read(1, "a", 1_000)], n);
  beside("old", [read(1, "a", 9_000_000)], 1_000);
  beside("codex-only", [read(1, "a", 500_000, { agent: "codex" })], -1);
  mkdirSync(join(dirname(folder), "not-a-research"));
  writeFileSync(join(dirname(folder), "a-file"), "");
  const sonnet = await experienceFor(folder, { name: "claude", model: "sonnet" }, false);
  expect(sonnet).toMatchObject({
    usage: { paper: { tokens: 1_000 }, report: { tokens: expect.any(Number) } },
    from: expect.stringMatching(/19 other projects/),
  });
  expect((await experienceFor(folder, { name: "claude", model: "opus" }, false)).from).toContain("typical papers");
  expect((await experienceFor(folder, { name: "amp" }, true)).usage).toEqual({});
});

test("cost tells of a fresh research what it will take, its check among it, at the prices of the models that the agent chooses from", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "fresh-2026-03-01", fresh);
  const told = async (agent: string) => {
    const io = fakeIo({ cwd, env: { HOME: cwd, RESEARCH_RALPH_AGENT: agent } });
    await costCommand({ folder: "fresh-2026-03-01", json: false }, io);
    return io.out().replace(/\s+/g, " ");
  };
  expect(await told("codex")).toMatch(
    /Forecast: ≈ .* tokens, \$\d+\.\d\d, .* of work left, in 22 iterations \(16 papers, at most 3 checks of sentences\); estimated from typical papers/,
  );
  expect(await told("claude")).toMatch(
    /≈ .* tokens, \$\d\.\d\d to \$\d\.\d\d, .* typical papers, at the prices of claude-sonnet-5-5 and claude-opus-5-5/,
  );
});

test("a command of which nothing is known has no forecast of its time until it has done two units", () => {
  const { tokens, seconds } =
    forecastOf(
      fresh,
      [],
      figuresFor({ name: "cmd:sh" }, () => []),
    ) ?? {};
  expect(tokens).toBeGreaterThan(0);
  expect(seconds).toBeUndefined();
  const line = (iteration: number, unit: string) =>
    ({ iteration, unit, agent: "cmd:sh", outcome: "accepted", duration_seconds: 6, brief_tokens: 100 }) as LedgerLine;
  const lines = [line(1, "discovery:batch-1"), line(2, "paper:a")];
  const known = forecastOf(
    fresh,
    lines,
    figuresFor({ name: "cmd:sh" }, () => []),
  );
  expect(known?.seconds).toBeGreaterThan(0);
});

test("kinds that another project has not done are forecast at its pace", () => {
  const dated = figuresFor({ name: "cmd:sh" }, () => []).usage;
  const measured = medianUsageOf([[line(1, "paper:a", { agent: "cmd:sh", duration_seconds: 2, brief_tokens: 100 })]]);
  const { paper: read, mend } = usageAtPace(measured, dated);
  expect(read?.minutes).toBeCloseTo(2 / 60);
  expect((mend?.minutes ?? 0) / (dated["mend"]?.minutes ?? 1)).toBeCloseTo(2 / 60 / (dated["paper"]?.minutes ?? 1));
});

test("checks are foreseen as they are set: of two checkers twice, of every claim by the papers, of none none", () => {
  const left = (checks?: CheckPlan) =>
    forecastOf(fresh, [], { ...before, ...withoutUndefined({ checks }) })?.iterations ?? 0;
  expect(left({ wish: "reports", checkers: 1 }) - left()).toBe(3);
  expect(left({ wish: "reports", checkers: 2 }) - left()).toBe(5);
  // 16 papers have some 128 claims.
  expect(left({ wish: "all", checkers: 1 }) - left()).toBe(3 + 3);
});

test("the records that folders and lists hold are counted before the first batch: all are screened, and no more are read", () => {
  expect(forecastOf(fresh, [], { ...before, records: 200 })).toMatchObject({
    left: "200 records to screen, 16 papers",
    iterations: 15 + 16 + 1,
  });
  expect(forecastOf(fresh, [], { ...before, records: 3 })).toMatchObject({ papers: 3, iterations: 1 + 3 + 1 });
});

test("cost forecasts nothing of a research in classic mode that nothing was accepted in", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "fresh-2026-03-01", fresh, [read(1, "classic", 10, { phase: "DISCOVERY", outcome: "failed" })]);
  const io = fakeIo({ cwd, env: { HOME: cwd } });
  await costCommand({ folder: "fresh-2026-03-01", json: false }, io);
  expect(io.out()).not.toContain("Forecast");
});

test("a run says what the whole will take before its first iteration", async () => {
  const cwd = freshFolder();
  const requirements = { target_papers: 2, sources: ["samples"], keywords: ["dexterous manipulation"] };
  makeResearch(cwd, "grasping-2026-03-01", {
    ...fresh,
    requirements,
    handoff: { product_ideation: { enabled: true } },
  });
  const unitAgent = `cmd:${process.execPath} ${fileURLToPath(new URL("../../support/processes/unit-agent.mjs", import.meta.url))}`;
  makeResearch(cwd, "other", { phase: "COMPLETE", papers_pool: [paper("a", "presented")] }, [
    { ...read(1, "a", 40_000, { agent: unitAgent }), model: undefined },
  ]);
  const io = fakeIo({ cwd, env: { HOME: cwd, PATH: process.env["PATH"] } });
  const flags = { agent: unitAgent, unconfined: true, git: false, iterations: 1 };
  await runCommand(
    { folder: "grasping-2026-03-01", flags, force: false, classic: false, ask: false, quiet: false, json: false },
    io,
  );
  const lines = io.err().split("\n");
  const forecast = lines.findIndex((each) =>
    /Forecast: ≈ \d+k tokens, .* left, in 8 iterations \(2 papers, at most 3 checks of sentences.*another project/.test(
      each,
    ),
  );
  const begun = lines.findIndex((each) => each.includes("#1 "));
  expect([forecast, begun].every((at) => at !== -1)).toBe(true);
  expect(forecast).toBeLessThan(begun);
});
