import type { EngineConfig } from "../generated/config.js";
import { ExpectedError } from "../lib/errors.js";
import { nearest } from "../lib/nearest.js";
import type { Problem } from "../storage/schema-check.js";
import { isObject } from "../lib/json-fields.js";
import type { Words } from "../loop/types.js";

/** What the rules of a run say of the command line, whatever is worked on. */
export const commandLineWords: Pick<Words, "allow" | "otherwise"> = {
  allow: (unit) => (unit === "iterations" ? "-i" : `--max-${unit}`),
  otherwise: "use another --agent, or run again with --force",
};

export type Kind = "text" | "number" | "boolean" | "yaml";

/** What of a setting's value needs trust; undefined: nothing. `folder`: that of the file it stands in. */
export type NeedsTrust = (value: unknown, folder: string) => unknown;

/** The keys of a configuration that one wing reads, or several together. */
export interface ConfigKeys {
  /** Keys with one value that a flag and a variable may give too, and what it is read as where it is given as text. */
  readonly scalars: Readonly<Record<string, Kind>>;
  /** Keys under which names stand, each with options of its own. */
  readonly named: Readonly<Record<string, Readonly<Record<string, Kind>>>>;
  /** Keys whose value is a list or an object, taken whole from the nearest file. */
  readonly whole: readonly string[];
  /**
   * Keys that start a program, open the confinement, or send work or keys elsewhere, and for which values: in a file
   * of a folder they count only once the user trusts them. A key that ends in `.*` is each name under it.
   */
  readonly needsTrust: Readonly<Record<string, NeedsTrust>>;
  /**
   * Keys that only a file gives: the nearest file with one of them counts whole, so that a key of one file is never
   * sent to the address of another.
   */
  readonly apart: Readonly<Record<string, Kind>>;
  /** Of those, the one next to which a key of another wing says something about this wing, by that key. */
  readonly claimed: Readonly<Record<string, string>>;
  /** The same values as in schemas/config.schema.json; a test compares them. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Keys of the original tool and what became of them. */
  readonly former: Readonly<Record<string, string>>;
}

/** A wing's keys with what it leaves out. */
export const configKeys = <const Keys extends Partial<ConfigKeys>>(keys: Keys) => ({ ...noKeys, ...keys });

const noKeys = {
  scalars: {},
  named: {},
  whole: [],
  needsTrust: {},
  apart: {},
  claimed: {},
  defaults: {},
  former: {},
} as const satisfies ConfigKeys;

/** The keys of several wings together, in this order. */
export function joinKeys(wings: readonly ConfigKeys[]): ConfigKeys {
  const all = <Name extends keyof ConfigKeys>(name: Name) => wings.map((wing) => wing[name]);
  return {
    scalars: Object.assign({}, ...all("scalars")),
    named: Object.assign({}, ...all("named")),
    whole: all("whole").flat(),
    needsTrust: Object.assign({}, ...all("needsTrust")),
    apart: Object.assign({}, ...all("apart")),
    claimed: Object.assign({}, ...all("claimed")),
    defaults: Object.assign({}, ...all("defaults")),
    former: Object.assign({}, ...all("former")),
  };
}

const agentKinds = {
  type: "text",
  command: "text",
  model: "text",
  args: "yaml",
  env: "yaml",
  hosts: "yaml",
  read: "yaml",
  user_settings: "boolean",
} as const satisfies Record<keyof NonNullable<EngineConfig["agents"]>[string], Kind>;

/** Any value needs trust. */
export const whatever: NeedsTrust = (value) => value;

const filledList: NeedsTrust = (value) => (Array.isArray(value) && value.length > 0 ? value : undefined);

const isOn: NeedsTrust = (value) => (value === true ? value : undefined);

/** How an agent begins that is a command line. Behind a kind of agents, one word is the name of a known one. */
const commandStart = String.raw`(?:cmd:|[a-z]+:(?!\s*[\w-]+\s*(?:,|$)))`;

