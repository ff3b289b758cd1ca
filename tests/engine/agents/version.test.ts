import { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { amp } from "../../../src/engine/agents/amp.js";
import { codex } from "../../../src/engine/agents/codex/codex.js";
import type { AgentDefinition } from "../../../src/engine/agents/definition.js";
import { ralph } from "../../../src/engine/agents/ralph.js";
import { createAgent } from "../../../src/engine/agents/registry.js";
import { agentFrom } from "../../../src/engine/agents/run-agent.js";
import type { AgentEvent } from "../../../src/engine/loop/types.js";
import { packageVersion } from "../../../src/engine/lib/package-root.js";
import { type ProcessEnd, runProcess } from "../../../src/engine/process/run-process.js";
import { briefIn, endOf, fixtureLines, place, program, settingsIn } from "./support.js";

const here = place();

/** What the CLI prints of its version; the calls are counted in a file. */
const answering = (says: string): string => `echo "$*" >> ${join(here.folder, "calls")}; ${says}`;
const calls = (): string[] => readFileSync(join(here.folder, "calls"), "utf8").trimEnd().split("\n");

/** Agents of a run whose stream is the recorded one, told once `ready` of what the program is asked about itself. */
function recorded(
  definition: AgentDefinition,
  lines: readonly string[],
  says: string,
  ready: (asked: Promise<unknown>) => Promise<unknown> = async () => undefined,
) {
  const { name } = definition;
  let asked: Promise<unknown> = Promise.resolve();
  const options = { command: program(here.folder, name, answering(says)), env: { AMP_API_KEY: "dummy" } };
  const settings = settingsIn(here, {
    unconfined: true,
    async *exec(): AsyncGenerator<string, ProcessEnd> {
      await ready(asked);
      yield* lines;
      return { cause: "exited", exitCode: 0, stderr: "" };
    },
  });
  const version: AgentDefinition["version"] = (...given) => {
    const answer = definition.version?.(...given) ?? Promise.resolve(undefined);
    asked = answer;
    return answer;
  };
  const agent = agentFrom({ ...definition, version }, { name, options, settings });
  return async (iteration = 1): Promise<AgentEvent[]> => {
    const events: AgentEvent[] = [];
    const { signal } = new AbortController();
    for await (const event of agent.run(briefIn(here, { iteration }), { signal })) events.push(event);
    // What was asked and not waited for is ended with the run, a moment later.
    await asked;
    return events;
  };
}

const versionsIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "usage" ? [event.version] : []));

for (const [definition, says, version] of [
  [codex, "echo 'codex-cli 0.169.0'", "0.169.0"],
  [amp, "echo '0.0.1786000000-g1a2b3c (released 2026-10-30T00:00:00.000Z, 2d ago)'", "0.0.1786000000-g1a2b3c"],
] as const) {
  const { name } = definition;
  it(`the version of ${name} is asked once, beside the agent, and goes with its use`, async () => {
    const run = recorded(definition, fixtureLines(`${name}-success`), says, (asked) => asked);
    expect(versionsIn(await run()).at(-1)).toBe(version);
    expect(versionsIn(await run(2)).at(-1)).toBe(version);
    expect(calls()).toEqual(["--version"]);
  });

  it(`an answer of ${name} that is late, wrong or none neither delays nor fails its run`, async () => {
    for (const odd of ["exec sleep 60", "exit 3", "echo 'no idea'"]) {
      const run = recorded(definition, fixtureLines(`${name}-success`), odd);
      const events = await run();
      expect(versionsIn(events).at(-1)).toBeUndefined();
      expect(endOf(events).failure).toBeUndefined();
    }
  });
}

it("ralph knows its own version, and a command has none", async () => {
  const usage = '{"type":"usage","usage":{"input":5,"output":2}}';
  const own = recorded(ralph, [usage, '{"type":"end","message":"Done."}'], "", (asked) => asked);
  expect(versionsIn(await own())).toEqual([packageVersion()]);
  const settings = settingsIn(here, { unconfined: true, exec: runProcess });
  const events: AgentEvent[] = [];
  const { signal } = new AbortController();
  for await (const event of createAgent("cmd:echo Done.", settings).run(briefIn(here), { signal })) events.push(event);
  expect(versionsIn(events).filter((each) => each !== undefined)).toEqual([]);
  expect(endOf(events)).toEqual({ type: "end", message: "Done." });
});

it("no signal is sent for a program that could not be started: it would reach any other process", async () => {
  const kill = vi.spyOn(ChildProcess.prototype, "kill");
  onTestFinished(() => kill.mockRestore());
  const settings = settingsIn(here, {});
  const context = { name: "codex", options: { command: join(here.folder, "not-there") }, settings };
  const ended = new AbortController();
  const asked = codex.version?.(context, ended.signal);
  ended.abort();
  expect(await asked).toBeUndefined();
  expect(kill).not.toHaveBeenCalled();
});
