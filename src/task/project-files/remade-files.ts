import { constants, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { joinedNames } from "../../engine/lib/words.js";
import type { AgentRun, Tell, Unit } from "../../engine/loop/types.js";
import type { AgentOutput, MadeFile, OutputChanges } from "../../engine/points/points.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { readTextSync } from "../../engine/storage/regular-file.js";
import type { Snapshots } from "./snapshots.js";

/** The folder in which plugins transform the files that an agent changed, and the functions for that. */
export interface FileTransformation {
  readonly workspace: string;
  readonly snapshots: Pick<Snapshots, "tree" | "changes"> | undefined;
  /** Absent if no plugin transforms files. */
  readonly changeOutput?: (made: AgentOutput) => Promise<OutputChanges>;
}

/** Limits of one call: bytes of a file, characters of all files, number of files. */
const [maxFileBytes, maxTotalChars, maxFiles] = [256_000, 1_000_000, 200];

/** The facts about a change that plugins get: the iteration and the unit. */
export const changeInfo = (
  { id, phase, title }: Unit,
  { iteration }: Pick<AgentRun, "iteration">,
): Pick<AgentOutput, "iteration" | "unit" | "phase" | "title"> => ({ iteration, unit: id, phase, title });

/**
 * Lets plugins transform the text files that differ from `before`, a commit or tree, and writes the new texts. Outside
 * a repository the changed files are not known, so nothing happens.
 */
export async function transformFiles(
  { workspace, snapshots, changeOutput }: FileTransformation,
  before: string | undefined,
  info: Pick<AgentOutput, "iteration" | "unit" | "phase" | "title">,
  tell: Tell,
): Promise<void> {
  if (changeOutput === undefined || snapshots === undefined || before === undefined) return;
  const after = await snapshots.tree();
  if (after === undefined) return;
  const changes = await snapshots.changes(before, after);
  const files = textFilesOf(
    workspace,
    changes.flatMap(({ path, kind }) => (kind === "removed" ? [] : [path])),
  );
  if (files.length === 0) return;
  const { files: newFiles, notices } = await changeOutput({ ...info, files });
  for (const notice of notices) await tell(notice);
  const writtenPaths: string[] = [];
  for (const { path, text } of newFiles) if (await writeIfInside(workspace, path, text)) writtenPaths.push(path);
  if (writtenPaths.length === 0) return;
  const message = `A plugin has transformed ${joinedNames(writtenPaths)}, which the agent had changed.`;
  await tell({ type: "notice", level: "info", message });
}

/** The text files among these paths, within the limits; links are skipped. */
function textFilesOf(workspace: string, paths: readonly string[]): MadeFile[] {
  const files: MadeFile[] = [];
  let totalChars = 0;
  for (const path of paths) {
    const text = isInside(workspace, path)
      ? readTextSync(join(workspace, path), maxFileBytes, constants.O_NOFOLLOW)
      : undefined;
    // A file in another encoding could not be written back unchanged.
    if (text === undefined || /[\0\uFFFD]/.test(text) || totalChars + text.length > maxTotalChars) continue;
    totalChars += text.length;
    files.push({ path, text });
    if (files.length === maxFiles) break;
  }
  return files;
}

/** Whether the folder of a file lies within the workspace: an agent may have replaced it by a link. */
function isInside(workspace: string, path: string): boolean {
  try {
    return realpathSync(join(workspace, dirname(path))) === join(realpathSync(workspace), dirname(path));
  } catch {
    return false;
  }
}

/** Writes a file. Returns false if that fails; then the agent's text stays. */
async function writeIfInside(workspace: string, path: string, text: string): Promise<boolean> {
  try {
    if (!isInside(workspace, path)) return false;
    await writeFileAtomic(join(workspace, path), text);
    return true;
  } catch (error) {
    if (error instanceof ExpectedError) return false;
    throw error;
  }
}
