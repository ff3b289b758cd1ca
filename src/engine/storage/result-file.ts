import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hasCode, messageOf } from "../lib/errors.js";
import { resultName } from "../lib/layout.js";
import { redactValue } from "../lib/redact.js";
import {
  hasTooManyBrackets,
  isUnfinished,
  locateSyntaxError,
  maxBrackets,
  maxLevels,
  findRepeatedName,
  tooDeepAt,
} from "./json-syntax.js";
import { type Problem, problemsOf, type SchemaName } from "./schema-check.js";
import { fieldsIn, isObject } from "../lib/json-fields.js";

const maxBytes = 5 * 1024 * 1024;

/**
 * Whether an agent replaced its workspace by a link. The link may lead to files that don't belong to the agent.
 */
function isReplaced(workspace: string): boolean {
  try {
    return lstatSync(workspace).isSymbolicLink();
  } catch {
    return false;
  }
}

/**
 * Reads the result file of an agent. The file may be anything: absent, a folder, a FIFO that never ends, a link to a
 * secret, 200 MB. Returns the value, or the reason as one sentence for the next attempt.
 */
export async function readResult(path: string): Promise<{ value: unknown } | { reason: string }> {
  const resultText = readResultText(path);
  if ("reason" in resultText) return { reason: resultText.reason };
  const text = resultText.text.replace(/^\uFEFF/, "");
  if (text.trim() === "") return { reason: "result.json is empty" };
  if (hasTooManyBrackets(text)) return { reason: `result.json holds more than ${maxBrackets} lists and objects` };
  try {
    const value = JSON.parse(text) as unknown;
    const deepPointer = tooDeepAt(value);
    if (deepPointer !== undefined)
      return { reason: `result.json is nested deeper than ${maxLevels} levels at ${deepPointer}` };
    const repeatedField = findRepeatedName(text);
    return repeatedField === undefined
      ? { value }
      : { reason: `result.json has ${repeatedField} twice in one object; keep one of them` };
  } catch {
    const { line, column, message } = locateSyntaxError(text);
    return { reason: `result.json is not valid JSON at line ${line}, column ${column}: ${message}` };
  }
}

/**
 * The text of an agent's result file. No link is followed, so nothing outside of the workspace is read. `absent`: it
 * does not exist.
 */
export function readResultText(
  path: string,
): { readonly text: string } | { readonly reason: string; readonly absent?: true } {
  if (isReplaced(dirname(path)))
    return { reason: "the working directory is a symbolic link now; leave it as it is and write result.json there" };
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, "ENOENT"))
      return {
        reason: "there is no result: the final message held no JSON object, and result.json was not written",
        absent: true,
      };
    if (hasCode(error, "ELOOP")) return { reason: "result.json is a symbolic link; it must be a file of its own" };
    return { reason: `result.json could not be read (${messageOf(error)})` };
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return { reason: "result.json is not a regular file" };
    if (stats.nlink > 1) return { reason: "result.json is a hard link to another file; it must be a file of its own" };
    if (stats.size > maxBytes)
      return { reason: `result.json has ${Math.round(stats.size / 1024 / 1024)} MB; 5 MB is the most` };
    return { text: readFileSync(file, "utf8") };
  } catch (error) {
    return { reason: `result.json could not be read (${messageOf(error)})` };
  } finally {
    closeSync(file);
  }
}

/**
 * Writes the JSON object of an agent's final message to result.json in its workspace, if the agent has not written that
 * file itself. An agent that writes the file needs one more turn, in which the CLI sends the whole brief again: half of
 * an iteration's input tokens. Other texts are ignored. An object that is cut off is written too, so that the error can
 * name its place.
 */
export async function saveAnswer(workspace: string, message: string): Promise<void> {
  const json = jsonIn(message) ?? cutJsonIn(message);
  if (json === undefined || isReplaced(workspace)) return;
  try {
    await writeFile(join(workspace, resultName), json, { flag: "wx" });
  } catch (error) {
    // `readResult` reports an existing file of another kind, and a workspace that the agent deleted.
    if (!hasCode(error, "EEXIST", "ENOENT", "ENOTDIR", "EACCES", "EISDIR", "ELOOP")) throw error;
  }
}

/** Replaces an agent's result by `value`; does nothing if the agent deleted the folder. */
export async function replaceResult(workspace: string, value: unknown): Promise<void> {
  if (isReplaced(workspace)) return;
  const path = join(workspace, resultName);
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
  await saveAnswer(workspace, JSON.stringify(value));
}

/**
 * Maximum number of characters of a message outside of its JSON object. A message that quotes the brief, which contains
 * an example of a result, has thousands.
 */
const maxSurroundingChars = 400;

/**
 * The JSON object of a message: the whole message, the content of a code fence, or the text from the first brace to the
 * last one; at most `maxSurroundingChars` other characters.
 */
export function jsonIn(message: string): string | undefined {
  const fenceContents = fenceContentsIn(message);
  const [first, last] = [message.indexOf("{"), message.lastIndexOf("}")];
  const bracedText = first === -1 || last < first ? "" : message.slice(first, last + 1);
  const trimmedMessage = message.trim();
  return [trimmedMessage, ...fenceContents.toReversed(), bracedText].find(
    (json) => trimmedMessage.length - json.length <= maxSurroundingChars && isObjectText(json),
  );
}

