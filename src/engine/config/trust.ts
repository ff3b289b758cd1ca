import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { ExpectedError, hasCode, messageOf } from "../lib/errors.js";
import { fieldsOf, isObject, jsonIn } from "../lib/json-fields.js";
import { trustFolder } from "../lib/layout.js";
import { shellWord } from "../lib/sanitise.js";
import { writeFileAtomic } from "../storage/atomic-file.js";
import { makeFolder } from "../storage/regular-file.js";
import { defaultStateDir } from "./state-dir.js";
import { type NeedsTrust, readScalar, variableOf } from "./keys.js";

/*
 * The settings of a folder may come from somebody else. A setting that starts a program, weakens the confinement, or
 * sends work or keys to another machine is used only after the user trusts it: in this folder, this file, with this
 * text. Each wing lists such settings in its keys (`needsTrust`); a command that uses one asks for trust here first.
 */

/** One setting of a file that is used only after the user trusts it. */
export interface TrustedPart {
  /** Absolute path of the file. */
  readonly file: string;
  /** Path of the setting in the file, with dots: `agents.mine`. */
  readonly key: string;
  readonly value: unknown;
  /** More text that must not change after the user agreed, if the value alone is not enough. */
  readonly text?: string;
  /** The value is stored too, so that it is used again without being typed. */
  readonly isValueStored?: true;
}

/** The parts of a file that need trust. A key that ends in `.*` stands for each name under it. */
export function partsIn(
  needs: Readonly<Record<string, NeedsTrust>>,
  settings: Readonly<Record<string, unknown>>,
  file: string,
): TrustedPart[] {
  const part = (key: string, trustedValue: unknown) =>
    trustedValue === undefined ? [] : [{ file, key, value: trustedValue }];
  return Object.entries(needs).flatMap(([key, needsTrust]) => {
    if (!key.endsWith(".*"))
      return settings[key] === undefined ? [] : part(key, needsTrust(settings[key], dirname(file)));
    const names = settings[key.slice(0, -2)];
    return Object.entries(fieldsOf(names)).flatMap(([name, value]) =>
      part(`${key.slice(0, -1)}${name}`, needsTrust(value, dirname(file))),
    );
  });
}

/** How to ask the user for trust, and the environment that says where their answers are stored. */
export interface TrustPrompt {
  readonly env: NodeJS.ProcessEnv;
  /** Whether a user is at the terminal; absent: false. */
  readonly canAsk?: boolean;
  readonly stdin?: Readable;
  readonly terminal?: Writable;
}

/** Options about trust on the command line. */
interface TrustOptions {
  /** Whether the user trusts all settings as they are. */
  readonly trust?: boolean;
  /** The argument for `research-ralph trust` in messages; by default the folder of the file. */
  readonly trustTarget?: string;
}

/**
 * Returns if the user trusts all these settings: because of an earlier answer, by an option of the command line, or by
 * an answer at the terminal, which shows each setting with its file, key and value.
 * @throws ExpectedError (exit code 2) if the user does not agree, or is not at a terminal.
 */
export async function requireTrust(
  parts: readonly TrustedPart[],
  prompt: TrustPrompt,
  options: TrustOptions = {},
): Promise<void> {
  const untrustedParts = findUntrusted(parts, prompt.env);
  const [first] = untrustedParts;
  if (first === undefined) return;
  const { env, canAsk = false, stdin, terminal } = prompt;
  if (options.trust !== true) {
    if (!canAsk || stdin === undefined || terminal === undefined)
      throw new ExpectedError(refusal(untrustedParts, first.file, options.trustTarget ?? dirname(first.file)), 2);
    terminal.write(`${introduction}\n${partLines(untrustedParts).join("\n")}\n`);
    if (!(await askForTrust({ stdin, terminal })))
      throw new ExpectedError(
        `You did not agree, so nothing was started; 'research-ralph trust ${shellWord(options.trustTarget ?? dirname(first.file))}' shows these settings again.`,
        2,
      );
  }
  await storeTrust(untrustedParts, env);
}

