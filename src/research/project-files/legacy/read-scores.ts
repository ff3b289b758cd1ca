import { absentUnless, toNumber } from "./coerce.js";
import { fieldsOf, type Fields, inTurn, leaf, orAbsent, type Reader, renamed } from "./readers.js";
import { isObject } from "../../../engine/lib/json-fields.js";

/** Names under which each dimension was met, letters and digits alone. */
const dimensions: ReadonlyMap<string, string> = new Map(
  Object.entries({
    novelty: "novelty",
    feasibility: "feasibility",
    timetopoc: "time_to_poc",
    valuemarket: "value_market",
    marketvalue: "value_market",
    value: "value_market",
    defensibility: "defensibility",
    adoption: "adoption",
    adoptionreadiness: "adoption",
    marketcreation: "market_creation",
    firstmoverwindow: "first_mover_window",
    firstmover: "first_mover_window",
    networkeffects: "network_effects",
    networkdataeffects: "network_effects",
    strategicclarity: "strategic_clarity",
  }),
);

const ours = new Set(dimensions.values());
const totals = ["execution_total", "blue_ocean_total", "combined_total"];
/** Names that stand for nothing else. Spelling out each of them cost more than the whole rest of a paper. */
const settled = new Set([...ours, ...totals, "execution", "blue_ocean"]);

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, "");

const dimensionOf = (name: string): string =>
  settled.has(name) ? name : (dimensions.get(lettersOf(name).replace(/(score|points)$/, "")) ?? name);

const point = leaf(toNumber(5));
const readPoints: Reader = inTurn(
  leaf((value) => (Array.isArray(value) ? (fromList(value) ?? value) : value)),
  renamed(dimensionOf),
  fieldsOf(Object.fromEntries([...ours].map((name) => [name, point]))),
);

/** [{ dimension, score }] as the object that it spells out. */
function fromList(list: readonly unknown[]): Fields | undefined {
  const names = list.map((each) =>
    isObject(each) ? (each["dimension"] ?? each["name"] ?? each["criterion"]) : undefined,
  );
  return names.every((name) => typeof name === "string")
    ? Object.fromEntries(names.map((name, index) => [name, list[index]]))
    : undefined;
}

/** A number under the name of a rubric is its total; an object under another name of it holds its points. */
function partOf(name: string, value: unknown): string {
  if (settled.has(name) && (isObject(value) || (name !== "execution" && name !== "blue_ocean"))) return name;
  const plain = lettersOf(name);
  const isTotal = !isObject(value) && !Array.isArray(value) && value !== null;
  if (/^(execution|exec)(score|scores|total|rubric|points)?$/.test(plain))
    return isTotal ? "execution_total" : "execution";
  if (/^(blueocean|strategic)(score|scores|total|rubric|points)?$/.test(plain))
    return isTotal ? "blue_ocean_total" : "blue_ocean";
  if (isTotal && /^(combined|total|overall)(score|total|scores)?$/.test(plain)) return "combined_total";
  return name;
}

const total = (whole: number) => leaf((value) => numberOrNull(toNumber(whole)(value)));
const numberOrNull = (value: unknown): unknown => (typeof value === "number" ? value : null);

/** A number under the name of a rubric that has its total already says nothing more. */
const readRubric = inTurn(leaf(absentUnless((value) => typeof value === "object")), readPoints);

/**
 * Reads score_breakdown: both rubrics apart, or their dimensions side by side. Totals are derived, so one that is no
 * number is left out.
 */
export const readScores: Reader = inTurn(
  leaf((value) => (Array.isArray(value) ? (fromList(value) ?? value) : value)),
  renamed(partOf),
  readPoints,
  fieldsOf({
    execution: orAbsent(readRubric),
    blue_ocean: readRubric,
    execution_total: total(30),
    blue_ocean_total: total(20),
    combined_total: total(50),
  }),
);
