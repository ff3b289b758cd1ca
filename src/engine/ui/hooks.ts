import type { Hook, HookPoint } from "../generated/config.js";
import { given } from "../lib/given.js";
import { runProcess } from "../process/run-process.js";
import type { Redact } from "../lib/redact.js";
import type { LoopEvent } from "../loop/types.js";
import { oneLine } from "../lib/sanitise.js";

interface HookOptions {
  readonly hooks: readonly Hook[];
  /** The project's folder; hooks get it. */
  readonly folder?: string;
  /** Where hooks run. Absolute. */
  readonly cwd: string;
  /** Their environment, below each hook's own. */
  readonly env: NodeJS.ProcessEnv;
  /** Takes secrets out of what they get and of what they print. */
  readonly redact: Redact;
  /** Milliseconds that a hook may take. */
  readonly timeoutMs?: number;
  /**
   * Aborted when the run ends at once: then nobody waits for hooks at work. Those of the run's end are run all the
   * same.
   */
  readonly signal?: AbortSignal;
}

const tenSeconds = 10_000;
const maxLines = 200;
const maxReason = 400;

/** What came of one hook: why it vetoes, or why it failed, a sentence. */
interface HookEnd {
  readonly veto?: string;
  readonly problem?: string;
}

/** Hooks over a loop. None of them can break it: a failing one becomes a warning. */
export interface Hooks {
  /**
   * Runs the hooks that wait for this event, and resolves once they have ended: with what went wrong, a sentence each.
   * Never rejects.
   */
  at(event: LoopEvent): Promise<readonly string[]>;
  /**
   * Asks the hooks marked `veto` that wait for one of these points. A hook that fails or takes too long does not veto.
   */
  ask(
    points: readonly HookPoint[],
    proposal: object,
  ): Promise<{ readonly vetoes: string[]; readonly problems: string[] }>;
}

export function hooksOf(options: HookOptions): Hooks {
  const { hooks, folder } = options;
  const run = async (point: HookPoint, chosen: readonly Hook[], told: object): Promise<HookEnd[]> => {
    const stdin = options.redact(JSON.stringify({ hook: point, ...given({ folder }), ...told }));
    return Promise.all(
      chosen.filter((hook) => hook.on.includes(point)).map((hook) => runHook(hook, `${stdin}\n`, options)),
    );
  };
  const telling = hooks.filter((hook) => hook.veto !== true);
  const vetoing = hooks.filter((hook) => hook.veto === true);
  let phase: string | undefined;

  return {
    async at(event) {
      const next = phaseOf(event) ?? phase;
      const change = phase !== undefined && next !== phase ? { from: phase, to: next } : undefined;
      phase = next;
      const problems: string[] = [];
      for (const point of [...(change === undefined ? [] : ["phase-changed" as const]), ...pointsOf(event)]) {
        const told = point === "phase-changed" ? { ...event, ...change } : event;
        for (const { problem } of await run(point, telling, told)) if (problem !== undefined) problems.push(problem);
      }
      return problems;
    },
    async ask(points, proposal) {
      const ends = (await Promise.all(points.map((point) => run(point, vetoing, proposal)))).flat();
      return {
        vetoes: ends.flatMap(({ veto }) => (veto === undefined ? [] : [veto])),
        problems: ends.flatMap(({ problem }) =>
          problem === undefined ? [] : [`${problem.replace(/\.$/, "")}; so it does not veto anything.`],
        ),
      };
    },
  };
}

function phaseOf(event: LoopEvent): string | undefined {
  if (event.type === "iteration-started") return event.phase;
  return event.type === "run-ended" && event.verdict.verdict === "complete" ? "COMPLETE" : undefined;
}

function pointsOf(event: LoopEvent): HookPoint[] {
  switch (event.type) {
    case "iteration-started":
      return ["before-iteration"];
    case "iteration-ended": {
      const { outcome } = event.outcome;
      return ["after-iteration", ...(outcome === "failed" || outcome === "noted" ? [] : [outcome])];
    }
    case "run-ended":
      return [event.verdict.verdict];
    default:
      return [];
  }
}

/** Runs one hook in a process group of its own, which is gone when this returns. */
async function runHook(
  hook: Hook,
  stdin: string,
  { cwd, env, redact, timeoutMs = tenSeconds, signal }: HookOptions,
): Promise<HookEnd> {
  const never = new AbortController().signal;
  const lines = runProcess({
    command: "sh",
    args: ["-c", hook.run],
    cwd,
    env: { ...env, ...hook.env },
    isHook: true,
    stdin,
    timeoutMs,
    idleMs: 0,
    finished: () => false,
    signal: signal === undefined || signal.aborted ? never : signal,
    graceMs: 500,
    pipeMs: 500,
  });
  const said: string[] = [];
  for (;;) {
    const step = await lines.next();
    if (step.done !== true) {
      if (said.length < maxLines) said.push(step.value.slice(0, 2_000));
      continue;
    }
    const problem = problemOf(hook, step.value, timeoutMs);
    if (problem !== undefined) return { problem: redact(problem) };
    const veto = hook.veto === true ? vetoIn(said) : undefined;
    return veto === undefined ? {} : { veto: redact(veto).slice(0, maxReason) };
  }
}

/** The reason on a line such as `veto: the summary is too short`. */
function vetoIn(said: readonly string[]): string | undefined {
  const line = said.find((each) => /^veto\b/i.test(each));
  if (line === undefined) return undefined;
  return oneLine(line.replace(/^veto\b[:\s]*/i, "")) || "it gives no reason";
}

function problemOf(
  hook: Hook,
  end: { cause: string; exitCode?: number; signal?: string; stderr: string },
  timeoutMs: number,
): string | undefined {
  const which = `The hook '${oneLine(hook.run).slice(0, 60)}'`;
  if (end.cause === "timeout") return `${which} was ended because it took longer than ${timeoutMs / 1000} seconds.`;
  if (end.cause === "aborted") return `${which} was ended because the run was interrupted.`;
  if (end.cause === "exited" && end.exitCode === 0) return undefined;
  const last = oneLine(end.stderr).slice(-160);
  const how = end.signal === undefined ? `with exit code ${end.exitCode ?? "?"}` : `by ${end.signal}`;
  return `${which} ended ${how}${last === "" ? "" : `: ${last}`}.`;
}
