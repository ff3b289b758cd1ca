import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ExpectedError } from "../lib/errors.js";
import { defaultStateDir } from "./state-dir.js";
import { checkValue, projectFiles, readConfigFile, userFiles, type ConfigValues } from "./config-file.js";
import { commandPatterns, type ConfigKeys, readScalar, variableOf } from "./keys.js";
import { fieldsOf } from "../lib/json-fields.js";
import { type TrustPrompt, partsIn, requireTrust, type TrustedPart, findUntrusted } from "./trust.js";

/** The source of a value: a flag, a variable, the path of a file, or `default`. */
type Origin = string;

/** Where a configuration is read from, and what for. */
export interface ConfigRequest extends TrustPrompt {
  /**
   * Values from the command line, with the key names of the configuration; `model`: the model of the chosen agent;
   * `trust`: whether the user trusts the settings of the folder.
   */
  readonly flags?: ConfigValues;
  /**
   * The keys that need trust and that this command uses; other untrusted keys are ignored. By default the command uses
   * all keys.
   */
  readonly usedKeys?: readonly string[];
  /** Set if settings are only printed, so none needs trust. */
  readonly isOnlyShown?: true;
  readonly cwd: string;
  /** The user's folder; by default that of the environment or of the system. */
  readonly home?: string;
}

/**
 * All values with the key names of the configuration, including defaults, and the source of each. `partsToTrust`:
 * settings of the folder's file that are used and need trust.
 */
export interface GatheredConfig {
  readonly values: ConfigValues;
  readonly origins: Readonly<Record<string, Origin>>;
  /** The files with a key that only a file can set, the nearest first. */
  readonly filesWithFileOnlyKeys: readonly {
    readonly path: string;
    readonly text: string;
    readonly values: ConfigValues;
  }[];
  readonly partsToTrust: readonly TrustedPart[];
}

/** The values from one source. */
interface Layer {
  readonly values: ConfigValues;
  originOf(key: string): Origin;
  /** The folder that relative paths start from. */
  readonly baseFolder: string;
}

/**
 * Collects the value of each key from its first source: flag, environment, ./ralph.config.*, ~/.local/ralph/config.*,
 * default.
 */
export async function gatherConfig(keys: ConfigKeys, request: ConfigRequest): Promise<GatheredConfig> {
  const { flags = {}, env, cwd, home = env["HOME"] ?? homedir() } = request;
  const { model, trust, ...flagValues } = flags;
  const projectFile = await readConfigFile(keys, projectFiles(cwd));
  const parts = projectFile === undefined ? [] : partsIn(keys.needsTrust, projectFile.values, projectFile.path);
  const { usedKeys, isOnlyShown = false } = request;
  const isUsed = ({ key }: TrustedPart) => usedKeys?.includes(key.split(".")[0] ?? "") ?? true;
  const ignoredParts =
    isOnlyShown || trust === true
      ? []
      : findUntrusted(
          parts.filter((part) => !isUsed(part)),
          env,
        );
  const files = [
    projectFile && { ...projectFile, written: withoutParts(projectFile.values, ignoredParts) },
    await readConfigFile(keys, userFiles(home)),
  ].filter((file) => file !== undefined);
  const layers: Layer[] = [
    { values: flagSettings(keys, flagValues), originOf: flagOf, baseFolder: cwd },
    { values: environmentSettings(keys, env), originOf: variableOf, baseFolder: cwd },
    ...files.map((file) => ({
      values: runSettings(keys, file.values),
      originOf: () => file.path,
      baseFolder: dirname(file.path),
    })),
    { values: { ...keys.defaults, state_dir: defaultStateDir(env, home) }, originOf: () => "default", baseFolder: cwd },
  ];
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const key of Object.keys(keys.scalars)) {
    const layer = layers.find((candidate) => candidate.values[key] !== undefined);
    if (layer === undefined) continue;
    const value = layer.values[key];
    values[key] = key === "state_dir" ? absolutePath(String(value), layer.baseFolder, home) : value;
    origins[key] = layer.originOf(key);
  }
  for (const key of Object.keys(keys.optionsByName)) {
    const mergedOptions = mergeByName(layers, key);
    if (Object.keys(mergedOptions).length === 0) continue;
    values[key] = mergedOptions;
    origins[key] = layers.flatMap((layer) => (layer.values[key] === undefined ? [] : [layer.originOf(key)])).join(", ");
  }
  for (const key of keys.wholeValues) {
    const layer = layers.find((candidate) => candidate.values[key] !== undefined);
    if (layer === undefined) continue;
    values[key] = layer.values[key];
    origins[key] = layer.originOf(key);
  }
  if (model !== undefined)
    values["agents"] = withModel(
      mergeByName(layers, "agents"),
      agentsIn(String(values["agent"]))[0] ?? "",
      String(model),
    );
  // A setting in the file has no effect if a flag or a variable sets the same key.
  const isEffective = ({ key, file }: TrustedPart) =>
    key in keys.scalars ? origins[key] === file : flagValues[key] === undefined;
  const partsToTrust = parts.filter((part) => isUsed(part) && isEffective(part));
  if (!isOnlyShown) await requireTrust(partsToTrust, request, { trust: trust === true });
  const apart = files.filter((file) => Object.keys(keys.fileOnly).some((key) => file.values[key] !== undefined));
  return { values, origins, partsToTrust: partsToTrust, filesWithFileOnlyKeys: apart };
}