/** Where the first command line begins in a list of agents, or the next one after a comma. */
export const commandIn = {
  list: new RegExp(String.raw`(?:^|,)\s*(?=${commandStart})`),
  commas: new RegExp(String.raw`,\s*(?=${commandStart})`),
};

const command = new RegExp(String.raw`(?:^|[,:])\s*${commandStart}`);

/** Names of agents, where a command line is among them. */
export const commandAmong: NeedsTrust = (value) =>
  [value].flat().some((names) => typeof names === "string" && command.test(names)) ? value : undefined;

/** These options, where an entry has one of them. */
export const only =
  (...options: readonly string[]): NeedsTrust =>
  (entry) => {
    const picked = Object.entries(isObject(entry) ? entry : {}).filter(([name]) => options.includes(name));
    return picked.length === 0 ? undefined : Object.fromEntries(picked);
  };

/**
 * The address under `key`, with these `others` next to it, where it is not on this machine: a service in the folder's
 * own choice would be sent what the user asks, and keys.
 */
export const leavesMachine =
  (key: string, ...others: readonly string[]): NeedsTrust =>
  (entry) =>
    isElsewhere(isObject(entry) ? entry[key] : undefined) ? only(key, ...others)(entry, "") : undefined;

/** Whether a host is this machine. */
export const isLoopback = ({ hostname }: URL): boolean =>
  /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

/** Whether an address leads off this machine. */
export const isElsewhere = (address: unknown): boolean =>
  typeof address === "string" && URL.canParse(address) && !isLoopback(new URL(address));

/** Limits and `context_reset_frequency` have no default. */
export const engineKeys = configKeys({
  scalars: {
    agent: "text",
    jobs: "number",
    iterations: "number",
    max_minutes: "number",
    max_usd: "number",
    max_tokens: "number",
    context_reset_frequency: "number",
    iteration_minutes: "number",
    idle_minutes: "number",
    patience_minutes: "number",
    unconfined: "boolean",
    sandbox: "text",
    sandbox_image: "text",
    sandbox_env: "text",
    redis: "text",
    insecure_redis: "boolean",
    worker_accepts: "text",
    otel: "boolean",
    git: "boolean",
    state_dir: "text",
    history_every: "number",
    history_observations: "number",
    history_recent: "number",
    history_observation_chars: "number",
    history_summary_chars: "number",
    stagnation_limit: "number",
    stagnation_window: "number",
    historian: "text",
  } satisfies Record<Exclude<keyof EngineConfig, "$schema" | "agents" | "hooks" | "plugins" | "think">, Kind>,
  named: { agents: agentKinds },
  whole: ["hooks", "plugins", "think"],
  needsTrust: {
    agent: commandAmong,
    historian: commandAmong,
    think: (value, folder) => commandAmong(isObject(value) ? value["critic"] : undefined, folder),
    hooks: filledList,
    plugins: filledList,
    "agents.*": only("command", "args", "env", "hosts", "read", "user_settings"),
    unconfined: isOn,
    sandbox: (value) => (value === "host" ? value : undefined),
    sandbox_image: whatever,
    sandbox_env: whatever,
    redis: whatever,
    insecure_redis: isOn,
    worker_accepts: whatever,
    // An agent's login and settings lie there.
    state_dir: whatever,
  },
  defaults: {
    agent: "claude",
    jobs: 1,
    iteration_minutes: 60,
    idle_minutes: 15,
    patience_minutes: 120,
    unconfined: false,
    insecure_redis: false,
    otel: false,
    git: true,
    history_every: 5,
    history_observations: 10,
    history_recent: 3,
    history_observation_chars: 1500,
    history_summary_chars: 2000,
    stagnation_limit: 5,
    stagnation_window: 10,
  } satisfies EngineConfig,
  former: {
    default_agent: "it is called 'agent' now",
    live_output: "use the flag --quiet instead",
    max_consecutive_failures: "it is always three now",
  },
});

