import { constants, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { listed } from "../../engine/storage/guard/guard.js";
import type { AgentRun, Tell, Unit } from "../../engine/loop/types.js";
import type { Made, MadeFile, Remade } from "../../engine/points/points.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { readTextSync } from "../../engine/storage/regular-file.js";
import type { Snapshots } from "./snapshots.js";

/** What is needed to let plugins transform what an agent has made of a folder. */
export interface Remaking {
  readonly workspace: string;
  readonly snapshots: Pick<Snapshots, "tree" | "changes"> | undefined;
  /** Absent: nobody wants to. */
  readonly remake?: (made: Made) => Promise<Remade>;
}

/** Bytes of one file, and characters and number of all that are given at once. */
const [maxFile, maxAll, maxFiles] = [256_000, 1_000_000, 200];

/** What is said of a change: by whom it was made, and for what. */
export const aboutOf = (
  { id, phase, title }: Unit,
  { iteration }: Pick<AgentRun, "iteration">,
): Pick<Made, "iteration" | "unit" | "phase" | "title"> => ({ iteration, unit: id, phase, title });

/**
 * Lets plugins transform the text files that differ from `before`, a commit or tree, and writes what they made of them
 * in their place. Nothing happens outside of a repository, where nobody knows what was changed.
 */
export async function remakeFiles(
  { workspace, snapshots, remake }: Remaking,
  before: string | undefined,
  about: Pick<Made, "iteration" | "unit" | "phase" | "title">,
  tell: Tell,
): Promise<void> {
  if (remake === undefined || snapshots === undefined || before === undefined) return;
  const after = await snapshots.tree();
  if (after === undefined) return;
  const changes = await snapshots.changes(before, after);
  const files = textsOf(
    workspace,
    changes.flatMap(({ path, kind }) => (kind === "removed" ? [] : [path])),
  );
  if (files.length === 0) return;
  const { files: remade, told } = await remake({ ...about, files });
  for (const each of told) await tell(each);
  const written: string[] = [];
  for (const { path, text } of remade) if (await isWritten(workspace, path, text)) written.push(path);
  if (written.length === 0) return;
  const message = `A plugin has transformed ${listed(written)}, which the agent had changed.`;
  await tell({ type: "notice", level: "info", message });
}

/** The texts of the first of these files that are texts; a link is left out. */
function textsOf(workspace: string, paths: readonly string[]): MadeFile[] {
  const files: MadeFile[] = [];
  let all = 0;
  for (const path of paths) {
    const text = isInside(workspace, path)
      ? readTextSync(join(workspace, path), maxFile, constants.O_NOFOLLOW)
      : undefined;
    // What is in another encoding would not come back as it was.
    if (text === undefined || /[\0\uFFFD]/.test(text) || all + text.length > maxAll) continue;
    all += text.length;
    files.push({ path, text });
    if (files.length === maxFiles) break;
  }
  return files;
}

/** Whether the folder of a file is one of the workspace's own: an agent may have made a link of it. */
function isInside(workspace: string, path: string): boolean {
  try {
    return realpathSync(join(workspace, dirname(path))) === join(realpathSync(workspace), dirname(path));
  } catch {
    return false;
  }
}

/** Where it can't be written, the agent's own text stays. */
async function isWritten(workspace: string, path: string, text: string): Promise<boolean> {
  try {
    if (!isInside(workspace, path)) return false;
    await writeFileAtomic(join(workspace, path), text);
    return true;
  } catch (error) {
    if (error instanceof ExpectedError) return false;
    throw error;
  }
}
