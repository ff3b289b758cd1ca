import { basename } from "node:path";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import type { Answer, Criterion, Override, Paper, Reading, Rrd } from "../../generated/rrd.js";
import { authorsOf, authorsText } from "../../papers/authors.js";
import { namesIn, nameOf, withNames } from "../../papers/paper-keys.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { joinTexts } from "../../project-files/markdown.js";
import { isReversible } from "../../derived/overrides.js";
import { passageText } from "../../../text/evidence/quoted.js";
import { isWaiting } from "../../screening/eligibility/eligibility.js";

/** Which records the user goes through. `waiting`: all that wait for the user. */
export type WhichRecords = "waiting" | "conflicts" | "unclear" | "all";

/** The message for an empty list. */
export const emptyListTexts: Readonly<Record<WhichRecords, string>> = {
  waiting: "No record waits for your decision.",
  conflicts: "There is no conflict of two readers to decide.",
  unclear: "No record waits because a criterion is unclear.",
  all: "No record was screened yet; 'research-ralph run' does that first.",
};

/** The data of a record for the user's decision. */
export interface ToScreen {
  readonly id: string;
  /** Its key, or its id if it has no key. */
  readonly name: string;
  readonly title: string;
  /** Authors, year and venue, as far as known. */
  readonly about: string;
  /** Empty if unknown. */
  readonly abstract: string;
  /** What an agent read in the text: its summary, then the first quotes that were found. */
  readonly read: readonly string[];
  /** The present status of the record, such as "waits for you". */
  readonly statusText: string;
  /** The answers to the criteria, from the most complete reading of the record. */
  readonly answers: readonly { readonly criterion: Criterion; readonly answer: Answer }[];
  /** The independent decisions of two readers. */
  readonly readings: readonly Reading[];
  /** The reason why it was kept or excluded, and the agent's notes. */
  readonly notes: string;
  readonly override?: Override;
}

/** The records that the user can decide on, those of the pool first. Pure. */
export function recordsToScreen(rrd: Rrd, which: WhichRecords): ToScreen[] {
  const criteria = criteriaOf(rrd);
  const answersTo = (answers: readonly Answer[] | undefined) =>
    criteria.flatMap((criterion) => {
      const itsAnswers = (answers ?? []).filter((answerOfRecord) => answerOfRecord.criterion === criterion.id);
      const answer = itsAnswers.find(({ stage }) => stage === "full_text") ?? itsAnswers.at(-1);
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
        authorsText(authorsOf(paper.authors).map(oneLine), 3),
        (paper.date ?? "").slice(0, 4),
        oneLine(paper.venue ?? ""),
        oneLine(basename(paper.document?.path ?? "")),
      ]
        .filter((part) => part !== "")
        .join(" · "),
      abstract: oneLine(paper.abstract ?? ""),
      read: readTexts(paper),
      statusText: paper.override === undefined ? statusWords[paper.status] : decisionText(paper.override),
      answers: answersTo(paper.answers),
      readings: paper.readings ?? [],
      notes: oneLine(withNames(paper.notes ?? "", names)),
      ...withoutUndefined({ override: paper.override }),
    } satisfies ToScreen,
  }));
  const ids = new Set(pool.map(({ record }) => record.id));
  const excluded = (rrd.excluded ?? [])
    .filter((exclusion) => isReversible(exclusion) && !ids.has(exclusion.id))
    .map((exclusion) => ({ exclusion, facts: { ...exclusion, ...exclusion.record } as Partial<Paper> }))
    .map(({ exclusion, facts }) => ({
      isOpen: false,
      record: {
        id: exclusion.id,
        name: nameOf(exclusion),
        title: oneLine(exclusion.title ?? exclusion.id),
        about: [
          authorsText(authorsOf(facts.authors ?? exclusion.first_author).map(oneLine), 3),
          exclusion.year === undefined ? "" : String(exclusion.year),
        ]
          .filter(Boolean)
          .join(" · "),
        abstract: oneLine(typeof facts.abstract === "string" ? facts.abstract : ""),
        read: [],
        statusText: exclusion.override === undefined ? "left out" : decisionText(exclusion.override),
        answers: answersTo(exclusion.answers),
        readings: exclusion.readings ?? [],
        notes: oneLine(withNames(exclusion.reason, names)),
        ...withoutUndefined({ override: exclusion.override }),
      } satisfies ToScreen,
    }));
  return [...pool, ...excluded]
    .filter(({ isOpen, record }) => isWanted(which, isOpen, record))
    .map(({ record }) => record);
}

/** Maximum number of quotes of a reading that are shown. */
const maxQuotes = 3;

function readTexts({ analysis }: Paper): readonly string[] {
  const foundQuotes = (analysis?.evidence ?? []).filter(({ status }) => status === "verified").slice(0, maxQuotes);
  return [
    oneLine(joinTexts(analysis?.summary)),
    ...foundQuotes.map((evidence) => oneLine(passageText(evidence))),
  ].filter((text) => text !== "");
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

/** Whether an answer has a passage to show. A quote that was not found is not a passage. */
export const hasPassage = ({ passage, reason }: Answer): boolean => passage !== undefined || reason === undefined;

/** Why an answer is uncertain: the reason, the original answer of the agent, and its quote that was not found. */
export const uncertaintyReasons = (answer: Answer): readonly string[] => [
  ...(answer.answer === "unclear" && answer.reason === undefined ? ["the agent was not sure, and gave no quote"] : []),
  ...(answer.reason === undefined ? [] : [oneLine(answer.reason)]),
  ...(answer.said === undefined ? [] : [`it had said ${answer.said}`]),
  ...(hasPassage(answer) || answer.quote === undefined ? [] : [`it quoted “${oneLine(answer.quote)}”`]),
];

const decisionText = ({ decision, why }: Override): string => `you said ${decision}: ${oneLine(why)}`;

/** A piece of a text. Keywords of the project are marked. */
export interface MarkedPiece {
  readonly text: string;
  readonly isKeyword: boolean;
}

/** A text in pieces with marked keywords: complete phrases, and their words of four or more letters. */
export function withKeywords(text: string, keywords: readonly string[]): MarkedPiece[] {
  const words = keywords.flatMap((keyword) => [keyword, ...keyword.split(/[\s-]+/).filter((word) => word.length > 3)]);
  const phrases = [...new Set(words.map((word) => word.trim()))].filter((word) => word.length > 1);
  if (phrases.length === 0) return [{ text, isKeyword: false }];
  const patterns = phrases
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return text
    .split(new RegExp(`(?<![\\p{L}\\p{N}])(${patterns.join("|")})`, "giu"))
    .map((piece, index) => ({ text: piece, isKeyword: index % 2 === 1 }))
    .filter((piece) => piece.text !== "");
}