/** The name of the environment variable of a key. */
export const variableOf = (key: string): string => `RESEARCH_RALPH_${key.toUpperCase()}`;

/** How the value at a path of keys is read from text. Throws for a path that does not exist, naming the nearest. */
export function kindAt(keys: ConfigKeys, path: readonly string[]): Kind {
  const [first = "", name, option, ...rest] = path;
  const options = own(keys.named, first);
  if (options !== undefined) {
    if (name === undefined || option === undefined) return "yaml";
    const kind = own(options, option);
    if (kind !== undefined && rest.length === 0) return kind;
    throw unknownKey(keys, path.join("."), `${first}.${name}.`, option, Object.keys(options));
  }
  const kind = keys.whole.includes(first) ? "yaml" : (own(keys.apart, first) ?? own(keys.scalars, first));
  if (kind !== undefined && name === undefined) return kind;
  throw unknownKey(keys, path.join("."), "", first, atTop(keys));
}

const own = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** Every setting that a file may have at its top. */
const atTop = (keys: ConfigKeys): string[] => [
  ...Object.keys(keys.scalars),
  ...Object.keys(keys.named),
  ...keys.whole,
  ...Object.keys(keys.apart),
];

function unknownKey(
  keys: ConfigKeys,
  written: string,
  prefix: string,
  word: string,
  known: readonly string[],
): ExpectedError {
  return new ExpectedError(
    `Unknown configuration key '${written}'; ${adviceFor(prefix === "" ? keys : noKeys, prefix, word, known)}.`,
    2,
  );
}

/** What to do about an unknown key: its new name, the nearest one, or where to find all; a few are named at once. */
function adviceFor(keys: ConfigKeys, prefix: string, word: string, known: readonly string[]): string {
  const former = own(keys.former, word);
  if (former !== undefined) return former;
  const near = nearest(word, known);
  if (near !== undefined) return `the nearest one is '${prefix}${near}'`;
  return known.length > 12 ? "'research-ralph config' lists the keys" : `the keys are ${known.join(", ")}`;
}

/**
 * The top-level keys and the options under each name that a written config may not have, and what to write instead.
 */
export function unknownKeysIn(keys: ConfigKeys, written: Readonly<Record<string, unknown>>): Problem[] {
  const known = atTop(keys);
  const unknown = (pointer: string, key: string, names: readonly string[]): Problem => ({
    pointer,
    message: `is not a configuration key: ${adviceFor(keys, "", key, names)}`,
  });
  // By its schema editors check the file; that sets nothing.
  const top = Object.keys(written).filter((key) => key !== "$schema" && !known.includes(key));
  const inner = Object.entries(keys.named).flatMap(([key, kinds]) => {
    const value = written[key];
    return (isObject(value) ? Object.entries(value) : []).flatMap(([name, options]) =>
      Object.keys(isObject(options) ? options : {})
        .filter((option) => !(option in kinds))
        .map((option) => unknown(`/${key}/${name}/${option}`, option, Object.keys(kinds))),
    );
  });
  return [...top.map((key) => unknown(`/${key}`, key, known)), ...inner];
}

/** A number or a truth from text; `where` says whose text it is. Bounds are the schema's business. */
export function readScalar(kind: Kind, text: string, where: string, exitCode: 1 | 2): string | number | boolean {
  const value = text.trim();
  if (value === "") throw new ExpectedError(`${where} is empty; give it a value or leave it out.`, exitCode);
  if (kind === "number") {
    const number = Number(value);
    if (Number.isFinite(number)) return number;
    throw new ExpectedError(`${where} is '${value}', which is not a number.`, exitCode);
  }
  if (kind === "boolean") {
    if (["true", "yes", "on", "1"].includes(value.toLowerCase())) return true;
    if (["false", "no", "off", "0"].includes(value.toLowerCase())) return false;
    throw new ExpectedError(`${where} is '${value}'; it must be true or false.`, exitCode);
  }
  return value;
}
