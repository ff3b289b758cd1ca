import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode, messageOf } from "../../../engine/lib/errors.js";
import { maxLevels, tooDeepAt } from "../../../engine/storage/json-syntax.js";

const maxBytes = 5 * 1024 * 1024;

/** Whether a link stands where the folder was made that an agent worked in: what it leads to is not the agent's to give. */
export const isReplaced = async (workspace: string): Promise<boolean> =>
  (await lstat(workspace).catch(() => undefined))?.isSymbolicLink() === true;

/**
 * Reads the one file an agent leaves. It may be anything: absent, a folder, a FIFO that never ends, a link to a secret,
 * 200 MB. Whatever it is, the answer is a value or one sentence for the next attempt.
 */
export async function readResult(path: string): Promise<{ value: unknown } | { reason: string }> {
  if (await isReplaced(dirname(path)))
    return { reason: "the working directory is a symbolic link now; leave it as it is and write result.json there" };
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, "ENOENT"))
      return { reason: "there is no result: the final message held no JSON object, and result.json was not written" };
    if (hasCode(error, "ELOOP")) return { reason: "result.json is a symbolic link; it must be a file of its own" };
    return { reason: `result.json could not be read (${messageOf(error)})` };
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return { reason: "result.json is not a regular file" };
    if (stat.nlink > 1) return { reason: "result.json is a hard link to another file; it must be a file of its own" };
    if (stat.size > maxBytes)
      return { reason: `result.json has ${Math.round(stat.size / 1024 / 1024)} MB; 5 MB is the most` };
    const text = (await file.readFile("utf8")).replace(/^\uFEFF/, "");
    if (text.trim() === "") return { reason: "result.json is empty" };
    try {
      const value = JSON.parse(text) as unknown;
      const deep = tooDeepAt(value);
      if (deep !== undefined) return { reason: `result.json is nested deeper than ${maxLevels} levels at ${deep}` };
      const twice = repeatedName(text);
      return twice === undefined ? { value } : { reason: `result.json says ${twice} twice in one object; say it once` };
    } catch (error) {
      return { reason: `result.json is not valid JSON: ${messageOf(error)}` };
    }
  } catch (error) {
    return { reason: `result.json could not be read (${messageOf(error)})` };
  } finally {
    await file.close();
  }
}

/** The first name that stands twice in one object of a valid JSON text, in its quotes. JSON.parse takes the last of them without a word. */
function repeatedName(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  const colon = /\s*:/y;
  let start: number | undefined;
  for (const { 0: mark, index } of text.matchAll(/\\.|["{}[\]]/gs)) {
    if (mark === '"' && start === undefined) start = index;
    else if (mark === '"') {
      const [from, names] = [start as number, open.at(-1)];
      start = undefined;
      colon.lastIndex = index + 1;
      if (names === undefined || !colon.test(text)) continue;
      const name = JSON.parse(text.slice(from, index + 1)) as string;
      if (names.has(name)) return JSON.stringify(name.slice(0, 60));
      names.add(name);
    } else if (start !== undefined) continue;
    else if (mark === "{") open.push(new Set());
    else if (mark === "[") open.push(undefined);
    else if (mark === "}" || mark === "]") open.pop();
  }
  return undefined;
}
