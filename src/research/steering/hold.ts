import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pauseName, stopName } from "../../engine/lib/layout.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { requireKnownFormats } from "../../engine/storage/records/format-version.js";
import { researchFormat } from "../folder/rrd-file.js";
import { workStateOf } from "../overview/work-state.js";

/** What keeps a project from running. */
export type Hold = typeof pauseName | typeof stopName;

/** What became of a wish, and the sentence that says it. */
export interface Held {
  /** Whether a run is under way. */
  readonly running: boolean;
  readonly says: string;
}

/**
 * Ends the run of a project before its next iteration, with PAUSE as blocked and with STOP as Ctrl+C would, and keeps
 * others from starting until it is resumed. `where`: the project as the person knows it.
 * @throws ExpectedError (exit code 5) for a project of a later version, and for a disk that refuses.
 */
export async function hold(folder: string, name: Hold, where: string): Promise<Held & { readonly file: string }> {
  await requireKnownFormats(folder, researchFormat);
  const file = join(folder, name);
  if (!existsSync(file)) await writeFileAtomic(file, "");
  const { running, finished } = await workStateOf(folder);
  const until = `until research-ralph resume ${where}`;
  const says = running
    ? `The run of ${where} ends before its next iteration; no run can start ${until}.`
    : finished
      ? `${where} is finished, so a run would start no agent; no run can start ${until}.`
      : `${where} is not running; no run can start ${until}.`;
  return { file, running, says };
}

/**
 * Lets a project that was paused or stopped run again; answers with what kept it.
 * @throws ExpectedError as `hold` does.
 */
export async function resume(folder: string, where: string): Promise<Held & { readonly lifted: readonly Hold[] }> {
  await requireKnownFormats(folder, researchFormat);
  const lifted = ([pauseName, stopName] as const).filter((name) => existsSync(join(folder, name)));
  for (const name of lifted) await rm(join(folder, name), { force: true });
  const { running, finished } = await workStateOf(folder);
  const says =
    lifted.length === 0
      ? `${where} was neither paused nor stopped.`
      : finished
        ? `${where} can run again; it is finished.`
        : `${where} can run again: research-ralph run ${where}`;
  return { running, says, lifted };
}
