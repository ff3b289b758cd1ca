import { describe, expect, test } from "vitest";
import { type Historian, historian, measured, mostSummary } from "../../../../src/engine/loop/history/summarise.js";
import { bounded, type Compression, type LoopMemory } from "../../../../src/engine/loop/record/memory.js";
import { recall } from "../../../../src/engine/loop/notes.js";
import type { LoopEvent } from "../../../../src/engine/loop/types.js";
import type { Observation } from "../../../../src/engine/generated/memory.js";

const reasons = [
  "fewer than half of the quotes were found in the text",
  "/scores/execution/novelty must be at most 5",
  "result.json was not written",
];
const digest = `Said first: I read the paper.\nSaid last: Done.\nDid: ${"Read paper/01.txt; ".repeat(55)}`.slice(
  0,
  1_150,
);

const seen = (iteration: number): Observation => {
  const refused = iteration % 4 === 3;
  const said = refused ? reasons[iteration % 3] : `presented with ${iteration % 50} of 50`;
  return { iteration, unit: `p${iteration}`, outcome: refused ? "refused" : "accepted", said, digest };
};

async function ended(events: AsyncGenerator<LoopEvent, Compression | undefined>) {
  const told: LoopEvent[] = [];
  for (;;) {
    const step = await events.next();
    if (step.done === true) return { compression: step.value, told };
    told.push(step.value);
  }
}

/** A run of so many iterations with a historian over it, as the workflow keeps it. */
async function runOf(
  iterations: number,
  compress: Historian,
  order = Array.from({ length: iterations }, (_, n) => n + 1),
) {
  let memory: LoopMemory = { observations: [], ledger: [], steering: [] };
  const notes: string[] = [];
  const told: LoopEvent[] = [];
  for (const iteration of order) {
    notes.push(recall(memory).history ?? "");
    const line = {
      iteration,
      at: "2026-01-01T00:00:00Z",
      unit: `p${iteration}`,
      phase: "ANALYSIS",
      outcome: "accepted",
    } as const;
    memory = {
      ...memory,
      observations: bounded([...memory.observations, seen(iteration)]),
      ledger: [...memory.ledger, line].slice(-5),
    };
    const { compression, told: events } = await ended(compress(memory));
    told.push(...events);
    if (compression !== undefined)
      memory = { ...memory, historySummary: compression.summary, metrics: measured(memory.metrics, compression) };
  }
  return { memory, notes, told };
}

const now = () => 0;