/** Lines of at most 60 columns. */
const introduction = "These settings came with the folder.\nThey start programs, lift confinement or send data away:";

/** Asks the user whether they trust the settings. True only for the answer yes. */
export async function askForTrust({
  stdin,
  terminal,
}: Required<Pick<TrustPrompt, "stdin" | "terminal">>): Promise<boolean> {
  const lineReader = createInterface({ input: stdin, output: terminal });
  try {
    const answer = await new Promise<string>((resolveAnswer) => {
      lineReader.once("close", () => resolveAnswer(""));
      lineReader.question("Do you trust these settings, now and in future? (yes, no) ", resolveAnswer);
    });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lineReader.close();
  }
}

function refusal(untrustedParts: readonly TrustedPart[], file: string, target: string): string {
  const keys = untrustedParts
    .filter((part) => part.file === file)
    .map((part) => escapeHidden(namesOf(part)[0] ?? part.key));
  const keyList = keys.length > 4 ? `${keys.slice(0, 3).join(", ")} and ${keys.length - 3} more` : keys.join(", ");
  return `${file} sets ${keyList}, and you have not trusted it as it is now; read it with 'research-ralph trust ${shellWord(target)}', or add --trust.`;
}

/** One line for each setting, never shortened: a shortened line could hide a dangerous value. */
export const partLines = (parts: readonly TrustedPart[]): string[] =>
  parts.flatMap((part, index) => {
    const { file, value } = part;
    const names = namesOf(part);
    const values = names.length === 1 && names[0] === part.key ? [value] : Object.values(value as object);
    return [
      ...(parts[index - 1]?.file === file ? [] : [escapeHidden(file)]),
      ...names.map(
        (name, valueIndex) => `  ${escapeHidden(name)}: ${escapeHidden(JSON.stringify(values[valueIndex]))}`,
      ),
    ];
  });

/** The names of the single settings of a part. */
function namesOf({ key, value }: TrustedPart): string[] {
  const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
  return names.length === 0 ? [key] : names.map((name) => `${key}.${name}`);
}

/** Escapes characters that a terminal does not print, or that hide other characters. */
const escapeHidden = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** The stored record of one trusted part. */
interface TrustRecord {
  readonly file: string;
  readonly key: string;
  readonly hash: string;
  /** The value, of a part with `isValueStored`. */
  readonly value?: unknown;
}

/** The settings that a user trusts in one folder. */
export interface TrustedFolder {
  readonly folder: string;
  readonly trusted: readonly TrustRecord[];
}

/**
 * Whether a variable of the environment trusts all settings. This is not stored: child processes inherit the variable.
 */
function isAllTrusted(env: NodeJS.ProcessEnv): boolean {
  const name = variableOf("trust");
  const text = env[name] ?? "";
  return text !== "" && readScalar("boolean", text, name, 1) === true;
}

/** The parts that the user has not trusted, or that have changed since then. */
export function findUntrusted(parts: readonly TrustedPart[], env: NodeJS.ProcessEnv): readonly TrustedPart[] {
  if (isAllTrusted(env)) return [];
  const hashesByFile = new Map<string, ReadonlySet<string>>();
  return parts.filter((part) => {
    const path = trustFile(dirname(part.file), env);
    const hashes = hashesByFile.get(path) ?? new Set(readTrust(path)?.trusted.map(({ hash }) => hash));
    hashesByFile.set(path, hashes);
    return !hashes.has(hashOf(part));
  });
}

