import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ExpectedError } from "../lib/errors.js";
import { defaultStateDir } from "./state-dir.js";
import { checkValue, projectFiles, readConfigFile, userFiles, type WrittenKeys } from "./config-file.js";
import { commandIn, type ConfigKeys, readScalar, variableOf } from "./keys.js";
import { isObject } from "../lib/json-fields.js";
import { type Asked, partsIn, requireTrust, type TrustedPart, untrusted } from "./trust.js";

/** Where a value comes from: a flag, a variable, the path of a file, or `default`. */
type Origin = string;

export interface Surroundings extends Asked {
  /**
   * What the command line said, in the spelling of the config; `model`: that of the chosen agent; `trust`: the user
   * trusts what stands in the folder.
   */
  readonly flags?: WrittenKeys;
  /**
   * The only keys that this command works by, of those that need trust: the others are left out where the user does
   * not trust them. By default it works by all.
   */
  readonly uses?: readonly string[];
  /** Settings are only printed, so none has to be trusted. */
  readonly onlyShown?: true;
  readonly cwd: string;
  /** The user's folder; by default that of the environment or of the system. */
  readonly home?: string;
}

/**
 * Values in the config's own spelling, with defaults filled in, and where each comes from. `needTrust`: those of the
 * folder's own file that count and need trust.
 */
export interface GatheredConfig {
  readonly values: WrittenKeys;
  readonly origins: Readonly<Record<string, Origin>>;
  /** The files with a key that only a file gives, the nearest first. */
  readonly apart: readonly { readonly path: string; readonly text: string; readonly written: WrittenKeys }[];
  readonly needTrust: readonly TrustedPart[];
}

interface Layer {
  readonly written: WrittenKeys;
  originOf(key: string): Origin;
  /** Folder that relative paths refer to. */
  readonly base: string;
}

/**
 * Flag, environment, ./ralph.config.*, ~/.local/ralph/config.*, default: the first that says something counts, key by
 * key.
 */
export async function gatherConfig(keys: ConfigKeys, surroundings: Surroundings): Promise<GatheredConfig> {
  const { flags = {}, env, cwd, home = env["HOME"] ?? homedir() } = surroundings;
  const { model, trust, ...written } = flags;
  const own = await readConfigFile(keys, projectFiles(cwd));
  const parts = own === undefined ? [] : partsIn(keys.needsTrust, own.written, own.path);
  const { uses, onlyShown = false } = surroundings;
  const isUsed = ({ key }: TrustedPart) => uses?.includes(key.split(".")[0] ?? "") ?? true;
  const leftOut =
    onlyShown || trust === true
      ? []
      : untrusted(
          parts.filter((part) => !isUsed(part)),
          env,
        );
  const files = [
    own && { ...own, written: withoutParts(own.written, leftOut) },
    await readConfigFile(keys, userFiles(home)),
  ].filter((file) => file !== undefined);
  const layers: Layer[] = [
    { written: fromFlags(keys, written), originOf: flagOf, base: cwd },
    { written: fromEnvironment(keys, env), originOf: variableOf, base: cwd },
    ...files.map((file) => ({
      written: ofRuns(keys, file.written),
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
    values[key] = key === "state_dir" ? absolute(String(value), layer.base, home) : value;
    origins[key] = layer.originOf(key);
  }
  for (const key of Object.keys(keys.named)) {
    const merged = mergedByName(layers, key);
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
      mergedByName(layers, "agents"),
      agentsIn(String(values["agent"]))[0] ?? "",
      String(model),
    );
  // A flag or a variable that goes before it leaves it without effect.
  const counts = ({ key, file }: TrustedPart) =>
    key in keys.scalars ? origins[key] === file : written[key] === undefined;
  const needTrust = parts.filter((part) => isUsed(part) && counts(part));
  if (!onlyShown) await requireTrust(needTrust, surroundings, { trust: trust === true });
  const apart = files.filter((file) => Object.keys(keys.apart).some((key) => file.written[key] !== undefined));
  return { values, origins, needTrust, apart };
}

/** A file's settings without these. */
function withoutParts(written: WrittenKeys, parts: readonly TrustedPart[]): WrittenKeys {
  const left: Record<string, unknown> = { ...written };
  for (const { key } of parts) {
    const at = key.indexOf(".");
    if (at === -1) delete left[key];
    else {
      const [first, name] = [key.slice(0, at), key.slice(at + 1)];
      left[first] = Object.fromEntries(Object.entries(Object(left[first])).filter(([each]) => each !== name));
    }
  }
  return left;
}

/** The agents of a list with commas. A command may hold commas itself, so only another command stands behind one. */
export function agentsIn(list: string): string[] {
  const at = list.search(commandIn.list);
  const names = (at === -1 ? list : list.slice(0, at)).split(",").map((name) => name.trim());
  const commands = at === -1 ? [] : list.slice(at).split(commandIn.commas);
  return [...new Set([...names, ...commands].map((name) => name.trim()).filter((name) => name !== ""))];
}

/** What a file says to all, without the keys that another one claims besides its own. */
function ofRuns({ claimed }: ConfigKeys, written: WrittenKeys): WrittenKeys {
  const isClaimed = (key: string) => claimed[key] !== undefined && written[claimed[key]] !== undefined;
  return Object.fromEntries(
    Object.entries(written).filter(([key, value]) => !isClaimed(key) && !isUnbounded(key, value)),
  );
}

/** -1 is how the original says "no limit". */
const isUnbounded = (key: string, value: unknown): boolean => key === "max_tokens" && Number(value) < 0;

const flagOf = (key: string): string =>
  key === "git" ? "--no-git" : `--${key.replaceAll("_", "-").replace("patience-minutes", "patience")}`;

function fromFlags({ scalars }: ConfigKeys, written: WrittenKeys): WrittenKeys {
  for (const key of Object.keys(scalars)) if (written[key] !== undefined) checkValue(key, written[key], flagOf(key), 2);
  return written;
}

function fromEnvironment({ scalars }: ConfigKeys, env: NodeJS.ProcessEnv): WrittenKeys {
  const written: Record<string, unknown> = {};
  for (const [key, kind] of Object.entries(scalars)) {
    const name = variableOf(key);
    const text = env[name];
    // An empty variable is how a shell unsets one for a command.
    if (text === undefined || text === "") continue;
    written[key] = readScalar(kind, text, name, 1);
    checkValue(key, written[key], name, 1);
  }
  return written;
}

function absolute(path: string, base: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return resolve(base, path);
}

/** What stands under names; where two files speak of one name, the nearer file counts, option by option. */
function mergedByName(layers: readonly Layer[], key: string): Record<string, object> {
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
