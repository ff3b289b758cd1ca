import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Steering } from "../../generated/memory.js";
import { timeForName } from "../../lib/clock.js";
import type { Redact } from "../../lib/redact.js";
import type { Tell } from "../../loop/types.js";
import { makeFolder, readRegularText } from "../regular-file.js";
import { stampOf, writeFileAtomic } from "../atomic-file.js";
import { isSigned, signatureOf } from "../signature.js";
import { explaining } from "../explain-system-error.js";
import { isNewer, jsonFilesIn, stateVersion } from "./format-version.js";
import type { RecordStore } from "./record-store.js";
import { hiddenFolder, inboxFolder } from "../../lib/layout.js";
import { isObject } from "../../lib/json-fields.js";

/** Most characters of what a person says at once: every brief includes it. */
export const maxMessage = 1_000;

/** What a person decides on one record while a run holds the project. */
export interface DecisionMessage {
  /** Id of the record. */
  readonly record: string;
  readonly decision: "include" | "exclude";
  readonly why: string;
  /** Id of the rule that it was decided by, in the words of the project's wing. */
  readonly criterion?: string;
}

/** What was done for the project while a run held it, for the run to fold in; in the form of the project's wing. */
export interface BesideMessage {
  readonly beside: Readonly<Record<string, unknown>>;
}

/**
 * What a person tells a project from another terminal: words for its agents, that earlier words no longer stand, a
 * decision on a record; or what was done for them outside the run.
 */
type Message = { readonly text: string } | { readonly clear: true } | DecisionMessage | BesideMessage;

/** A message with the name of its file, which no other ever has. */
export type Received = Message & { readonly id: string };

/**
 * Leaves a message for anyone who works on the project, now or later; needs no lock. Messages are read in the order
 * they were left, also those of one millisecond and those of a clock that was set back. It is signed, so that it is
 * told from one that an agent planted. `now`: milliseconds since the epoch; `stateDir`: the folder of the program's
 * state. Answers with the id of the message.
 * @throws ExpectedError for a full disk or missing permission.
 */
export async function leaveMessage(folder: string, message: Message, now: number, stateDir: string): Promise<string> {
  const hidden = hiddenFolder(folder);
  explaining(hidden, () => makeFolder(inboxFolder(folder)));
  // The first run may be yet to come, and none of this is for the repository.
  if (stampOf(join(hidden, ".gitignore")) === undefined) await writeFileAtomic(join(hidden, ".gitignore"), "*\n");
  const at = Math.max(now, ...timesOfWaiting(folder).map((time) => time + 1));
  const id = `${timeForName(at)}-${randomBytes(4).toString("hex")}`;
  const signature = await signatureOf(stateDir, signedPart(folder, id, message));
  await writeFileAtomic(
    join(inboxFolder(folder), `${id}.json`),
    JSON.stringify({ ...message, format: stateVersion, signature }),
  );
  return id;
}

/** When the messages that wait were left, by their names, in milliseconds since the epoch. */
function timesOfWaiting(folder: string): number[] {
  const names = jsonFilesIn(inboxFolder(folder)).map((path) => basename(path));
  return names.flatMap((name) => {
    const [, date, hours, minutes, seconds] = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)-/.exec(name) ?? [];
    const time = Date.parse(`${date}${hours}:${minutes}:${seconds}`);
    return Number.isNaN(time) ? [] : [time];
  });
}

/** What is signed: the message with its name and project, so that none is taken for another's. */
const signedPart = (folder: string, id: string, message: Message): unknown => [
  id,
  realpathSync(folder),
  "text" in message
    ? message.text
    : "record" in message
      ? [message.record, message.decision, message.why]
      : "beside" in message
        ? JSON.stringify(message.beside)
        : null,
];

/** Whether one of our commands wrote what stands in the inbox under this name. */
export async function isOurMessage(folder: string, name: string, text: string, stateDir: string): Promise<boolean> {
  const message = parse(text);
  if (message === undefined) return false;
  const { signature } = JSON.parse(text) as { signature?: unknown };
  return isSigned(stateDir, signedPart(folder, name.replace(/\.json$/, ""), message), signature);
}

/**
 * The messages that nobody has taken yet, oldest first. What can't be read as one, or is of a later format, stays where
 * it is.
 */
export async function readMessages(folder: string): Promise<Received[]> {
  const messages: Received[] = [];
  for (const path of jsonFilesIn(inboxFolder(folder))) {
    const message = parse(await readRegularText(path).catch(() => ""));
    if (message !== undefined) messages.push({ ...message, id: basename(path, ".json") });
  }
  return messages;
}

/** Takes a message away once it is applied. */
export const takeMessage = (folder: string, id: string): Promise<void> =>
  rm(join(inboxFolder(folder), `${id}.json`), { force: true });

/**
 * Writes what a person has said since the last iteration into the state, and says that it was heard. A message is taken
 * away only once it is written, and `apply` does nothing a second time: a kill in between loses none and doubles none.
 */
export async function hear<State>(
  { folder, edit }: Pick<RecordStore<State>, "folder" | "edit">,
  apply: (state: State, messages: readonly Received[]) => State,
  tell: Tell,
): Promise<void> {
  const messages = await readMessages(folder);
  if (messages.length === 0) return;
  await edit((state) => apply(state, messages));
  for (const message of messages) {
    await takeMessage(folder, message.id);
    if ("record" in message || "beside" in message) continue;
    const said = "text" in message ? `Heard: ${message.text}` : "Received: earlier instructions are removed.";
    await tell({ type: "notice", level: "info", message: said });
  }
}

/** What every brief includes once these messages are heard; a message that was heard already changes nothing. Pure. */
export function wordsAfter(
  before: readonly Steering[],
  messages: readonly Received[],
  at: string,
  redact: Redact,
): Steering[] {
  let words = [...before];
  for (const message of messages) {
    if ("clear" in message) words = [];
    else if ("text" in message && !words.some(({ id }) => id === message.id))
      words = [...words, { id: message.id, at, text: redact(message.text).slice(0, maxMessage) }];
  }
  return words;
}

function parse(text: string): Message | undefined {
  try {
    const value = JSON.parse(text) as Partial<Record<"text" | "clear" | "beside" | keyof DecisionMessage, unknown>>;
    if (isNewer(value)) return undefined;
    if (value.clear === true) return { clear: true };
    const { record, decision, why, criterion, beside } = value;
    if (isObject(beside)) return { beside: beside as BesideMessage["beside"] };
    if (typeof record === "string" && typeof why === "string" && (decision === "include" || decision === "exclude"))
      return { record, decision, why, ...(typeof criterion === "string" ? { criterion } : {}) };
    return typeof value.text === "string" && value.text.trim() !== "" ? { text: value.text } : undefined;
  } catch {
    return undefined;
  }
}
