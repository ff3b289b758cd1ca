import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Hook } from "../../../src/engine/generated/config.js";
import type { LoopEvent, Verdict } from "../../../src/engine/loop/types.js";
import { type Point, combineParticipants } from "../../../src/engine/points/points.js";
import { shellHooks } from "../../../src/engine/points/shell-hooks.js";
import { isAtWork } from "../../support/processes/alive.js";

const at = "2026-01-01T00:00:00.000Z";
const usage = { input: 1, cached: 0, output: 1, requests: 1 };
const progress = { done: 0, total: 2 };
const started = (iteration: number, phase: string): LoopEvent => ({
  type: "iteration-started",
  at,
  iteration,
  unit: `p${iteration}`,
  phase,
  title: "A paper",
  brief_tokens: 1,
  workspace: "/w",
  progress,
});
const done = (iteration: number, outcome: "accepted" | "refused"): LoopEvent => ({
  type: "iteration-ended",
  at,
  iteration,
  unit: `p${iteration}`,
  outcome: outcome === "accepted" ? { outcome, summary: "fine" } : { outcome, reasons: ["no number"] },
  duration_seconds: 1,
  usage,
});
const complete: Verdict = { verdict: "complete", reason: "All done." };
const aRun: LoopEvent[] = [
  started(1, "DISCOVERY"),
  done(1, "refused"),
  started(2, "ANALYSIS"),
  done(2, "accepted"),
  { type: "run-ended", at, verdict: complete },
];

/** Hooks as a run has them, with what went wrong as sentences. */
function hooksOf(options: Parameters<typeof shellHooks>[0]) {
  const points = combineParticipants(() => [shellHooks(options)]);
  const sentences = (told: Awaited<ReturnType<typeof points.at>>) =>
    told.map((each) => (each.type === "notice" && each.level === "warning" ? each.message : each.type));
  return {
    at: async (event: LoopEvent) => sentences(await points.at(event)),
    async ask(asked: readonly Point[], proposal: object) {
      const { vetoes, notices } = await points.ask(asked, proposal);
      return { vetoes, problems: sentences(notices) };
    },
  };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "rr-hooks-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function follow(hooks: readonly Hook[], cwd: string, timeoutMs?: number): Promise<string[]> {
  const options = {
    hooks,
    cwd,
    env: process.env,
    redact: (text: string) => text.replaceAll("hunter2", "***"),
    folder: "/research",
  };
  const running = hooksOf(timeoutMs === undefined ? options : { ...options, timeoutMs });
  const problems: string[] = [];
  for (const event of aRun) problems.push(...(await running.at(event)));
  return problems;
}

const all = ["before-iteration", "after-iteration", "accepted", "refused", "phase-changed", "complete"] as const;

test("hooks run at their points, in order, with what happens as JSON on stdin", async () => {
  const cwd = folder();
  expect(await follow([{ on: [...all], run: "cat >> told.jsonl" }], cwd)).toEqual([]);
  const told = readFileSync(join(cwd, "told.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(told.map(({ hook }) => hook)).toEqual([
    "before-iteration",
    "after-iteration",
    "refused",
    "phase-changed",
    "before-iteration",
    "after-iteration",
    "accepted",
    "phase-changed",
    "complete",
  ]);
  expect(told[3]).toMatchObject({ from: "DISCOVERY", to: "ANALYSIS", folder: "/research", iteration: 2 });
  expect(told[8]).toMatchObject({ type: "run-ended", verdict: complete });
});

test("a hook of an accepted result does not run at a refused one", async () => {
  const cwd = folder();
  await follow([{ on: ["accepted"], run: "echo x >> times" }], cwd);
  expect(readFileSync(join(cwd, "times"), "utf8")).toBe("x\n");
});

test("a failing hook never breaks the run: it becomes a warning without secrets, and the others run", async () => {
  const cwd = folder();
  const problems = await follow(
    [
      { on: ["complete"], run: "echo no hunter2 here >&2; exit 3" },
      { on: ["complete"], run: "touch ran" },
    ],
    cwd,
  );
  expect(problems).toEqual([expect.stringMatching(/exit code 3: no \*\*\* here/)]);
  expect(existsSync(join(cwd, "ran"))).toBe(true);
});

