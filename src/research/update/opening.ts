import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { ProjectUpdate, Rrd } from "../generated/rrd.js";
import type { ReportModel } from "../report/model.js";
import { withChecks } from "../workflow/report/warn-of-retractions.js";
import type { Came } from "./what-came.js";
import type { Window } from "./window.js";

/** An update of this window, as it is asked: nothing has come yet. */
export function askedUpdate(
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  { since, until, sources }: Window,
  now: number,
): ProjectUpdate {
  return {
    id: `update-${(rrd.updates ?? []).length + 1}`,
    ...{ since, until },
    at: new Date(now).toISOString(),
    iteration: Math.max(rrd.loop?.iteration ?? 0, ...ledger.map(({ iteration }) => iteration)),
    ...(Object.keys(sources).length === 0 ? {} : { sources: { ...sources } }),
  };
}

/** The state with an update open: DISCOVERY again, with a window to ask. */
export function withOpen(rrd: Rrd, update: ProjectUpdate): Rrd {
  const { exhausted: _, ...metrics } = rrd.statistics?.discovery_metrics ?? {};
  return {
    ...rrd,
    phase: "DISCOVERY",
    updates: [...(rrd.updates ?? []), update],
    statistics: { ...rrd.statistics, discovery_metrics: { ...metrics, batches_without_new: 0 } },
  };
}

/** The findings of the report as it stands, by which the next one says what it continues. */
export const findingsBefore = ({ findings, said }: ReportModel): NonNullable<ProjectUpdate["before"]> =>
  findings.map(({ text, strength }, index) => ({
    id: `f${index + 1}`,
    text,
    rests_on: [...(said.findings[index]?.rests_on ?? [])],
    level: strength.level,
  }));

/** The state with an update open for what came. Pure: it may be made again where the file was edited meanwhile. */
export function openedFor(
  rrd: Rrd,
  update: ProjectUpdate,
  came: Came,
  before: NonNullable<ProjectUpdate["before"]>,
): Rrd {
  const changed = new Map(came.changed.map((paper) => [paper.id, paper]));
  const checked = withChecks(rrd, { checks: came.checks }).rrd;
  const papers_pool = checked.papers_pool.map((paper) => ({ ...paper, ...changed.get(paper.id)?.set }));
  const failed = Object.fromEntries([...came.failed].map(([source, { since }]) => [source, since]));
  return withOpen(
    { ...checked, papers_pool },
    {
      ...update,
      changed: came.changed.map(({ id, says, text }) => ({ id, says, read_again: text !== undefined })),
      retracted: [...came.retracted],
      before,
      ...(came.failed.size === 0 ? {} : { failed }),
    },
  );
}
