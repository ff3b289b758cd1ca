import { join } from "node:path";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Rrd } from "../../generated/rrd.js";
import type { Redact } from "../../../engine/lib/redact.js";
import type { Tell } from "../../../engine/loop/types.js";
import { appendOnce } from "../../../engine/storage/atomic-file.js";
import {
  type BesideMessage,
  type DecisionMessage,
  maxMessageChars,
  type Received,
  readMessages,
  removeMessage,
} from "../../../engine/storage/state/steering-inbox.js";
import type { Research } from "../../project-files/research.js";
import { steeringEntry } from "../../project-files/progress-log.js";
import { progressName } from "../../project-files/layout.js";
import { foldBeside, type FoldOptions } from "./fold-beside.js";
import { hasOpenOverride, isDecidable, returningIds, withOverride, withOverrides } from "../../derived/overrides.js";
import { resetStagnation } from "../../derived/observations.js";

/**
 * Loads the state once what a person has said since the last iteration was written into it, and acknowledges each
 * message.
 */
export async function loadSteered(
  research: Pick<Research, "folder" | "load" | "edit" | "fold" | "nextIteration" | "rewrite">,
  options: FoldOptions & { readonly redact: Redact },
  tell: Tell,
): ReturnType<Research["load"]> {
  const { now, redact } = options;
  const messages = await messagesFor(research.folder, redact);
  for (const message of messages) if ("beside" in message) await foldBeside(research, message, options, tell);
  const loaded = await research.load();
  const said = messages.filter(isSaid);
  const included = said.flatMap((message) =>
    "record" in message && message.decision !== "exclude" ? message.record : [],
  );
  const returning = new Set([...included, ...returningIds(loaded.rrd)]);
  const complete =
    returning.size === 0
      ? (rrd: Rrd) => rrd
      : await (await import("./kept-search.js")).completing(research.folder, loaded.rrd, returning);
  const heard = await applyMessages(research, loaded.rrd, said, complete, now);
  for (const message of heard) await tell({ type: "notice", level: "info", message });
  // What a person wrote into rrd.json by hand takes effect with the next edit.
  const isOpen = heard.length === 0 && hasOpenOverride(loaded.rrd);
  if (isOpen) {
    const at = new Date(now()).toISOString();
    await research.edit((rrd) => resetStagnation(complete(withTimes(rrd, at))), true);
  }
  const steered = heard.length === 0 && !isOpen ? loaded : await research.load();
  if (!steered.rrd.papers_pool.some(({ status }) => status === "not_retrieved")) return steered;
  // Most runs need none of what looks for texts before they have a paper to read.
  const { openReadable } = await import("./readable-again.js");
  return (await openReadable(research, steered.rrd, { now, tell })) ? await research.load() : steered;
}

/**
 * Writes what a person said since the last iteration into rrd.json and progress.txt, and answers with an
 * acknowledgement of each. Each message is taken away only when both are written, and writing twice is as writing once:
 * a kill in between loses none and doubles none.
 */
async function applyMessages(
  research: Pick<Research, "folder" | "edit">,
  before: Rrd,
  messages: readonly Said[],
  complete: (rrd: Rrd) => Rrd,
  now: () => number,
): Promise<string[]> {
  if (messages.length === 0) return [];
  const at = new Date(now()).toISOString();
  await research.edit((rrd) => steered(complete(rrd), messages, at), true);
  for (const message of messages) {
    const words = "text" in message ? message.text : "record" in message ? decided(before, message) : cleared;
    // The offset is unknown after a kill; at 0 the text counts as there when it stands anywhere.
    await appendOnce(join(research.folder, progressName), { offset: 0, text: steeringEntry(message.id, words) });
    await removeMessage(research.folder, message.id);
  }
  return messages.map((message) =>
    "text" in message
      ? `Heard: ${message.text}`
      : "record" in message
        ? decided(before, message)
        : "Received: earlier instructions are removed.",
  );
}

/** The state in which each decision that a person wrote by hand has the time at which it was first seen. Pure. */
function withTimes(rrd: Rrd, at: string): Rrd {
  const papers_pool = rrd.papers_pool.map((paper) =>
    paper.override === undefined || paper.override.at !== undefined
      ? paper
      : { ...paper, override: { ...paper.override, at } },
  );
  return { ...rrd, papers_pool };
}

type Said = Exclude<Received, BesideMessage>;
const isSaid = (message: Received): message is Said => !("beside" in message);

const cleared = "Earlier instructions are removed.";

/** What came of a decision, one sentence; a paper may be gone since it was made. */
const decided = (rrd: Rrd, { record, decision, why }: DecisionMessage): string =>
  isDecidable(rrd, record)
    ? `Decided: ${decision} ${record} (${why}).`
    : `There is no paper ${record} any more, so the decision to ${decision} it was dropped.`;

/** What a person has said that no run has heard yet, oldest first. */
export const messagesFor = async (folder: string, redact: Redact): Promise<Received[]> =>
  (await readMessages(folder)).map((message) =>
    "text" in message
      ? { ...message, text: redact(message.text).slice(0, maxMessageChars) }
      : "record" in message
        ? { ...message, why: redact(message.why).slice(0, maxMessageChars) }
        : message,
  );

/** The state with these messages applied, in their order. Pure. */
export function steered(rrd: Rrd, messages: readonly Received[], at: string): Rrd {
  let steering = rrd.loop?.steering ?? [];
  let whole = rrd;
  const said = messages.filter(isSaid);
  for (const message of said) {
    if ("clear" in message) steering = [];
    else if ("record" in message) {
      const { record, decision, why, criterion } = message;
      whole = withOverrides(withOverride(whole, record, { decision, why, ...withoutUndefined({ criterion }), at }));
    } else if (!steering.some(({ id }) => id === message.id))
      steering = [...steering, { id: message.id, at, text: message.text }];
  }
  const heard = { ...whole, loop: { ...whole.loop, steering } };
  return said.length === 0 ? whole : resetStagnation(heard);
}
