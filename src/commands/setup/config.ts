import { joinSettings } from "../../assistant/config-keys.js";
import { settingsFor } from "../../compose/agents.js";
import { createAgent } from "../../engine/agents/registry.js";
import { configKeys, resolveConfig, settingsIn } from "../../compose/config.js";
import { projectFiles, userFiles } from "../../engine/config/config-file.js";
import { hidePassword } from "../../fleet/address.js";
import { findUntrusted } from "../../engine/config/trust.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { kindAt, readScalar } from "../../engine/config/keys.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { tableLines } from "../../engine/ui/terminal/table.js";
import { homeOf, type Io } from "../../engine/ui/io.js";
import { redactFor } from "../../engine/lib/redact.js";
import { withoutSecrets } from "./without-secrets.js";
import { displayPath } from "../../research/overview/find-research.js";
import { say } from "../../engine/ui/terminal/format.js";

interface ConfigOptions {
  /** `key` or `key=value`; undefined: all keys. */
  readonly assignment: string | undefined;
  /** Write the user's settings instead of the folder's. */
  readonly global: boolean;
  /** Remove the setting. */
  readonly unset: boolean;
  /** Print JSON. */
  readonly json: boolean;
}

/** `config` shows every key with its value and origin; `config key` shows one; `config key=value` writes it. */
export async function configCommand({ assignment, global, unset, json }: ConfigOptions, io: Io): Promise<number> {
  const separatorIndex = assignment?.indexOf("=") ?? -1;
  if (unset && (assignment === undefined || separatorIndex > 0))
    throw new ExpectedError(
      "--unset needs the name of a setting alone, such as research-ralph config --unset agent.",
      2,
    );
  if (assignment !== undefined && (separatorIndex > 0 || unset)) {
    const key = separatorIndex > 0 ? assignment.slice(0, separatorIndex).trim() : assignment;
    return writeValue(key, unset ? undefined : assignment.slice(separatorIndex + 1), global, json, io);
  }

  const settings = await settingsIn({ ...io, isOnlyShown: true });
  const assistant = joinSettings(settings.assistant);
  const untrustedKeys = new Set(findUntrusted(settings.partsToTrust, io.env).map(({ key }) => key.split(".")[0]));
  const { max_tokens: maxAnswerTokens, ...assistantValues } = assistant.values;
  const { max_tokens: fileOfMaxAnswerTokens = "", ...assistantOrigins } = assistant.origins;
  const origins: Readonly<Record<string, string>> = { ...assistantOrigins, ...settings.origins };
  const environments = [...Object.values(settings.values.agents ?? {}), ...(settings.values.hooks ?? [])];
  const redact = redactFor(io.env, ...environments.map(({ env = {} }) => env));
  const { redis } = settings.values;
  const address = redis === undefined ? {} : { redis: hidePassword(redis) };
  const values = withoutSecrets({ ...settings.values, ...address, ...assistantValues }, redact) as Readonly<
    Record<string, unknown>
  >;
  if (assignment !== undefined && assignment !== "") return showValue(assignment, values, json, io);
  const keys = [...runKeys, ...Object.keys(assistantValues)];
  if (json) {
    const entries = keys.map((key) => [
      key,
      {
        value: values[key] ?? null,
        from: origins[key] ?? "default",
        ...(untrustedKeys.has(key) ? { trusted: false } : {}),
      },
    ]);
    io.stdout(`${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
    return 0;
  }
  const rows = keys.map((key) => {
    const value = values[key];
    const origin = origins[key] ?? "default";
    const text =
      value === undefined
        ? (unsetText[key as keyof typeof unsetText] ?? "not set")
        : typeof value === "string"
          ? value
          : JSON.stringify(value);
    const files = origin.split(", ").map((path) => (path.startsWith("/") ? displayPath(io.cwd, path) : path));
    return [oneLine(key), oneLine(text), `${files.join(", ")}${untrustedKeys.has(key) ? " (not trusted)" : ""}`];
  });
  if (maxAnswerTokens !== undefined)
    rows.push([
      "max_tokens of an answer of ralph",
      String(maxAnswerTokens),
      displayPath(io.cwd, fileOfMaxAnswerTokens),
    ]);
  for (const line of tableLines([{}, { cut: "end" }, {}], rows, io.tableWidth - 1)) io.stdout(`${line}\n`);
  return 0;
}

/** Keys of runs and commands, in the order in which they are printed. */
const runKeys = [
  ...Object.keys(configKeys.scalars),
  ...Object.keys(configKeys.optionsByName),
  ...configKeys.wholeValues,
];

/** The text that is shown for a key without a value. */
const unsetText = {
  iterations: "1.5 × papers + 6",
  max_minutes: "no limit",
  max_usd: "no limit",
  max_tokens: "no limit",
  contact: "none",
  agents: "none",
  sources: "none",
  hooks: "none",
  historian: "built in",
} as const;

async function writeValue(
  key: string,
  text: string | undefined,
  global: boolean,
  json: boolean,
  io: Io,
): Promise<number> {
  const { writeConfigValue } = await import("../../engine/config/write.js");
  if (text !== undefined) await checkValueOf(key, text, io);
  const path = global
    ? await writeConfigValue(configKeys, userFiles(homeOf(io.env)), key, text)
    : await writeConfigValue(configKeys, projectFiles(io.cwd), key, text, io.env);
  if (json) io.stdout(`${JSON.stringify({ key, file: path })}\n`);
  else say(io, `${key} is ${text === undefined ? "removed from" : "written to"} ${displayPath(io.cwd, path)}`);
  if (!json && !global && text !== undefined)
    say(io, "It applies only in this folder; with --global it applies in all your folders.");
  return 0;
}

/** Keys whose value must fit other settings: the names of agents must exist, and limits must not contradict. */
const checkedKeys = [
  "agent",
  "historian",
  "screeners",
  "second_reader",
  "stagnation_limit",
  "stagnation_window",
] as const;

/** @throws ExpectedError (exit code 2) for the name of an unknown agent, or limits that contradict each other. */
async function checkValueOf(key: string, text: string, io: Io): Promise<void> {
  const name = checkedKeys.find((checkedKey) => checkedKey === key);
  if (name === undefined) return;
  const value = readScalar(kindAt(configKeys, [name]), text, key, 2);
  const config = await resolveConfig({ ...io, isOnlyShown: true }, { [key]: value }).catch((error: unknown) => {
    throw error instanceof ExpectedError ? new ExpectedError(error.message, 2) : error;
  });
  const { agent, fallbacks, history, screening, secondReader } = config;
  const agentNames = {
    agent: [agent, ...fallbacks],
    historian: [history.agent ?? []].flat(),
    screeners: screening?.readers,
    second_reader: [secondReader ?? []].flat(),
  };
  // Whether the agent may run unconfined is checked when it starts.
  const agentSettings = settingsFor({ ...config, unconfined: true }, io);
  for (const agentName of (agentNames as Partial<Record<string, readonly string[]>>)[name] ?? [])
    createAgent(agentName, agentSettings);
}

const hasOwnName = (value: unknown, name: string): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name);

/** Prints only the value, for scripts. The exit code is 1 if the key has no value, as in `git config`. */
function showValue(key: string, values: object, json: boolean, io: Io): number {
  const path = key.split(".");
  kindAt(configKeys, path);
  const value = path.reduce<unknown>((object, part) => (hasOwnName(object, part) ? object[part] : undefined), values);
  if (json) io.stdout(`${JSON.stringify(value ?? null)}\n`);
  else if (value !== undefined) io.stdout(`${typeof value === "string" ? value : JSON.stringify(value)}\n`);
  else say(io, `${key} is not set`);
  return value === undefined ? 1 : 0;
}
