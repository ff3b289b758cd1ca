import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ExpectedError } from "../../lib/errors.js";
import { lockFile, pauseName, stopName } from "../../lib/layout.js";
import type { Steering } from "../../generated/memory.js";
import { writeFileAtomic } from "../atomic-file.js";
import { isHeldByRun } from "../lock.js";
import { requireKnownFormats } from "./format-version.js";
import { leaveMessage, maxMessage, readMessages } from "./steering-inbox.js";

/** What keeps work from running. */
export type Hold = typeof pauseName | typeof stopName;

/** A piece of work that a person leads from outside, while it runs in another process or not at all. */
export interface SteeredWork {
  readonly folder: string;
  /** As the person knows it. */
  readonly where: string;
  readonly formats: Parameters<typeof requireKnownFormats>[1] & { readonly noun: string };
  /** Whether no agent would be started any more; false too where that can't be read. */
  finished(): Promise<boolean>;
  /** The command that goes on with it. */
  readonly goOn: string;
  /** The command that gives it more to do once it is finished. */
  readonly more: string;
}

/** The work as a sentence names it: the current folder's as "this task", say. `begins`: the sentence begins with it. */
function named({ where, formats: { noun } }: SteeredWork, begins = false): string {
  if (where !== ".") return where;
  return `${begins ? "T" : "t"}his ${noun}`;
}

/** The commands that go on with it and that let it run again. */
export const commandsOf = ({ where, goOn }: SteeredWork): { readonly goOn: string; readonly resume: string } => ({
  goOn,
  resume: `research-ralph resume${where === "." ? "" : ` ${where}`}`,
});

/** What became of a wish, and the sentence that says it. */
export interface Held {
  /** Whether a run is under way. */
  readonly running: boolean;
  readonly says: string;
}

/**
 * Ends the run before its next iteration, with PAUSE as blocked and with STOP as Ctrl+C would, and keeps others from
 * starting until it is resumed.
 * @throws ExpectedError (exit code 5) for work of a later version, and for a disk that refuses.
 */
export async function hold(work: SteeredWork, name: Hold): Promise<Held & { readonly file: string }> {
  const { folder } = work;
  await requireKnownFormats(folder, work.formats);
  const file = join(folder, name);
  if (!existsSync(file)) await writeFileAtomic(file, "");
  const running = await isHeldByRun(lockFile(folder));
  const until = `until you run ${commandsOf(work).resume}`;
  const says = running
    ? `The run of ${named(work)} ends before its next iteration; no run can start ${until}.`
    : (await work.finished())
      ? `${named(work, true)} is finished, so a run would start no agent; no run can start ${until}.`
      : `${named(work, true)} is not running; no run can start ${until}.`;
  return { file, running, says };
}

/**
 * Lets work that was paused or stopped run again; answers with what kept it.
 * @throws ExpectedError as `hold` does.
 */
export async function resume(work: SteeredWork): Promise<Held & { readonly lifted: readonly Hold[] }> {
  const { folder } = work;
  await requireKnownFormats(folder, work.formats);
  const lifted = ([pauseName, stopName] as const).filter((name) => existsSync(join(folder, name)));
  for (const name of lifted) await rm(join(folder, name), { force: true });
  const running = await isHeldByRun(lockFile(folder));
  const says =
    lifted.length === 0
      ? `${named(work, true)} was neither paused nor stopped.`
      : (await work.finished())
        ? `${named(work, true)} can run again; it is finished.`
        : `${named(work, true)} can run again: ${work.goOn}`;
  return { running, says, lifted };
}

/** What a person tells the agents. */
export interface Wish {
  readonly text?: string | undefined;
  /** All that was said before is taken back first. */
  readonly clear?: boolean;
}

/** The words without space around them. @throws ExpectedError (exit code 2) for none and for too many. */
export function wordsOf({ text }: Pick<Wish, "text">): string {
  const words = text?.trim() ?? "";
  if (text !== undefined && words === "")
    throw new ExpectedError("The text is empty; give it in quotes, or use --clear.", 2);
  if (words.length > maxMessage)
    throw new ExpectedError(
      `The text has ${words.length} characters; at most ${maxMessage} are allowed, because every brief includes it.`,
      2,
    );
  return words;
}

/**
 * Tells the agents something, also during a run elsewhere: every brief from the next one on includes it until it is
 * cleared. `now`: milliseconds; `stateDir`: where the key lies that signs it. Answers with one sentence: from when on
 * it is heard.
 * @throws ExpectedError for no or too many words, for work of a later version, for a disk that refuses.
 */
export async function steer(
  work: SteeredWork,
  wish: Wish,
  { now, stateDir }: { readonly now: number; readonly stateDir: string },
): Promise<string> {
  const { folder } = work;
  const words = wordsOf(wish);
  await requireKnownFormats(folder, work.formats);
  if (wish.clear === true) await leaveMessage(folder, { clear: true }, now, stateDir);
  if (words !== "") await leaveMessage(folder, { text: words }, now, stateDir);
  if (await work.finished()) return `${named(work, true)} is finished: no agent reads it unless you ${work.more}.`;
  const what = words === "" ? "Earlier instructions are removed" : "Every brief includes it";
  const running = await isHeldByRun(lockFile(folder));
  return `${what} from the next iteration of ${named(work)} on${running ? "" : "; it is not running now"}.`;
}

/** What stands in the next brief, messages that wait to be heard included. `heard`: what the state holds already. */
export async function wordsInForce(folder: string, heard: readonly Steering[]): Promise<string[]> {
  let words = heard.map(({ text }) => text);
  for (const message of await readMessages(folder))
    if ("clear" in message) words = [];
    else if ("text" in message) words = [...words, message.text];
  return words;
}
