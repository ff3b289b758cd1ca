import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ResolvedConfig } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { lockFile } from "../../engine/lib/layout.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { isHeld } from "../../engine/storage/lock.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import { pageName } from "../../research/project-files/layout.js";

/** Renders the report again if there is one and no run is at work on the project: no model and no network. */
export async function showInReport(
  folder: string,
  { git, stateDir }: Pick<ResolvedConfig, "git" | "stateDir">,
  io: Io,
): Promise<void> {
  if (!existsSync(join(folder, pageName)) || (await isHeld(lockFile(folder)))) return;
  const { renderProject } = await import("../../research/report/documents/render-project.js");
  try {
    await renderProject(folder, { git, now: io.clock.now, notify: (message) => say(io, message) });
    await signState(folder, stateDir);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    // A run may have begun since, which renders it itself.
    if (!(await isHeld(lockFile(folder)))) say(io, `The report does not show it yet: ${oneLine(error.message)}`);
  }
}
