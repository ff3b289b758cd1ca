import { withoutUndefined } from "../lib/without-undefined.js";
import type { AgentEvent, Usage } from "../loop/types.js";

/** A model with the list price of its provider: US dollars for a million tokens, at the API's standard rate. */
export interface Model {
  /** Prefix of the names of the model. If several models match, the longest prefix counts. */
  readonly name: string;
  /** Maximum number of tokens of one request. */
  readonly window: number;
  /** Absent if only the window is listed. */
  readonly input?: number;
  /** Price of input from the provider's cache. */
  readonly cached?: number;
  readonly output?: number;
  /** An old model: its window is not used for similar names that are not in the list. */
  readonly isOld?: true;
}

type PricedModel = Required<Omit<Model, "isOld">>;

/**
 * Only data: if a provider changes a price, correct it here and set the date. Prices are of 2026-11-22. On 2026-11-29
 * these prices and windows were compared with stored copies of the providers' pages: https://platform.claude.com/docs
 * (fable 5.1; opus 5.5, 5 and 4.5; sonnet 5.5 and 4.5; haiku 5.5 and 4.5). OpenAI's prices,
 * https://developers.openai.com/api/docs/pricing, were not compared again.
 */
export const models: readonly Model[] = [
  { name: "claude-fable-5", window: 1_000_000, input: 10, cached: 1, output: 50 },
  { name: "claude-fable-5-1", window: 1_000_000, input: 10, cached: 0.25, output: 50 },
  { name: "claude-opus-5-5", window: 1_000_000, input: 4, cached: 0.2, output: 20 },
  { name: "claude-opus-5", window: 1_000_000, input: 5, cached: 0.5, output: 25 },
  { name: "claude-opus-4-5", window: 200_000, input: 5, cached: 0.5, output: 25 },
  { name: "claude-opus-4-6", window: 200_000, input: 5, cached: 0.5, output: 25 },
  { name: "claude-opus-4-7", window: 200_000, input: 5, cached: 0.5, output: 25 },
  { name: "claude-opus-4-8", window: 200_000, input: 5, cached: 0.5, output: 25 },
  { name: "claude-sonnet-5-5", window: 1_000_000, input: 2, cached: 0.1, output: 10 },
  { name: "claude-sonnet-5", window: 1_000_000, input: 2, cached: 0.2, output: 10 },
  { name: "claude-sonnet-4", window: 200_000, input: 3, cached: 0.3, output: 15 },
  { name: "claude-sonnet-4-5", window: 200_000, input: 3, cached: 0.3, output: 15 },
  { name: "claude-sonnet-4-6", window: 200_000, input: 3, cached: 0.3, output: 15 },
  { name: "claude-haiku-5-5", window: 1_000_000, input: 0.1, cached: 0.01, output: 0.5 },
  { name: "claude-haiku-4-5", window: 200_000, input: 1, cached: 0.1, output: 5 },
  { name: "gpt-5", window: 400_000, input: 1.25, cached: 0.125, output: 10 },
  { name: "gpt-5-mini", window: 400_000, input: 0.25, cached: 0.025, output: 2 },
  { name: "gpt-5.1", window: 400_000, input: 1.25, cached: 0.125, output: 10 },
  { name: "gpt-5.2", window: 400_000, input: 1.75, cached: 0.175, output: 14 },
  { name: "gpt-5.3-codex", window: 400_000, input: 1.75, cached: 0.175, output: 14 },
  { name: "gpt-5.4", window: 400_000, input: 2.5, cached: 0.25, output: 15 },
  { name: "gpt-5.4-mini", window: 400_000, input: 0.75, cached: 0.075, output: 4.5 },
  { name: "gpt-5.4-nano", window: 400_000, input: 0.2, cached: 0.02, output: 1.25 },
  { name: "gpt-5.5", window: 400_000, input: 5, cached: 0.5, output: 30 },
  { name: "gpt-5.5-pro", window: 400_000, input: 30, cached: 30, output: 180 },
  // Older models and models of other providers: only the window, mostly from memory, written on 2026-11-28. If a model
  // has several windows, the smallest is listed. Compared with a page or model card of the provider: gemini-2.0-flash
  // and -flash-lite, phi-4, granite-3, magistral, minimax-m2.
  ...oldModelsWithWindow([100_000, "claude-instant-1.2", "claude-2", "claude-2.0"]),
  ...modelsWithWindow([
    200_000,
    "claude-2.1",
    "claude-3-opus",
    "claude-3-sonnet",
    "claude-3-haiku",
    "claude-3-5-sonnet",
  ]),
  ...modelsWithWindow([200_000, "claude-3-5-haiku", "claude-3-7-sonnet", "claude-opus-4", "claude-opus-4-1"]),
  ...oldModelsWithWindow([16_385, "gpt-3.5-turbo"], [8_192, "gpt-4"], [32_768, "gpt-4-32k"]),
  ...modelsWithWindow([128_000, "gpt-4-turbo"], [131_072, "gpt-oss"]),
  ...modelsWithWindow([128_000, "gpt-4o", "gpt-4o-mini", "chatgpt-4o", "o1-mini", "o1-preview"]),
  ...modelsWithWindow([1_047_576, "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"]),
  ...modelsWithWindow([200_000, "o1", "o1-pro", "o3", "o3-mini", "o3-pro", "o4-mini"]),
  ...modelsWithWindow([1_048_576, "gemini-1.5-flash", "gemini-2.0-flash", "gemini-2.0-flash-lite", "gemini-2.5-pro"]),
  ...modelsWithWindow(
    [1_048_576, "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3-pro"],
    [2_097_152, "gemini-1.5-pro"],
  ),
  ...modelsWithWindow([131_072, "deepseek-chat", "deepseek-reasoner", "deepseek-v3", "deepseek-r1"]),
  ...modelsWithWindow(
    [32_768, "qwen-max"],
    [1_000_000, "qwen-plus", "qwen-flash", "qwen3-coder-plus"],
    [262_144, "qwen3-max"],
  ),
  ...oldModelsWithWindow([8_192, "llama3", "gemma2"]),
  ...modelsWithWindow([131_072, "llama-3.1", "llama-3.2", "llama-3.3"], [1_048_576, "llama-4"], [32_768, "gemma-3"]),
  ...modelsWithWindow([32_768, "qwen-2.5", "qwen-3", "qwq", "mistral", "mistral-small", "mixtral", "codestral"]),
  ...modelsWithWindow(
    [262_144, "qwen-3-coder"],
    [131_072, "mistral-large", "mistral-medium", "mistral-nemo", "ministral"],
  ),
  ...modelsWithWindow(
    [131_072, "devstral", "deepseek-v3.1", "deepseek-v3.2", "deepseek-coder-v2"],
    [40_000, "magistral"],
  ),
  ...modelsWithWindow(
    [16_384, "phi-4"],
    [131_072, "phi-4-mini", "grok-2", "grok-3"],
    [256_000, "grok-4", "grok-code-fast"],
  ),
  ...modelsWithWindow(
    [131_072, "kimi-k2", "glm-4.5", "granite-4", "nemotron"],
    [200_000, "glm-4.6"],
    [4_096, "granite-3"],
  ),
  ...modelsWithWindow([131_072, "granite-3.1", "granite-3.2", "granite-3.3"]),
  ...modelsWithWindow([128_000, "command-r", "nova-micro"], [256_000, "command-a"], [300_000, "nova-lite", "nova-pro"]),
  ...modelsWithWindow([1_000_000, "minimax-m1"], [196_608, "minimax-m2"], [65_536, "smollm3"]),
];

