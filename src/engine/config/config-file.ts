import { join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../lib/errors.js";
import { userFolder } from "../lib/layout.js";
import { locateSyntaxError, repeatedName } from "../storage/json-syntax.js";
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
  const value = path.endsWith(".json") ? fromJson(text, path) : await fromYaml(text, path);
  return checkConfig(keys, value ?? {}, path, 1);
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

/** The value as a config, or an ExpectedError that names `where`, the pointer and a hint. */
export function checkConfig(keys: ConfigKeys, value: unknown, where: string, exitCode: 1 | 2): WrittenKeys {
  if (!isObject(value))
    throw new ExpectedError(`${where} must hold keys and values, such as 'agent: codex'.`, exitCode);
  const wrong = unknownKeysIn(keys, value);
  if (wrong.length === 0) {
    const problems = problemsOf("config", value);
    wrong.push(...problems.map((problem) => `${problem.pointer} ${worded(problem)}`));
  }
  const [first, ...more] = wrong;
  if (first === undefined) return value;
  throw new ExpectedError(`${where}: ${first}${more.length === 0 ? "" : `, and ${more.length} more`}.`, exitCode);
}

/** The same for one value given by itself: a flag, a variable. */
export function checkValue(key: string, value: unknown, where: string, exitCode: 1 | 2): void {
  const [problem] = problemsOf("config", { [key]: value });
  if (problem !== undefined) throw new ExpectedError(`${where} ${worded(problem)}.`, exitCode);
}

const worded = ({ message, hint }: Problem): string =>
  hint === undefined ? message : `${message} (${hint.replace(/\.$/, "")})`;