describe("the history", () => {
  test("is summarised every five iterations, in at most 2,000 characters, with measures that add up", async () => {
    const { memory, told } = await runOf(23, historian({ every: 5, now }));
    expect(told.map((event) => event.type === "history-compressed" && event.iteration)).toEqual([5, 10, 15, 20]);
    const { metrics, historySummary = "" } = memory;
    expect(historySummary.length).toBeLessThanOrEqual(mostSummary);
    expect(metrics).toMatchObject({ compressions: 4, last_iteration: 20 });
    expect(metrics?.history_size_trend?.reduce((sum, size) => sum + size, 0)).toBe(metrics?.total_chars_after);
    expect(metrics?.total_tokens_saved).toBeGreaterThan(0);
  });

  test("is not summarised when that is turned off, and what is told of it stays small all the same", async () => {
    const { memory, notes, told } = await runOf(100, historian({ every: 0, now }));
    expect(told).toEqual([]);
    expect(memory.historySummary).toBeUndefined();
    expect(Math.max(...notes.map((note) => note.length))).toBeLessThanOrEqual(5 * 201);
  });

  test("keeps counts over all iterations, why work was refused, how often, and what then helped", async () => {
    const { memory } = await runOf(40, historian({ every: 5, now }));
    const { historySummary = "" } = memory;
    expect(historySummary).toContain("Iterations 1 to 40: 30 accepted, 10 refused, 0 failed.");
    for (const reason of reasons) expect(historySummary).toContain(reason);
    expect(historySummary).toMatch(/- [34]×, last #\d+: refused: result\.json was not written/);
  });

  test("reaches a plateau: a hundred iterations later the note is as long as before", async () => {
    const { notes } = await runOf(200, historian({ every: 5, now }));
    const longest = (from: number, to: number) => Math.max(...notes.slice(from, to).map((note) => note.length));
    expect(longest(150, 200)).toBeLessThanOrEqual(longest(50, 100) * 1.05);
    expect(longest(0, 200)).toBeLessThanOrEqual(mostSummary + 5 * 201);
  });

  test("takes at least 43 % fewer tokens than a brief that carries every observation, the historian's own counted against it", async () => {
    const briefTokens = 3_500;
    const perSummary = 6_000; // what a historian's model reads and writes
    const ask = { name: "scribe", run: async () => ({ summary: "s".repeat(1_900), tokens: perSummary }) };
    const whole = (iteration: number) => JSON.stringify(seen(iteration)).length / 4;
    let uncompressed = 0;
    let carried = 0;
    for (let iteration = 1; iteration <= 100; iteration += 1) {
      uncompressed += briefTokens + carried;
      carried += whole(iteration);
    }
    for (const compress of [historian({ every: 5, now }), historian({ every: 5, now, ask })]) {
      const { notes, memory } = await runOf(100, compress);
      const ours = notes.reduce(
        (sum, note) => sum + briefTokens + note.length / 4,
        memory.metrics?.historian_tokens ?? 0,
      );
      expect(1 - ours / uncompressed).toBeGreaterThanOrEqual(0.43);
    }
  });

  test("loses no iteration of agents side by side, whose iterations end out of order", async () => {
    const order = [1, 2, 4, 5, 7, 3, 6, 10, 9, 8, 15, 11, 12, 13, 14];
    const { memory, told } = await runOf(15, historian({ every: 5, now }), order);
    expect(told).toHaveLength(3);
    expect(memory.historySummary).toContain("Iterations 1 to 15: 11 accepted, 4 refused, 0 failed.");
  });

  test("is summarised by code when the historian fails, and that is said and paid for", async () => {
    const { memory, told } = await runOf(
      5,
      historian({
        every: 5,
        now,
        ask: { name: "scribe", run: async () => ({ reason: "it is away.", tokens: 700, costUsd: 0.01 }) },
      }),
    );
    expect(told.map(({ type }) => type)).toEqual(["notice", "history-compressed"]);
    expect(told[0]).toMatchObject({ level: "warning", message: expect.stringContaining("it is away") });
    expect(told[1]).toMatchObject({ by: "built-in", tokens: 700, costUsd: 0.01 });
    expect(memory.metrics).toMatchObject({ historian_tokens: 700, historian_cost_usd: 0.01 });
    expect(memory.historySummary).toContain("Iterations 1 to 5");
  });

  test("by an agent is cut to its bound, names who wrote it, and pays for what it used", async () => {
    const ask = {
      name: "scribe",
      run: async () => ({ summary: "It was tried. ".repeat(400), tokens: 900, costUsd: 0.02 }),
    };
    const { memory, told } = await runOf(5, historian({ every: 5, now, ask }));
    expect(told).toMatchObject([{ by: "scribe", tokens: 900, costUsd: 0.02 }]);
    expect(memory.historySummary?.length).toBeLessThanOrEqual(mostSummary);
    expect(memory.metrics).toMatchObject({ historian_tokens: 900, historian_cost_usd: 0.02 });
    const free = await runOf(
      5,
      historian({
        every: 5,
        now,
        ask: { ...ask, run: async () => ({ summary: "It was tried. ".repeat(400), tokens: 0 }) },
      }),
    );
    expect(free.memory.metrics?.total_tokens_saved).toBe((memory.metrics?.total_tokens_saved ?? 0) + 900);
  });

  test("goes on from a summary that a model wrote, keeping what it said", async () => {
    let asked = 0;
    const ask = {
      name: "scribe",
      run: async () =>
        (asked += 1) === 1
          ? { summary: "The theme is gripping with soft hands.", tokens: 1 }
          : { reason: "gone.", tokens: 0 },
    };
    const { memory } = await runOf(30, historian({ every: 5, now, ask }));
    expect(memory.historySummary).toContain("The theme is gripping with soft hands.");
  });
});

describe("what a brief is told", () => {
  test("a person's words stand in every brief, the latest first to stay when they are too many", () => {
    const steering = Array.from({ length: 30 }, (_, n) => ({ id: `${n}`, text: `wish ${n} ${"x".repeat(100)}` }));
    const told = recall({ observations: [], ledger: [], steering }).steering ?? "";
    expect(told.length).toBeLessThanOrEqual(1_600);
    expect(told).toContain("wish 29");
    expect(told).not.toContain("wish 0 ");
  });

  test("is nothing where there is nothing to tell", () => {
    expect(recall({ observations: [], ledger: [], steering: [] })).toEqual({});
    expect(recall(undefined)).toEqual({});
  });
});
