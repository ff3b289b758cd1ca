import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { windowOf } from "../engine/agents/prices.js";
import { isOllamaAddress, ollamaAddress, gatewayAddress } from "../engine/agents/shared/model-address.js";
import { projectFiles, readConfigFile, userFiles } from "../engine/config/config-file.js";
import { gatherConfig } from "../engine/config/gather.js";
import { type ConfigKeys, isLoopback, anyValue } from "../engine/config/keys.js";
import { type TrustPrompt, storeTrust, partsIn, requireTrust } from "../engine/config/trust.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { userFolder } from "../engine/lib/layout.js";
import { isPrivateAddress } from "../engine/lib/private-address.js";
import { oneLine, shellWord } from "../engine/lib/sanitise.js";
import { type Io, homeOf } from "../engine/ui/io.js";
import { isBlank, joinSettings, type FileSettings } from "./config-keys.js";
import type { AssistantConfig } from "./generated/config.js";
import { servedModels } from "./served-models.js";
import { isOfficialAddress, vendors, type Protocol, type Provider, providerAt, providerOf } from "./providers.js";

/** The folder, the environment and the terminal at the start. */
export interface StartContext extends TrustPrompt {
  /** Every key that a configuration may have. */
  readonly keys: ConfigKeys;
  readonly cwd: string;
}

/** The command line and the environment at the start. */
export interface SettingsRequest extends StartContext {
  readonly apiUrl?: string;
  /** The names of the settings that are used, which must be trusted; by default, all settings of the folder. */
  readonly usedKeys?: readonly string[];
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
  /** Older exchanges are dropped. */
  readonly maxExchanges: number;
  /** The number of newest exchanges that are not shortened. */
  readonly wholeExchanges: number;
  /** Maximum characters of a message in a shortened exchange. */
  readonly maxMessageChars: number;
  /** Maximum characters of an answer in a shortened exchange. */
  readonly maxAnswerChars: number;
}

export const defaultHistory: HistoryLimits = {
  maxExchanges: 8,
  wholeExchanges: 3,
  maxMessageChars: 200,
  maxAnswerChars: 300,
};

/** All settings that a request to a model needs. */
export interface Settings {
  readonly provider: Provider;
  readonly url: URL;
  /** The name of the variable, flag or file that sets the address, or "default". */
  readonly urlSource: string;
  readonly model: string;
  readonly key?: string;
  /** The environment variable or the file that contains the key. */
  readonly keySource?: string;
  /** If several keys are set and no setting decides: one sentence that says which provider is used. */
  readonly choiceText?: string;
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
const defaultWindow = 8192;

/** The folder of the user's settings and memory. */
export const settingsFolder = (env: NodeJS.ProcessEnv): string => userFolder(env["HOME"] ?? homedir());

/**
 * The settings. For each setting, the first of these sources counts: flag, environment, ./ralph.config.*,
 * ~/.local/ralph/config.*, default. `joinSettings` says which files count.
 * @throws ExpectedError for an invalid or untrusted file, and if the provider needs a key that is missing.
 */
export async function settingsOf(request: SettingsRequest): Promise<Settings> {
  const { env } = request;
  const { values: config, path: configPath = userFiles(homeOf(env))[0] } = await readSettings(
    request,
    request.usedKeys,
  );
  const address = addressOf(request, config, configPath);
  const { provider, url } = providerOf(address.text, address.source, address.protocol);

  const foundKey = keyOf(provider, url, env, { written: config, file: configPath });
  if (foundKey === undefined && isOfficialAddress(provider, url)) {
    // In a sandbox, the home folder has a path that the user does not know.
    const home = `${env["HOME"] ?? homedir()}/`;
    const pathText = configPath.startsWith(home) ? `~/${configPath.slice(home.length)}` : configPath;
    throw new ExpectedError(
      address.source === "default"
        ? `There is no key: set ${vendors.map(({ variables: [name] }) => name).join(", ")}, or name a local server: OLLAMA_HOST=127.0.0.1, or research-ralph config --global api_url=<address>.${await ollamaHint(request.fetch)}`
        : `There is no key for ${provider.title}: set ${provider.variables[0]}, or ${provider.setting} in ${pathText}.`,
    );
  }
  const model =
    request.model ??
    (isBlank(config.model)
      ? await chooseModel(provider, url, foundKey?.key, { fetch: request.fetch, file: configPath })
      : config.model);
  const knownWindow = windowOf(model);
  const window = (config.context_window ?? -1) < 0 ? undefined : config.context_window;
  const maxAnswerTokens = request.maxTokens ?? (config.api_url === undefined ? undefined : config.max_tokens);
  return {
    provider,
    url,
    urlSource: address.source,
    model,
    ...(foundKey === undefined ? {} : { key: foundKey.key, keySource: foundKey.from }),
    window: window ?? knownWindow ?? defaultWindow,
    history: {
      maxExchanges: config.max_message_history ?? defaultHistory.maxExchanges,
      wholeExchanges: config.compress_assistant_after ?? defaultHistory.wholeExchanges,
      maxMessageChars: config.preserve_reasoning_chars ?? defaultHistory.maxMessageChars,
      maxAnswerChars: config.preserve_observation_chars ?? defaultHistory.maxAnswerChars,
    },
    isWindowKnown: (window ?? knownWindow) !== undefined,
    choiceText: address.choiceText,
    maxTokens: maxAnswerTokens === undefined || maxAnswerTokens < 0 ? undefined : maxAnswerTokens,
    temperature: request.temperature,
    json: request.json,
    systemPrompt: isBlank(config.system_prompt) ? undefined : config.system_prompt,
  };
}

/** A hint if Ollama answers on this machine although no setting names it; empty if it does not answer. */
async function ollamaHint(fetch: SettingsRequest["fetch"]): Promise<string> {
  const models = await servedModels(new URL(ollamaAddress("127.0.0.1")), undefined, fetch);
  return models === undefined
    ? ""
    : ` Ollama answers on this machine with ${listNames(models)}: set OLLAMA_HOST=127.0.0.1 to use it.`;
}

const listNames = (names: readonly string[]): string =>
  `${names.slice(0, 8).map(oneLine).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}`;

/**
 * The model if no setting names one: the provider's default, or the only model that a server offers.
 * @throws ExpectedError if the server offers several models.
 */
async function chooseModel(
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
    `The server at ${url.host} offers ${models.length} models and none is chosen: ${listNames(models)}; choose one by "model": "${oneLine(firstModel ?? "")}" in ${file}.`,
  );
}

