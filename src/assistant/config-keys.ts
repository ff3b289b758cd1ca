import { configKeys, isElsewhere, type ValueKind, type NeedsTrust, anyValue } from "../engine/config/keys.js";
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
  // In a file with `api_url`, `max_tokens` limits one answer.
  claimedKeys: { max_tokens: "api_url" },
});
