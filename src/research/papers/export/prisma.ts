import { csvOf } from "./csv.js";

/** The counts of a project's flow, under the names of the PRISMA2020 R package; what nobody counted is absent. */
export interface FlowCounts {
  readonly counts: Readonly<Record<string, number | undefined>>;
  /** Why reports were excluded, with how many. */
  readonly reasons: readonly { readonly label: string; readonly count: number }[];
  readonly otherReasons?: readonly { readonly label: string; readonly count: number }[];
  /** Records by the source that they came from. */
  readonly sources: readonly { readonly label: string; readonly count: number }[];
}

/** A row of the table: its count's name, the node and the box of the diagram, and the words in the box. */
type Row = readonly [data: string, node: string, box: string, text: string, about?: string];

const none = "NA";
const dbr = " (databases and registers)";
const other = " (other)";

/**
 * The rows of the package's own table (version 1.1.4, `inst/extdata/PRISMA.csv`): three title boxes, the counts, the
 * three labels at the side. The names decide; the words may be changed before it is drawn.
 */
const rows: readonly Row[] = [
  [none, "node4", "prevstud", "Previous studies", "Grey title box; Previous studies"],
  ["previous_studies", "node5", "box1", "Studies included in previous version of review"],
  ["previous_reports", none, "box1", "Reports of studies included in previous version of review"],
  [none, "node6", "newstud", "Identification of new studies via databases and registers", "Yellow title box"],
  ["database_results", "node7", "box2", "Databases", "Records identified from: Databases"],
  ["database_specific_results", none, "box2", "Specific Databases", "Records identified from: specific databases"],
  ["register_results", none, "box2", "Registers", "Records identified from: Registers"],
  ["register_specific_results", none, "box2", "Specific Registers", "Records identified from: specific registers"],
  [none, "node16", "othstud", "Identification of new studies via other methods", "Grey title box"],
  ["website_results", "node17", "box11", "Websites", "Records identified from: Websites"],
  ["organisation_results", none, "box11", "Named by people", "Records identified from: Organisations"],
  ["citations_results", none, "box11", "Citation searching", "Records identified from: Citation searching"],
  ["duplicates", "node8", "box3", "Duplicate records"],
  ["excluded_automatic", none, "box3", "Records marked as ineligible by automation tools"],
  ["excluded_other", none, "box3", "Records removed for other reasons"],
  ["records_screened", "node9", "box4", "Records screened", `Records screened${dbr}`],
  ["records_excluded", "node10", "box5", "Records excluded", `Records excluded${dbr}`],
  ["dbr_sought_reports", "node11", "box6", "Reports sought for retrieval", `Reports sought for retrieval${dbr}`],
  ["dbr_notretrieved_reports", "node12", "box7", "Reports not retrieved", `Reports not retrieved${dbr}`],
  ["other_sought_reports", "node18", "box12", "Reports sought for retrieval", `Reports sought for retrieval${other}`],
  ["other_notretrieved_reports", "node19", "box13", "Reports not retrieved", `Reports not retrieved${other}`],
  ["dbr_assessed", "node13", "box8", "Reports assessed for eligibility", `Reports assessed for eligibility${dbr}`],
  ["dbr_excluded", "node14", "box9", "Reports excluded", `Reports excluded${dbr}`],
  ["other_assessed", "node20", "box14", "Reports assessed for eligibility", `Reports assessed for eligibility${other}`],
  ["other_excluded", "node21", "box15", "Reports excluded", `Reports excluded${other}`],
  ["new_studies", "node15", "box10", "New studies included in review"],
  ["new_reports", none, "box10", "Reports of new included studies"],
  ["total_studies", "node22", "box16", "Total studies included in review"],
  ["total_reports", none, "box16", "Reports of total included studies"],
  ["identification", "node1", "identification", "Identification", "Blue identification box"],
  ["screening", "node2", "screening", "Screening", "Blue screening box"],
  ["included", "node3", "included", "Included", "Blue included box"],
  ["total_studies_ma", "node23", "box17", "Total studies included in meta-analysis"],
  ["total_reports_ma", none, "box17", "Reports of total included studies in meta-analysis"],
];

/**
 * What is still open, so that the rows add up, and what came another way and was not sought. The package has no such
 * rows and ignores them; a row of 0 is left out. Each follows the row of its box.
 */
const openRows: Readonly<Record<string, Row>> = {
  excluded_other: ["records_not_screened", none, "box3", "Records not screened yet"],
  records_excluded: ["records_waiting", none, "box5", "Records that wait for a person"],
  dbr_notretrieved_reports: ["dbr_not_read", none, "box7", "Reports not read yet"],
  citations_results: ["other_not_sought", none, "box11", "Records not sought", `Records not sought${other}`],
  other_notretrieved_reports: ["other_not_read", none, "box13", "Reports not read yet"],
  dbr_excluded: ["dbr_waiting", none, "box9", "Reports that wait for a person"],
  other_excluded: ["other_waiting", none, "box15", "Reports that wait for a person"],
};

/** Counts of which the package reads a list, "reason, 3; reason, 1", and a plain number too. */
const listNames: ReadonlySet<string> = new Set([
  "database_specific_results",
  "register_specific_results",
  "dbr_excluded",
  "other_excluded",
]);
const titles: ReadonlySet<string> = new Set([none, "identification", "screening", "included"]);

/**
 * The flow as the table that `PRISMA2020::PRISMA_data(read.csv(file))` reads. Without a byte-order mark, which R would
 * take for the first letter. Nothing was taken over from an earlier review and nothing was pooled: those counts are 0.
 */
export const prismaCsv = (flow: FlowCounts): string =>
  csvOf([
    ["data", "node", "box", "description", "boxtext", "tooltips", "url", "n"],
    ...rowsFor(flow).map(([data, node, box, text, about = text]) => [
      data,
      node,
      box,
      about,
      text,
      node === none ? none : about,
      node === none ? none : `${box}.html`,
      titles.has(data) ? 0 : valueOf(data, flow),
    ]),
  ]);

const rowsFor = ({ counts }: FlowCounts): readonly Row[] =>
  rows.flatMap((row) => {
    const open = openRows[row[0]];
    return open === undefined || (counts[open[0]] ?? 0) === 0 ? [row] : [row, open];
  });

function valueOf(data: string, { counts, reasons, otherReasons = [], sources }: FlowCounts): string | number {
  if (!listNames.has(data)) return counts[data] ?? 0;
  const lists = { dbr_excluded: reasons, other_excluded: otherReasons, database_specific_results: sources };
  const listed = Object.hasOwn(lists, data) ? lists[data as keyof typeof lists] : [];
  // A sum that is not that of its parts, or has none, stands alone.
  const sum = listed.reduce((total, { count }) => total + count, 0);
  const whole = counts[data] ?? (data === "database_specific_results" ? (counts["database_results"] ?? 0) : 0);
  if (listed.length === 0 || sum !== whole) return whole;
  return listed
    .map(({ label, count }) => `${label.replace(/[,;]/g, " ").replace(/\s+/g, " ").trim()}, ${count}`)
    .join("; ");
}
