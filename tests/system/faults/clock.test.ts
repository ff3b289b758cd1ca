import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LoopEvent } from "../../../src/engine/loop/types.js";
import { useBuiltCli } from "./support/built.js";
import { type Ended, expectNoTrace, expectWhole, makeRepository, type Place } from "./support/place.js";

const place = useBuiltCli();

/** Loaded into the command before anything else: its clock is set by FAULTS_BY hours once a file is there. */
const clock = `
  import { existsSync } from "node:fs";
  const Real = Date;
  const time = () => Real.now() + (existsSync(process.env.FAULTS_SET) ? process.env.FAULTS_BY * 3_600_000 : 0);
  globalThis.Date = class extends Real {
    constructor(...given) { given.length === 0 ? super(time()) : super(...given); }
    static now() { return time(); }
  };`;

function withClock(here: Place, set: string, hours = -1): NodeJS.ProcessEnv {
  const file = join(here.top, "clock.mjs");
  writeFileSync(file, clock);
  return { NODE_OPTIONS: `--import ${file}`, FAULTS_SET: set, FAULTS_BY: String(hours) };
}

const times = (here: Place): number[] => here.ledger().map(({ at }) => Date.parse(at));

test("a clock set back by an hour under an agent: the run goes on, its times never go back and no duration is negative", async () => {
  const here = place();
  const agent = join(here.cwd, "late.sh");
  // The first iteration fails, so that a wait follows, too.
  writeFileSync(
    agent,
    `#!/bin/sh\nif [ ! -e '${here.gate}/set' ]; then : > '${here.gate}/set'; exit 1; fi\nexec '${process.execPath}' "$FAULTS_BASELINE"\n`,
    { mode: 0o755 },
  );
  const args = ["run", here.research, "--agent", "cmd:./late.sh", "--unconfined", "--json", "--max-minutes", "30"];
  const ended = await here.cli(args, withClock(here, join(here.gate, "set")));
  expect(existsSync(join(here.gate, "set"))).toBe(true);
  expect(ended.code, ended.err).toBe(0);
  const events = ended.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LoopEvent);
  const at = events.map((event) => Date.parse(event.at));
  expect(at).toEqual(at.toSorted((a, b) => a - b));
  for (const event of events)
    if (event.type === "iteration-ended") expect(event.duration_seconds).toBeGreaterThanOrEqual(0);
  expect(times(here)).toEqual(times(here).toSorted((a, b) => a - b));
  for (const line of here.ledger()) expect(line.duration_seconds).toBeGreaterThanOrEqual(0);
  expectWhole(here);
});

test("a clock set back between two runs: the second completes the research, and every command shows times that make sense", async () => {
  const here = place();
  const first = await here.cli(["run", here.research, "--agent", "baseline", "-i", "1"]);
  expect(first.code).toBe(3);
  const back = withClock(here, here.top);
  expect((await here.cli(["run", here.research, "--agent", "baseline"], back)).code).toBe(0);
  const [one = 0, two = 0] = times(here);
  expect(two).toBeLessThan(one);
  for (const args of [["status"], ["list"], ["validate", here.research]]) {
    const { code, out, err } = await here.cli(args, back);
    expect(code, out + err).toBe(0);
    expect(out).not.toMatch(/-\d+ ?[smh]\b|NaN|Invalid/);
    expectNoTrace(err);
  }
  const { timing } = here.rrd();
  for (const phase of [timing?.discovery, timing?.analysis]) expect(phase?.duration_seconds).toBeGreaterThanOrEqual(0);
  expectWhole(here);
});

describe("a machine that sleeps for three hours under an agent", () => {
  /** An agent in whose first run the machine sleeps. */
  function sleeper(here: Place, then: string): { readonly args: string[]; readonly env: NodeJS.ProcessEnv } {
    const slept = join(here.gate, "slept");
    const script = `#!/bin/sh\nif [ ! -e '${slept}' ]; then : > '${slept}'; sleep 1; cat > /dev/null; exit 1; fi\n${then}\n`;
    writeFileSync(join(here.top, "sleeper.sh"), script, { mode: 0o755 });
    const args = ["--agent", `cmd:${join(here.top, "sleeper.sh")}`, "--unconfined", "--sandbox", "host"];
    return { args: [...args, "--json", "--max-minutes", "30"], env: withClock(here, slept, 3) };
  }

  /** Nothing of the three hours is time of the run or of its agent. */
  function expectAwake({ out, err }: Ended): LoopEvent[] {
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as LoopEvent);
    const notices = events.flatMap((event) => (event.type === "notice" ? event.message : []));
    expect(notices.join("\n"), err).toContain("The machine slept for 180 minutes; this time does not count");
    const took = events.flatMap((event) => (event.type === "iteration-ended" ? event.duration_seconds : []));
    expect(took.length).toBeGreaterThan(1);
    expect(Math.max(...took)).toBeLessThan(60);
    return events;
  }

  test("costs a research none of its 30 minutes", async () => {
    const here = place();
    const { args, env } = sleeper(here, `exec '${process.execPath}' "$FAULTS_BASELINE"`);
    const ended = await here.cli(["run", here.research, ...args], env);
    expect(ended.code, ended.err).toBe(0);
    expectAwake(ended);
    for (const line of here.ledger()) expect(line.duration_seconds).toBeLessThan(60);
    expectWhole(here);
  });

  test("costs a task none of its 30 minutes", async () => {
    const here = place();
    const task = join(here.top, "task");
    mkdirSync(task);
    const criteria = [{ type: "file_exists", path: "a.txt" }];
    writeFileSync(join(task, "ralph.json"), JSON.stringify({ task: "x", acceptance_criteria: criteria }));
    const { args, env } = sleeper(here, "cat > /dev/null; : > a.txt");
    const ended = await here.cli(["task", ...args], env, task);
    expect(ended.code, ended.err).toBe(0);
    expectAwake(ended);
    const { attempts } = JSON.parse(readFileSync(join(task, "ralph.state.json"), "utf8"));
    for (const { duration_seconds } of attempts) expect(duration_seconds).toBeLessThan(60);
  });

  test("costs a coding run none of its 30 minutes", async () => {
    const here = place();
    const code = join(here.top, "code");
    mkdirSync(code);
    writeFileSync(join(code, "package.json"), '{"scripts":{"test":"node --test"}}');
    writeFileSync(join(code, "x.test.js"), 'require("node:test")("x", () => { throw new Error("no") })');
    makeRepository(code);
    const { args, env } = sleeper(here, "cat > /dev/null");
    const ended = await here.cli(["code", ...args, "-i", "2"], env, code);
    const last = expectAwake(ended).findLast((event) => event.type === "run-ended");
    expect(last, ended.err).toMatchObject({ verdict: { verdict: "limit", cause: "iterations" } });
  });
});
