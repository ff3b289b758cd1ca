import { type Parameters, toolFailure } from "../../engine/tools/tool.js";
import type { AssistantTool } from "../tools/context.js";
import type { McpTool } from "./servers.js";

/**
 * A server's tool as a tool of the assistant. Unless its server calls it read-only, it counts as running something, so
 * the user is asked.
 */
export function mcpTool({ calledAs, description, parameters, isReadOnly, run }: McpTool): AssistantTool {
  // The server checks its arguments itself, and its schema may be in a dialect that we can't check.
  const { $schema: _, ...schema } = parameters as { readonly $schema?: string };
  const tool: AssistantTool<Readonly<Record<string, unknown>>> = {
    name: calledAs,
    description,
    does: [isReadOnly ? "reads" : "runs"],
    parameters: { additionalProperties: true, properties: {}, ...schema, type: "object" } as Parameters,
    async run(args, _context, signal) {
      const { text, failed } = await run(args, signal);
      return failed ? toolFailure("MCP_ERROR", text) : { success: true, content: text };
    },
  };
  return tool as AssistantTool;
}
