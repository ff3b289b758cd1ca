// Generated from schemas/config.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * Keys of ralph.config.* that the wing 'assistant' reads.
 */
export interface AssistantConfig {
  /**
   * ralph: address of the model's API, in full. Its host decides the protocol: api.anthropic.com Messages, api.openai.com Chat Completions, generativelanguage.googleapis.com Google's, any other OpenAI-compatible. Default: https://api.openai.com/v1/chat/completions.
   */
  api_url?: string;
  /**
   * ralph: name of the model. Default: gpt-4o-mini.
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
   * ralph: address of another OpenAI-compatible API, used where 'api_url' is not set.
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
   * ralph: tokens that the model takes in one request. Default: the maker's figure for a known model, else 8192.
   */
  context_window?: number;
  /**
   * ralph: MCP servers whose tools it may use, by name.
   */
  mcpServers?: {
    [k: string]: {
      [k: string]: unknown;
    };
  };
}
