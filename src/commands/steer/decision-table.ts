import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { quantity } from "../../engine/lib/words.js";
import { isDecisionName } from "../../engine/storage/state/steering-inbox.js";
import { allRecords } from "../../research/overview/all-records.js";
import type { EligibilityDecision } from "../../research/overview/record-decisions.js";
import { recordsExactlyNamed, severalMatchError } from "../../research/overview/which-record.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { withKeys } from "../../research/papers/paper-keys.js";
import { delimiterOf } from "../../research/papers/records/csv.js";

/** The possible names of the columns. */
const columnNames = {
  // A key first, because a duplicate may have the same id as its work.
  record: ["key", "id", "paper", "doi", "pmid", "pubmed id", "pmcid", "arxiv", "title"],
  decision: ["decision"],
  why: ["why", "reason", "notes"],
  criterion: ["criterion"],
} as const;

/** The decisions by the words of the column `decision` in an export. */
const decisionByExportedWord: Readonly<Record<string, string>> = { included: "include", excluded: "exclude", open: "" };

/** Whether a word is one of the decisions. */
export const isDecisionWord = (word: string): boolean => isDecisionName(word.replace("-", "_"));

interface DecisionRow {
  /** Its number in a spreadsheet. */
  readonly number: number;
  /** The names of the record, the most reliable first. */
  readonly names: readonly string[];
  readonly decision: string;
  readonly why: string;
  readonly criterion?: string;
}

/**
 * The decisions in a table: an export of this project in which the user changed decisions, or a table of another
 * program. Rows without a decision, and rows of an export that were not changed, are skipped.
 * @throws ExpectedError (exit code 2) for a table without these columns, an unknown decision, a record that the project
 * does not have, a missing reason, and rows that decide differently on one record.
 */
export async function decisionsInTable(
  text: string,
  name: string,
  rrd: Rrd,
  search: Parameters<typeof allRecords>[2],
): Promise<readonly EligibilityDecision[]> {
  const rows = await readRows(text, name);
  const presentDecisions = decisionsByName(rrd, search);
  const named = rows.map((row) => ({ row, record: recordOf(row, rrd, presentDecisions) }));
  const isExport = rows.some(({ decision }) => decision in decisionByExportedWord);
  const changed = isExport
    ? named.filter(({ row: { names, decision }, record = "" }) => {
        const present = presentDecisions.get(names[0] ?? "") ?? presentDecisions.get(record);
        return decision !== "open" && decision !== present;
      })
    : named;
  const unknown = changed.filter(({ record }) => record === undefined).map(({ row }) => row);
  if (unknown.length > 0) throw unknownError(unknown, name);
  const decided = new Map<string, DecisionRow>();
  return changed.map(({ row, record = "" }) => {
    const { number, names, why, criterion } = row;
    const other = decided.get(record);
    const problem =
      why === "" && criterion === undefined
        ? "the reason is missing"
        : other !== undefined && decisionOf(other) !== decisionOf(row)
          ? `row ${other.number} decides otherwise on the same paper`
          : undefined;
    if (problem !== undefined)
      throw new ExpectedError(
        `Row ${number} of ${name}, ${oneLine(names[0] ?? "")}: ${problem}. Nothing was written.`,
        2,
      );
    decided.set(record, row);
    return { paper: record, decision: decisionOf(row), why, ...withoutUndefined({ criterion }) };
  });
}

const decisionOf = ({ decision }: DecisionRow): string => decisionByExportedWord[decision] ?? decision;

/** The words of the column `decision` in an export of the project, by the keys and the ids of its records. */
function decisionsByName(rrd: Rrd, search: Parameters<typeof allRecords>[2]): ReadonlyMap<string, string> {
  const records = allRecords(withKeys(rrd), [], search);
  const distinct = records.filter(({ outcome }) => outcome.duplicateOf === undefined);
  return new Map([
    ...records.map(({ key, outcome }) => [key, outcome.decision] as const),
    ...distinct.map(({ id, outcome }) => [id, outcome.decision] as const),
  ]);
}