/**
 * Reads the settings of the assistant. Each file is checked against its schema, and the user must trust a file of the
 * folder. `usedKeys`: only these keys must be trusted; by default all.
 * @throws ExpectedError (exit code 2) if the user does not trust the file.
 */
export async function readSettings(
  request: StartContext & Pick<SettingsRequest, "apiUrl">,
  usedKeys?: readonly string[],
): Promise<ReturnType<typeof joinSettings>> {
  const { keys, cwd, env, apiUrl, canAsk, stdin, terminal } = request;
  // A flag replaces the address, so the address in the file has no effect and needs no trust.
  const flags = { api_url: apiUrl, openai_api_url: apiUrl };
  const { filesWithFileOnlyKeys } = await gatherConfig(keys, { flags, cwd, env, usedKeys, canAsk, stdin, terminal });
  return joinSettings(filesWithFileOnlyKeys);
}

/**
 * The MCP servers of the nearest file that contains any; the user must trust that file. @throws ExpectedError like
 * `readSettings`.
 */
export async function readMcpServers(request: StartContext): Promise<Readonly<Record<string, unknown>>> {
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

/** The address of a service. `source`: the variable, flag or file that sets it, or "default". */
interface Address {
  readonly text: string;
  readonly source: string;
  readonly protocol?: Protocol;
  readonly choiceText?: string;
}

/**
 * The address of the service. If no setting names it, it belongs to the first vendor with a key or a gateway. The
 * gateway of a vendor replaces the vendor's address, even if a file names that address.
 */
function addressOf({ apiUrl, env }: SettingsRequest, written: FileSettings, file: string): Address {
  if (apiUrl !== undefined) return { text: apiUrl, source: "--api-url" };
  const ollama = env["OLLAMA_HOST"] ?? "";
  const configured = written.api_url;
  if (ollama !== "" && (isBlank(configured) ? isBlank(written.openai_api_url) : isOllamaHere(configured)))
    return { text: ollamaAddress(ollama), source: "OLLAMA_HOST" };
  const vendorGateways = vendors.map((vendor) => ({ vendor, gateway: gatewayOf(vendor, env, written, file) }));
  if (!isBlank(configured)) {
    const owner = URL.canParse(configured) ? providerAt(new URL(configured)) : undefined;
    return (
      vendorGateways.find(({ vendor }) => vendor.name === owner?.name)?.gateway ?? {
        text: configured,
        source: file,
        protocol: written.protocol,
      }
    );
  }
  const candidates = vendorGateways.filter(
    ({ vendor, gateway }) =>
      gateway !== undefined || keyOf(vendor, new URL(vendor.home), env, { written, file }) !== undefined,
  );
  const [firstChoice, ...others] = candidates;
  if (firstChoice === undefined) return { text: vendors[0]?.home ?? "", source: "default" };
  const address = firstChoice.gateway ?? { text: firstChoice.vendor.home, source: "default" };
  const titles = others.map(({ vendor }) => vendor.title).join(" and ");
  return others.length === 0
    ? address
    : { ...address, choiceText: `${firstChoice.vendor.title} is used; to use ${titles}, set api_url.` };
}

/** The gateway that the environment or a file sets in place of the vendor's own address. */
function gatewayOf(vendor: Provider, env: NodeJS.ProcessEnv, written: FileSettings, file: string): Address | undefined {
  const protocol = vendor.name === "anthropic" ? "messages" : "chat";
  const gatewayUrl = gatewayAddress(vendor.name, env);
  if (gatewayUrl !== undefined) return { text: gatewayUrl, source: `${vendor.name.toUpperCase()}_BASE_URL`, protocol };
  const configuredUrl = vendor.name === "openai" ? written.openai_api_url : undefined;
  return isBlank(configuredUrl) ? undefined : { text: configuredUrl, source: file, protocol };
}

/** Whether an address is that of Ollama on this machine. */
const isOllamaHere = (address: string): boolean =>
  URL.canParse(address) && isLoopback(new URL(address)) && isOllamaAddress(new URL(address));

/** Whether a server is on this machine or in its private network. */
export const isLocalServer = (url: URL): boolean => isLoopback(url) || isPrivateAddress(url.hostname);

/**
 * Whether the model runs on a local server, so it costs nothing. A server that gets a key may be a gateway to a
 * provider that costs money; only Ollama ignores keys.
 */
export const isFree = ({ url, key }: Pick<Settings, "url" | "key">): boolean =>
  isLocalServer(url) && (isOllamaAddress(url) || key === undefined);

/** The error message if no program listens at the address of a local server. */
export const notRunningText = ({ url, urlSource }: Pick<Settings, "url" | "urlSource">): string => {
  const start =
    isOllamaAddress(url) || urlSource === "OLLAMA_HOST"
      ? "start Ollama with `ollama serve`"
      : "start the model server there";
  const setting = /^(?:--|[A-Z_]+$)/.test(urlSource) ? urlSource : `api_url in ${urlSource}`;
  return `No model server runs at ${url.origin} (the connection was refused); ${start}, or correct ${setting}.`;
};

/** The model and its server in a few words, such as "qwen3:8b at 127.0.0.1:11434 (this machine)". */
export function placeOf({ provider, url, model }: Settings): string {
  if (isOfficialAddress(provider, url)) return `${model} of ${provider.title}`;
  return `${model} at ${url.host}${isLoopback(url) ? " (this machine)" : ""}`;
}

/**
 * A sentence if a local server lists its models and the model of the settings is not among them. Ollama reads a name
 * without a tag as "name:latest".
 */
export async function missingModelText(
  { url, key, model }: Settings,
  fetch: typeof globalThis.fetch,
): Promise<string | undefined> {
  if (!isLocalServer(url)) return undefined;
  const models = await servedModels(url, key, fetch);
  if (models === undefined || models.includes(model) || models.includes(`${model}:latest`)) return undefined;
  return `The server at ${url.host} has no model ${oneLine(model)}; it has ${listNames(models)}. Choose one by --model, or "model" in the settings.`;
}

/**
 * The key for an address, and its source. A key from the environment is sent only to its vendor, to the gateway that
 * the environment names, and to this machine. A key from a file is sent to the address in that file.
 */
function keyOf(
  provider: Provider,
  url: URL,
  env: NodeJS.ProcessEnv,
  { written, file }: { readonly written: FileSettings; readonly file: string },
): { readonly key: string; readonly from: string } | undefined {
  const isGateway = [gatewayAddress("openai", env), gatewayAddress("anthropic", env)].includes(url.href);
  const mayUseEnvironment = isOfficialAddress(provider, url) || isLoopback(url) || isGateway;
  const names = [...provider.variables, ...(isGateway ? (provider.gatewayVariables ?? []) : [])];
  const variable = mayUseEnvironment ? names.find((name) => (env[name] ?? "").trim() !== "") : undefined;
  if (variable !== undefined) return { key: (env[variable] ?? "").trim(), from: variable };
  const key = (written[provider.setting] ?? "").trim();
  return key === "" ? undefined : { key, from: file };
}

/**
 * Warnings about the file that contains the key, each a sentence: other users can read the file, or git tracks it.
 * `mayRunGit`: false if this process must not start a program.
 */
export async function keyFileProblems({ keySource }: Settings, mayRunGit = true): Promise<readonly string[]> {
  if (keySource === undefined || !isAbsolute(keySource)) return [];
  const mode = (await stat(keySource).catch(() => undefined))?.mode ?? 0;
  const openText = `${keySource} contains a key and other users can read it; run \`chmod 600 ${shellWord(keySource)}\`.`;
  const trackedText = `${keySource} contains a key and git tracks it; remove the key from the file and from git's history, and create a new key.`;
  return [
    ...((mode & 0o077) === 0 ? [] : [openText]),
    ...(mayRunGit && (await isTracked(keySource)) ? [trackedText] : []),
  ];
}

async function isTracked(path: string): Promise<boolean> {
  for (let folder = dirname(path); !existsSync(join(folder, ".git")); folder = dirname(folder))
    if (folder === dirname(folder)) return false;
  const { runGit } = await import("../engine/storage/git-command.js");
  return (await runGit(dirname(path), ["ls-files", "--error-unmatch", "--", basename(path)], { maxMs: 5000 })).ok;
}

/** Trusts the settings of this folder, like `research-ralph trust --yes`. Returns a sentence for the user. */
export async function trustFolder({ cwd, env }: Io, keys: ConfigKeys): Promise<string> {
  const file = await readConfigFile(keys, projectFiles(cwd));
  if (file === undefined) throw new ExpectedError(`There is no ralph.config.json or ralph.config.yaml in ${cwd}.`);
  await storeTrust(partsIn(keys.needsTrust, file.values, file.path), env);
  return `${file.path} is trusted with its present content.`;
}
