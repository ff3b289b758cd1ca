import type { ModelMessage } from "ai";
import { modelByName } from "../../engine/agents/prices.js";
import { estimateTokens } from "../../engine/lib/tokens.js";

/** The facts that limit the length of an answer. */
export interface ModelLimits {
  readonly provider: { readonly name: string };
  readonly model: string;
  /** Maximum tokens of a request and its answer together. */
  readonly window: number;
  /** Configured maximum tokens of an answer. */
  readonly maxTokens?: number;
}

/** The content of a request. */
export interface RequestContent {
  readonly system?: string;
  readonly messages: readonly ModelMessage[];
  /** The descriptions of the tools. */
  readonly tools?: readonly { readonly name: string; readonly description: string; readonly parameters: object }[];
}

/** Estimated tokens of a request. */
export const tokensIn = ({ system = "", messages, tools = [] }: RequestContent): number =>
  estimateTokens(system + JSON.stringify(messages.map(({ content }) => content))) +
  (tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools.map(toolDescription))));

const toolDescription = ({ name, description, parameters }: NonNullable<RequestContent["tools"]>[number]) => [
  name,
  description,
  parameters,
];

/** Tokens that are reserved because the estimate may be too low: 256, or 2 % of a large context window. */
export const reservedTokens = (window: number): number => Math.min(Math.max(256, Math.ceil(window / 50)), window);

/** Minimum tokens for an answer. With less room, no request is sent. */
export const minAnswerTokens = ({ window, maxTokens }: Pick<ModelLimits, "window" | "maxTokens">): number =>
  Math.min(1024, Math.floor(window / 8), maxTokens ?? Number.POSITIVE_INFINITY);

/** Maximum tokens of a prompt. */
export const maxPromptTokens = (limits: Pick<ModelLimits, "window" | "maxTokens">): number =>
  limits.window - reservedTokens(limits.window) - minAnswerTokens(limits);

/** Tokens of an answer that every service allows. */
const allowedAnswerTokens = 4096;

/**
 * Maximum tokens of the answer to a prompt of `promptTokens`: prompt, answer and reserve never exceed the context
 * window. Undefined if the model's own maximum is not known and there is room for more than 4,096 tokens: a service
 * refuses a number above its limit, and without a number it uses its limit.
 */
export function maxAnswerTokens(limits: ModelLimits, promptTokens: number): number | undefined {
  const remainingTokens = Math.max(1, limits.window - reservedTokens(limits.window) - promptTokens);
  const maxTokens = limits.maxTokens ?? knownMaxAnswer(limits);
  if (maxTokens !== undefined) return Math.min(maxTokens, remainingTokens);
  return remainingTokens < allowedAnswerTokens ? remainingTokens : undefined;
}

/**
 * The maximum of a model, from its vendor's figures. Anthropic's API needs a number, and its package uses 4,096 for an
 * unknown model, which would cut the result of a paper. https://docs.claude.com/en/docs/about-claude/models,
 * https://platform.openai.com/docs/models, https://ai.google.dev/gemini-api/docs/models,
 * https://api-docs.deepseek.com (read 2026-11-22)
 */
function knownMaxAnswer({ provider, model, window }: ModelLimits): number | undefined {
  if (provider.name === "anthropic") {
    if (/claude-(?:instant|2|3-(?:opus|sonnet|haiku))/.test(model)) return 4096;
    return /claude-3-5/.test(model) ? 8192 : 32_000;
  }
  const family = maxAnswerOfFamily.find(([name]) => name.test(model));
  if (family !== undefined) return family[1];
  // A user's own server limits an answer only by its context window.
  return provider.name === "compatible" && modelByName(model) === undefined ? window : undefined;
}

const maxAnswerOfFamily: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^gpt-4o|^chatgpt-4o/, 16_384],
  [/^gpt-4\.1/, 32_768],
  [/^gpt-4-turbo|^gpt-3\.5-turbo/, 4096],
  [/^gpt-4(?:-\d{4})?$/, 8192],
  [/^o1-preview/, 32_768],
  [/^o1-mini/, 65_536],
  [/^o[134]/, 100_000],
  [/^gpt-5/, 128_000],
  [/^gemini-(?:1\.5|2\.0)/, 8192],
  [/^gemini-(?:2\.5|3)/, 65_536],
  [/^deepseek-chat/, 8192],
  [/^deepseek-reasoner/, 32_768],
];