/** The settings of a file without the given parts. */
function withoutParts(values: ConfigValues, parts: readonly TrustedPart[]): ConfigValues {
  const settings: Record<string, unknown> = { ...values };
  for (const { key } of parts) {
    const index = key.indexOf(".");
    if (index === -1) delete settings[key];
    else {
      const [first, name] = [key.slice(0, index), key.slice(index + 1)];
      settings[first] = Object.fromEntries(
        Object.entries(Object(settings[first])).filter(([entryName]) => entryName !== name),
      );
    }
  }
  return settings;
}

/** The agents of a list with commas. A command may contain commas, so only commands can follow a command. */
export function agentsIn(list: string): string[] {
  const index = list.search(commandPatterns.list);
  const names = (index === -1 ? list : list.slice(0, index)).split(",").map((name) => name.trim());
  const commands = index === -1 ? [] : list.slice(index).split(commandPatterns.commas);
  return [...new Set([...names, ...commands].map((name) => name.trim()).filter((name) => name !== ""))];
}

/** The settings of a file that apply to runs, without the keys that a wing claims. */
function runSettings({ claimedKeys: claimed }: ConfigKeys, values: ConfigValues): ConfigValues {
  const isClaimed = (key: string) => claimed[key] !== undefined && values[claimed[key]] !== undefined;
  return Object.fromEntries(
    Object.entries(values).filter(([key, value]) => !isClaimed(key) && !isUnbounded(key, value)),
  );
}

/** In the original tool, -1 means "no limit". */
const isUnbounded = (key: string, value: unknown): boolean => key === "max_tokens" && Number(value) < 0;

const flagOf = (key: string): string =>
  key === "git" ? "--no-git" : `--${key.replaceAll("_", "-").replace("patience-minutes", "patience")}`;

function flagSettings({ scalars }: ConfigKeys, values: ConfigValues): ConfigValues {
  for (const key of Object.keys(scalars)) if (values[key] !== undefined) checkValue(key, values[key], flagOf(key), 2);
  return values;
}

function environmentSettings({ scalars }: ConfigKeys, env: NodeJS.ProcessEnv): ConfigValues {
  const values: Record<string, unknown> = {};
  for (const [key, kind] of Object.entries(scalars)) {
    const name = variableOf(key);
    const text = env[name];
    // In a shell, an empty variable means that it is not set for this command.
    if (text === undefined || text === "") continue;
    values[key] = readScalar(kind, text, name, 1);
    checkValue(key, values[key], name, 1);
  }
  return values;
}

function absolutePath(path: string, baseFolder: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return resolve(baseFolder, path);
}

/** The options of all names under a key; if two files set the same option of a name, the nearer file has priority. */
function mergeByName(layers: readonly Layer[], key: string): Record<string, object> {
  const mergedOptions: Record<string, object> = {};
  for (const { values } of layers.toReversed()) {
    for (const [name, options] of Object.entries(fieldsOf(values[key])))
      mergedOptions[name] = { ...mergedOptions[name], ...(options as object) };
  }
  return mergedOptions;
}

function withModel(agents: Readonly<Record<string, object>>, agent: string, model: string): Record<string, object> {
  if (agent.startsWith("cmd:"))
    throw new ExpectedError("--model has no effect on a command agent; put the model into its command.", 2);
  return { ...agents, [agent]: { ...agents[agent], model } };
}
