import type { Rrd } from "../../generated/rrd.js";
import { type Fields, fieldsOf, inTurn, leaf, listOf, type Reader, valuesOf, wordReading } from "./readers.js";
import type { Problem } from "../../../engine/storage/schema-check.js";
import { isObject } from "../../../engine/lib/json-fields.js";

const number = leaf((value) =>
  typeof value === "string" && /^\s*-?\d{1,12}(?:\.\d{1,12})?\s*$/.test(value) ? Number(value) : value,
);
const numbers = (...names: readonly string[]): Reader =>
  fieldsOf(Object.fromEntries(names.map((name) => [name, number])));

/** The word of which another form ("analyzing" for ANALYSIS) has the first letters, whatever their case. */
function wordAmong<Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  if (typeof value !== "string") return undefined;
  const plain = value.trim().toLowerCase();
  return plain.length < stem ? undefined : words.find((word) => plain.startsWith(word.toLowerCase().slice(0, stem)));
}
/** Letters in which no two phases, and no two decisions or statuses, begin alike. */
const stem = 5;

const phases: readonly Rrd["phase"][] = ["DISCOVERY", "ANALYSIS", "IDEATION", "COMPLETE"];
const readPhase = leaf((value) => wordAmong(value, phases) ?? value);

const decisions = { present: "presented", reject: "rejected", extract_insights: "insights_extracted" } as const;
const statuses = ["pending", "presented", "rejected", "insights_extracted"] as const;
type Status = (typeof statuses)[number];
type Decision = keyof typeof decisions;

/** A paper that says only that it was read, or nothing, has the status that follows from its decision. */
const readStatus: Reader = (value, pointer, tell) => {
  if (!isObject(value)) return value;
  const { status, decision, analysis } = value;
  const word = wordAmong(decision, Object.keys(decisions) as Decision[]);
  const isRead = status == null || /^(?:analy[sz]ed|done|complete|completed)$/i.test(String(status).trim());
  const decided: Status = word !== undefined ? decisions[word] : analysis == null ? "pending" : "insights_extracted";
  const isWritten = status === "analyzing" || status === "waiting" || statuses.some((each) => each === status);
  const read = isWritten ? status : isRead ? decided : (wordAmong(status, statuses) ?? status);
  if (read === status) return value;
  tell(`${pointer}/status`, status, read);
  return { ...value, status: read };
};

/** Both rubrics apart, or their points side by side. */
const readScores = valuesOf((value, pointer, tell) =>
  isObject(value) ? valuesOf(number)(value, pointer, tell) : number(value, pointer, tell),
);
const readPaper = inTurn(fieldsOf({ priority: number, score: number, score_breakdown: readScores }), readStatus);

/** An insight without an id can be named by no report and taken out by no reset, so it gets the next number. */
const readIds: Reader = (value, pointer, tell) => {
  const isNamed = (each: unknown): boolean => !isObject(each) || typeof each["id"] === "string";
  if (!Array.isArray(value) || value.every(isNamed)) return value;
  let last = value.reduce<number>(
    (highest, each) => Math.max(highest, Number(/^insight_(\d{1,9})$/.exec(String(each?.id))?.[1] ?? 0)),
    0,
  );
  return value.map((each: unknown, index) => {
    if (isNamed(each)) return each;
    const { id: before } = each as Fields;
    const id = `insight_${String((last += 1)).padStart(3, "0")}`;
    tell(`${pointer}/${index}/id`, before, id);
    return { ...(each as Fields), id };
  });
};

const readSpan = numbers("duration_seconds", "papers_analyzed", "avg_seconds_per_paper");
const readTop = fieldsOf({
  mission: numbers("min_blue_ocean_score", "min_combined_score"),
  requirements: numbers("time_window_days", "historical_lookback_days", "target_papers", "min_score_to_present"),
  phase: readPhase,
  timing: fieldsOf({ discovery: readSpan, analysis: readSpan, ideation: readSpan }),
  handoff: fieldsOf({ product_ideation: numbers("min_ideas", "max_ideas") }),
  papers_pool: listOf(readPaper),
  insights: readIds,
  statistics: numbers(
    ...["discovered", "analyzed", "presented", "rejected", "insights_extracted", "insights"].map((of) => `total_${of}`),
  ),
});

/** Where no phase is named, the pool tells where the project stands. */
const withPhase: Reader = (value, _, tell) => {
  if (!isObject(value) || value["phase"] != null || !Array.isArray(value["papers_pool"])) return value;
  const phase: Rrd["phase"] = value["papers_pool"].length === 0 ? "DISCOVERY" : "ANALYSIS";
  tell("/phase", value["phase"], phase);
  return { ...value, phase };
};

/**
 * Turns what was parsed from an rrd.json into the shape the schema describes, where runs of the original tool wrote
 * numbers as texts, statuses and phases in other words, or insights without ids. Only what differs is changed, in a
 * copy; a field that is not known, and the order of fields, stays. `changes` says what was read as what, for a person.
 * Any other shape stays as it is, for the schema to name.
 */
export function readRrdShape(value: unknown): { readonly value: unknown; readonly changes: readonly Problem[] } {
  const changes: Problem[] = [];
  const read = inTurn(readTop, withPhase)(value, "", (pointer, before, after) =>
    changes.push(wordReading(pointer, before, after)),
  );
  return { value: read, changes };
}
