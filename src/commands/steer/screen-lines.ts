import pc from "picocolors";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { labelledLines, wrap } from "../../engine/ui/terminal/format.js";
import { quantity } from "../../engine/lib/words.js";
import type { Rrd } from "../../research/generated/rrd.js";
import {
  uncertaintyReasons,
  hasPassage,
  type ToScreen,
  withKeywords,
} from "../../research/overview/screen/to-screen.js";
import { clippedPassage } from "../../text/evidence/quoted.js";

/** Maximum width of text in columns: longer lines are hard to read. */
const maxColumns = 96;
/** Maximum tokens of a passage. */
const maxPassageTokens = 80;

/** An abstract is not shortened below this number of lines. */
const minAbstractLines = 3;

/**
 * The lines that show a record, at most `maxLines`. If there are too many, the abstract is shortened first, then the
 * end; the title is always shown.
 */
export function recordLines(
  record: ToScreen,
  { requirements }: Pick<Rrd, "requirements">,
  {
    place,
    note,
    message,
    show,
  }: {
    readonly place: string;
    readonly note: string;
    readonly message: string;
    /** The command that shows all that was read. */
    readonly show: string;
  },
  io: Pick<Io, "columns" | "color">,
  maxLines: number,
): string[] {
  const colors = pc.createColors(io.color);
  const columns = Math.min(maxColumns, io.columns - 1);
  const wrapLines = (text: string) => wrap(text, columns);
  const keywords = requirements.keywords ?? [];
  const markKeywords = (text: string, markWord: (word: string) => string) =>
    withKeywords(text, keywords)
      .map((piece) => (piece.isKeyword ? markWord(piece.text) : piece.text))
      .join("");
  const hiddenLinesText = (count: number) => colors.dim(`… ${quantity(count, "more line")}: a shows all`);
  const shorten = (lines: readonly string[], maxCount: number): readonly string[] =>
    lines.length <= maxCount ? lines : [...lines.slice(0, maxCount - 1), hiddenLinesText(lines.length - maxCount + 1)];
  const headLines = [
    ...(message === "" ? [] : [...wrapLines(`· ${message}`), ""]),
    ...wrapLines(place).map(colors.dim),
    "",
    ...wrapLines(record.title).map(colors.bold),
    ...(record.about === "" ? [] : wrapLines(record.about)),
    "",
  ];
  // Without colours, asterisks mark the keywords. They need columns, so they are inserted before the text is wrapped.
  const wrapWithKeywords = (text: string) =>
    io.color
      ? wrapLines(text).map((line) => markKeywords(line, colors.underline))
      : wrapLines(markKeywords(text, (word) => `*${word}*`));
  const abstract = record.abstract === "" ? linesWithoutAbstract(record, columns) : wrapWithKeywords(record.abstract);
  const isRead = record.abstract !== "" && record.read.length > 0;
  const linesAfterAbstract = [
    ...(isRead ? ["", ...wrapLines(`From the text that was read (all of it: ${show}):`)] : []),
    ...(isRead ? record.read.flatMap((text) => labelledLines("  ", text, columns)) : []),
    ...(record.answers.length === 0 ? [] : [""]),
    ...record.answers.flatMap(({ criterion, answer }) => {
      const passage = hasPassage(answer) ? clippedPassage(answer, maxPassageTokens).replace(/\s+/g, " ") : "";
      const doubts = uncertaintyReasons(answer);
      const doubtText = doubts.length === 0 ? "" : ` (${doubts.join("; ")})`;
      const answerSign = { yes: "✓", no: "✗", unclear: "?" }[answer.answer];
      return [
        ...labelledLines(
          `${answerSign} `,
          `${criterion.id} ${criterion.kind}: ${oneLine(criterion.text)}: ${answer.answer}${doubtText}`,
          columns,
        ),
        ...(passage === "" ? [] : labelledLines("    ", passage, columns).map(colors.dim)),
      ];
    }),
    ...(record.readings.length === 0 ? [] : [""]),
    ...record.readings.flatMap(({ by, decision, reason }) =>
      labelledLines("  ", `${by} would ${decision} it${reason === undefined ? "" : `: ${oneLine(reason)}`}`, columns),
    ),
    ...(record.notes === "" ? [] : ["", ...labelledLines("Noted: ", record.notes, columns)]),
    ...(note === "" ? [] : ["", ...labelledLines("Your note: ", note, columns)]),
  ];
  const freeLines = maxLines - headLines.length;
  return [
    ...headLines,
    ...shorten(
      [...shorten(abstract, Math.max(minAbstractLines, freeLines - linesAfterAbstract.length)), ...linesAfterAbstract],
      freeLines,
    ),
  ];
}

/** The lines in place of an unknown abstract: the parts of the text that were read. */
const linesWithoutAbstract = ({ read }: ToScreen, columns: number): string[] => [
  read.length === 0 ? "(The abstract is not known.)" : "(No abstract; from the text that was read:)",
  ...read.flatMap((text) => labelledLines("  ", text, columns)),
];

const keys = [
  ["i", "include"],
  ["x", "exclude"],
  ["m", "maybe"],
  ["s", "skip"],
  ["b", "back"],
  ["n", "note"],
  ["a", "all"],
  ["u", "undo"],
  ["q", "quit"],
] as const;

/** The keys that work after the last record. */
export const endKeysLine = ({ color }: Pick<Io, "color">): string => {
  const { bold } = pc.createColors(color);
  return `${bold("b")} back  ${bold("u")} undo  ${bold("any other key")} ends`;
};

/** The keys with their actions, wrapped to the width. */
export const keyLines = ({ columns, color }: Pick<Io, "columns" | "color">): string[] => {
  const { bold } = pc.createColors(color);
  return wrap(keys.map(([key, action]) => `${key}\u00a0${action}`).join("  "), Math.min(maxColumns, columns - 1)).map(
    (line) => line.replace(/(?<=^|\s)(\w)\u00a0/g, (_, key: string) => `${bold(key)} `),
  );
};