/**
 * The id of the record of a row; for a duplicate or a record that was not screened, its key, on which no decision is
 * possible. @throws ExpectedError (exit code 2) if several records have the row's name.
 */
function recordOf({ names }: DecisionRow, rrd: Rrd, exported: ReadonlyMap<string, string>): string | undefined {
  for (const name of names) {
    const [only, ...others] = recordsExactlyNamed(rrd, name);
    if (only !== undefined && others.length > 0) throw severalMatchError(name, [only, ...others]);
    if (only !== undefined) return only.id;
    if (exported.has(name)) return name;
  }
  return undefined;
}

/** Maximum number of unknown records in a message. */
const maxNamed = 20;

function unknownError(rows: readonly DecisionRow[], name: string): ExpectedError {
  const examples = rows
    .slice(0, maxNamed)
    .map(({ number, names }) => `row ${number} (${oneLine(names[0] ?? "no name")})`);
  return new ExpectedError(
    `${quantity(rows.length, "row")} of ${name} ${rows.length === 1 ? "names a paper" : "name papers"} that the project does not have: ${examples.join(", ")}${rows.length > maxNamed ? ", …" : ""}. Nothing was written.`,
    2,
  );
}

/** The rows with a decision. */
async function readRows(text: string, name: string): Promise<readonly DecisionRow[]> {
  const { parse } = await import("csv-parse/sync");
  let cells: Record<string, string>[];
  try {
    const headerNames = (names: string[]) => names.map((header) => header.trim().toLowerCase());
    const [headerLine = ""] = text.trimStart().split(/\r\n|\n|\r/, 1);
    const delimiter = delimiterOf(headerLine);
    cells = parse(text, { bom: true, columns: headerNames, skip_empty_lines: true, delimiter, trim: true });
  } catch (error) {
    throw new ExpectedError(`${name} can't be read as CSV: ${(error as Error).message}.`, 2);
  }
  const columnsOf = (field: keyof typeof columnNames) =>
    columnNames[field].filter((column) => cells[0] !== undefined && column in cells[0]);
  const [nameColumns, decision, why, criterion] = [
    columnsOf("record"),
    columnsOf("decision")[0],
    columnsOf("why")[0],
    columnsOf("criterion")[0],
  ];
  if (nameColumns.length === 0 || decision === undefined || why === undefined) {
    const missing = [
      ...(nameColumns.length === 0 ? ["key, id, doi or title"] : []),
      ...(decision === undefined ? ["decision"] : []),
      ...(why === undefined ? ["why"] : []),
    ];
    throw new ExpectedError(
      `${name} ${cells.length === 0 ? "has no rows" : `has no column ${missing.join(", no column ")}`}; it must have a head and rows with the columns key, id, doi or title; decision (include, exclude or not-retrieved); and why.`,
      2,
    );
  }
  return cells.flatMap((row, index) => {
    const word = (row[decision] ?? "").toLowerCase();
    // The user has not decided on it yet.
    if (word === "") return [];
    const names = nameColumns.flatMap((column) => row[column] || []);
    if (!isDecisionWord(word) && !(word in decisionByExportedWord))
      throw new ExpectedError(
        `Row ${index + 2} of ${name}, ${oneLine(names[0] ?? "")}: the decision is '${oneLine(row[decision] ?? "")}'; it must be include, exclude or not-retrieved. Nothing was written.`,
        2,
      );
    // An export has the id of the criterion with its text: "c2 (exclude: animal studies)".
    const criterionId =
      criterion !== undefined && word.startsWith("exclude") ? row[criterion]?.split(" (", 1)[0] : undefined;
    return [
      {
        number: index + 2,
        names,
        decision: word,
        why: row[why] ?? "",
        ...withoutUndefined({ criterion: criterionId || undefined }),
      },
    ];
  });
}
