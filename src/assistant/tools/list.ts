import { bound, type BoundTool } from "./call.js";
import type { AssistantTool, ToolContext } from "./context.js";
import { fileInfo, fileList, fileRead } from "./read-files.js";

/** Every tool of the assistant's own. Adding one takes its object in a file of this folder and its line here. */
const tools: readonly AssistantTool[] = [fileRead, fileList, fileInfo];

/** Those that a brief of the loop may have: they read and do nothing else. */
const readingTools: readonly AssistantTool[] = [fileRead, fileList, fileInfo];

/** All tools there are, in words: a line each with what it does, or JSON with its schema. */
export function listed(isJson: boolean, more: readonly AssistantTool[] = []): string {
  const all = [...tools, ...more];
  if (isJson)
    return JSON.stringify(
      all.map(({ name, description, does, parameters }) => ({ name, description, does, parameters })),
    );
  const wide = Math.max(...all.map(({ name }) => name.length));
  return all
    .map(({ name, description, does }) => `${name.padEnd(wide)}  ${description} (${does.join(", ")})`)
    .join("\n");
}

/** All tools of a conversation: the assistant's own and those that it is handed, bound to what they can reach. */
export const assistantTools = (context: ToolContext, more: readonly AssistantTool[] = []): readonly BoundTool[] =>
  [...tools, ...more].map((tool) => bound(tool, context));

/** The tools with which an agent without a shell reads its workspace. */
export const workspaceTools = (context: ToolContext): readonly BoundTool[] =>
  readingTools.map((tool) => bound(tool, context));
