import { estimateTokens } from "../../engine/lib/tokens.js";
import { bindTool, type BoundTool } from "./call.js";
import type { AssistantTool, ToolContext } from "./context.js";
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
const usualTools: readonly AssistantTool[] = [
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

/** Tools that fewer sessions need. */
const furtherTools: readonly AssistantTool[] = [
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
const tools = [...usualTools, ...furtherTools];
export const ownToolCount = tools.length;

/** The tools with which an agent without a shell reads its workspace. */
const readingTools: readonly AssistantTool[] = [fileRead, fileList, fileSearch, fileInfo];

/** All tools as text: a line for each with its description, or JSON with its schema. */
export function toolListText(isJson: boolean, extraTools: readonly AssistantTool[]): string {
  const allTools = [...tools, ...extraTools];
  if (isJson)
    return JSON.stringify(
      allTools.map(({ name, description, does, parameters }) => ({ name, description, does, parameters })),
    );
  const maxNameWidth = Math.max(...allTools.map(({ name }) => name.length));
  return allTools
    .map(
      ({ name, description, does }) =>
        `${name.padEnd(maxNameWidth)}  ${description}${does.length === 0 ? "" : ` (${does.join(", ")})`}`,
    )
    .join("\n");
}

/**
 * The tools of a conversation: the assistant's own and those that it is handed, bound to what they can reach. They take
 * no more of a request than one result may; in a small window those that are needed least are left out.
 */
export function assistantTools(context: ToolContext, more: readonly AssistantTool[]): readonly BoundTool[] {
  let room = context.room;
  return [...usualTools, ...more, ...furtherTools]
    .map((tool) => bindTool(tool, context))
    .filter(({ name, description, parameters }) => {
      room -= estimateTokens(JSON.stringify([name, description, parameters]));
      return room >= 0;
    });
}

/** Those with which an agent works on the files of its workspace. */
const workingTools: readonly AssistantTool[] = [fileWrite, fileAppend, fileDelta, shellExecute];

/** What the agent of a brief may do. */
export interface BriefReach {
  readonly reads: boolean;
  /** It changes files and runs commands. */
  readonly works: boolean;
  readonly web: boolean;
}

/** The tools of a brief of the loop, by what its agent may reach; `more`: those that the brief itself names. */
export const briefTools = (
  { reads, works, web }: BriefReach,
  context: ToolContext,
  more: readonly AssistantTool[],
): readonly BoundTool[] =>
  [reads ? readingTools : [], works ? workingTools : [], web ? [fetchUrl as AssistantTool] : [], more]
    .flat()
    .map((tool) => bindTool(tool, context));
