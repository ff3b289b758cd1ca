import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { fieldsOf } from "../../engine/lib/json-fields.js";
import { lockFile } from "../../engine/lib/layout.js";
import { builtFile } from "../../engine/lib/package-root.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { isHeldByRun, liveHolder } from "../../engine/storage/lock.js";
import type { CallAnswer } from "../../engine/tools/mcp-server.js";
import type { Io } from "../../engine/ui/io.js";
import { isProblem, type Problem } from "../../engine/tools/tool.js";
import { nameFor } from "../../research/overview/find-research.js";
import { runLogFile } from "../../research/project-files/layout.js";
import { answerWithText, toAnswer, type Call, callCommand, type Caller, commandLine } from "./call-command.js";

/** The limits of a run. At least one must be set. */
export interface RunBudget {
  readonly max_usd?: number;
  readonly max_tokens?: number;
  readonly max_minutes?: number;
  readonly iterations?: number;
}

/** Maximum time until a run has locked its project. */
const maxStartMs = 20_000;
/**
 * A run that still works so long after it has locked the project has started. A stopped project ends its run sooner.
 */
const stableMs = 500;
/** Interval at which the lock is checked. */
const startCheckMs = 100;
/** Interval at which the progress of a run is reported. */
const progressMs = 3_000;

/** The problem of a budget without any limit; undefined if there is a limit. */
export const problemOfBudget = ({ max_usd, max_tokens, max_minutes, iterations }: RunBudget): Problem | undefined =>
  [max_usd, max_tokens, max_minutes, iterations].every((limit) => limit === undefined)
    ? { problem: "Name a limit for the run: max_usd, max_tokens, max_minutes or iterations." }
    : undefined;

/**
 * Starts `research-ralph run` for a project in a process that continues after this one. Answers when the run has
 * started or ended; with `wait`, only when it has ended. `folder`: absolute path. An aborted call ends the wait, not
 * the run.
 */
export async function runInBackground(
  folder: string,
  budget: RunBudget,
  wait: boolean,
  caller: Caller,
  call: Call,
): Promise<CallAnswer | Problem> {
  const { io } = caller;
  const projectName = nameFor(io.cwd, folder);
  // Two runs would write to the same log.
  if (await isHeldByRun(lockFile(folder)))
    return {
      problem: `${projectName} is already running: status shows its progress, and stop ends it before its next iteration.`,
    };
  const forecast = await forecastOf(folder, caller, call);
  if (isProblem(forecast)) return forecast;
  const log = runLogFile(folder);
  const child = spawnRun(folder, log, budget, io);
  const exitPromise = once(child, "exit").then(([code]) => (typeof code === "number" ? code : 1));
  const earlyExitCode = await waitForStart(folder, child.pid, exitPromise, call.signal);
  const exitCode = earlyExitCode ?? (wait ? await waitForEnd(folder, exitPromise, caller, call) : undefined);
  const status = await statusOf(folder, caller, call);
  const logLines = exitCode === undefined ? [] : lastLines(log);
  if (exitCode === 1 || exitCode === 2 || exitCode === 6)
    return { problem: logLines.join(" ") || `The run ended with exit code ${exitCode}; see ${log} for the reason.` };
  return answerWithText({
    project: projectName,
    folder,
    running: exitCode === undefined,
    budget,
    forecast,
    ...(exitCode === undefined ? { log } : { exit_code: exitCode, notes: logLines }),
    progress: status["progress"],
    last_run: status["last_run"],
    report: status["report"],
    next:
      exitCode === undefined
        ? "The run continues even if this server ends. status shows its progress, and stop ends it before its next iteration."
        : "ask answers questions from its papers; run continues it if it is not complete.",
  });
}

/** Starts `research-ralph run` in a new session, so that it does not end with the terminal or the client. */
const spawnRun = (
  folder: string,
  log: string,
  { iterations, max_usd, max_tokens, max_minutes }: RunBudget,
  { cwd, env }: Io,
): ChildProcess =>
  withExplainedErrors(log, () => {
    const limits = { iterations, "max-usd": max_usd, "max-tokens": max_tokens, "max-minutes": max_minutes };
    mkdirSync(dirname(log), { recursive: true });
    const logDescriptor = openSync(log, "w");
    const args = [builtFile("cli"), ...commandLine("run", { quiet: true, ...limits }, [folder])];
    const child = spawn(process.execPath, args, {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", logDescriptor, logDescriptor],
    });
    closeSync(logDescriptor);
    child.unref();
    return child;
  });

/** The output of `status` for a project; empty if the project can't be read. */
async function statusOf(folder: string, caller: Caller, call: Call): Promise<Readonly<Record<string, unknown>>> {
  const silentCall: Call = { signal: call.signal, progress: () => undefined };
  const statusAnswer = toAnswer(await callCommand(commandLine("status", {}, [folder]), caller, silentCall));
  return isProblem(statusAnswer) ? {} : (statusAnswer.structured ?? {});
}

/** The forecast for the rest of a project, or the problem if the folder is not a project. */
async function forecastOf(folder: string, caller: Caller, call: Call): Promise<object | Problem> {
  const costAnswer = toAnswer(await callCommand(commandLine("status", { cost: true }, [folder]), caller, call));
  if (isProblem(costAnswer)) return costAnswer;
  const { forecast } = costAnswer.structured ?? {};
  return fieldsOf(forecast);
}

/** Waits until a run has started. Returns its exit code if it has already ended, such as that of a stopped project. */
async function waitForStart(
  folder: string,
  pid: number | undefined,
  exitPromise: Promise<number>,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (let waitedMs = 0; waitedMs < maxStartMs && !signal.aborted; waitedMs += startCheckMs) {
    const code = await Promise.race([exitPromise, sleepUnlessAborted(startCheckMs, signal)]);
    if (code !== undefined) return code;
    if ((await liveHolder(lockFile(folder)))?.pid === pid) break;
  }
  return await Promise.race([exitPromise, sleepUnlessAborted(stableMs, signal)]);
}

/** Waits for this time, or until the signal is aborted. */
const sleepUnlessAborted = (ms: number, signal: AbortSignal): Promise<undefined> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/**
 * Reports the progress of a run until it ends or the call is aborted. Returns its exit code; undefined if it continues.
 */
async function waitForEnd(
  folder: string,
  exitPromise: Promise<number>,
  caller: Caller,
  call: Call,
): Promise<number | undefined> {
  let reportCount = 0;
  while (!call.signal.aborted) {
    const code = await Promise.race([exitPromise, sleepUnlessAborted(progressMs, call.signal)]);
    if (code !== undefined) return code;
    const { progress, phase } = await statusOf(folder, caller, call);
    const { done = 0, total = 0 } = fieldsOf(progress) as { done?: number; total?: number };
    call.progress({ done: (reportCount += 1), message: `${String(phase)}: ${done} of ${total} papers` });
  }
  return undefined;
}

/** The last lines of a run's log. */
function lastLines(log: string): string[] {
  try {
    const lines = readFileSync(log, "utf8").split("\n");
    return lines.flatMap((line) => (line.trim() === "" ? [] : [oneLine(line)])).slice(-5);
  } catch {
    return [];
  }
}
