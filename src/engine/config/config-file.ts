import { join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../lib/errors.js";
import { userFolder } from "../lib/layout.js";
import { linesOf, locateSyntaxError, findRepeatedName } from "../storage/json-syntax.js";
import { readRegularFile, decodeUserText } from "../storage/regular-file.js";
import { type Problem, problemsOf } from "../storage/schema-check.js";
import { type ConfigKeys, unknownKeysIn } from "./keys.js";
import { isObject } from "../lib/json-fields.js";

/** Keys and values of a configuration that is valid against schemas/config.schema.json. */
export type ConfigValues = Readonly<Record<string, unknown>>;

/** An existing configuration file. */
interface ConfigFile {
  /** Absolute path. */
  readonly path: string;
  readonly text: string;
  readonly values: ConfigValues;
}

/** Possible paths of a project's configuration: `<folder>/ralph.config.yaml` or `.json`. */
export const projectFiles = (cwd: string): string[] =>
  ["yaml", "json"].map((suffix) => join(cwd, `ralph.config.${suffix}`));

/**
 * Possible paths of a user's configuration for all projects. The tool makes the first one: both programs, and every
 * sentence that names a file before there is one, must agree.
 */
export const userFiles = (home: string): [string, string] => [
  join(userFolder(home), "config.json"),
  join(userFolder(home), "config.yaml"),
];

/**
 * Reads and validates a configuration file, the one of `paths` that exists. Undefined if none exists. Two existing
 * files are an error, as it would not be clear which of them is used.
 */
export async function readConfigFile(keys: ConfigKeys, paths: readonly string[]): Promise<ConfigFile | undefined> {
  const files: { path: string; text: string }[] = [];
  for (const path of paths) {
    const text = await readOptionalFile(path);
    if (text !== undefined) files.push({ path, text });
  }
  const [file, second] = files;
  if (file === undefined) return undefined;
  if (second !== undefined)
    throw new ExpectedError(`There are both ${file.path} and ${second.path}; keep one of them.`);
  return { ...file, values: await parseConfig(keys, file.text, file.path) };
}

async function readOptionalFile(path: string): Promise<string | undefined> {
  try {
    return decodeUserText(await readRegularFile(path), path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    if (error instanceof ExpectedError) throw error;
    throw new ExpectedError(`${path} can't be read: ${messageOf(error)}.`);
  }
}

async function parseConfig(keys: ConfigKeys, text: string, path: string): Promise<ConfigValues> {
  const isJson = path.endsWith(".json");
  const value = (isJson ? parseJsonText(text, path) : await parseYamlText(text, path)) ?? {};
  const { problem, moreCount } = problemInConfig(keys, value);
  if (problem === undefined) return value as ConfigValues;
  const { pointer } = problem;
  const line = pointer === "" ? undefined : isJson ? linesOf(text, [pointer])[0] : await lineInYaml(text, pointer);
  throw configError(line === undefined ? path : `${path}:${line}`, problem, moreCount, 1);
}

function parseJsonText(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column, message, hint } = locateSyntaxError(text);
    const advice = hint === undefined ? "" : ` ${hint}`;
    throw new ExpectedError(`${path} is not valid JSON at line ${line}, column ${column}: ${message}.${advice}`);
  }
  // YAML does not allow a repeated name either: it is not clear which of the two values the user meant.
  const duplicateName = findRepeatedName(text);
  if (duplicateName !== undefined)
    throw new ExpectedError(`${path} has ${duplicateName} twice in one object; keep one of them.`);
  return value;
}

async function parseYamlText(text: string, path: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(text);
  } catch (error) {
    // The library prints the line of the file below its message.
    const [message = ""] = messageOf(error).split("\n");
    throw new ExpectedError(`${path} is not valid YAML: ${message.replace(/:\s*$/, "")}.`);
  }
}

/** The line number of a key in a valid YAML text; if the key is missing, the line of its nearest parent key. */
async function lineInYaml(text: string, pointer: string): Promise<number | undefined> {
  const { LineCounter, isMap, isScalar, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  let node: unknown = parseDocument(text, { lineCounter: lines }).contents;
  let offset: number | undefined;
  for (const name of pointer.split("/").slice(1)) {
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && String(key.value) === name) : undefined;
    if (pair === undefined) break;
    offset = isScalar(pair.key) ? pair.key.range?.[0] : undefined;
    node = pair.value;
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

/** The first reason why a value is not a valid configuration, and the number of further ones. */
function problemInConfig(keys: ConfigKeys, value: unknown): { problem?: Problem; moreCount: number } {
  if (!isObject(value))
    return { problem: { pointer: "", message: "must hold keys and values, such as 'agent: codex'" }, moreCount: 0 };
  const unknownKeys = unknownKeysIn(keys, value);
  const [problem, ...moreCount] = unknownKeys.length > 0 ? unknownKeys : problemsOf("config", value);
  return { problem, moreCount: moreCount.length };
}

function configError(source: string, problem: Problem, moreCount: number, exitCode: 1 | 2): ExpectedError {
  const { pointer } = problem;
  const place = pointer === "" ? source : `${source}: ${pointer}`;
  return new ExpectedError(
    `${place} ${problemText(problem)}${moreCount === 0 ? "" : `, and ${moreCount} more`}.`,
    exitCode,
  );
}

/** Returns a valid configuration, or throws an ExpectedError (exit code 2) with `source`, the pointer and a hint. */
export function checkConfig(keys: ConfigKeys, value: unknown, source: string): ConfigValues {
  const { problem, moreCount } = problemInConfig(keys, value);
  if (problem !== undefined) throw configError(source, problem, moreCount, 2);
  return value as ConfigValues;
}

/** Throws an ExpectedError if one value, such as that of a flag or a variable, is not valid. */
export function checkValue(key: string, value: unknown, source: string, exitCode: 1 | 2): void {
  const [problem] = problemsOf("config", { [key]: value });
  if (problem !== undefined) throw new ExpectedError(`${source} ${problemText(problem)}.`, exitCode);
}

const problemText = ({ message, hint }: Problem): string =>
  hint === undefined ? message : `${message} (${hint.replace(/\.$/, "")})`;
