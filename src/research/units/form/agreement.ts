import { oneLine } from "../../../engine/lib/sanitise.js";
import { countEach } from "../../../engine/lib/group.js";
import { quantitiesIn } from "../../../text/evidence/numbers/quantities.js";
import type { Extracted, Field, Paper, Rrd, Settled } from "../../generated/rrd.js";
import { formOf, typeOf } from "../../project-files/form.js";
import { givenBy, isExtractable } from "./open-forms.js";
import type { SettledField } from "./settled.js";

/** What stands for a field of a paper. */
export interface Answered {
  /** What counts: what the first agent gave, or what a person decided where the second differs. */
  readonly counts?: Extracted;
  readonly first?: Extracted;
  readonly second?: Extracted;
  /** Whether the two agree; absent where one of them gave nothing that can be compared. */
  readonly agree?: boolean;
  /** What a person decided where they do not. */
  readonly settled?: Settled;
}

export function answeredFor(paper: Paper, field: Field): Answered {
  const [first, second] = [givenBy("first", paper, field), givenBy("second", paper, field)];
  const agree = agreeOn(field, first, second);
  const settled = agree === false ? paper.settled?.find((each) => each.field === field.id) : undefined;
  const counts = settled?.take === "own" ? settled.own : settled?.take === "second" ? second : (first ?? second);
  return {
    ...(counts === undefined ? {} : { counts }),
    ...(first === undefined ? {} : { first }),
    ...(second === undefined ? {} : { second }),
    ...(agree === undefined ? {} : { agree }),
    ...(settled === undefined ? {} : { settled }),
  };
}

/** Whether two agents differ on this field of this paper. */
export function isSettleable(rrd: Rrd, { paper: id, settled: { field: fieldId } }: SettledField): boolean {
  const paper = rrd.papers_pool.find((each) => each.id === id);
  const field = formOf(rrd).find((each) => each.id === fieldId);
  return paper !== undefined && field !== undefined && answeredFor(paper, field).agree === false;
}

/** The state with it; unchanged where they do not differ any more. Pure, and done twice it is as done once. */
export function withSettled(rrd: Rrd, { paper: id, settled: one }: SettledField): Rrd {
  if (!isSettleable(rrd, { paper: id, settled: one })) return rrd;
  const papers_pool = rrd.papers_pool.map((paper) =>
    paper.id === id
      ? { ...paper, settled: [...(paper.settled ?? []).filter(({ field }) => field !== one.field), one] }
      : paper,
  );
  return { ...rrd, papers_pool };
}

/** A value that a quote bears out, or that the paper does not report it: what is not in the text says nothing. */
const isComparable = ({ status }: Extracted): boolean => status !== "not-in-text" && status !== "not-answered";

function agreeOn(field: Field, first: Extracted | undefined, second: Extracted | undefined): boolean | undefined {
  if (first === undefined || second === undefined || !isComparable(first) || !isComparable(second)) return undefined;
  return sameAs(field, first) === sameAs(field, second);
}

/** Values that say the same have the same key: numbers by their size, lists in any order, words without marks. */
function sameAs(field: Field, { value }: Extracted): string {
  if (value === undefined) return "not reported";
  const items = (typeof value === "string" ? [value] : value).map((each) =>
    typeOf(field) === "number"
      ? quantitiesIn(each)
          .map(({ value: number }) => number)
          .join(" ")
      : (oneLine(each)
          .normalize("NFKC")
          .toLowerCase()
          .match(/[\p{L}\p{N}]+/gu)
          ?.join(" ") ?? ""),
  );
  return JSON.stringify(items.toSorted());
}

/** How far two agents agree on a field. */
export interface FieldAgreement {
  readonly field: Field;
  /** Papers for which both gave something that can be compared, and those of them on which they agree. */
  readonly compared: number;
  readonly agreed: number;
  /** Cohen's kappa, of a choice alone; absent where both gave one answer throughout, and chance explains it all. */
  readonly kappa?: number;
}

/** The agreement by field; empty where no second agent has filled in a form. */
export function fieldAgreements(rrd: Rrd): readonly FieldAgreement[] {
  const papers = rrd.papers_pool.filter(isExtractable);
  return formOf(rrd).flatMap((field): FieldAgreement[] => {
    const pairs = papers.flatMap((paper) => {
      const { first, second, agree } = answeredFor(paper, field);
      return first === undefined || second === undefined || agree === undefined
        ? []
        : [[sameAs(field, first), sameAs(field, second)] as const];
    });
    if (pairs.length === 0) return [];
    const agreed = pairs.filter(([one, other]) => one === other).length;
    const kappa = typeOf(field) === "choice" ? kappaOfPairs(pairs) : undefined;
    return [{ field, compared: pairs.length, agreed, ...(kappa === undefined ? {} : { kappa }) }];
  });
}

/** Cohen's kappa over any number of categories; undefined where chance explains all agreement. */
export function kappaOfPairs(pairs: readonly (readonly [string, string])[]): number | undefined {
  const [first, second] = [countEach(pairs.map(([one]) => one)), countEach(pairs.map(([, other]) => other))];
  const observed = pairs.filter(([one, other]) => one === other).length / pairs.length;
  const chance = [...first].reduce(
    (sum, [name, count]) => sum + (count * (second.get(name) ?? 0)) / pairs.length ** 2,
    0,
  );
  return 1 - chance < 1e-12 ? undefined : Math.round(((observed - chance) / (1 - chance)) * 1000) / 1000;
}

/** "design: 8 of 10 papers (80 %), kappa 0.61". */
export const agreementLine = ({ field, compared, agreed, kappa }: FieldAgreement): string =>
  `${field.name}: ${agreed} of ${compared} ${compared === 1 ? "paper" : "papers"} (${Math.round((100 * agreed) / compared)} %)${kappa === undefined ? "" : `, kappa ${kappa}`}`;
