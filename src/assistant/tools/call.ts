import { messageOf } from "../../engine/lib/errors.js";
import { sanitise } from "../../engine/lib/sanitise.js";
import { checkArguments } from "../../engine/tools/check-arguments.js";
import { type Effect, isProblem, type ToolFailure, toolFailure, type ToolResult } from "../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "./context.js";
import { correctArguments } from "./correct-arguments.js";

/** A tool with its context. It asks the user before it writes or runs something. */
export interface BoundTool {
  readonly name: string;
  readonly description: string;
  readonly effects: readonly Effect[];
  /** JSON Schema of its arguments. */
  readonly parameters: object;
  /** The folder in which it works. */
  readonly root: string;
  /** Never throws, for any arguments. */
  run(givenArgs: unknown, signal: AbortSignal): Promise<ToolResult>;
}

/**
 * Error codes of a call that did not reach its tool or did not return from it. `NOT_FOUND`: there is no such tool.
 * `INVALID_ARGUMENTS`: they do not match the schema. `NOT_ALLOWED`: the user refused. `INTERRUPTED`: the user stopped
 * the answer. `FAILED`: an error in the tool.
 */
export type CallError = "NOT_FOUND" | "INVALID_ARGUMENTS" | "NOT_ALLOWED" | "INTERRUPTED" | "FAILED";

const callFailure = (code: CallError, error: string): ToolFailure => toolFailure(`TOOL_ERROR_${code}`, error);

/** Whether the user is asked before a call. */
const needsPermission = ({ effects }: Pick<BoundTool, "effects">): boolean =>
  effects.includes("writes") || effects.includes("runs");

/** Binds a tool to its context, so that a model can call it. */
export function bindTool<Args>(tool: AssistantTool<Args>, context: ToolContext): BoundTool {
  const { name, description, effects, parameters } = tool;
  const run = async (givenArgs: unknown, signal: AbortSignal): Promise<ToolResult> => {
    const checked = checkArguments(name, parameters, correctArguments(givenArgs, parameters));
    if (isProblem(checked)) return callFailure("INVALID_ARGUMENTS", checked.problem);
    const args = checked as Args;
    const refusal = tool.findRefusal?.(args, context);
    if (refusal !== undefined) return refusal;
    if (needsPermission(tool)) {
      const permissionFailure = await requirePermission(tool, args, context);
      if (permissionFailure !== undefined) return permissionFailure;
    }
    if (signal.aborted) return interruptedFailure(name);
    return await tool.run(args, context, signal);
  };
  return {
    name,
    description,
    effects,
    parameters,
    root: context.root,
    run: async (givenArgs, signal) => await runUntilAborted(run, name, givenArgs, signal),
  };
}

const interruptedFailure = (name: string): ToolFailure => callFailure("INTERRUPTED", `${name} was interrupted.`);

/** The result of a call, or an interruption as soon as the user stops the answer, even if the tool does not end. */
async function runUntilAborted(
  run: BoundTool["run"],
  name: string,
  givenArgs: unknown,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (signal.aborted) return interruptedFailure(name);
  let stop = (): void => undefined;
  const interruption = new Promise<ToolResult>((resolve) => {
    stop = () => resolve(interruptedFailure(name));
    signal.addEventListener("abort", stop, { once: true });
  });
  const toolResult = run(givenArgs, signal).catch((error: unknown) =>
    callFailure("FAILED", `${name} failed (${messageOf(error)}).`),
  );
  try {
    return await Promise.race([toolResult, interruption]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function requirePermission<Args>(
  tool: AssistantTool<Args>,
  args: Args,
  context: ToolContext,
): Promise<ToolFailure | undefined> {
  const kind = tool.kindOf === undefined ? tool.name : `${tool.name} ${tool.kindOf(args)}`;
  if (context.allowedKinds.has(kind)) return undefined;
  const preview = tool.preview === undefined ? JSON.stringify(args) : await tool.preview(args, context);
  const answer = await context.ask({
    tool: tool.name,
    args: args as Readonly<Record<string, unknown>>,
    preview: sanitise(preview),
  });
  if (answer === "always") context.allowedKinds.add(kind);
  return answer === "no" ? callFailure("NOT_ALLOWED", `The user did not allow this call of ${tool.name}.`) : undefined;
}

/** Calls a tool by the name that a model gave. */
export async function callByName(
  tools: readonly BoundTool[],
  name: string,
  givenArgs: unknown,
  signal: AbortSignal,
): Promise<ToolResult> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return await tool.run(givenArgs, signal);
  const names = tools.map((candidate) => candidate.name).join(", ");
  return callFailure(
    "NOT_FOUND",
    `There is no tool ${name.slice(0, 100)}; there are ${names === "" ? "none" : names}.`,
  );
}
