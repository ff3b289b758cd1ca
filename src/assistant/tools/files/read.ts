import { constants } from "node:fs";
import { access, lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { readRegularUpTo } from "../../../engine/storage/regular-file.js";
import { parametersOf, type ToolFailure, type ToolResult } from "../../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "../context.js";
import { fileFailure, fileFailureOf, locateFile } from "./paths.js";
import { truncate } from "./truncate.js";

/** Maximum bytes of a file that is read or written. */
export const maxFileBytes = 10 * 1024 * 1024;

/** Maximum number of entries in a list. */
const maxEntries = 1000;

/** A file's bytes, or a failure. Throws system errors. */
export async function readBytes(root: string, name: string): Promise<Buffer | ToolFailure> {
  const location = await locateFile(root, name);
  if ("code" in location) return location;
  if (!location.exists) return fileFailure("NOT_FOUND", `There is no file ${name}.`);
  const bytes = await readRegularUpTo(location.path, maxFileBytes);
  return typeof bytes === "number"
    ? fileFailure("TOO_LARGE", `${name} has ${bytes} bytes; files of up to ${maxFileBytes} bytes are read.`)
    : bytes;
}

/** The path of an existing file or folder, or a failure. */
export async function findExistingPath(root: string, name: string): Promise<string | ToolFailure> {
  const location = await locateFile(root, name);
  if ("code" in location) return location;
  return location.exists ? location.path : fileFailure("NOT_FOUND", `There is no file or folder ${name}.`);
}

/** Runs `action` on a file. A system error becomes a failure. */
export async function runOnFile(name: string, action: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    const result = await action();
    return result.success ? { code: "FILE_SUCCESS", ...result } : result;
  } catch (error) {
    return fileFailureOf(error, name);
  }
}

interface ReadArguments {
  readonly file_path: string;
  readonly start_line?: number;
  readonly end_line?: number;
  readonly max_tokens?: number;
}

export const fileRead: AssistantTool<ReadArguments> = {
  name: "file_read",
  description: "Read a text file. A long one is cut to head, tail and signatures; give lines for a part of it.",
  effects: ["reads"],
  parameters: parametersOf(
    {
      file_path: { type: "string" },
      start_line: { type: "integer", minimum: 1 },
      end_line: { type: "integer", minimum: 1 },
      max_tokens: { type: "integer", minimum: 1 },
    },
    ["file_path"],
  ),
  run: async (
    { file_path: givenName, start_line: firstLine = 1, end_line: lastLine, max_tokens: maxTokens },
    { root, maxResultTokens }: ToolContext,
  ) =>
    await runOnFile(givenName, async () => {
      const bytes = await readBytes(root, givenName);
      if ("code" in bytes) return bytes;
      if (bytes.includes(0)) return fileFailure("IO", `${givenName} is not a text file.`);
      const lines = bytes.toString("utf8").split("\n");
      // A line break at the end does not begin another line.
      const total = lines.at(-1) === "" ? lines.length - 1 : lines.length;
      const lastShownLine = Math.min(lastLine ?? lines.length, lines.length);
      const { text, omittedLines } = truncate(
        lines.slice(firstLine - 1, lastShownLine).join("\n"),
        Math.min(maxTokens ?? maxResultTokens, maxResultTokens),
      );
      return {
        success: true,
        content: text,
        first_line: firstLine,
        last_line: Math.min(lastShownLine, total),
        total_lines: total,
        ...(omittedLines === 0 ? {} : { truncated: true, lines_left_out: omittedLines }),
      };
    }),
};

interface ListArguments {
  readonly directory_path: string;
  readonly pattern?: string;
  readonly include_hidden?: boolean;
}

export const fileList: AssistantTool<ListArguments> = {
  name: "file_list",
  description: "List a folder. A pattern such as **/*.ts lists the folders below it too.",
  effects: ["reads"],
  parameters: parametersOf(
    {
      directory_path: { type: "string" },
      pattern: { type: "string", maxLength: 500 },
      include_hidden: { type: "boolean" },
    },
    ["directory_path"],
  ),
  run: async ({ directory_path: givenName, pattern, include_hidden: includesHidden = false }, { root }, signal) =>
    await runOnFile(givenName, async () => {
      const folder = await findExistingPath(root, givenName);
      if (typeof folder !== "string") return folder;
      if (!(await stat(folder)).isDirectory()) return fileFailure("NOT_FOUND", `${givenName} is not a folder.`);
      const names =
        pattern === undefined
          ? (await readdir(folder, { withFileTypes: true }))
              .filter(({ name }) => includesHidden || !name.startsWith("."))
              .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
          : await matchingNames(folder, pattern, includesHidden, signal);
      if (!Array.isArray(names)) return names;
      const entries = names.sort().slice(0, maxEntries);
      return { success: true, entries, total: names.length, ...(names.length > maxEntries ? { truncated: true } : {}) };
    }),
};

/** Names below a folder that match a pattern, at most one more than a list may have. Links are not followed. */
async function matchingNames(
  folder: string,
  pattern: string,
  includesHidden: boolean,
  signal: AbortSignal,
): Promise<string[] | ToolFailure> {
  if (pattern.split(/[\\/]/).includes("..") || /^[\\/]|^[a-z]:/i.test(pattern))
    return fileFailure("INVALID_PATH", `The pattern '${pattern.slice(0, 200)}' leads out of the folder.`);
  const names: string[] = [];
  for await (const name of filesBelow(folder, pattern, includesHidden)) {
    names.push(name);
    if (names.length > maxEntries || signal.aborted) break;
  }
  return names;
}

/** Files and folders below a folder, except in the folders of git and npm. */
export async function* filesBelow(folder: string, pattern: string, includesHidden: boolean): AsyncGenerator<string> {
  const { default: fastGlob } = await import("fast-glob");
  const stream = fastGlob.stream(pattern, {
    cwd: folder,
    dot: includesHidden,
    followSymbolicLinks: false,
    onlyFiles: false,
    markDirectories: true,
    suppressErrors: true,
    ignore: ["**/.git/**", "**/node_modules/**"],
  });
  for await (const name of stream) yield String(name);
}

interface InfoArguments {
  readonly file_path: string;
}

export const fileInfo: AssistantTool<InfoArguments> = {
  name: "file_info",
  description: "Size, kind, times and permissions of a file or folder.",
  effects: ["reads"],
  parameters: parametersOf({ file_path: { type: "string" } }, ["file_path"]),
  run: async ({ file_path: givenName }, { root }) =>
    await runOnFile(givenName, async () => {
      const path = await findExistingPath(root, givenName);
      if (typeof path !== "string") return path;
      const stats = await stat(path);
      const isAllowed = async (mode: number) =>
        await access(path, mode).then(
          () => true,
          () => false,
        );
      const bytes =
        stats.isFile() && stats.size <= maxFileBytes ? await readRegularUpTo(path, maxFileBytes) : undefined;
      const isText = Buffer.isBuffer(bytes) && !bytes.includes(0);
      return {
        success: true,
        path,
        kind: stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other",
        is_link: (await lstat(join(root, givenName)).catch(() => undefined))?.isSymbolicLink() === true,
        size_bytes: stats.size,
        created: stats.birthtime.toISOString(),
        modified: stats.mtime.toISOString(),
        permissions: (stats.mode & 0o777).toString(8).padStart(3, "0"),
        is_readable: await isAllowed(constants.R_OK),
        is_writable: await isAllowed(constants.W_OK),
        ...(isText ? { lines: bytes.toString("utf8").split("\n").length } : {}),
      };
    }),
};
