import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ExpectedError } from "../lib/errors.js";
import { defaultStateDir } from "./state-dir.js";
import { checkValue, projectFiles, readConfigFile, userFiles, type WrittenKeys } from "./config-file.js";
import { commandIn, type ConfigKeys, readScalar, variableOf } from "./keys.js";
import { isObject } from "../lib/json-fields.js";
import { type TrustPrompt, partsIn, requireTrust, type TrustedPart, untrusted } from "./trust.js";

/** The source of a value: a flag, a variable, the path of a file, or `default`. */
type Origin = string;

export interface Surroundings extends TrustPrompt {
  /**
   * Values from the command line, with the key names of the configuration; `model`: the model of the chosen agent;
   * `trust`: whether the user trusts the settings of the folder.
   */
  readonly flags?: WrittenKeys;
  /**
   * The keys that need trust and that this command uses; other untrusted keys are ignored. By default the command uses
   * all keys.
   */
  readonly uses?: readonly string[];
  /** Set if settings are only printed, so none needs trust. */
  readonly onlyShown?: true;
  readonly cwd: string;
  /** The user's folder; by default that of the environment or of the system. */
  readonly home?: string;
}

/**
 * All values with the key names of the configuration, including defaults, and the source of each. `needTrust`: settings
 * of the folder's file that are used and need trust.
 */
export interface GatheredConfig {
  readonly values: WrittenKeys;
  readonly origins: Readonly<Record<string, Origin>>;
  /** The files with a key that only a file can set, the nearest first. */
  readonly apart: readonly { readonly path: string; readonly text: string; readonly written: WrittenKeys }[];
  readonly needTrust: readonly TrustedPart[];
}

interface Layer {
  readonly written: WrittenKeys;
  originOf(key: string): Origin;
  /** The folder that relative paths start from. */
  readonly base: string;
}

/**
 * Collects the value of each key from its first source: flag, environment, ./ralph.config.*, ~/.local/ralph/config.*,
 * default.
 */
export async function gatherConfig(keys: ConfigKeys, surroundings: Surroundings): Promise<GatheredConfig> {
  const { flags = {}, env, cwd, home = env["HOME"] ?? homedir() } = surroundings;
  const { model, trust, ...flagValues } = flags;
  const projectFile = await readConfigFile(keys, projectFiles(cwd));
  const parts = projectFile === undefined ? [] : partsIn(keys.needsTrust, projectFile.written, projectFile.path);
  const { uses, onlyShown = false } = surroundings;
  const isUsed = ({ key }: TrustedPart) => uses?.includes(key.split(".")[0] ?? "") ?? true;
  const ignoredParts =
    onlyShown || trust === true
      ? []
      : untrusted(
          parts.filter((part) => !isUsed(part)),
          env,
        );
  const files = [
    projectFile && { ...projectFile, written: withoutParts(projectFile.written, ignoredParts) },
    await readConfigFile(keys, userFiles(home)),
  ].filter((file) => file !== undefined);
  const layers: Layer[] = [
    { written: flagSettings(keys, flagValues), originOf: flagOf, base: cwd },
    { written: environmentSettings(keys, env), originOf: variableOf, base: cwd },
    ...files.map((file) => ({
      written: runSettings(keys, file.written),
      originOf: () => file.path,
      base: dirname(file.path),
    })),
    { written: { ...keys.defaults, state_dir: defaultStateDir(env, home) }, originOf: () => "default", base: cwd },
  ];
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const key of Object.keys(keys.scalars)) {
    const layer = layers.find((candidate) => candidate.written[key] !== undefined);
    if (layer === undefined) continue;
    const value = layer.written[key];
    values[key] = key === "state_dir" ? absolutePath(String(value), layer.base, home) : value;
    origins[key] = layer.originOf(key);
  }
  for (const key of Object.keys(keys.named)) {
    const merged = mergeByName(layers, key);
    if (Object.keys(merged).length === 0) continue;
    values[key] = merged;
    origins[key] = layers
      .flatMap((layer) => (layer.written[key] === undefined ? [] : [layer.originOf(key)]))
      .join(", ");
  }
  for (const key of keys.whole) {
    const layer = layers.find((candidate) => candidate.written[key] !== undefined);
    if (layer === undefined) continue;
    values[key] = layer.written[key];
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
  const needTrust = parts.filter((part) => isUsed(part) && isEffective(part));
  if (!onlyShown) await requireTrust(needTrust, surroundings, { trust: trust === true });
  const apart = files.filter((file) => Object.keys(keys.apart).some((key) => file.written[key] !== undefined));
  return { values, origins, needTrust, apart };
}

