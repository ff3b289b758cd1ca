import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { windowOf } from "../engine/agents/prices.js";
import { isOllamaAddress, ollamaAddress, gatewayAddress } from "../engine/agents/shared/model-address.js";
import { projectFiles, readConfigFile, userFiles } from "../engine/config/config-file.js";
import { gatherConfig } from "../engine/config/gather.js";
import { type ConfigKeys, isLoopback, anyValue } from "../engine/config/keys.js";
import { type TrustPrompt as Person, storeTrust, partsIn, requireTrust } from "../engine/config/trust.js";
import type { EngineConfig } from "../engine/generated/config.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { userFolder } from "../engine/lib/layout.js";
import { isPrivateAddress } from "../engine/lib/private-address.js";
import { oneLine, shellWord } from "../engine/lib/sanitise.js";
import { type Io, homeOf } from "../engine/ui/io.js";
import type { AssistantConfig } from "./generated/config.js";
import { servedModels } from "./served-models.js";
import { isOfficialAddress, makers, type Protocol, type Provider, providerAt, providerOf } from "./providers.js";

/** The folder, the environment and the terminal of a start. */
export interface StartContext extends Person {
  /** Every key that a configuration may have. */
  readonly keys: ConfigKeys;
  readonly cwd: string;
}

/** The command line and the environment of a start. */
export interface SettingsRequest extends StartContext {
  readonly apiUrl?: string;
  /** Only these settings must be trusted; by default, all settings of the folder. */
  readonly uses?: readonly string[];
  readonly model?: string;
  /** Maximum tokens of one answer. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The answer must be JSON. */
  readonly json?: boolean;
  /** Fetches the list of models from a server; absent: the network. */
  readonly fetch?: typeof globalThis.fetch;
}

/** How much of a long conversation is kept. */
export interface HistoryLimits {
  /** Number of exchanges that are kept, and how many of the newest are kept whole. */
  readonly exchanges: number;
  readonly whole: number;
  /** Maximum characters of an older message and of its answer. */
  readonly messageChars: number;
  readonly answerChars: number;
}

export const defaultHistory: HistoryLimits = { exchanges: 8, whole: 3, messageChars: 200, answerChars: 300 };

/** All settings that a request to a model needs. */
export interface Settings {
  readonly provider: Provider;
  readonly url: URL;
  /** The variable, the flag or the file that names the address, or "default". */
  readonly urlFrom: string;
  readonly model: string;
  readonly key?: string;
  /** The environment variable or the file that contains the key. */
  readonly keyFrom?: string;
  /** If several keys are set and no setting decides: which provider is asked and why, as one sentence. */
  readonly chosen?: string;
  /** The context window of the model in tokens, with its answer. */
  readonly window: number;
  /** Whether the window is configured or known for the model, and not the default. */
  readonly isWindowKnown: boolean;
  readonly history: HistoryLimits;
  /** Maximum tokens of one answer, if it is configured. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The answer must be JSON. */
  readonly json?: boolean;
  readonly systemPrompt?: string;
}

/** The name of the service: its provider, or its host if the provider is not known. */
export const serviceName = ({ provider, url }: Pick<Settings, "provider" | "url">): string =>
  isOfficialAddress(provider, url) ? provider.title : url.host;

/** Default context window in tokens, for an unknown model. */
export const defaultWindow = 8192;

/** The folder of the user's settings and memory. */
export const ownFolder = (env: NodeJS.ProcessEnv): string => userFolder(env["HOME"] ?? homedir());

/**
 * The settings. For each setting, the first of these sources counts: flag, environment, ./ralph.config.*,
 * ~/.local/ralph/config.*, default. Of the files, only the nearest one is read.
 * @throws ExpectedError for an invalid or untrusted file, and if the provider needs a key that is missing.
 */
