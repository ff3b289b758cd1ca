import { absentUnless, toFieldsOrNull, toList, toText } from "./coerce.js";
import { absent, fieldsOf, inTurn, leaf, listOf, type Reader } from "./readers.js";
import { isObject } from "../../../engine/lib/json-fields.js";

const isText = (value: unknown): value is string => typeof value === "string";
const isWhole = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const isAmount = (value: unknown): boolean => Number.isFinite(value) && Number(value) >= 0;

const whole = leaf(absentUnless(isWhole));
const amount = leaf(absentUnless(isAmount));
const text = leaf(absentUnless(isText));
const outcomes: readonly unknown[] = ["accepted", "refused", "failed"];

/** Other tools kept other things under this name; the loop learns nothing from them. */
const isObservation = (value: unknown): boolean =>
  isObject(value) &&
  isWhole(value["iteration"]) &&
  value["iteration"] !== 0 &&
  isText(value["unit"]) &&
  outcomes.includes(value["outcome"]);

const readObservation = inTurn(
  leaf(absentUnless(isObservation)),
  fieldsOf({
    failure: text,
    said: text,
    digest: text,
    answer: text,
    sketch: text,
    left: leaf(absentUnless((value) => value === true)),
    signs: inTurn(leaf(absentUnless(Array.isArray)), listOf(text)),
  }),
);

const readMetrics = fieldsOf({
  compressions: whole,
  total_chars_before: whole,
  total_chars_after: whole,
  total_tokens_saved: leaf(absentUnless(Number.isInteger)),
  last_compression_ratio: amount,
  history_size_trend: inTurn(leaf(absentUnless(Array.isArray)), listOf(whole)),
  last_iteration: whole,
  historian_tokens: whole,
  historian_cost_usd: amount,
  historian_estimated: leaf(absentUnless((value) => value === true)),
});

const readLimits = fieldsOf({
  max_usd: amount,
  max_tokens: amount,
  max_minutes: amount,
  max_iterations: amount,
  target_papers: amount,
});

/** A person may add a line of steering by hand, as a text or without an id. What holds no text is left out. */
function toSteering(value: unknown): unknown {
  const { id, text: words, at, ...rest } = isObject(value) ? value : { text: value };
  if (isText(id) && isText(words)) return value;
  return isText(words) && words.trim() !== ""
    ? { ...rest, id: isText(id) ? id : words.slice(0, 40), ...(isText(at) ? { at } : {}), text: words }
    : absent;
}

const readSteering = inTurn(
  leaf((value) => (isText(value) ? [value] : toList(value))),
  leaf(absentUnless(Array.isArray)),
  listOf(leaf(toSteering)),
);

/** What the loop remembers between iterations. Whatever is odd in it is left out: a run goes on without it. */
export const readLoop: Reader = inTurn(
  leaf(toFieldsOrNull),
  fieldsOf({
    iteration: whole,
    done: leaf(absentUnless((value) => typeof value === "boolean")),
    error: leaf(toText),
    last_run: leaf(
      absentUnless(
        (value) => isObject(value) && isText(value["verdict"]) && isText(value["reason"]) && isText(value["at"]),
      ),
    ),
    loop_type: leaf(toText),
    observations: inTurn(leaf(absentUnless(Array.isArray)), listOf(readObservation)),
    history_summary: leaf(toText),
    stagnation_count: whole,
    stagnation_since: whole,
    limits: inTurn(leaf(absentUnless(isObject)), readLimits),
    rch_metrics: inTurn(leaf(absentUnless(isObject)), readMetrics),
    steering: readSteering,
  }),
);
