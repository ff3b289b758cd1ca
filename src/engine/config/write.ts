import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { ExpectedError, messageOf } from "../lib/errors.js";
import { writeFileAtomic } from "../storage/atomic-file.js";
import { checkConfig, readConfigFile, type ConfigValues } from "./config-file.js";
import { type ConfigKeys, kindAt, readScalar } from "./keys.js";
import { fieldsOf, isObject } from "../lib/json-fields.js";
import { trustOwnChanges, partsIn } from "./trust.js";

/**
 * Writes `key` (with dots inside `agents`, such as agents.claude.model) into the existing file of `files`, or into the
 * first one if none exists. Keeps the comments and the order of the file, and returns its path. Without `text`, removes
 * the key. Writes nothing if the file would not be valid afterwards. `env`: the user's environment, to trust the new
 * setting in a folder's file; absent for the user's own file.
 */
export async function writeConfigValue(
  keys: ConfigKeys,
  files: readonly string[],
  key: string,
  text: string | undefined,
  env?: NodeJS.ProcessEnv,
): Promise<string> {
  const path = key.split(".");
  const kind = kindAt(keys, path);
  const { Document, parse, parseDocument } = await import("yaml");
  const value =
    text === undefined
      ? undefined
      : kind === "yaml"
        ? parseYamlValue(parse, key, text)
        : readScalar(kind, text, key, 2);

  const file = await readConfigFile(keys, files);
  const target = file?.path ?? files[0]!;
  if (text === undefined && !isSet(file?.values, path)) throw new ExpectedError(`${key} is not set in ${target}.`, 1);
  await mkdir(dirname(target), { recursive: true });
  const write = async (settings: ConfigValues, fileText: string) => {
    // The user's own file may hold keys.
    await writeFileAtomic(target, fileText, env === undefined ? { mode: 0o600 } : {});
    if (env === undefined) return;
    const partsOf = (values: ConfigValues) => partsIn(keys.needsTrust, values, target);
    await trustOwnChanges(partsOf(file?.values ?? {}), partsOf(settings), env);
  };
  if (target.endsWith(".json")) {
    const newConfig = withValueAt(JSON.parse(file?.text ?? "{}"), path, value);
    await write(checkConfig(keys, newConfig, key), `${JSON.stringify(newConfig, null, 2)}\n`);
    return target;
  }
  const document = file === undefined ? new Document({}) : parseDocument(file.text);
  if (value === undefined) document.deleteIn(path);
  else document.setIn(path, value);
  await write(checkConfig(keys, document.toJS(), key), document.toString());
  return target;
}

function parseYamlValue(parse: (text: string) => unknown, key: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new ExpectedError(`The value of ${key} is not valid YAML: ${messageOf(error).split("\n")[0]}.`, 2);
  }
}

const isSet = (record: unknown, path: readonly string[]): boolean =>
  path.reduce<unknown>((inner, part) => (isObject(inner) ? inner[part] : undefined), record) !== undefined;

function withValueAt(
  record: unknown,
  [first = "", ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  const fields = fieldsOf(record);
  return { ...fields, [first]: rest.length === 0 ? value : withValueAt(fields[first], rest, value) };
}