test("a hook that takes too long is killed with everything it started", async () => {
  const cwd = folder();
  const hook = { on: ["complete"], run: "(sleep 60; touch late) & echo $! > pid; wait" } satisfies Hook;
  // A busy machine may take longer to start the shell.
  for (let limit = 500; !existsSync(join(cwd, "pid")); limit *= 2)
    expect(await follow([hook], cwd, limit)).toEqual([expect.stringContaining(`longer than ${limit / 1000} seconds`)]);
  const pid = Number(readFileSync(join(cwd, "pid"), "utf8"));
  expect(isAtWork(pid)).toBe(false);
});

test("a hook that is not enabled does not run, and failing tests are a point of their own", async () => {
  const cwd = folder();
  const checked = (failing?: number): LoopEvent => ({
    type: "checked",
    at,
    criterion: "tests_pass",
    passed: failing === 0,
    ms: 1,
    detail: "2 of 3 tests fail.",
    ...(failing === undefined ? {} : { failing }),
  });
  const on: Hook["on"] = ["tests-failed"];
  const hooks = hooksOf({
    hooks: [
      { on, run: "cat >> failed" },
      { on, run: "touch off", enabled: false },
    ],
    cwd,
    env: process.env,
    redact: (text) => text,
  });
  for (const event of [checked(0), checked(), checked(2)]) expect(await hooks.at(event)).toEqual([]);
  const told = readFileSync(join(cwd, "failed"), "utf8").trim().split("\n");
  expect(told.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ hook: "tests-failed", failing: 2 })]);
  expect(existsSync(join(cwd, "off"))).toBe(false);
});

test("a hook has its own environment on top of the user's", async () => {
  const cwd = folder();
  await follow([{ on: ["complete"], run: 'printf %s "$HOOK_WORD" > word', env: { HOOK_WORD: "own" } }], cwd);
  expect(readFileSync(join(cwd, "word"), "utf8")).toBe("own");
});

test("a hook marked veto refuses with its reason, and only where it says so", async () => {
  const cwd = folder();
  const ask = (run: string, on: Hook["on"] = ["accepted"]) =>
    hooksOf({ hooks: [{ on, run, veto: true }], cwd, env: process.env, redact: (text) => text, timeoutMs: 60_000 }).ask(
      ["accepted"],
      { unit: "p1" },
    );
  expect(await ask("grep -q p1 && echo 'veto: no code was found'")).toEqual({
    vetoes: ["no code was found"],
    problems: [],
  });
  expect(await ask("echo fine")).toEqual({ vetoes: [], problems: [] });
  expect(await ask("echo 'veto: never asked'", ["complete"])).toEqual({ vetoes: [], problems: [] });
});

test.each([
  ["fails", "echo 'veto: half said'; exit 1", "exit code 1", 60_000],
  ["takes too long", "echo 'veto: half said'; sleep 60", "longer than", 1_000],
])("a vetoing hook that %s does not veto anything, and says so", async (_, run, why, timeoutMs) => {
  const { vetoes, problems } = await hooksOf({
    hooks: [{ on: ["accepted"], run, veto: true }],
    cwd: folder(),
    env: process.env,
    redact: (text) => text,
    timeoutMs,
  }).ask(["accepted"], {});
  expect(vetoes).toEqual([]);
  expect(problems).toEqual([expect.stringMatching(new RegExp(`${why}.*does not veto anything`))]);
});

test("a run that is ended at once waits for no hook at work, but runs those of its end", async () => {
  const cwd = folder();
  const run = new AbortController();
  const hooks = hooksOf({
    hooks: [
      { on: ["before-iteration"], run: "touch begun; sleep 60" },
      { on: ["interrupted"], run: "touch ended" },
    ],
    cwd,
    env: process.env,
    redact: (text) => text,
    signal: run.signal,
    timeoutMs: 60_000,
  });
  const interrupted: Verdict = { verdict: "interrupted", reason: "Interrupted.", signal: "SIGINT" };
  const waiting = setInterval(() => void (existsSync(join(cwd, "begun")) && run.abort("SIGINT")), 50);
  onTestFinished(() => clearInterval(waiting));
  const messages = [
    ...(await hooks.at(started(1, "ANALYSIS"))),
    ...(await hooks.at({ type: "run-ended", at, verdict: interrupted })),
  ];
  expect(messages).toEqual([expect.stringContaining("was ended because the run was interrupted")]);
  expect(existsSync(join(cwd, "ended"))).toBe(true);
});
