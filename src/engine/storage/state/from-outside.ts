import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ExpectedError } from "../../lib/errors.js";
import { lockFile, pauseName, stopName } from "../../lib/layout.js";
import type { Steering } from "../../generated/memory.js";
import { writeFileAtomic } from "../atomic-file.js";
import { isHeldByRun } from "../lock.js";
import { requireKnownFormats } from "./format-version.js";
import { writeMessage, maxMessageChars, readMessages } from "./steering-inbox.js";

/** The name of a file that stops work from running. */
export type Hold = typeof pauseName | typeof stopName;

/** A piece of work that a person controls from another process, whether or not it is running. */
export interface SteeredWork {
  readonly folder: string;
  /** The folder as the person typed it. */
  readonly typedFolder: string;
  readonly formats: Parameters<typeof requireKnownFormats>[1] & { readonly noun: string };
  /** Whether a run would start no more agents; also false if the state can't be read. */
  isFinished(): Promise<boolean>;
  /** The command that continues it. */
  readonly continueCommand: string;
  /** How a person adds work after it is finished, as the end of a sentence with "unless you". */
  readonly howToAddWork: string;
}

/** The noun phrase for the work, such as "this task" for the current folder. `isStart`: it starts the sentence. */
function nameInSentence({ typedFolder, formats: { noun } }: SteeredWork, isStart = false): string {
  if (typedFolder !== ".") return typedFolder;
  return `${isStart ? "T" : "t"}his ${noun}`;
}

/** The command that continues the work, and the command that removes PAUSE or STOP. */
export const commandsOf = ({
  typedFolder,
  continueCommand,
}: SteeredWork): { readonly continueCommand: string; readonly resumeCommand: string } => ({
  continueCommand,
  resumeCommand: `research-ralph stop --undo${typedFolder === "." ? "" : ` ${typedFolder}`}`,
});

/** Whether the work is running, and a sentence about what the command did. */
export interface WorkStatus {
  /** Whether a run is under way. */
  readonly running: boolean;
  readonly says: string;
}

/**
 * Ends the run before its next iteration and prevents new runs until `resume`. With PAUSE the run ends as blocked, with
 * STOP as after Ctrl+C.
 * @throws ExpectedError (exit code 5) for work of a later version; for a disk error.
 */
export async function hold(work: SteeredWork, name: Hold): Promise<WorkStatus & { readonly file: string }> {
  const { folder } = work;
  await requireKnownFormats(folder, work.formats);
  const file = join(folder, name);
  if (!existsSync(file)) await writeFileAtomic(file, "");
  const running = await isHeldByRun(lockFile(folder));
  const condition = `until you run ${commandsOf(work).resumeCommand}`;
  const sentence = running
    ? `The run of ${nameInSentence(work)} ends before its next iteration; no run can start ${condition}.`
    : (await work.isFinished())
      ? `${nameInSentence(work, true)} is finished, so a run would start no agent; no run can start ${condition}.`
      : `${nameInSentence(work, true)} is not running; no run can start ${condition}.`;
  return { file, running, says: sentence };
}

/**
 * Lets paused or stopped work run again. Returns the names of the files that were removed.
 * @throws ExpectedError as `hold`.
 */
export async function resume(work: SteeredWork): Promise<WorkStatus & { readonly lifted: readonly Hold[] }> {
  const { folder } = work;
  await requireKnownFormats(folder, work.formats);
  const removedFiles = ([pauseName, stopName] as const).filter((name) => existsSync(join(folder, name)));
  for (const name of removedFiles) await rm(join(folder, name), { force: true });
  const running = await isHeldByRun(lockFile(folder));
  const sentence =
    removedFiles.length === 0
      ? `${nameInSentence(work, true)} was neither paused nor stopped.`
      : (await work.isFinished())
        ? `${nameInSentence(work, true)} can run again; it is finished.`
        : `${nameInSentence(work, true)} can run again: ${work.continueCommand}`;
  return { running, says: sentence, lifted: removedFiles };
}

/** The instructions of a person for the agents. */
export interface InstructionChange {
  readonly text?: string;
  /** Removes all earlier instructions first. */
  readonly clear?: boolean;
}

/** The trimmed text of the instructions. @throws ExpectedError (exit code 2) if it is empty or too long. */
export function instructionsOf({ text }: Pick<InstructionChange, "text">): string {
  const instructions = text?.trim() ?? "";
  if (text !== undefined && instructions === "")
    throw new ExpectedError("The text is empty; give it in quotes, or use --clear.", 2);
  if (instructions.length > maxMessageChars)
    throw new ExpectedError(
      `The text has ${instructions.length} characters; at most ${maxMessageChars} are allowed, because every brief includes it.`,
      2,
    );
  return instructions;
}

/**
 * Gives instructions to the agents, also during a run of another process: every brief from the next one on includes
 * them until they are cleared. `now`: milliseconds since the epoch; `stateDir`: the folder with the signing key.
 * Returns one sentence that says from when on they are in force.
 * @throws ExpectedError for an empty or too long text, for work of a later version, for a disk error.
 */
export async function steer(
  work: SteeredWork,
  change: InstructionChange,
  { now, stateDir }: { readonly now: number; readonly stateDir: string },
): Promise<string> {
  const { folder } = work;
  const instructions = instructionsOf(change);
  await requireKnownFormats(folder, work.formats);
  if (change.clear === true) await writeMessage(folder, { clear: true }, now, stateDir);
  if (instructions !== "") await writeMessage(folder, { text: instructions }, now, stateDir);
  if (await work.isFinished())
    return `${nameInSentence(work, true)} is finished: no agent reads it unless you ${work.howToAddWork}.`;
  const effect = instructions === "" ? "Earlier instructions are removed" : "Every brief includes it";
  const running = await isHeldByRun(lockFile(folder));
  return `${effect} from the next iteration of ${nameInSentence(work)} on${running ? "" : "; it is not running now"}.`;
}

/** The instructions for the next brief, including unread messages. `readInstructions`: those in the state. */
export async function currentInstructions(folder: string, readInstructions: readonly Steering[]): Promise<string[]> {
  let instructions = readInstructions.map(({ text }) => text);
  for (const message of await readMessages(folder))
    if ("clear" in message) instructions = [];
    else if ("text" in message) instructions = [...instructions, message.text];
  return instructions;
}
