import { createColors } from "picocolors";
import { oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { notesOfOldQuote } from "../../text/evidence/quoted.js";
import { passageLines } from "../../research/overview/passage-lines.js";
import { answerMeaning } from "../../research/report/narrative/questions.js";
import { meaningMark } from "../../research/derived/meaning-mark.js";
import type { Checkers } from "../../research/derived/checker-rates.js";
import type { Answer } from "../../research/generated/answer.js";

/** A sentence about the papers of an answer, with what people call them in place of ids. */
export const inNames =
  (names: ReadonlyMap<string, string>) =>
  (sentence: string): string =>
    sentence
      .split(" ")
      .map((word) => {
        const [of, number = ""] = word.split(/(?=#\d+$)/);
        return names.has(of ?? "") ? `${names.get(of ?? "")}${number}` : word;
      })
      .join(" ");

/** An answer for programs: each quote has what people call its paper beside the id. */
export const withKeys = <Kept extends Pick<Answer, "quotes">>(answer: Kept, names: ReadonlyMap<string, string>) => ({
  ...answer,
  quotes: answer.quotes.map((quote) => ({ ...quote, key: names.get(quote.paper) ?? quote.paper })),
});

type Surface = Pick<Io, "columns" | "color">;

/** A text in lines of the terminal's width, at most 100 columns, indented. */
const flowOn = ({ columns }: Pick<Io, "columns">) => {
  const width = columnsOf(columns);
  return (text: string, indent: string): string[] =>
    wrap(oneLine(text), width - indent.length).map((line) => indent + line);
};
const columnsOf = (columns: number): number => Math.max(30, Math.min(columns, 100));

/** A clause as a sentence. */
const closed = (clause: string): string => `${clause.replace(/\.$/, "")}.`;

/** The sentences of an answer, each with the numbers of its quotes and what a reader should know of it. */
function statementLines(answer: Answer, checkers: Checkers, names: ReadonlyMap<string, string>, io: Surface): string[] {
  const named = inNames(names);
  const { yellow, bold } = createColors(io.color);
  const flow = flowOn(io);
  const numberOf = new Map(answer.quotes.map(({ handle }, index) => [handle, index + 1]));
  const head = answer.check?.answer_falls === true ? flow("Not borne out by what it cites:", "").map(bold) : [];
  const said = answer.statements.flatMap(({ text, rests_on, marks = [], check }) => {
    const meaning = check && meaningMark(check, checkers);
    const isBorneOut = meaning?.kind === "borne-out";
    const doubts = [...marks, ...(meaning === undefined || isBorneOut ? [] : [closed(meaning.says)])];
    const numbers = rests_on.flatMap((handle) => numberOf.get(handle) ?? []).join(", ");
    return [
      ...flow(`${text} [${numbers}]${isBorneOut ? " ✓✓" : ""}`, ""),
      ...doubts.flatMap((doubt) => flow(`! ${named(doubt)}`, "  ").map(yellow)),
    ];
  });
  return [...head, ...said];
}

/** How far the sentences were held against what they cite, and those that were taken out; none of an unchecked one. */
function checkLines(answer: Answer, checkers: Checkers, io: Surface): string[] {
  const meaning = answerMeaning(answer, checkers);
  if (meaning === undefined) return [];
  const flow = flowOn(io);
  const { bold, yellow } = createColors(io.color);
  const removed = meaning.removed.flatMap(({ text, says }) => [
    ...flow(text, "  "),
    ...flow(`! ${closed(says)}`, "    ").map(yellow),
  ]);
  return [
    ...flow(`Checked: ${meaning.says}`, ""),
    ...(removed.length === 0 ? [] : ["", bold("Not borne out, and taken out:"), ...removed]),
  ];
}

/** What a person reads once the sentences of an answer that they have read are checked. */
export function checkedLines(
  answer: Answer,
  checkers: Checkers,
  names: ReadonlyMap<string, string>,
  io: Surface,
): string[] {
  const isBorneOut = answer.statements.every(({ check }) => check?.verdict === "supported" && check.was === undefined);
  const anew = isBorneOut && answer.not_borne_out === undefined ? [] : statementLines(answer, checkers, names, io);
  return [...anew, ...(anew.length === 0 ? [] : [""]), ...checkLines(answer, checkers, io)];
}

/**
 * An answer for people: each statement with the numbers of its quotes, then the quotes with where they stand. `names`:
 * what people call its papers. `checkers`: how those who checked it answered to controls.
 */
export function answerLines(
  answer: Answer,
  names: ReadonlyMap<string, string>,
  io: Surface,
  checkers: Checkers = {},
): string[] {
  const nameOf = (paper: string) => names.get(paper) ?? paper;
  const colors = createColors(io.color);
  const columns = columnsOf(io.columns);
  const flow = flowOn(io);
  const { statements, quotes, nearest = [], left_out = [], not_found, without_text = [] } = answer;
  const said = statementLines(answer, checkers, names, io);
  const checked = checkLines(answer, checkers, io);
  const grounds = quotes.flatMap((quote, index) => [
    "",
    ...flow(`[${index + 1}] ${nameOf(quote.paper)}${quote.locator ? `, ${quote.locator}` : ""}`, "").map(colors.bold),
    ...passageLines(quote, { columns, color: io.color, indent: "    " }),
    ...notesOfOldQuote(quote).flatMap((note) => flow(note, "    ").map(colors.yellow)),
  ]);
  const none =
    statements.length > 0
      ? []
      : [
          colors.bold("Not in these papers."),
          ...(nearest.length > 0
            ? []
            : [
                "",
                ...flow(
                  "No passage shares a word with the question, so the agent saw only the records and the beginnings of the papers. Ask in the papers' language and words.",
                  "",
                ),
              ]),
          ...nearest.flatMap(({ paper, locator, text }) => [
            "",
            ...flow(`Near: ${nameOf(paper)}${locator ? `, ${locator}` : ""}`, ""),
            ...flow(text.length > 300 ? `${text.slice(0, 299)}…` : text, "    "),
          ]),
        ];
  const leftOut = left_out.flatMap(({ text, why }) => [
    ...flow(text, "  "),
    ...flow(`! ${why}`, "    ").map(colors.yellow),
  ]);
  const notes = [
    ...(not_found ? [`Not found: ${not_found}`] : []),
    ...(without_text.length === 0
      ? []
      : [
          `No text is stored of ${quantity(without_text.length, "paper")} (${without_text.slice(0, 3).map(nameOf).join(", ")}${without_text.length > 3 ? ", …" : ""}); of these only the records were looked at. --fetch fetches them.`,
        ]),
  ];
  return [
    ...said,
    ...none,
    ...grounds,
    ...(leftOut.length === 0 ? [] : ["", colors.bold("Left out of the answer:"), ...leftOut]),
    ...(notes.length === 0 ? [] : ["", ...notes.flatMap((note) => flow(note, ""))]),
    ...(checked.length === 0 ? [] : ["", ...checked]),
  ];
}
