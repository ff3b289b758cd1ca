import { given } from "../../engine/lib/given.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { many } from "../../engine/lib/words.js";
import { couldBeRead } from "../papers/read-depth.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { exclusionOf } from "../screening/eligibility/eligibility.js";
import { reasonText } from "./method.js";
import { countEach } from "../../engine/lib/group.js";

/** A line within a box: "of these from the abstract alone: 3". */
export interface FlowLine {
  readonly label: string;
  readonly count: number;
}

/** A box of the diagram, with what its number is made of. */
export interface FlowBox {
  readonly label: string;
  readonly count: number;
  readonly lines: readonly FlowLine[];
}

/** One row: the box, and next to it what leaves the flow there. */
export interface FlowStep {
  readonly stage: "identification" | "screening" | "included";
  readonly box: FlowBox;
  readonly out?: FlowBox;
}

/** The counts that the PRISMA2020 R package reads, by its names; a count that nobody knows is absent. */
export type PrismaCounts = Readonly<Partial<Record<PrismaName, number>>>;

export const prismaNames = [
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
  "dbr_sought_reports",
  "dbr_notretrieved_reports",
  "other_sought_reports",
  "other_notretrieved_reports",
  "dbr_assessed",
  "dbr_excluded",
  "other_assessed",
  "other_excluded",
  "new_studies",
  "new_reports",
  "total_studies",
  "total_reports",
] as const;
export type PrismaName = (typeof prismaNames)[number];

/** How papers were found and chosen, after PRISMA 2020. */
export interface Flow {
  readonly steps: readonly FlowStep[];
  readonly counts: PrismaCounts;
  /** Reasons of excluded reports with their numbers, as the R package writes them beside dbr_excluded. */
  readonly reasons: readonly FlowLine[];
  /** Whether every box is the one above less what leaves there. */
  readonly addsUp: boolean;
  /** The caption: that it adds up, or where it does not and why. */
  readonly says: string;
}

const stageWords: Readonly<Record<string, string>> = {
  window: "outside the dates",
  retracted: "retracted",
  notice: "notices about other works",
};

