import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { ExpectedError, hasCode, messageOf } from "../lib/errors.js";
import { isObject, jsonIn } from "../lib/json-fields.js";
import { trustFolder } from "../lib/layout.js";
import { shellWord } from "../lib/sanitise.js";
import { writeFileAtomic } from "../storage/atomic-file.js";
import { makeFolder } from "../storage/regular-file.js";
import { defaultStateDir } from "./state-dir.js";
import { type NeedsTrust, readScalar, variableOf } from "./keys.js";

/*
 * What stands in a folder may have come with it. A setting there that starts a program, opens the confinement, or sends
 * work or keys elsewhere counts only once the user trusts it: this folder, this file, this text. A wing names such
 * settings in its keys (`needsTrust`); what would work by one asks here first.
 */

/** One setting of a file that counts only once it is trusted. */
export interface TrustedPart {
  /** Absolute path of the file. */
  readonly file: string;
  /** Where it stands in the file, with dots: `agents.mine`. */
  readonly key: string;
  readonly value: unknown;
  /** More that has to be as it was when the user agreed, where the value alone does not say it. */
  readonly text?: string;
}

/** The parts of a file that need trust. A key that ends in `.*` stands for each name under it. */
export function partsIn(
  needs: Readonly<Record<string, NeedsTrust>>,
  written: Readonly<Record<string, unknown>>,
  file: string,
): TrustedPart[] {
  const part = (key: string, needed: unknown) => (needed === undefined ? [] : [{ file, key, value: needed }]);
  return Object.entries(needs).flatMap(([key, needed]) => {
    if (!key.endsWith(".*")) return written[key] === undefined ? [] : part(key, needed(written[key], dirname(file)));
    const names = written[key.slice(0, -2)];
    return Object.entries(isObject(names) ? names : {}).flatMap(([name, value]) =>
      part(`${key.slice(0, -1)}${name}`, needed(value, dirname(file))),
    );
  });
}

/** A person who may be asked, and where what they trust is kept. */
export interface Asked {
  readonly env: NodeJS.ProcessEnv;
  /** Whether a person sits there; absent: nobody does. */
  readonly canAsk?: boolean;
  readonly stdin?: Readable;
  readonly terminal?: Writable;
}

/** What the command line says of trust. */
interface Said {
  /** All of it is trusted as it stands. */
  readonly trust?: boolean;
  /** What `research-ralph trust` is to be given; by default the folder of the file. */
  readonly at?: string;
}

/**
 * Returns once the user trusts all of these: already, by the command line, or when asked at the terminal, where each is
 * shown with file, key and value.
 * @throws ExpectedError (exit code 2) where they do not, or nobody can be asked.
 */
export async function requireTrust(parts: readonly TrustedPart[], asked: Asked, said: Said = {}): Promise<void> {
  const open = untrusted(parts, asked.env);
  const [first] = open;
  if (first === undefined) return;
  const { env, canAsk = false, stdin, terminal } = asked;
  if (said.trust !== true) {
    if (!canAsk || stdin === undefined || terminal === undefined)
      throw new ExpectedError(refusal(open, first.file, said.at ?? dirname(first.file)), 2);
    terminal.write(`${intro}\n${partLines(open).join("\n")}\n`);
    if (!(await isAgreed({ stdin, terminal })))
      throw new ExpectedError(
        `You did not agree, so nothing was started; 'research-ralph trust ${shellWord(said.at ?? dirname(first.file))}' shows these settings again.`,
        2,
      );
  }
  await keepTrust(open, env);
}

/** Lines of at most 60 columns. */
const intro = "These settings came with the folder.\nThey start programs, lift confinement or send data away:";

/** The question of all commands. True for a yes alone. */
export async function isAgreed({ stdin, terminal }: Required<Pick<Asked, "stdin" | "terminal">>): Promise<boolean> {
  const asking = createInterface({ input: stdin, output: terminal });
  try {
    const said = await new Promise<string>((done) => {
      asking.once("close", () => done(""));
      asking.question("Trust them as they stand, now and in future? (yes, no) ", done);
    });
    return /^y(?:es)?$/i.test(said.trim());
  } finally {
    asking.close();
  }
}

function refusal(open: readonly TrustedPart[], file: string, at: string): string {
  const keys = open.filter((part) => part.file === file).map((part) => escaped(namesOf(part)[0] ?? part.key));
  const named = keys.length > 4 ? `${keys.slice(0, 3).join(", ")} and ${keys.length - 3} more` : keys.join(", ");
  return `${file} sets ${named}, and you have not trusted it as it stands; read it with 'research-ralph trust ${shellWord(at)}', or add --trust.`;
}

/** One line for each setting, in full: a part that is cut off is a place to hide in. */
export const partLines = (parts: readonly TrustedPart[]): string[] =>
  parts.flatMap((part, at) => {
    const { file, value } = part;
    const names = namesOf(part);
    const values = names.length === 1 && names[0] === part.key ? [value] : Object.values(value as object);
    return [
      ...(parts[at - 1]?.file === file ? [] : [escaped(file)]),
      ...names.map((name, place) => `  ${escaped(name)}: ${escaped(JSON.stringify(values[place]))}`),
    ];
  });

