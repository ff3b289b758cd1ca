import { ExpectedError } from "../../engine/lib/errors.js";
import { leaveMessage, readMessages } from "../../engine/storage/records/steering-inbox.js";
import { requireKnownFormats } from "../../engine/storage/records/format-version.js";
import { readResearch } from "../../research/folder/research.js";
import { researchFormat } from "../../research/folder/rrd-file.js";
import { resolveConfig } from "../../engine/config/resolve.js";
import { homeOf, type Io } from "../../engine/ui/io.js";
import { requirePerson } from "./require-person.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { maxMessage } from "../../research/workflow/apply-steering.js";
import { findResearch, shown } from "../../research/overview/find-research.js";
import { workStateOf } from "../../research/overview/work-state.js";

interface SteerArguments {
  readonly folder: string;
  /** What the agents should do; without it the messages in force are shown. */
  readonly text?: string;
  /** Whether all that was said before is taken back. */
  readonly clear: boolean;
  readonly json: boolean;
}

/**
 * Tells the agents of a project something, also while it runs elsewhere: every brief from the next one on carries it
 * until it is cleared.
 */
export async function steerCommand({ folder: argument, text, clear, json }: SteerArguments, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, argument);
  const words = text?.trim() ?? "";
  if (text !== undefined && words === "")
    throw new ExpectedError("The text is empty; give it in quotes, or use --clear.", 2);
  if (words.length > maxMessage)
    throw new ExpectedError(
      `The text has ${words.length} characters; at most ${maxMessage} are allowed, because every brief includes it.`,
      2,
    );
  if (clear || words !== "") {
    requirePerson(io.env);
    await requireKnownFormats(folder, researchFormat);
    const { stateDir } = await resolveConfig({ flags: {}, env: io.env, cwd: io.cwd, home: homeOf(io.env) });
    if (clear) await leaveMessage(folder, { clear: true }, io.clock.now(), stateDir);
    // A millisecond later: messages are applied in the order of their names.
    if (words !== "") await leaveMessage(folder, { text: words }, io.clock.now() + 1, stateDir);
  }
  const steering = await steeringWords(folder);
  if (json) io.stdout(`${JSON.stringify({ folder, steering: steering })}\n`);
  else if (clear || words !== "") io.stderr(`${await heard(shown(io.cwd, folder), folder, words === "")}\n`);
  else if (steering.length === 0)
    io.stderr(`There are no instructions; give some with research-ralph steer ${shown(io.cwd, folder)} "…".\n`);
  else for (const each of steering) io.stdout(`- ${oneLine(each)}\n`);
  return 0;
}

/** From when on it is heard, one sentence. */
async function heard(where: string, folder: string, isCleared: boolean): Promise<string> {
  const { running, finished } = await workStateOf(folder);
  if (finished)
    return `${where} is finished: no agent reads it unless you raise the target with research-ralph run ${where} -p <more> --force.`;
  const what = isCleared ? "Earlier instructions are removed" : "Every brief includes it";
  return `${what} from the next iteration of ${where} on${running ? "" : "; it is not running now"}.`;
}

/** What stands in the next brief, messages that wait to be heard included. */
async function steeringWords(folder: string): Promise<string[]> {
  const { rrd } = await readResearch(folder);
  let words = (rrd.loop?.steering ?? []).map(({ text }) => text);
  for (const message of await readMessages(folder)) words = "clear" in message ? [] : [...words, message.text];
  return words;
}
