import type { EngineConfig } from "../generated/config.js";
import { ExpectedError } from "../lib/errors.js";
import { nearestCandidate } from "../lib/nearest.js";
import type { Problem } from "../storage/schema-check.js";
import { fieldsOf } from "../lib/json-fields.js";
import type { Words } from "../loop/types.js";

/** The names of command-line options in messages about the limits of a run, for every kind of run. */
export const commandLineWords: Pick<Words, "allow" | "otherwise"> = {
  allow: (unit) => (unit === "iterations" ? "-i" : `--max-${unit}`),
  otherwise: "use another --agent, or run again with --force",
};

export type ValueKind = "text" | "number" | "boolean" | "yaml";

/** Returns the part of a setting's value that needs trust; undefined: none. `folder`: the folder of the file. */
export type NeedsTrust = (value: unknown, folder: string) => unknown;

/**
 * The configuration keys of one wing (the engine, research, tasks, code, the assistant), or of several wings together.
 */
export interface ConfigKeys {
  /** Keys with a single value, which a flag or a variable may set too, and the kind of the value. */
  readonly scalars: Readonly<Record<string, ValueKind>>;
  /** Keys whose value maps names to options, and the kinds of these options. */
  readonly optionsByName: Readonly<Record<string, Readonly<Record<string, ValueKind>>>>;
  /** Keys whose value is a list or an object; the complete value comes from the nearest file. */
  readonly wholeValues: readonly string[];
  /**
   * Keys that start a program, weaken the confinement, or send work or keys to another machine, and which of their
   * values do. In the file of a folder they are used only after the user trusts them. A key that ends in `.*` stands
   * for each name under it.
   */
  readonly needsTrust: Readonly<Record<string, NeedsTrust>>;
  /** Keys that only a file can set. Their wing joins those of several files. */
  readonly fileOnly: Readonly<Record<string, ValueKind>>;
  /**
   * Keys of another wing that this wing uses instead, if the same file also has a certain key of `fileOnly`. Maps the
   * first key to the second.
   */
  readonly claimedKeys: Readonly<Record<string, string>>;
  /** The same values as in schemas/config.schema.json; a test compares them. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Keys of the original tool, and the text that says what replaces them. */
  readonly replacedKeys: Readonly<Record<string, string>>;
}

/** A wing's keys, completed with empty values. */
export const configKeys = <const Keys extends Partial<ConfigKeys>>(keys: Keys) => ({ ...noKeys, ...keys });

const noKeys = {
  scalars: {},
  optionsByName: {},
  wholeValues: [],
  needsTrust: {},
  fileOnly: {},
  claimedKeys: {},
  defaults: {},
  replacedKeys: {},
} as const satisfies ConfigKeys;

/** The keys of several wings together, in this order. */
export function joinKeys(wings: readonly ConfigKeys[]): ConfigKeys {
  const valuesOf = <Name extends keyof ConfigKeys>(name: Name) => wings.map((wing) => wing[name]);
  return {
    scalars: Object.assign({}, ...valuesOf("scalars")),
    optionsByName: Object.assign({}, ...valuesOf("optionsByName")),
    wholeValues: valuesOf("wholeValues").flat(),
    needsTrust: Object.assign({}, ...valuesOf("needsTrust")),
    fileOnly: Object.assign({}, ...valuesOf("fileOnly")),
    claimedKeys: Object.assign({}, ...valuesOf("claimedKeys")),
    defaults: Object.assign({}, ...valuesOf("defaults")),
    replacedKeys: Object.assign({}, ...valuesOf("replacedKeys")),
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
} as const satisfies Record<keyof NonNullable<EngineConfig["agents"]>[string], ValueKind>;

/** Any value of the key needs trust. */
export const anyValue: NeedsTrust = (value) => value;

const valueIfFilled: NeedsTrust = (value) => (Array.isArray(value) && value.length > 0 ? value : undefined);

const valueIfTrue: NeedsTrust = (value) => (value === true ? value : undefined);

/**
 * Pattern of the start of an agent that is a command line. After a kind and a colon, a single word is an agent's name.
 * `fleet:` is followed by an agent of another machine, which ends at a comma.
 */
const commandStart = String.raw`(?:cmd:|(?!fleet:)[a-z]+:(?!\s*[\w-]+\s*(?:,|$)))`;

/** Patterns in a list of agents: the start of the first command line, and the commas before further ones. */
export const commandPatterns = {
  list: new RegExp(String.raw`(?:^|,)\s*(?=${commandStart})`),
  commas: new RegExp(String.raw`,\s*(?=${commandStart})`),
};

const commandPattern = new RegExp(String.raw`(?:^|[,:])\s*${commandStart}`);

/** A value with agents needs trust if one of them is a command line. */
export const valueIfCommand: NeedsTrust = (value) =>
  [value].flat().some((names) => typeof names === "string" && commandPattern.test(names)) ? value : undefined;

/** Of an entry with options, only these options need trust. */
const pickOptions =
  (...options: readonly string[]): NeedsTrust =>
  (entry) => {
    const selection = Object.entries(fieldsOf(entry)).filter(([name]) => options.includes(name));
    return selection.length === 0 ? undefined : Object.fromEntries(selection);
  };

/**
 * If the address under `key` is not on this machine, it and the `otherOptions` of its entry need trust: otherwise a
 * folder could choose a service that receives the user's questions and keys.
 */
export const optionsIfElsewhere =
  (key: string, ...otherOptions: readonly string[]): NeedsTrust =>
  (entry) =>
    isElsewhere(fieldsOf(entry)[key]) ? pickOptions(key, ...otherOptions)(entry, "") : undefined;

/** Whether a host is this machine. */
export const isLoopback = ({ hostname }: URL): boolean =>
  /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

/** Whether an address is on another machine. */
export const isElsewhere = (address: unknown): boolean =>
  typeof address === "string" && URL.canParse(address) && !isLoopback(new URL(address));

/** The configuration keys of the engine. Limits and `context_reset_frequency` have no default. */
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
  } satisfies Record<Exclude<keyof EngineConfig, "$schema" | "agents" | "hooks" | "plugins" | "think">, ValueKind>,
  optionsByName: { agents: agentKinds },
  wholeValues: ["hooks", "plugins", "think"],
  needsTrust: {
    agent: valueIfCommand,
    historian: valueIfCommand,
    think: (value, folder) => valueIfCommand(fieldsOf(value)["critic"], folder),
    hooks: valueIfFilled,
    plugins: valueIfFilled,
    "agents.*": pickOptions("command", "args", "env", "hosts", "read", "user_settings"),
    unconfined: valueIfTrue,
    sandbox: (value) => (value === "host" ? value : undefined),
    sandbox_image: anyValue,
    sandbox_env: anyValue,
    redis: anyValue,
    insecure_redis: valueIfTrue,
    worker_accepts: anyValue,
    // The folder holds logins and settings of agents.
    state_dir: anyValue,
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
  replacedKeys: {
    default_agent: "it is called 'agent' now",
    live_output: "use the flag --quiet instead",
    max_consecutive_failures: "it is always three now",
  },
});