/** The single settings of a part, the one that says most first. */
function namesOf({ key, value }: TrustedPart): string[] {
  const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
  return names.length === 0 ? [key] : names.map((name) => `${key}.${name}`);
}

/** Characters that a terminal does not print, or by which it hides others, in the spelling of JSON. */
const escaped = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);

/** What is kept of one part. */
interface Kept {
  readonly file: string;
  readonly key: string;
  readonly hash: string;
}

/** What a user trusts in one folder. */
export interface TrustedFolder {
  readonly folder: string;
  readonly trusted: readonly Kept[];
}

/** Whether the environment trusts everything. It is not written down: what we start has the same environment. */
function isAllTrusted(env: NodeJS.ProcessEnv): boolean {
  const name = variableOf("trust");
  const said = env[name] ?? "";
  return said !== "" && readScalar("boolean", said, name, 1) === true;
}

/** Of these parts those that the user has not trusted, or not as they stand. */
export function untrusted(parts: readonly TrustedPart[], env: NodeJS.ProcessEnv): readonly TrustedPart[] {
  if (isAllTrusted(env)) return [];
  const known = new Map<string, ReadonlySet<string>>();
  return parts.filter((part) => {
    const path = trustFile(dirname(part.file), env);
    const hashes = known.get(path) ?? new Set(readTrust(path)?.trusted.map(({ hash }) => hash));
    known.set(path, hashes);
    return !hashes.has(hashOf(part));
  });
}

/** Remembers that the user trusts these parts as they stand. @throws ExpectedError where that can't be written. */
export async function keepTrust(parts: readonly TrustedPart[], env: NodeJS.ProcessEnv): Promise<void> {
  for (const [path, [first, ...others]] of byFolder(parts, env)) {
    const before = readTrust(path)?.trusted ?? [];
    const more = [first, ...others].map((part) => ({ file: basename(part.file), key: part.key, hash: hashOf(part) }));
    const trusted = [...new Map([...before, ...more].map((each) => [each.hash, each])).values()];
    try {
      makeFolder(dirname(path), 0o700);
      const kept: TrustedFolder = { folder: realFolder(dirname(first.file)), trusted };
      await writeFileAtomic(path, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    } catch (error) {
      throw new ExpectedError(`What you trust can't be remembered in ${path}: ${messageOf(error)}.`);
    }
  }
}

function byFolder(parts: readonly TrustedPart[], env: NodeJS.ProcessEnv): Map<string, [TrustedPart, ...TrustedPart[]]> {
  const folders = new Map<string, [TrustedPart, ...TrustedPart[]]>();
  for (const part of parts) {
    const path = trustFile(dirname(part.file), env);
    const held = folders.get(path);
    if (held === undefined) folders.set(path, [part]);
    else held.push(part);
  }
  return folders;
}

/**
 * Trusts what one of our own commands has written, as the user asked: the parts that were not there `before`. One in
 * whose place something untrusted stood stays as untrusted as that was.
 */
export async function keepOwn(
  before: readonly TrustedPart[],
  after: readonly TrustedPart[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const strange = new Set(untrusted(before, env).map(({ key }) => key));
  const own = untrusted(after, env).filter(({ key }) => !strange.has(key));
  await keepTrust(own, env);
}

/** Takes all trust in a folder back; whether there was any. */
export async function takeTrustBack(folder: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const path = trustFile(folder, env);
  if (readTrust(path) === undefined) return false;
  await rm(path);
  return true;
}

/** Every folder in which the user trusts something, by name. */
export function trustedFolders(env: NodeJS.ProcessEnv): readonly TrustedFolder[] {
  const store = trustFolder(stateOf(env));
  let names: string[];
  try {
    names = readdirSync(store).filter((name) => name.endsWith(".json"));
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
  return names
    .flatMap((name) => readTrust(join(store, name)) ?? [])
    .toSorted((one, other) => (one.folder < other.folder ? -1 : 1));
}

/**
 * The file of what a user trusts in a folder. It lies in the state folder of the environment or of the user's home,
 * whatever a file says: a folder must not bring its own trust.
 */
export const trustFile = (folder: string, env: NodeJS.ProcessEnv): string =>
  join(trustFolder(stateOf(env)), `${sha256(realFolder(folder)).slice(0, 32)}.json`);

function stateOf(env: NodeJS.ProcessEnv): string {
  const home = env["HOME"] ?? homedir();
  const named = env[variableOf("state_dir")] ?? "";
  return named === "" ? defaultStateDir(env, home) : resolve(named.replace(/^~(?=\/|$)/, home));
}

/** A file that is broken trusts nothing: it is asked again. */
function readTrust(path: string): TrustedFolder | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw new ExpectedError(`${path} can't be read: ${messageOf(error)}.`);
  }
  const value = jsonIn(text);
  const { folder, trusted } = isObject(value) ? value : {};
  if (typeof folder !== "string" || !Array.isArray(trusted)) return undefined;
  return { folder, trusted: trusted.filter(isKept) };
}

const isKept = (value: unknown): value is Kept =>
  isObject(value) && [value["file"], value["key"], value["hash"]].every((each) => typeof each === "string");

const hashOf = ({ file, key, value, text }: TrustedPart): string =>
  sha256(JSON.stringify([basename(file), key, value, text]));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A folder without links; as it is where that can't be found out. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}
