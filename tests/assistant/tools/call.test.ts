import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import { bindTool } from "../../../src/assistant/tools/call.js";
import type { AssistantTool } from "../../../src/assistant/tools/context.js";
import { parametersOf } from "../../../src/engine/tools/tool.js";
import { bench } from "./setup.js";

const here = bench();

/** The specification's appendix A.1, without `mcp_*`. */
const specified =
  "file_read file_write file_append file_list file_search file_info file_delta shell_execute remember recall_memories " +
  "forget_memory TodoWrite process_pdf_document vector_db_create_index vector_db_delete_index vector_db_list_indices " +
  "vector_db_add_vector vector_db_update_vector vector_db_delete_vector vector_db_get_vector vector_db_search " +
  "vector_db_add_text vector_db_add_chunked_text vector_db_add_pdf_document fetch_url";

describe("the tools", () => {
  it("are those of the specification, each once", () => {
    expect(here.tools.map(({ name }) => name).sort()).toEqual(specified.split(" ").sort());
  });

  it("take what the specification says", () => {
    const takenBy = (name: string) => {
      const tool = here.tools.find((each) => each.name === name);
      const { properties = {}, required = [] } = (tool?.parameters ?? {}) as {
        properties?: object;
        required?: readonly string[];
      };
      return Object.keys(properties).map((each) => (required.includes(each) ? `${each}!` : each));
    };
    expect(
      Object.fromEntries(
        specified
          .split(" ")
          .slice(0, 13)
          .map((name) => [name, takenBy(name)]),
      ),
    ).toEqual({
      file_read: ["file_path!", "start_line", "end_line", "max_tokens"],
      file_write: ["file_path!", "content!", "create_backup"],
      file_append: ["file_path!", "content!"],
      file_list: ["directory_path!", "pattern", "include_hidden"],
      file_search: ["search_path!", "pattern!", "case_sensitive", "max_tokens", "max_results"],
      file_info: ["file_path!"],
      file_delta: ["file_path!", "operations!", "create_backup"],
      shell_execute: ["command!", "working_directory", "timeout_seconds", "capture_stderr"],
      remember: ["content!", "type", "source", "importance"],
      recall_memories: ["query!", "k"],
      forget_memory: ["memory_id!"],
      TodoWrite: ["todos!"],
      process_pdf_document: ["file_path!", "index_name"],
    });
  });

  it.each([
    ["file_read", { path: "a.txt", startLine: "2", end_line: 2 }, { content: "two" }],
    ["file_search", { path: ".", PATTERN: "two", max_results: "1" }, {}],
  ])("take what a model nearly wrote: %s %j", async (tool, given, found) => {
    writeFileSync(join(here.root, "a.txt"), "one\ntwo\n");
    expect(await here.call(tool, given)).toMatchObject({ success: true, ...found });
  });

  it.each([
    [
      "a name that two arguments have a word of",
      "vector_db_search",
      { index: "documents", query_vectors: [1], vector: [1], k: "many" },
    ],
    ["a name that is nothing of theirs", "file_read", { where: "a.txt" }],
    ["a text that is not a number", "file_read", { file_path: "a.txt", start_line: "first" }],
    ["two for one argument", "file_read", { path: "a.txt", file: "b.txt" }],
  ])("refuse %s", async (_, tool, given) => {
    expect(await here.call(tool, given)).toMatchObject({ code: "TOOL_ERROR_INVALID_ARGUMENTS" });
  });

  it("that write or run are those that a person is asked about", () => {
    const asking = here.tools.filter(({ effects }) => effects.includes("writes") || effects.includes("runs"));
    expect(asking.map(({ name }) => name)).toEqual([
      "file_write",
      "file_append",
      "file_delta",
      "shell_execute",
      "vector_db_delete_index",
    ]);
  });
});

