import type { LanguageModel } from "ai";
import { gatewayToken } from "../engine/agents/shared/model-address.js";
import { ExpectedError } from "../engine/lib/errors.js";

/** How one model is reached. */
export interface Endpoint {
  /** The address as configured, in full. */
  readonly url: URL;
  readonly model: string;
  /** Undefined for a server that asks for none. */
  readonly key?: string;
  readonly fetch: typeof globalThis.fetch;
}

/** A maker of models, or a kind of server: which addresses are its own, and how it is spoken to. */
export interface Provider {
  readonly name: "anthropic" | "openai" | "google" | "azure" | "compatible";
  /** What a person calls it. */
  readonly title: string;
  /** By the parsed host, never by a part of the text: `api.openai.com.evil.test` is another host. */
  owns(url: URL): boolean;
  /** Variables of the environment that hold its key, the first that is set counts. */
  readonly variables: readonly string[];
  /** The key of the configuration that holds its key. */
  readonly setting: "anthropic_api_key" | "openai_api_key" | "google_api_key";
  /** More variables that may hold the key of a gateway in its place. */
  readonly gatewayVariables?: readonly string[];
  /** Used where nobody names a model. */
  readonly model: string;
  /** The address used where nobody names one. */
  readonly home?: string;
  /** Loads the provider's package, and nothing before that. */
  open(endpoint: Endpoint): Promise<LanguageModel>;
}

/** The address without its last part, as the packages want it: they add that part themselves. */
const without = (url: URL, ending: RegExp): string => `${url.origin}${url.pathname}`.replace(ending, "");

const anthropic: Provider = {
  name: "anthropic",
  title: "Anthropic",
  owns: ({ hostname }) => hostname === "api.anthropic.com",
  variables: ["ANTHROPIC_API_KEY"],
  gatewayVariables: [gatewayToken],
  setting: "anthropic_api_key",
  model: "claude-sonnet-5-5",
  home: "https://api.anthropic.com/v1/messages",
  async open({ url, model, key = "", fetch }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    // A gateway takes the key as its own makers have it: in one header or the other.
    const headers = anthropic.owns(url) || key === "" ? {} : { headers: { authorization: `Bearer ${key}` } };
    return createAnthropic({ apiKey: key, baseURL: without(url, /\/messages\/?$/), fetch, ...headers })(model);
  },
};

const openai: Provider = {
  name: "openai",
  title: "OpenAI",
  owns: ({ hostname }) => hostname === "api.openai.com",
  variables: ["OPENAI_API_KEY"],
  setting: "openai_api_key",
  model: "gpt-4o-mini",
  home: "https://api.openai.com/v1/chat/completions",
  async open({ url, model, key = "", fetch }) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ apiKey: key, baseURL: without(url, /\/chat\/completions\/?$/), fetch }).chat(model);
  },
};

const google: Provider = {
  name: "google",
  title: "Google",
  owns: ({ hostname }) => hostname === "generativelanguage.googleapis.com",
  variables: ["GOOGLE_API_KEY", "GEMINI_API_KEY"],
  setting: "google_api_key",
  model: "gemini-2.5-flash",
  home: "https://generativelanguage.googleapis.com/v1beta",
  async open({ url, model, key = "", fetch }) {
    const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
    return createGoogleGenerativeAI({ apiKey: key, baseURL: without(url, /\/models\/.*$|\/$/), fetch })(model);
  },
};

/**
 * Azure OpenAI: the deployment stands in the address and chooses the model, the key goes into `api-key`.
 * https://learn.microsoft.com/azure/ai-services/openai/reference
 */
const azure: Provider = {
  name: "azure",
  title: "Azure OpenAI",
  owns: ({ hostname }) => hostname.endsWith(".openai.azure.com"),
  variables: ["AZURE_OPENAI_API_KEY"],
  setting: "openai_api_key",
  model: "gpt-4o-mini",
  async open({ url, model, key = "", fetch }) {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    return createOpenAICompatible({
      name: "azure",
      baseURL: without(url, /\/chat\/completions\/?$/),
      headers: { "api-key": key },
      queryParams: Object.fromEntries(url.searchParams),
      includeUsage: true,
      transformRequestBody: (body) => (reasons.test(`${url.pathname} ${model}`) ? withoutOldNames(body) : body),
      fetch,
    })(model);
  },
};

/** Deployments of models that think take the length of an answer by its newer name alone, and no temperature. */
const reasons = /[/ ](?:[\w.-]*-)?(?:o[134](?:-[\w.-]+)?|gpt-5[\w.-]*)(?=[/ ]|$)/;

function withoutOldNames({ max_tokens, temperature: _, ...body }: Record<string, unknown>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}

const compatible: Provider = {
  name: "compatible",
  title: "an OpenAI-compatible server",
  owns: () => true,
  variables: ["OPENAI_API_KEY"],
  setting: "openai_api_key",
  model: "gpt-4o-mini",
  async open({ url, model, key, fetch }) {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    return createOpenAICompatible({
      name: "compatible",
      baseURL: without(url, /\/chat\/completions\/?$/),
      queryParams: Object.fromEntries(url.searchParams),
      includeUsage: true,
      fetch,
      apiKey: key,
    })(model);
  },
};

/** In this order; the last one owns every address. A provider is one object and its place here. */
const providers = [anthropic, openai, google, azure, compatible] as const;

/** Those that have an address of their own, in the order in which their keys are looked for. */
export const makers: readonly (Provider & { readonly home: string })[] = [openai, anthropic, google].flatMap((each) =>
  each.home === undefined ? [] : [{ ...each, home: each.home }],
);

/** How an address is spoken to, where the settings say it. */
export type Protocol = "messages" | "chat";

const byProtocol: Readonly<Record<Protocol, Provider>> = { messages: anthropic, chat: compatible };

/** Who answers at an address: its host decides, and where nobody knows that, its end. */
export const providerAt = (url: URL): Provider => {
  const owner = providers.find((each) => each.owns(url)) ?? compatible;
  return owner === compatible && /\/messages\/?$/.test(url.pathname) ? anthropic : owner;
};

/**
 * The provider of an address. `protocol`: how it is spoken to, whatever its host is. Throws ExpectedError for what is
 * not an http address.
 */
export function providerOf(
  address: string,
  where: string,
  protocol?: Protocol,
): { readonly provider: Provider; readonly url: URL } {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new ExpectedError(`${where}: '${address.slice(0, 200)}' is not an http or https address; give it in full.`);
  const owner = providerAt(url);
  if (url.protocol === "http:" && isMakers(owner, url))
    throw new ExpectedError(`${where}: '${url.host}' is only reached over https; correct the address.`);
  const provider = protocol === undefined || isMakers(owner, url) ? owner : byProtocol[protocol];
  // A server's bare address: where all that speak this protocol are asked.
  if (provider === compatible && url.pathname === "/") url.pathname = "/v1/chat/completions";
  return { provider, url };
}

/** Whether an address is a maker's own, known by its host. */
export const isMakers = (provider: Provider, url: URL): boolean => provider.name !== "compatible" && provider.owns(url);
