import { readFile } from "node:fs/promises";
import { ExpectedError, messageOf } from "../lib/errors.js";
import { writeFileAtomic } from "../storage/atomic-file.js";
import { checkConfig, projectFiles, readConfigFile } from "./file.js";
import { isRecord, kindAt, readScalar } from "./keys.js";

/**
 * Writes `key` (with dots inside `agents`, such as agents.claude.model) into the project's config file, keeping its
 * comments and order, and returns the file's path. Nothing is written unless the whole file is valid afterwards.
 */
export async function writeConfigValue(cwd: string, key: string, text: string): Promise<string> {
  const path = key.split(".");
  const kind = kindAt(path);
  const { Document, parse, parseDocument } = await import("yaml");
  const value = kind === "yaml" ? parseYamlValue(parse, key, text) : readScalar(kind, text, key, 2);

  const file = await readConfigFile(projectFiles(cwd));
  const target = file?.path ?? projectFiles(cwd)[0]!;
  if (target.endsWith(".json")) {
    const changed = setIn(JSON.parse(await readFile(target, "utf8")), path, value);
    checkConfig(changed, key, 2);
    await writeFileAtomic(target, `${JSON.stringify(changed, null, 2)}\n`);
    return target;
  }
  const document = file === undefined ? new Document({}) : parseDocument(file.text);
  document.setIn(path, value);
  checkConfig(document.toJS(), key, 2);
  await writeFileAtomic(target, document.toString());
  return target;
}

function parseYamlValue(parse: (text: string) => unknown, key: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new ExpectedError(`The value of ${key} is not valid YAML: ${messageOf(error).split("\n")[0]}.`, 2);
  }
}

function setIn(record: unknown, [first = "", ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  const before = isRecord(record) ? record : {};
  return { ...before, [first]: rest.length === 0 ? value : setIn(before[first], rest, value) };
}
