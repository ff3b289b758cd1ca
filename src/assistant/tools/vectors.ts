import { chunksOf } from "../../memory/chunks.js";
import { type Chunk, documentsIndex, type IndexKind, longTermIndex, type Memory } from "../../memory/memory.js";
import { isMemoryProblem, type MemoryProblem } from "../../memory/problem.js";
import { parametersOf } from "../../engine/tools/tool.js";
import type { AssistantTool } from "./context.js";
import { maxTextChars, runOnMemory } from "./memories.js";

const indexName = { type: "string", minLength: 1, maxLength: 64 };
const vectorId = { type: "integer", minimum: 1 };
const numbers = { type: "array", items: { type: "number" }, minItems: 1, maxItems: 4096 };
const text = { type: "string", minLength: 1, maxLength: maxTextChars };
const note = { type: "string", maxLength: 4000, description: "what the vector stands for" };

interface OfIndex {
  readonly index_name: string;
}
interface OfVector extends OfIndex {
  readonly vector_id: number;
}

export const vectorCreateIndex: AssistantTool<OfIndex & { readonly kind?: IndexKind }> = {
  name: "vector_db_create_index",
  description: "Make an index: memory takes 100,000 chunks, documents 50,000.",
  effects: ["remembers"],
  parameters: parametersOf({ index_name: indexName, kind: { type: "string", enum: ["memory", "documents"] } }, [
    "index_name",
  ]),
  run: async ({ index_name: index, kind = "memory" }, context) =>
    await runOnMemory(context, async (memory) => {
      const created = await memory.createIndex(index, kind);
      return isMemoryProblem(created)
        ? created
        : { success: true, index_name: created.name, kind: created.kind, max_elements: created.maxElements };
    }),
};

export const vectorDeleteIndex: AssistantTool<OfIndex> = {
  name: "vector_db_delete_index",
  description: "Delete an index with all that it holds.",
  // The content can't be restored, so the user is asked.
  effects: ["remembers", "writes"],
  parameters: parametersOf({ index_name: indexName }, ["index_name"]),
  preview: async ({ index_name: index }) => `Delete the index ${index} of your memory, with all that it holds.`,
  kindOf: ({ index_name: index }) => index,
  run: async ({ index_name: index }, context) =>
    await runOnMemory(context, async (memory) => {
      if (index === longTermIndex || index === documentsIndex)
        return { code: "VECTOR_DB_ERROR_INVALID_PARAM", problem: `The index ${index} is needed and stays.` };
      const deleted = await memory.deleteIndex(index);
      return isMemoryProblem(deleted) ? deleted : { success: true, deleted: deleted.deleted };
    }),
};

export const vectorListIndices: AssistantTool<Record<never, never>> = {
  name: "vector_db_list_indices",
  description: "List all indices with what they hold.",
  effects: ["reads"],
  parameters: parametersOf({}),
  run: async (_, context) =>
    await runOnMemory(context, async (memory) => ({
      success: true,
      indices: (await memory.indices()).map(({ name, kind, chunks, documents: count, maxElements }) => ({
        index_name: name,
        kind,
        chunks,
        documents: count,
        max_elements: maxElements,
      })),
    })),
};

export const vectorAddVector: AssistantTool<
  OfIndex & { readonly vector: readonly number[]; readonly content?: string }
> = {
  name: "vector_db_add_vector",
  description: "Add a vector of numbers to an index; all of an index have one length.",
  effects: ["remembers"],
  parameters: parametersOf({ index_name: indexName, vector: numbers, content: note }, ["index_name", "vector"]),
  run: async ({ index_name: index, vector, content = "" }, context) =>
    await runOnMemory(context, async ({ vectors }) => {
      const id = await vectors.add(index, vector, content);
      return typeof id === "number" ? { success: true, vector_id: id } : id;
    }),
};

export const vectorUpdateVector: AssistantTool<
  OfVector & { readonly vector: readonly number[]; readonly content?: string }
> = {
  name: "vector_db_update_vector",
  description: "Replace a vector that was added to an index.",
  effects: ["remembers"],
  parameters: parametersOf({ index_name: indexName, vector_id: vectorId, vector: numbers, content: note }, [
    "index_name",
    "vector_id",
    "vector",
  ]),
  run: async ({ index_name: index, vector_id: id, vector, content }, context) =>
    await runOnMemory(
      context,
      async ({ vectors }) => (await vectors.update(index, id, vector, content)) ?? { success: true, vector_id: id },
    ),
};

/** An element of an index; a problem if the index has no element with this id. */
async function elementOf(
  memory: Memory,
  { index_name: index, vector_id: id }: OfVector,
): Promise<Chunk | MemoryProblem> {
  const chunk = await memory.get(id);
  if (isMemoryProblem(chunk) || chunk.index === index) return chunk;
  return { code: "VECTOR_DB_ERROR_ELEMENT_NOT_FOUND", problem: `The index ${index} has no element ${id}.` };
}

