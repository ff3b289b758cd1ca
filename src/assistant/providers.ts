import type { LanguageModel } from "ai";
import { gatewayToken } from "../engine/agents/shared/model-address.js";
import { ExpectedError } from "../engine/lib/errors.js";

/** The address of a model, and what a request to it needs. */
export interface Endpoint {
  /** The full address, as configured. */
  readonly url: URL;
  readonly model: string;
  /** Undefined if the server needs no key. */
  readonly key?: string;
  readonly fetch: typeof globalThis.fetch;
}

/** A provider of models, or a kind of server, with its addresses and its protocol. */
export interface Provider {
  readonly name: "anthropic" | "openai" | "google" | "azure" | "compatible";
  /** The name that users see. */
  readonly title: string;
  /**
   * Whether a URL belongs to this provider. It compares the parsed host: `api.openai.com.evil.test` is another host.
   */
  owns(url: URL): boolean;
  /** Environment variables for the API key. The first one that is set is used. */
  readonly variables: readonly string[];
  /** The setting with the API key. */
  readonly setting: "anthropic_api_key" | "openai_api_key" | "google_api_key";
  /** More variables with a key, which are used only if a gateway replaces the provider. */
  readonly gatewayVariables?: readonly string[];
  /** The default model. */
  readonly model: string;
  /** The default address. */
  readonly home?: string;
  /** Loads the provider's package and opens the model. */
  open(endpoint: Endpoint): Promise<LanguageModel>;
}

/** Removes the last part of an address, because the providers' packages add that part. */
const removeEnding = (url: URL, ending: RegExp): string => `${url.origin}${url.pathname}`.replace(ending, "");

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
    // Gateways expect the key in one header or the other, so it is sent in both.
    const headers = anthropic.owns(url) || key === "" ? {} : { headers: { authorization: `Bearer ${key}` } };
    return createAnthropic({ apiKey: key, baseURL: removeEnding(url, /\/messages\/?$/), fetch, ...headers })(model);
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
    return createOpenAI({ apiKey: key, baseURL: removeEnding(url, /\/chat\/completions\/?$/), fetch }).chat(model);
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
    return createGoogleGenerativeAI({ apiKey: key, baseURL: removeEnding(url, /\/models\/.*$|\/$/), fetch })(model);
  },
};

/**
 * Azure OpenAI: the deployment in the address chooses the model, and the key is sent as `api-key`.
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
      baseURL: removeEnding(url, /\/chat\/completions\/?$/),
      headers: { "api-key": key },
      queryParams: Object.fromEntries(url.searchParams),
      includeUsage: true,
      transformRequestBody: (body) =>
        reasoningModel.test(`${url.pathname} ${model}`) ? withNewParameters(body) : body,
      fetch,
    })(model);
  },
};

/** Deployments of reasoning models accept `max_completion_tokens` instead of `max_tokens`, and no temperature. */
const reasoningModel = /[/ ](?:[\w.-]*-)?(?:o[134](?:-[\w.-]+)?|gpt-5[\w.-]*)(?=[/ ]|$)/;

function withNewParameters({ max_tokens, temperature: _, ...body }: Record<string, unknown>): Record<string, unknown> {
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
      baseURL: removeEnding(url, /\/chat\/completions\/?$/),
      queryParams: Object.fromEntries(url.searchParams),
      includeUsage: true,
      fetch,
      apiKey: key,
    })(model);
  },
};

/** The first provider that owns an address is used. The last one owns every address. */
const providers = [anthropic, openai, google, azure, compatible] as const;

/** The vendors of models: providers with a default address, in the order in which their keys are searched. */
export const vendors: readonly (Provider & { readonly home: string })[] = [openai, anthropic, google].flatMap(
  (provider) => (provider.home === undefined ? [] : [{ ...provider, home: provider.home }]),
);

/** The protocol of an address, if the settings name it. */
export type Protocol = "messages" | "chat";

const providerByProtocol: Readonly<Record<Protocol, Provider>> = { messages: anthropic, chat: compatible };

/** The provider of an address. Its host decides, or, for an unknown host, the end of its path. */
export const providerAt = (url: URL): Provider => {
  const owner = providers.find((provider) => provider.owns(url)) ?? compatible;
  return owner === compatible && /\/messages\/?$/.test(url.pathname) ? anthropic : owner;
};

/**
 * The provider of an address. `protocol`: overrides the protocol of an unknown host. Throws ExpectedError if it is not
 * an http address.
 */
export function providerOf(
  address: string,
  source: string,
  protocol?: Protocol,
): { readonly provider: Provider; readonly url: URL } {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new ExpectedError(`${source}: '${address.slice(0, 200)}' is not an http or https address; give it in full.`);
  const owner = providerAt(url);
  if (url.protocol === "http:" && isOfficialAddress(owner, url))
    throw new ExpectedError(`${source}: '${url.host}' needs https; correct the address.`);
  const provider = protocol === undefined || isOfficialAddress(owner, url) ? owner : providerByProtocol[protocol];
  // If the address has no path, the usual path of this protocol is added.
  if (provider === compatible && url.pathname === "/") url.pathname = "/v1/chat/completions";
  return { provider, url };
}

/** Whether an address belongs to the provider itself, judged by its host. */
export const isOfficialAddress = (provider: Provider, url: URL): boolean =>
  provider.name !== "compatible" && provider.owns(url);
