import { configKeys, isElsewhere, type Kind, type NeedsTrust, anyValue } from "../engine/config/keys.js";
import type { AssistantConfig } from "./generated/config.js";
import { isMakers, providerAt } from "./providers.js";

/** An address that is neither a known maker's nor this machine: it gets the user's texts, and what they remember. */
const toStranger: NeedsTrust = (value) =>
  isElsewhere(value) && !isMakers(providerAt(new URL(String(value))), new URL(String(value))) ? value : undefined;

/**
 * What the assistant `ralph` reads of a configuration. Only a file gives it: its keys and addresses have variables of
 * their own.
 */
export const assistantKeys = configKeys({
  apart: {
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
  } satisfies Record<keyof AssistantConfig, Kind>,
  needsTrust: {
    "mcpServers.*": anyValue,
    api_url: toStranger,
    openai_api_url: toStranger,
    embedding_api_url: toStranger,
  },
  // Next to an address of a model it is the length of one answer.
  claimed: { max_tokens: "api_url" },
});
