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
  /** Where the key lies that signs the state. */
  readonly stateDir: string;
}

/** Renders the report again if there is one and no run is at work on the project: no model and no network. */
export async function showInReport(folder: string, { stateDir, ...options }: ShowOptions): Promise<void> {
  if (!existsSync(join(folder, pageName)) || (await isHeld(lockFile(folder)))) return;
  try {
    await renderProject(folder, options);
    await signState(folder, stateDir);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    // A run may have begun since, which renders it itself.
    if (!(await isHeld(lockFile(folder)))) options.notify(`The report does not show it yet: ${oneLine(error.message)}`);
  }
}
