import { configKeys, isElsewhere, type ValueKind, type NeedsTrust, anyValue } from "../engine/config/keys.js";
import type { EngineConfig } from "../engine/generated/config.js";
import type { AssistantConfig } from "./generated/config.js";
import { isOfficialAddress, providerAt } from "./providers.js";

/** An address of neither a known provider nor this machine: it would receive the user's texts and memories. */
const ifUnknownHost: NeedsTrust = (value) =>
  isElsewhere(value) && !isOfficialAddress(providerAt(new URL(String(value))), new URL(String(value)))
    ? value
    : undefined;

/**
 * The configuration keys of `ralph`. They are set only in files; the environment has separate variables for keys and
 * addresses.
 */
export const assistantKeys = configKeys({
  fileOnly: {
    api_url: "text",
    protocol: "text",
    model: "text",
    anthropic_api_key: "text",
    openai_api_key: "text",
    google_api_key: "text",
    openai_api_url: "text",
    embedding_api_url: "text",
    embedding_model: "text",
    system_prompt: "text",
    context_window: "number",
    max_message_history: "number",
    compress_assistant_after: "number",
    preserve_reasoning_chars: "number",
    preserve_observation_chars: "number",
    mcpServers: "yaml",
  } satisfies Record<keyof AssistantConfig, ValueKind>,
  needsTrust: {
    "mcpServers.*": anyValue,
    api_url: ifUnknownHost,
    openai_api_url: ifUnknownHost,
    embedding_api_url: ifUnknownHost,
  },
  claimedKeys: { max_tokens: "api_url" },
});

/** The settings of `ralph` in a file. In a file with `api_url`, `max_tokens` limits one answer. */
export type FileSettings = AssistantConfig & Pick<EngineConfig, "max_tokens">;

/** Settings of several files. */
interface JoinedSettings {
  readonly values: FileSettings;
  /** The path of the file that each value comes from. */
  readonly origins: Readonly<Record<string, string>>;
  /** The file that decides which service is asked, otherwise the one that may say it; undefined without any file. */
  readonly path: string | undefined;
}

/** The addresses of services, and the keys that are sent to them. */
const serviceKeys = [
  "api_url",
  "openai_api_url",
  "embedding_api_url",
  "anthropic_api_key",
  "openai_api_key",
  "google_api_key",
] as const satisfies readonly (keyof AssistantConfig)[];

/**
 * Joins the settings of files, the nearest first. The nearest file with an address or a key decides which service is
 * asked, and all files behind it are ignored: no key of one file is sent to an address of another, and no model is
 * asked of a service that does not have it. Files before it may choose the model and the like.
 */
export function joinSettings(files: readonly { readonly path: string; readonly values: object }[]): JoinedSettings {
  const isService = ({ values: written }: { readonly values: AssistantConfig }) =>
    serviceKeys.some((key) => !isBlank(written[key]));
  const serviceIndex = files.findIndex(isService);
  const used = serviceIndex === -1 ? files : files.slice(0, serviceIndex + 1);
  const values: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  for (const file of used.toReversed())
    for (const [key, value] of Object.entries(ownSettings(file.values))) {
      if (isBlank(value) && values[key] !== undefined) continue;
      values[key] = value;
      origins[key] = file.path;
    }
  return { values, origins, path: used.at(-1)?.path };
}

/** The settings of a file that belong to `ralph`. */
const ownSettings = (values: object): Readonly<Record<string, unknown>> => {
  const claimed: Readonly<Record<string, string>> = assistantKeys.claimedKeys;
  const isOwn = (key: string) => key in assistantKeys.fileOnly || (claimed[key] ?? "") in values;
  return Object.fromEntries(Object.entries(values).filter(([key]) => isOwn(key)));
};

/** Whether a setting is absent, or empty as in the file that the first start writes. */
export const isBlank = (value: unknown): value is undefined | "" => value === undefined || value === "";
