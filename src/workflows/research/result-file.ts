import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { hasCode, messageOf } from "../../lib/errors.js";
import { mostLevels, tooDeepAt } from "../../lib/nesting.js";

const mostBytes = 5 * 1024 * 1024;

/**
 * Reads the one file an agent leaves. It may be anything: absent, a folder, a FIFO that never ends, a link to a secret,
 * 200 MB. Whatever it is, the answer is a value or one sentence for the next attempt.
 */
export async function readResult(path: string): Promise<{ value: unknown } | { reason: string }> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { reason: "there is no result: the final message held no JSON object, and result.json was not written" };
    if (hasCode(error, "ELOOP")) return { reason: "result.json is a symbolic link; it must be a file of its own" };
    return { reason: `result.json could not be read (${messageOf(error)})` };
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return { reason: "result.json is not a regular file" };
    if (stat.size > mostBytes) return { reason: `result.json has ${Math.round(stat.size / 1024 / 1024)} MB; 5 MB is the most` };
    const text = (await file.readFile("utf8")).replace(/^\uFEFF/, "");
    if (text.trim() === "") return { reason: "result.json is empty" };
    try {
      const value = JSON.parse(text) as unknown;
      const deep = tooDeepAt(value);
      return deep === undefined ? { value } : { reason: `result.json is nested deeper than ${mostLevels} levels at ${deep}` };
    } catch (error) {
      return { reason: `result.json is not valid JSON: ${messageOf(error)}` };
    }
  } catch (error) {
    return { reason: `result.json could not be read (${messageOf(error)})` };
  } finally {
    await file.close();
  }
}
