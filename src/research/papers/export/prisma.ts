import { csvOf } from "./csv.js";

/** The counts of a project's flow, with the names of the PRISMA2020 R package; unknown counts are absent. */
export interface FlowCounts {
  readonly counts: Readonly<Record<string, number | undefined>>;
  /** The reasons for excluding reports, with counts. */
  readonly reasons: readonly { readonly label: string; readonly count: number }[];
  readonly otherReasons?: readonly { readonly label: string; readonly count: number }[];
  /** Records by source. */
  readonly sources: readonly { readonly label: string; readonly count: number }[];
}

/**
 * A row of the table. `data`, `node` and `box` are the package's names of the count, and of the diagram's node and box.
 * `text` is shown in the box. If there is no description, the text is also the description.
 */
type Row = readonly [data: string, node: string, box: string, text: string, description?: string];

const na = "NA";
const databases = " (databases and registers)";
const others = " (other)";

/**
 * The rows of the package's table (version 1.1.4, `inst/extdata/PRISMA.csv`): three title boxes, the counts, and three
 * labels at the side. The package uses the names; the texts can be changed.
 */
const rows: readonly Row[] = [
  [na, "node4", "prevstud", "Previous studies", "Grey title box; Previous studies"],
  ["previous_studies", "node5", "box1", "Studies included in previous version of review"],
  ["previous_reports", na, "box1", "Reports of studies included in previous version of review"],
  [na, "node6", "newstud", "Identification of new studies via databases and registers", "Yellow title box"],
  ["database_results", "node7", "box2", "Databases", "Records identified from: Databases"],
  ["database_specific_results", na, "box2", "Specific Databases", "Records identified from: specific databases"],
  ["register_results", na, "box2", "Registers", "Records identified from: Registers"],
  ["register_specific_results", na, "box2", "Specific Registers", "Records identified from: specific registers"],
  [na, "node16", "othstud", "Identification of new studies via other methods", "Grey title box"],
  ["website_results", "node17", "box11", "Websites", "Records identified from: Websites"],
  ["organisation_results", na, "box11", "Brought or named by people", "Records identified from: Organisations"],
  ["citations_results", na, "box11", "Citation searching", "Records identified from: Citation searching"],
  ["duplicates", "node8", "box3", "Duplicate records"],
  ["excluded_automatic", na, "box3", "Records marked as ineligible by automation tools"],
  ["excluded_other", na, "box3", "Records removed for other reasons"],
  ["records_screened", "node9", "box4", "Records screened", `Records screened${databases}`],
  ["records_excluded", "node10", "box5", "Records excluded", `Records excluded${databases}`],
  ["dbr_sought_reports", "node11", "box6", "Reports sought for retrieval", `Reports sought for retrieval${databases}`],
  ["dbr_notretrieved_reports", "node12", "box7", "Reports not retrieved", `Reports not retrieved${databases}`],
  ["other_sought_reports", "node18", "box12", "Reports sought for retrieval", `Reports sought for retrieval${others}`],
  ["other_notretrieved_reports", "node19", "box13", "Reports not retrieved", `Reports not retrieved${others}`],
  [
    "dbr_assessed",
    "node13",
    "box8",
    "Reports assessed for eligibility",
    `Reports assessed for eligibility${databases}`,
  ],
  ["dbr_excluded", "node14", "box9", "Reports excluded", `Reports excluded${databases}`],
  [
    "other_assessed",
    "node20",
    "box14",
    "Reports assessed for eligibility",
    `Reports assessed for eligibility${others}`,
  ],
  ["other_excluded", "node21", "box15", "Reports excluded", `Reports excluded${others}`],
  ["new_studies", "node15", "box10", "New studies included in review"],
  ["new_reports", na, "box10", "Reports of new included studies"],
  ["total_studies", "node22", "box16", "Total studies included in review"],
  ["total_reports", na, "box16", "Reports of total included studies"],
  ["identification", "node1", "identification", "Identification", "Blue identification box"],
  ["screening", "node2", "screening", "Screening", "Blue screening box"],
  ["included", "node3", "included", "Included", "Blue included box"],
  ["total_studies_ma", "node23", "box17", "Total studies included in meta-analysis"],
  ["total_reports_ma", na, "box17", "Reports of total included studies in meta-analysis"],
];

