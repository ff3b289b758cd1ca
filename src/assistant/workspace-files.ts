import type { Stats } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { hasCode } from "../engine/lib/errors.js";
import type { ConversationTool } from "./converse.js";

/** Largest file that is read, in bytes. */
const maxFile = 10 * 1024 * 1024;
/** Lines and characters of one answer. */
const maxLines = 2000;
const maxCharacters = 100_000;

type FileError =
  | "FILE_ERROR_NOT_FOUND"
  | "FILE_ERROR_PERMISSION"
  | "FILE_ERROR_TOO_LARGE"
  | "FILE_ERROR_INVALID_PATH"
  | "FILE_ERROR_IO";

const refused = (code: FileError, error: string) => ({ success: false, code, error });

/**
 * The two tools with which an agent without a shell reads its workspace. Only what lies in `root` by its real path is
 * opened: a link that leads out is no path of it.
 */
export function workspaceTools(root: string): readonly ConversationTool[] {
  return [
    {
      name: "file_read",
      description: "Reads a text file of the workspace. Give start_line and end_line for a part of it.",
      parameters: {
        type: "object",
        properties: {
          file_path: { type: "string" },
          start_line: { type: "integer", minimum: 1 },
          end_line: { type: "integer", minimum: 1 },
        },
        required: ["file_path"],
        additionalProperties: false,
      },
      run: async (input) => await answering(root, input, "file_path", readLines),
    },
    {
      name: "file_list",
      description: "Lists a folder of the workspace.",
      parameters: {
        type: "object",
        properties: { directory_path: { type: "string" } },
        required: ["directory_path"],
        additionalProperties: false,
      },
      run: async (input) => await answering(root, input, "directory_path", list),
    },
  ];
}

type Fields = Readonly<Record<string, unknown>>;
type Done = Awaited<ReturnType<ConversationTool["run"]>>;

async function answering(
  root: string,
  input: unknown,
  key: string,
  act: (path: string, fields: Fields) => Promise<Done>,
): Promise<Done> {
  const fields = typeof input === "object" && input !== null ? (input as Fields) : {};
  const named = fields[key];
  if (typeof named !== "string" || named === "" || named.includes("\0"))
    return refused("FILE_ERROR_INVALID_PATH", `${key} must name a file of the workspace.`);
  try {
    const path = await within(root, named);
    if (path === undefined) return refused("FILE_ERROR_INVALID_PATH", `${named} is not in the workspace.`);
    return await act(path, fields);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "EISDIR"))
      return refused("FILE_ERROR_NOT_FOUND", `There is no file ${named}.`);
    if (hasCode(error, "EACCES", "EPERM", "ERR_ACCESS_DENIED"))
      return refused("FILE_ERROR_PERMISSION", `${named} may not be read.`);
    return refused("FILE_ERROR_IO", `${named} could not be read.`);
  }
}

/** The real path of a name, where it lies in the folder. Rejects where there is no such file. */
async function within(root: string, named: string): Promise<string | undefined> {
  const folder = await realpath(root);
  const path = isAbsolute(named) ? named : join(folder, named);
  const lexical = relative(folder, path);
  if (lexical === ".." || lexical.startsWith(`..${sep}`) || isAbsolute(lexical)) return undefined;
  const real = await realpath(path);
  return real === folder || real.startsWith(folder + sep) ? real : undefined;
}

async function readLines(path: string, { start_line: from = 1, end_line: to }: Fields): Promise<Done> {
  const file = await open(path, "r");
  try {
    const stats: Stats = await file.stat();
    if (!stats.isFile()) return refused("FILE_ERROR_NOT_FOUND", "It is no regular file.");
    if (stats.size > maxFile) return refused("FILE_ERROR_TOO_LARGE", `The file has more than ${maxFile} bytes.`);
    const lines = (await file.readFile("utf8")).split("\n");
    const first = Math.max(1, Number(from) || 1);
    const last = Math.min(lines.length, Number(to) || lines.length, first + maxLines - 1);
    const content = lines
      .slice(first - 1, last)
      .join("\n")
      .slice(0, maxCharacters);
    return { success: true, content, first_line: first, last_line: last, total_lines: lines.length };
  } finally {
    await file.close();
  }
}

async function list(path: string): Promise<Done> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  return { success: true, entries: names.slice(0, maxLines), total: names.length };
}
