import { constants } from "node:fs";
import { access, lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { readRegularUpTo } from "../../../engine/storage/regular-file.js";
import { takes, type ToolFailure, type ToolResult } from "../../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "../context.js";
import { fileFailure, fileProblem, placed } from "./paths.js";
import { truncate } from "./truncate.js";

/** Largest file that is read or written, in bytes. */
export const maxFile = 10 * 1024 * 1024;

/** Most entries of a list. */
const maxEntries = 1000;

/** A file's bytes, or why they are missing. Throws what the system says. */
export async function bytesIn(root: string, named: string): Promise<Buffer | ToolFailure> {
  const found = await placed(root, named);
  if ("code" in found) return found;
  if (!found.exists) return fileFailure("NOT_FOUND", `There is no file ${named}.`);
  const bytes = await readRegularUpTo(found.path, maxFile);
  return typeof bytes === "number"
    ? fileFailure("TOO_LARGE", `${named} has ${bytes} bytes; files of up to ${maxFile} bytes are read.`)
    : bytes;
}

/** Where a file or folder is that must be there. */
export async function there(root: string, named: string): Promise<string | ToolFailure> {
  const found = await placed(root, named);
  if ("code" in found) return found;
  return found.exists ? found.path : fileFailure("NOT_FOUND", `There is no file or folder ${named}.`);
}

/** Does what a tool does to a file; whatever the system has against it is an answer. */
export async function onFile(named: string, act: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    const done = await act();
    return done.success ? { code: "FILE_SUCCESS", ...done } : done;
  } catch (error) {
    return fileProblem(error, named);
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
  does: ["reads"],
  parameters: takes(
    {
      file_path: { type: "string" },
      start_line: { type: "integer", minimum: 1 },
      end_line: { type: "integer", minimum: 1 },
      max_tokens: { type: "integer", minimum: 1 },
    },
    ["file_path"],
  ),
  run: async (
    { file_path: named, start_line: from = 1, end_line: to, max_tokens: most },
    { root, room }: ToolContext,
  ) =>
    await onFile(named, async () => {
      const bytes = await bytesIn(root, named);
      if ("code" in bytes) return bytes;
      if (bytes.includes(0)) return fileFailure("IO", `${named} is not a text file.`);
      const lines = bytes.toString("utf8").split("\n");
      // A break at the end ends the last line and begins no other.
      const total = lines.at(-1) === "" ? lines.length - 1 : lines.length;
      const last = Math.min(to ?? lines.length, lines.length);
      const { text, linesLeftOut } = truncate(lines.slice(from - 1, last).join("\n"), Math.min(most ?? room, room));
      return {
        success: true,
        content: text,
        first_line: from,
        last_line: Math.min(last, total),
        total_lines: total,
        ...(linesLeftOut === 0 ? {} : { truncated: true, lines_left_out: linesLeftOut }),
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
  does: ["reads"],
  parameters: takes(
    {
      directory_path: { type: "string" },
      pattern: { type: "string", maxLength: 500 },
      include_hidden: { type: "boolean" },
    },
    ["directory_path"],
  ),
  run: async ({ directory_path: named, pattern, include_hidden: isAll = false }, { root }, signal) =>
    await onFile(named, async () => {
      const folder = await there(root, named);
      if (typeof folder !== "string") return folder;
      if (!(await stat(folder)).isDirectory()) return fileFailure("NOT_FOUND", `${named} is not a folder.`);
      const names =
        pattern === undefined
          ? (await readdir(folder, { withFileTypes: true }))
              .filter(({ name }) => isAll || !name.startsWith("."))
              .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
          : await matching(folder, pattern, isAll, signal);
      if (!Array.isArray(names)) return names;
      const entries = names.sort().slice(0, maxEntries);
      return { success: true, entries, total: names.length, ...(names.length > maxEntries ? { truncated: true } : {}) };
    }),
};

/** Names below a folder that fit a pattern; links are not followed. One more than a list holds, at most. */
async function matching(
  folder: string,
  pattern: string,
  isAll: boolean,
  signal: AbortSignal,
): Promise<string[] | ToolFailure> {
  if (pattern.split(/[\\/]/).includes("..") || /^[\\/]|^[a-z]:/i.test(pattern))
    return fileFailure("INVALID_PATH", `The pattern '${pattern.slice(0, 200)}' leads out of the folder.`);
  const names: string[] = [];
  for await (const name of filesBelow(folder, pattern, isAll)) {
    names.push(name);
    if (names.length > maxEntries || signal.aborted) break;
  }
  return names;
}

/** Files and folders below a folder, without what version control and package managers keep. */
export async function* filesBelow(folder: string, pattern: string, isAll: boolean): AsyncGenerator<string> {
  const { default: fastGlob } = await import("fast-glob");
  const found = fastGlob.stream(pattern, {
    cwd: folder,
    dot: isAll,
    followSymbolicLinks: false,
    onlyFiles: false,
    markDirectories: true,
    suppressErrors: true,
    ignore: ["**/.git/**", "**/node_modules/**"],
  });
  for await (const name of found) yield String(name);
}

interface InfoArguments {
  readonly file_path: string;
}

export const fileInfo: AssistantTool<InfoArguments> = {
  name: "file_info",
  description: "Size, kind, times and permissions of a file or folder.",
  does: ["reads"],
  parameters: takes({ file_path: { type: "string" } }, ["file_path"]),
  run: async ({ file_path: named }, { root }) =>
    await onFile(named, async () => {
      const path = await there(root, named);
      if (typeof path !== "string") return path;
      const found = await stat(path);
      const may = async (mode: number) =>
        await access(path, mode).then(
          () => true,
          () => false,
        );
      const bytes = found.isFile() && found.size <= maxFile ? await readRegularUpTo(path, maxFile) : undefined;
      const isText = Buffer.isBuffer(bytes) && !bytes.includes(0);
      return {
        success: true,
        path,
        kind: found.isFile() ? "file" : found.isDirectory() ? "folder" : "other",
        is_link: (await lstat(join(root, named)).catch(() => undefined))?.isSymbolicLink() === true,
        size_bytes: found.size,
        created: found.birthtime.toISOString(),
        modified: found.mtime.toISOString(),
        permissions: (found.mode & 0o777).toString(8).padStart(3, "0"),
        is_readable: await may(constants.R_OK),
        is_writable: await may(constants.W_OK),
        ...(isText ? { lines: bytes.toString("utf8").split("\n").length } : {}),
      };
    }),
};
