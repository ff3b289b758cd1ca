import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { isObject } from "../lib/json-fields.js";
import { packageFile } from "../lib/package-root.js";
import { oneLine } from "../lib/sanitise.js";
import { noReach } from "../process/reach.js";
import type { Exec, ProcessEnd } from "../process/run-process.js";
import { problemsOf } from "../storage/schema-check.js";
import type { PluginAnswer } from "../generated/plugin.js";

/** Where the calls of one plugin run. */
export interface Child {
  /** In a sandbox, or on the host where the person allowed that. */
  readonly exec: Exec;
  /** Path of Node there. */
  readonly node: string;
  readonly module: string;
  /** What it sees of the disk, none of which it may change. */
  readonly read: readonly string[];
  /** A folder that it sees. */
  readonly cwd: string;
  readonly hosts: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds that a call may take. */
  readonly timeoutMs: number;
  /** Aborted when the run ends at once. */
  readonly signal?: AbortSignal;
}

/** One call of a function that a plugin exports. */
export interface Call {
  /** Its path in what the module exports; absent: the plugin is only described. */
  readonly call?: readonly (string | number)[];
  /** The field of the answer in which what it returns is expected. */
  readonly kind?: keyof PluginAnswer;
  readonly input?: unknown;
  readonly context?: unknown;
  /** Without any network, whatever hosts the plugin may reach. */
  readonly isOffline?: boolean;
}

/** The result of a call. A problem is the end of a sentence that begins with the name of the plugin. */
export type Called = (
  | { readonly answer: PluginAnswer }
  | { readonly problem: string; readonly isInterrupted?: true }
) & {
  /** What a person should know of where it ran, such as hosts that were refused. */
  readonly notices: readonly string[];
};

/** Characters of what a plugin prints, its answer included, and of an answer of one text. */
const maxPrinted = 4_000_000;

const program = packageFile("bin", "plugin-host.mjs");

/** The module that sends the requests of a plugin's `fetch` through the proxy of its sandbox. */
const undici = (): string => createRequire(packageFile("package.json")).resolve("undici");

/** Calls a plugin in a process of its own, which is gone with all that it started when this returns. Never rejects. */
export async function callPlugin(child: Child, { call, kind, input, context, isOffline }: Call): Promise<Called> {
  const { exec, node, module, read, cwd, env, timeoutMs, signal } = child;
  const hosts = isOffline === true ? [] : child.hosts;
  const mark = randomUUID();
  const isOnline = hosts.length > 0;
  const outputLimit = new AbortController();
  const request = { module, call, kind, input, context, mark, ...(isOnline ? { undici: undici() } : {}) };
  const pieces = exec({
    command: node,
    args: [program],
    cwd,
    env,
    isHook: true,
    inPieces: true,
    stdin: JSON.stringify(request),
    reach: { ...noReach, hosts, read: [...read, program, ...(isOnline ? [dirname(undici())] : [])] },
    timeoutMs,
    idleMs: 0,
    finished: () => false,
    graceMs: 500,
    pipeMs: 500,
    signal: signal === undefined || signal.aborted ? outputLimit.signal : AbortSignal.any([signal, outputLimit.signal]),
  });
  let output = "";
  for (;;) {
    const step = await pieces.next();
    if (step.done !== true) {
      if (output.length <= maxPrinted) output += step.value;
      if (output.length > maxPrinted) outputLimit.abort();
      continue;
    }
    const { notices = [] } = step.value;
    if (outputLimit.signal.aborted) return { problem: "printed more than 4 MB", notices };
    if (step.value.cause === "aborted") return { problem: "was interrupted", isInterrupted: true, notices };
    const line = output.split("\n").findLast((each) => each.startsWith(mark));
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
  return { problem: "gave an answer to something else" };
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
