import { join } from "node:path";
import { type Edit, realFile, waitingEdit } from "../../../engine/storage/guard/held-edits.js";
import { claudeName, lessonsName, progressFile, promptName } from "../layout.js";

/** The files next to the projects that instruct agents. */
export const instructionFiles = (root: string): string[] =>
  [lessonsName, claudeName, promptName].map((name) => join(root, name));

/** The edits that wait for a yes: of the files next to the projects, and of the project's log. */
export async function waitingEdits(folder: string, root: string, stateDir: string): Promise<Edit[]> {
  const files = [...instructionFiles(root), progressFile(folder)];
  const edits = await Promise.all([...new Set(files.map(realFile))].map((path) => waitingEdit(stateDir, path)));
  return edits.filter((edit) => edit !== undefined);
}