/**
 * The contents of the code fences of a text, found in one pass: an agent may send megabytes of line feeds or fences. A
 * fence has at most 100 marks and 100 blanks, because a process that has compiled many patterns optimises no further
 * one, and 8 MB of blanks in an unbounded pattern would then overflow V8's stack.
 */
function fenceContentsIn(text: string): string[] {
  const fields: string[] = [];
  /** The start offset of the text after each open fence, by the fence's marks. */
  const openFences = new Map<string, number>();
  for (const { 0: line, 1: marks = "", 2: kind, index } of text.matchAll(
    /^[^\S\r\n\u2028\u2029]{0,100}(`{3,100}|~{3,100})(json)?[^\S\r\n\u2028\u2029]{0,100}$/gm,
  )) {
    const from = openFences.get(marks);
    if (from === undefined || kind !== undefined) openFences.set(marks, index + line.length + 1);
    else {
      fields.push(text.slice(from, index).trim());
      openFences.clear();
    }
  }
  return fields;
}

/**
 * The last part of a message if it is the beginning of a JSON object: a model that reaches its token limit stops
 * anywhere.
 */
function cutJsonIn(message: string): string | undefined {
  const start = message.search(/\{\s*"/);
  const json = message.slice(start);
  return start >= 0 && start <= maxSurroundingChars && isUnfinished(json) ? json : undefined;
}

function isObjectText(text: string): boolean {
  return text.trimStart().startsWith("{") && !hasTooManyBrackets(text) && fieldsIn(text) !== undefined;
}

/**
 * A text of only white space and invisible characters: zero-width spaces, joiners, fillers, the empty braille cell.
 */
const invisibleText = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+$/u;

/**
 * A copy of a JSON value in which every invisible text is the empty string, so that the schema's check for empty texts
 * finds it.
 */
function withoutBlanks(value: unknown): unknown {
  if (typeof value === "string") return invisibleText.test(value) ? "" : value;
  if (Array.isArray(value)) return value.map(withoutBlanks);
  if (typeof value !== "object" || value === null) return value;
  // Built from pairs, because an assignment to __proto__ would not create a field.
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, withoutBlanks(child)]));
}

/** Rounds of removing unknown fields, 200 fields in each. A value with more of them is not a result. */
const maxRounds = 5;

/**
 * Checks a result against its schema. Unknown fields are removed from `value` and listed in `dropped` as JSON pointers:
 * they are not a reason to refuse paid work. `problems`: all other errors; empty for a valid result.
 */
export function checkResult(
  schema: SchemaName,
  result: unknown,
): { readonly value: unknown; readonly dropped: readonly string[]; readonly problems: readonly Problem[] } {
  const value = withoutBlanks(result);
  const allProblems = problemsOf(schema, value);
  const dropped: string[] = [];
  let problems = allProblems;
  for (let round = 0; round < maxRounds && problems.some(({ unknown }) => unknown !== undefined); round += 1) {
    for (const { pointer, unknown } of problems) {
      if (unknown === undefined) continue;
      const names = pointer
        .split("/")
        .slice(1)
        .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
      const holder = names.reduce((child: unknown, name) => Reflect.get(child as object, name), value);
      Reflect.deleteProperty(holder as object, unknown);
      dropped.push(`${pointer}/${unknown}`);
    }
    problems = problemsOf(schema, value);
  }
  // If other problems remain, a misspelled field name may be their cause, so unknown fields are listed too.
  return { value, dropped, problems: problems.length === 0 ? [] : allProblems };
}

/** What was removed from a result when it was read: secrets and unknown fields. */
interface Reading {
  /** A text that looks like a secret of the user was removed. */
  readonly redacted: boolean;
  /** JSON pointers of fields that the schema does not know. */
  readonly dropped: readonly string[];
}

/** Fields of an earlier result that must not change. A nested map: only these fields of an object must not change. */
export type KeptFields = ReadonlyMap<string, unknown>;

/**
 * Reads the result at `path`, removes the user's secrets and checks it against its schema.
 * `keptFields`: fields that the agent may not change.
 */
export async function readCheckedResult(
  schema: SchemaName,
  path: string,
  redact: (text: string) => string,
  keptFields: KeptFields = new Map(),
): Promise<Reading & ({ readonly value: unknown } | { readonly reasons: readonly string[] })> {
  const result = await readResult(path);
  if ("reason" in result) return { redacted: false, dropped: [], reasons: [redact(result.reason)] };
  const { value: fields, found: redacted } = redactValue(result.value, redact);
  const { value, dropped, problems } = checkResult(
    schema,
    isObject(fields) ? withKeptFields(fields, keptFields) : fields,
  );
  return problems.length > 0 ? { redacted, dropped, reasons: reasonsOf(problems) } : { redacted, dropped, value };
}

const withKeptFields = (fields: Readonly<Record<string, unknown>>, keptFields: KeptFields): object => ({
  ...fields,
  ...Object.fromEntries(
    [...keptFields].map(([field, keptValue]) => {
      const newValue = fields[field];
      if (!(keptValue instanceof Map)) return [field, keptValue];
      return [field, isObject(newValue) ? withKeptFields(newValue, keptValue) : newValue];
    }),
  ),
});

const maxReasons = 20;

/** The problems of a result as sentences for the next attempt. */
export const reasonsOf = (problems: readonly Problem[]): string[] =>
  problems
    .slice(0, maxReasons)
    .map(({ pointer, message, hint }) => `${pointer || "/"} ${message}${hint ? ` (${hint})` : ""}`);