export const vectorDeleteVector: AssistantTool<OfVector> = {
  name: "vector_db_delete_vector",
  description: "Delete one vector or text of an index.",
  effects: ["remembers"],
  parameters: parametersOf({ index_name: indexName, vector_id: vectorId }, ["index_name", "vector_id"]),
  run: async (givenArgs, context) =>
    await runOnMemory(context, async (memory) => {
      const chunk = await elementOf(memory, givenArgs);
      if (isMemoryProblem(chunk)) return chunk;
      const deleted = await memory.forget(chunk.id);
      return isMemoryProblem(deleted) ? deleted : { success: true, vector_id: deleted.id };
    }),
};

export const vectorGetVector: AssistantTool<OfVector> = {
  name: "vector_db_get_vector",
  description: "One element of an index: its text and its vector.",
  effects: ["reads"],
  parameters: parametersOf({ index_name: indexName, vector_id: vectorId }, ["index_name", "vector_id"]),
  run: async (givenArgs, context) =>
    await runOnMemory(context, async (memory) => {
      const chunk = await elementOf(memory, givenArgs);
      if (isMemoryProblem(chunk)) return chunk;
      const found = await memory.vectors.get(chunk.id);
      if (isMemoryProblem(found)) return found;
      return {
        success: true,
        vector_id: chunk.id,
        content: chunk.content,
        source: chunk.source,
        model: found.model,
        dimension: found.vector.length,
        vector: found.vector.map((value) => Number(value.toPrecision(6))),
      };
    }),
};

interface SearchArguments extends OfIndex {
  readonly query?: string;
  readonly query_vector?: readonly number[];
  readonly k?: number;
}

export const vectorSearch: AssistantTool<SearchArguments> = {
  name: "vector_db_search",
  description: "Find what is nearest in an index: give a query for texts, or query_vector for vectors.",
  effects: ["reads"],
  parameters: parametersOf(
    {
      index_name: indexName,
      query: { type: "string", minLength: 1, maxLength: 4000 },
      query_vector: numbers,
      k: { type: "integer", minimum: 1, maximum: 50 },
    },
    ["index_name"],
  ),
  run: async ({ index_name: index, query, query_vector: vector, k = 5 }, context) =>
    await runOnMemory(context, async (memory) => {
      if ((query === undefined) === (vector === undefined))
        return { code: "VECTOR_DB_ERROR_INVALID_PARAM", problem: "Give either query or query_vector." };
      if (!(await memory.indices()).some(({ name }) => name === index))
        return { code: "VECTOR_DB_ERROR_INDEX_NOT_FOUND", problem: `There is no index ${index}.` };
      if (query !== undefined) {
        const found = await memory.search(query, k, { indices: [index] });
        return {
          success: true,
          results: found.map(({ id, content, source, similarity }) => ({ vector_id: id, similarity, source, content })),
        };
      }
      const nearest = await memory.vectors.nearest(index, vector ?? [], k);
      if ("problem" in nearest) return nearest;
      const results = await Promise.all(
        nearest.map(async ({ id, similarity }) => {
          const chunk = await memory.get(id);
          return { vector_id: id, similarity, content: isMemoryProblem(chunk) ? "" : chunk.content };
        }),
      );
      return { success: true, results };
    }),
};

export const vectorAddText: AssistantTool<OfIndex & { readonly text: string; readonly source?: string }> = {
  name: "vector_db_add_text",
  description: "Add a text to an index as one element.",
  effects: ["remembers"],
  parameters: parametersOf({ index_name: indexName, text, source: { type: "string", maxLength: 500 } }, [
    "index_name",
    "text",
  ]),
  run: async ({ index_name: index, text: content, source = "" }, context) =>
    await runOnMemory(context, async (memory) => {
      const ids = await memory.add(index, [{ content, source }]);
      return "problem" in ids ? ids : { success: true, vector_id: ids[0] };
    }),
};

export const vectorAddChunkedText: AssistantTool<OfIndex & { readonly text: string; readonly source?: string }> = {
  name: "vector_db_add_chunked_text",
  description: "Add a long text to an index, cut at the ends of sentences.",
  effects: ["remembers"],
  parameters: parametersOf(
    {
      index_name: indexName,
      text: { type: "string", minLength: 1, maxLength: 2_000_000 },
      source: { type: "string", maxLength: 500 },
    },
    ["index_name", "text"],
  ),
  run: async ({ index_name: index, text: fullText, source = "" }, context) =>
    await runOnMemory(context, async (memory) => {
      const chunks = chunksOf(fullText).map((content) => ({ content, source }));
      if (chunks.length === 0) return { code: "VECTOR_DB_ERROR_INVALID_PARAM", problem: "The text is empty." };
      const ids = await memory.add(index, chunks);
      return "problem" in ids ? ids : { success: true, vector_ids: ids };
    }),
};
