import type { ModelMessage } from "ai";
import { modelNamed } from "../../engine/agents/prices.js";
import { estimateTokens } from "../../engine/lib/tokens.js";

/** What decides how long an answer may be. */
export interface Limits {
  readonly provider: { readonly name: string };
  readonly model: string;
  /** Tokens of one request and its answer. */
  readonly window: number;
  /** Most tokens of an answer, where somebody says so. */
  readonly maxTokens?: number;
}

/** All that a request sends. */
export interface Sent {
  readonly system?: string;
  readonly messages: readonly ModelMessage[];
  /** Of the tools: what a request says of them. */
  readonly tools?: readonly { readonly name: string; readonly description: string; readonly parameters: object }[];
}

/** Estimated tokens of a request. */
export const tokensIn = ({ system = "", messages, tools = [] }: Sent): number =>
  estimateTokens(system + JSON.stringify(messages.map(({ content }) => content))) +
  (tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools.map(toldOf))));

const toldOf = ({ name, description, parameters }: NonNullable<Sent["tools"]>[number]) => [
  name,
  description,
  parameters,
];

/** Tokens left free for what the estimate misses: 256, or a fiftieth of a large window. */
export const buffer = (window: number): number => Math.min(Math.max(256, Math.ceil(window / 50)), window);

/** Tokens that an answer must have at least: with fewer, nothing is asked. */
export const leastAnswer = ({ window, maxTokens }: Pick<Limits, "window" | "maxTokens">): number =>
  Math.min(1024, Math.floor(window / 8), maxTokens ?? Number.POSITIVE_INFINITY);

/** Tokens that a prompt may have at most. */
export const promptRoom = (limits: Pick<Limits, "window" | "maxTokens">): number =>
  limits.window - buffer(limits.window) - leastAnswer(limits);

/** An answer of this length every service allows. */
const allowedEverywhere = 4096;

/**
 * Most tokens of the answer to a prompt of so many tokens: prompt, answer and buffer never exceed the window. Undefined
 * where the model's own bound is not known and the window leaves more than that: a service refuses a larger number than
 * it allows, and ends an answer by itself.
 */
export function answerRoom(limits: Limits, prompt: number): number | undefined {
  const left = Math.max(1, limits.window - buffer(limits.window) - prompt);
  const most = limits.maxTokens ?? longestAnswer(limits);
  if (most !== undefined) return Math.min(most, left);
  return left < allowedEverywhere ? left : undefined;
}

/**
 * The makers' figures by family. Anthropic's API asks for a number, and its package takes 4,096 for a model it does not
 * know, which cuts a paper's result. https://docs.claude.com/en/docs/about-claude/models,
 * https://platform.openai.com/docs/models, https://ai.google.dev/gemini-api/docs/models,
 * https://api-docs.deepseek.com (read 2026-11-22)
 */
function longestAnswer({ provider, model, window }: Limits): number | undefined {
  if (provider.name === "anthropic") {
    if (/claude-(?:instant|2|3-(?:opus|sonnet|haiku))/.test(model)) return 4096;
    return /claude-3-5/.test(model) ? 8192 : 32_000;
  }
  const known = answers.find(([name]) => name.test(model));
  if (known !== undefined) return known[1];
  // A server of one's own bounds an answer by the window alone.
  return provider.name === "compatible" && modelNamed(model) === undefined ? window : undefined;
}

const answers: readonly (readonly [name: RegExp, tokens: number])[] = [
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
