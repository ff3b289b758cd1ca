import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { windowOf } from "../engine/agents/prices.js";
import { isOllama, ollamaAddress, gatewayAddress } from "../engine/agents/shared/model-address.js";
import { projectFiles, readConfigFile, userFiles } from "../engine/config/config-file.js";
import { gatherConfig } from "../engine/config/gather.js";
import { type ConfigKeys, isLoopback, anyValue } from "../engine/config/keys.js";
import { type TrustPrompt as Person, keepTrust, partsIn, requireTrust } from "../engine/config/trust.js";
import type { EngineConfig } from "../engine/generated/config.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { userFolder } from "../engine/lib/layout.js";
import { oneLine, shellWord } from "../engine/lib/sanitise.js";
import { type Io, homeOf } from "../engine/ui/io.js";
import type { AssistantConfig } from "./generated/config.js";
import { servedModels } from "./served-models.js";
import { isMakers, makers, type Protocol, type Provider, providerAt, providerOf } from "./providers.js";

/** Where the assistant is started, and whether a person sits there. */
export interface WhoAsks extends Person {
  /** Every key that a configuration may have. */
  readonly keys: ConfigKeys;
  readonly cwd: string;
}

/** What the command line and the environment of one start say. */
export interface Asked extends WhoAsks {
  readonly apiUrl?: string;
  /** The only settings that have to be trusted; by default all of the folder. */
  readonly uses?: readonly string[];
  readonly model?: string;
  /** Most tokens of one answer. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The answer is to be JSON. */
  readonly json?: boolean;
  /** Asks a server what it offers; absent: by the network. */
  readonly fetch?: typeof globalThis.fetch;
}

/** What stays of a conversation that is long. */
export interface KeptHistory {
  /** Exchanges that are kept, and how many of them, the newest, whole. */
  readonly exchanges: number;
  readonly whole: number;
  /** Characters kept of an older message and of its answer. */
  readonly messageChars: number;
  readonly answerChars: number;
}

export const usualHistory: KeptHistory = { exchanges: 8, whole: 3, messageChars: 200, answerChars: 300 };

/** All that is needed to ask a model. */
export interface Settings {
  readonly provider: Provider;
  readonly url: URL;
  readonly model: string;
  readonly key?: string;
  /** The variable or the file that the key is from. */
  readonly keyFrom?: string;
  /** Which maker is asked and why, where several keys are set and nothing says which. One sentence. */
  readonly chosen?: string;
  /** Tokens that the model takes in one request, its answer included. */
  readonly window: number;
  /** Whether the window is configured or a maker's figure, and not the default. */
  readonly isWindowKnown: boolean;
  readonly history: KeptHistory;
  /** Most tokens of one answer, where somebody says so. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The answer is to be JSON. */
  readonly json?: boolean;
  readonly systemPrompt?: string;
}

/** What the service is called: its maker, or its host where that is not known. */
export const serviceName = ({ provider, url }: Pick<Settings, "provider" | "url">): string =>
  isMakers(provider, url) ? provider.title : url.host;

/** Tokens of a request to a model that nobody knows, as the specification has it. */
export const defaultWindow = 8192;

/** Where the user's own settings and their memory lie. */
export const ownFolder = (env: NodeJS.ProcessEnv): string => userFolder(env["HOME"] ?? homedir());

/**
 * Flag, environment, ./ralph.config.*, ~/.local/ralph/config.*, default: the first that says something counts. The file
 * counts whole. Throws ExpectedError for a wrong file, for one that the user does not trust, and where the provider
 * needs a key and it is missing.
 */
export async function settingsOf(asked: Asked): Promise<Settings> {
  const { env } = asked;
  const assistant = await ownFile(asked, asked.uses);
  const written = assistant?.written ?? {};
  const file = assistant?.path ?? join(ownFolder(env), "config.json");
  const address = addressOf(asked, written, file);
  const { provider, url } = providerOf(address.text, address.from, address.protocol);

  const found = keyOf(provider, url, env, { written, file });
  if (found === undefined && isMakers(provider, url)) {
    // In a sandbox the home folder has another path than its user knows.
    const home = `${env["HOME"] ?? homedir()}/`;
    const where = file.startsWith(home) ? `~/${file.slice(home.length)}` : file;
    throw new ExpectedError(
      address.from === "default"
        ? `There is no key: set ${makers.map(({ variables: [name] }) => name).join(", ")}, or name a local server in api_url of ${where}.${await ollamaHint(asked.fetch)}`
        : `There is no key for ${provider.title}: set ${provider.variables[0]}, or ${provider.setting} in ${where}.`,
    );
  }
  const model =
    asked.model ??
    (blank(written.model) ? await modelAt(provider, url, found?.key, { fetch: asked.fetch, file }) : written.model);
  const known = windowOf(model);
  const window = (written.context_window ?? -1) < 0 ? undefined : written.context_window;
  const answer = asked.maxTokens ?? (written.api_url === undefined ? undefined : written.max_tokens);
  return {
    provider,
    url,
    model,
    ...(found === undefined ? {} : { key: found.key, keyFrom: found.from }),
    window: window ?? known ?? defaultWindow,
    history: {
      exchanges: written.max_message_history ?? usualHistory.exchanges,
      whole: written.compress_assistant_after ?? usualHistory.whole,
      messageChars: written.preserve_reasoning_chars ?? usualHistory.messageChars,
      answerChars: written.preserve_observation_chars ?? usualHistory.answerChars,
    },
    isWindowKnown: (window ?? known) !== undefined,
    chosen: address.chosen,
    maxTokens: answer === undefined || answer < 0 ? undefined : answer,
    temperature: asked.temperature,
    json: asked.json,
    systemPrompt: blank(written.system_prompt) ? undefined : written.system_prompt,
  };
}

