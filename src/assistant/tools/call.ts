import { messageOf } from "../../engine/lib/errors.js";
import { sanitise } from "../../engine/lib/sanitise.js";
import { checkArguments } from "../../engine/tools/check-arguments.js";
import { type Does, isProblem, type ToolFailure, toolFailure, type ToolResult } from "../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "./context.js";
import { corrected } from "./correct-arguments.js";

/** A tool as a conversation has it: with all that it can reach, and with the question before it writes or runs. */
export interface BoundTool {
  readonly name: string;
  readonly description: string;
  readonly does: readonly Does[];
  /** JSON Schema of its arguments. */
  readonly parameters: object;
  /** The folder it works in. */
  readonly root: string;
  /** Never throws, whatever the arguments are. */
  run(given: unknown, signal: AbortSignal): Promise<ToolResult>;
}

/**
 * Codes of a call that did not come to its tool, or out of it. `NOT_FOUND`: there is no such tool.
 * `INVALID_ARGUMENTS`: they don't fit its schema. `NOT_ALLOWED`: a person said no. `INTERRUPTED`: the person stopped
 * the answer. `FAILED`: a defect of the tool.
 */
export type CallError = "NOT_FOUND" | "INVALID_ARGUMENTS" | "NOT_ALLOWED" | "INTERRUPTED" | "FAILED";

export const callFailure = (code: CallError, error: string): ToolFailure => toolFailure(`TOOL_ERROR_${code}`, error);

/** Whether a person is asked before a call. */
export const needsPermission = ({ does }: Pick<BoundTool, "does">): boolean =>
  does.includes("writes") || does.includes("runs");

/** Gives a tool all that it needs to be called by a model: see `BoundTool`. */
export function bound<Args>(tool: AssistantTool<Args>, context: ToolContext): BoundTool {
  const { name, description, does, parameters } = tool;
  const run = async (given: unknown, signal: AbortSignal): Promise<ToolResult> => {
    const checked = checkArguments(name, parameters, corrected(given, parameters));
    if (isProblem(checked)) return callFailure("INVALID_ARGUMENTS", checked.problem);
    const args = checked as Args;
    const never = tool.refuses?.(args, context);
    if (never !== undefined) return never;
    if (needsPermission(tool)) {
      const refused = await requirePermission(tool, args, context);
      if (refused !== undefined) return refused;
    }
    if (signal.aborted) return interrupted(name);
    return await tool.run(args, context, signal);
  };
  return {
    name,
    description,
    does,
    parameters,
    root: context.root,
    run: async (given, signal) => await untilAborted(run, name, given, signal),
  };
}

const interrupted = (name: string): ToolFailure => callFailure("INTERRUPTED", `${name} was interrupted.`);

/** A tool that does not end, does not hold up a person who stops the answer: what it says later is not heard. */
async function untilAborted(
  run: BoundTool["run"],
  name: string,
  given: unknown,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (signal.aborted) return interrupted(name);
  let stop = (): void => undefined;
  const stopped = new Promise<ToolResult>((resolve) => {
    stop = () => resolve(interrupted(name));
    signal.addEventListener("abort", stop, { once: true });
  });
  const ended = run(given, signal).catch((error: unknown) =>
    callFailure("FAILED", `${name} failed (${messageOf(error)}).`),
  );
  try {
    return await Promise.race([ended, stopped]);
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
  if (context.allowed.has(kind)) return undefined;
  const preview = tool.preview === undefined ? JSON.stringify(args) : await tool.preview(args, context);
  const answer = await context.ask({
    tool: tool.name,
    args: args as Readonly<Record<string, unknown>>,
    preview: sanitise(preview),
  });
  if (answer === "always") context.allowed.add(kind);
  return answer === "no" ? callFailure("NOT_ALLOWED", `The user did not allow this call of ${tool.name}.`) : undefined;
}

/** Calls a tool of a list by the name that a model gave. */
export async function callByName(
  tools: readonly BoundTool[],
  name: string,
  given: unknown,
  signal: AbortSignal,
): Promise<ToolResult> {
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return await tool.run(given, signal);
  const names = tools.map((each) => each.name).join(", ");
  return callFailure(
    "NOT_FOUND",
    `There is no tool ${name.slice(0, 100)}; there are ${names === "" ? "none" : names}.`,
  );
}
