import { createHash } from "node:crypto";
import { appendFile, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import { makeFolder } from "../../../engine/storage/regular-file.js";
import { parametersOf, type ToolFailure, type ToolResult } from "../../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "../context.js";
import { fileFailure, locateFile } from "./paths.js";
import { readBytes, maxFileBytes, runOnFile } from "./read.js";

interface WriteArguments {
  readonly file_path: string;
  readonly content: string;
  readonly create_backup?: boolean;
}

const tooLargeFailure = (name: string, bytes: number): ToolFailure =>
  fileFailure("TOO_LARGE", `${name} would have ${bytes} bytes; files of up to ${maxFileBytes} bytes are written.`);

/**
 * Replaces the content of a file in one step, or creates it with its folders. The old content is stored as a backup if
 * `shouldBackUp` is true.
 */
export async function replaceFile(
  { root, backupFolder }: ToolContext,
  name: string,
  content: string,
  shouldBackUp: boolean,
): Promise<ToolResult> {
  const location = await locateFile(root, name);
  if ("code" in location) return location;
  const size = Buffer.byteLength(content);
  if (size > maxFileBytes) return tooLargeFailure(name, size);
  const oldBytes = location.exists ? await readBytes(root, name) : undefined;
  if (oldBytes !== undefined && "code" in oldBytes) return oldBytes;
  const backup =
    oldBytes === undefined || !shouldBackUp || backupFolder === undefined
      ? undefined
      : await writeBackup(backupFolder, location.path, oldBytes, Date.now());
  makeFolder(dirname(location.path));
  await writeFileAtomic(location.path, content);
  return { success: true, path: location.path, bytes_written: size, created: oldBytes === undefined, backup };
}

/** Maximum number of backups. */
const maxBackups = 200;

/**
 * Stores the old content of a file in a folder of the user, and returns the path of the copy. A copy beside the file
 * could get into commits.
 */
async function writeBackup(folder: string, path: string, bytes: Buffer, now: number): Promise<string> {
  makeFolder(folder, 0o700);
  const timestamp = new Date(now).toISOString().replace(/[:.]/g, "-");
  // The hash distinguishes files with the same name, and changes within a millisecond.
  const hash = createHash("sha256").update(path).update(bytes).digest("hex").slice(0, 8);
  const backupPath = join(folder, `${timestamp}-${hash}-${basename(path).slice(-100)}`);
  await writeFileAtomic(backupPath, bytes, { mode: 0o600 });
  const backupNames = (await readdir(folder)).sort();
  for (const name of backupNames.slice(0, Math.max(0, backupNames.length - maxBackups)))
    await rm(join(folder, name), { force: true });
  return backupPath;
}

/** A description of a change of a file, for the user who is asked. */
export async function previewOf({ root }: ToolContext, name: string, content: string): Promise<string> {
  const oldBytes = await readBytes(root, name).catch(() => undefined);
  const oldText = oldBytes === undefined || "code" in oldBytes ? undefined : oldBytes.toString("utf8");
  return `${oldText === undefined ? "New file" : "Change"} ${name}\n${changedLines(oldText ?? "", content)}`;
}

export const fileWrite: AssistantTool<WriteArguments> = {
  name: "file_write",
  description: "Write a whole file. The content before is kept as a backup unless create_backup is false.",
  effects: ["writes"],
  parameters: parametersOf(
    { file_path: { type: "string" }, content: { type: "string" }, create_backup: { type: "boolean" } },
    ["file_path", "content"],
  ),
  preview: async ({ file_path: name, content }, context) => await previewOf(context, name, content),
  run: async ({ file_path: name, content, create_backup: shouldBackUp = true }, context) =>
    await runOnFile(name, async () => await replaceFile(context, name, content, shouldBackUp)),
};

type AppendArguments = Omit<WriteArguments, "create_backup">;

export const fileAppend: AssistantTool<AppendArguments> = {
  name: "file_append",
  description: "Add text at the end of a file that exists.",
  effects: ["writes"],
  parameters: parametersOf({ file_path: { type: "string" }, content: { type: "string" } }, ["file_path", "content"]),
  preview: async ({ file_path: name, content }) => `Add to ${name}\n${changedLines("", content)}`,
  run: async ({ file_path: name, content }, { root }) =>
    await runOnFile(name, async () => {
      const location = await locateFile(root, name);
      if ("code" in location) return location;
      if (!location.exists) return fileFailure("NOT_FOUND", `There is no file ${name}; file_write makes one.`);
      const stats = await stat(location.path);
      if (!stats.isFile()) return fileFailure("INVALID_PATH", `${name} is not a regular file.`);
      const size = stats.size + Buffer.byteLength(content);
      if (size > maxFileBytes) return tooLargeFailure(name, size);
      await appendFile(location.path, content);
      return { success: true, path: location.path, bytes_written: Buffer.byteLength(content), size_bytes: size };
    }),
};

/**
 * The changes of a text: removed lines (`-`) and added lines (`+`), without equal lines at the beginning and the end.
 * It shows every change, because the user must see what they allow.
 */
function changedLines(before: string, after: string): string {
  const [oldLines, newLines] = [linesOf(before), linesOf(after)];
  if (before !== after && oldLines.join("\n") === newLines.join("\n")) return "  the line break at the end";
  let firstDifference = 0;
  while (
    firstDifference < oldLines.length &&
    firstDifference < newLines.length &&
    oldLines[firstDifference] === newLines[firstDifference]
  )
    firstDifference += 1;
  let equalAtEnd = 0;
  while (
    equalAtEnd < oldLines.length - firstDifference &&
    equalAtEnd < newLines.length - firstDifference &&
    oldLines.at(-1 - equalAtEnd) === newLines.at(-1 - equalAtEnd)
  )
    equalAtEnd += 1;
  const removedLines = oldLines.slice(firstDifference, oldLines.length - equalAtEnd).map((line) => `- ${line}`);
  const addedLines = newLines.slice(firstDifference, newLines.length - equalAtEnd).map((line) => `+ ${line}`);
  const locationLine = firstDifference === 0 ? [] : [`  line ${firstDifference + 1}:`];
  return [...locationLine, ...removedLines, ...addedLines].join("\n");
}

/** The lines of a text. A line break at the end does not begin another line. */
const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
