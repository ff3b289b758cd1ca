import { quantitiesIn } from "../../../text/evidence/numbers/quantities.js";
import type { Extracted, Field, Paper, Rrd } from "../../generated/rrd.js";
import { formOf, typeOf } from "../../project-files/form.js";
import { textOf } from "./check-values.js";

/** What the two readers of a paper gave for a field. */
export interface Pair {
  readonly first: Extracted;
  readonly second: Extracted;
}

/** How far two readers agree on a field. */
export interface FieldAgreement {
  readonly field: Field;
  /** Papers for which both gave something. */
  readonly judged: number;
  readonly agreed: number;
  readonly disagreements: readonly (Pair & { readonly paper: Paper })[];
}

/** What a reader gave for a field; undefined where nobody asked it. */
export const givenFor = (
  { extracted = [] }: Pick<Paper, "extracted">,
  { id }: Pick<Field, "id">,
  reader: 1 | 2 = 1,
): Extracted | undefined => extracted.find((each) => each.field === id && (each.reader ?? 1) === reader);

/** Both readers' answers for a field; undefined where only one was asked. */
export function pairOf(paper: Paper, field: Field): Pair | undefined {
  const [first, second] = [givenFor(paper, field), givenFor(paper, field, 2)];
  return first === undefined || second === undefined ? undefined : { first, second };
}

/** Agreement on each field that two readers filled in, in the order of the form; empty where there is one reader. */
export function formAgreement(rrd: Pick<Rrd, "requirements" | "papers_pool">): FieldAgreement[] {
  return formOf(rrd).flatMap((field) => {
    const pairs = rrd.papers_pool.flatMap((paper) => {
      const pair = pairOf(paper, field);
      return pair === undefined ? [] : [{ ...pair, paper }];
    });
    if (pairs.length === 0) return [];
    const disagreements = pairs.filter(({ first, second }) => !agree(field, first, second));
    return [{ field, judged: pairs.length, agreed: pairs.length - disagreements.length, disagreements }];
  });
}

/**
 * Whether two readers gave the same: the same numbers of a number, the same items of a list in any order, otherwise the
 * same words. A value that nothing bears out is as if it were not given.
 */
export function agree(field: Field, first: Extracted, second: Extracted): boolean {
  const [one, other] = [first, second].map((each) => sameOf(field, each));
  return one === other;
}

function sameOf(field: Field, { value, status }: Extracted): string {
  if (value === undefined || status === "not-in-text") return "";
  const items = (typeof value === "string" ? [value] : value).map(plain);
  if (typeOf(field) === "number")
    return quantitiesIn(textOf(value))
      .map(({ value: number, isNegative }) => (isNegative === true ? -number : number))
      .join(" ");
  return items.toSorted().join("; ");
}

const plain = (text: string): string =>
  (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  ).join(" ");
