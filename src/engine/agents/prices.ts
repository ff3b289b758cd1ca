import type { AgentEvent, Usage } from "../loop/types.js";

/** A model as its maker lists it. Prices are US dollars for a million tokens, at the API's standard rate. */
export interface Model {
  /** What its names begin with; of several that fit, the longest counts. */
  readonly name: string;
  /** Tokens it takes in one request. */
  readonly window: number;
  readonly input: number;
  /** Input that the provider's cache served. */
  readonly cached: number;
  readonly output: number;
}

/** The day on which the list was last held against https://platform.claude.com/docs/en/about-claude/pricing and https://developers.openai.com/api/docs/pricing. */
export const listedOn = "2026-11-22";

/** Nothing but data: correct it here when a maker changes a price, and set the date above. */
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
  { name: "claude-haiku-5-5", window: 200_000, input: 0.1, cached: 0.01, output: 0.5 },
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
];

/** Behind a name of the list may stand a date, a snapshot or the size of the window; another number or word is another model. */
const tail = /^(?:$|[-@]\d{6,8}\b|-latest\b|\[)/;

/** The model of this name, as the list has it; undefined for one it does not hold: a wrong price is worse than none. */
export function modelNamed(name: string | undefined): Model | undefined {
  const plain = name?.replace(/^.*\//, "").toLowerCase();
  if (plain === undefined) return undefined;
  const fitting = models.filter(
    (model) =>
      plain.startsWith(model.name) && tail.test(plain.slice(model.name.length).replace(/^-\d{4}-\d\d-\d\d/, "")),
  );
  const known = fitting.reduce<Model | undefined>(
    (best, model) => (best === undefined || model.name.length > best.name.length ? model : best),
    undefined,
  );
  return known !== undefined && plain.endsWith("[1m]") ? { ...known, window: 1_000_000 } : known;
}

/** US dollars that this use costs at the API's standard rate. Writing to a cache, which some makers charge more for, counts as input. */
export const priceOf = ({ input, cached, output }: Usage, model: Model): number =>
  ((input - cached) * model.input + cached * model.cached + output * model.output) / 1_000_000;

/** A usage event with the name of its model and what the list knows of it: the window, and our estimate where the CLI tells no cost. Others stay. */
export function priced(event: AgentEvent, fallback: string | undefined): AgentEvent {
  if (event.type !== "usage") return event;
  const name = event.model ?? fallback;
  const model = modelNamed(name);
  const named = name === undefined ? event : { ...event, model: name };
  if (model === undefined) return named;
  const known = { ...named, window: event.window ?? model.window };
  return event.cost_usd === undefined ? { ...known, cost_usd: priceOf(event.usage, model), estimated: true } : known;
}
