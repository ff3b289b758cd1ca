import { createHash } from "node:crypto";
import { appendFile, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import { makeFolder } from "../../../engine/storage/regular-file.js";
import { takes, type ToolFailure, type ToolResult } from "../../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "../context.js";
import { changedLines } from "./changes.js";
import { fileFailure, locateFile } from "./paths.js";
import { readBytes, maxFileBytes, onFile } from "./read.js";

interface WriteArguments {
  readonly file_path: string;
  readonly content: string;
  readonly create_backup?: boolean;
}

const tooLarge = (named: string, bytes: number): ToolFailure =>
  fileFailure("TOO_LARGE", `${named} would have ${bytes} bytes; files of up to ${maxFileBytes} bytes are written.`);

/**
 * Replaces a file's content in one step, or makes it, with the folders above it. What was there is kept elsewhere
 * unless `isKept` is false.
 */
export async function replaceFile(
  { root, backups }: ToolContext,
  named: string,
  content: string,
  isKept: boolean,
): Promise<ToolResult> {
  const found = await locateFile(root, named);
  if ("code" in found) return found;
  const size = Buffer.byteLength(content);
  if (size > maxFileBytes) return tooLarge(named, size);
  const old = found.exists ? await readBytes(root, named) : undefined;
  if (old !== undefined && "code" in old) return old;
  const backup =
    old === undefined || !isKept || backups === undefined
      ? undefined
      : await keepBackup(backups, found.path, old, Date.now());
  makeFolder(dirname(found.path));
  await writeFileAtomic(found.path, content);
  return { success: true, path: found.path, bytes_written: size, created: old === undefined, backup };
}

/** Most files that are kept as they were. */
const maxKept = 200;

/**
 * Keeps a file as it was before a tool changed it, in a folder of the user's own: a copy next to the file would get
 * into commits. Answers with its path.
 */
async function keepBackup(folder: string, path: string, bytes: Buffer, now: number): Promise<string> {
  makeFolder(folder, 0o700);
  const at = new Date(now).toISOString().replace(/[:.]/g, "-");
  // Two files of one name, or one that is changed twice in a millisecond.
  const mark = createHash("sha256").update(path).update(bytes).digest("hex").slice(0, 8);
  const kept = join(folder, `${at}-${mark}-${basename(path).slice(-100)}`);
  await writeFileAtomic(kept, bytes, { mode: 0o600 });
  const all = (await readdir(folder)).sort();
  for (const name of all.slice(0, Math.max(0, all.length - maxKept))) await rm(join(folder, name), { force: true });
  return kept;
}

/** What a change of a file is, for the person who is asked. */
export async function previewOf({ root }: ToolContext, named: string, content: string): Promise<string> {
  const old = await readBytes(root, named).catch(() => undefined);
  const before = old === undefined || "code" in old ? undefined : old.toString("utf8");
  return `${before === undefined ? "New file" : "Change"} ${named}\n${changedLines(before ?? "", content)}`;
}

export const fileWrite: AssistantTool<WriteArguments> = {
  name: "file_write",
  description: "Write a whole file. The content before is kept as a backup unless create_backup is false.",
  does: ["writes"],
  parameters: takes(
    { file_path: { type: "string" }, content: { type: "string" }, create_backup: { type: "boolean" } },
    ["file_path", "content"],
  ),
  preview: async ({ file_path: named, content }, context) => await previewOf(context, named, content),
  run: async ({ file_path: named, content, create_backup: isKept = true }, context) =>
    await onFile(named, async () => await replaceFile(context, named, content, isKept)),
};

type AppendArguments = Omit<WriteArguments, "create_backup">;

export const fileAppend: AssistantTool<AppendArguments> = {
  name: "file_append",
  description: "Add text at the end of a file that exists.",
  does: ["writes"],
  parameters: takes({ file_path: { type: "string" }, content: { type: "string" } }, ["file_path", "content"]),
  preview: async ({ file_path: named, content }) => `Add to ${named}\n${changedLines("", content)}`,
  run: async ({ file_path: named, content }, { root }) =>
    await onFile(named, async () => {
      const found = await locateFile(root, named);
      if ("code" in found) return found;
      if (!found.exists) return fileFailure("NOT_FOUND", `There is no file ${named}; file_write makes one.`);
      const before = await stat(found.path);
      if (!before.isFile()) return fileFailure("INVALID_PATH", `${named} is not a regular file.`);
      const size = before.size + Buffer.byteLength(content);
      if (size > maxFileBytes) return tooLarge(named, size);
      await appendFile(found.path, content);
      return { success: true, path: found.path, bytes_written: Buffer.byteLength(content), size_bytes: size };
    }),
};
