import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { isObject } from "../../engine/lib/json-fields.js";
import { lockFile } from "../../engine/lib/layout.js";
import { builtFile } from "../../engine/lib/package-root.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { isHeldByRun, liveHolder } from "../../engine/storage/lock.js";
import type { CallAnswer } from "../../engine/tools/mcp-server.js";
import type { Io } from "../../engine/ui/io.js";
import { isProblem, type Problem } from "../../engine/tools/tool.js";
import { nameFor } from "../../research/overview/find-research.js";
import { runLogFile } from "../../research/project-files/layout.js";
import { answer, answerOf, type Call, callCommand, type Caller, commandLine } from "./call-command.js";

/** The most that a run may use; it has to name one of them. */
export interface RunBudget {
  readonly max_usd?: number;
  readonly max_tokens?: number;
  readonly max_minutes?: number;
  readonly iterations?: number;
}

/** How long a run may take to begin, and what then shows that it goes on: one that was stopped ends. Milliseconds. */
const beginMs = 20_000;
const settleMs = 500;
/** How often a run is looked at that begins, and one that is waited for. */
const lookMs = 100;
const followMs = 3_000;

/** A sentence where a run would have no limit. */
export const withoutBudget = ({ max_usd, max_tokens, max_minutes, iterations }: RunBudget): Problem | undefined =>
  [max_usd, max_tokens, max_minutes, iterations].every((limit) => limit === undefined)
    ? { problem: "Name a budget for the run: max_usd, max_tokens, max_minutes or iterations." }
    : undefined;

/**
 * Starts `research-ralph run` on a project in a process that outlives this one, and answers once it is at work or has
 * ended; with `wait` only at its end. `folder`: absolute. A call that is taken back ends the wait, never the run.
 */
export async function runApart(
  folder: string,
  budget: RunBudget,
  wait: boolean,
  caller: Caller,
  call: Call,
): Promise<CallAnswer | Problem> {
  const { io } = caller;
  const name = nameFor(io.cwd, folder);
  // Two runs would write one log.
  if (await isHeldByRun(lockFile(folder)))
    return {
      problem: `${name} is running already: status says how far it is, stop ends it before its next iteration.`,
    };
  const forecast = await forecastOf(folder, caller, call);
  if (isProblem(forecast)) return forecast;
  const log = runLogFile(folder);
  const child = spawnRun(folder, log, budget, io);
  const ended = once(child, "exit").then(([code]) => (typeof code === "number" ? code : 1));
  const early = await begun(folder, child.pid, ended, call.signal);
  const exitCode = early ?? (wait ? await followed(folder, ended, caller, call) : undefined);
  const status = await statusOf(folder, caller, call);
  const said = exitCode === undefined ? [] : lastLines(log);
  if (exitCode === 1 || exitCode === 2)
    return { problem: said.join(" ") || `The run ended with exit code ${exitCode}; ${log} says why.` };
  return answer({
    project: name,
    folder,
    running: exitCode === undefined,
    budget,
    forecast,
    ...(exitCode === undefined ? { log } : { exit_code: exitCode, notes: said }),
    progress: status["progress"],
    last_run: status["last_run"],
    report: status["report"],
    next:
      exitCode === undefined
        ? `It goes on without this server. status says how far it is, stop ends it before its next iteration.`
        : `ask puts questions to it; run goes on with it where it is not complete.`,
  });
}

/** `research-ralph run` in a session of its own, which ends with no terminal and no client. */
const spawnRun = (
  folder: string,
  log: string,
  { iterations, max_usd, max_tokens, max_minutes }: RunBudget,
  { cwd, env }: Io,
): ChildProcess =>
  withExplainedErrors(log, () => {
    const limits = { iterations, "max-usd": max_usd, "max-tokens": max_tokens, "max-minutes": max_minutes };
    mkdirSync(dirname(log), { recursive: true });
    const out = openSync(log, "w");
    const args = [builtFile("cli"), ...commandLine("run", { quiet: true, ...limits }, [folder])];
    const child = spawn(process.execPath, args, { cwd, env, detached: true, stdio: ["ignore", out, out] });
    closeSync(out);
    child.unref();
    return child;
  });

/** What `status` says of a project; nothing where it can't be read. */
async function statusOf(folder: string, caller: Caller, call: Call): Promise<Readonly<Record<string, unknown>>> {
  const quiet: Call = { signal: call.signal, progress: () => undefined };
  const said = answerOf(await callCommand(commandLine("status", {}, [folder]), caller, quiet));
  return isProblem(said) ? {} : (said.structured ?? {});
}

/** What the rest of a project will take, or why nobody can say: a folder that is not a project. */
async function forecastOf(folder: string, caller: Caller, call: Call): Promise<object | Problem> {
  const costs = answerOf(await callCommand(commandLine("status", { cost: true }, [folder]), caller, call));
  if (isProblem(costs)) return costs;
  const { forecast } = costs.structured ?? {};
  return isObject(forecast) ? forecast : {};
}

/** Waits until a run is at work; its exit code where it ended before, as one that was stopped. */
async function begun(
  folder: string,
  pid: number | undefined,
  ended: Promise<number>,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (let waited = 0; waited < beginMs && !signal.aborted; waited += lookMs) {
    const code = await Promise.race([ended, moment(lookMs, signal)]);
    if (code !== undefined) return code;
    if ((await liveHolder(lockFile(folder)))?.pid === pid) break;
  }
  return await Promise.race([ended, moment(settleMs, signal)]);
}

/** Waits, at most until the call is taken back. */
const moment = (ms: number, signal: AbortSignal): Promise<undefined> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/** Tells how far a run is until it ends or the call is taken back; its exit code, undefined where it goes on. */
async function followed(
  folder: string,
  ended: Promise<number>,
  caller: Caller,
  call: Call,
): Promise<number | undefined> {
  let calls = 0;
  while (!call.signal.aborted) {
    const code = await Promise.race([ended, moment(followMs, call.signal)]);
    if (code !== undefined) return code;
    const { progress, phase } = await statusOf(folder, caller, call);
    const { done = 0, total = 0 } = (isObject(progress) ? progress : {}) as { done?: number; total?: number };
    call.progress({ done: (calls += 1), message: `${String(phase)}: ${done} of ${total} papers` });
  }
  return undefined;
}

/** The end of what a run said; runs may share a log only one after the other. */
function lastLines(log: string): string[] {
  try {
    const lines = readFileSync(log, "utf8").split("\n");
    return lines.flatMap((line) => (line.trim() === "" ? [] : [oneLine(line)])).slice(-5);
  } catch {
    return [];
  }
}
