import { join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../lib/errors.js";
import { userFolder } from "../lib/layout.js";
import { linesOf, locateSyntaxError, repeatedName } from "../storage/json-syntax.js";
import { readRegularFile, writtenText } from "../storage/regular-file.js";
import { type Problem, problemsOf } from "../storage/schema-check.js";
import { type ConfigKeys, unknownKeysIn } from "./keys.js";
import { isObject } from "../lib/json-fields.js";

/** Keys and values of a file that fits schemas/config.schema.json. */
export type WrittenKeys = Readonly<Record<string, unknown>>;

/** A config file that is there. */
interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly written: WrittenKeys;
}

/** Where the config of a project stands: `<folder>/ralph.config.yaml` or `.json`. */
export const projectFiles = (cwd: string): string[] =>
  ["yaml", "json"].map((suffix) => join(cwd, `ralph.config.${suffix}`));

/** Where a user's config for all projects stands. */
export const userFiles = (home: string): string[] =>
  ["yaml", "json"].map((suffix) => join(userFolder(home), `config.${suffix}`));

/**
 * The one of these files that is there, read and validated. Two at once would leave open which counts, so that is an
 * error.
 */
export async function readConfigFile(keys: ConfigKeys, paths: readonly string[]): Promise<ConfigFile | undefined> {
  const found: { path: string; text: string }[] = [];
  for (const path of paths) {
    const text = await readIfThere(path);
    if (text !== undefined) found.push({ path, text });
  }
  const [file, second] = found;
  if (file === undefined) return undefined;
  if (second !== undefined)
    throw new ExpectedError(`There are both ${file.path} and ${second.path}; keep one of them.`);
  return { ...file, written: await parseConfig(keys, file.text, file.path) };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return writtenText(await readRegularFile(path), path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    if (error instanceof ExpectedError) throw error;
    throw new ExpectedError(`${path} can't be read: ${messageOf(error)}.`);
  }
}

async function parseConfig(keys: ConfigKeys, text: string, path: string): Promise<WrittenKeys> {
  const isJson = path.endsWith(".json");
  const value = (isJson ? fromJson(text, path) : await fromYaml(text, path)) ?? {};
  const { problem, more } = problemInConfig(keys, value);
  if (problem === undefined) return value as WrittenKeys;
  const { pointer } = problem;
  const line = pointer === "" ? undefined : isJson ? linesOf(text, [pointer])[0] : await lineInYaml(text, pointer);
  throw unusable(line === undefined ? path : `${path}:${line}`, problem, more, 1);
}

function fromJson(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column, message, hint } = locateSyntaxError(text);
    const advice = hint === undefined ? "" : ` ${hint}`;
    throw new ExpectedError(`${path} is not valid JSON at line ${line}, column ${column}: ${message}.${advice}`);
  }
  // YAML refuses it too: nobody can tell which of two limits was meant.
  const twice = repeatedName(text);
  if (twice !== undefined) throw new ExpectedError(`${path} has ${twice} twice in one object; keep one of them.`);
  return value;
}

async function fromYaml(text: string, path: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(text);
  } catch (error) {
    // The library shows the line below its sentence.
    const [sentence = ""] = messageOf(error).split("\n");
    throw new ExpectedError(`${path} is not valid YAML: ${sentence.replace(/:\s*$/, "")}.`);
  }
}

/** The line on which a key, or the nearest one around it, stands in a valid YAML text. */
async function lineInYaml(text: string, pointer: string): Promise<number | undefined> {
  const { LineCounter, isMap, isScalar, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  let node: unknown = parseDocument(text, { lineCounter: lines }).contents;
  let at: number | undefined;
  for (const name of pointer.split("/").slice(1)) {
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && String(key.value) === name) : undefined;
    if (pair === undefined) break;
    at = isScalar(pair.key) ? pair.key.range?.[0] : undefined;
    node = pair.value;
  }
  return at === undefined ? undefined : lines.linePos(at).line;
}

/** The first thing that keeps a value from being a config, and how many more there are. */
function problemInConfig(keys: ConfigKeys, value: unknown): { problem?: Problem; more: number } {
  if (!isObject(value))
    return { problem: { pointer: "", message: "must hold keys and values, such as 'agent: codex'" }, more: 0 };
  const unknown = unknownKeysIn(keys, value);
  const [problem, ...more] = unknown.length > 0 ? unknown : problemsOf("config", value);
  return { problem, more: more.length };
}

function unusable(where: string, problem: Problem, more: number, exitCode: 1 | 2): ExpectedError {
  const { pointer } = problem;
  const place = pointer === "" ? where : `${where}: ${pointer}`;
  return new ExpectedError(`${place} ${worded(problem)}${more === 0 ? "" : `, and ${more} more`}.`, exitCode);
}

/** The value as a config, or an ExpectedError (exit code 2) that names `where`, the pointer and a hint. */
export function checkConfig(keys: ConfigKeys, value: unknown, where: string): WrittenKeys {
  const { problem, more } = problemInConfig(keys, value);
  if (problem !== undefined) throw unusable(where, problem, more, 2);
  return value as WrittenKeys;
}

/** The same for one value given by itself: a flag, a variable. */
export function checkValue(key: string, value: unknown, where: string, exitCode: 1 | 2): void {
  const [problem] = problemsOf("config", { [key]: value });
  if (problem !== undefined) throw new ExpectedError(`${where} ${worded(problem)}.`, exitCode);
}

const worded = ({ message, hint }: Problem): string =>
  hint === undefined ? message : `${message} (${hint.replace(/\.$/, "")})`;
