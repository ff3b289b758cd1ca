/** The makers of models: where each is asked, and what the environment says of it. */
export const makers = [
  {
    name: "openai",
    origin: "https://api.openai.com",
    variables: ["OPENAI_API_KEY"],
    base: "OPENAI_BASE_URL",
    path: "/chat/completions",
    headers: (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` }),
  },
  {
    name: "anthropic",
    origin: "https://api.anthropic.com",
    variables: ["ANTHROPIC_API_KEY"],
    base: "ANTHROPIC_BASE_URL",
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

/** The variable with the key of a gateway that stands in for Anthropic, beside Anthropic's own. */
export const gatewayToken = "ANTHROPIC_AUTH_TOKEN";

/**
 * The address, in full, of the gateway that the environment names in place of a maker, as the makers' own packages read
 * it; undefined without one. A base of Anthropic may end in its version.
 */
export function standIn(maker: string, env: NodeJS.ProcessEnv): string | undefined {
  const found = makers.find(({ name }) => name === maker);
  if (found === undefined || !("base" in found)) return undefined;
  const base = (env[found.base] ?? "").trim().replace(/\/$/, "");
  if (base === "") return undefined;
  return found.name === "anthropic" && base.endsWith("/v1") ? `${base}/messages` : `${base}${found.path}`;
}

const ollamaPort = "11434";

/** Whether an address is that of an Ollama server of this machine, at its usual port. */
export const isOllama = ({ port }: URL): boolean => port === ollamaPort;

/** OLLAMA_HOST is a host, a host and a port, or an address. https://docs.ollama.com/faq */
export function ollamaAddress(host: string): string {
  const address = /^https?:\/\//.test(host) ? host : `http://${host}`;
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.port === "" && url.protocol === "http:") url.port = ollamaPort;
  return `${url.origin}/v1/chat/completions`;
}

/** Every address of a model that the environment names, in full. */
export const addressesIn = (env: NodeJS.ProcessEnv): string[] => [
  ...((env["OLLAMA_HOST"] ?? "") === "" ? [] : [ollamaAddress(env["OLLAMA_HOST"] ?? "")]),
  ...makers.flatMap(({ name }) => standIn(name, env) ?? []),
];
