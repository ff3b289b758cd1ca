import { describe, expect, it } from "vitest";
import { bench } from "./setup.js";

const here = bench();

describe("memories", () => {
  it("are kept with type, source and importance, found again, and forgotten", async () => {
    const kept = await here.call("remember", {
      content: "Our staging server is called hermes.",
      type: "fact",
      source: "the user",
      importance: "high",
    });
    expect(kept).toMatchObject({ success: true, code: "VECTOR_DB_OK" });
    const [id] = kept["memory_ids"] as number[];
    const found = await here.call("recall_memories", { query: "staging server", k: 3 });
    expect(found["memories"]).toMatchObject(
      [{ memory_id: id, type: "fact", source: "the user", importance: "high", content: /hermes/ }].map(
        ({ content: _, ...rest }) => rest,
      ),
    );
    expect(await here.call("forget_memory", { memory_id: id })).toMatchObject({ success: true });
    expect(await here.call("recall_memories", { query: "staging server" })).toMatchObject({ memories: [] });
  });

  it("hold no key, whoever gave it and wherever it came from", async () => {
    const key = `sk-ant-api03-${"aB3".repeat(12)}`;
    await here.call("remember", { content: `The key is ${key}.` });
    await here.call("vector_db_add_text", { index_name: "notes", text: `Use ${key} there.` });
    for (const [tool, given] of [
      ["recall_memories", { query: "key" }],
      ["vector_db_search", { index_name: "notes", query: "use there", k: 1 }],
    ] as const) {
      const found = JSON.stringify(await here.call(tool, given));
      expect(found, tool).not.toContain(key.slice(0, 24));
    }
    expect(JSON.stringify(await here.call("recall_memories", { query: "key" }))).toContain("[secret removed]");
  });

  it.each([
    ["remember", { content: "  " }, "VECTOR_DB_ERROR_INVALID_PARAM"],
    ["remember", { content: "x", type: "gossip" }, "TOOL_ERROR_INVALID_ARGUMENTS"],
    ["forget_memory", { memory_id: 99 }, "VECTOR_DB_ERROR_ELEMENT_NOT_FOUND"],
    ["recall_memories", { query: "x", k: 0 }, "TOOL_ERROR_INVALID_ARGUMENTS"],
  ])("%s refuses %j", async (tool, given, code) => {
    expect(await here.call(tool, given)).toMatchObject({ success: false, code });
  });

  it("are no matter of forget_memory where they lie in another index", async () => {
    const added = await here.call("vector_db_add_text", { index_name: "documents", text: "a document" });
    expect(await here.call("forget_memory", { memory_id: added["vector_id"] })).toMatchObject({
      code: "VECTOR_DB_ERROR_ELEMENT_NOT_FOUND",
    });
  });

  it("that can't be opened are an answer", async () => {
    Object.assign(here.context, { memory: async () => "The memory x is of another version." });
    for (const [tool, given] of [
      ["remember", { content: "x" }],
      ["recall_memories", { query: "x" }],
      ["vector_db_list_indices", {}],
    ] as const)
      expect(await here.call(tool, given)).toMatchObject({ success: false, code: "VECTOR_DB_ERROR_UNAVAILABLE" });
  });
});

describe("indices", () => {
  it("are made, listed and deleted after a question", async () => {
    expect(await here.call("vector_db_create_index", { index_name: "notes", kind: "documents" })).toMatchObject({
      success: true,
      max_elements: 50_000,
    });
    const listed = await here.call("vector_db_list_indices", {});
    expect((listed["indices"] as { index_name: string }[]).map(({ index_name: name }) => name)).toEqual([
      "documents",
      "long_term_memory",
      "notes",
    ]);
    here.answer = "no";
    expect(await here.call("vector_db_delete_index", { index_name: "notes" })).toMatchObject({
      code: "TOOL_ERROR_NOT_ALLOWED",
    });
    here.answer = "yes";
    expect(await here.call("vector_db_delete_index", { index_name: "notes" })).toMatchObject({ success: true });
    expect(await here.call("vector_db_delete_index", { index_name: "notes" })).toMatchObject({
      code: "VECTOR_DB_ERROR_INDEX_NOT_FOUND",
    });
  });

  it.each([
    ["vector_db_create_index", { index_name: "a/b" }],
    ["vector_db_create_index", { index_name: "documents" }],
    ["vector_db_delete_index", { index_name: "long_term_memory" }],
  ])("%s refuses %j", async (tool, given) => {
    expect(await here.call(tool, given)).toMatchObject({ success: false, code: "VECTOR_DB_ERROR_INVALID_PARAM" });
  });

  it("that are full say so", async () => {
    Object.assign(here.context, {
      memory: async () => ({ add: async () => ({ code: "VECTOR_DB_ERROR_FULL", problem: "It is full." }) }),
    });
    expect(await here.call("remember", { content: "x" })).toEqual({
      success: false,
      code: "VECTOR_DB_ERROR_FULL",
      error: "It is full.",
    });
  });
});