type WindowRow = readonly [window: number, ...names: string[]];

function modelsWithWindow(...rows: readonly WindowRow[]): Model[] {
  return rows.flatMap(([window, ...names]) => names.map((name) => ({ name, window })));
}

/** Old models: see `Model.isOld`. */
function oldModelsWithWindow(...rows: readonly WindowRow[]): Model[] {
  return modelsWithWindow(...rows).map((model) => ({ ...model, isOld: true }));
}

/** Names that Claude Code uses for the newest model of a family. */
const newestOfFamily: Readonly<Record<string, string>> = {
  fable: "claude-fable-5-1",
  opus: "claude-opus-5-5",
  sonnet: "claude-sonnet-5-5",
  haiku: "claude-haiku-5-5",
};

/**
 * What may follow a listed name: a date, a snapshot or the size of the window. With another number or word after the
 * listed name, the whole name is that of another model.
 */
const suffixPattern = /^(?:$|[-@]\d{6,8}\b|-\d{4}$|:[\w.-]+$|-latest\b|-00\d$|-(?:preview|exp)\b|\[)/;

/** The listed model with this name. Undefined if the list does not contain it: a wrong price is worse than none. */
export function modelByName(name: string | undefined): Model | undefined {
  if (name === undefined) return undefined;
  const plainModelName = plainName(name);
  const matches = models.filter((model) => {
    if (!plainModelName.startsWith(model.name)) return false;
    const suffix = plainModelName.slice(model.name.length);
    const suffixWithoutDate = suffix.replace(/^-\d{4}-\d\d-\d\d/, "");
    return suffixPattern.test(suffixWithoutDate);
  });
  const listedModel = matches.reduce<Model | undefined>(
    (best, model) => (best === undefined || model.name.length > best.name.length ? model : best),
    undefined,
  );
  // In Claude Code, "[1m]" after a name chooses a window of a million tokens.
  return listedModel !== undefined && plainModelName.endsWith("[1m]")
    ? { ...listedModel, window: 1_000_000 }
    : listedModel;
}

/**
 * The name as the list spells it, in lower case and without the provider: "openrouter/anthropic/claude-sonnet-4.5" and
 * "us.anthropic.claude-sonnet-4-5" (Bedrock) become "claude-sonnet-4-5". "opus" becomes the newest model of the family.
 */
function plainName(name: string): string {
  const lowerName = name
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/^(?:ft:|(?:[a-z]+\.)+(?=[a-z]))/, "")
    .replace(/^[a-z]+(?=$|\[)/, (word) => newestOfFamily[word] ?? word);
  return lowerName.startsWith("claude") ? lowerName.replaceAll(".", "-") : lowerName;
}

/**
 * Maximum number of tokens of one request. If the name is not listed, the most similar models are those whose names
 * share the most leading parts with it; the smallest of their windows counts. Undefined if no listed name is similar.
 */
export function windowOf(name: string | undefined): number | undefined {
  const exactWindow = modelByName(name)?.window;
  if (exactWindow !== undefined || name === undefined) return exactWindow;
  const parts = partsOf(plainName(name));
  const candidates = models
    .filter((model) => model.isOld !== true)
    .map(({ name: other, window }) => {
      const otherParts = partsOf(other);
      const firstDifference = otherParts.findIndex((part, index) => part !== parts[index]);
      return { window, sharedParts: firstDifference === -1 ? otherParts.length : firstDifference };
    });
  const maxSharedParts = Math.max(...candidates.map(({ sharedParts }) => sharedParts));
  return maxSharedParts === 0
    ? undefined
    : Math.min(
        ...candidates.flatMap((candidate) => (candidate.sharedParts === maxSharedParts ? [candidate.window] : [])),
      );
}

/** The first word of similar listed names, such as "claude" or "gemini". Undefined if no listed name is similar. */
export function familyOf(name: string): string | undefined {
  const [first] = partsOf(plainName(name));
  return models.some((model) => partsOf(model.name)[0] === first) ? first : undefined;
}

/** The parts of "gpt-5.1-codex" are gpt, 5, 1, codex; those of "qwen3:8b" are qwen, 3, 8, b. */
const partsOf = (name: string): string[] => name.match(/[a-z]+|\d+/g) ?? [];

/** Whether the list contains the prices of a model. */
export const isPriced = (model: Model): model is PricedModel => model.input !== undefined;

/**
 * The cost of this usage in US dollars at the API's standard rate. Writing to a cache counts as input, although some
 * providers charge more for it.
 */
export const priceOf = ({ input, cached, output }: Usage, model: PricedModel): number =>
  ((input - cached) * model.input + cached * model.cached + output * model.output) / 1_000_000;

/**
 * A usage event with the name of its model, the window and, if the CLI reports no cost, an estimated cost. Other events
 * stay unchanged.
 */
export function withPrice(event: AgentEvent, fallbackModel: string | undefined): AgentEvent {
  if (event.type !== "usage") return event;
  const name = event.model ?? fallbackModel;
  const model = modelByName(name);
  const window = event.window ?? windowOf(name);
  const eventWithModel = { ...event, ...withoutUndefined({ model: name, window }) };
  return event.cost_usd === undefined && model !== undefined && isPriced(model)
    ? { ...eventWithModel, cost_usd: priceOf(event.usage, model), estimated: true }
    : eventWithModel;
}
