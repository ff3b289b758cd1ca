import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { quantity } from "../../engine/lib/words.js";
import { type FlowRow, flowCounts, total } from "../derived/flow-counts.js";
import type { Rrd } from "../generated/rrd.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { withFewTyped } from "../screening/eligibility/eligibility.js";
import { reasonText } from "./method.js";

/** A line in a box, such as "of these kept for insights: 3". */
export interface FlowLine {
  readonly label: string;
  readonly count: number;
}

/** A box of the diagram, with the parts of its number. */
export interface FlowBox {
  readonly label: string;
  readonly count: number;
  readonly lines: readonly FlowLine[];
}

/** One row: the box, and beside it the records that leave the flow there. */
export interface FlowStep {
  readonly stage: "identification" | "screening" | "included";
  readonly box: FlowBox;
  readonly sideBox?: FlowBox;
}

/** The counts for the PRISMA2020 R package, by its names. Unknown counts are absent. */
export type PrismaCounts = Readonly<Partial<Record<PrismaName, number>>>;

const prismaNames = [
  "previous_studies",
  "previous_reports",
  "database_results",
  "register_results",
  "website_results",
  "organisation_results",
  "citations_results",
  "duplicates",
  "excluded_automatic",
  "excluded_other",
  "records_screened",
  "records_excluded",
  "records_not_screened",
  "records_waiting",
  "dbr_sought_reports",
  "dbr_notretrieved_reports",
  "other_sought_reports",
  "other_notretrieved_reports",
  "dbr_not_read",
  "other_not_sought",
  "other_not_read",
  "dbr_assessed",
  "dbr_by_abstract",
  "dbr_excluded",
  "other_assessed",
  "other_by_abstract",
  "other_excluded",
  "dbr_waiting",
  "other_waiting",
  "new_studies",
  "new_reports",
  "total_studies",
  "total_reports",
] as const;
export type PrismaName = (typeof prismaNames)[number];

/** How papers were found and selected, after PRISMA 2020. */
export interface Flow {
  /**
   * The flow of the searched records, or of the others if no search found any. Each box is the box above minus the box
   * beside it.
   */
  readonly steps: readonly FlowStep[];
  /** The flow of records from other ways, if there are searched records too. */
  readonly other: readonly FlowStep[];
  readonly counts: PrismaCounts;
  /** The reasons for excluding reports with their numbers, as the R package writes them beside dbr_excluded. */
  readonly reasons: readonly FlowLine[];
  readonly otherReasons: readonly FlowLine[];
  /** The caption: what the numbers count. */
  readonly says: string;
}

const reasonWords: Readonly<Record<string, string>> = {
  window: "outside the dates",
  retracted: "retracted",
  notice: "notices about other works",
  points: "too few points",
};

/** The flow diagram of a project. Without a recorded search, its first box counts the known records. Pure. */
export function prismaFlow(rrd: Rrd): Flow {
  const { searched, other } = flowCounts(rrd);
  const hasSearched = total(searched.identified) > 0;
  const hasOther = total(other.identified) > 0;
  const isRecorded = rrd.statistics?.discovery_metrics?.flow?.identified !== undefined;
  const wording = makeWording(rrd);
  const included = searched.presented + searched.insights;
  const otherIncluded = other.presented + other.insights;
  const firstLabel = isRecorded ? "Records identified" : "Records known";
  const unscreenedSteps = (label: string) => [
    unscreenedStep(label, other, wording),
    ...stepsFromSought(other, wording),
  ];
  const isUnscreened = hasOther && !hasSearched;
  return {
    steps: isUnscreened
      ? unscreenedSteps(firstLabel)
      : [...screeningSteps(searched, firstLabel, wording), ...stepsFromSought(searched, wording)],
    other: hasOther && hasSearched ? unscreenedSteps("Found another way") : [],
    reasons: linesOf(searched.rejected, wording),
    otherReasons: linesOf(other.rejected, wording),
    says: [
      ...(isRecorded
        ? []
        : ["No search log counts the records before the pool, so the first box counts what is known."]),
      ...(isUnscreened ? ["These records were not screened by title and abstract: each is read directly."] : []),
      ...(hasOther && hasSearched
        ? [
            `${quantity(total(other.identified), "record")} came from other sources than the search, without screening. Together ${quantity(included + otherIncluded, "paper")} ${included + otherIncluded === 1 ? "is" : "are"} included.`,
          ]
        : []),
      "Each box counts the box above it without the records in the box beside that one.",
    ].join(" "),
    counts: countsFor(searched, other),
  };
}

/** A flow as text, one line for each box. The boxes of records that leave the flow are indented. */
export const flowLines = ({ steps, other, says }: Flow): string[] => [
  ...[...steps, ...other].flatMap(({ box, sideBox: sideBoxOfStep }) => [
    boxLine(box),
    ...(sideBoxOfStep === undefined ? [] : [`  - ${boxLine(sideBoxOfStep)}`]),
  ]),
  says,
];

const boxLine = ({ label, count, lines }: FlowBox): string =>
  `${label}: ${count}${lines.length === 0 ? "" : ` (${lines.map((line) => `${line.count} ${line.label}`).join("; ")})`}`;

