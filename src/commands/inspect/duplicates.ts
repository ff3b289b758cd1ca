import { createColors } from "picocolors";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import type { Io } from "../../engine/ui/io.js";
import { lineBreaker, wrap } from "../../engine/ui/terminal/format.js";
import { allRecords } from "../../research/overview/all-records.js";
import { duplicatesAmong, type UncertainPair } from "../../research/overview/duplicates.js";
import { findResearch, type FolderOptions, nameFor } from "../../research/overview/find-research.js";
import { authorsOf, authorsText } from "../../research/papers/authors.js";
import type { TracedRecord } from "../../research/papers/export/cited-work.js";
import { nameOf as nameOfWork } from "../../research/papers/identifiers.js";
import { withKeys } from "../../research/papers/paper-keys.js";
import { readResearch } from "../../research/project-files/research.js";
import { readKeptSearch } from "../../research/workflow/steering/kept-search.js";

interface DuplicatesOptions extends FolderOptions {
  /** List every record that was merged, not only the first. */
  readonly all: boolean;
}

/** Maximum number of merged records that are listed without --all. */
const maxShownByDefault = 20;
const maxColumns = 120;

/**
 * Shows pairs of records that may be the same work, side by side; then the records that count as duplicates, with the
 * reasons.
 */
export async function duplicatesCommand({ folder: argument, all, json }: DuplicatesOptions, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, argument);
  const { rrd } = await readResearch(folder);
  const { lines } = await readLedger(folder);
  const search = await readKeptSearch(folder, rrd);
  const { uncertainPairs, confirmed } = duplicatesAmong(allRecords(withKeys(rrd), lines, search), rrd);
  if (json) {
    const summaryOf = ({ id, key, title, source, outcome }: TracedRecord) => ({ id, key, title, source, ...outcome });
    const pairs = uncertainPairs.map(({ records, why }) => ({ records: records.map(summaryOf), why }));
    io.stdout(`${JSON.stringify({ folder, uncertain: pairs, duplicates: confirmed.map(summaryOf) }, null, 2)}\n`);
    return 0;
  }
  const projectName = shellWord(nameFor(io.cwd, folder));
  if (search === undefined && rrd.papers_pool.length + (rrd.excluded ?? []).length === 0) {
    const sentence = `No records were read yet. The first run reads the lists and asks the sources: 'research-ralph run ${projectName}'`;
    io.stdout(`${wrap(sentence, Math.min(io.columns, maxColumns) - 1).join("\n")}\n`);
    return 0;
  }
  const shownDuplicates = all ? confirmed : confirmed.slice(0, maxShownByDefault);
  const hiddenCount = confirmed.length - shownDuplicates.length;
  const columns = Math.min(io.columns, maxColumns) - 1;
  const wrapLines = lineBreaker(columns);
  const output = [
    uncertainPairs.length === 0
      ? "No pair is uncertain."
      : `${quantity(uncertainPairs.length, "pair")} may be one work:`,
    ...uncertainPairs.flatMap((pair) => ["", ...pairLines(pair, columns, io.color), ...wrapLines(`${pair.why}`, "  ")]),
    ...(uncertainPairs.length === 0
      ? []
      : [
          "",
          ...wrapLines(
            `If two are one work: 'research-ralph join ${projectName} <the record to keep> <the other record>'`,
          ),
        ]),
    "",
    `${quantity(confirmed.length, "record")} ${confirmed.length === 1 ? "counts as a duplicate" : "count as duplicates"}${confirmed.length === 0 ? "." : ":"}`,
    ...shownDuplicates.flatMap(({ key, id, source, title, outcome: { duplicateOf = "", reason = "" } }) => {
      const mainText = `the same work as ${duplicateOf}`;
      const hasMain = reason.startsWith(mainText) || reason === "";
      return [
        ...wrapLines(`${key}: ${source ?? id}, ${title}`, "  "),
        ...wrapLines(hasMain ? reason || mainText : `${mainText}: ${reason}`, "    "),
      ];
    }),
    ...(hiddenCount === 0 ? [] : [`  and ${hiddenCount} more; --all lists them`]),
    ...(confirmed.length === 0
      ? []
      : [
          "",
          ...wrapLines(
            `If a duplicate is a different work: 'research-ralph join ${projectName} <the duplicate> --part'`,
          ),
        ]),
  ];
  io.stdout(`${output.join("\n")}\n`);
  return 0;
}

/** Two records side by side, field by field. If the terminal is narrow, the second record is below the first. */
function pairLines({ records }: UncertainPair, columns: number, color: boolean): string[] {
  const colors = createColors(color);
  const [first, second] = records.map(fieldsOf) as [string[], string[]];
  if (columns < 80)
    return [first, second].flatMap((fields, side) =>
      fields.flatMap((field, index) =>
        wrap(field, columns - 4).map((line, lineIndex) => {
          const text = `${index === 0 && lineIndex === 0 ? (side === 0 ? "  " : "≟ ") : "    "}${line}`;
          return index === 0 ? colors.bold(text) : text;
        }),
      ),
    );
  const half = Math.floor((columns - 5) / 2);
  return first.flatMap((field, index) => {
    const [left, right] = [wrap(field, half), wrap(second[index] ?? "", half)];
    return Array.from({ length: Math.max(left.length, right.length) }, (_, lineIndex) => {
      const text = `  ${(left[lineIndex] ?? "").padEnd(half)}   ${right[lineIndex] ?? ""}`.trimEnd();
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
  const publication = [
    venue,
    [volume, issue === undefined || issue === null ? "" : `(${issue})`].filter(Boolean).join(""),
    pages,
  ];
  return [
    key,
    title,
    authorsText(authorsOf(authors), 3),
    [date ?? "no date", ...publication].filter(Boolean).join(", "),
    Object.keys(identifiers).length === 0 ? "" : nameOfWork(identifiers),
    `${source ?? ""}${source == null ? "" : ", "}${outcome.decision === "open" ? outcome.stage : `${outcome.decision} at ${outcome.stage}`}`,
  ].map((field) => oneLine(field) || "–");
};
