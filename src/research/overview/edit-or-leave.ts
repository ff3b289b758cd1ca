import { ExpectedError } from "../../engine/lib/errors.js";
import { lockFile } from "../../engine/lib/layout.js";
import { isHeldByRun } from "../../engine/storage/lock.js";
import { requireKnownFormats } from "../../engine/storage/state/format-version.js";
import { writeMessage, removeMessage } from "../../engine/storage/state/steering-inbox.js";
import { editResearch } from "../project-files/edit-by-command.js";
import { openResearch, type ResearchOptions } from "../project-files/research.js";
import { researchFormat } from "../project-files/rrd-file.js";
import { signState } from "../project-files/guarded/signed-state.js";
import type { Rrd } from "../generated/rrd.js";
import { derive } from "../workflow/derive.js";
import { reopenReadable } from "../workflow/steering/readable-again.js";

export interface LeaveOptions extends Pick<ResearchOptions, "git" | "notify"> {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The folder with the key that signs the user's messages. */
  readonly stateDir: string;
}

/**
 * Applies a command of the user to the state. While a run holds the project, the messages with the same content are
 * left for the run, which applies them before its next iteration; then the result is undefined. Several commands at the
 * same time wait for each other. `change` is pure; `onWritten` is called when the change is in the state.
 * @throws ExpectedError if rrd.json is invalid, the project has a later version, or the disk refuses.
 */
export async function editOrLeave(
  folder: string,
  change: (rrd: Rrd) => Rrd,
  messages: readonly Parameters<typeof writeMessage>[1][],
  { stateDir, now, git, notify }: LeaveOptions,
  onWritten: () => Promise<unknown> = async () => undefined,
): Promise<Rrd | undefined> {
  const edit = async (): Promise<Rrd> => {
    const { rrd } = await editResearch(folder, change, { derive, git, notify });
    await signState(folder, stateDir);
    await onWritten();
    return rrd;
  };
  const isRunning = () => isHeldByRun(lockFile(folder));
  if (!(await isRunning()))
    try {
      return await edit();
    } catch (error) {
      // A run may have started in the meantime.
      if (!(error instanceof ExpectedError) || !(await isRunning())) throw error;
    }
  await requireKnownFormats(folder, researchFormat);
  const messageIds: string[] = [];
  for (const message of messages) messageIds.push(await writeMessage(folder, message, now, stateDir));
  // A run that has just ended takes no more messages.
  if (await isRunning()) return undefined;
  const rrd = await edit();
  for (const id of messageIds) await removeMessage(folder, id);
  return rrd;
}

/**
 * Makes papers pending again that can now be read, of a project that no run holds (`reopenReadable`). Returns the state
 * after it.
 */
export async function reopenByCommand(folder: string, { stateDir, now, git, notify }: LeaveOptions): Promise<Rrd> {
  const research = await openResearch(folder, { derive, git, notify, isShortCommand: true });
  try {
    const { rrd } = await research.load();
    if (!(await reopenReadable(research, rrd, { now: () => now, tell: async () => undefined }))) return rrd;
    await signState(folder, stateDir);
    return (await research.load()).rrd;
  } finally {
    await research.close();
  }
}