/** Stores that the user trusts these parts as they are. @throws ExpectedError if the file can't be written. */
export async function storeTrust(parts: readonly TrustedPart[], env: NodeJS.ProcessEnv): Promise<void> {
  for (const [path, [first, ...otherParts]] of partsByTrustFile(parts, env)) {
    const oldRecords = readTrust(path)?.trusted ?? [];
    const newRecords = [first, ...otherParts].map((part) => ({
      file: basename(part.file),
      key: part.key,
      hash: hashOf(part),
      ...(part.isValueStored === true ? { value: part.value } : {}),
    }));
    const newHashes = new Set(newRecords.map(({ hash }) => hash));
    const trusted = [...oldRecords.filter(({ hash }) => !newHashes.has(hash)), ...newRecords];
    try {
      makeFolder(dirname(path), 0o700);
      const content: TrustedFolder = { folder: realFolder(dirname(first.file)), trusted };
      await writeFileAtomic(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    } catch (error) {
      throw new ExpectedError(`What you trust can't be remembered in ${path}: ${messageOf(error)}.`);
    }
  }
}

/** The value of `key` that was stored last for this file; undefined if no value was stored. */
export const storedValue = (file: string, key: string, env: NodeJS.ProcessEnv): unknown =>
  readTrust(trustFile(dirname(file), env))?.trusted.findLast(
    (record) => record.file === basename(file) && record.key === key && record.value !== undefined,
  )?.value;

function partsByTrustFile(
  parts: readonly TrustedPart[],
  env: NodeJS.ProcessEnv,
): Map<string, [TrustedPart, ...TrustedPart[]]> {
  const folders = new Map<string, [TrustedPart, ...TrustedPart[]]>();
  for (const part of parts) {
    const path = trustFile(dirname(part.file), env);
    const group = folders.get(path);
    if (group === undefined) folders.set(path, [part]);
    else group.push(part);
  }
  return folders;
}

/**
 * Trusts the settings that one of our own commands has written for the user. A setting whose old value was not trusted
 * stays untrusted.
 */
export async function trustOwnChanges(
  oldParts: readonly TrustedPart[],
  newParts: readonly TrustedPart[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const untrustedKeys = new Set(findUntrusted(oldParts, env).map(({ key }) => key));
  const ownParts = findUntrusted(newParts, env).filter(({ key }) => !untrustedKeys.has(key));
  await storeTrust(ownParts, env);
}

/** Removes all trust in a folder. Returns whether there was any. */
export async function removeTrust(folder: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const path = trustFile(folder, env);
  if (readTrust(path) === undefined) return false;
  await rm(path);
  return true;
}

/** Every folder in which the user trusts a setting, sorted by name. */
export function trustedFolders(env: NodeJS.ProcessEnv): readonly TrustedFolder[] {
  const store = trustFolder(stateDirOf(env));
  let names: string[];
  try {
    names = readdirSync(store).filter((name) => name.endsWith(".json"));
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
  return names
    .flatMap((name) => readTrust(join(store, name)) ?? [])
    .toSorted((first, second) => (first.folder < second.folder ? -1 : 1));
}

/**
 * The path of the file that stores what a user trusts in a folder. It is in the state folder, which depends on the
 * environment and the user's home. Configuration files can't change this path: a folder must not contain its own trust.
 */
export const trustFile = (folder: string, env: NodeJS.ProcessEnv): string =>
  join(trustFolder(stateDirOf(env)), `${sha256(realFolder(folder)).slice(0, 32)}.json`);

function stateDirOf(env: NodeJS.ProcessEnv): string {
  const home = env["HOME"] ?? homedir();
  const stateDirText = env[variableOf("state_dir")] ?? "";
  return stateDirText === "" ? defaultStateDir(env, home) : resolve(stateDirText.replace(/^~(?=\/|$)/, home));
}

/** The content of a trust file; undefined if it is missing or not valid, and then the user is asked again. */
function readTrust(path: string): TrustedFolder | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw new ExpectedError(`${path} can't be read: ${messageOf(error)}.`);
  }
  const { folder, trusted } = fieldsOf(jsonIn(text));
  if (typeof folder !== "string" || !Array.isArray(trusted)) return undefined;
  return { folder, trusted: trusted.filter(isTrustRecord) };
}

const isTrustRecord = (value: unknown): value is TrustRecord =>
  isObject(value) && [value["file"], value["key"], value["hash"]].every((field) => typeof field === "string");

const hashOf = ({ file, key, value, text }: TrustedPart): string =>
  sha256(JSON.stringify([basename(file), key, value, text]));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The path of a folder with links resolved; the absolute path if links can't be resolved. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}
