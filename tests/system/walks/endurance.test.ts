import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { limitBudget, watchBudget } from "../../../src/engine/loop/stop-conditions/budget.js";
import { limitIterations } from "../../../src/engine/loop/stop-conditions/limits.js";
import { stopWhenStuck, stopWithoutResult } from "../../../src/engine/loop/stop-conditions/stuck.js";
import type { Agent, AgentEvent } from "../../../src/engine/loop/types.js";
import { goodAgent, paper, reading, researchFolder, rrdWith, scriptedAgent } from "../../support/projects/research.js";
import { watchContext } from "../../../src/engine/loop/stop-conditions/context-window.js";
import { accountOf } from "../../../src/research/workflow/forecast.js";
import { researchWords } from "../../../src/research/project-files/words.js";

const papers = (count: number) => Array.from({ length: count }, (_, index) => paper(`p${index + 1}`));

describe("a research over many iterations", () => {
  test.each([1, 3])("with %i at a time: briefs stay flat, and the ledger adds up to what was told", async (jobs) => {
    let asked = 0;
    // Every seventh result is refused, so the paper is read again.
    const agent = goodAgent(({ kind, unit }) =>
      kind === "paper" && (asked += 1) % 7 === 0 ? { result: reading(String(unit), { evidence: [] }) } : undefined,
    );
    // As a run of a user's: with git, summaries by a model, and the stop conditions that may stop it.
    const at = researchFolder(rrdWith(papers(40)));
    execFileSync("git", ["init", "-q"], { cwd: at.root });
    const ask = {
      name: "scribe",
      run: async () => ({ summary: "It goes on. ".repeat(100), tokens: 500, cost_usd: 0.002 }),
    };
    const stopConditions = [
      limitIterations(200),
      limitBudget(researchWords, { usd: 1_000 }),
      stopWhenStuck(researchWords),
      stopWithoutResult(researchWords),
    ];
    const run = at.run(agent, 200, { jobs, stopConditions, git: true, history: { every: 5, ask } });
    const { verdict, events, rrd, ledger } = await run;
    expect(verdict.verdict).toBe("complete");
    // Results that wait for each other stand in one commit, which says how many they are.
    const subjects = execFileSync("git", ["log", "--format=%s"], { cwd: at.root, encoding: "utf8" }).trim().split("\n");
    const committed = subjects.map((subject) => Number(/^(\d+) iterations$/.exec(subject)?.[1] ?? 1));
    expect(committed.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(40);
    expect(execFileSync("git", ["status", "--porcelain"], { cwd: at.root, encoding: "utf8" })).toBe("");
    expect(rrd.papers_pool.every(({ decision }) => decision != null)).toBe(true);

    const started = events.flatMap((event) => (event.type === "iteration-started" ? [event] : []));
    const ended = events.flatMap((event) => (event.type === "iteration-ended" ? [event] : []));
    const numbers = started.map(({ iteration }) => iteration);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(ledger.map(({ iteration }) => iteration).toSorted((a, b) => a - b)).toEqual(
      numbers.toSorted((a, b) => a - b),
    );
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    expect(sum(ledger.map(({ tokens }) => (tokens?.input ?? 0) + (tokens?.output ?? 0)))).toBe(
      sum(ended.map(({ usage }) => usage.input + usage.output)),
    );
    expect(sum(ledger.map(({ cost_usd }) => cost_usd ?? 0))).toBeCloseTo(
      sum(ended.map(({ cost_usd }) => cost_usd ?? 0)),
    );

    const summaries = events.filter(({ type }) => type === "history-compressed").length;
    expect(summaries).toBeGreaterThanOrEqual(Math.floor(ledger.length / 5) - 1);
    const { tokens, usd } = accountOf(rrd, ledger).spent;
    expect(tokens).toBe(sum(ended.map(({ usage }) => usage.input + usage.output)) + summaries * 500);
    expect(usd).toBeCloseTo(sum(ended.map(({ cost_usd }) => cost_usd ?? 0)) + summaries * 0.002);

    const briefs = started
      .filter(({ phase, unit }) => phase === "ANALYSIS" && unit !== "report")
      .map(({ brief_tokens }) => brief_tokens);
    expect(Math.max(...briefs.slice(30))).toBeLessThanOrEqual(Math.max(...briefs.slice(10, 30)) * 1.25);
  });

  test("insights of papers that were read side by side have numbers of their own", async () => {
    const { rrd } = await researchFolder(rrdWith(papers(12))).run(goodAgent(), 40, { jobs: 4 });
    const ids = (rrd.insights ?? []).map(({ id }) => id);
    expect(ids).toHaveLength(12);
    expect(new Set(ids).size).toBe(12);
  });

  test("a budget of the research ends it over all its runs, and what failed counts", async () => {
    const folder = researchFolder(rrdWith(papers(20), { budget: { max_usd: 0.055 } }));
    const rules = {
      watches: [watchBudget(researchWords, {})],
      stopConditions: [limitIterations(4), limitBudget(researchWords, {})],
    };
    const failing = goodAgent(({ unit }) =>
      unit === "p2" ? { end: { message: "", failure: { kind: "crashed", message: "It crashed." } } } : undefined,
    );
    expect((await folder.run(failing, 4, rules)).verdict.verdict).toBe("limit");
    const { verdict, ledger } = await folder.run(goodAgent(), 40, {
      ...rules,
      stopConditions: [limitBudget(researchWords, {})],
    });
    expect(verdict).toMatchObject({
      verdict: "limit",
      reason: expect.stringMatching(/budget of this project, \$0\.06, .*budget\.max_usd/),
    });
    expect(ledger).toHaveLength(6);
  });

  test("a context that fills too far closes the iteration, and the next brief of that paper is smaller", async () => {
    const body = "The method reached 87.5 % accuracy on 1,200 samples. It needs 14 minutes on one machine. ".repeat(
      1500,
    );
    const { paperText, library } = await import("../../support/projects/research.js");
    const given = library({ text: async ({ id }) => ({ text: paperText(id, body) }) });
    let tries = 0;
    const agent = scriptedAgent((unit) => ({ result: reading(String(unit["unit"])) }));
    const filling = {
      ...agent,
      async *run(...args: Parameters<Agent["run"]>): AsyncGenerator<AgentEvent> {
        tries += 1;
        if (tries === 1) {
          yield {
            type: "usage" as const,
            usage: { input: 85_000, cached: 0, output: 0, requests: 1, largest: 85_000 },
          };
          // An answer would still count; a tool means that all is sent once more.
          yield { type: "tool" as const, name: "Read", detail: "paper.txt" };
        }
        if (args[1].signal.aborted)
          return yield {
            type: "end" as const,
            message: "",
            failure: { kind: "aborted" as const, message: "It was aborted." },
          };
        yield* agent.run(...args);
      },
    };
    const { events, rrd, ledger } = await researchFolder(rrdWith(papers(1)), given).run(filling, 2, {
      watches: [watchContext],
    });
    const briefs = events.flatMap((event) => (event.type === "iteration-started" ? [event.brief_tokens] : []));
    expect(briefs[1]).toBeLessThan((briefs[0] ?? 0) * 0.8);
    expect(ledger[0]).toMatchObject({
      outcome: "failed",
      failure: "context",
      context: { largest_request: 85_000, window: 200_000, share: 0.425 },
    });
    expect(rrd.papers_pool[0]).toMatchObject({ decision: expect.any(String), read_depth: "partial" });
  });
});
