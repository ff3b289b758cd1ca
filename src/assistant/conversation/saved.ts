import { createHash } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ModelMessage } from "ai";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { isObject } from "../../engine/lib/json-fields.js";
import { type Redact, redactValue } from "../../engine/lib/redact.js";
import type { Usage } from "../../engine/loop/types.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { isNewer, newerFormat, requireKnownText, stateVersion } from "../../engine/storage/state/format-version.js";
import { settingsFolder } from "../settings.js";
import { keepPairedCalls, textOf } from "./compact.js";

/** A dialogue at the terminal, or a conversation of single messages. */
export type SessionKind = "dialogue" | "message";

/** A conversation that can be saved. */
export interface SavedSession {
  /** Absent if it was not saved yet. */
  readonly name?: string;
  readonly messages: readonly ModelMessage[];
  readonly usage: Usage;
}

/** A saved conversation. */
export interface NamedSession extends SavedSession {
  readonly name: string;
  readonly kind: SessionKind;
  /** When it was last saved, in milliseconds since the epoch. */
  readonly at: number;
}

/** Maximum number of saved conversations of each kind in a folder. The oldest are deleted. */
const maxSessionsPerKind = 20;

/** The path of the folder with the saved conversations of the folder `cwd`. Each is a file. */
export const sessionsPath = (env: NodeJS.ProcessEnv, cwd: string): string =>
  join(settingsFolder(env), "sessions", createHash("sha256").update(cwd).digest("hex").slice(0, 16));

/**
 * Saves a conversation of this folder under its name, or under a new name from its first message. Only the user can
 * read the file, and it contains no keys. Resolves with the name.
 * @throws ExpectedError (exit 5) if a later version of the program has written the file.
 */
export async function saveSession(
  env: NodeJS.ProcessEnv,
  cwd: string,
  { name, kind, at, messages, usage }: Omit<NamedSession, "name"> & { readonly name?: string },
  redact: Redact,
): Promise<string> {
  const folder = sessionsPath(env, cwd);
  makeFolder(folder, 0o700);
  const { value } = redactValue({ format: stateVersion, cwd, kind, at, messages, usage }, redact);
  const sessionName = name ?? nameFor((value as { messages: readonly ModelMessage[] }).messages, folder);
  const path = join(folder, `${sessionName}.json`);
  requireKnownText(path, await readRegularText(path).catch(() => ""));
  await writeFileAtomic(path, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  const { sessions } = await readSessions(env, cwd);
  for (const oldSession of sessions.filter((session) => session.kind === kind).slice(maxSessionsPerKind))
    rmSync(join(folder, `${oldSession.name}.json`), { force: true });
  return sessionName;
}

/** At most five words of the first message, with a number if the name is taken. */
function nameFor(messages: readonly ModelMessage[], folder: string): string {
  const words = (
    firstMessage(messages)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).slice(0, 5);
  const base = words.join("-").slice(0, 40).replace(/-$/, "") || "conversation";
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!existsSync(join(folder, `${name}.json`))) return name;
  }
}

/** The first message of a conversation. */
export const firstMessage = (messages: readonly ModelMessage[]): string =>
  textOf(messages.find(({ role }) => role === "user") ?? { role: "user", content: "" });

/**
 * The saved conversations of this folder, newest first, and a sentence for each file that can't be read.
 * @throws ExpectedError (exit 5) if a later version has saved one.
 */
export async function readSessions(
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<{ readonly sessions: readonly NamedSession[]; readonly problems: readonly string[] }> {
  const folder = sessionsPath(env, cwd);
  await moveOldFile(folder);
  const sessions: NamedSession[] = [];
  const problems: string[] = [];
  for (const file of existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : []) {
    const session = await readSession(join(folder, file));
    if (typeof session === "string") problems.push(session);
    else sessions.push({ name: file.slice(0, -".json".length), ...session });
  }
  return { sessions: sessions.toSorted((a, b) => b.at - a.at), problems };
}

/** Earlier versions saved one conversation in a file beside `folder`. Moves this file into `folder`. */
async function moveOldFile(folder: string): Promise<void> {
  const oldPath = `${folder}.json`;
  if (!existsSync(oldPath)) return;
  const session = await readSession(oldPath);
  makeFolder(folder, 0o700);
  renameSync(
    oldPath,
    join(folder, `${typeof session === "string" ? "broken" : nameFor(session.messages, folder)}.json`),
  );
}

/** @throws ExpectedError (exit 5) if a later version has saved it. */
async function readSession(path: string): Promise<Omit<NamedSession, "name"> | string> {
  try {
    const fields: unknown = JSON.parse(await readRegularText(path));
    if (isNewer(fields)) throw newerFormat(path, fields);
    const messages = readMessages(fields);
    if (messages === undefined || !isObject(fields)) return `${path} contains no conversation that can be read.`;
    const { kind, at } = fields;
    return {
      kind: kind === "message" ? kind : "dialogue",
      at: typeof at === "number" ? at : statSync(path).mtimeMs,
      messages: keepPairedCalls(messages),
      usage: readUsage(fields),
    };
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    return `${path} can't be read (${messageOf(error)}).`;
  }
}

function readMessages(value: unknown): ModelMessage[] | undefined {
  if (!isObject(value) || !Number.isInteger(value["format"]) || !Array.isArray(value["messages"])) return undefined;
  return value["messages"].every(isMessage) ? (value["messages"] as ModelMessage[]) : undefined;
}

/** Whether a message has all fields that the program reads: a role, texts, and complete tool calls and results. */
function isMessage(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { role, content } = value;
  if (role === "user" || role === "assistant") {
    if (typeof content === "string") return true;
    return Array.isArray(content) && content.every((part) => isPart(part, role));
  }
  return role === "tool" && Array.isArray(content) && content.every((part) => isPart(part, role));
}

function isPart(part: unknown, role: "user" | "assistant" | "tool"): boolean {
  if (!isObject(part)) return false;
  const hasToolNames = typeof part["toolCallId"] === "string" && typeof part["toolName"] === "string";
  if (role === "tool") return part["type"] === "tool-result" && hasToolNames && isObject(part["output"]);
  if (part["type"] === "text" || part["type"] === "reasoning") return typeof part["text"] === "string";
  return role === "assistant" && part["type"] === "tool-call" && hasToolNames;
}

function readUsage(value: unknown): Usage {
  const fields = isObject(value) && isObject(value["usage"]) ? value["usage"] : {};
  const count = (name: string) => (typeof fields[name] === "number" && fields[name] >= 0 ? fields[name] : 0);
  return { input: count("input"), cached: count("cached"), output: count("output"), requests: count("requests") };
}
