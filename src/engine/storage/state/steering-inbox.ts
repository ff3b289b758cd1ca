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
import { withExplainedErrors } from "../explain-system-error.js";
import { isNewer, jsonFilesIn, stateVersion } from "./format-version.js";
import type { RecordStore } from "./record-store.js";
import { hiddenFolder, inboxFolder } from "../../lib/layout.js";
import { isObject } from "../../lib/json-fields.js";

/** Maximum length of one message of the user in characters, because every brief includes it. */
export const maxMessageChars = 1_000;

const decisionNames = ["include", "exclude", "not_retrieved"] as const;

/** Whether a value names a decision. */
export const isDecisionName = (name: unknown): name is (typeof decisionNames)[number] =>
  decisionNames.some((decisionName) => decisionName === name);

/** A person's decision about one record, made while a run has the lock of the project. */
export interface DecisionMessage {
  /** Id of the record. */
  readonly record: string;
  readonly decision: (typeof decisionNames)[number];
  readonly why: string;
  /** Id of the criterion for the decision, as the project's wing defines it. */
  readonly criterion?: string;
}

/**
 * The result of work that another process did for the project during a run. The run adds it to the state. The wing
 * defines the fields of `beside`.
 */
export interface OutsideWorkMessage {
  readonly beside: Readonly<Record<string, unknown>>;
}

/**
 * A message to a project from another terminal: instructions for its agents, the removal of earlier instructions, a
 * decision about a record, or work that was done outside of the run.
 */
type Message = { readonly text: string } | { readonly clear: true } | DecisionMessage | OutsideWorkMessage;

/** A message with its id: the unique name of its file. */
export type ReceivedMessage = Message & { readonly id: string };

/**
 * Writes a message for the current or the next run of the project; needs no lock. Messages are read in the order in
 * which they were written, even if the clock was set back. The message is signed, because an agent could write a file
 * here too. `now`: milliseconds since the epoch; `stateDir`: the folder of the program's state. Returns the id of the
 * message.
 * @throws ExpectedError for a full disk or missing permission.
 */
export async function writeMessage(folder: string, message: Message, now: number, stateDir: string): Promise<string> {
  const stateFolder = hiddenFolder(folder);
  withExplainedErrors(stateFolder, () => makeFolder(inboxFolder(folder)));
  // Nothing in .ralph belongs in the repository. Before the first run, the folder has no .gitignore.
  if (stampOf(join(stateFolder, ".gitignore")) === undefined)
    await writeFileAtomic(join(stateFolder, ".gitignore"), "*\n");
  const messageTime = Math.max(now, ...unreadMessageTimes(folder).map((time) => time + 1));
  const id = `${timeForName(messageTime)}-${randomBytes(4).toString("hex")}`;
  const signature = await signatureOf(stateDir, signedData(folder, id, message));
  await writeFileAtomic(
    join(inboxFolder(folder), `${id}.json`),
    JSON.stringify({ ...message, format: stateVersion, signature }),
  );
  return id;
}

/** The times of the unread messages, from their names, in milliseconds since the epoch. */
function unreadMessageTimes(folder: string): number[] {
  const names = jsonFilesIn(inboxFolder(folder)).map((path) => basename(path));
  return names.flatMap((name) => {
    const [, date, hours, minutes, seconds] = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)-/.exec(name) ?? [];
    const time = Date.parse(`${date}${hours}:${minutes}:${seconds}`);
    return Number.isNaN(time) ? [] : [time];
  });
}

/** The data to sign: the message with its id and project, so that a copy in another project is not valid. */
const signedData = (folder: string, id: string, message: Message): unknown => [
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

/** Whether a command of this program wrote the message file `name` with this text: its signature is valid. */
export async function isFromThisProgram(
  folder: string,
  name: string,
  text: string,
  stateDir: string,
): Promise<boolean> {
  const message = parseMessage(text);
  if (message === undefined) return false;
  const { signature } = JSON.parse(text) as { signature?: unknown };
  return isSigned(stateDir, signedData(folder, name.replace(/\.json$/, ""), message), signature);
}

/**
 * The unread messages, oldest first. Files that are not valid messages, or have a later format, stay in the inbox.
 */
export async function readMessages(folder: string): Promise<ReceivedMessage[]> {
  const messages: ReceivedMessage[] = [];
  for (const path of jsonFilesIn(inboxFolder(folder))) {
    const message = parseMessage(await readRegularText(path).catch(() => ""));
    if (message !== undefined) messages.push({ ...message, id: basename(path, ".json") });
  }
  return messages;
}

/** Removes a message after it was applied. */
export const removeMessage = (folder: string, id: string): Promise<void> =>
  rm(join(inboxFolder(folder), `${id}.json`), { force: true });

/**
 * Writes the new messages into the state and confirms each instruction to the person. A message is removed only after
 * the state is written, and applying it twice changes nothing. So if the process is killed in between, no message is
 * lost or applied twice.
 */
export async function receiveMessages<State>(
  { folder, edit }: Pick<RecordStore<State>, "folder" | "edit">,
  apply: (state: State, messages: readonly ReceivedMessage[]) => State,
  tell: Tell,
): Promise<void> {
  const messages = await readMessages(folder);
  if (messages.length === 0) return;
  await edit((state) => apply(state, messages));
  for (const message of messages) {
    await removeMessage(folder, message.id);
    if ("record" in message || "beside" in message) continue;
    const text = "text" in message ? `Instructions received: ${message.text}` : "Earlier instructions are removed.";
    await tell({ type: "notice", level: "info", message: text });
  }
}

/**
 * The instructions for every brief, after these messages were applied. A message that was applied before changes
 * nothing. Pure.
 */
export function updateInstructions(
  earlierInstructions: readonly Steering[],
  messages: readonly ReceivedMessage[],
  messageTime: string,
  redact: Redact,
): Steering[] {
  let instructions = [...earlierInstructions];
  for (const message of messages) {
    if ("clear" in message) instructions = [];
    else if ("text" in message && !instructions.some(({ id }) => id === message.id))
      instructions = [
        ...instructions,
        { id: message.id, at: messageTime, text: redact(message.text).slice(0, maxMessageChars) },
      ];
  }
  return instructions;
}

function parseMessage(text: string): Message | undefined {
  try {
    const value = JSON.parse(text) as Partial<Record<"text" | "clear" | "beside" | keyof DecisionMessage, unknown>>;
    if (isNewer(value)) return undefined;
    if (value.clear === true) return { clear: true };
    const { record, decision, why, criterion, beside } = value;
    if (isObject(beside)) return { beside: beside as OutsideWorkMessage["beside"] };
    if (typeof record === "string" && typeof why === "string" && isDecisionName(decision))
      return { record, decision, why, ...(typeof criterion === "string" ? { criterion } : {}) };
    return typeof value.text === "string" && value.text.trim() !== "" ? { text: value.text } : undefined;
  } catch {
    return undefined;
  }
}
