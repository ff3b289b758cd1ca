import { given } from "../../../engine/lib/given.js";
import type { Rrd } from "../../generated/rrd.js";
import {
  absentUnless,
  partsOf,
  toBoolean,
  toDays,
  toFieldsOrNull,
  toList,
  toNumber,
  toSeconds,
  toSentences,
  toText,
  toTexts,
  toTime,
  toWord,
} from "./coerce.js";
import { readLoop } from "./read-loop.js";
import { readInsight, readPaperRecord, readRefusals } from "./read-paper-record.js";
import {
  absent,
  type Fields,
  fieldsOf,
  inTurn,
  leaf,
  listOf,
  orAbsent,
  type Reader,
  valuesOf,
  wordReading,
} from "./readers.js";
import type { Problem } from "../../../engine/storage/schema-check.js";
import { isObject } from "../../../engine/lib/json-fields.js";

const text = leaf(toText);
const boolean = orAbsent(leaf(toBoolean));
const number = (...outOf: readonly number[]) => inTurn(leaf(toNumber(...outOf)), orAbsent(same));
const texts = orAbsent(leaf(toTexts));
const time = leaf(toTime);
const seconds = leaf(toSeconds);
const isText = (value: unknown): value is string => typeof value === "string";
const isWhole = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;

function same(value: unknown): unknown {
  return value;
}

const presets = ["market_creation", "defensibility", "speed"];
const toPreset = toWord({
  market_creation: /^(market|blue_ocean|create_market)$/,
  defensibility: /^(defensible|defense|defence|moat)$/,
  speed: /^(fast|quick|time_to_market|time_to_poc)$/,
});

const readMission = fieldsOf({
  blue_ocean_scoring: boolean,
  min_blue_ocean_score: number(20),
  min_combined_score: number(50),
  strategic_focus: orAbsent(leaf(toFocus)),
  present_abstract_only: boolean,
});

/** Another focus than the presets weights nothing, which is what balanced does. */
function toFocus(value: unknown): unknown {
  const read = toPreset(value);
  return presets.find((preset) => preset === read) ?? "balanced";
}

const readRequirements = fieldsOf({
  focus_area: text,
  keywords: texts,
  time_window_days: leaf(toDays),
  historical_lookback_days: leaf(toDays),
  published_from: text,
  published_until: text,
  target_papers: number(),
  sources: texts,
  min_score_to_present: leaf(toNumber(30)),
});

/** Terms as a list of { term, definition }, or of bare terms. */
function toTerms(value: unknown): unknown {
  if (typeof value === "string") return toTerms(toTexts(value));
  if (!Array.isArray(value)) return value;
  return Object.fromEntries(
    value.map((each) => {
      const { term, name, definition, meaning, description } = isObject(each) ? each : ({ term: each } as Fields);
      return [String(toText(term ?? name)), toText(definition ?? meaning ?? description) ?? null];
    }),
  );
}

const readGlossary = inTurn(
  leaf((value) => (Array.isArray(value) ? { enabled: true, terms: value } : value)),
  fieldsOf({ enabled: boolean, terms: inTurn(leaf(toTerms), valuesOf(text)) }),
);

const readQuestion: Reader = inTurn(
  leaf((value) => {
    if (!isObject(value) || typeof value["question"] === "string") return value;
    const found = ["q", "text", "title", "description", "topic"].map((name) => value[name]).find(isText);
    return found === undefined ? value : { ...value, question: found };
  }),
  fieldsOf({
    field: text,
    options: orAbsent(leaf(toSentences)),
    current_default: leaf((value) => (isObject(value) ? toText(value) : value)),
  }),
);

const readPhase = leaf(
  toWord({
    DISCOVERY: /^(discover|discovering|search|searching|init|initial|start|not_started|planning)$/,
    ANALYSIS: /^(analy[sz]e|analy[sz]ing|analyses|reading|report|reporting|review|synthesis)$/,
    IDEATION: /^(ideate|ideating|ideas|product_ideation|product_ideas)$/,
    COMPLETE: /^(completed|done|finished|end)$/,
  }),
);

const readSpan = (field: "started_at" | "ended_at") =>
  inTurn(
    leaf((value) =>
      typeof value === "string" || typeof value === "number" ? { [field]: value } : toFieldsOrNull(value),
    ),
    fieldsOf({
      started_at: time,
      ended_at: time,
      duration_seconds: seconds,
      papers_analyzed: leaf((value) => (isWhole(value) ? value : null)),
      avg_seconds_per_paper: seconds,
    }),
  );

const readTiming = inTurn(
  leaf(toFieldsOrNull),
  fieldsOf({
    research_started_at: time,
    discovery: readSpan("started_at"),
    analysis: readSpan("started_at"),
    ideation: readSpan("started_at"),
    complete: readSpan("ended_at"),
  }),
);

/** Nothing depends on what statistics say: they are derived from the records, so what is odd in them is left out. */
const count = leaf((value) => {
  const read = Array.isArray(value) ? value.length : toNumber()(value);
  return typeof read === "number" ? read : null;
});
const names = leaf((value) => (typeof value === "number" || typeof value === "boolean" ? null : toTexts(value)));
const isRetractionCheck = (value: unknown): boolean =>
  isObject(value) &&
  isText(value["at"]) &&
  isWhole(value["checked"]) &&
  isWhole(value["not_checked"]) &&
  Array.isArray(value["demoted"]) &&
  value["demoted"].every(isText);
