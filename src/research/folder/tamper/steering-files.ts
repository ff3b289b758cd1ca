import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { inboxFolder, pauseName, stopName } from "../../../engine/lib/layout.js";
import type { Version } from "../../../engine/storage/file-snapshot.js";
import { isOurMessage } from "../../../engine/storage/records/steering-inbox.js";
import { restored, type Undo, versionsIn } from "./stored-data.js";

/**
 * Remembers what a person has told the project. A message that appeared meanwhile counts where one of our commands
 * signed it; any other is set aside, and those that were there before come back. PAUSE and STOP do no harm, so they are
 * obeyed, and told. Messages must not be taken out of the inbox while the agent runs.
 */
export async function guardSteering(folder: string, aside: string, stateDir: string): Promise<Undo> {
  const before = await versionsIn([inboxFolder(folder)]);
  const signals = [pauseName, stopName].filter((name) => !existsSync(join(folder, name)));

  return async (agent) => {
    const now = await versionsIn([inboxFolder(folder)]);
    for (const [path, version] of now)
      if (!before.has(path) && (await isSignedFile(folder, path, version, stateDir))) now.delete(path);
    const changed = await restored(before, now, aside);
    const planted = changed.filter((path) => !before.has(path)).length;
    const lost = changed.length - planted;
    return [
      ...(planted > 0
        ? [
            `${count(planted, "message")} appeared in .ralph/inbox while ${agent} ran, which nothing confines, without the signature of 'research-ralph steer'; set aside in ${aside}, so no agent hears of it. Say it again if it was yours.`,
          ]
        : []),
      ...(lost > 0 ? [`${agent} deleted or changed ${count(lost, "message")} that you had left; they are back.`] : []),
      ...signals
        .filter((name) => existsSync(join(folder, name)))
        .map(
          (name) =>
            `${name} appeared while ${agent} ran, which nothing confines; it is obeyed, and research-ralph resume lifts it if it was not yours.`,
        ),
    ];
  };
}

const isSignedFile = async (folder: string, path: string, version: Version, stateDir: string): Promise<boolean> =>
  version.kind === "file" && isOurMessage(folder, basename(path), version.bytes.toString("utf8"), stateDir);

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;
