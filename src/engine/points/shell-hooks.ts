import type { Hook } from "../generated/config.js";
import { runProcess } from "../process/run-process.js";
import type { Redact } from "../lib/redact.js";
import type { NewEvent } from "../loop/types.js";
import type { Participant, Point } from "./points.js";
import { oneLine } from "../lib/sanitise.js";

interface HookOptions {
  readonly hooks: readonly Hook[];
  /** The project's folder, which is part of the input of a hook. */
  readonly folder?: string;
  /** The folder in which hooks run. Absolute. */
  readonly cwd: string;
  /** Environment of all hooks; the environment of a single hook has priority. */
  readonly env: NodeJS.ProcessEnv;
  /** Removes secrets from the input and the output of hooks. */
  readonly redact: Redact;
  /** Maximum duration of a hook in milliseconds; absent: ten seconds. */
  readonly timeoutMs?: number;
  /** Aborted if the run ends at once; running hooks are then ended. Hooks for the end of the run are still started. */
  readonly signal?: AbortSignal;
}

const defaultTimeoutMs = 10_000;
const maxOutputLines = 200;
const maxReasonChars = 400;

/** The result of one hook. `veto`: the reason of its veto. `problem`: why the hook failed, in one sentence. */
interface HookResult {
  readonly veto?: string;
  readonly problem?: string;
}

/** Creates a participant that runs the user's shell commands. They can't end a run: a failed hook becomes a warning. */
export function shellHooks(options: HookOptions): Participant {
  const { folder } = options;
  const enabled = options.hooks.filter((hook) => hook.enabled !== false);
  const run = async (point: Point, selectedHooks: readonly Hook[], facts: object): Promise<HookResult[]> => {
    const stdin = options.redact(JSON.stringify({ hook: point, folder, ...facts }));
    return Promise.all(
      selectedHooks.filter((hook) => hook.on.includes(point)).map((hook) => runHook(hook, `${stdin}\n`, options)),
    );
  };
  const reportingHooks = enabled.filter((hook) => hook.veto !== true);
  const vetoHooks = enabled.filter((hook) => hook.veto === true);
  return {
    at: async (point, facts) => (await run(point, reportingHooks, facts)).flatMap(({ problem }) => warningsOf(problem)),
    async ask(point, proposal) {
      const results = await run(point, vetoHooks, proposal);
      return {
        vetoes: results.flatMap(({ veto }) => (veto === undefined ? [] : [veto])),
        notices: results.flatMap(({ problem }) =>
          warningsOf(problem && `${problem.replace(/\.$/, "")}; so it does not veto anything.`),
        ),
      };
    },
  };
}

const warningsOf = (message: string | undefined): NewEvent[] =>
  message === undefined ? [] : [{ type: "notice", level: "warning", message }];

/** Runs a hook in its own process group. All its processes have ended when this returns. */
async function runHook(
  hook: Hook,
  stdin: string,
  { cwd, env, redact, timeoutMs = defaultTimeoutMs, signal }: HookOptions,
): Promise<HookResult> {
  const neverAborted = new AbortController().signal;
  const lines = runProcess({
    command: "sh",
    args: ["-c", hook.run],
    cwd,
    env: { ...env, ...hook.env },
    isHook: true,
    stdin,
    timeoutMs,
    idleMs: 0,
    isFinished: () => false,
    signal: signal === undefined || signal.aborted ? neverAborted : signal,
    graceMs: 500,
    pipeMs: 500,
  });
  const outputLines: string[] = [];
  for (;;) {
    const step = await lines.next();
    if (step.done !== true) {
      if (outputLines.length < maxOutputLines) outputLines.push(step.value.slice(0, 2_000));
      continue;
    }
    const problem = problemOf(hook, step.value, timeoutMs);
    if (problem !== undefined) return { problem: redact(problem) };
    const veto = hook.veto === true ? vetoIn(outputLines) : undefined;
    return veto === undefined ? {} : { veto: redact(veto).slice(0, maxReasonChars) };
  }
}

/** The reason on a line such as `veto: the summary is too short`. */
function vetoIn(outputLines: readonly string[]): string | undefined {
  const line = outputLines.find((text) => /^veto\b/i.test(text));
  if (line === undefined) return undefined;
  return oneLine(line.replace(/^veto\b[:\s]*/i, "")) || "it gives no reason";
}

function problemOf(
  hook: Hook,
  end: { cause: string; exitCode?: number; signal?: string; stderr: string },
  timeoutMs: number,
): string | undefined {
  const hookName = `The hook '${oneLine(hook.run).slice(0, 60)}'`;
  if (end.cause === "timeout") return `${hookName} was ended because it took longer than ${timeoutMs / 1000} seconds.`;
  if (end.cause === "aborted") return `${hookName} was ended because the run was interrupted.`;
  if (end.cause === "exited" && end.exitCode === 0) return undefined;
  const lastOutput = oneLine(end.stderr).slice(-160);
  const endText = end.signal === undefined ? `with exit code ${end.exitCode ?? "?"}` : `by ${end.signal}`;
  return `${hookName} ended ${endText}${lastOutput === "" ? "" : `: ${lastOutput}`}.`;
}
