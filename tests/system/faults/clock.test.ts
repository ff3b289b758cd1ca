import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LoopEvent } from "../../../src/engine/loop/types.js";
import { useBuiltCli } from "./support/built.js";
import { expectNoTrace, expectWhole, type Place } from "./support/place.js";

const place = useBuiltCli();

/**
 * Loaded into the command before anything else: its clock is set back by an hour once the file at FAULTS_SET_BACK is
 * there.
 */
const clock = `
  import { existsSync } from "node:fs";
  const Real = Date;
  const time = () => Real.now() - (existsSync(process.env.FAULTS_SET_BACK) ? 3_600_000 : 0);
  globalThis.Date = class extends Real {
    constructor(...given) { given.length === 0 ? super(time()) : super(...given); }
    static now() { return time(); }
  };`;

function withClock(here: Place, setBack: string): NodeJS.ProcessEnv {
  const file = join(here.top, "clock.mjs");
  writeFileSync(file, clock);
  return { NODE_OPTIONS: `--import ${file}`, FAULTS_SET_BACK: setBack };
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
