import { text } from "node:stream/consumers";
import type { AgentOptions } from "../../../../src/engine/agents/definition.js";
import { createAgent } from "../../../../src/engine/agents/registry.js";
import type { AgentEvent, Brief } from "../../../../src/engine/loop/types.js";
import { runProcess } from "../../../../src/engine/process/run-process.js";
import { openSandbox } from "../../../../src/engine/sandbox/open-sandbox.js";
import type { Limits } from "../../../../src/engine/sandbox/sandbox.js";

/** What this program is told on stdin. */
export interface Trial {
  readonly agent: "claude" | "codex";
  readonly where: "host" | "bubblewrap" | "docker";
  readonly options: AgentOptions;
  readonly env: Record<string, string>;
  readonly workspace: string;
  readonly stateDir: string;
  readonly readOnly: readonly string[];
  readonly limits?: Partial<Limits>;
  /** Of a docker sandbox. */
  readonly image?: string;
}

// A program of its own, so that a test that runs as root can also try it as somebody else.
const trial = JSON.parse(await text(process.stdin)) as Trial;
const { agent, where, workspace, readOnly, limits, env, image } = trial;
const { sandbox } = await openSandbox(where, { env, limits, image });
const access: Brief["access"] =
  sandbox === undefined
    ? { web: false, read: false, everything: true }
    : { web: false, read: true, everything: false, shell: true, readOnly };
const run = createAgent(agent, {
  exec: sandbox?.exec ?? runProcess,
  ...(sandbox === undefined ? {} : { sandbox }),
  iterationMs: 100_000,
  idleMs: 0,
  unconfined: false,
  classic: sandbox === undefined,
  stateDir: trial.stateDir,
  transcript: () => undefined,
  adapters: [],
  secrets: [],
  agents: { [agent]: trial.options },
  cwd: workspace,
  env,
}).run({ iteration: 1, text: "Try it.", tokens: 3, workspace, access }, { signal: new AbortController().signal });
const events: AgentEvent[] = [];
for await (const event of run) events.push(event);
await sandbox?.close();
process.stdout.write(JSON.stringify(events));
