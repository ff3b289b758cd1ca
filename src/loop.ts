// The loop by itself, for programs with work of their own: no papers, no tasks, no state files. docs/loop.md shows it.
import { homedir } from "node:os";
import { join } from "node:path";
import type { AgentOptions } from "./engine/agents/definition.js";
import { systemClock } from "./engine/lib/clock.js";
import { redactFor } from "./engine/lib/redact.js";
import type { Agent, Tell } from "./engine/loop/types.js";
import type { SandboxResult } from "./engine/sandbox/open-sandbox.js";
import type { SandboxChoice } from "./engine/sandbox/sandbox.js";
import { plainSink } from "./engine/ui/plain.js";
import { createTell } from "./engine/ui/event-delivery.js";

export { runLoop } from "./engine/loop/run-loop.js";
export { rulesFor, type RuleSettings, type Roles } from "./engine/loop/rules-of-run.js";
export { limitIterations, limitWallTime } from "./engine/loop/stop-conditions/limits.js";
export { limitBudget } from "./engine/loop/stop-conditions/budget.js";
export { stopWithoutResult } from "./engine/loop/stop-conditions/stuck.js";
export { firstAvailable, stopAfterFailures } from "./engine/loop/retry.js";
export { listenForSignals, type Signals } from "./engine/ui/signals.js";
export { exitCodeOf } from "./engine/loop/exit-codes.js";
export type * from "./engine/loop/types.js";

/** How an agent is started, and what holds it. */
export interface OpenOptions {
  /**
   * Allows an agent that nothing confines, such as `cmd:…`: it can read, change and send whatever its user can. Absent:
   * no.
   */
  readonly unconfined?: boolean;
  /**
   * Runs it in a sandbox, where it reaches its workspace, its own program and its model service: `bubblewrap`,
   * `docker`, or `auto` for the first that works here, else the host. Absent or `host`: in none.
   */
  readonly sandbox?: SandboxChoice;
  /** What a configuration says of an agent: `model`, `command`, `args`, `env`. */
  readonly config?: AgentOptions;
  /** Most minutes of one iteration; absent: 60. */
  readonly maxMinutes?: number;
  /** Minutes without a word after which it is taken for hung; 0: never. Absent: 15. */
  readonly idleMinutes?: number;
  /** Where what it prints is kept, `<iteration>.jsonl` each; an absolute path. Absent: nowhere. */
  readonly transcripts?: string;
  /** Where the relative program of `cmd:./x` is looked for; absent: the current folder. */
  readonly cwd?: string;
  /** Its environment; absent: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * The agent of this name: `claude`, `codex`, `amp`, `ralph`, `acp:<name>`, `cmd:<command line>`, or any other whose
 * `config` has a command. A command gets the brief on its stdin and works in the brief's workspace; what it prints is
 * its answer.
 * Nothing is started yet. One in a sandbox is given back with its `close`.
 *
 * Rejects with an ExpectedError, one sentence, for a name that is not known, an agent that nothing confines and that
 * nobody allowed so, and a sandbox that does not work here.
 */
export async function openAgent(name: string, options: OpenOptions = {}): Promise<Agent> {
  const { unconfined = false, sandbox: choice = "host", config, maxMinutes = 60, idleMinutes = 15 } = options;
  const { transcripts, cwd = process.cwd(), env = process.env } = options;
  // Loaded with the first agent: a program with agents of its own needs none of it.
  const [{ createAgent, needsSandbox }, { runProcess }, { ExpectedError }] = await Promise.all([
    import("./engine/agents/registry.js"),
    import("./engine/process/run-process.js"),
    import("./engine/lib/errors.js"),
  ]);
  const settings = {
    unconfined,
    classic: false,
    cwd,
    env,
    adapters: [],
    secrets: [],
    exec: runProcess,
    iterationMs: maxMinutes * 60_000,
    idleMs: idleMinutes * 60_000,
    stateDir: join(env["XDG_STATE_HOME"] ?? join(homedir(), ".local", "state"), "research-ralph"),
    transcript: (iteration: number) =>
      transcripts === undefined ? undefined : join(transcripts, `${iteration}.jsonl`),
    agents: config === undefined ? {} : { [name]: config },
  };
  const isLoose = needsSandbox(name, settings) && !unconfined;
  const { sandbox, explanation } = choice === "host" ? { explanation: "" } : await sandboxOf(choice, env);
  if (sandbox !== undefined) {
    const agent = createAgent(name, { ...settings, exec: sandbox.exec, sandbox });
    return { ...agent, close: () => sandbox.close() };
  }
  if (isLoose)
    throw new ExpectedError(
      `Nothing confines the agent ${name}: it can read, change and send whatever you can. ${explanation === "" ? "" : `${explanation} `}Open it with { sandbox: "bubblewrap" } or "docker", or with { unconfined: true } if that is what you want.`,
      2,
    );
  return createAgent(name, settings);
}

async function sandboxOf(choice: SandboxChoice, env: NodeJS.ProcessEnv): Promise<SandboxResult> {
  const { openSandbox } = await import("./engine/sandbox/open-sandbox.js");
  return openSandbox(choice, { env });
}

/** How the lines are printed. */
export interface PrintOptions {
  /** That of `listenForSignals`: a person who presses Ctrl+C is told what happens now. */
  readonly finish?: AbortSignal;
  /** Takes a text that ends with a line end; absent: writes it to stderr. */
  readonly write?: (text: string) => void;
}

/**
 * Tells a person what the loop does: a line for each event worth reading, with its local time, without escape
 * sequences. Values of this process's environment that are secrets by their name are taken out.
 */
export function printLines(options: PrintOptions = {}): Tell {
  const { finish = new AbortController().signal, write = (text) => void process.stderr.write(text) } = options;
  const sink = plainSink({ stderr: write, clock: systemClock }, finish);
  const tell = createTell({
    sink,
    points: { at: async () => [] },
    redact: redactFor(process.env),
    now: systemClock.now,
  });
  return async (told) => {
    await tell(told);
    if (told.type === "run-ended") sink.close();
  };
}
