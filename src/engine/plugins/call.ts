import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { isObject } from "../lib/json-fields.js";
import { packageFile } from "../lib/package-root.js";
import { oneLine } from "../lib/sanitise.js";
import { noAccess } from "../process/access.js";
import type { Exec, ProcessEnd } from "../process/run-process.js";
import { problemsOf } from "../storage/schema-check.js";
import type { PluginAnswer } from "../generated/plugin.js";

/** The process in which a plugin is called. */
export interface PluginProcess {
  /** Starts a process in a sandbox; or on the host, if the user allowed that. */
  readonly exec: Exec;
  /** Path of Node in that environment. */
  readonly node: string;
  /** Path of the plugin's module. */
  readonly module: string;
  /** Paths that the plugin may read. It may not change files. */
  readonly read: readonly string[];
  /** The current folder of the process; the plugin may read it. */
  readonly cwd: string;
  readonly hosts: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Maximum duration of a call in milliseconds. */
  readonly timeoutMs: number;
  /** Aborted if the run ends at once. */
  readonly signal?: AbortSignal;
}

/** A call of a function that a plugin exports. */
export interface Call {
  /** The path of the function in the exports of the module; absent: the plugin only describes itself. */
  readonly call?: readonly (string | number)[];
  /** The field of the answer that contains the return value. */
  readonly kind?: keyof PluginAnswer;
  readonly input?: unknown;
  readonly context?: unknown;
  /** True: without network access, whatever hosts are allowed for the plugin. */
  readonly isOffline?: boolean;
}

/** The result of a call. `problem`: the end of a sentence that begins with the name of the plugin. */
export type CallResult = (
  | { readonly answer: PluginAnswer }
  | { readonly problem: string; readonly isInterrupted?: true }
) & {
  /** Messages for the user about the sandbox, such as refused hosts. */
  readonly notices: readonly string[];
};

/** Maximum number of characters that a plugin may print, including its answer. */
const maxOutputChars = 4_000_000;

const hostProgram = packageFile("bin", "plugin-host.mjs");

/** The path of the module that sends requests of a plugin's `fetch` through the proxy of its sandbox. */
const undiciPath = (): string => createRequire(packageFile("package.json")).resolve("undici");

/** Calls a plugin in its own process. All processes of the call have ended when this returns. Never rejects. */
export async function callPlugin(
  child: PluginProcess,
  { call, kind, input, context, isOffline }: Call,
): Promise<CallResult> {
  const { exec, node, module, read, cwd, env, timeoutMs, signal } = child;
  const hosts = isOffline === true ? [] : child.hosts;
  const mark = randomUUID();
  const isOnline = hosts.length > 0;
  const outputLimit = new AbortController();
  const request = { module, call, kind, input, context, mark, ...(isOnline ? { undici: undiciPath() } : {}) };
  const pieces = exec({
    command: node,
    args: [hostProgram],
    cwd,
    env,
    isHook: true,
    isChunked: true,
    stdin: JSON.stringify(request),
    access: { ...noAccess, hosts, read: [...read, hostProgram, ...(isOnline ? [dirname(undiciPath())] : [])] },
    timeoutMs,
    idleMs: 0,
    isFinished: () => false,
    graceMs: 500,
    pipeMs: 500,
    signal: signal === undefined || signal.aborted ? outputLimit.signal : AbortSignal.any([signal, outputLimit.signal]),
  });
  let output = "";
  for (;;) {
    const step = await pieces.next();
    if (step.done !== true) {
      if (output.length <= maxOutputChars) output += step.value;
      if (output.length > maxOutputChars) outputLimit.abort();
      continue;
    }
    const { notices = [] } = step.value;
    if (outputLimit.signal.aborted) return { problem: "printed more than 4 MB", notices };
    if (step.value.cause === "aborted") return { problem: "was interrupted", isInterrupted: true, notices };
    const line = output.split("\n").findLast((text) => text.startsWith(mark));
    if (line === undefined) return { problem: endDescription(step.value, timeoutMs), notices };
    return { ...answerIn(line.slice(mark.length), kind), notices };
  }
}

function answerIn(
  json: string,
  kind: Call["kind"] = "described",
): { readonly answer: PluginAnswer } | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { problem: "gave an answer that is not JSON" };
  }
  const [firstProblem] = problemsOf("plugin", value);
  if (firstProblem !== undefined || !isObject(value)) {
    const pointer = firstProblem?.pointer.replace(/^\/\w+/, "") ?? "";
    return {
      problem: `gave an answer that is not valid: ${pointer === "" ? "it" : pointer} ${firstProblem?.message ?? ""}`,
    };
  }
  const answer = value as PluginAnswer;
  if (answer.error !== undefined) return { problem: `failed: ${oneLine(answer.error).slice(0, 300)}` };
  if (answer.nothing === true || kind in answer) return { answer };
  return { problem: "gave the answer of another call" };
}

function endDescription(
  { cause, exitCode, signal, stderr, startError, resource }: ProcessEnd,
  timeoutMs: number,
): string {
  if (cause === "timeout") return `took longer than ${timeoutMs / 1000} seconds`;
  if (cause === "resources") return `used too much: ${resource ?? ""}`;
  if (cause === "not-started") return `could not be started: ${startError?.message ?? ""}`;
  const lastLine = oneLine(stderr.trim().split("\n").at(-1) ?? "").slice(-160);
  const endText = signal === undefined ? `with exit code ${exitCode ?? "?"}` : `by ${signal}`;
  return `ended ${endText} and without an answer${lastLine === "" ? "" : `: ${lastLine}`}`;
}