export async function settingsOf(request: SettingsRequest): Promise<Settings> {
  const { env } = request;
  const assistant = await readOwnFile(request, request.uses);
  const config = assistant?.values ?? {};
  const configPath = assistant?.path ?? join(ownFolder(env), "config.json");
  const address = addressOf(request, config, configPath);
  const { provider, url } = providerOf(address.text, address.from, address.protocol);

  const foundKey = keyOf(provider, url, env, { written: config, file: configPath });
  if (foundKey === undefined && isOfficialAddress(provider, url)) {
    // In a sandbox the home folder has another path than its user knows.
    const home = `${env["HOME"] ?? homedir()}/`;
    const pathText = configPath.startsWith(home) ? `~/${configPath.slice(home.length)}` : configPath;
    throw new ExpectedError(
      address.from === "default"
        ? `There is no key: set ${makers.map(({ variables: [name] }) => name).join(", ")}, or name a local server in api_url of ${pathText}.${await ollamaHint(request.fetch)}`
        : `There is no key for ${provider.title}: set ${provider.variables[0]}, or ${provider.setting} in ${pathText}.`,
    );
  }
  const model =
    request.model ??
    (blank(config.model)
      ? await modelFor(provider, url, foundKey?.key, { fetch: request.fetch, file: configPath })
      : config.model);
  const knownWindow = windowOf(model);
  const window = (config.context_window ?? -1) < 0 ? undefined : config.context_window;
  const maxAnswerTokens = request.maxTokens ?? (config.api_url === undefined ? undefined : config.max_tokens);
  return {
    provider,
    url,
    urlFrom: address.from,
    model,
    ...(foundKey === undefined ? {} : { key: foundKey.key, keyFrom: foundKey.from }),
    window: window ?? knownWindow ?? defaultWindow,
    history: {
      exchanges: config.max_message_history ?? defaultHistory.exchanges,
      whole: config.compress_assistant_after ?? defaultHistory.whole,
      messageChars: config.preserve_reasoning_chars ?? defaultHistory.messageChars,
      answerChars: config.preserve_observation_chars ?? defaultHistory.answerChars,
    },
    isWindowKnown: (window ?? knownWindow) !== undefined,
    chosen: address.chosen,
    maxTokens: maxAnswerTokens === undefined || maxAnswerTokens < 0 ? undefined : maxAnswerTokens,
    temperature: request.temperature,
    json: request.json,
    systemPrompt: blank(config.system_prompt) ? undefined : config.system_prompt,
  };
}

/** A hint that Ollama answers on this machine, although no setting names it; empty if it does not answer. */
async function ollamaHint(fetch: SettingsRequest["fetch"]): Promise<string> {
  const models = await servedModels(new URL(ollamaAddress("127.0.0.1")), undefined, fetch);
  return models === undefined
    ? ""
    : ` Ollama answers on this machine with ${someNames(models)}: set OLLAMA_HOST=127.0.0.1 to use it.`;
}

const someNames = (names: readonly string[]): string =>
  `${names.slice(0, 8).map(oneLine).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}`;

/**
 * The model if no setting names one: the provider's default, or the only one that a server offers.
 * @throws ExpectedError if the server offers several.
 */
async function modelFor(
  provider: Provider,
  url: URL,
  key: string | undefined,
  { fetch, file }: { readonly fetch: SettingsRequest["fetch"]; readonly file: string },
): Promise<string> {
  const models = provider.name === "compatible" ? await servedModels(url, key, fetch) : undefined;
  if (models === undefined) return provider.model;
  const [firstModel] = models;
  if (firstModel !== undefined && models.length === 1) return firstModel;
  throw new ExpectedError(
    `The server at ${url.host} offers ${models.length} models and none is chosen: ${someNames(models)}; choose one by "model": "${oneLine(firstModel ?? "")}" in ${file}.`,
  );
}

type WrittenConfig = AssistantConfig & Pick<EngineConfig, "max_tokens">;

/**
 * Reads the nearest settings file of the assistant. It is checked against its schema, and the user must trust a file of
 * the folder. `uses`: only these keys must be trusted; by default all.
 * @throws ExpectedError (exit code 2) if the user does not trust the file.
 */
