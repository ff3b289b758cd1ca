import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { ModelMessage } from "ai";
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { type Redact, redactValue } from "../../engine/lib/redact.js";
import type { Usage } from "../../engine/loop/types.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { isNewer, newerFormat, requireKnownText, stateVersion } from "../../engine/storage/state/format-version.js";
import { ownFolder } from "../settings.js";
import { paired } from "./compact.js";

/** A conversation as it is kept between two starts. */
export interface SavedSession {
  readonly messages: readonly ModelMessage[];
  readonly usage: Usage;
}

/** Where the last conversation of a folder is kept. */
export const sessionPath = (env: NodeJS.ProcessEnv, cwd: string): string =>
  join(ownFolder(env), "sessions", `${createHash("sha256").update(cwd).digest("hex").slice(0, 16)}.json`);

/**
 * Keeps the conversation of this folder in place of the one before, readable by its user alone, without keys.
 * @throws ExpectedError (exit 5) where a later version kept the one before.
 */
export async function saveSession(
  env: NodeJS.ProcessEnv,
  cwd: string,
  { messages, usage }: SavedSession,
  redact: Redact,
): Promise<void> {
  const path = sessionPath(env, cwd);
  makeFolder(dirname(path), 0o700);
  requireKnownText(path, await readRegularText(path).catch(() => ""));
  const { value } = redactValue({ format: stateVersion, cwd, messages, usage }, redact);
  await writeFileAtomic(path, `${JSON.stringify(value)}\n`, { mode: 0o600 });
}

/**
 * The last conversation of this folder; a sentence where it can't be read, undefined where it is missing.
 * @throws ExpectedError (exit 5) where a later version has kept it.
 */
export async function lastSession(env: NodeJS.ProcessEnv, cwd: string): Promise<SavedSession | string | undefined> {
  const path = sessionPath(env, cwd);
  try {
    const read: unknown = JSON.parse(await readRegularText(path));
    if (isNewer(read)) throw newerFormat(path, read);
    const messages = messagesIn(read);
    if (messages === undefined) return `${path} holds no conversation that can be read; a new one begins.`;
    return { messages: paired(messages), usage: usageIn(read) };
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    return `${path} can't be read (${messageOf(error)}); a new conversation begins.`;
  }
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

function messagesIn(read: unknown): ModelMessage[] | undefined {
  if (!isFields(read) || !Number.isInteger(read["format"]) || !Array.isArray(read["messages"])) return undefined;
  return read["messages"].every(isMessage) ? (read["messages"] as ModelMessage[]) : undefined;
}

/** What the rest of the program relies on: roles, texts and the parts of tools. */
function isMessage(value: unknown): boolean {
  if (!isFields(value)) return false;
  const { role, content } = value;
  if (role === "user" || role === "assistant") {
    if (typeof content === "string") return true;
    return Array.isArray(content) && content.every((part) => isPart(part, role));
  }
  return role === "tool" && Array.isArray(content) && content.every((part) => isPart(part, role));
}

function isPart(part: unknown, role: "user" | "assistant" | "tool"): boolean {
  if (!isFields(part)) return false;
  const named = typeof part["toolCallId"] === "string" && typeof part["toolName"] === "string";
  if (role === "tool") return part["type"] === "tool-result" && named && isFields(part["output"]);
  if (part["type"] === "text" || part["type"] === "reasoning") return typeof part["text"] === "string";
  return role === "assistant" && part["type"] === "tool-call" && named;
}

function usageIn(read: unknown): Usage {
  const fields = isFields(read) && isFields(read["usage"]) ? read["usage"] : {};
  const count = (name: string) => (typeof fields[name] === "number" && fields[name] >= 0 ? fields[name] : 0);
  return { input: count("input"), cached: count("cached"), output: count("output"), requests: count("requests") };
}
