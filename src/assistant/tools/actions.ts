import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BoundTool } from "./call.js";
import { isObject, jsonIn } from "../../engine/lib/json-fields.js";

/** A call that a model wrote as JSON, for want of tool calls. */
export interface Action {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** An action by its short name: the tool that does it, and how models spell it and its fields. */
interface Spelling {
  readonly tool: string;
  readonly names: readonly string[];
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** What stands in for a field that is missing, where one thing alone can be meant. */
  missing?(root: string): Fields;
}

const file = ["path", "file", "filename", "file_name", "filepath", "target"];
const folder = ["path", "dir", "directory", "folder", "directory_path"];

const spellings: readonly Spelling[] = [
  {
    tool: "file_read",
    names: ["read", "read_file", "readfile", "cat", "open", "view"],
    fields: { file_path: file, start_line: ["start", "from", "line"], end_line: ["end", "to"] },
  },
  {
    tool: "file_write",
    names: ["write", "write_file", "writefile", "create", "create_file", "save"],
    fields: { file_path: file, content: ["text", "contents", "data", "body"] },
  },
  {
    tool: "shell_execute",
    names: ["run", "run_command", "shell", "bash", "sh", "exec", "execute", "command", "cmd", "terminal"],
    fields: {
      command: ["cmd", "run", "script", "shell"],
      working_directory: ["cwd", "dir"],
      timeout_seconds: ["timeout"],
    },
  },
  {
    tool: "shell_execute",
    names: ["test", "tests", "run_tests", "runtests"],
    fields: { command: ["cmd", "run", "script"], timeout_seconds: ["timeout"] },
    missing: (root) => ({ command: testCommand(root), timeout_seconds: 300 }),
  },
  {
    tool: "file_list",
    names: ["ls", "list", "list_files", "listfiles", "list_directory", "dir"],
    fields: { directory_path: folder, pattern: ["glob"] },
    missing: () => ({ directory_path: "." }),
  },
];

/** How the tests of a folder are run, by the files that say so. */
const testCommands: readonly (readonly [file: string, command: string])[] = [
  ["package.json", "npm test"],
  ["Cargo.toml", "cargo test"],
  ["go.mod", "go test ./..."],
  ["pyproject.toml", "python -m pytest"],
  ["setup.py", "python -m pytest"],
  ["Makefile", "make test"],
];

const testCommand = (root: string): string | undefined =>
  testCommands.find(([name]) => existsSync(join(root, name)))?.[1];

/** What models write next to an action and no tool takes. */
const remarks: ReadonlySet<string> = new Set(["thought", "thoughts", "reason", "reasoning", "explanation", "comment"]);

/**
 * The actions that a text asks for: an object with `action`, or a list of such, in a block of its own or as the whole
 * text. Names and fields that models spell in their own ways are put right; what they mean is checked by the tool's
 * schema, and an unknown action keeps its name, so that it can be answered. Empty where the text is an answer.
 */
export function actionsIn(text: string, tools: readonly BoundTool[]): readonly Action[] {
  return valuesIn(text)
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .flatMap((value) => {
      const action = isObject(value) ? actionOf(value, tools) : undefined;
      return action === undefined ? [] : [action];
    });
}

/** A call by the exact name of a tool, as models write it where a server doesn't understand them: the whole text. */
export function callInText(text: string, tools: readonly BoundTool[]): readonly Action[] {
  const [before = "", block] = text.trim().split("```");
  const value = jsonIn((before === "" && block !== undefined ? block.replace(/^json/, "") : text).trim());
  if (!isObject(value)) return [];
  const [name, input] = [value["name"] ?? value["tool"], inputOf(value)];
  return typeof name === "string" && input !== undefined && tools.some((tool) => tool.name === name)
    ? [{ tool: name, input }]
    : [];
}

/** Whether a text, or its first block, begins as a call written as JSON and can't be read as JSON. */
export function isBrokenAction(text: string): boolean {
  const begun = /^\s*(?:```\w*\s*)?(\{\s*"(?:action|tool|name)"\s*:[^]*)$/.exec(text)?.[1];
  return begun !== undefined && jsonIn((begun.split("```")[0] ?? "").trim()) === undefined;
}

function actionOf(value: Fields, tools: readonly BoundTool[]): Action | undefined {
  const inner = inputOf(value);
  const key = ["action", "tool", ...(inner === undefined ? [] : ["name"])].find(
    (each) => typeof value[each] === "string",
  );
  if (key === undefined) return undefined;
  const name = String(value[key]);
  const around = Object.entries(value).filter(([each]) => each !== key && !isContainer(each) && !remarks.has(each));
  const given: Fields = { ...Object.fromEntries(around), ...inner };
  if (tools.some((tool) => tool.name === name)) return { tool: name, input: given };
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
  const spelling = spellings.find(({ names }) => names.includes(plain));
  if (spelling === undefined) return { tool: name, input: given };
  const renamed = Object.entries(given).map(([field, content]) => {
    const meant = Object.entries(spelling.fields).find(
      ([own, others]) => own !== field && !(own in given) && others.includes(field.toLowerCase()),
    );
    return [meant?.[0] ?? field, content] as const;
  });
  const named = Object.fromEntries(renamed);
  const filled = Object.entries(spelling.missing?.(tools[0]?.root ?? ".") ?? {}).filter(
    ([field, content]) => content !== undefined && (named[field] ?? "") === "",
  );
  return { tool: spelling.tool, input: { ...named, ...Object.fromEntries(filled) } };
}

const containers = ["arguments", "args", "parameters", "params", "input"];
const isContainer = (name: string): boolean => containers.includes(name);

/** The arguments that stand in an object of their own, or in a string that is one. */
function inputOf(value: Fields): Fields | undefined {
  const name = containers.find((each) => value[each] !== undefined);
  const content = name === undefined ? undefined : value[name];
  const inner = typeof content === "string" ? jsonIn(content) : content;
  return isObject(inner) ? inner : undefined;
}

/** The JSON values of a text: those in fences, else the text itself, else what stands behind the first line of it. */
function valuesIn(text: string): unknown[] {
  const fenced = text.split("```").filter((_, place) => place % 2 === 1);
  const blocks = fenced
    .map((block) => jsonIn(block.replace(/^\w*\s*\n/, "").trim()))
    .filter((each) => each !== undefined);
  if (blocks.length > 0) return blocks;
  const whole = jsonIn(text.trim());
  if (whole !== undefined) return [whole];
  // An object a line, or one behind an introduction.
  const lines = text.split("\n").map((line) => (/^\s*[[{]/.test(line) ? jsonIn(line.trim()) : undefined));
  const alone = lines.filter((each) => each !== undefined);
  if (alone.length > 0) return alone;
  const [from, to] = [text.search(/^[ \t]*[[{]/m), Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"))];
  const last = from === -1 || to < from ? undefined : jsonIn(text.slice(from, to + 1).trim());
  return last === undefined ? [] : [last];
}

/** What a model without tool calls is told of them. */
export const actionInstructions = (tools: readonly BoundTool[]): string => {
  const has = (name: string) => tools.some((tool) => tool.name === name);
  const short = [
    ...(has("file_read") ? ['{"action": "read", "path": "…"}'] : []),
    ...(has("file_write") ? ['{"action": "write", "path": "…", "content": "…"}'] : []),
    ...(has("shell_execute") ? ['{"action": "run", "command": "…"}', '{"action": "test"}'] : []),
    ...(has("file_list") ? ['{"action": "ls", "path": "…"}'] : []),
  ];
  const named = new Set(["file_read", "file_write", "shell_execute", "file_list"]);
  const others = tools
    .filter(({ name }) => !named.has(name))
    .map(({ name, parameters }) => {
      const { properties = {}, required = [] } = parameters as { properties?: object; required?: readonly string[] };
      return `${name}(${Object.keys(properties)
        .map((each) => (required.includes(each) ? each : `${each}?`))
        .join(", ")})`;
    });
  return `To act, answer with one JSON object and nothing else; its result comes as the next message.
${short.join("\n")}${others.length === 0 ? "" : `\n{"action": "<name>", "args": {…}} with ${others.join(", ")}`}
Once you know enough, answer in plain words.`;
};
