import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../../engine/lib/errors.js";
import { isReplaced } from "./result-file.js";
import { resultName } from "../../folder/layout.js";

/**
 * Puts the JSON object that an agent gave as its final message into its workspace as result.json, where it left no such file itself.
 * Writing a file takes a turn of its own, in which a CLI sends the whole brief once more: half of an iteration's input tokens.
 * What is no JSON object leaves nothing behind.
 */
export async function keepAnswer(workspace: string, message: string): Promise<void> {
  const json = jsonIn(message);
  if (json === undefined || (await isReplaced(workspace))) return;
  try {
    await writeFile(join(workspace, resultName), json, { flag: "wx" });
  } catch (error) {
    // Whatever stands there already is for the reader of results to judge; so is a workspace that the agent took away.
    if (!hasCode(error, "EEXIST", "ENOENT", "ENOTDIR", "EACCES", "EISDIR", "ELOOP")) throw error;
  }
}

/** So many characters may stand around the object. A message that quotes the brief, with its example of a result, has thousands. */
const maxSurrounding = 400;

/** The one JSON object of a message: all of it, what a code fence holds, or from the first brace to the last, with few words around it. */
export function jsonIn(message: string): string | undefined {
  const fenced = [...message.matchAll(/^\s*(`{3,}|~{3,})(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n\s*\1[ \t]*$/gm)].map(
    (match) => match[2] ?? "",
  );
  const [first, last] = [message.indexOf("{"), message.lastIndexOf("}")];
  const braced = first === -1 || last < first ? "" : message.slice(first, last + 1);
  const whole = message.trim();
  return [whole, ...fenced.toReversed(), braced].find(
    (json) => whole.length - json.length <= maxSurrounding && isObject(json),
  );
}

function isObject(text: string): boolean {
  if (!text.trimStart().startsWith("{")) return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
