import type { AgentEvent, Usage } from "../../loop/types.js";
import { type Model, models } from "./models.js";

/** Behind a name of the list may stand a date, a snapshot or the size of the window; another number or word is another model. */
const tail = /^(?:$|[-@]\d{6,8}\b|-latest\b|\[)/;

/** The model of this name, as the list has it; undefined for one it does not hold: a wrong price is worse than none. */
export function modelNamed(name: string | undefined): Model | undefined {
  const plain = name?.replace(/^.*\//, "").toLowerCase();
  if (plain === undefined) return undefined;
  const fitting = models.filter(
    (model) => plain.startsWith(model.name) && tail.test(plain.slice(model.name.length).replace(/^-\d{4}-\d\d-\d\d/, "")),
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
  return event.costUsd === undefined ? { ...known, costUsd: priceOf(event.usage, model), estimated: true } : known;
}
