import { isDeepStrictEqual } from "node:util";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { QueryLine } from "../../engine/generated/query.js";
import { quantity } from "../../engine/lib/words.js";
import { queriesName } from "../project-files/layout.js";
import { formatQuery } from "../project-files/logs/query-log.js";
import type { Change, Fold } from "../project-files/research.js";
import type { ProjectUpdate, Rrd } from "../generated/rrd.js";
import type { ReportModel } from "../report/model.js";
import { oldestFirst } from "../papers/dedup/companions.js";
import { onOneLine } from "../project-files/markdown.js";
import { progressEntry } from "../project-files/progress-log.js";
import { changeOf } from "../units/judged-result.js";
import { applyChecks } from "../units/retractions.js";
import type { UpdateFindings } from "./new-and-changed.js";
import type { Window } from "./window.js";
import { namesIn } from "../papers/paper-keys.js";

/** An update for this window, before anything was found. */
export function newUpdate(
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  { since, until, sources }: Window,
  now: number,
): ProjectUpdate {
  return {
    id: `update-${(rrd.updates ?? []).length + 1}`,
    since,
    until,
    at: new Date(now).toISOString(),
    iteration: Math.max(rrd.loop?.iteration ?? 0, ...ledger.map(({ iteration }) => iteration)) + 1,
    ...(Object.keys(sources).length === 0 ? {} : { sources: { ...sources } }),
  };
}

/** The state with an open update: the phase is DISCOVERY again, with a window to search. */
export function withUpdateOpen(rrd: Rrd, update: ProjectUpdate): Rrd {
  const { exhausted: _, ...metrics } = rrd.statistics?.discovery_metrics ?? {};
  return {
    ...rrd,
    phase: "DISCOVERY",
    updates: [...(rrd.updates ?? []), update],
    statistics: { ...rrd.statistics, discovery_metrics: { ...metrics, batches_without_new: 0 } },
  };
}

/** The findings of the present report. The next report compares its findings with them. */
export const presentFindings = ({ findings, writtenNarrative }: ReportModel): NonNullable<ProjectUpdate["before"]> =>
  findings.map(({ text, strength }, index) => ({
    id: `f${index + 1}`,
    text,
    rests_on: [...(writtenNarrative.findings[index]?.rests_on ?? [])],
    level: strength.level,
  }));

/** The changed papers as they are stored and printed. */
export const changedFields = ({ changed }: UpdateFindings) =>
  changed.map(({ id, says, text, comparison }) => ({
    id,
    says,
    read_again: text !== undefined,
    ...(comparison === "unknown" ? { compared: false } : {}),
  }));

/** The state with an open update for these findings. */
export function withFindings(
  rrd: Rrd,
  update: ProjectUpdate,
  findings: UpdateFindings,
  before: NonNullable<ProjectUpdate["before"]>,
): Rrd {
  const changedById = new Map(findings.changed.map((paper) => [paper.id, paper]));
  const withNewChecks = applyChecks(rrd, findings.checks).rrd;
  const papers_pool = withNewChecks.papers_pool.map((paper) => {
    const { set, corrections = [] } = changedById.get(paper.id) ?? {};
    const updates = oldestFirst([...(paper.updates ?? []), ...corrections.map((correction) => ({ ...correction }))]);
    return { ...paper, ...(corrections.length === 0 ? {} : { updates }), ...set };
  });
  const failed = Object.fromEntries([...findings.failed].map(([source, { since }]) => [source, since]));
  return withUpdateOpen(
    { ...withNewChecks, papers_pool },
    {
      ...update,
      works: findings.works,
      changed: changedFields(findings),
      retracted: [...findings.retracted],
      before,
      ...(findings.failed.size === 0 ? {} : { failed }),
    },
  );
}

/**
 * The fold that opens an update, with the logged questions. No agent works in its iteration. After a crash, either all
 * or none of it is written.
 */
export function openingFold(
  rrd: Rrd,
  openedState: Rrd,
  findings: UpdateFindings,
  requests: readonly QueryLine[],
): Fold & { readonly iteration: number } {
  const { id, at: openedAt, since, until, iteration = 1 } = openedState.updates?.at(-1) ?? noOpenUpdate();
  const topFields = ["phase", "updates", "statistics"] as const;
  const fieldsOf = (state: Rrd) => Object.fromEntries(topFields.map((name) => [name, state[name]]));
  const papers = openedState.papers_pool.flatMap((paper, index): Change[] => {
    const earlier = rrd.papers_pool[index];
    const set = Object.fromEntries(
      Object.entries(paper).filter(([field, value]) => !isDeepStrictEqual(value, earlier?.[field])),
    );
    return earlier === undefined || Object.keys(set).length === 0 ? [] : [changeOf(earlier, set)];
  });
  const summary = findingsText(findings);
  const names = namesIn(rrd);
  const lines = [
    ...findings.titles.map((title) => `- new: ${title}`),
    ...findings.changed.map((paper) => `- changed: ${names.get(paper.id) ?? paper.id}: ${paper.says}`),
    ...findings.retracted.map((paper) => `- retracted: ${names.get(paper) ?? paper}`),
    ...[...findings.failed].map(([source, { reason }]) => `- ${source} was not searched completely: ${reason}`),
  ].map(onOneLine);
  return {
    iteration,
    at: openedAt,
    message: `${id}: ${summary}`,
    changes: [{ in: "rrd", set: fieldsOf(openedState), was: fieldsOf(rrd) }, ...papers],
    progress: progressEntry(
      `## ${openedAt.slice(0, 10)} - Update: ${id}, ${since} to ${until}\n\n${[`**Came:** ${summary}`, ...lines].join("\n")}`,
      iteration,
    ),
    ledger: { iteration, at: openedAt, unit: id, phase: "DISCOVERY", outcome: "accepted", duration_seconds: 0 },
    appends: requests.length === 0 ? [] : [{ name: queriesName, text: requests.map(formatQuery).join("") }],
  };
}

const noOpenUpdate = (): never => {
  throw new Error("no update is open");
};

/** A summary of the findings: "1 new work, 2 papers changed". */
export function findingsText({ works, changed, retracted }: UpdateFindings): string {
  const parts = [
    works === 0 ? "" : quantity(works, "new work"),
    changed.length === 0 ? "" : `${quantity(changed.length, "paper")} changed`,
    retracted.length === 0 ? "" : `${retracted.length} retracted`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}
