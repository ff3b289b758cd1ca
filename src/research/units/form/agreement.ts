import { oneLine } from "../../../engine/lib/sanitise.js";
import { countEach } from "../../../engine/lib/group.js";
import { quantitiesIn } from "../../../text/evidence/numbers/quantities.js";
import type { Extracted, Field, Paper, Rrd, Settled } from "../../generated/rrd.js";
import { formOf, typeOf } from "../../project-files/form.js";
import { answerBy, isExtractable } from "./open-forms.js";
import type { FieldDecision } from "./settled.js";

/** The answers for one field of a paper. */
export interface FieldAnswers {
  /** The answer that counts: the first agent's, or the user's decision if the second agent's differs. */
  readonly final?: Extracted;
  readonly first?: Extracted;
  readonly second?: Extracted;
  /** Whether the two agents agree; absent if one of them gave no comparable answer. */
  readonly agree?: boolean;
  /** The user's decision if the agents differ. */
  readonly settled?: Settled;
}

export function answersFor(paper: Paper, field: Field): FieldAnswers {
  const [first, second] = [answerBy("first", paper, field), answerBy("second", paper, field)];
  const agree = areEqual(field, first, second);
  const settled = agree === false ? paper.settled?.find((each) => each.field === field.id) : undefined;
  const finalAnswer = settled?.take === "own" ? settled.own : settled?.take === "second" ? second : (first ?? second);
  return {
    ...(finalAnswer === undefined ? {} : { final: finalAnswer }),
    ...(first === undefined ? {} : { first }),
    ...(second === undefined ? {} : { second }),
    ...(agree === undefined ? {} : { agree }),
    ...(settled === undefined ? {} : { settled }),
  };
}

/** Whether the two agents differ on this field of this paper. */
export function isInConflict(rrd: Rrd, { paper: id, settled: { field: fieldId } }: FieldDecision): boolean {
  const paper = rrd.papers_pool.find((each) => each.id === id);
  const field = formOf(rrd).find((each) => each.id === fieldId);
  return paper !== undefined && field !== undefined && answersFor(paper, field).agree === false;
}

/** The state with the user's decision; unchanged if the agents no longer differ. Pure and idempotent. */
export function applyDecision(rrd: Rrd, { paper: id, settled: decision }: FieldDecision): Rrd {
  if (!isInConflict(rrd, { paper: id, settled: decision })) return rrd;
  const papers_pool = rrd.papers_pool.map((paper) =>
    paper.id === id
      ? { ...paper, settled: [...(paper.settled ?? []).filter(({ field }) => field !== decision.field), decision] }
      : paper,
  );
  return { ...rrd, papers_pool };
}

/** Whether an answer can be compared. It can if it is a value with a quote, or says that the paper has no value. */
const isComparable = ({ status }: Extracted): boolean => status !== "not-in-text" && status !== "not-answered";

function areEqual(field: Field, first: Extracted | undefined, second: Extracted | undefined): boolean | undefined {
  if (first === undefined || second === undefined || !isComparable(first) || !isComparable(second)) return undefined;
  return comparisonKey(field, first) === comparisonKey(field, second);
}

/** A key that is equal for equal values: numbers by size, lists in any order, words without punctuation. */
function comparisonKey(field: Field, { value }: Extracted): string {
  if (value === undefined) return "not reported";
  const items = (typeof value === "string" ? [value] : value).map((text) =>
    typeOf(field) === "number"
      ? quantitiesIn(text)
          .map(({ value: number }) => number)
          .join(" ")
      : (oneLine(text)
          .normalize("NFKC")
          .toLowerCase()
          .match(/[\p{L}\p{N}]+/gu)
          ?.join(" ") ?? ""),
  );
  return JSON.stringify(items.toSorted());
}

/** The agreement of the two agents on a field. */
export interface FieldAgreement {
  readonly field: Field;
  /** Number of papers with comparable answers of both agents. */
  readonly compared: number;
  /** Number of these papers on which the agents agree. */
  readonly agreed: number;
  /** Cohen's kappa, only for choices; absent if both agents always gave the same answer. */
  readonly kappa?: number;
}

/** The agreement for each field; empty if no second agent has filled in a form. */
export function fieldAgreements(rrd: Rrd): readonly FieldAgreement[] {
  const papers = rrd.papers_pool.filter(isExtractable);
  return formOf(rrd).flatMap((field): FieldAgreement[] => {
    const pairs = papers.flatMap((paper) => {
      const { first, second, agree } = answersFor(paper, field);
      return first === undefined || second === undefined || agree === undefined
        ? []
        : [[comparisonKey(field, first), comparisonKey(field, second)] as const];
    });
    if (pairs.length === 0) return [];
    const agreed = pairs.filter(([a, b]) => a === b).length;
    const kappa = typeOf(field) === "choice" ? kappaOfPairs(pairs) : undefined;
    return [{ field, compared: pairs.length, agreed, ...(kappa === undefined ? {} : { kappa }) }];
  });
}

/** Cohen's kappa for any number of categories; undefined if chance alone explains all agreement. */
function kappaOfPairs(pairs: readonly (readonly [string, string])[]): number | undefined {
  const [first, second] = [
    countEach(pairs.map(([firstKey]) => firstKey)),
    countEach(pairs.map(([, secondKey]) => secondKey)),
  ];
  const observed = pairs.filter(([firstKey, secondKey]) => firstKey === secondKey).length / pairs.length;
  const chance = [...first].reduce(
    (sum, [name, count]) => sum + (count * (second.get(name) ?? 0)) / pairs.length ** 2,
    0,
  );
  return 1 - chance < 1e-12 ? undefined : Math.round(((observed - chance) / (1 - chance)) * 1000) / 1000;
}

/** "design: 8 of 10 papers (80 %), kappa 0.61". */
export const agreementLine = ({ field, compared, agreed, kappa }: FieldAgreement): string =>
  `${field.name}: ${agreed} of ${compared} ${compared === 1 ? "paper" : "papers"} (${Math.round((100 * agreed) / compared)} %)${kappa === undefined ? "" : `, kappa ${kappa}`}`;