describe("vectors", () => {
  const index = { index_name: "own" };
  const added = async (vector: number[], content = "") =>
    Number((await here.call("vector_db_add_vector", { ...index, vector, content }))["vector_id"]);

  it("are found by their cosine, replaced, and deleted", async () => {
    await here.call("vector_db_create_index", index);
    const east = await added([1, 0, 0], "east");
    const north = await added([0, 2, 0], "north");
    const near = await here.call("vector_db_search", { ...index, query_vector: [3, 1, 0], k: 2 });
    expect(near["results"]).toMatchObject([{ vector_id: east, content: "east" }, { vector_id: north }]);
    expect((near["results"] as { similarity: number }[])[0]?.similarity).toBeCloseTo(3 / Math.sqrt(10), 5);

    await here.call("vector_db_update_vector", { ...index, vector_id: north, vector: [3, 1, 0] });
    expect(await here.call("vector_db_search", { ...index, query_vector: [3, 1, 0], k: 1 })).toMatchObject({
      results: [{ vector_id: north, content: "north" }],
    });
    expect(await here.call("vector_db_get_vector", { ...index, vector_id: north })).toMatchObject({
      model: "own",
      dimension: 3,
      vector: [3, 1, 0],
      content: "north",
    });
    expect(await here.call("vector_db_delete_vector", { ...index, vector_id: north })).toMatchObject({ success: true });
    expect(await here.call("vector_db_get_vector", { ...index, vector_id: north })).toMatchObject({
      code: "VECTOR_DB_ERROR_ELEMENT_NOT_FOUND",
    });
  });

  it("of one's own are not made anew when the embedder changes, and don't count as waiting", async () => {
    await here.call("vector_db_create_index", index);
    const id = await added([1, 2]);
    const memory = await here.context.memory();
    if (typeof memory === "string") throw new Error(memory);
    expect(await memory.embedAgain(new AbortController().signal)).toBe(0);
    expect((await memory.indices()).find(({ name }) => name === "own")).toMatchObject({ chunks: 1, waiting: 0 });
    await memory.edit(id, "content", "a new text");
    expect(await memory.vectors.get(id)).toMatchObject({ model: "own", vector: [1, 2] });
  });

  it.each([
    ["another length", "vector_db_add_vector", { ...index, vector: [1, 2] }, "INVALID_PARAM"],
    ["nothing but zeros", "vector_db_add_vector", { ...index, vector: [0, 0, 0] }, "INVALID_PARAM"],
    ["numbers that are too large", "vector_db_add_vector", { ...index, vector: [1e300, 1, 1] }, "INVALID_PARAM"],
    ["no such index", "vector_db_add_vector", { index_name: "none", vector: [1] }, "INDEX_NOT_FOUND"],
    ["no such vector", "vector_db_update_vector", { ...index, vector_id: 99, vector: [1, 2, 3] }, "ELEMENT_NOT_FOUND"],
    ["no such element", "vector_db_delete_vector", { ...index, vector_id: 99 }, "ELEMENT_NOT_FOUND"],
    ["an element of another index", "vector_db_get_vector", { index_name: "x", vector_id: 1 }, "ELEMENT_NOT_FOUND"],
    ["a search for nothing", "vector_db_search", index, "INVALID_PARAM"],
    ["a search for both", "vector_db_search", { ...index, query: "x", query_vector: [1, 2, 3] }, "INVALID_PARAM"],
    ["a search of another length", "vector_db_search", { ...index, query_vector: [1] }, "INVALID_PARAM"],
    ["a search in no index", "vector_db_search", { index_name: "none", query: "x" }, "INDEX_NOT_FOUND"],
    ["a text for no index", "vector_db_add_text", { index_name: "none", text: "x" }, "INDEX_NOT_FOUND"],
    ["an empty text", "vector_db_add_chunked_text", { ...index, text: " " }, "INVALID_PARAM"],
  ])("%s is refused", async (_, tool, given, code) => {
    await here.call("vector_db_create_index", index);
    await added([1, 0, 0]);
    expect(await here.call(tool, given)).toMatchObject({ success: false, code: `VECTOR_DB_ERROR_${code}` });
  });
});

describe("texts", () => {
  it("are added whole or in chunks, and found by their words", async () => {
    await here.call("vector_db_create_index", { index_name: "notes" });
    const whole = await here.call("vector_db_add_text", {
      index_name: "notes",
      text: "Fingertips wear.",
      source: "p. 3",
    });
    expect(await here.call("vector_db_search", { index_name: "notes", query: "worn fingertip" })).toMatchObject({
      results: [{ vector_id: whole["vector_id"], content: "Fingertips wear.", source: "p. 3" }],
    });
    const long = Array.from({ length: 100 }, (_, place) => `This is sentence number ${place} of a long text.`).join(
      " ",
    );
    const many = await here.call("vector_db_add_chunked_text", { index_name: "notes", text: long });
    expect((many["vector_ids"] as number[]).length).toBeGreaterThan(3);
  });
});

describe("TodoWrite", () => {
  it("keeps the whole list for whoever shows it", async () => {
    const todos = [
      { content: "Run the tests", status: "completed", activeForm: "Running the tests" },
      { content: "Fix the bug", status: "in_progress", activeForm: "Fixing the bug" },
    ];
    expect(await here.call("TodoWrite", { todos })).toMatchObject({ success: true, completed: 1, in_progress: 1 });
    expect(here.context.todos).toEqual(todos);
    expect(await here.call("TodoWrite", { todos: [{ content: "x", status: "maybe" }] })).toMatchObject({
      code: "TOOL_ERROR_INVALID_ARGUMENTS",
    });
    expect(here.context.todos).toEqual(todos);
  });
});