/** The flow of a project; without a recorded search its first box counts what is known. Pure. */
export function flowOf(rrd: Rrd): Flow {
  const papers = rrd.papers_pool;
  const excluded = rrd.excluded ?? [];
  const recorded = rrd.statistics?.discovery_metrics?.flow;
  const byStage = countEach(
    excluded.map(({ stage, duplicate_of }) => stage ?? (duplicate_of === undefined ? "screened" : "duplicate")),
  );
  const automatic = [...byStage].filter(([stage]) => stage !== "screened" && stage !== "duplicate");
  const screenedOut = byStage.get("screened") ?? 0;

  // Papers that a person added, or an agent found by itself, came by no recorded search; those of a folder were listed.
  const isListed = ({ source }: Paper) => source != null && Object.hasOwn(recorded?.identified ?? {}, source);
  const isOther = (paper: Paper) =>
    recorded !== undefined &&
    (paper.found === undefined || paper.found.sources.length === 0) &&
    (paper.added === true || !isListed(paper));
  const other = papers.filter(isOther).length;
  const bySearch = papers.length - other;

  const duplicates = (recorded?.duplicates_removed ?? 0) + (byStage.get("duplicate") ?? 0);
  const automaticCount = automatic.reduce((sum, [, count]) => sum + count, 0);
  const notScreened = recorded?.not_screened ?? 0;
  const removed = duplicates + automaticCount + notScreened;
  const screened = bySearch + screenedOut;
  const identifiedBy = Object.entries(
    recorded?.identified ?? Object.fromEntries(countEach(papers.map(({ source }) => source ?? "unknown"))),
  );
  const identified =
    recorded === undefined ? papers.length + excluded.length : identifiedBy.reduce((sum, [, count]) => sum + count, 0);

  const waiting = papers.filter(({ status }) => status === "waiting").length;
  const unread = papers.filter((paper) => !isDecided(paper) && paper.status !== "waiting");
  const isMissing = (paper: Paper) => !couldBeRead(paper) && ["rejected", "not_retrieved"].includes(paper.status);
  const unreadable = papers.filter(isMissing);
  const rejected = papers.filter((paper) => paper.status === "rejected" && couldBeRead(paper));
  const retracted = rejected.filter((paper) => paper.retracted === true).length;
  const causes = rejected.filter((paper) => paper.retracted !== true).map(exclusionOf);
  const few = causes.filter((why) => why === undefined).length;
  const ineligible = countEach(causes.filter((why) => why !== undefined));
  const criteria = new Map(criteriaOf(rrd).map((criterion) => [criterion.id, criterion]));
  const count = (status: Paper["status"]) => papers.filter((paper) => paper.status === status).length;
  const [presented, kept] = [count("presented"), count("insights_extracted")];
  const assessed = papers.length - unread.length - unreadable.length;
  const fromAbstract = papers.filter(
    (paper) => paper.read_depth === "abstract" && isDecided(paper) && couldBeRead(paper),
  ).length;
  const reasons = [
    ...[...ineligible].map(([reason, number]) => {
      const criterion = criteria.get(reason);
      return { label: reasonText({ reason, ...given({ criterion }) }), count: number };
    }),
    { label: "too few points", count: few },
    { label: "retracted", count: retracted },
  ].filter((line) => line.count > 0);

  const steps: FlowStep[] = [
    {
      stage: "identification",
      box: {
        label: recorded === undefined ? "Records known" : "Records identified",
        count: identified,
        lines: [
          ...identifiedBy.map(([label, number]) => ({ label, count: number })),
          // The list of what was left out does not say where a record came from.
          ...(recorded === undefined && excluded.length > 0
            ? [{ label: "left out since, source not recorded", count: excluded.length }]
            : []),
        ],
      },
      ...out("Removed before screening", [
        { label: "duplicates", count: duplicates },
        ...automatic.map(([stage, number]) => ({ label: stageWords[stage] ?? stage, count: number })),
        { label: "not screened: the search ended before them", count: notScreened },
      ]),
    },
    {
      stage: "screening",
      box: { label: "Records screened", count: screened, lines: [] },
      ...out("Excluded by title and abstract", [{ label: "", count: screenedOut }]),
    },
    {
      stage: "screening",
      box: {
        label: "Papers sought",
        count: papers.length,
        lines: other === 0 ? [] : [{ label: "found another way than by the search", count: other }],
      },
      ...out("Not assessed", [
        { label: "not read yet", count: unread.length },
        { label: "neither text nor abstract could be had", count: unreadable.length },
      ]),
    },
    {
      stage: "screening",
      box: {
        label: "Papers assessed",
        count: assessed,
        lines: fromAbstract === 0 ? [] : [{ label: "of these from the abstract alone", count: fromAbstract }],
      },
      ...out(waiting === 0 ? "Rejected" : "Not included", [
        ...reasons,
        { label: "waiting for a person's decision", count: waiting },
      ]),
    },
    {
      stage: "included",
      box: {
        label: "Included",
        count: presented + kept,
        lines: [
          { label: "presented", count: presented },
          { label: "kept for insights", count: kept },
        ],
      },
    },
  ];

  const gap = identified - removed - screened;
  const notes = [
    ...(recorded === undefined
      ? ["No search log counts the records before the pool, so the first box counts what is known."]
      : []),
    ...(gap === 0
      ? []
      : [
          `${many(Math.abs(gap), "record")} more ${Math.abs(gap) === 1 ? "was" : "were"} ${gap > 0 ? "identified than screened or removed" : "screened or removed than the sources reported"}: some were found by an agent or changed by hand.`,
        ]),
    ...(other === 0 ? [] : [`${many(other, "paper")} came another way than by the search.`]),
  ];
  const addsUp = gap === 0 && other === 0;
  const isOtherStatus = (list: readonly Paper[]) => list.filter(isOther).length;
  const otherOut = isOtherStatus(unread) + isOtherStatus(unreadable);
  const website = identifiedBy.reduce((sum, [name, number]) => sum + (/^web\b/i.test(name) ? number : 0), 0);
  return {
    steps,
    reasons,
    addsUp,
    says: [...notes, ...(addsUp ? ["Every box is the one above less what leaves beside it."] : [])].join(" "),
    counts: {
      database_results: identified - website,
      ...(website === 0 ? {} : { website_results: website }),
      duplicates,
      excluded_automatic: automaticCount,
      excluded_other: notScreened,
      records_screened: screened,
      records_excluded: screenedOut,
      dbr_sought_reports: bySearch,
      dbr_notretrieved_reports: unread.length + unreadable.length - otherOut,
      other_sought_reports: other,
      other_notretrieved_reports: otherOut,
      dbr_assessed: assessed - (other - otherOut),
      dbr_excluded: rejected.length - isOtherStatus(rejected),
      other_assessed: other - otherOut,
      other_excluded: isOtherStatus(rejected),
      new_studies: presented + kept,
      new_reports: presented + kept,
      total_studies: presented + kept,
      total_reports: presented + kept,
    },
  };
}

/** A side box of the lines that hold something; none where nothing leaves. */
function out(label: string, lines: readonly FlowLine[]): { readonly out?: FlowBox } {
  const held = lines.filter(({ count }) => count > 0);
  const count = held.reduce((sum, line) => sum + line.count, 0);
  return count === 0 ? {} : { out: { label, count, lines: held.filter((line) => line.label !== "") } };
}
