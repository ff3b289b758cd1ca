import { isObject } from "../../../engine/lib/json-fields.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import type { OwnRubric } from "../../generated/rrd.js";

type Dimension = OwnRubric["dimensions"][number];

/** Maximum size, because every brief of a reading contains the whole rubric. */
const maxRubricTokens = 1_000;
const maxDimensions = 10;

/**
 * Reads the parsed file of a rubric: `dimensions` with the meanings of their points, and the minimum points for which a
 * paper is presented or kept for its insights. Returns the rubric, or a clause about what is wrong.
 */
export function rubricIn(value: unknown): OwnRubric | string {
  const { dimensions: namedDimensions, present, insights, ...otherFields } = fieldsOf(value);
  const [unknownField] = Object.keys(otherFields);
  if (unknownField !== undefined)
    return `it has '${oneLine(unknownField)}'; a rubric has dimensions, present and insights`;
  if (!isObject(namedDimensions) || Array.isArray(namedDimensions) || Object.keys(namedDimensions).length === 0)
    return "'dimensions' must name each dimension with what its points mean, such as 'rigour: {0: no control group, 5: randomised}'";
  const dimensions: Dimension[] = [];
  for (const [name, meaning] of Object.entries(namedDimensions)) {
    const dimension = dimensionOf(oneLine(name).trim(), meaning);
    if (typeof dimension === "string") return dimension;
    if (dimensions.some(({ id }) => id === dimension.id))
      return `'${dimension.name}' has the same letters as another dimension; name it otherwise`;
    dimensions.push(dimension);
  }
  const maxPoints = 5 * dimensions.length;
  if (dimensions.length > maxDimensions)
    return `it has ${dimensions.length} dimensions; at most ${maxDimensions} are allowed`;
  for (const [field, points] of Object.entries({ present, insights }))
    if (points !== undefined && !(typeof points === "number" && points >= 0 && points <= maxPoints))
      return `'${field}' is ${oneLine(JSON.stringify(points))}; it must be a number of points from 0 to ${maxPoints}`;
  if (typeof insights === "number" && !(typeof present === "number" && insights <= present))
    return "'insights' needs 'present', and can't be more than it";
  const rubric: OwnRubric = { dimensions, ...numericFields({ present, insights }) };
  const tokens = estimateTokens(JSON.stringify(rubric));
  return tokens > maxRubricTokens
    ? `it has about ${tokens} tokens; at most ${maxRubricTokens.toLocaleString("en")} are allowed, because every brief of a reading shows it`
    : rubric;
}

/**
 * The dimension in `rigour: {0: none, 5: randomised}`, or in a name without meanings; or a clause about what is wrong.
 */
function dimensionOf(name: string, meaning: unknown): Dimension | string {
  const id = (
    name
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  )
    .join("-")
    .slice(0, 40)
    .replace(/-$/, "");
  if (id === "" || name.length > 120) return `'${name}' can't name a dimension; write a few words of Latin letters`;
  if (meaning == null) return { id, name };
  const levels = Object.entries(fieldsOf(meaning)).map(
    ([points, meaningText]) => [points, oneLine(String(meaningText)).trim()] as const,
  );
  if (levels.length === 0)
    return `'${name}' must say what its points mean, such as '0: no control group' and '5: randomised'`;
  const invalidLevel = levels.find(
    ([points, meaningText]) => !/^[0-5]$/.test(points) || meaningText === "" || meaningText.length > 300,
  );
  if (invalidLevel !== undefined)
    return `'${name}' has '${oneLine(invalidLevel[0])}'; points are the whole numbers 0 to 5, each with at most 300 characters`;
  return { id, name, levels: Object.fromEntries(levels) };
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  isObject(value) && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const numericFields = (fields: Record<string, unknown>): Pick<OwnRubric, "present" | "insights"> =>
  Object.fromEntries(Object.entries(fields).filter(([, points]) => typeof points === "number"));

/** A dimension as text: "rigour (0: no control group, 5: randomised)". */
export function dimensionText({ name, levels = {} }: Dimension): string {
  const levelTexts = Object.entries(levels).map(([points, meaningText]) => `${points}: ${meaningText}`);
  return levelTexts.length === 0 ? name : `${name} (${levelTexts.join(", ")})`;
}

/** The section of a brief that asks for points by the user's rubric, without its heading; empty without a rubric. */
export function rubricSection(rubric: OwnRubric | undefined): string {
  if (rubric === undefined) return "";
  const example = rubric.dimensions.map(({ id }) => `"${id}": 3`).join(", ");
  return [
    "The person in charge wants whole numbers from 0 to 5 for each of these, from what the paper shows. The result carries one more field:",
    `\`"points": {${example}}\``,
    rubric.dimensions
      .map((dimension) => `- ${dimension.id}: ${dimensionText(dimension)}`.replace(/\s+/g, " "))
      .join("\n"),
    "Points between those with a meaning stand between them. `notes` says in a sentence or two why these points.",
  ].join("\n\n");
}