const readStatistics = inTurn(
  leaf(toFieldsOrNull),
  fieldsOf({
    total_discovered: count,
    total_analyzed: count,
    total_presented: count,
    total_rejected: count,
    total_insights_extracted: count,
    total_insights: count,
    total_retracted: count,
    retraction_check: leaf((value) => (value === null || isRetractionCheck(value) ? value : absent)),
    discovery_metrics: inTurn(
      leaf(toFieldsOrNull),
      fieldsOf({
        sources_tried: names,
        sources_successful: names,
        sources_blocked: leaf((value) =>
          Array.isArray(value)
            ? value
            : typeof value === "string"
              ? [value]
              : isObject(value)
                ? Object.keys(value)
                : null,
        ),
        source_failure_reasons: leaf(toFieldsOrNull),
        failures_in_a_row: inTurn(leaf(absentUnless(isObject)), valuesOf(leaf(absentUnless(isWhole)))),
        batches: leaf(absentUnless(isWhole)),
        batches_without_new: leaf(absentUnless(isWhole)),
        searched_for: leaf(absentUnless(isText)),
      }),
    ),
    analysis_metrics: leaf(toFieldsOrNull),
    ideation_metrics: leaf(toFieldsOrNull),
  }),
);

const readIdeation = inTurn(
  leaf((value) => (typeof value === "boolean" ? { enabled: value } : value)),
  fieldsOf({
    enabled: boolean,
    min_ideas: number(),
    max_ideas: number(),
    output_filename: orAbsent(text),
    ranking_goal: orAbsent(text),
    assumed_constraints: leaf((value) => (isObject(value) ? value : value === null ? absent : { constraints: value })),
  }),
);

/** An insight without an id can be named by no report and taken out by no reset, so it gets the next number. */
function readIds(value: unknown, pointer: string, tell: Parameters<Reader>[2]): unknown {
  if (!Array.isArray(value) || value.every((each) => !isObject(each) || isText(each["id"]))) return value;
  let last = value.reduce<number>(
    (highest, each) => Math.max(highest, Number(/^insight_(\d{1,9})$/.exec(String(each?.id))?.[1] ?? 0)),
    0,
  );
  return value.map((each: unknown, index) => {
    if (!isObject(each) || isText(each["id"])) return each;
    const id = `insight_${String((last += 1)).padStart(3, "0")}`;
    tell(`${pointer}/${index}/id`, each["id"], id);
    return { ...each, id };
  });
}

/** { source: reason } as a list; a line of several as several. */
const toBlocked = (value: unknown): unknown =>
  isObject(value)
    ? Object.entries(value).flatMap(([source, reason]) =>
        reason === false ? [] : [isText(reason) ? { source, reason } : source],
      )
    : // A reason in brackets has commas of its own.
      isText(value) && value.includes("(")
      ? partsOf(value, /[;\n]/)
      : toTexts(value);

const readBlocked = leaf((value) =>
  Array.isArray(value) && value.every((each) => isText(each) || isObject(each)) ? value : toBlocked(value),
);

const readVisited = leaf((value) =>
  Array.isArray(value) && value.every((each) => isText(each) || isObject(each))
    ? value
    : isText(value)
      ? partsOf(value, /\s/)
      : toTexts(value),
);

const readExcluded = inTurn(
  orAbsent(leaf(toList)),
  listOf(
    leaf((value) => {
      if (isText(value)) return { id: value, reason: "no reason recorded" };
      if (!isObject(value)) return value;
      const id = [value["id"], value["paper_id"], value["url"], value["title"]].find(isText) ?? value["id"];
      return id === value["id"] && isText(value["reason"])
        ? value
        : { ...value, ...given({ id }), reason: toText(value["reason"]) ?? "no reason recorded" };
    }),
  ),
);

const readTop: Reader = fieldsOf({
  project: text,
  branchName: text,
  description: text,
  mission: readMission,
  requirements: readRequirements,
  domain_glossary: readGlossary,
  open_questions: inTurn(
    leaf((value) => (isText(value) ? toSentences(value) : toList(value))),
    listOf(readQuestion),
  ),
  phase: readPhase,
  timing: readTiming,
  handoff: fieldsOf({ product_ideation: readIdeation }),
  papers_pool: inTurn(
    leaf((value) => value ?? []),
    listOf(readPaperRecord),
  ),
  insights: inTurn(listOf(readInsight), readIds),
  visited_urls: readVisited,
  blocked_sources: readBlocked,
  excluded: readExcluded,
  statistics: readStatistics,
  loop: readLoop,
  refusals: readRefusals,
});

/**
 * Turns what was parsed from an rrd.json into the shape the schema describes: runs of the original tool and models
 * wrote numbers as texts, lists as lines, statuses in upper case. Only what differs is changed, in a copy; a field that
 * is not known, and the order of fields, stays. `changes` says what was read as what, for a person. What can't be
 * understood stays as it is, for the schema to name. One pass; 180 KB take well under a millisecond.
 */
export function readRrdShape(value: unknown): { readonly value: unknown; readonly changes: readonly Problem[] } {
  const changes: Problem[] = [];
  const read = inTurn(readTop, withPhase)(value, "", (pointer, before, after) =>
    changes.push(wordReading(pointer, before, after)),
  );
  return { value: read, changes };
}

/** Where no phase is named, the pool tells where the project stands. */
function withPhase(value: unknown, _: string, tell: Parameters<Reader>[2]): unknown {
  if (!isObject(value) || value["phase"] != null || !Array.isArray(value["papers_pool"])) return value;
  const phase: Rrd["phase"] = value["papers_pool"].length === 0 ? "DISCOVERY" : "ANALYSIS";
  tell("/phase", value["phase"], phase);
  return { ...value, phase };
}
