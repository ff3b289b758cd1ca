import { createHash } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ModelMessage } from "ai";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { type Redact, redactValue } from "../../engine/lib/redact.js";
import type { Usage } from "../../engine/loop/types.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { makeFolder, readRegularText } from "../../engine/storage/regular-file.js";
import { isNewer, newerFormat, requireKnownText, stateVersion } from "../../engine/storage/state/format-version.js";
import { ownFolder } from "../settings.js";
import { paired, textOf } from "./compact.js";

/** A dialogue at the terminal, or what was asked with single messages. */
export type SessionKind = "dialogue" | "message";

/** A conversation as it is kept between two starts. */
export interface SavedSession {
  /** Absent: it was never kept. */
  readonly name?: string;
  readonly messages: readonly ModelMessage[];
  readonly usage: Usage;
}

/** One of the conversations of a folder. */
export interface KeptSession extends SavedSession {
  readonly name: string;
  readonly kind: SessionKind;
  /** Milliseconds since the epoch when it was kept last. */
  readonly at: number;
}

/** Conversations of each kind that are kept of a folder; of more, the oldest go. */
const maxKept = 20;

/** Where the conversations of a folder are kept, a file each. */
export const sessionsPath = (env: NodeJS.ProcessEnv, cwd: string): string =>
  join(ownFolder(env), "sessions", createHash("sha256").update(cwd).digest("hex").slice(0, 16));

/**
 * Keeps a conversation of this folder under its name, or under a new one made of its first message; readable by its
 * user alone, without keys. Resolves with the name.
 * @throws ExpectedError (exit 5) where a later version kept it before.
 */
export async function saveSession(
  env: NodeJS.ProcessEnv,
  cwd: string,
  { name, kind, at, messages, usage }: Omit<KeptSession, "name"> & { readonly name?: string },
  redact: Redact,
): Promise<string> {
  const folder = sessionsPath(env, cwd);
  makeFolder(folder, 0o700);
  const { value } = redactValue({ format: stateVersion, cwd, kind, at, messages, usage }, redact);
  const kept = name ?? nameFor((value as { messages: readonly ModelMessage[] }).messages, folder);
  const path = join(folder, `${kept}.json`);
  requireKnownText(path, await readRegularText(path).catch(() => ""));
  await writeFileAtomic(path, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  const { sessions } = await sessionsOf(env, cwd);
  for (const old of sessions.filter((each) => each.kind === kind).slice(maxKept))
    rmSync(join(folder, `${old.name}.json`), { force: true });
  return kept;
}

/** At most five words of the first message, with a number where another conversation has this name. */
function nameFor(messages: readonly ModelMessage[], folder: string): string {
  const words = (
    firstOf(messages)
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
export const firstOf = (messages: readonly ModelMessage[]): string =>
  textOf(messages.find(({ role }) => role === "user") ?? { role: "user", content: "" });

/**
 * The conversations of this folder, the one that was kept last first, and a sentence for each file that can't be read.
 * @throws ExpectedError (exit 5) where a later version has kept one.
 */
export async function sessionsOf(
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<{ readonly sessions: readonly KeptSession[]; readonly problems: readonly string[] }> {
  const folder = sessionsPath(env, cwd);
  await takeFormer(folder);
  const sessions: KeptSession[] = [];
  const problems: string[] = [];
  for (const file of existsSync(folder) ? readdirSync(folder).filter((each) => each.endsWith(".json")) : []) {
    const found = await readSession(join(folder, file));
    if (typeof found === "string") problems.push(found);
    else sessions.push({ name: file.slice(0, -".json".length), ...found });
  }
  return { sessions: sessions.toSorted((a, b) => b.at - a.at), problems };
}

/** Versions before kept one conversation of a folder, of either kind, in a file beside the folder of now. */
async function takeFormer(folder: string): Promise<void> {
  const former = `${folder}.json`;
  if (!existsSync(former)) return;
  const found = await readSession(former);
  makeFolder(folder, 0o700);
  renameSync(former, join(folder, `${typeof found === "string" ? "broken" : nameFor(found.messages, folder)}.json`));
}

/** @throws ExpectedError (exit 5) where a later version has kept it. */
async function readSession(path: string): Promise<Omit<KeptSession, "name"> | string> {
  try {
    const read: unknown = JSON.parse(await readRegularText(path));
    if (isNewer(read)) throw newerFormat(path, read);
    const messages = messagesIn(read);
    if (messages === undefined || !isFields(read)) return `${path} holds no conversation that can be read.`;
    const { kind, at } = read;
    return {
      kind: kind === "message" ? kind : "dialogue",
      at: typeof at === "number" ? at : statSync(path).mtimeMs,
      messages: paired(messages),
      usage: usageIn(read),
    };
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    return `${path} can't be read (${messageOf(error)}).`;
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
