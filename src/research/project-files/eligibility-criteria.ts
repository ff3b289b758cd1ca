import { estimateTokens } from "../../engine/lib/tokens.js";
import type { Problem } from "../../engine/storage/schema-check.js";
import type { Criterion, Rrd } from "../generated/rrd.js";
import { fieldsOf } from "../../engine/lib/json-fields.js";

/** Maximum number of criteria of a project, and of characters of a criterion; the same as in the schema. */
const maxCriteria = 20;
const maxCriterionChars = 1_000;
/** Maximum estimated tokens of all criteria together, because every brief contains all of them. */
const maxCriteriaTokens = 1_200;

/** The eligibility criteria of a project; may be empty. */
export const criteriaOf = ({ requirements }: Pick<Rrd, "requirements">): readonly Criterion[] =>
  requirements.criteria ?? [];

/** A criterion without the id that a project gives it. */
export type NewCriterion = Pick<Criterion, "kind" | "text">;

/** Parses a criterion such as "include: randomised trials". A problem is a clause about what is wrong. */
function parseCriterion(typed: string): NewCriterion | { readonly problem: string } {
  const [, kind, rawText = ""] = /^\s*(include|exclude)\s*:([\s\S]*)$/i.exec(typed) ?? [];
  const text = oneLine(rawText);
  const shortened = typed.length > 60 ? `${typed.slice(0, 60).trimEnd()}…` : typed;
  if (kind === undefined)
    return {
      problem: `'${oneLine(shortened)}' must begin with 'include:' or 'exclude:', such as 'include: randomised trials'`,
    };
  if (text === "") return { problem: `'${oneLine(shortened)}' has no words after '${kind}:'` };
  const length = [...text].length;
  if (length > maxCriterionChars)
    return {
      problem: `'${oneLine(shortened)}' has ${length.toLocaleString("en")} characters; ${maxCriterionChars.toLocaleString("en")} are allowed, so shorten or split it`,
    };
  return { kind: kind.toLowerCase() as Criterion["kind"], text };
}

const oneLine = (text: string): string => text.normalize("NFC").replace(/\s+/g, " ").trim();

/**
 * The criteria of a new project, with the ids c1, c2, …: those of the user, then the agent's proposals that neither
 * repeat nor contradict others, up to the limits.
 */
export function criteriaFrom(given: readonly NewCriterion[], proposed: readonly NewCriterion[]): Criterion[] {
  let criteria = withIds(given);
  for (const candidate of proposed) {
    const extended = withIds([...criteria, candidate]);
    if (extended.length <= maxCriteria && criteriaProblems({ requirements: { criteria: extended } }).length === 0)
      criteria = extended;
  }
  return criteria;
}

/** The distinct criteria with their ids. Of equal criteria of one kind, only the first counts. */
function withIds(criteria: readonly NewCriterion[]): Criterion[] {
  const seen = new Set<string>();
  const distinct = criteria.filter(({ kind, text }) => {
    const key = `${kind} ${wordsOf(text)}`;
    return !seen.has(key) && seen.add(key);
  });
  return distinct.map(({ kind, text }, index) => ({ id: `c${index + 1}`, text: oneLine(text), kind }));
}

/**
 * Parses criteria such as "include: randomised trials", in their order. A problem is a clause about what is wrong.
 */
export function parseCriteria(typed: readonly string[]): readonly NewCriterion[] | { readonly problem: string } {
  const parsed = typed.map(parseCriterion);
  const faulty = parsed.find((candidate) => "problem" in candidate);
  if (faulty !== undefined && "problem" in faulty) return faulty;
  const criteria = withIds(parsed as NewCriterion[]);
  if (criteria.length > maxCriteria)
    return { problem: `there are ${criteria.length} criteria; at most ${maxCriteria} are allowed` };
  const [first] = criteriaProblems({ requirements: { criteria } });
  if (first === undefined) return criteria;
  const [, index] = /\/criteria\/(\d+)\//.exec(first.pointer) ?? [];
  const subject = index === undefined ? "they" : `'${criteria[Number(index)]?.text}'`;
  return { problem: `${subject} ${first.message.replace(/^\/requirements\/criteria/, "")}` };
}

/**
 * Problems of the criteria in an rrd.json that the schema does not find: two criteria with one id, two that contradict
 * each other, so that every paper would be excluded, or too many words for a brief. Pointers are into rrd.json.
 */
export function criteriaProblems(value: unknown): Problem[] {
  const criteria = listOf(value);
  const problems: Problem[] = [];
  const ids = new Map<unknown, number>();
  const kinds = new Map<string, { readonly index: number; readonly kind: unknown }>();
  for (const [index, { id, kind, text }] of criteria.entries()) {
    const addProblem = (field: string, message: string, hint: string) =>
      problems.push({ pointer: `${criteriaPointer}/${index}/${field}`, message, hint });
    const first = ids.get(id);
    if (first === undefined) ids.set(id, index);
    else
      addProblem("id", `"${String(id)}" is the id of ${criteriaPointer}/${first} too`, "Give one of them another id.");
    if (typeof text !== "string") continue;
    const rawText = wordsOf(text);
    const earlier = kinds.get(rawText);
    if (rawText === "") addProblem("text", "says nothing", "Write a statement that is true of a paper or not.");
    else if (earlier === undefined) kinds.set(rawText, { index, kind });
    else if (earlier.kind !== kind)
      addProblem(
        "text",
        `contradicts ${nameOf(criteria[earlier.index])}: the same words include and exclude, so every paper would be excluded`,
        "Remove one of them.",
      );
  }
  const tokens = criteria.reduce((sum, { text }) => sum + (typeof text === "string" ? estimateTokens(text) : 0), 0);
  if (tokens > maxCriteriaTokens)
    problems.push({
      pointer: criteriaPointer,
      message: `have about ${tokens} tokens together; at most ${maxCriteriaTokens.toLocaleString("en")} are allowed, because every brief shows them`,
      hint: "Shorten them.",
    });
  return problems;
}

const nameOf = (criterion: { readonly id?: unknown } | undefined): string => `criterion ${String(criterion?.id)}`;

const criteriaPointer = "/requirements/criteria";

/** The words of a text in lower case. Equal for texts that differ only in case, spaces and punctuation. */
const wordsOf = (text: string): string =>
  (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  ).join(" ");

/** The criteria in an unchecked value: only those that are objects. */
function listOf(value: unknown): Partial<Record<"id" | "kind" | "text", unknown>>[] {
  const { requirements } = fieldsOf(value);
  const { criteria } = fieldsOf(requirements);
  return Array.isArray(criteria) ? criteria.map(fieldsOf) : [];
}
