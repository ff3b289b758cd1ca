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
  repeatedName,
  tooDeepAt,
} from "./json-syntax.js";
import { type Problem, problemsOf, type SchemaName } from "./schema-check.js";
import { fieldsIn, isObject } from "../lib/json-fields.js";

const maxBytes = 5 * 1024 * 1024;

/**
 * Whether the folder that an agent worked in was replaced by a link, which may lead to files that are not the agent's.
 */
function isReplaced(workspace: string): boolean {
  try {
    return lstatSync(workspace).isSymbolicLink();
  } catch {
    return false;
  }
}

/**
 * Reads the one file an agent leaves. It may be anything: absent, a folder, a FIFO that never ends, a link to a secret,
 * 200 MB. Whatever it is, the answer is a value or one sentence for the next attempt.
 */
export async function readResult(path: string): Promise<{ value: unknown } | { reason: string }> {
  const read = readResultText(path);
  if ("reason" in read) return { reason: read.reason };
  const text = read.text.replace(/^\uFEFF/, "");
  if (text.trim() === "") return { reason: "result.json is empty" };
  if (hasTooManyBrackets(text)) return { reason: `result.json holds more than ${maxBrackets} lists and objects` };
  try {
    const value = JSON.parse(text) as unknown;
    const deep = tooDeepAt(value);
    if (deep !== undefined) return { reason: `result.json is nested deeper than ${maxLevels} levels at ${deep}` };
    const twice = repeatedName(text);
    return twice === undefined
      ? { value }
      : { reason: `result.json has ${twice} twice in one object; keep one of them` };
  } catch {
    const { line, column, message } = locateSyntaxError(text);
    return { reason: `result.json is not valid JSON at line ${line}, column ${column}: ${message}` };
  }
}

/**
 * The text of that file, unless it is not the agent's own: no link is followed, out of the workspace least of all.
 * `absent`: no result was left.
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
    const stat = fstatSync(file);
    if (!stat.isFile()) return { reason: "result.json is not a regular file" };
    if (stat.nlink > 1) return { reason: "result.json is a hard link to another file; it must be a file of its own" };
    if (stat.size > maxBytes)
      return { reason: `result.json has ${Math.round(stat.size / 1024 / 1024)} MB; 5 MB is the most` };
    return { text: readFileSync(file, "utf8") };
  } catch (error) {
    return { reason: `result.json could not be read (${messageOf(error)})` };
  } finally {
    closeSync(file);
  }
}

/**
 * Puts the JSON object that an agent gave as its final message into its workspace as result.json, where it left no such
 * file itself. Writing a file takes a turn of its own, in which a CLI sends the whole brief once more: half of an
 * iteration's input tokens. What is not a JSON object leaves nothing behind; one that is cut off is kept, so that it
 * can be said where.
 */
export async function keepAnswer(workspace: string, message: string): Promise<void> {
  const json = jsonIn(message) ?? cutJsonIn(message);
  if (json === undefined || isReplaced(workspace)) return;
  try {
    await writeFile(join(workspace, resultName), json, { flag: "wx" });
  } catch (error) {
    // Whatever stands there already is for the reader of results to judge; so is a workspace that the agent took away.
    if (!hasCode(error, "EEXIST", "ENOENT", "ENOTDIR", "EACCES", "EISDIR", "ELOOP")) throw error;
  }
}

/** Puts another result in the place of what an agent left; nothing where the agent took the folder away. */
export async function replaceResult(workspace: string, value: unknown): Promise<void> {
  if (isReplaced(workspace)) return;
  const path = join(workspace, resultName);
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
  await keepAnswer(workspace, JSON.stringify(value));
}

/**
 * The most characters that may stand around the object. A message that quotes the brief, with its example of a result,
 * has thousands.
 */
const maxSurrounding = 400;

/**
 * The one JSON object of a message: all of it, what a code fence holds, or from the first brace to the last, with few
 * words around it.
 */
export function jsonIn(message: string): string | undefined {
  const fenced = fencedIn(message);
  const [first, last] = [message.indexOf("{"), message.lastIndexOf("}")];
  const braced = first === -1 || last < first ? "" : message.slice(first, last + 1);
  const whole = message.trim();
  return [whole, ...fenced.toReversed(), braced].find(
    (json) => whole.length - json.length <= maxSurrounding && isObjectText(json),
  );
}

/**
 * What the code fences of a text hold, in one pass: an agent may send megabytes of line feeds or fences. Of marks and
 * blanks a fence has at most 100: in a process that has compiled many patterns V8 optimises no further one, and a run
 * of 8 MB in an unbounded one is then more than its stack holds.
 */
