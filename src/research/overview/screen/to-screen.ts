import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import type { Answer, Criterion, Override, Reading, Rrd } from "../../generated/rrd.js";
import { authorsOf } from "../../papers/authors.js";
import { namesIn, nameOf, withNames } from "../../papers/paper-keys.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { isReversible } from "../../derived/overrides.js";
import { isWaiting } from "../../screening/eligibility/eligibility.js";

/** Which records a person goes through. `waiting`: all that wait for them. */
export type WhichRecords = "waiting" | "conflicts" | "unclear" | "all";

/** That a list is empty, by what was asked for. */
export const nothingWords: Readonly<Record<WhichRecords, string>> = {
  waiting: "No record waits for your decision.",
  conflicts: "There is no conflict of two readers to decide.",
  unclear: "No record waits because a criterion is unclear.",
  all: "No record was screened yet; 'research-ralph run' does that first.",
};

/** A record as a person decides on it. */
export interface ToScreen {
  readonly id: string;
  /** Its key, or the id where it has none. */
  readonly name: string;
  readonly title: string;
  /** Authors, year, venue: what is known of them. */
  readonly about: string;
  /** Empty where none is known. */
  readonly abstract: string;
  /** What stands for the record now, such as "waits for you". */
  readonly stands: string;
  /** The answers to the criteria, of the fullest look at the record. */
  readonly answers: readonly { readonly criterion: Criterion; readonly answer: Answer }[];
  /** What two readers decided, each alone. */
  readonly readings: readonly Reading[];
  /** Why it was kept or left out, and what the agent noted. */
  readonly notes: string;
  readonly override?: Override;
}

/** The records that a person decides on, those of the pool first, each once. Pure. */
export function recordsToScreen(rrd: Rrd, which: WhichRecords): ToScreen[] {
  const criteria = criteriaOf(rrd);
  const answered = (answers: readonly Answer[] | undefined) =>
    criteria.flatMap((criterion) => {
      const mine = (answers ?? []).filter((each) => each.criterion === criterion.id);
      const answer = mine.find(({ stage }) => stage === "full_text") ?? mine.at(-1);
      return answer === undefined ? [] : { criterion, answer };
    });
  const names = namesIn(rrd);
  const pool = rrd.papers_pool.map((paper) => ({
    isOpen: isWaiting(paper),
    record: {
      id: paper.id,
      name: nameOf(paper),
      title: oneLine(paper.title),
      about: [
        authorsText(authorsOf(paper.authors).map(oneLine)),
        (paper.date ?? "").slice(0, 4),
        oneLine(paper.venue ?? ""),
      ]
        .filter((each) => each !== "")
        .join(" · "),
      abstract: oneLine(paper.abstract ?? ""),
      stands: paper.override === undefined ? statusWords[paper.status] : decidedWords(paper.override),
      answers: answered(paper.answers),
      readings: paper.readings ?? [],
      notes: oneLine(withNames(paper.notes ?? "", names)),
      ...withoutUndefined({ override: paper.override }),
    } satisfies ToScreen,
  }));
  const ids = new Set(pool.map(({ record }) => record.id));
  const excluded = (rrd.excluded ?? [])
    .filter((one) => isReversible(one) && !ids.has(one.id))
    .map((one) => ({
      isOpen: false,
      record: {
        id: one.id,
        name: nameOf(one),
        title: oneLine(one.title ?? one.id),
        about: [one.first_author ?? "", one.year === undefined ? "" : String(one.year)].filter(Boolean).join(" · "),
        abstract: oneLine(typeof one["abstract"] === "string" ? one["abstract"] : ""),
        stands: one.override === undefined ? "left out" : decidedWords(one.override),
        answers: answered(one.answers),
        readings: one.readings ?? [],
        notes: oneLine(withNames(one.reason, names)),
        ...withoutUndefined({ override: one.override }),
      } satisfies ToScreen,
    }));
  return [...pool, ...excluded]
    .filter(({ isOpen, record }) => isWanted(which, isOpen, record))
    .map(({ record }) => record);
}

function isWanted(which: WhichRecords, isOpen: boolean, { answers, readings }: ToScreen): boolean {
  if (which === "all") return true;
  const isConflict = new Set(readings.map(({ decision }) => decision)).size > 1;
  if (which === "conflicts") return isOpen && isConflict;
  if (which === "unclear") return isOpen && answers.some(({ answer }) => answer.answer === "unclear");
  return isOpen;
}

const statusWords = {
  pending: "is to be read",
  analyzing: "is to be read",
  presented: "is included",
  insights_extracted: "is kept for its insights",
  rejected: "is rejected",
  waiting: "waits for you",
  not_retrieved: "could not be retrieved",
} as const;

/** Whether an answer has a passage of the paper to show; a quote that was not found is not one. */
export const hasPassage = ({ passage, reason }: Answer): boolean => passage !== undefined || reason === undefined;

/** Why an answer is in doubt: the reason, what the agent had said, and its words that were not found. */
export const doubtsOf = (answer: Answer): readonly string[] => [
  ...(answer.reason === undefined ? [] : [oneLine(answer.reason)]),
  ...(answer.said === undefined ? [] : [`it had said ${answer.said}`]),
  ...(hasPassage(answer) || answer.quote === undefined ? [] : [`it quoted “${oneLine(answer.quote)}”`]),
];

const decidedWords = ({ decision, why }: Override): string => `you said ${decision}: ${oneLine(why)}`;

const authorsText = (authors: readonly string[]): string =>
  authors.length > 3 ? `${authors[0]} and ${authors.length - 1} others` : authors.join(", ");

/** A piece of a text; the words that a project searches for are marked. */
export interface MarkedPiece {
  readonly text: string;
  readonly isKeyword: boolean;
}

/** A text in pieces, its keywords marked: whole phrases, and their words of four letters and more. */
export function withKeywords(text: string, keywords: readonly string[]): MarkedPiece[] {
  const words = keywords.flatMap((keyword) => [keyword, ...keyword.split(/[\s-]+/).filter((word) => word.length > 3)]);
  const wanted = [...new Set(words.map((word) => word.trim()))].filter((word) => word.length > 1);
  if (wanted.length === 0) return [{ text, isKeyword: false }];
  const escaped = wanted
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return text
    .split(new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join("|")})`, "giu"))
    .map((piece, index) => ({ text: piece, isKeyword: index % 2 === 1 }))
    .filter((piece) => piece.text !== "");
}
