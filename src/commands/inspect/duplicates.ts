import { createColors } from "picocolors";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import type { Io } from "../../engine/ui/io.js";
import { wrap } from "../../engine/ui/terminal/format.js";
import { allRecords } from "../../research/overview/all-records.js";
import { duplicatesAmong, type UncertainPair } from "../../research/overview/duplicates.js";
import { findResearch, type FolderOptions, nameFor } from "../../research/overview/find-research.js";
import { authorsOf } from "../../research/papers/authors.js";
import type { TracedRecord } from "../../research/papers/export/cited-work.js";
import { nameOf as nameOfWork } from "../../research/papers/identifiers.js";
import { readResearch } from "../../research/project-files/research.js";
import { readKeptSearch } from "../../research/workflow/steering/kept-search.js";

interface DuplicatesOptions extends FolderOptions {
  /** List every record that was merged, not only the first. */
  readonly all: boolean;
}

/** So many merged records are listed where not all are asked for. */
const defaultShown = 20;
const widest = 120;

/** Shows pairs of records that may be one work side by side, and which records count as duplicates and why. */
export async function duplicatesCommand({ folder: argument, all, json }: DuplicatesOptions, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, argument);
  const { rrd } = await readResearch(folder);
  const { lines } = await readLedger(folder);
  const { uncertain, settled } = duplicatesAmong(allRecords(rrd, lines, await readKeptSearch(folder, rrd)), rrd);
  if (json) {
    const briefly = ({ id, key, title, source, outcome }: TracedRecord) => ({ id, key, title, source, ...outcome });
    const pairs = uncertain.map(({ records, why }) => ({ records: records.map(briefly), why }));
    io.stdout(`${JSON.stringify({ folder, uncertain: pairs, duplicates: settled.map(briefly) }, null, 2)}\n`);
    return 0;
  }
  const where = shellWord(nameFor(io.cwd, folder));
  const shown = all ? settled : settled.slice(0, defaultShown);
  const left = settled.length - shown.length;
  const room = Math.min(io.columns, widest) - 1;
  const flow = (text: string, indent = "") => wrap(oneLine(text), room - indent.length).map((line) => indent + line);
  const out = [
    uncertain.length === 0 ? "No pair is uncertain." : `${quantity(uncertain.length, "pair")} may be one work:`,
    ...uncertain.flatMap((pair) => ["", ...pairLines(pair, room, io.color), ...flow(`${pair.why}`, "  ")]),
    ...(uncertain.length === 0
      ? []
      : ["", ...flow(`One work: 'research-ralph join ${where} <the one that stays> <the other>'`)]),
    "",
    `${quantity(settled.length, "record")} ${settled.length === 1 ? "counts as a duplicate" : "count as duplicates"}${settled.length === 0 ? "." : ":"}`,
    ...shown.flatMap(({ id, source, title, outcome: { duplicateOf = "", reason } }) => [
      ...flow(`${duplicateOf}: ${source ?? id}, ${title}`, "  "),
      ...(reason === undefined ? [] : flow(reason, "    ")),
    ]),
    ...(left === 0 ? [] : [`  and ${left} more; --all lists them`]),
    ...(settled.length === 0
      ? []
      : ["", ...flow(`Another work: 'research-ralph join ${where} <the duplicate> --part'`)]),
  ];
  io.stdout(`${out.join("\n")}\n`);
  return 0;
}

/** Two records, field by field; where the terminal is narrow, one below the other. */
function pairLines({ records }: UncertainPair, room: number, color: boolean): string[] {
  const colors = createColors(color);
  const [one, other] = records.map(fieldsOf) as [string[], string[]];
  if (room < 80)
    return [one, other].flatMap((fields, side) =>
      fields.flatMap((field, index) =>
        wrap(field, room - 4).map((line, at) => {
          const text = `${index === 0 && at === 0 ? (side === 0 ? "  " : "≟ ") : "    "}${line}`;
          return index === 0 ? colors.bold(text) : text;
        }),
      ),
    );
  const half = Math.floor((room - 5) / 2);
  return one.flatMap((field, index) => {
    const [left, right] = [wrap(field, half), wrap(other[index] ?? "", half)];
    return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => {
      const text = `  ${(left[at] ?? "").padEnd(half)}   ${right[at] ?? ""}`.trimEnd();
      return index === 0 ? colors.bold(text) : text;
    });
  });
}

const fieldsOf = ({
  key,
  title,
  authors,
  date,
  venue,
  volume,
  issue,
  pages,
  identifiers = {},
  source,
  outcome,
}: TracedRecord): string[] => {
  const place = [
    venue,
    [volume, issue === undefined || issue === null ? "" : `(${issue})`].filter(Boolean).join(""),
    pages,
  ];
  const names = authorsOf(authors);
  return [
    key,
    title,
    `${names.slice(0, 3).join("; ")}${names.length > 3 ? " and others" : ""}`,
    [date ?? "no date", ...place].filter(Boolean).join(", "),
    Object.keys(identifiers).length === 0 ? "" : nameOfWork(identifiers),
    `${source ?? ""}${source == null ? "" : ", "}${outcome.decision === "open" ? outcome.stage : `${outcome.decision} at ${outcome.stage}`}`,
  ].map((field) => oneLine(field) || "–");
};
