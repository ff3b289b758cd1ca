import { ExpectedError } from "../../engine/lib/errors.js";
import { requireKnownFormats } from "../../engine/storage/records/format-version.js";
import { leaveMessage, readMessages } from "../../engine/storage/records/steering-inbox.js";
import { researchFormat } from "../folder/rrd-file.js";
import type { Rrd } from "../generated/rrd.js";
import { workStateOf } from "../overview/work-state.js";
import { maxMessage } from "../workflow/derived/apply-steering.js";

/** What a person tells the agents of a project. */
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
 * Tells the agents of a project something, also while it runs elsewhere: every brief from the next one on includes it
 * until it is cleared. `where`: the project as the person knows it; `now`: milliseconds; `stateDir`: where the key lies
 * that signs it. Answers with one sentence: from when on it is heard.
 * @throws ExpectedError for no or too many words, for a project of a later version, for a disk that refuses.
 */
export async function steer(
  folder: string,
  wish: Wish,
  { where, now, stateDir }: { readonly where: string; readonly now: number; readonly stateDir: string },
): Promise<string> {
  const words = wordsOf(wish);
  await requireKnownFormats(folder, researchFormat);
  if (wish.clear === true) await leaveMessage(folder, { clear: true }, now, stateDir);
  // A millisecond later: messages are applied in the order of their names.
  if (words !== "") await leaveMessage(folder, { text: words }, now + 1, stateDir);
  const { running, finished } = await workStateOf(folder);
  if (finished)
    return `${where} is finished: no agent reads it unless you raise the target with research-ralph run ${where} -p <more> --force.`;
  const what = words === "" ? "Earlier instructions are removed" : "Every brief includes it";
  return `${what} from the next iteration of ${where} on${running ? "" : "; it is not running now"}.`;
}

/** What stands in the next brief of a project in this state, messages that wait to be heard included. */
export async function wordsInForce(folder: string, { loop }: Pick<Rrd, "loop">): Promise<string[]> {
  let words = (loop?.steering ?? []).map(({ text }) => text);
  for (const message of await readMessages(folder))
    if ("clear" in message) words = [];
    else if ("text" in message) words = [...words, message.text];
  return words;
}
