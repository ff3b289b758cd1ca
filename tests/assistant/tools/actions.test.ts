import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { actionInstructions, actionsIn, callInText } from "../../../src/assistant/tools/actions.js";
import { bench } from "./setup.js";

const here = bench();
const actions = (text: string) => actionsIn(text, here.tools);

describe("an action that a model writes as JSON", () => {
  it.each([
    ['{"action":"read","path":"a.md"}', "file_read", { file_path: "a.md" }],
    ['{"action":"read","file_path":"a.md","start_line":"3"}', "file_read", { file_path: "a.md", start_line: "3" }],
    ['{"action":"cat","filename":"a.md"}', "file_read", { file_path: "a.md" }],
    ['{"tool":"Read File","args":{"file":"a.md"}}', "file_read", { file_path: "a.md" }],
    ['{"action":"write","path":"a","content":""}', "file_write", { file_path: "a", content: "" }],
    ['{"action":"create","file":"a","text":"x"}', "file_write", { file_path: "a", content: "x" }],
    ['{"action":"run","command":"ls"}', "shell_execute", { command: "ls" }],
    ['{"action":"bash","cmd":"ls","timeout":"9"}', "shell_execute", { command: "ls", timeout_seconds: "9" }],
    ['{"action":"ls"}', "file_list", { directory_path: "." }],
    ['{"action":"list","dir":"src"}', "file_list", { directory_path: "src" }],
    ['{"action":"file_info","file_path":"a"}', "file_info", { file_path: "a" }],
    ['{"name":"file_read","arguments":"{\\"file_path\\":\\"a\\"}"}', "file_read", { file_path: "a" }],
    ['{"thought":"I need it","action":"read","path":"a.md"}', "file_read", { file_path: "a.md" }],
    ['I look.\n```json\n{"action":"ls","path":"src"}\n```\nThen I go on.', "file_list", { directory_path: "src" }],
    ['Sure:\n{"action":"ls","path":"src"}', "file_list", { directory_path: "src" }],
    ['Sure:\n{\n  "action": "ls",\n  "path": "src"\n}', "file_list", { directory_path: "src" }],
  ])("%s is a call of %s", (text, tool, input) => {
    expect(actions(text)).toEqual([{ tool, input }]);
  });

  it.each([
    ["package.json", "npm test"],
    ["Cargo.toml", "cargo test"],
    ["pyproject.toml", "python -m pytest"],
  ])("to test is what %s says", (file, command) => {
    writeFileSync(join(here.root, file), "");
    expect(actions('{"action":"test"}')).toEqual([{ tool: "shell_execute", input: { command, timeout_seconds: 300 } }]);
  });

  it("may be several, in a list or a line each", () => {
    const two = [
      { tool: "file_list", input: { directory_path: "." } },
      { tool: "file_read", input: { file_path: "a" } },
    ];
    expect(actions('[{"action":"ls"},{"action":"read","path":"a"}]')).toEqual(two);
    expect(actions('{"action":"ls"}\n{"action":"read","path":"a"}')).toEqual(two);
  });

  it("that is unknown keeps its name, and is answered", async () => {
    const [action] = actions('{"action":"teleport","to":"x"}');
    expect(action).toEqual({ tool: "teleport", input: { to: "x" } });
    expect(await here.call(action?.tool ?? "", action?.input)).toMatchObject({ code: "TOOL_ERROR_NOT_FOUND" });
  });

  it.each([
    '{"action":"write","path":"a"}',
    '{"action":"write","content":"x"}',
    '{"action":"read"}',
    '{"action":"read","path":{"a":1}}',
    '{"action":"read","path":"a","start_line":"soon"}',
    '{"action":"run"}',
    '{"action":"test"}',
    '{"action":"ls","path":"a","colour":"red"}',
  ])("%s does not run: the tool's schema refuses it", async (text) => {
    const [action] = actions(text);
    expect(await here.call(action?.tool ?? "", action?.input)).toMatchObject({ code: "TOOL_ERROR_INVALID_ARGUMENTS" });
    expect(here.asked).toEqual([]);
  });

  it.each([
    "The answer is 42.",
    '{"name":"Ada","age":36}',
    '{"action":5}',
    '{"action":"run","command":"ls"',
    "[1,2,3]",
    "```json\n{broken}\n```",
    "",
    "null",
  ])("is not %j", (text) => {
    expect(actions(text)).toEqual([]);
  });

  it("is named in what a model without tool calls is told, with all other tools", () => {
    const told = actionInstructions(here.tools);
    for (const word of ["read", "write", "run", "test", "ls"]) expect(told).toContain(`"action": "${word}"`);
    expect(told).toContain("fetch_url(url, max_tokens?)");
  });
});

describe("a call in the text of a model that has tool calls", () => {
  it("is one by the exact name of a tool, as the whole text", () => {
    const call = '{"name":"file_read","arguments":{"file_path":"a"}}';
    const expected = [{ tool: "file_read", input: { file_path: "a" } }];
    expect(callInText(call, here.tools)).toEqual(expected);
    expect(callInText(`\`\`\`json\n${call}\n\`\`\``, here.tools)).toEqual(expected);
    expect(callInText(`Here is how: ${call}`, here.tools)).toEqual([]);
    expect(callInText('{"action":"read","path":"a"}', here.tools)).toEqual([]);
    expect(callInText('{"name":"read","arguments":{}}', here.tools)).toEqual([]);
  });
});