/** The name of the environment variable of a key. */
export const variableOf = (key: string): string => `RESEARCH_RALPH_${key.toUpperCase()}`;

/** The kind of the value at a path of keys. Throws for an unknown path, with the nearest known key in the message. */
export function kindAt(keys: ConfigKeys, path: readonly string[]): ValueKind {
  const [first = "", name, option, ...rest] = path;
  const options = ownValue(keys.optionsByName, first);
  if (options !== undefined) {
    if (name === undefined || option === undefined) return "yaml";
    const kind = ownValue(options, option);
    if (kind !== undefined && rest.length === 0) return kind;
    throw unknownKeyError(keys, path.join("."), `${first}.${name}.`, option, Object.keys(options));
  }
  const kind = keys.wholeValues.includes(first)
    ? "yaml"
    : (ownValue(keys.fileOnly, first) ?? ownValue(keys.scalars, first));
  if (kind !== undefined && name === undefined) return kind;
  throw unknownKeyError(keys, path.join("."), "", first, topLevelKeys(keys));
}

const ownValue = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** All keys that a file may have at its top level. */
const topLevelKeys = (keys: ConfigKeys): string[] => [
  ...Object.keys(keys.scalars),
  ...Object.keys(keys.optionsByName),
  ...keys.wholeValues,
  ...Object.keys(keys.fileOnly),
];

function unknownKeyError(
  keys: ConfigKeys,
  path: string,
  prefix: string,
  word: string,
  knownKeys: readonly string[],
): ExpectedError {
  return new ExpectedError(
    `Unknown configuration key '${path}'; ${adviceFor(prefix === "" ? keys : noKeys, prefix, word, knownKeys)}.`,
    2,
  );
}

/** Advice about an unknown key: its replacement, the nearest key, the list of keys, or how to list many keys. */
function adviceFor(keys: ConfigKeys, prefix: string, word: string, knownKeys: readonly string[]): string {
  const replacement = ownValue(keys.replacedKeys, word);
  if (replacement !== undefined) return replacement;
  const nearestKey = nearestCandidate(word, knownKeys);
  if (nearestKey !== undefined) return `the nearest one is '${prefix}${nearestKey}'`;
  return knownKeys.length > 12 ? "'research-ralph config' lists the keys" : `the keys are ${knownKeys.join(", ")}`;
}

/**
 * The unknown top-level keys and options of a configuration, with advice for each.
 */
export function unknownKeysIn(keys: ConfigKeys, settings: Readonly<Record<string, unknown>>): Problem[] {
  const knownKeys = topLevelKeys(keys);
  const unknownKeyProblem = (pointer: string, key: string, names: readonly string[]): Problem => ({
    pointer,
    message: `is not a configuration key: ${adviceFor(keys, "", key, names)}`,
  });
  // Editors use $schema to check the file; it is not a setting.
  const topKeys = Object.keys(settings).filter((key) => key !== "$schema" && !knownKeys.includes(key));
  const nestedProblems = Object.entries(keys.optionsByName).flatMap(([key, kinds]) => {
    return Object.entries(fieldsOf(settings[key])).flatMap(([name, options]) =>
      Object.keys(fieldsOf(options))
        .filter((option) => !(option in kinds))
        .map((option) => unknownKeyProblem(`/${key}/${name}/${option}`, option, Object.keys(kinds))),
    );
  });
  return [...topKeys.map((key) => unknownKeyProblem(`/${key}`, key, knownKeys)), ...nestedProblems];
}

/** Parses a text as a value of this kind; `source` is its name in errors. The schema checks bounds. */
export function readScalar(kind: ValueKind, text: string, source: string, exitCode: 1 | 2): string | number | boolean {
  const value = text.trim();
  if (value === "") throw new ExpectedError(`${source} is empty; give it a value or leave it out.`, exitCode);
  if (kind === "number") {
    const number = Number(value);
    if (Number.isFinite(number)) return number;
    throw new ExpectedError(`${source} is '${value}', which is not a number.`, exitCode);
  }
  if (kind === "boolean") {
    if (["true", "yes", "on", "1"].includes(value.toLowerCase())) return true;
    if (["false", "no", "off", "0"].includes(value.toLowerCase())) return false;
    throw new ExpectedError(`${source} is '${value}'; it must be true or false.`, exitCode);
  }
  return value;
}
