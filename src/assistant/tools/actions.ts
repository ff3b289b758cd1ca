import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BoundTool } from "./call.js";
import { isObject, jsonIn } from "../../engine/lib/json-fields.js";

/** A tool call that a model wrote as JSON text. */
export interface Action {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** An action with a short name: its tool, and the names that models use for it and its fields. */
interface ActionSpelling {
  readonly tool: string;
  readonly names: readonly string[];
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Values for fields that the model omitted, if only one value makes sense. */
  defaults?(root: string): Fields;
}

const pathFields = ["path", "file", "filename", "file_name", "filepath", "target"];
const folderFields = ["path", "dir", "directory", "folder", "directory_path"];

const spellings: readonly ActionSpelling[] = [
  {
    tool: "file_read",
    names: ["read", "read_file", "readfile", "cat", "open", "view"],
    fields: { file_path: pathFields, start_line: ["start", "from", "line"], end_line: ["end", "to"] },
  },
  {
    tool: "file_write",
    names: ["write", "write_file", "writefile", "create", "create_file", "save"],
    fields: { file_path: pathFields, content: ["text", "contents", "data", "body"] },
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
    defaults: (root) => ({ command: testCommand(root), timeout_seconds: 300 }),
  },
  {
    tool: "file_list",
    names: ["ls", "list", "list_files", "listfiles", "list_directory", "dir"],
    fields: { directory_path: folderFields, pattern: ["glob"] },
    defaults: () => ({ directory_path: "." }),
  },
];

/** The test command of a folder, by the file that the folder contains. */
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

/** Fields that models add to an action, but that no tool uses. */
const ignoredFields: ReadonlySet<string> = new Set([
  "thought",
  "thoughts",
  "reason",
  "reasoning",
  "explanation",
  "comment",
]);

/**
 * The actions in a text: an object with `action`, or a list of such objects, in a code block or as the whole text.
 * Other spellings of names and fields are corrected. The values are checked later by the tool's schema. An unknown
 * action keeps its name, so that the model gets an error. Empty if the text is an answer.
 */
export function actionsIn(text: string, tools: readonly BoundTool[]): readonly Action[] {
  return valuesIn(text)
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .flatMap((value) => {
      const action = isObject(value) ? actionOf(value, tools) : undefined;
      return action === undefined ? [] : [action];
    });
}

/**
 * The tool call in a text, if the whole text is a call with the exact name of a tool. Models write it if a server does
 * not parse their calls.
 */
export function callInText(text: string, tools: readonly BoundTool[]): readonly Action[] {
  const [textBefore = "", block] = text.trim().split("```");
  const value = jsonIn((textBefore === "" && block !== undefined ? block.replace(/^json/, "") : text).trim());
  if (!isObject(value)) return [];
  const [name, input] = [value["name"] ?? value["tool"], inputOf(value)];
  return typeof name === "string" && input !== undefined && tools.some((tool) => tool.name === name)
    ? [{ tool: name, input }]
    : [];
}

/**
 * Whether a text, or its first code block, begins like a call in JSON and is not valid JSON. `isAnyLine`: an action
 * after an introduction counts too.
 */
export function isBrokenAction(text: string, isAnyLine: boolean): boolean {
  const wholeText = /^\s*(?:```\w*\s*)?(\{\s*"(?:action|tool|name)"\s*:[^]*)$/.exec(text)?.[1];
  const possibleAction = wholeText ?? (isAnyLine ? /^[ \t]*(\{\s*"action"\s*:[^]*)/m.exec(text)?.[1] : undefined);
  return possibleAction !== undefined && jsonIn((possibleAction.split("```")[0] ?? "").trim()) === undefined;
}

function actionOf(value: Fields, tools: readonly BoundTool[]): Action | undefined {
  const containedInput = inputOf(value);
  const nameField = ["action", "tool", ...(containedInput === undefined ? [] : ["name"])].find(
    (candidate) => typeof value[candidate] === "string",
  );
  if (nameField === undefined) return undefined;
  const name = String(value[nameField]);
  const otherFields = Object.entries(value).filter(
    ([field]) => field !== nameField && !isContainer(field) && !ignoredFields.has(field),
  );
  const givenInput: Fields = { ...Object.fromEntries(otherFields), ...containedInput };
  if (tools.some((tool) => tool.name === name)) return { tool: name, input: givenInput };
  const normalisedName = name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
  const spelling = spellings.find(({ names }) => names.includes(normalisedName));
  if (spelling === undefined) return { tool: name, input: givenInput };
  const renamedEntries = Object.entries(givenInput).map(([field, content]) => {
    const spellingOfField = Object.entries(spelling.fields).find(
      ([correctName, spellingsOfName]) =>
        correctName !== field && !(correctName in givenInput) && spellingsOfName.includes(field.toLowerCase()),
    );
    return [spellingOfField?.[0] ?? field, content] as const;
  });
  const renamedInput = Object.fromEntries(renamedEntries);
  const missingFields = Object.entries(spelling.defaults?.(tools[0]?.root ?? ".") ?? {}).filter(
    ([field, content]) => content !== undefined && (renamedInput[field] ?? "") === "",
  );
  return { tool: spelling.tool, input: { ...renamedInput, ...Object.fromEntries(missingFields) } };
}

const containers = ["arguments", "args", "parameters", "params", "input"];
const isContainer = (name: string): boolean => containers.includes(name);

/** The arguments of a call, if they are in a separate object or in a string with JSON. */
function inputOf(value: Fields): Fields | undefined {
  const name = containers.find((containerName) => value[containerName] !== undefined);
  const content = name === undefined ? undefined : value[name];
  const input = typeof content === "string" ? jsonIn(content) : content;
  return isObject(input) ? input : undefined;
}

/** The JSON values in a text: in code blocks, else the whole text, else the part after an introduction. */
function valuesIn(text: string): unknown[] {
  const fencedBlocks = text.split("```").filter((_, index) => index % 2 === 1);
  const blocks = fencedBlocks
    .map((block) => jsonIn(block.replace(/^\w*\s*\n/, "").trim()))
    .filter((value) => value !== undefined);
  if (blocks.length > 0) return blocks;
  const fullValue = jsonIn(text.trim());
  if (fullValue !== undefined) return [fullValue];
  // Next, one object per line; at last, one object after an introduction.
  const lines = text.split("\n").map((line) => (/^\s*[[{]/.test(line) ? jsonIn(line.trim()) : undefined));
  const lineValues = lines.filter((value) => value !== undefined);
  if (lineValues.length > 0) return lineValues;
  const [start, end] = [text.search(/^[ \t]*[[{]/m), Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"))];
  const value = start === -1 || end < start ? undefined : jsonIn(text.slice(start, end + 1).trim());
  return value === undefined ? [] : [value];
}

/** The instructions for a model without tool calls. */
export const actionInstructions = (tools: readonly BoundTool[]): string => {
  const hasTool = (name: string) => tools.some((tool) => tool.name === name);
  const shortActions = [
    ...(hasTool("file_read") ? ['{"action": "read", "path": "…"}'] : []),
    ...(hasTool("file_write") ? ['{"action": "write", "path": "…", "content": "…"}'] : []),
    ...(hasTool("shell_execute") ? ['{"action": "run", "command": "…"}', '{"action": "test"}'] : []),
    ...(hasTool("file_list") ? ['{"action": "ls", "path": "…"}'] : []),
  ];
  const describedTools = new Set(["file_read", "file_write", "shell_execute", "file_list"]);
  const others = tools
    .filter(({ name }) => !describedTools.has(name))
    .map(({ name, parameters }) => {
      const { properties = {}, required = [] } = parameters as { properties?: object; required?: readonly string[] };
      return `${name}(${Object.keys(properties)
        .map((argument) => (required.includes(argument) ? argument : `${argument}?`))
        .join(", ")})`;
    });
  return `To act, answer with one JSON object and nothing else; its result comes as the next message.
${shortActions.join("\n")}${others.length === 0 ? "" : `\n{"action": "<name>", "args": {…}} with ${others.join(", ")}`}
Once you know enough, answer in plain words.`;
};
