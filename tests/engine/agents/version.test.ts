import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createAgent } from "../../../src/engine/agents/registry.js";
import type { AgentEvent } from "../../../src/engine/loop/types.js";
import { packageVersion } from "../../../src/engine/lib/package-root.js";
import { type ProcessEnd, runProcess } from "../../../src/engine/process/run-process.js";
import { briefIn, endOf, fixtureLines, place, program, settingsIn } from "./support.js";

const here = place();

/** What the CLI prints of its version; the calls are counted in a file. */
const answering = (says: string): string => `echo "$*" >> ${join(here.folder, "calls")}; ${says}`;
const calls = (): string[] =>
  existsSync(join(here.folder, "calls")) ? readFileSync(join(here.folder, "calls"), "utf8").trimEnd().split("\n") : [];

/** Agents of a run whose stream is the recorded one, told once `ready`. */
function recorded(name: string, lines: readonly string[], says: string, ready: () => Promise<unknown>) {
  const command = program(here.folder, name, answering(says));
  const settings = settingsIn(here, {
    unconfined: true,
    agents: { [name]: { command, env: { AMP_API_KEY: "dummy" } } },
    async *exec(): AsyncGenerator<string, ProcessEnd> {
      await ready();
      yield* lines;
      return { cause: "exited", exitCode: 0, stderr: "" };
    },
  });
  const agent = createAgent(name, settings);
  return async (iteration = 1): Promise<AgentEvent[]> => {
    const events: AgentEvent[] = [];
    const { signal } = new AbortController();
    for await (const event of agent.run(briefIn(here, { iteration }), { signal })) events.push(event);
    return events;
  };
}

const versionsIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "usage" ? [event.version] : []));

/** Once the program has ended that was asked, and this process has heard of it. */
const answered = async () => {
  while (calls().length === 0) await sleep(5);
  await sleep(500);
};

for (const [name, says, version] of [
  ["codex", "echo 'codex-cli 0.169.0'", "0.169.0"],
  ["amp", "echo '0.0.1786000000-g1a2b3c (released 2026-10-30T00:00:00.000Z, 2d ago)'", "0.0.1786000000-g1a2b3c"],
] as const) {
  it(`the version of ${name} is asked once, beside the agent, and goes with its use`, async () => {
    const run = recorded(name, fixtureLines(`${name}-success`), says, answered);
    expect(versionsIn(await run()).at(-1)).toBe(version);
    expect(versionsIn(await run(2)).at(-1)).toBe(version);
    expect(calls()).toEqual(["--version"]);
  });

  it(`an answer of ${name} that is late, wrong or none neither delays nor fails its run`, async () => {
    for (const odd of ["sleep 60", "exit 3", "echo 'no idea'"]) {
      const run = recorded(name, fixtureLines(`${name}-success`), odd, () => Promise.resolve());
      const events = await run();
      expect(versionsIn(events).at(-1)).toBeUndefined();
      expect(endOf(events).failure).toBeUndefined();
    }
  });
}

it("ralph knows its own version, and a command has none", async () => {
  const usage = '{"type":"usage","usage":{"input":5,"output":2}}';
  const own = recorded("ralph", [usage, '{"type":"end","message":"Done."}'], "", () => sleep(1));
  expect(versionsIn(await own())).toEqual([packageVersion()]);
  const settings = settingsIn(here, { unconfined: true, exec: runProcess });
  const events: AgentEvent[] = [];
  const { signal } = new AbortController();
  for await (const event of createAgent("cmd:echo Done.", settings).run(briefIn(here), { signal })) events.push(event);
  expect(versionsIn(events).filter((each) => each !== undefined)).toEqual([]);
  expect(endOf(events)).toEqual({ type: "end", message: "Done." });
});
