// Generated from schemas/config.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * Keys of ralph.config.* that the wing 'assistant' reads.
 */
export interface AssistantConfig {
  /**
   * ralph: address of the model's API, in full. Its host decides the protocol: api.anthropic.com Messages, api.openai.com Chat Completions, generativelanguage.googleapis.com Google's, any other OpenAI-compatible, or Messages where the address ends in /messages. Empty: the maker whose key is set.
   */
  api_url?: string;
  /**
   * ralph: how the server at 'api_url' is spoken to, if its host does not say it: Anthropic's Messages or OpenAI's Chat Completions.
   */
  protocol?: "messages" | "chat";
  /**
   * ralph: name of the model. Empty: the maker's default, such as gpt-4o-mini.
   */
  model?: string;
  /**
   * ralph: key of the Anthropic API. ANTHROPIC_API_KEY overrides it.
   */
  anthropic_api_key?: string;
  /**
   * ralph: key of the OpenAI API, or of the server at 'api_url'. OPENAI_API_KEY overrides it.
   */
  openai_api_key?: string;
  /**
   * ralph: key of the Gemini API. GOOGLE_API_KEY overrides it.
   */
  google_api_key?: string;
  /**
   * ralph: address of an OpenAI-compatible API, in full, that is asked in place of api.openai.com.
   */
  openai_api_url?: string;
  /**
   * ralph: address of an embedding API for its memory.
   */
  embedding_api_url?: string;
  /**
   * ralph: name of the embedding model.
   */
  embedding_model?: string;
  /**
   * ralph: your own instructions, added to the built-in ones.
   */
  system_prompt?: string;
  /**
   * ralph: tokens that the model takes in one request, at least 1024. -1: the maker's figure for a known model, else 8192.
   */
  context_window?: number;
  /**
   * ralph: exchanges (a message and its answer) that stay once a conversation is long; 8 if it is absent.
   */
  max_message_history?: number;
  /**
   * ralph: how many of these, the newest, stay whole with their calls of tools; 3 if it is absent.
   */
  compress_assistant_after?: number;
  /**
   * ralph: characters that stay of an older message; 200 if it is absent.
   */
  preserve_reasoning_chars?: number;
  /**
   * ralph: characters that stay of an older answer; 300 if it is absent.
   */
  preserve_observation_chars?: number;
  /**
   * ralph: MCP servers whose tools it may use, by name.
   */
  mcpServers?: {
    [k: string]: {
      [k: string]: unknown;
    };
  };
}
