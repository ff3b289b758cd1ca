import { existsSync } from "node:fs";
import { join } from "node:path";
import { ExpectedError } from "../../../engine/lib/errors.js";
import { lockFile } from "../../../engine/lib/layout.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { isHeld } from "../../../engine/storage/lock.js";
import { signState } from "../../project-files/guarded/signed-state.js";
import { pageName } from "../../project-files/layout.js";
import { renderProject, type RenderOptions } from "./render-project.js";

export interface ShowOptions extends RenderOptions {
  /** The folder with the key that signs the state. */
  readonly stateDir: string;
}

/** Renders the report again if there is one and no run works on the project. Uses no model and no network. */
export async function updateReport(folder: string, { stateDir, ...options }: ShowOptions): Promise<void> {
  if (!existsSync(join(folder, pageName)) || (await isHeld(lockFile(folder)))) return;
  try {
    await renderProject(folder, options);
    await signState(folder, stateDir);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    // If a run has started in the meantime, it renders the report itself.
    if (!(await isHeld(lockFile(folder)))) options.notify(`The report does not show it yet: ${oneLine(error.message)}`);
  }
}
