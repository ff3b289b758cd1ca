import pc from "picocolors";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { labelledLines, wrap } from "../../engine/ui/terminal/format.js";
import { many } from "../../engine/lib/words.js";
import type { Rrd } from "../../research/generated/rrd.js";
import {
  uncertaintyReasons,
  hasPassage,
  type ToScreen,
  withKeywords,
} from "../../research/overview/screen/to-screen.js";
import { clippedPassage } from "../../text/evidence/quoted.js";

/** Most columns that text takes: longer lines are hard to read. */
const maxColumns = 96;
/** Tokens of a passage. */
const maxPassage = 80;

/** So many lines of an abstract are shown, however much else there is. */
const minAbstract = 3;

/**
 * A record with all that a person decides by. At most `maxLines` lines: the abstract is cut first, then the end, so
 * that the title stays on the screen.
 */
export function recordLines(
  record: ToScreen,
  { requirements }: Pick<Rrd, "requirements">,
  { place, note, message }: { readonly place: string; readonly note: string; readonly message: string },
  io: Pick<Io, "columns" | "color">,
  maxLines: number,
): string[] {
  const colors = pc.createColors(io.color);
  const columns = Math.min(maxColumns, io.columns - 1);
  const flow = (text: string) => wrap(text, columns);
  const keywords = requirements.keywords ?? [];
  const marked = (text: string, markWord: (word: string) => string) =>
    withKeywords(text, keywords)
      .map((piece) => (piece.isKeyword ? markWord(piece.text) : piece.text))
      .join("");
  const more = (count: number) => colors.dim(`… ${many(count, "more line")}: a shows all`);
  const cut = (lines: readonly string[], room: number): readonly string[] =>
    lines.length <= room ? lines : [...lines.slice(0, room - 1), more(lines.length - room + 1)];
  const head = [
    ...(message === "" ? [] : [...flow(`· ${message}`), ""]),
    ...flow(place).map(colors.dim),
    "",
    ...flow(record.title).map(colors.bold),
    ...(record.about === "" ? [] : flow(record.about)),
    "",
  ];
  // Asterisks take columns, colours do not.
  const flowMarked = (text: string) =>
    io.color ? flow(text).map((line) => marked(line, colors.underline)) : flow(marked(text, (word) => `*${word}*`));
  const abstract = record.abstract === "" ? withoutAbstract(record, columns) : flowMarked(record.abstract);
  const rest = [
    ...(record.answers.length === 0 ? [] : [""]),
    ...record.answers.flatMap(({ criterion, answer }) => {
      const words = hasPassage(answer) ? clippedPassage(answer, maxPassage).replace(/\s+/g, " ") : "";
      const doubts = uncertaintyReasons(answer);
      const why = doubts.length === 0 ? "" : ` (${doubts.join("; ")})`;
      const sign = { yes: "✓", no: "✗", unclear: "?" }[answer.answer];
      return [
        ...labelledLines(
          `${sign} `,
          `${criterion.id} ${criterion.kind}: ${oneLine(criterion.text)}: ${answer.answer}${why}`,
          columns,
        ),
        ...(words === "" ? [] : labelledLines("    ", words, columns).map(colors.dim)),
      ];
    }),
    ...(record.readings.length === 0 ? [] : [""]),
    ...record.readings.flatMap(({ by, decision, reason }) =>
      labelledLines("  ", `${by} would ${decision} it${reason === undefined ? "" : `: ${oneLine(reason)}`}`, columns),
    ),
    ...(record.notes === "" ? [] : ["", ...labelledLines("Noted: ", record.notes, columns)]),
    ...(note === "" ? [] : ["", ...labelledLines("Your note: ", note, columns)]),
  ];
  const room = maxLines - head.length;
  return [...head, ...cut([...cut(abstract, Math.max(minAbstract, room - rest.length)), ...rest], room)];
}

/** What was read of a record, in place of its abstract. */
const withoutAbstract = ({ read }: ToScreen, columns: number): string[] => [
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

/** What the keys do at the end. */
export const endLine = ({ color }: Pick<Io, "color">): string => {
  const { bold } = pc.createColors(color);
  return `${bold("b")} back  ${bold("u")} undo  ${bold("any other key")} ends`;
};

/** What the keys do, in as many lines as it takes. */
export const keyLines = ({ columns, color }: Pick<Io, "columns" | "color">): string[] => {
  const { bold } = pc.createColors(color);
  return wrap(keys.map(([key, does]) => `${key}\u00a0${does}`).join("  "), Math.min(maxColumns, columns - 1)).map(
    (line) => line.replace(/(?<=^|\s)(\w)\u00a0/g, (_, key: string) => `${bold(key)} `),
  );
};
