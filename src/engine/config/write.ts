import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { ExpectedError, messageOf } from "../lib/errors.js";
import { writeFileAtomic } from "../storage/atomic-file.js";
import { checkConfig, readConfigFile, type WrittenKeys } from "./config-file.js";
import { type ConfigKeys, kindAt, readScalar } from "./keys.js";
import { isObject } from "../lib/json-fields.js";
import { keepOwn, partsIn } from "./trust.js";

/**
 * Writes `key` (with dots inside `agents`, such as agents.claude.model) into the one of `files` that is there, else the
 * first, keeping its comments and order, and returns the file's path; without a text the key is removed. Nothing is
 * written unless the whole file is valid afterwards. `env`: of the user, who trusts what they set in a folder's file;
 * absent for their own file.
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
  if (text === undefined && !isSet(file?.written, path)) throw new ExpectedError(`${key} is not set in ${target}.`, 1);
  await mkdir(dirname(target), { recursive: true });
  const write = async (written: WrittenKeys, whole: string) => {
    await writeFileAtomic(target, whole);
    if (env === undefined) return;
    const parts = (each: WrittenKeys) => partsIn(keys.needsTrust, each, target);
    await keepOwn(parts(file?.written ?? {}), parts(written), env);
  };
  if (target.endsWith(".json")) {
    const changed = setIn(JSON.parse(file?.text ?? "{}"), path, value);
    await write(checkConfig(keys, changed, key), `${JSON.stringify(changed, null, 2)}\n`);
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

function setIn(record: unknown, [first = "", ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  const before = isObject(record) ? record : {};
  return { ...before, [first]: rest.length === 0 ? value : setIn(before[first], rest, value) };
}
