import { chunksOf } from "../../memory/chunks.js";
import { importances, longTermIndex, type Memory, memoryTypes, type NewChunk } from "../../memory/memory.js";
import { isMemoryProblem, type MemoryProblem } from "../../memory/problem.js";
import { messageOf } from "../../engine/lib/errors.js";
import { parametersOf, type ToolFailure, toolFailure, type ToolResult } from "../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "./context.js";

/** Maximum characters of a text that one call remembers. */
export const maxTextChars = 100_000;

/** A problem of the memory as the result of a call. */
const memoryFailure = ({ code, problem }: MemoryProblem): ToolFailure => toolFailure(code, problem);

/** Calls `action` with the memory. If the memory can't be opened or its service fails, the result is an error. */
export async function runOnMemory(
  context: ToolContext,
  action: (memory: Memory) => Promise<ToolResult | MemoryProblem>,
): Promise<ToolResult> {
  const memory = await context.memory();
  if (typeof memory === "string") return toolFailure("VECTOR_DB_ERROR_UNAVAILABLE", memory);
  try {
    const outcome = await action(memory);
    if ("problem" in outcome && isMemoryProblem(outcome)) return memoryFailure(outcome);
    return outcome.success ? { ...outcome, code: "VECTOR_DB_OK" } : outcome;
  } catch (error) {
    return toolFailure("VECTOR_DB_ERROR_UNAVAILABLE", `The memory could not be used (${messageOf(error)}).`);
  }
}

type RememberArguments = Omit<NewChunk, "document">;

export const remember: AssistantTool<RememberArguments> = {
  name: "remember",
  description: "Remember something for later sessions: a correction, a preference, a fact, a standing instruction.",
  effects: ["remembers"],
  parameters: parametersOf(
    {
      content: { type: "string", minLength: 1, maxLength: maxTextChars },
      type: { type: "string", enum: [...memoryTypes] },
      source: { type: "string", maxLength: 500 },
      importance: { type: "string", enum: [...importances] },
    },
    ["content"],
  ),
  run: async ({ content, ...metadata }, context) =>
    await runOnMemory(context, async (memory) => {
      const chunks = chunksOf(content).map((text) => ({ ...metadata, content: text }));
      if (chunks.length === 0)
        return {
          code: "VECTOR_DB_ERROR_INVALID_PARAM",
          problem: "There is nothing to remember: the content is empty.",
        };
      const ids = await memory.add(longTermIndex, chunks);
      return "problem" in ids ? ids : { success: true, memory_ids: ids };
    }),
};

interface RecallArguments {
  readonly query: string;
  readonly k?: number;
}

export const recallMemories: AssistantTool<RecallArguments> = {
  name: "recall_memories",
  description: "Search what was remembered in earlier sessions.",
  effects: ["reads"],
  parameters: parametersOf(
    { query: { type: "string", minLength: 1, maxLength: 4000 }, k: { type: "integer", minimum: 1, maximum: 50 } },
    ["query"],
  ),
  run: async ({ query, k = 5 }, context) =>
    await runOnMemory(context, async (memory) => {
      const found = await memory.search(query, k, { indices: [longTermIndex], metadata: true });
      const memories = found.map(({ id, content, type, source, importance, similarity }) => ({
        memory_id: id,
        type,
        source,
        importance,
        ...(similarity === undefined ? {} : { similarity: Number(similarity.toFixed(3)) }),
        content,
      }));
      return { success: true, memories };
    }),
};

export const forgetMemory: AssistantTool<{ readonly memory_id: number }> = {
  name: "forget_memory",
  description: "Delete one memory by its id.",
  effects: ["remembers"],
  parameters: parametersOf({ memory_id: { type: "integer", minimum: 1 } }, ["memory_id"]),
  run: async ({ memory_id: id }, context) =>
    await runOnMemory(context, async (memory) => {
      const memoryEntry = await memory.get(id);
      if (isMemoryProblem(memoryEntry)) return memoryEntry;
      if (memoryEntry.index !== longTermIndex)
        return { code: "VECTOR_DB_ERROR_ELEMENT_NOT_FOUND", problem: `There is no memory ${id}.` };
      const deleted = await memory.forget(id);
      return isMemoryProblem(deleted) ? deleted : { success: true, forgotten: deleted.content.slice(0, 200) };
    }),
};
