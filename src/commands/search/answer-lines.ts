import { createColors } from "picocolors";
import { quantity } from "../../engine/lib/words.js";
import { lineBreaker } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { notesOfOldQuote } from "../../text/evidence/quoted.js";
import { passageLines } from "../../research/overview/passage-lines.js";
import { answerMeaning } from "../../research/report/narrative/questions.js";
import { meaningMark } from "../../research/derived/meaning-mark.js";
import { noAnswerText } from "../../research/overview/questions/no-answer.js";
import type { Checkers } from "../../research/derived/checker-rates.js";
import type { Answer } from "../../research/generated/answer.js";

/** Replaces ids of papers in a sentence by their citation keys. `names`: the keys, by id. */
export const replaceIds =
  (names: ReadonlyMap<string, string>) =>
  (sentence: string): string =>
    sentence
      .split(" ")
      .map((word) => {
        // "id#2" is the second quote of a paper.
        const [id = "", quoteNumber = ""] = word.split(/(?=#\d+$)/);
        return names.has(id) ? `${names.get(id)}${quoteNumber}` : word;
      })
      .join(" ");

/** An answer for programs: each quote also has the citation key of its paper. `names`: the keys, by id. */
export const withCitationKeys = <A extends Pick<Answer, "quotes">>(answer: A, names: ReadonlyMap<string, string>) => ({
  ...answer,
  quotes: answer.quotes.map((quote) => ({ ...quote, key: names.get(quote.paper) ?? quote.paper })),
});

type Terminal = Pick<Io, "columns" | "color">;

/** The width of text: that of the terminal, but from 30 to 100 columns. */
const textColumns = (columns: number): number => Math.max(30, Math.min(columns, 100));

/** A clause with exactly one period at its end. */
const withPeriod = (clause: string): string => `${clause.replace(/\.$/, "")}.`;

/** The sentences of an answer, each with the numbers of its quotes, and its doubts below it. */
function statementLines(
  answer: Answer,
  checkers: Checkers,
  names: ReadonlyMap<string, string>,
  io: Terminal,
): string[] {
  const withNames = replaceIds(names);
  const { yellow, bold } = createColors(io.color);
  const toLines = lineBreaker(textColumns(io.columns));
  const quoteNumbers = new Map(answer.quotes.map(({ handle }, index) => [handle, index + 1]));
  const rejectionLines =
    answer.check?.answer_falls === true ? toLines("Not supported by what it cites:", "").map(bold) : [];
  const sentenceLines = answer.statements.flatMap(({ text, rests_on, marks = [], check }) => {
    const meaning = check && meaningMark(check, checkers);
    const isSupported = meaning?.kind === "supported";
    const doubts = [...marks, ...(meaning === undefined || isSupported ? [] : [withPeriod(meaning.says)])];
    const numbers = rests_on.flatMap((handle) => quoteNumbers.get(handle) ?? []).join(", ");
    return [
      ...toLines(`${text} [${numbers}]${isSupported ? " ✓✓" : ""}`, ""),
      ...doubts.flatMap((doubt) => toLines(`! ${withNames(doubt)}`, "  ").map(yellow)),
    ];
  });
  return [...rejectionLines, ...sentenceLines];
}

/** The result of the check, and the sentences that it removed. Empty if the answer was not checked. */
function checkLines(answer: Answer, checkers: Checkers, io: Terminal): string[] {
  const meaning = answerMeaning(answer, checkers);
  if (meaning === undefined) return [];
  const toLines = lineBreaker(textColumns(io.columns));
  const { bold, yellow } = createColors(io.color);
  const removedLines = meaning.removed.flatMap(({ text, says }) => [
    ...toLines(text, "  "),
    ...toLines(`! ${withPeriod(says)}`, "    ").map(yellow),
  ]);
  return [
    ...toLines(`Checked: ${meaning.says}`, ""),
    ...(removedLines.length === 0 ? [] : ["", bold("Not supported, and taken out:"), ...removedLines]),
  ];
}

/** The lines after the check of an answer that the user has already read. They repeat its sentences if one changed. */
export function linesAfterCheck(
  answer: Answer,
  checkers: Checkers,
  names: ReadonlyMap<string, string>,
  io: Terminal,
): string[] {
  const areAllSupported = answer.statements.every(
    ({ check }) => check?.verdict === "supported" && check.was === undefined,
  );
  const changedStatements =
    areAllSupported && answer.not_borne_out === undefined ? [] : statementLines(answer, checkers, names, io);
  return [...changedStatements, ...(changedStatements.length === 0 ? [] : [""]), ...checkLines(answer, checkers, io)];
}

/**
 * An answer for people: each sentence with the numbers of its quotes, then the quotes with their locations. `names`:
 * the citation keys of its papers, by id. `checkers`: the checkers' answers to control sentences.
 */
export function answerLines(
  answer: Answer,
  names: ReadonlyMap<string, string>,
  io: Terminal,
  checkers: Checkers = {},
): string[] {
  const nameOf = (paper: string) => names.get(paper) ?? paper;
  const colors = createColors(io.color);
  const columns = textColumns(io.columns);
  const toLines = lineBreaker(textColumns(io.columns));
  const { statements, quotes, nearest = [], left_out = [], not_found, without_text = [] } = answer;
  const sentenceLines = statementLines(answer, checkers, names, io);
  const linesOfCheck = checkLines(answer, checkers, io);
  const quoteLines = quotes.flatMap((quote, index) => [
    "",
    ...toLines(`[${index + 1}] ${nameOf(quote.paper)}${quote.locator ? `, ${quote.locator}` : ""}`, "").map(
      colors.bold,
    ),
    ...passageLines(quote, { columns, color: io.color, indent: "    " }),
    ...notesOfOldQuote(quote).flatMap((note) => toLines(note, "    ").map(colors.yellow)),
  ]);
  const linesWithoutAnswer =
    statements.length > 0
      ? []
      : [
          ...toLines(noAnswerText(answer), "").map(colors.bold),
          ...(nearest.length > 0
            ? []
            : [
                "",
                ...toLines(
                  "No passage shares a word with the question, so the agent saw only the records and the beginnings of the papers. Ask in the papers' language and words.",
                  "",
                ),
              ]),
          ...nearest.flatMap(({ paper, locator, text }) => [
            "",
            ...toLines(`Nearest passage: ${nameOf(paper)}${locator ? `, ${locator}` : ""}`, ""),
            ...toLines(text.length > 300 ? `${text.slice(0, 299)}…` : text, "    "),
          ]),
        ];
  const leftOutLines = left_out.flatMap(({ text, why }) => [
    ...toLines(text, "  "),
    ...toLines(`! ${why}`, "    ").map(colors.yellow),
  ]);
  const notes = [
    ...(not_found ? [`Not found: ${not_found}`] : []),
    ...(without_text.length === 0
      ? []
      : [
          `No text is stored of ${quantity(without_text.length, "paper")} (${without_text.slice(0, 3).map(nameOf).join(", ")}${without_text.length > 3 ? ", …" : ""}); only the records of these were searched. --fetch fetches the texts.`,
        ]),
  ];
  return [
    ...sentenceLines,
    ...linesWithoutAnswer,
    ...quoteLines,
    ...(leftOutLines.length === 0 ? [] : ["", colors.bold("Left out of the answer:"), ...leftOutLines]),
    ...(notes.length === 0 ? [] : ["", ...notes.flatMap((note) => toLines(note, ""))]),
    ...(linesOfCheck.length === 0 ? [] : ["", ...linesOfCheck]),
  ];
}
