import { estimateTokens } from "../../engine/lib/tokens.js";
import type { Problem } from "../../engine/storage/schema-check.js";
import type { Criterion, Rrd } from "../generated/rrd.js";
import { isObject } from "../../engine/lib/json-fields.js";

/** Most criteria of a project, and most characters of one, as the schema has them. */
const maxCriteria = 20;
const maxCriterion = 1_000;
/** All criteria of a project together, in estimated tokens: every brief shows them whole. */
const maxCriteriaTokens = 1_200;

/** The eligibility criteria of a project; none where it has none. */
export const criteriaOf = ({ requirements }: Pick<Rrd, "requirements">): readonly Criterion[] =>
  requirements.criteria ?? [];

/** A criterion without the id that a project gives it. */
export type NewCriterion = Pick<Criterion, "kind" | "text">;

/** What a person typed as "include: randomised trials", or what is wrong with it. */
function typedCriterion(typed: string): NewCriterion | { readonly problem: string } {
  const [, kind, words = ""] = /^\s*(include|exclude)\s*:([\s\S]*)$/i.exec(typed) ?? [];
  const text = oneLine(words);
  const shown = typed.length > 60 ? `${typed.slice(0, 60).trimEnd()}…` : typed;
  if (kind === undefined)
    return {
      problem: `'${oneLine(shown)}' must begin with 'include:' or 'exclude:', such as 'include: randomised trials'`,
    };
  if (text === "") return { problem: `'${oneLine(shown)}' has no words after '${kind}:'` };
  const length = [...text].length;
  if (length > maxCriterion)
    return {
      problem: `'${oneLine(shown)}' has ${length.toLocaleString("en")} characters; ${maxCriterion.toLocaleString("en")} are allowed, so shorten or split it`,
    };
  return { kind: kind.toLowerCase() as Criterion["kind"], text };
}

const oneLine = (text: string): string => text.normalize("NFC").replace(/\s+/g, " ").trim();

/**
 * The criteria of a new project, with the ids c1, c2, …: those that a person gave, then those of the agent's proposals
 * that neither repeat nor contradict others, while there is room.
 */
export function criteriaFrom(given: readonly NewCriterion[], proposed: readonly NewCriterion[]): Criterion[] {
  let criteria = numbered(given);
  for (const one of proposed) {
    const more = numbered([...criteria, one]);
    if (more.length <= maxCriteria && criteriaProblems({ requirements: { criteria: more } }).length === 0)
      criteria = more;
  }
  return criteria;
}

/** Of those that say the same of the same kind the first. */
function numbered(criteria: readonly NewCriterion[]): Criterion[] {
  const seen = new Set<string>();
  const kept = criteria.filter(({ kind, text }) => {
    const said = `${kind} ${sameWords(text)}`;
    return !seen.has(said) && seen.add(said);
  });
  return kept.map(({ kind, text }, index) => ({ id: `c${index + 1}`, text: oneLine(text), kind }));
}

/**
 * The criteria that a person typed, such as "include: randomised trials", in their order; or what is wrong with them,
 * one sentence.
 */
export function typedCriteria(typed: readonly string[]): readonly NewCriterion[] | { readonly problem: string } {
  const read = typed.map(typedCriterion);
  const wrong = read.find((one) => "problem" in one);
  if (wrong !== undefined && "problem" in wrong) return wrong;
  const criteria = numbered(read as NewCriterion[]);
  if (criteria.length > maxCriteria)
    return { problem: `there are ${criteria.length} criteria; ${maxCriteria} are the most` };
  const [first] = criteriaProblems({ requirements: { criteria } });
  if (first === undefined) return criteria;
  const [, index] = /\/criteria\/(\d+)\//.exec(first.pointer) ?? [];
  const which = index === undefined ? "they" : `'${criteria[Number(index)]?.text}'`;
  return { problem: `${which} ${first.message.replace(/^\/requirements\/criteria/, "")}` };
}

/**
 * What is wrong with the criteria of an rrd.json besides their form: two of one id, two that contradict each other so
 * that every paper would be excluded, more words than a brief has room for. Pointers are into rrd.json.
 */
export function criteriaProblems(value: unknown): Problem[] {
  const criteria = listOf(value);
  const problems: Problem[] = [];
  const ids = new Map<unknown, number>();
  const kinds = new Map<string, { readonly index: number; readonly kind: unknown }>();
  for (const [index, { id, kind, text }] of criteria.entries()) {
    const find = (field: string, message: string, hint: string) =>
      problems.push({ pointer: `${criteriaPointer}/${index}/${field}`, message, hint });
    const first = ids.get(id);
    if (first === undefined) ids.set(id, index);
    else find("id", `"${String(id)}" is the id of ${criteriaPointer}/${first} too`, "Give one of them another id.");
    if (typeof text !== "string") continue;
    const words = sameWords(text);
    const other = kinds.get(words);
    if (words === "") find("text", "says nothing", "Write a statement that is true of a paper or not.");
    else if (other === undefined) kinds.set(words, { index, kind });
    else if (other.kind !== kind)
      find(
        "text",
        `contradicts ${nameOf(criteria[other.index])}: the same words include and exclude, so every paper would be excluded`,
        "Remove one of them.",
      );
  }
  const tokens = criteria.reduce((sum, { text }) => sum + (typeof text === "string" ? estimateTokens(text) : 0), 0);
  if (tokens > maxCriteriaTokens)
    problems.push({
      pointer: criteriaPointer,
      message: `have about ${tokens} tokens together; ${maxCriteriaTokens.toLocaleString("en")} are the most, because every brief shows them`,
      hint: "Shorten them.",
    });
  return problems;
}

const nameOf = (criterion: { readonly id?: unknown } | undefined): string => `criterion ${String(criterion?.id)}`;

const criteriaPointer = "/requirements/criteria";

/** Equal for texts that differ in case, spacing and stops only. */
const sameWords = (text: string): string =>
  (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  ).join(" ");

/** The criteria of a value that may be anything: those that are objects. */
function listOf(value: unknown): Partial<Record<"id" | "kind" | "text", unknown>>[] {
  const { requirements } = fieldsOf(value);
  const { criteria } = fieldsOf(requirements);
  return Array.isArray(criteria) ? criteria.map(fieldsOf) : [];
}

const fieldsOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
