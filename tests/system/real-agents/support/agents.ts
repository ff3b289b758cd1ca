import { runProcess } from "../../../../src/engine/process/run-process.js";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { AgentOptions, AgentSettings } from "../../../../src/engine/agents/definition.js";
import { createAgent } from "../../../../src/engine/agents/registry.js";
import type { AgentEvent, Brief } from "../../../../src/engine/loop/types.js";
import type { ToolCall } from "../../../fixtures/fake-llm/said.js";
import { installed } from "./install.js";

export { claimed, type ToolCall } from "../../../fixtures/fake-llm/said.js";
export { type Answer, type FakeLlm, type ModelRequest, startFakeLlm } from "../../../fixtures/fake-llm/server.js";

interface Server {
  readonly url: string;
}

/** Environment in which claude talks to the scripted server, with `home` for its home and no login but a dummy key. */
export const claudeEnv = (server: Server, home: string): Record<string, string> => ({
  HOME: home,
  ANTHROPIC_BASE_URL: server.url,
  ANTHROPIC_API_KEY: "dummy",
  CLAUDE_CODE_MAX_RETRIES: "0",
});

/** Arguments with which codex talks to the scripted server; its key is in FAKE_KEY. */
export const codexArgs = (server: Server): string[] =>
  [
    'model_provider="fake"',
    'model_providers.fake.name="fake"',
    `model_providers.fake.base_url="${server.url}/v1"`,
    'model_providers.fake.env_key="FAKE_KEY"',
    'model_providers.fake.wire_api="responses"',
    "model_providers.fake.request_max_retries=0",
    "model_providers.fake.stream_max_retries=0",
  ].flatMap((setting) => ["-c", setting]);

export const codexEnv = (home: string): Record<string, string> => ({ HOME: home, FAKE_KEY: "dummy" });

export type Cli = "claude" | "codex";

/** What a config's `agents` says so that the installed CLI talks to the scripted server. */
export function optionsFor(cli: Cli, server: Server, home: string): AgentOptions {
  const found = installed(cli);
  if ("problem" in found) throw new Error(found.problem);
  const common = { command: found.program };
  return cli === "claude"
    ? { ...common, env: claudeEnv(server, home) }
    : { ...common, args: codexArgs(server), env: codexEnv(home) };
}

/** The tool call by which the model of this CLI writes a file; `path` is relative to the workspace. */
export const writeCall = (cli: Cli, workspace: string, path: string, content: string): ToolCall =>
  cli === "claude"
    ? { name: "Write", input: { file_path: resolve(workspace, path), content } }
    : {
        name: "apply_patch",
        input: `*** Begin Patch\n*** Add File: ${path}\n${content.replace(/^/gm, "+")}\n*** End Patch`,
      };

export interface Setup {
  /** Absolute path of a temporary folder; `home`, `workspace` and `state` are made in it. */
  readonly folder: string;
  readonly server: Server;
  readonly settings?: Partial<AgentSettings>;
  readonly options?: Partial<AgentOptions>;
  readonly access?: Partial<Brief["access"]>;
  readonly signal?: AbortSignal;
}

/** One run of a real CLI through its adapter, against the scripted server. */
export async function runReal(
  cli: Cli,
  text: string,
  setup: Setup,
): Promise<{ events: AgentEvent[]; workspace: string }> {
  const { folder, server } = setup;
  const [home, workspace, stateDir] = ["home", "workspace", "state"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, workspace, stateDir]) mkdirSync(path, { recursive: true });
  const options = optionsFor(cli, server, home);
  const settings: AgentSettings = {
    exec: runProcess,
    iterationMs: 60_000,
    idleMs: 0,
    unconfined: false,
    classic: false,
    stateDir,
    transcript: (iteration) => join(folder, `${iteration}.log`),
    adapters: [],
    secrets: [],
    agents: { [cli]: { ...options, ...setup.options, env: { ...options.env, ...setup.options?.env } } },
    cwd: folder,
    env: { PATH: process.env["PATH"] },
    ...setup.settings,
  };
  const access = { web: false, read: false, everything: false, ...setup.access };
  const brief: Brief = { iteration: 1, text, tokens: Math.ceil(text.length / 4), workspace, access };
  const events: AgentEvent[] = [];
  for await (const event of createAgent(cli, settings).run(brief, {
    signal: setup.signal ?? new AbortController().signal,
  }))
    events.push(event);
  return { events, workspace };
}

/** The processes whose home is the one runReal made in this folder: the CLI and all it started. Linux only. */
export function processesOf(folder: string): number[] {
  const home = `HOME=${join(folder, "home")}\0`;
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && environment(pid).includes(home));
}

function environment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}