function countsFor(searched: FlowRow, other: FlowRow): PrismaCounts {
  const websites = [...other.identified].reduce((sum, [name, count]) => sum + (/^web\b/i.test(name) ? count : 0), 0);
  const fromOrganisations = total(other.identified) - websites;
  const automatic = [...searched.removed].reduce(
    (sum, [reason, count]) => sum + (reason in reasonWords ? count : 0),
    0,
  );
  const included = searched.presented + searched.insights + other.presented + other.insights;
  return {
    database_results: total(searched.identified),
    ...(websites === 0 ? {} : { website_results: websites }),
    ...(fromOrganisations === 0 ? {} : { organisation_results: fromOrganisations }),
    duplicates: searched.duplicates,
    excluded_automatic: automatic,
    excluded_other: total(searched.removed) - automatic,
    records_screened: searched.screened,
    records_excluded: total(searched.excluded),
    records_not_screened: searched.notScreened,
    records_waiting: searched.conflicts,
    dbr_sought_reports: searched.sought,
    dbr_notretrieved_reports: searched.notRetrieved,
    dbr_not_read: searched.notRead,
    other_not_sought: total(other.identified) - other.sought,
    other_sought_reports: other.sought,
    other_notretrieved_reports: other.notRetrieved,
    other_not_read: other.notRead,
    dbr_assessed: searched.assessed,
    dbr_by_abstract: searched.byAbstract,
    dbr_excluded: total(searched.rejected),
    dbr_waiting: searched.waiting,
    other_assessed: other.assessed,
    other_by_abstract: other.byAbstract,
    other_excluded: total(other.rejected),
    other_waiting: other.waiting,
    new_studies: included,
    new_reports: included,
    total_studies: included,
    total_reports: included,
  };
}

/** Returns the text for a reason. */
type Wording = (reason: string) => string;

function makeWording(rrd: Rrd): Wording {
  const criteria = new Map(criteriaOf(rrd).map((criterion) => [criterion.id, criterion]));
  return (reason) =>
    reasonWords[reason] ?? reasonText({ reason, ...withoutUndefined({ criterion: criteria.get(reason) }) });
}

const linesOf = (counts: ReadonlyMap<string, number>, wording: Wording): FlowLine[] =>
  [...withFewTyped(counts)].map(([reason, count]) => ({ label: wording(reason), count }));

const identifiedBox = (label: string, { identified }: FlowRow): FlowBox => ({
  label,
  count: total(identified),
  lines: [...identified].map(([source, count]) => ({ label: source, count })),
});

const removedLines = ({ duplicates, removed }: FlowRow, wording: Wording): FlowLine[] => [
  { label: "duplicates", count: duplicates },
  ...linesOf(removed, wording),
];

const excludedLines = ({ excluded, conflicts }: FlowRow, wording: Wording): FlowLine[] => [
  ...linesOf(excluded, wording),
  { label: "readers disagree, so a person decides", count: conflicts },
];

function screeningSteps(row: FlowRow, firstLabel: string, wording: Wording): FlowStep[] {
  return [
    {
      stage: "identification",
      box: identifiedBox(firstLabel, row),
      ...sideBox(row.notScreened === 0 ? "Removed before screening" : "Removed, or not screened yet", [
        ...removedLines(row, wording),
        { label: "not screened yet", count: row.notScreened },
      ]),
    },
    {
      stage: "screening",
      box: { label: "Records screened", count: row.screened, lines: [] },
      ...sideBox(
        row.conflicts === 0 ? "Records excluded" : "Records excluded, or not decided",
        excludedLines(row, wording),
      ),
    },
  ];
}

const unscreenedStep = (label: string, row: FlowRow, wording: Wording): FlowStep => ({
  stage: "identification",
  box: identifiedBox(label, row),
  ...sideBox(row.notScreened === 0 ? "Reports not sought" : "Not sought, or not taken up yet", [
    ...removedLines(row, wording),
    ...excludedLines(row, wording),
    { label: "not taken up yet", count: row.notScreened },
  ]),
});

function stepsFromSought(row: FlowRow, wording: Wording): FlowStep[] {
  return [
    {
      stage: "screening",
      box: { label: "Reports sought for retrieval", count: row.sought, lines: [] },
      ...sideBox(row.notRead === 0 ? "Reports not retrieved" : "Not retrieved, or not read yet", [
        { label: "not read yet", count: row.notRead },
        { label: "not retrieved", count: row.notRetrieved },
      ]),
    },
    {
      stage: "screening",
      box: {
        label: "Reports assessed for eligibility",
        count: row.assessed,
        lines: row.byAbstract === 0 ? [] : [{ label: "by the abstract alone", count: row.byAbstract }],
      },
      ...sideBox(row.waiting === 0 ? "Reports excluded" : "Reports excluded, or not decided", [
        ...linesOf(row.rejected, wording),
        { label: "waiting for a person's decision", count: row.waiting },
      ]),
    },
    {
      stage: "included",
      box: {
        label: "Included",
        count: row.presented + row.insights,
        lines: row.insights === 0 ? [] : [{ label: "of these kept for insights", count: row.insights }],
      },
    },
  ];
}

/** The side box with all lines whose count is above 0; absent if there is no such line. */
function sideBox(label: string, all: readonly FlowLine[]): { readonly sideBox?: FlowBox } {
  const counted = all.filter(({ count }) => count > 0);
  const count = counted.reduce((sum, line) => sum + line.count, 0);
  // If there is one line and it repeats the label, it is omitted.
  const lines = counted.length === 1 && label.toLowerCase().endsWith(counted[0]?.label ?? "") ? [] : counted;
  return count === 0 ? {} : { sideBox: { label, count, lines } };
}