describe("a call", () => {
  const tool = (run: AssistantTool<object>["run"]) =>
    bindTool<object>({ name: "a_tool", description: "", effects: [], parameters: parametersOf({}), run }, here.context);
  const never = new AbortController().signal;

  it("of a tool that hangs ends when the person stops the answer", async () => {
    const stop = new AbortController();
    const ended = tool(() => new Promise(() => undefined)).run({}, stop.signal);
    stop.abort();
    expect(await ended).toMatchObject({ success: false, code: "TOOL_ERROR_INTERRUPTED" });
  });

  it("is not begun once the answer is stopped", async () => {
    let begun = false;
    const run = async () => {
      begun = true;
      return { success: true } as const;
    };
    expect(await tool(run).run({}, AbortSignal.abort())).toMatchObject({ code: "TOOL_ERROR_INTERRUPTED" });
    expect(begun).toBe(false);
  });

  it("of a tool with a defect is an answer", async () => {
    const run = () => Promise.reject(new TypeError("x is undefined"));
    expect(await tool(run).run({}, never)).toMatchObject({ success: false, code: "TOOL_ERROR_FAILED" });
  });

  it.each([
    ["file_read", "notes.md"],
    ["file_read", ["notes.md"]],
    ["file_read", null],
    ["file_read", { file_path: 5 }],
    ["file_read", { file_path: "a", start_line: 0 }],
    ["file_read", { file_path: "a", colour: "red" }],
    ["file_read", JSON.parse('{"file_path":"a","__proto__":{"root":"/"}}')],
    ["file_delta", { file_path: "a", operations: [] }],
    ["file_delta", { file_path: "a", operations: [{ type: "explode" }] }],
    ["file_search", { search_path: ".", pattern: "x".repeat(1001) }],
  ])("of %s with %j is refused by its schema", async (name, given) => {
    expect(await here.call(name, given)).toMatchObject({ success: false, code: "TOOL_ERROR_INVALID_ARGUMENTS" });
  });

  it("takes null for what is left out", async () => {
    writeFileSync(join(here.root, "a"), "text");
    expect(await here.call("file_read", { file_path: "a", start_line: null })).toMatchObject({ content: "text" });
  });

  it("with 10 MB is answered", async () => {
    const large = "x".repeat(10 * 1024 * 1024 + 1);
    for (const [name, given] of [
      ["file_read", { file_path: large }],
      ["shell_execute", { command: large }],
      ["remember", { content: large }],
      ["fetch_url", { url: large }],
      ["vector_db_search", { index_name: large, query: large }],
      [large, {}],
    ] as const) {
      const answer = await here.call(name, given);
      expect(answer.success).toBe(false);
      expect(JSON.stringify(answer).length).toBeLessThan(3000);
    }
  });
});

describe("arguments of any kind", () => {
  const openFiles = () => readdirSync("/proc/self/fd").length;
  const words = fc.oneof(
    fc.constantFrom("a", ".", "..", "/", "sub", "sub/a", "\0", "long_term_memory", "", "~", "*", "[", "x".repeat(5000)),
    fc.string({ maxLength: 20 }),
  );
  const numbers = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -1, 1, 1e9));
  const any = fc.oneof(
    words,
    numbers,
    fc.boolean(),
    fc.constant(null),
    fc.array(numbers, { maxLength: 4 }),
    fc.anything(),
  );

  it.skipIf(process.platform !== "linux")("crash nothing, and leave no file open", async () => {
    mkdirSync(join(here.root, "sub"));
    writeFileSync(join(here.root, "sub/a"), "text\n");
    here.answer = "no";
    await here.call("recall_memories", { query: "x" });
    const before = openFiles();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...here.tools), fc.infiniteStream(any), async (tool, values) => {
        const { properties = {} } = tool.parameters as { properties?: object };
        const given: Record<string, unknown> = {};
        for (const name of Object.keys(properties)) {
          const { value } = values.next();
          if (value !== undefined) given[name] = value;
        }
        const answer = await here.call(tool.name, given);
        expect(typeof answer.success).toBe("boolean");
        if (!answer.success) expect(answer).toMatchObject({ code: expect.any(String), error: expect.any(String) });
        expect(answer["code"]).not.toBe("TOOL_ERROR_FAILED");
      }),
      { numRuns: 400 },
    );
    expect(openFiles()).toBeLessThanOrEqual(before + 2);
  });
});