/** The settings of a file without the given parts. */
function withoutParts(written: WrittenKeys, parts: readonly TrustedPart[]): WrittenKeys {
  const settings: Record<string, unknown> = { ...written };
  for (const { key } of parts) {
    const index = key.indexOf(".");
    if (index === -1) delete settings[key];
    else {
      const [first, name] = [key.slice(0, index), key.slice(index + 1)];
      settings[first] = Object.fromEntries(Object.entries(Object(settings[first])).filter(([each]) => each !== name));
    }
  }
  return settings;
}

/** The agents of a list with commas. A command may contain commas, so after a command only commands can follow. */
export function agentsIn(list: string): string[] {
  const index = list.search(commandIn.list);
  const names = (index === -1 ? list : list.slice(0, index)).split(",").map((name) => name.trim());
  const commands = index === -1 ? [] : list.slice(index).split(commandIn.commas);
  return [...new Set([...names, ...commands].map((name) => name.trim()).filter((name) => name !== ""))];
}

/** The settings of a file that apply to runs, without the keys that a wing claims. */
function runSettings({ claimed }: ConfigKeys, written: WrittenKeys): WrittenKeys {
  const isClaimed = (key: string) => claimed[key] !== undefined && written[claimed[key]] !== undefined;
  return Object.fromEntries(
    Object.entries(written).filter(([key, value]) => !isClaimed(key) && !isUnbounded(key, value)),
  );
}

/** In the original tool, -1 means "no limit". */
const isUnbounded = (key: string, value: unknown): boolean => key === "max_tokens" && Number(value) < 0;

const flagOf = (key: string): string =>
  key === "git" ? "--no-git" : `--${key.replaceAll("_", "-").replace("patience-minutes", "patience")}`;

function flagSettings({ scalars }: ConfigKeys, written: WrittenKeys): WrittenKeys {
  for (const key of Object.keys(scalars)) if (written[key] !== undefined) checkValue(key, written[key], flagOf(key), 2);
  return written;
}

function environmentSettings({ scalars }: ConfigKeys, env: NodeJS.ProcessEnv): WrittenKeys {
  const written: Record<string, unknown> = {};
  for (const [key, kind] of Object.entries(scalars)) {
    const name = variableOf(key);
    const text = env[name];
    // In a shell, an empty variable means that it is not set for this command.
    if (text === undefined || text === "") continue;
    written[key] = readScalar(kind, text, name, 1);
    checkValue(key, written[key], name, 1);
  }
  return written;
}

function absolutePath(path: string, base: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return resolve(base, path);
}

/** The options of all names under a key; if two files set the same option of a name, the nearer file has priority. */
function mergeByName(layers: readonly Layer[], key: string): Record<string, object> {
  const merged: Record<string, object> = {};
  for (const { written } of layers.toReversed()) {
    const names = written[key];
    for (const [name, options] of Object.entries(isObject(names) ? names : {}))
      merged[name] = { ...merged[name], ...(options as object) };
  }
  return merged;
}

function withModel(agents: Readonly<Record<string, object>>, agent: string, model: string): Record<string, object> {
  if (agent.startsWith("cmd:"))
    throw new ExpectedError("--model has no effect on a command agent; put the model into its command.", 2);
  return { ...agents, [agent]: { ...agents[agent], model } };
}
