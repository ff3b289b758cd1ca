import { type Parameters, toolFailure } from "../../engine/tools/tool.js";
import type { AssistantTool } from "../tools/context.js";
import type { McpTool } from "./servers.js";

/**
 * A tool of a server as one of the assistant's. One that its server does not call read-only counts as running
 * something, so a person is asked.
 */
export function mcpTool({ calledAs, description, parameters, isReadOnly, run }: McpTool): AssistantTool {
  // The server checks its arguments itself; the dialect that it names may be one that we have no rules of.
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
