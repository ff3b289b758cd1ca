import { join } from "node:path";
import type { Rrd } from "../../generated/rrd.js";
import type { Redact } from "../../../engine/lib/redact.js";
import type { Tell } from "../../../engine/loop/types.js";
import { appendOnce } from "../../../engine/storage/atomic-file.js";
import { type Received, readMessages, takeMessage } from "../../../engine/storage/records/steering-inbox.js";
import type { Research } from "../../folder/research.js";
import { progressName } from "../../folder/layout.js";
import { resetStagnation } from "./observations.js";

/** Most words of one message that stand; the command refuses longer ones. */
export const maxMessage = 1_000;

/**
 * Loads the state once what a person has said since the last iteration was written into it, and acknowledges each
 * message.
 */
export async function loadSteered(
  research: Pick<Research, "folder" | "load" | "edit">,
  { now, redact }: { readonly now: () => number; readonly redact: Redact },
  tell: Tell,
): ReturnType<Research["load"]> {
  const loaded = await research.load();
  const heard = await applyMessages(research, now, redact);
  for (const message of heard) await tell({ type: "notice", level: "info", message });
  return heard.length === 0 ? loaded : await research.load();
}

/**
 * Writes what a person said since the last iteration into rrd.json and progress.txt, and answers with an
 * acknowledgement of each. Each message is taken away only when both are written, and writing twice is as writing once:
 * a kill in between loses none and doubles none.
 */
async function applyMessages(
  research: Pick<Research, "folder" | "edit">,
  now: () => number,
  redact: Redact,
): Promise<string[]> {
  const messages = await messagesFor(research.folder, redact);
  if (messages.length === 0) return [];
  const at = new Date(now()).toISOString();
  await research.edit((rrd) => steered(rrd, messages, at), true);
  for (const message of messages) {
    const words = "text" in message ? message.text : "Earlier instructions are removed.";
    // The offset is unknown after a kill; at 0 the text counts as there when it stands anywhere.
    await appendOnce(join(research.folder, progressName), {
      offset: 0,
      text: `---\n\n## Steering ${message.id}\n${words}\n\n`,
    });
    await takeMessage(research.folder, message.id);
  }
  return messages.map((message) =>
    "text" in message ? `Heard: ${message.text}` : "Received: earlier instructions are removed.",
  );
}

/** What a person has said that no run has heard yet, oldest first. */
export const messagesFor = async (folder: string, redact: Redact): Promise<Received[]> =>
  (await readMessages(folder)).map((message) =>
    "text" in message ? { ...message, text: redact(message.text).slice(0, maxMessage) } : message,
  );

/** The state with these messages applied, in their order. Pure. */
export function steered(rrd: Rrd, messages: readonly Received[], at: string): Rrd {
  let steering = rrd.loop?.steering ?? [];
  for (const message of messages) {
    if ("clear" in message) steering = [];
    else if (!steering.some(({ id }) => id === message.id))
      steering = [...steering, { id: message.id, at, text: message.text }];
  }
  return resetStagnation({ ...rrd, loop: { ...rrd.loop, steering } });
}
