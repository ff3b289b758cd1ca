import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { modelNamed } from "../engine/agents/prices.js";
import { projectFiles, readConfigFile, userFiles } from "../engine/config/config-file.js";
import { gatherConfig } from "../engine/config/gather.js";
import type { ConfigKeys } from "../engine/config/keys.js";
import type { EngineConfig } from "../engine/generated/config.js";
import { ExpectedError, hasCode } from "../engine/lib/errors.js";
import { given } from "../engine/lib/given.js";
import { trustName, userFolder } from "../engine/lib/layout.js";
import { shellWord } from "../engine/lib/sanitise.js";
import { readRegularText } from "../engine/storage/regular-file.js";
import { homeOf } from "../engine/ui/io.js";
import type { AssistantConfig } from "./generated/config.js";
import { isLoopback, isMakers, makers, type Provider, providerOf } from "./providers.js";

/** What the command line and the environment of one start say. */
export interface Asked {
  /** Every key that a configuration may have. */
  readonly keys: ConfigKeys;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly apiUrl?: string;
  readonly model?: string;
  /** Most tokens of one answer. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The answer is to be JSON. */
  readonly json?: boolean;
}

/** All that is needed to ask a model. */
export interface Settings {
  readonly provider: Provider;
  readonly url: URL;
  readonly model: string;
  readonly key?: string;
  /** The variable or the file that the key is from. */
  readonly keyFrom?: string;
  /** Tokens that the model takes in one request, its answer included. */
  readonly window: number;
  /** Whether the window is configured or a maker's figure, and not the default. */
  readonly isWindowKnown: boolean;
  /** Most tokens of one answer, where somebody says so. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The answer is to be JSON. */
  readonly json?: boolean;
  readonly systemPrompt?: string;
}

/** What the service is called: its maker, or its host where that is not known. */
export const serviceName = ({ provider, url }: Pick<Settings, "provider" | "url">): string =>
  isMakers(provider) ? provider.title : url.host;

/** Tokens of a request to a model that nobody knows, as the specification has it. */
export const defaultWindow = 8192;

/** Where the user's own settings and their memory lie. */
export const ownFolder = (env: NodeJS.ProcessEnv): string => userFolder(env["HOME"] ?? homedir());

/** Hashes of the files of other people's folders that the user has said yes to, one a line. */
export const trustFile = (env: NodeJS.ProcessEnv): string => join(ownFolder(env), trustName);

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Flag, environment, ./ralph.config.*, ~/.local/ralph/config.*, default: the first that says something counts. The file
 * counts whole. Throws ExpectedError for a wrong file, for an address that the user has not agreed to, and where the
 * provider needs a key and it is missing.
 */
export async function settingsOf(asked: Asked): Promise<Settings> {
  const { env } = asked;
  const assistant = await ownFile(asked);
  const written = assistant?.written ?? {};
  const file = assistant?.path ?? join(ownFolder(env), "config.json");
  const address = addressOf(asked, written, file);
  const { provider, url } = providerOf(address.text, address.from);

  if (assistant !== undefined && address.from === file) await requireTrust(asked, assistant, { provider, url });

  const found = keyOf(provider, url, env, { written, file });
  if (found === undefined && isMakers(provider) && !isLoopback(url))
    throw new ExpectedError(
      `There is no key for ${provider.title}: set ${provider.variables[0]}, or ${provider.setting} in ${file}.`,
    );
  const model = asked.model ?? written.model ?? provider.model;
  const known = modelNamed(model);
  const answer = asked.maxTokens ?? (written.api_url === undefined ? undefined : written.max_tokens);
  return {
    provider,
    url,
    model,
    ...(found === undefined ? {} : { key: found.key, keyFrom: found.from }),
    window: written.context_window ?? known?.window ?? defaultWindow,
    isWindowKnown: (written.context_window ?? known) !== undefined,
    ...given({
      maxTokens: answer === undefined || answer < 0 ? undefined : answer,
      temperature: asked.temperature,
      json: asked.json,
      systemPrompt: written.system_prompt === "" ? undefined : written.system_prompt,
    }),
  };
}

type Written = AssistantConfig & Pick<EngineConfig, "max_tokens">;

/** The nearest file that speaks of the assistant, checked against its schema. */
export async function ownFile({
  keys,
  cwd,
  env,
}: Pick<Asked, "keys" | "cwd" | "env">): Promise<{ path: string; text: string; written: Written } | undefined> {
  const { apart } = await gatherConfig(keys, { env, cwd });
  const onlyServers = Object.keys(apart?.written ?? {}).every((key) => !(key in keys.apart) || key === "mcpServers");
  // A file that only adds servers leaves the model to the user's own file.
  return onlyServers ? ((await readConfigFile(keys, userFiles(homeOf(env)))) ?? apart) : apart;
}

/** The MCP servers of the nearest file that has any, and whether the user has agreed to start them. */
export interface OwnServers {
  readonly written: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly text: string;
  /** They are of the user's own file, or of one that the user has agreed to. */
  readonly isTrusted: boolean;
}

