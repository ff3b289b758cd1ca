import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { inboxFolder, pauseName, stopName } from "../../../engine/lib/layout.js";
import type { Version } from "../../../engine/storage/file-snapshot.js";
import { isOurMessage } from "../../../engine/storage/state/steering-inbox.js";
import { restored, type Undo, versionsIn } from "./stored-data.js";

/**
 * The same for a project next to it, of which the agent was told nothing. A run there takes messages out of the inbox,
 * so what is gone stays gone.
 */
export async function guardSteeringOf(other: string, aside: string, stateDir: string): Promise<Undo> {
  const before = await versionsIn([inboxFolder(other)]);
  const signals = signalsIn(other, false);
  return async (agent) => {
    const planted = await unsignedSince(other, before, stateDir);
    await restored(new Map(), planted, aside);
    return [
      ...(planted.size > 0 ? [plantedText(planted.size, inboxFolder(other), agent, aside)] : []),
      ...signalTexts(signalsIn(other, true, signals), `${other}: `, agent),
    ];
  };
}

/**
 * Remembers what a person has told the project. A message that appeared meanwhile counts where one of our commands
 * signed it; any other is set aside, and those that were there before come back. PAUSE and STOP do no harm, so they are
 * obeyed, and told. Messages must not be taken out of the inbox while the agent runs.
 */
export async function guardSteering(folder: string, aside: string, stateDir: string): Promise<Undo> {
  const before = await versionsIn([inboxFolder(folder)]);
  const signals = signalsIn(folder, false);

  return async (agent) => {
    const unsigned = await unsignedSince(folder, before, stateDir);
    const known = [...(await versionsIn([inboxFolder(folder)]))].filter(([path]) => before.has(path));
    const changed = await restored(before, new Map([...known, ...unsigned]), aside);
    const planted = changed.filter((path) => !before.has(path)).length;
    const lost = changed.length - planted;
    return [
      ...(planted > 0 ? [plantedText(planted, ".ralph/inbox", agent, aside)] : []),
      ...(lost > 0 ? [`${agent} deleted or changed ${count(lost, "message")} that you had left; they are back.`] : []),
      ...signalTexts(signalsIn(folder, true, signals), "", agent),
    ];
  };
}

/** Messages that none of our commands has signed and that were not there before. */
async function unsignedSince(
  folder: string,
  before: ReadonlyMap<string, Version>,
  stateDir: string,
): Promise<Map<string, Version>> {
  const now = await versionsIn([inboxFolder(folder)]);
  for (const [path, version] of now)
    if (before.has(path) || (await isSignedFile(folder, path, version, stateDir))) now.delete(path);
  return now;
}

/** Which of these files are there, or are not. */
const signalsIn = (folder: string, there: boolean, of: readonly string[] = [pauseName, stopName]): string[] =>
  of.filter((name) => existsSync(join(folder, name)) === there);

const plantedText = (messages: number, where: string, agent: string, aside: string): string =>
  `${count(messages, "message")} appeared in ${where} while ${agent} ran unconfined, without the signature of 'research-ralph steer'; moved to ${aside}, so no agent receives it. Send it again if it was yours.`;

const signalTexts = (signals: readonly string[], where: string, agent: string): string[] =>
  signals.map(
    (name) =>
      `${where}${name} appeared while ${agent} ran unconfined; it takes effect. If it was not yours, 'research-ralph resume' removes it.`,
  );

const isSignedFile = async (folder: string, path: string, version: Version, stateDir: string): Promise<boolean> =>
  version.kind === "file" && isOurMessage(folder, basename(path), version.bytes.toString("utf8"), stateDir);

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;