/** Says where Ollama answers on this machine, though nobody named it; empty where it does not. */
async function ollamaHint(fetch: Asked["fetch"]): Promise<string> {
  const models = await servedModels(new URL(ollamaAddress("127.0.0.1")), undefined, fetch);
  return models === undefined
    ? ""
    : ` Ollama answers on this machine with ${someOf(models)}: set OLLAMA_HOST=127.0.0.1 to use it.`;
}

const someOf = (names: readonly string[]): string =>
  `${names.slice(0, 8).map(oneLine).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}`;

/**
 * The model to ask for where nobody names one: a maker's usual one, or the only one that a server offers.
 * @throws ExpectedError where the server offers several.
 */
async function modelAt(
  provider: Provider,
  url: URL,
  key: string | undefined,
  { fetch, file }: { readonly fetch: Asked["fetch"]; readonly file: string },
): Promise<string> {
  const offered = provider.name === "compatible" ? await servedModels(url, key, fetch) : undefined;
  if (offered === undefined) return provider.model;
  const [only] = offered;
  if (only !== undefined && offered.length === 1) return only;
  throw new ExpectedError(
    `The server at ${url.host} offers ${offered.length} models and none is chosen: ${someOf(offered)}; choose one by "model": "${oneLine(only ?? "")}" in ${file}.`,
  );
}

type Written = AssistantConfig & Pick<EngineConfig, "max_tokens">;

/**
 * The nearest file that speaks of the assistant, checked against its schema, once the user trusts that of the folder.
 * `uses`: the only keys that count; by default all, so that no tool meets another one later.
 * @throws ExpectedError (exit code 2) where they do not.
 */
export async function ownFile(
  asked: WhoAsks & Pick<Asked, "apiUrl">,
  uses?: readonly string[],
): Promise<{ path: string; text: string; written: Written } | undefined> {
  const { keys, cwd, env, apiUrl, canAsk, stdin, terminal } = asked;
  // A flag that goes before an address leaves it without effect.
  const flags = { api_url: apiUrl, openai_api_url: apiUrl };
  const { apart } = await gatherConfig(keys, { flags, cwd, env, uses, canAsk, stdin, terminal });
  // A file that only adds servers leaves the model to the user's own file.
  const ofModel = ({ written }: { readonly written: Written }) =>
    Object.keys(written).some((key) => key in keys.apart && key !== "mcpServers");
  return apart.find(ofModel) ?? apart[0];
}

/** The MCP servers of the nearest file that has any, once the user trusts it. @throws ExpectedError as ownFile. */
export async function ownServers(asked: WhoAsks): Promise<Readonly<Record<string, unknown>>> {
  const { keys, cwd, env } = asked;
  for (const paths of [projectFiles(cwd), userFiles(homeOf(env))]) {
    const file = await readConfigFile(keys, paths);
    const { mcpServers = {} } = (file?.written ?? {}) as AssistantConfig;
    if (file === undefined || Object.keys(mcpServers).length === 0) continue;
    if (projectFiles(cwd).includes(file.path))
      await requireTrust(partsIn({ "mcpServers.*": anyValue }, file.written, file.path), asked);
    return mcpServers;
  }
  return {};
}

/** An address to ask, and who says so. */
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
function addressOf({ apiUrl, env }: Asked, written: Written, file: string): Address {
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
function gatewayOf(maker: Provider, env: NodeJS.ProcessEnv, written: Written, file: string): Address | undefined {
  const protocol = maker.name === "anthropic" ? "messages" : "chat";
  const named = gatewayAddress(maker.name, env);
  if (named !== undefined) return { text: named, from: `${maker.name.toUpperCase()}_BASE_URL`, protocol };
  const other = maker.name === "openai" ? written.openai_api_url : undefined;
  return blank(other) ? undefined : { text: other, from: file, protocol };
}

const isLocalOllama = (address: string): boolean => URL.canParse(address) && isOwnOllama(new URL(address));

/** Whether an address is that of Ollama on this machine, which charges nothing. */
export const isOwnOllama = (url: URL): boolean => isLoopback(url) && isOllama(url);

/**
 * The key for an address, and where it is from. One of the environment goes to its maker, to the gateway that the
 * environment names, and to this machine alone; one of a file goes where that file says.
 */
function keyOf(
  provider: Provider,
  url: URL,
  env: NodeJS.ProcessEnv,
  { written, file }: { readonly written: Written; readonly file: string },
): { readonly key: string; readonly from: string } | undefined {
  const gateway = [gatewayAddress("openai", env), gatewayAddress("anthropic", env)].includes(url.href);
  const mayUseEnvironment = isMakers(provider, url) || isLoopback(url) || gateway;
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
  await keepTrust(partsIn(keys.needsTrust, file.written, file.path), env);
  return `${file.path} is trusted as it stands now.`;
}
