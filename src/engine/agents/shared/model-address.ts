/** The providers of models: their addresses, and the environment variables with their keys and other addresses. */
export const modelProviders = [
  {
    name: "openai",
    origin: "https://api.openai.com",
    variables: ["OPENAI_API_KEY"],
    baseVariable: "OPENAI_BASE_URL",
    path: "/chat/completions",
    headers: (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` }),
  },
  {
    name: "anthropic",
    origin: "https://api.anthropic.com",
    variables: ["ANTHROPIC_API_KEY"],
    baseVariable: "ANTHROPIC_BASE_URL",
    path: "/v1/messages",
    headers: (key: string): Record<string, string> => ({ "x-api-key": key }),
  },
  {
    name: "google",
    origin: "https://generativelanguage.googleapis.com",
    variables: ["GOOGLE_API_KEY", "GEMINI_API_KEY"],
    headers: (key: string): Record<string, string> => ({ "x-goog-api-key": key }),
  },
] as const;

/** The variable with the key of a gateway that replaces Anthropic; set in addition to Anthropic's own variable. */
export const gatewayToken = "ANTHROPIC_AUTH_TOKEN";

/**
 * The full address of the gateway that the environment names for a provider, read as the provider's own library reads
 * it; undefined without a gateway. Anthropic's base address may end with its version.
 */
export function gatewayAddress(providerName: string, env: NodeJS.ProcessEnv): string | undefined {
  const provider = modelProviders.find(({ name }) => name === providerName);
  if (provider === undefined || !("baseVariable" in provider)) return undefined;
  const base = (env[provider.baseVariable] ?? "").trim().replace(/\/$/, "");
  if (base === "") return undefined;
  return provider.name === "anthropic" && base.endsWith("/v1") ? `${base}/messages` : `${base}${provider.path}`;
}

const ollamaPort = "11434";

/** Whether an address uses the default port of Ollama. */
export const isOllamaAddress = ({ port }: URL): boolean => port === ollamaPort;

/**
 * The full address of the Ollama server. OLLAMA_HOST is a host, a host and a port, or an address.
 * https://docs.ollama.com/faq
 */
export function ollamaAddress(host: string): string {
  const address = /^https?:\/\//.test(host) ? host : `http://${host}`;
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.port === "" && url.protocol === "http:") url.port = ollamaPort;
  return `${url.origin}/v1/chat/completions`;
}

/** The full address of every model service that the environment names. */
export const addressesIn = (env: NodeJS.ProcessEnv): string[] => [
  ...((env["OLLAMA_HOST"] ?? "") === "" ? [] : [ollamaAddress(env["OLLAMA_HOST"] ?? "")]),
  ...modelProviders.flatMap(({ name }) => gatewayAddress(name, env) ?? []),
];