export async function readOwnFile(
  request: StartContext & Pick<SettingsRequest, "apiUrl">,
  uses?: readonly string[],
): Promise<{ path: string; text: string; values: WrittenConfig } | undefined> {
  const { keys, cwd, env, apiUrl, canAsk, stdin, terminal } = request;
  // A flag replaces the address, so the address in the file has no effect and needs no trust.
  const flags = { api_url: apiUrl, openai_api_url: apiUrl };
  const { filesWithFileOnlyKeys } = await gatherConfig(keys, {
    flags,
    cwd,
    env,
    usedKeys: uses,
    canAsk,
    stdin,
    terminal,
  });
  // If a file only adds MCP servers, the model comes from the user's own file.
  const namesModel = ({ values }: { readonly values: WrittenConfig }) =>
    Object.keys(values).some((key) => key in keys.fileOnly && key !== "mcpServers");
  return filesWithFileOnlyKeys.find(namesModel) ?? filesWithFileOnlyKeys[0];
}

/**
 * The MCP servers of the nearest file that has any; the user must trust that file. @throws ExpectedError like
 * `readOwnFile`.
 */
export async function ownServers(request: StartContext): Promise<Readonly<Record<string, unknown>>> {
  const { keys, cwd, env } = request;
  for (const paths of [projectFiles(cwd), userFiles(homeOf(env))]) {
    const file = await readConfigFile(keys, paths);
    const { mcpServers = {} } = (file?.values ?? {}) as AssistantConfig;
    if (file === undefined || Object.keys(mcpServers).length === 0) continue;
    if (projectFiles(cwd).includes(file.path))
      await requireTrust(partsIn({ "mcpServers.*": anyValue }, file.values, file.path), request);
    return mcpServers;
  }
  return {};
}

/** The address of a service, and the source of that setting. */
interface Address {
  readonly text: string;
  readonly from: string;
  readonly protocol?: Protocol;
  readonly chosen?: string;
}

/** A setting that is absent, or as the first start writes it. */
const blank = (value: string | undefined): value is undefined | "" => value === undefined || value === "";

/**
 * The address to ask. Where nobody names one, it is that of the first maker whose key or gateway is there: a person who
 * has set one key means it. A gateway takes the place of its maker's address wherever a file names that.
 */
function addressOf({ apiUrl, env }: SettingsRequest, written: WrittenConfig, file: string): Address {
  if (apiUrl !== undefined) return { text: apiUrl, from: "--api-url" };
  const ollama = env["OLLAMA_HOST"] ?? "";
  const configured = written.api_url;
  if (ollama !== "" && (blank(configured) ? blank(written.openai_api_url) : isLocalOllama(configured)))
    return { text: ollamaAddress(ollama), from: "OLLAMA_HOST" };
  const gateways = makers.map((maker) => ({ maker, gateway: gatewayOf(maker, env, written, file) }));
  if (!blank(configured)) {
    const owner = URL.canParse(configured) ? providerAt(new URL(configured)) : undefined;
    return (
      gateways.find(({ maker }) => maker.name === owner?.name)?.gateway ?? {
        text: configured,
        from: file,
        protocol: written.protocol,
      }
    );
  }
  const usable = gateways.filter(
    ({ maker, gateway }) =>
      gateway !== undefined || keyOf(maker, new URL(maker.home), env, { written, file }) !== undefined,
  );
  const [first, ...others] = usable;
  if (first === undefined) return { text: makers[0]?.home ?? "", from: "default" };
  const address = first.gateway ?? { text: first.maker.home, from: "default" };
  const titles = others.map(({ maker }) => maker.title).join(" and ");
  return others.length === 0
    ? address
    : { ...address, chosen: `${first.maker.title} is asked; ${titles} could be too: api_url chooses.` };
}

/** The gateway that the environment or a file names in place of a maker's own address. */
function gatewayOf(maker: Provider, env: NodeJS.ProcessEnv, written: WrittenConfig, file: string): Address | undefined {
  const protocol = maker.name === "anthropic" ? "messages" : "chat";
  const named = gatewayAddress(maker.name, env);
  if (named !== undefined) return { text: named, from: `${maker.name.toUpperCase()}_BASE_URL`, protocol };
  const other = maker.name === "openai" ? written.openai_api_url : undefined;
  return blank(other) ? undefined : { text: other, from: file, protocol };
}

