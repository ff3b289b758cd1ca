import { basename, join } from "node:path";
import { shellWord } from "../../../engine/lib/sanitise.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Rrd } from "../../generated/rrd.js";
import type { Redact } from "../../../engine/lib/redact.js";
import type { Tell } from "../../../engine/loop/types.js";
import { appendOnce } from "../../../engine/storage/atomic-file.js";
import {
  type OutsideWorkMessage,
  type DecisionMessage,
  maxMessageChars,
  type ReceivedMessage,
  readMessages,
  removeMessage,
} from "../../../engine/storage/state/steering-inbox.js";
import type { Research } from "../../project-files/research.js";
import { steeringEntry } from "../../project-files/progress-log.js";
import { progressName } from "../../project-files/layout.js";
import { foldBeside, type FoldOptions } from "./fold-beside.js";
import { hasOpenOverride, isDecidable, returningIds, withOverride, withOverrides } from "../../derived/overrides.js";
import { namesIn } from "../../papers/paper-keys.js";
import { waitsForText } from "../../papers/read-depth.js";
import { resetStagnation } from "../../derived/observations.js";

/**
 * Applies the user's messages since the last iteration to the state, acknowledges each one, and loads the state.
 */
export async function loadWithInstructions(
  research: Pick<Research, "folder" | "load" | "edit" | "fold" | "nextIteration" | "rewrite">,
  options: FoldOptions & { readonly redact: Redact },
  tell: Tell,
): ReturnType<Research["load"]> {
  const { now, redact } = options;
  const messages = await messagesFor(research.folder, redact);
  for (const message of messages) if ("beside" in message) await foldBeside(research, message, options, tell);
  const loaded = await research.load();
  const instructions = messages.filter(isInstruction);
  const includedIds = instructions.flatMap((message) =>
    "record" in message && message.decision !== "exclude" ? message.record : [],
  );
  const idsToComplete = new Set([...includedIds, ...returningIds(loaded.rrd)]);
  const complete =
    idsToComplete.size === 0
      ? (rrd: Rrd) => rrd
      : await (await import("./kept-search.js")).makeCompleter(research.folder, loaded.rrd, idsToComplete);
  await applyMessages(research, loaded.rrd, instructions, complete, now);
  // A decision that the user wrote into rrd.json by hand takes effect with the next edit.
  const hasNewOverride = instructions.length === 0 && hasOpenOverride(loaded.rrd);
  if (hasNewOverride) {
    const time = new Date(now()).toISOString();
    await research.edit((rrd) => resetStagnation(complete(withOverrideTimes(rrd, time))), true);
  }
  const reloaded = instructions.length === 0 && !hasNewOverride ? loaded : await research.load();
  const textReply = reloaded.rrd.phase === "COMPLETE" ? unheardText(research.folder) : "Instructions received";
  for (const instruction of instructions)
    await tell({ type: "notice", level: "info", message: replyTo(instruction, loaded.rrd, textReply) });
  if (!reloaded.rrd.papers_pool.some(waitsForText)) return reloaded;
  // Loaded only if needed: most runs have no paper without a full text.
  const { reopenReadable: openReadable } = await import("./readable-again.js");
  return (await openReadable(research, reloaded.rrd, { now, tell })) ? await research.load() : reloaded;
}

/**
 * Writes the user's messages into rrd.json and progress.txt. A message is removed only when both files are written, and
 * writing it twice changes nothing: if the process is killed in between, no message is lost or applied twice.
 */
async function applyMessages(
  research: Pick<Research, "folder" | "edit">,
  before: Rrd,
  messages: readonly Instruction[],
  complete: (rrd: Rrd) => Rrd,
  now: () => number,
): Promise<void> {
  if (messages.length === 0) return;
  const time = new Date(now()).toISOString();
  await research.edit((rrd) => withInstructions(complete(rrd), messages, time), true);
  for (const message of messages) {
    const words = "text" in message ? message.text : "record" in message ? decisionText(before, message) : clearedText;
    // After a kill the offset is unknown. With offset 0, the text is not added if it is anywhere in the file.
    await appendOnce(join(research.folder, progressName), { offset: 0, text: steeringEntry(message.id, words) });
    await removeMessage(research.folder, message.id);
  }
}

/** The acknowledgement of an instruction. `textReply`: the clause before the text of the instruction. */
function replyTo(message: Instruction, before: Rrd, textReply: string): string {
  if ("text" in message) return `${textReply}: ${message.text}`;
  return "record" in message ? decisionText(before, message) : "Earlier instructions are removed.";
}

/** In a finished project no agent reads an instruction: how the user lets one read it. */
const unheardText = (folder: string): string =>
  `No agent reads this until 'research-ralph reset ${shellWord(basename(folder))} --unit report' and a run write the report again`;

/** Adds the current time to decisions that the user wrote by hand, which have no time. Pure. */
function withOverrideTimes(rrd: Rrd, time: string): Rrd {
  const papers_pool = rrd.papers_pool.map((paper) =>
    paper.override === undefined || paper.override.at !== undefined
      ? paper
      : { ...paper, override: { ...paper.override, at: time } },
  );
  return { ...rrd, papers_pool };
}

type Instruction = Exclude<ReceivedMessage, OutsideWorkMessage>;
const isInstruction = (message: ReceivedMessage): message is Instruction => !("beside" in message);

const clearedText = "Earlier instructions are removed.";

/** The effect of a decision in one sentence. The paper may have been removed since the decision. */
const decisionText = (rrd: Rrd, { record, decision, why }: DecisionMessage): string =>
  isDecidable(rrd, record)
    ? `Decided: ${decision} ${namesIn(rrd).get(record) ?? record} (${why}).`
    : `There is no paper ${record} any more, so the decision to ${decision} it was dropped.`;

/** The user's messages that no run has applied yet, oldest first. Secrets are removed. */
export const messagesFor = async (folder: string, redact: Redact): Promise<ReceivedMessage[]> =>
  (await readMessages(folder)).map((message) =>
    "text" in message
      ? { ...message, text: redact(message.text).slice(0, maxMessageChars) }
      : "record" in message
        ? { ...message, why: redact(message.why).slice(0, maxMessageChars) }
        : message,
  );

/** The state with these messages applied, in their order. Pure. */
export function withInstructions(rrd: Rrd, messages: readonly ReceivedMessage[], time: string): Rrd {
  let steering = rrd.loop?.steering ?? [];
  let current = rrd;
  const instructions = messages.filter(isInstruction);
  for (const message of instructions) {
    if ("clear" in message) steering = [];
    else if ("record" in message) {
      const { record, decision, why, criterion } = message;
      current = withOverrides(
        withOverride(current, record, { decision, why, ...withoutUndefined({ criterion }), at: time }),
      );
    } else if (!steering.some(({ id }) => id === message.id))
      steering = [...steering, { id: message.id, at: time, text: message.text }];
  }
  const updated = { ...current, loop: { ...current.loop, steering } };
  return instructions.length === 0 ? current : resetStagnation(updated);
}
