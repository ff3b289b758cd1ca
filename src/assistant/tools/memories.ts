import { chunksOf } from "../../memory/chunks.js";
import {
  type Importance,
  importances,
  longTerm,
  type Memory,
  type MemoryType,
  memoryTypes,
} from "../../memory/memory.js";
import { isMemoryProblem, type MemoryProblem } from "../../memory/problem.js";
import { messageOf } from "../../engine/lib/errors.js";
import { takes, type ToolFailure, toolFailure, type ToolResult } from "../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "./context.js";

/** Longest text that is remembered by one call, in characters. */
export const maxText = 100_000;

/** What the memory has against a call, as an answer. */
export const memoryFailure = ({ code, problem }: MemoryProblem): ToolFailure => toolFailure(code, problem);

/** Does something with the memory. One that does not open, or whose service does not answer, is an answer too. */
export async function onMemory(
  context: ToolContext,
  act: (memory: Memory) => Promise<ToolResult | MemoryProblem>,
): Promise<ToolResult> {
  const memory = await context.memory();
  if (typeof memory === "string") return toolFailure("VECTOR_DB_ERROR_UNAVAILABLE", memory);
  try {
    const done = await act(memory);
    if ("problem" in done && isMemoryProblem(done)) return memoryFailure(done as MemoryProblem);
    const result = done as ToolResult;
    return result.success ? { ...result, code: "VECTOR_DB_OK" } : result;
  } catch (error) {
    return toolFailure("VECTOR_DB_ERROR_UNAVAILABLE", `The memory could not be used (${messageOf(error)}).`);
  }
}

interface RememberArguments {
  readonly content: string;
  readonly type?: MemoryType;
  readonly source?: string;
  readonly importance?: Importance;
}

export const remember: AssistantTool<RememberArguments> = {
  name: "remember",
  description: "Remember something for later sessions: a correction, a preference, a fact, a standing instruction.",
  does: ["remembers"],
  parameters: takes(
    {
      content: { type: "string", minLength: 1, maxLength: maxText },
      type: { type: "string", enum: [...memoryTypes] },
      source: { type: "string", maxLength: 500 },
      importance: { type: "string", enum: [...importances] },
    },
    ["content"],
  ),
  run: async ({ content, ...about }, context) =>
    await onMemory(context, async (memory) => {
      const chunks = chunksOf(content).map((text) => ({ ...about, content: text }));
      if (chunks.length === 0)
        return {
          code: "VECTOR_DB_ERROR_INVALID_PARAM",
          problem: "There is nothing to remember: the content is empty.",
        };
      const ids = await memory.add(longTerm, chunks);
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
  does: ["reads"],
  parameters: takes(
    { query: { type: "string", minLength: 1, maxLength: 4000 }, k: { type: "integer", minimum: 1, maximum: 50 } },
    ["query"],
  ),
  run: async ({ query, k = 5 }, context) =>
    await onMemory(context, async (memory) => {
      const found = await memory.search(query, k, { indices: [longTerm], metadata: true });
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
  does: ["remembers"],
  parameters: takes({ memory_id: { type: "integer", minimum: 1 } }, ["memory_id"]),
  run: async ({ memory_id: id }, context) =>
    await onMemory(context, async (memory) => {
      const known = await memory.get(id);
      if (isMemoryProblem(known)) return known;
      if (known.index !== longTerm)
        return { code: "VECTOR_DB_ERROR_ELEMENT_NOT_FOUND", problem: `There is no memory ${id}.` };
      const gone = await memory.forget(id);
      return isMemoryProblem(gone) ? gone : { success: true, forgotten: gone.content.slice(0, 200) };
    }),
};
