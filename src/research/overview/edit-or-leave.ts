import { ExpectedError } from "../../engine/lib/errors.js";
import { lockFile } from "../../engine/lib/layout.js";
import { isHeldByRun } from "../../engine/storage/lock.js";
import { requireKnownFormats } from "../../engine/storage/state/format-version.js";
import { leaveMessage, removeMessage } from "../../engine/storage/state/steering-inbox.js";
import { editResearch } from "../project-files/edit-by-command.js";
import type { ResearchOptions } from "../project-files/research.js";
import { researchFormat } from "../project-files/rrd-file.js";
import { signState } from "../project-files/guarded/signed-state.js";
import type { Rrd } from "../generated/rrd.js";
import { derive } from "../workflow/derive.js";

export interface LeaveOptions extends Pick<ResearchOptions, "git" | "notify"> {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Where the key lies that signs what a person says. */
  readonly stateDir: string;
}

/**
 * The state with what a command of a person changes in it. Undefined while a run holds the project: the messages are
 * then left for it, which say the same, and it takes them before its next iteration. Several commands at the same
 * moment wait for each other. `change` is pure; `written` is called once it is in the state.
 * @throws ExpectedError for an invalid rrd.json, a project of a later version, and a disk that refuses.
 */
export async function editOrLeave(
  folder: string,
  change: (rrd: Rrd) => Rrd,
  messages: readonly Parameters<typeof leaveMessage>[1][],
  { stateDir, now, git, notify }: LeaveOptions,
  written: () => Promise<unknown> = async () => undefined,
): Promise<Rrd | undefined> {
  const edit = async (): Promise<Rrd> => {
    const { rrd } = await editResearch(folder, change, { derive, git, notify });
    await signState(folder, stateDir);
    await written();
    return rrd;
  };
  const isRunning = () => isHeldByRun(lockFile(folder));
  if (!(await isRunning()))
    try {
      return await edit();
    } catch (error) {
      // A run may have begun since.
      if (!(error instanceof ExpectedError) || !(await isRunning())) throw error;
    }
  await requireKnownFormats(folder, researchFormat);
  const left: string[] = [];
  for (const message of messages) left.push(await leaveMessage(folder, message, now, stateDir));
  // One that ended in this moment takes nothing any more.
  if (await isRunning()) return undefined;
  const rrd = await edit();
  for (const id of left) await removeMessage(folder, id);
  return rrd;
}
