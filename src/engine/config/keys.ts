import type { WrittenConfig } from "../generated/config.js";
import { ExpectedError } from "../lib/errors.js";
import { nearest } from "../lib/nearest.js";

/** Keys under which names stand, each with options of its own. */
export type NamedKey = "agents" | "sources";
/** A key with one value that a flag and a variable may give too. */
export type ScalarKey = Exclude<keyof WrittenConfig, NamedKey | WholeKey | AssistantKey>;
export type Kind = "text" | "number" | "boolean" | "yaml";

/** What a value given as text (a flag, a variable, `config key=value`) is read as. */
export const scalarKinds = {
  agent: "text",
  jobs: "number",
  papers: "number",
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
  git: "boolean",
  learn: "text",
  state_dir: "text",
  history_every: "number",
  history_observations: "number",
  history_recent: "number",
  history_observation_chars: "number",
  history_summary_chars: "number",
  stagnation_limit: "number",
  stagnation_window: "number",
  task_workspace: "text",
  task_plan_file: "text",
  task_record_file: "text",
  task_current_file: "text",
  historian: "text",
  screeners: "text",
  screening_conflicts: "text",
  contact: "text",
} as const satisfies Record<ScalarKey, Kind>;

export const scalarKeys = Object.keys(scalarKinds) as ScalarKey[];

/** Keys of the assistant `ralph`, which only a file gives: its keys and addresses have variables of their own. */
const assistantKinds = {
  api_url: "text",
  model: "text",
  anthropic_api_key: "text",
  openai_api_key: "text",
  google_api_key: "text",
  openai_api_url: "text",
  embedding_api_url: "text",
  embedding_model: "text",
  system_prompt: "text",
  context_window: "number",
  mcpServers: "yaml",
} as const satisfies Partial<Record<keyof WrittenConfig, Kind>>;
export type AssistantKey = keyof typeof assistantKinds;
export const assistantKeys = Object.keys(assistantKinds) as AssistantKey[];

const agentKinds = {
  type: "text",
  command: "text",
  model: "text",
  args: "yaml",
  env: "yaml",
  hosts: "yaml",
  read: "yaml",
  user_settings: "boolean",
} as const satisfies Record<keyof NonNullable<WrittenConfig["agents"]>[string], Kind>;

const sourceKinds = {
  endpoint: "text",
  key_variable: "text",
  interval_ms: "number",
  off: "boolean",
} as const satisfies Record<keyof NonNullable<WrittenConfig["sources"]>[string], Kind>;

const optionKinds: Readonly<Record<NamedKey, Readonly<Record<string, Kind>>>> = {
  agents: agentKinds,
  sources: sourceKinds,
};
export const namedKeys = Object.keys(optionKinds) as NamedKey[];

/** Keys whose value is a list or an object, taken whole from the nearest file. */
export const wholeKeys = ["hooks", "think"] as const;
type WholeKey = (typeof wholeKeys)[number];

/** Those of them that hold commands of the user's. */
export const commandKeys: readonly WholeKey[] = ["hooks"];

/** Every key that a file may have at its top. */
const allKeys: readonly string[] = [...scalarKeys, ...namedKeys, ...wholeKeys, ...assistantKeys];

/**
 * The same values as in schemas/config.schema.json; a test compares them. Limits, `contact` and
 * `context_reset_frequency` have none.
 */
export const defaults = {
  agent: "claude",
  jobs: 1,
  papers: 20,
  iteration_minutes: 60,
  idle_minutes: 15,
  patience_minutes: 120,
  unconfined: false,
  git: true,
  learn: "ask",
  history_every: 5,
  history_observations: 10,
  history_recent: 3,
  history_observation_chars: 1500,
  history_summary_chars: 2000,
  stagnation_limit: 5,
  stagnation_window: 10,
  screening_conflicts: "include",
  task_workspace: ".",
  task_plan_file: "todo.md",
  task_record_file: "whole.task.md",
  task_current_file: "current.state.md",
} as const satisfies WrittenConfig;

/** Keys of the original tool and what became of them. */
const formerKeys: Readonly<Record<string, string>> = {
  default_agent: "it is called 'agent' now",
  default_papers: "it is called 'papers' now",
  research_dir: "projects are in the folder 'researches' where you start",
  live_output: "use the flag --quiet instead",
  max_consecutive_failures: "it is always three now",
};

/** The name of the environment variable of a key. */
export const variableOf = (key: ScalarKey): string => `RESEARCH_RALPH_${key.toUpperCase()}`;

/** How the value at a path of keys is read from text. Throws for a path that does not exist, naming the nearest. */
export function kindAt(path: readonly string[]): Kind {
  const [first = "", name, option, ...rest] = path;
  if (isNamed(first)) {
    const kinds = optionKinds[first];
    if (name === undefined || option === undefined) return "yaml";
    const kind = Object.hasOwn(kinds, option) ? kinds[option] : undefined;
    if (kind !== undefined && rest.length === 0) return kind;
    throw unknownKey(path.join("."), `${first}.${name}.`, option, Object.keys(kinds));
  }
  if ((wholeKeys as readonly string[]).includes(first) && name === undefined) return "yaml";
  if (Object.hasOwn(assistantKinds, first) && name === undefined) return assistantKinds[first as AssistantKey];
  const kind = Object.hasOwn(scalarKinds, first) ? scalarKinds[first as ScalarKey] : undefined;
  if (kind !== undefined && name === undefined) return kind;
  throw unknownKey(path.join("."), "", first, allKeys);
}

const isNamed = (key: string): key is NamedKey => Object.hasOwn(optionKinds, key);

function unknownKey(written: string, prefix: string, word: string, known: readonly string[]): ExpectedError {
  return new ExpectedError(`Unknown configuration key '${written}'; ${adviceFor(prefix, word, known)}.`, 2);
}

/** What to do about an unknown key: its new name, the nearest one, or all there are. */
function adviceFor(prefix: string, word: string, known: readonly string[]): string {
  const former = prefix === "" ? formerKeys[word] : undefined;
  if (former !== undefined) return former;
  const near = nearest(word, known);
  return near === undefined ? `the keys are ${known.join(", ")}` : `the nearest one is '${prefix}${near}'`;
}

/**
 * The top-level keys and the options of each agent and source that a written config may not have, as "where: what to
 * do".
 */
export function unknownKeysIn(written: Readonly<Record<string, unknown>>): string[] {
  const known = allKeys;
  const top = Object.keys(written).filter((key) => !known.includes(key));
  const inner = namedKeys.flatMap((key) => {
    const value = written[key];
    const kinds = optionKinds[key];
    return (isRecord(value) ? Object.entries(value) : []).flatMap(([name, options]) =>
      Object.keys(isRecord(options) ? options : {})
        .filter((option) => !(option in kinds))
        .map(
          (option) =>
            `/${key}/${name}/${option} is not a configuration key: ${adviceFor("", option, Object.keys(kinds))}`,
        ),
    );
  });
  return [...top.map((key) => `/${key} is not a configuration key: ${adviceFor("", key, known)}`), ...inner];
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