function fencedIn(text: string): string[] {
  const found: string[] = [];
  /** Where what stands behind an open fence begins, by its marks. */
  const open = new Map<string, number>();
  for (const { 0: line, 1: marks = "", 2: kind, index } of text.matchAll(
    /^[^\S\r\n\u2028\u2029]{0,100}(`{3,100}|~{3,100})(json)?[^\S\r\n\u2028\u2029]{0,100}$/gm,
  )) {
    const from = open.get(marks);
    if (from === undefined || kind !== undefined) open.set(marks, index + line.length + 1);
    else {
      found.push(text.slice(from, index).trim());
      open.clear();
    }
  }
  return found;
}

/**
 * What a message ends with, where that is the beginning of an object: a model that ran out of tokens stops anywhere.
 */
function cutJsonIn(message: string): string | undefined {
  const start = message.search(/\{\s*"/);
  const json = message.slice(start);
  return start >= 0 && start <= maxSurrounding && isUnfinished(json) ? json : undefined;
}

function isObjectText(text: string): boolean {
  return text.trimStart().startsWith("{") && !hasTooManyBrackets(text) && fieldsIn(text) !== undefined;
}

/**
 * White space, and what shows nothing though it is a character: zero-width spaces, joiners, fillers, an empty braille
 * cell.
 */
const blank = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+$/u;

/**
 * A copy of a JSON value in which every text that shows nothing is empty, so that it counts as one where something must
 * be said.
 */
function withoutBlanks(value: unknown): unknown {
  if (typeof value === "string") return blank.test(value) ? "" : value;
  if (Array.isArray(value)) return value.map(withoutBlanks);
  if (typeof value !== "object" || value === null) return value;
  // From pairs: assigned, a field named __proto__ would be no field.
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutBlanks(inner)]));
}

/** A result of more unknown fields than this many rounds of 200 is something else. */
const maxRounds = 5;

/**
 * A result against its schema. Fields that the schema does not know are taken out of `value` and
 * named in `dropped`, by their JSON pointers: they are not a reason to refuse paid work. `problems`: what else is
 * wrong, empty for a valid result.
 */
export function checkedResult(
  schema: SchemaName,
  result: unknown,
): { readonly value: unknown; readonly dropped: readonly string[]; readonly problems: readonly Problem[] } {
  const value = withoutBlanks(result);
  const all = problemsOf(schema, value);
  const dropped: string[] = [];
  let problems = all;
  for (let round = 0; round < maxRounds && problems.some(({ unknown }) => unknown !== undefined); round += 1) {
    for (const { pointer, unknown } of problems) {
      if (unknown === undefined) continue;
      const names = pointer
        .split("/")
        .slice(1)
        .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
      const holder = names.reduce((inner: unknown, name) => Reflect.get(inner as object, name), value);
      Reflect.deleteProperty(holder as object, unknown);
      dropped.push(`${pointer}/${unknown}`);
    }
    problems = problemsOf(schema, value);
  }
  // Where something is wrong, an unknown field may be the slip that caused it.
  return { value, dropped, problems: problems.length === 0 ? [] : all };
}

/** Of reading a result: what was found of secrets and of fields that nobody asked for. */
interface Reading {
  /** Something that looks like a secret of the user's was taken out. */
  readonly redacted: boolean;
  /** JSON pointers of fields that the schema does not know. */
  readonly dropped: readonly string[];
}

/** Fields of an earlier result that stay as they are; a map within stands for an object that is kept in part. */
export type Kept = ReadonlyMap<string, unknown>;

/**
 * Reads the result at `path` and checks it against its schema, without the user's secrets.
 * `kept`: fields that the agent has no say in.
 */
export async function readChecked(
  schema: SchemaName,
  path: string,
  redact: (text: string) => string,
  kept: Kept = new Map(),
): Promise<Reading & ({ readonly value: unknown } | { readonly reasons: readonly string[] })> {
  const result = await readResult(path);
  if ("reason" in result) return { redacted: false, dropped: [], reasons: [redact(result.reason)] };
  const { value: found, found: redacted } = redactValue(result.value, redact);
  const { value, dropped, problems } = checkedResult(schema, isObject(found) ? withKept(found, kept) : found);
  return problems.length > 0 ? { redacted, dropped, reasons: reasonsOf(problems) } : { redacted, dropped, value };
}

const withKept = (found: Readonly<Record<string, unknown>>, kept: Kept): object => ({
  ...found,
  ...Object.fromEntries(
    [...kept].map(([field, held]) => {
      const here = found[field];
      if (!(held instanceof Map)) return [field, held];
      return [field, isObject(here) ? withKept(here, held) : here];
    }),
  ),
});

const maxReasons = 20;

/** What is wrong with a result, a sentence each, for the next attempt to read. */
export const reasonsOf = (problems: readonly Problem[]): string[] =>
  problems
    .slice(0, maxReasons)
    .map(({ pointer, message, hint }) => `${pointer || "/"} ${message}${hint ? ` (${hint})` : ""}`);