export async function ownServers({
  keys,
  cwd,
  env,
}: Pick<Asked, "keys" | "cwd" | "env">): Promise<OwnServers | undefined> {
  for (const paths of [projectFiles(cwd), userFiles(homeOf(env))]) {
    const file = await readConfigFile(keys, paths);
    const { mcpServers: written = {} } = (file?.written ?? {}) as AssistantConfig;
    if (file === undefined || Object.keys(written).length === 0) continue;
    const { path, text } = file;
    const isOwn = !projectFiles(cwd).includes(path);
    return { written, path, text, isTrusted: isOwn || (await trusted(env)).includes(hashOf(text)) };
  }
  return undefined;
}

/**
 * The address to ask, and who says so. Where nobody does, it is that of the first maker whose key is there: a person
 * who has set one key means it.
 */
function addressOf({ apiUrl, env }: Asked, written: Written, file: string): { text: string; from: string } {
  if (apiUrl !== undefined) return { text: apiUrl, from: "--api-url" };
  const ollama = env["OLLAMA_HOST"] ?? "";
  const configured = written.api_url ?? written.openai_api_url;
  if (ollama !== "" && (configured === undefined || isOllama(configured)))
    return { text: ollamaAddress(ollama), from: "OLLAMA_HOST" };
  if (configured !== undefined && configured !== "") return { text: configured, from: file };
  const own = makers.find((maker) => keyOf(maker, new URL(maker.home), env, { written, file }) !== undefined);
  return { text: (own ?? makers[0])?.home ?? "", from: "default" };
}

const ollamaPort = "11434";
const isOllama = (address: string): boolean =>
  URL.canParse(address) && isLoopback(new URL(address)) && new URL(address).port === ollamaPort;

/** OLLAMA_HOST is a host, a host and a port, or an address. https://docs.ollama.com/faq */
export function ollamaAddress(host: string): string {
  const address = /^https?:\/\//.test(host) ? host : `http://${host}`;
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.port === "" && url.protocol === "http:") url.port = ollamaPort;
  return `${url.origin}/v1/chat/completions`;
}

/**
 * The key for an address, and where it is from. One of the environment goes to its maker and to this machine alone; one
 * of a file goes where that file says.
 */
function keyOf(
  provider: Provider,
  url: URL,
  env: NodeJS.ProcessEnv,
  { written, file }: { readonly written: Written; readonly file: string },
): { readonly key: string; readonly from: string } | undefined {
  const mayUseEnvironment = isMakers(provider) || isLoopback(url);
  const variable = mayUseEnvironment ? provider.variables.find((name) => (env[name] ?? "").trim() !== "") : undefined;
  if (variable !== undefined) return { key: (env[variable] ?? "").trim(), from: variable };
  const key = (written[provider.setting] ?? "").trim();
  return key === "" ? undefined : { key, from: file };
}

/**
 * A file that came with a folder may not send what the user asks or remembers to a host of its own choice. Throws
 * ExpectedError until the user has agreed.
 */
export async function requireTrust(
  { cwd, env }: Pick<Asked, "cwd" | "env">,
  { path, text }: { readonly path: string; readonly text: string },
  { provider, url }: { readonly provider: Provider; readonly url: URL },
): Promise<void> {
  if (!projectFiles(cwd).includes(path) || isMakers(provider) || isLoopback(url)) return;
  if ((await trusted(env)).includes(hashOf(text))) return;
  throw new ExpectedError(
    `${path} sends your texts to ${url.host}, which is neither a known maker's address nor this machine; run \`ralph --trust\` in that folder if you agree.`,
  );
}

/** The hashes of the files that the user has agreed to. */
export async function trusted(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  try {
    return (await readRegularText(trustFile(env))).split("\n").filter((line) => line !== "");
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

/**
 * What a person should know of the file that holds the key: others can read it, or git has it in its history. One
 * sentence each. `mayRunGit`: false for a process that starts no program.
 */
export async function keyFileProblems({ keyFrom }: Settings, mayRunGit = true): Promise<readonly string[]> {
  if (keyFrom === undefined || !isAbsolute(keyFrom)) return [];
  const mode = (await stat(keyFrom).catch(() => undefined))?.mode ?? 0;
  const open = `${keyFrom} holds a key and other users can read it; run \`chmod 600 ${shellWord(keyFrom)}\`.`;
  const tracked = `${keyFrom} holds a key and git keeps it; take the key out of the file and of git's history, and make a new one.`;
  return [...((mode & 0o077) === 0 ? [] : [open]), ...(mayRunGit && (await isTracked(keyFrom)) ? [tracked] : [])];
}

async function isTracked(path: string): Promise<boolean> {
  for (let folder = dirname(path); !existsSync(join(folder, ".git")); folder = dirname(folder))
    if (folder === dirname(folder)) return false;
  const { runGit } = await import("../engine/storage/git-command.js");
  return (await runGit(dirname(path), ["ls-files", "--error-unmatch", "--", basename(path)], { maxMs: 5000 })).ok;
}
