import type { Rrd } from "../../generated/rrd.js";
import { type Fields, fieldsOf, sequence, leaf, listOf, type Reader, valuesOf, readingWarning } from "./readers.js";
import type { Problem } from "../../../engine/storage/schema-check.js";
import { isObject } from "../../../engine/lib/json-fields.js";

const number = leaf((value) =>
  typeof value === "string" && /^\s*-?\d{1,12}(?:\.\d{1,12})?\s*$/.test(value) ? Number(value) : value,
);
const numbers = (...names: readonly string[]): Reader =>
  fieldsOf(Object.fromEntries(names.map((name) => [name, number])));

/** The word with the same first letters, in any case: ANALYSIS for "analyzing". */
function matchingWord<Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  if (typeof value !== "string") return undefined;
  const lowerText = value.trim().toLowerCase();
  return lowerText.length < stemLength
    ? undefined
    : words.find((decisionWord) => lowerText.startsWith(decisionWord.toLowerCase().slice(0, stemLength)));
}
/** Number of first letters in which all phases, decisions and statuses differ. */
const stemLength = 5;

const phases: readonly Rrd["phase"][] = ["DISCOVERY", "ANALYSIS", "IDEATION", "COMPLETE"];
const readPhase = leaf((value) => matchingWord(value, phases) ?? value);

const decisions = { present: "presented", reject: "rejected", extract_insights: "insights_extracted" } as const;
const statuses = ["pending", "presented", "rejected", "insights_extracted"] as const;
type Status = (typeof statuses)[number];
type Decision = keyof typeof decisions;

/** A paper whose status only says that it was read, or that has no status, gets the status of its decision. */
const readStatus: Reader = (value, pointer, reportChange) => {
  if (!isObject(value)) return value;
  const { status, decision, analysis } = value;
  const decisionWord = matchingWord(decision, Object.keys(decisions) as Decision[]);
  const isRead = status == null || /^(?:analy[sz]ed|done|complete|completed)$/i.test(String(status).trim());
  const statusOfDecision: Status =
    decisionWord !== undefined ? decisions[decisionWord] : analysis == null ? "pending" : "insights_extracted";
  const isCurrentStatus = status === "analyzing" || status === "waiting" || statuses.some((item) => item === status);
  const converted = isCurrentStatus ? status : isRead ? statusOfDecision : (matchingWord(status, statuses) ?? status);
  if (converted === status) return value;
  reportChange(`${pointer}/status`, status, converted);
  return { ...value, status: converted };
};

/** The points of both rubrics, nested or flat. */
const readScores = valuesOf((value, pointer, reportChange) =>
  isObject(value) ? valuesOf(number)(value, pointer, reportChange) : number(value, pointer, reportChange),
);
const readPaper = sequence(fieldsOf({ priority: number, score: number, score_breakdown: readScores }), readStatus);

/** An insight without an id gets the next number, because reports and resets need the id. */
const readIds: Reader = (value, pointer, reportChange) => {
  const hasId = (item: unknown): boolean => !isObject(item) || typeof item["id"] === "string";
  if (!Array.isArray(value) || value.every(hasId)) return value;
  let lastNumber = value.reduce<number>(
    (highest, item) => Math.max(highest, Number(/^insight_(\d{1,9})$/.exec(String(item?.id))?.[1] ?? 0)),
    0,
  );
  return value.map((item: unknown, index) => {
    if (hasId(item)) return item;
    const { id: before } = item as Fields;
    const id = `insight_${String((lastNumber += 1)).padStart(3, "0")}`;
    reportChange(`${pointer}/${index}/id`, before, id);
    return { ...(item as Fields), id };
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
    ...["discovered", "analyzed", "presented", "rejected", "insights_extracted", "insights"].map(
      (name) => `total_${name}`,
    ),
  ),
});

/** A missing phase is derived from the pool. */
const withPhase: Reader = (value, _, reportChange) => {
  if (!isObject(value) || value["phase"] != null || !Array.isArray(value["papers_pool"])) return value;
  const phase: Rrd["phase"] = value["papers_pool"].length === 0 ? "DISCOVERY" : "ANALYSIS";
  reportChange("/phase", value["phase"], phase);
  return { ...value, phase };
};

/**
 * Converts a parsed rrd.json of the original tool to the form of the schema: numbers in texts, other words for statuses
 * and phases, insights without ids. Only such values are changed, in a copy. Unknown fields and the order of fields
 * stay. `changes` describes the conversions for people. Other errors stay for the schema check.
 */
export function readRrdShape(value: unknown): { readonly value: unknown; readonly changes: readonly Problem[] } {
  const changes: Problem[] = [];
  const converted = sequence(readTop, withPhase)(value, "", (pointer, before, after) =>
    changes.push(readingWarning(pointer, before, after)),
  );
  return { value: converted, changes };
}
