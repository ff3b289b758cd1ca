import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ExpectedError } from "../lib/errors.js";
import { given } from "../lib/given.js";
import { checkValue, projectFiles, readConfigFile, userFiles, type WrittenKeys } from "./config-file.js";
import { type ConfigKeys, readScalar, variableOf } from "./keys.js";
import { isObject } from "../lib/json-fields.js";

/** Where a value comes from: a flag, a variable, the path of a file, or `default`. */
type Origin = string;

export interface Surroundings {
  /** What the command line said, in the spelling of the config; `model`: that of the chosen agent. */
  readonly flags?: WrittenKeys;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** The user's folder; by default that of the environment or of the system. */
  readonly home?: string;
}

/** Values in the config's own spelling, with defaults filled in, and where each comes from. */
export interface GatheredConfig {
  readonly values: WrittenKeys;
  readonly origins: Readonly<Record<string, Origin>>;
  /** The nearest file with a key that only a file gives. */
  readonly apart?: { readonly path: string; readonly text: string; readonly written: WrittenKeys };
}

interface Layer {
  readonly written: WrittenKeys;
  originOf(key: string): Origin;
  /** Folder that relative paths refer to. */
  readonly base: string;
  readonly isFile?: true;
}

/**
 * Flag, environment, ./ralph.config.*, ~/.local/ralph/config.*, default: the first that says something counts, key by
 * key.
 */
export async function gatherConfig(
  keys: ConfigKeys,
  { flags = {}, env, cwd, home = env["HOME"] ?? homedir() }: Surroundings,
): Promise<GatheredConfig> {
  const { model, ...written } = flags;
  const files = [await readConfigFile(keys, projectFiles(cwd)), await readConfigFile(keys, userFiles(home))].filter(
    (file) => file !== undefined,
  );
  const layers: Layer[] = [
    { written: fromFlags(keys, written), originOf: flagOf, base: cwd },
    { written: fromEnvironment(keys, env), originOf: variableOf, base: cwd },
    ...files.map((file) => ({
      written: ofRuns(keys, file.written),
      originOf: () => file.path,
      base: dirname(file.path),
      isFile: true as const,
    })),
    { written: { ...keys.defaults, state_dir: defaultStateDir(env, home) }, originOf: () => "default", base: cwd },
  ];
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const key of Object.keys(keys.scalars)) {
    const layer = layers.find((candidate) => candidate.written[key] !== undefined);
    if (layer === undefined) continue;
    if (keys.commands.includes(key) && layer.isFile === true)
      forbidInProject(keys, key, layer.base, layer.originOf(key));
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
    if (keys.commands.includes(key)) forbidInProject(keys, key, layer.base, layer.originOf(key));
    values[key] = layer.written[key];
    origins[key] = layer.originOf(key);
  }
  if (model !== undefined)
    values["agents"] = withModel(
      mergedByName(layers, "agents"),
      agentsIn(String(values["agent"]))[0] ?? "",
      String(model),
    );
  const apart = files.find((file) => Object.keys(keys.apart).some((key) => file.written[key] !== undefined));
  return { values, origins, ...given({ apart }) };
}

/** The agents of a list with commas. A command may hold commas itself, so it is the last. */
export function agentsIn(list: string): string[] {
  const at = list.search(/(?:^|,)\s*cmd:/);
  const names = (at === -1 ? list : list.slice(0, at)).split(",").map((name) => name.trim());
  const command = at === -1 ? [] : [list.slice(at).replace(/^,/, "").trim()];
  return [...new Set([...names, ...command].filter((name) => name !== ""))];
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

/** Where workspaces and bug reports live unless somebody says otherwise. */
export const defaultStateDir = (env: NodeJS.ProcessEnv, home: string): string =>
  join(
    env["XDG_STATE_HOME"]?.startsWith("/") ? env["XDG_STATE_HOME"] : join(home, ".local", "state"),
    "research-ralph",
  );

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

/**
 * Commands of the user's run, and work is sent elsewhere, from the user's own config only: agents write into project
 * folders, and projects come from other people.
 */
function forbidInProject({ stateNames }: ConfigKeys, key: string, folder: string, path: string): void {
  if (!stateNames.some((name) => existsSync(join(folder, name)))) return;
  throw new ExpectedError(
    `${path} is in a project folder, where '${key}' is not allowed; move it to ~/.local/ralph/config.yaml.`,
  );
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