/**
 * Additional rows, so that the counts add up: for records without a decision, and for records from other methods whose
 * reports were not sought. The package ignores these rows. Rows with the count 0 are omitted. The key is the name of
 * the row after which a row is added.
 */
const additionalRows: Readonly<Record<string, Row>> = {
  excluded_other: ["records_not_screened", na, "box3", "Records not screened yet"],
  records_excluded: ["records_waiting", na, "box5", "Records that wait for a person"],
  dbr_notretrieved_reports: ["dbr_not_read", na, "box7", "Reports not read yet"],
  citations_results: ["other_not_sought", na, "box11", "Records not sought", `Records not sought${others}`],
  other_notretrieved_reports: ["other_not_read", na, "box13", "Reports not read yet"],
  dbr_excluded: ["dbr_waiting", na, "box9", "Reports that wait for a person"],
  other_excluded: ["other_waiting", na, "box15", "Reports that wait for a person"],
};

/** Counts for which the package accepts a list, "reason, 3; reason, 1", or a number. */
const listNames: ReadonlySet<string> = new Set([
  "database_specific_results",
  "register_specific_results",
  "dbr_excluded",
  "other_excluded",
]);
/** Names of rows that only have a text, such as the titles at the side. */
const rowsWithoutCount: ReadonlySet<string> = new Set([na, "identification", "screening", "included"]);

/**
 * The flow as a table for `PRISMA2020::PRISMA_data(read.csv(file))`. The table has no byte order mark, because R would
 * treat it as the first letter. Counts of earlier reviews and of meta-analyses are 0.
 */
export const prismaCsv = (flow: FlowCounts): string =>
  csvOf([
    ["data", "node", "box", "description", "boxtext", "tooltips", "url", "n"],
    ...rowsFor(flow).map(([data, node, box, text, description = text]) => [
      data,
      node,
      box,
      description,
      `${text}${byAbstractText(data, flow)}`,
      node === na ? na : description,
      node === na ? na : `${box}.html`,
      rowsWithoutCount.has(data) ? 0 : valueOf(data, flow),
    ]),
  ]);

/** Words for the box of assessed reports: how many of them were judged by the abstract alone. Empty if none were. */
function byAbstractText(data: string, { counts }: FlowCounts): string {
  const count = data.endsWith("_assessed") ? (counts[data.replace("assessed", "by_abstract")] ?? 0) : 0;
  return count === 0 ? "" : `, ${count} of them by the abstract alone`;
}

const rowsFor = ({ counts }: FlowCounts): readonly Row[] =>
  rows.flatMap((row) => {
    const additionalRow = additionalRows[row[0]];
    return additionalRow === undefined || (counts[additionalRow[0]] ?? 0) === 0 ? [row] : [row, additionalRow];
  });

function valueOf(data: string, { counts, reasons, otherReasons = [], sources }: FlowCounts): string | number {
  if (!listNames.has(data)) return counts[data] ?? 0;
  const lists = { dbr_excluded: reasons, other_excluded: otherReasons, database_specific_results: sources };
  const parts = Object.hasOwn(lists, data) ? lists[data as keyof typeof lists] : [];
  // Without parts, or if their sum differs from the count, only the count is written.
  const sum = parts.reduce((total, { count }) => total + count, 0);
  const totalCount = counts[data] ?? (data === "database_specific_results" ? (counts["database_results"] ?? 0) : 0);
  if (parts.length === 0 || sum !== totalCount) return totalCount;
  return parts
    .map(({ label, count }) => `${label.replace(/[,;]/g, " ").replace(/\s+/g, " ").trim()}, ${count}`)
    .join("; ");
}
