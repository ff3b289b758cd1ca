import type { Answer, ModelRequest, ToolCall } from "./agents.js";

/** A call of one of our tools, as the model of each agent names it. */
export function toolCall({ api }: ModelRequest, name: string, input: object): ToolCall {
  if (api === "anthropic") return { name: `mcp__rr__${name}`, input };
  // OpenCode, and Gemini CLI.
  if (api === "chat") return { name: `rr_${name}`, input };
  return api === "google" ? { name: `mcp_rr_${name}`, input } : { name, namespace: "mcp__rr", input };
}

/** The call that writes result.json where the brief says. */
export function resultCall({ api, user }: ModelRequest, result: object): ToolCall {
  const path = /write (\/\S+?\/result\.json)\./.exec(user)?.[1] ?? "";
  const content = JSON.stringify(result, null, 1);
  if (api === "anthropic") return { name: "Write", input: { file_path: path, content } };
  if (api === "chat") return { name: "write", input: { filePath: path, content } };
  return api === "google"
    ? { name: "write_file", input: { file_path: path, content } }
    : {
        name: "apply_patch",
        input: `*** Begin Patch\n*** Add File: result.json\n${content.replace(/^/gm, "+")}\n*** End Patch`,
      };
}

/**
 * A model that calls the tools of one step after the other, each step in one go, then ends. Steps see what earlier ones
 * brought.
 */
export const inSteps =
  (...steps: readonly ((request: ModelRequest) => readonly ToolCall[])[]) =>
  (request: ModelRequest): Answer => {
    let expected = 0;
    for (const step of steps) {
      if (request.results.length === expected) return { text: "Working.", tools: step(request) };
      expected += step(request).length;
    }
    return { text: "Done." };
  };
