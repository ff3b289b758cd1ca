import { createColors } from "picocolors";
import { oneLine } from "../../engine/lib/sanitise.js";
import { many } from "../../engine/lib/words.js";
import { wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { notesOfOld } from "../../text/evidence/quoted.js";
import { passageLines } from "../../research/overview/passage-lines.js";
import type { Answer } from "../../research/generated/answer.js";

/** A sentence about the papers of an answer, with what people call them in place of ids. */
export const inNames =
  ({ quotes }: Pick<Answer, "quotes">, names: ReadonlyMap<string, string>) =>
  (sentence: string): string =>
    sentence
      .split(" ")
      .map((word) => {
        const [of, number = ""] = word.split(/(?=#\d+$)/);
        return quotes.some(({ paper }) => paper === of) ? `${names.get(of ?? "") ?? of}${number}` : word;
      })
      .join(" ");

/**
 * An answer for people: each statement with the numbers of its quotes, then the quotes with where they stand. `names`:
 * what people call its papers.
 */
export function answerLines(
  answer: Answer,
  names: ReadonlyMap<string, string>,
  io: Pick<Io, "columns" | "color">,
): string[] {
  const nameOf = (paper: string) => names.get(paper) ?? paper;
  const named = inNames(answer, names);
  const colors = createColors(io.color);
  const columns = Math.max(30, Math.min(io.columns, 100));
  const flow = (text: string, indent: string) =>
    wrap(oneLine(text), columns - indent.length).map((line) => indent + line);
  const { statements, quotes, nearest = [], dropped = 0, not_found, without_text = [] } = answer;
  const numberOf = new Map(quotes.map(({ handle }, index) => [handle, index + 1]));
  const said = statements.flatMap(({ text, rests_on, marks = [] }) => [
    ...flow(`${text} [${rests_on.flatMap((handle) => numberOf.get(handle) ?? []).join(", ")}]`, ""),
    ...marks.flatMap((mark) => flow(`! ${named(mark)}`, "  ").map(colors.yellow)),
  ]);
  const grounds = quotes.flatMap((quote, index) => [
    "",
    ...flow(`[${index + 1}] ${nameOf(quote.paper)}${quote.locator ? `, ${quote.locator}` : ""}`, "").map(colors.bold),
    ...passageLines(quote, { columns, color: io.color, indent: "    " }),
    ...notesOfOld(quote).flatMap((note) => flow(note, "    ").map(colors.yellow)),
  ]);
  const none =
    statements.length > 0
      ? []
      : [
          colors.bold("Not in these papers."),
          ...nearest.flatMap(({ paper, locator, text }) => [
            "",
            ...flow(`Near: ${nameOf(paper)}${locator ? `, ${locator}` : ""}`, ""),
            ...flow(text.length > 300 ? `${text.slice(0, 299)}…` : text, "    "),
          ]),
        ];
  const notes = [
    ...(not_found ? [`Not found: ${not_found}`] : []),
    ...(dropped === 0 ? [] : [`${many(dropped, "statement")} dropped: none of their quotes was found.`]),
    ...(without_text.length === 0
      ? []
      : [
          `No text is stored of ${many(without_text.length, "paper")} (${without_text.slice(0, 3).map(nameOf).join(", ")}${without_text.length > 3 ? ", …" : ""}); of these only the records were looked at. --fetch fetches them.`,
        ]),
  ];
  return [
    ...said,
    ...none,
    ...grounds,
    ...(notes.length === 0 ? [] : ["", ...notes.flatMap((note) => flow(note, ""))]),
  ];
}
