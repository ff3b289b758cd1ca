import { join } from "node:path";
import { estimateTokens } from "../../engine/lib/tokens.js";
import type { Io } from "../../engine/ui/io.js";
import type { Memory } from "../../memory/memory.js";
import { settingsFolder, type Settings } from "../settings.js";
import { bindTool, type BoundTool } from "./call.js";
import { type AssistantTool, type ProgramServices, toolContext, type ToolContext } from "./context.js";
import { fileDelta } from "./files/delta.js";
import { fetchUrl, processPdf, vectorAddPdf } from "./documents.js";
import { forgetMemory, recallMemories, remember } from "./memories.js";
import { fileInfo, fileList, fileRead } from "./files/read.js";
import { fileSearch } from "./files/search.js";
import { shellExecute } from "./shell/shell.js";
import { todoWrite } from "./todos.js";
import {
  vectorAddChunkedText,
  vectorAddText,
  vectorAddVector,
  vectorCreateIndex,
  vectorDeleteIndex,
  vectorDeleteVector,
  vectorGetVector,
  vectorListIndices,
  vectorSearch,
  vectorUpdateVector,
} from "./vectors.js";
import { fileAppend, fileWrite } from "./files/write.js";

/** The tools for work in a folder. */
const commonTools: readonly AssistantTool[] = [
  fileRead,
  fileWrite,
  fileAppend,
  fileList,
  fileSearch,
  fileInfo,
  fileDelta,
  shellExecute,
  remember,
  recallMemories,
  forgetMemory,
  fetchUrl,
  todoWrite,
];

/** Tools that few sessions need. If the context window is small, they are omitted first. */
const rareTools: readonly AssistantTool[] = [
  processPdf,
  vectorCreateIndex,
  vectorDeleteIndex,
  vectorListIndices,
  vectorAddVector,
  vectorUpdateVector,
  vectorDeleteVector,
  vectorGetVector,
  vectorSearch,
  vectorAddText,
  vectorAddChunkedText,
  vectorAddPdf,
];

/**
 * Every built-in tool of the assistant. A new tool needs an object in a file of this folder and a line in one of the
 * lists.
 */
const tools = [...commonTools, ...rareTools];
export const builtInToolCount = tools.length;

/** The tools with which an agent without a shell reads its workspace. */
const readingTools: readonly AssistantTool[] = [fileRead, fileList, fileSearch, fileInfo];

/** All tools as text: a line for each with its description, or JSON with its schema. */
export function toolListText(isJson: boolean, extraTools: readonly AssistantTool[]): string {
  const allTools = [...tools, ...extraTools];
  if (isJson)
    return JSON.stringify(
      allTools.map(({ name, description, effects, parameters }) => ({ name, description, does: effects, parameters })),
    );
  const maxNameWidth = Math.max(...allTools.map(({ name }) => name.length));
  return allTools
    .map(
      ({ name, description, effects }) =>
        `${name.padEnd(maxNameWidth)}  ${description}${effects.length === 0 ? "" : ` (${effects.join(", ")})`}`,
    )
    .join("\n");
}

/**
 * The tools of a conversation: the built-in tools and `extraTools`, bound to their context. Together, their
 * descriptions have at most as many tokens as one result; if there is no room for all, those that are needed least are
 * left out.
 */
export function assistantTools(context: ToolContext, extraTools: readonly AssistantTool[]): readonly BoundTool[] {
  let remainingTokens = context.maxResultTokens;
  return [...commonTools, ...extraTools, ...rareTools]
    .map((tool) => bindTool(tool, context))
    .filter(({ name, description, parameters }) => {
      remainingTokens -= estimateTokens(JSON.stringify([name, description, parameters]));
      return remainingTokens >= 0;
    });
}

/** All tools of a session with the user, and their common context. */
export async function openTools({
  io,
  settings,
  memory,
  services,
  ask,
}: {
  readonly io: Io;
  readonly settings: Pick<Settings, "window">;
  /** The first tool that needs the memory opens it. */
  readonly memory: () => Promise<Memory | string>;
  readonly services: ProgramServices;
  readonly ask: ToolContext["ask"];
}): Promise<{ readonly tools: readonly BoundTool[]; readonly context: ToolContext }> {
  const context = toolContext({
    root: io.cwd,
    window: settings.window,
    backupFolder: join(settingsFolder(io.env), "replaced"),
    env: io.env,
    exec: io.runProgram,
    memory,
    http: services.http,
    readDocument: services.readDocument,
    ask,
  });
  return { tools: assistantTools(context, await services.tools()), context };
}

/** The tools with which an agent changes the files of its workspace. */
const workingTools: readonly AssistantTool[] = [fileWrite, fileAppend, fileDelta, shellExecute];

/** What the agent may do while it works on a brief. */
export interface BriefPermissions {
  readonly canRead: boolean;
  /** Whether it may change files and run commands. */
  readonly canWork: boolean;
  readonly canFetch: boolean;
}

/** The tools for a brief, depending on what its agent may do. `extraTools`: the tools that the brief names. */
export const briefTools = (
  { canRead, canWork, canFetch }: BriefPermissions,
  context: ToolContext,
  extraTools: readonly AssistantTool[],
): readonly BoundTool[] =>
  [canRead ? readingTools : [], canWork ? workingTools : [], canFetch ? [fetchUrl as AssistantTool] : [], extraTools]
    .flat()
    .map((tool) => bindTool(tool, context));