const isLocalOllama = (address: string): boolean => URL.canParse(address) && isOwnOllama(new URL(address));

/** Whether an address is that of Ollama on this machine. */
const isOwnOllama = (url: URL): boolean => isLoopback(url) && isOllamaAddress(url);

/** Whether a server is on this machine or in its private network. */
export const isLocalServer = (url: URL): boolean => isLoopback(url) || isPrivateAddress(url.hostname);

/**
 * Whether the model runs on a local server, so that it costs nothing. A server that gets a key may be a gateway to a
 * provider, except Ollama, which ignores it.
 */
export const isFree = ({ url, key }: Pick<Settings, "url" | "key">): boolean =>
  isLocalServer(url) && (isOllamaAddress(url) || key === undefined);

/** What to do if no program listens at the address of a local server. */
export const notRunning = ({ url, urlFrom }: Pick<Settings, "url" | "urlFrom">): string => {
  const start =
    isOllamaAddress(url) || urlFrom === "OLLAMA_HOST"
      ? "start Ollama with `ollama serve`"
      : "start the model server there";
  const setting = /^(?:--|[A-Z_]+$)/.test(urlFrom) ? urlFrom : `api_url in ${urlFrom}`;
  return `No model server runs at ${url.origin} (the connection was refused); ${start}, or correct ${setting}.`;
};

/** The model and its server in a few words, such as "qwen3:8b at 127.0.0.1:11434 (this machine)". */
export function placeOf({ provider, url, model }: Settings): string {
  if (isOfficialAddress(provider, url)) return `${model} of ${provider.title}`;
  return `${model} at ${url.host}${isLoopback(url) ? " (this machine)" : ""}`;
}

/**
 * A sentence if a local server lists its models and the chosen one is not among them. Ollama takes a name without a tag
 * as the tag "latest".
 */
export async function missingModel(
  { url, key, model }: Settings,
  fetch: typeof globalThis.fetch,
): Promise<string | undefined> {
  if (!isLocalServer(url)) return undefined;
  const models = await servedModels(url, key, fetch);
  if (models === undefined || models.includes(model) || models.includes(`${model}:latest`)) return undefined;
  return `The server at ${url.host} has no model ${oneLine(model)}; it has ${someNames(models)}. Choose one by --model, or "model" in the settings.`;
}

/**
 * The key for an address, and where it is from. One of the environment goes to its maker, to the gateway that the
 * environment names, and to this machine alone; one of a file goes where that file says.
 */
function keyOf(
  provider: Provider,
  url: URL,
  env: NodeJS.ProcessEnv,
  { written, file }: { readonly written: WrittenConfig; readonly file: string },
): { readonly key: string; readonly from: string } | undefined {
  const gateway = [gatewayAddress("openai", env), gatewayAddress("anthropic", env)].includes(url.href);
  const mayUseEnvironment = isOfficialAddress(provider, url) || isLoopback(url) || gateway;
  const names = [...provider.variables, ...(gateway ? (provider.gatewayVariables ?? []) : [])];
  const variable = mayUseEnvironment ? names.find((name) => (env[name] ?? "").trim() !== "") : undefined;
  if (variable !== undefined) return { key: (env[variable] ?? "").trim(), from: variable };
  const key = (written[provider.setting] ?? "").trim();
  return key === "" ? undefined : { key, from: file };
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

/** `ralph --trust`: what `research-ralph trust --yes` does for the settings of this folder. */
export async function trustFolder({ cwd, env }: Io, keys: ConfigKeys): Promise<string> {
  const file = await readConfigFile(keys, projectFiles(cwd));
  if (file === undefined) throw new ExpectedError(`There is no ralph.config.json or ralph.config.yaml in ${cwd}.`);
  await storeTrust(partsIn(keys.needsTrust, file.values, file.path), env);
  return `${file.path} is trusted as it stands now.`;
}
