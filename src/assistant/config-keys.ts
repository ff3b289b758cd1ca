import { configKeys, type Kind } from "../engine/config/keys.js";
import type { AssistantConfig } from "./generated/config.js";

/**
 * What the assistant `ralph` reads of a configuration. Only a file gives it: its keys and addresses have variables of
 * their own.
 */
export const assistantKeys = configKeys({
  apart: {
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
  } satisfies Record<keyof AssistantConfig, Kind>,
  // Next to an address of a model it is the length of one answer.
  claimed: { max_tokens: "api_url" },
});
