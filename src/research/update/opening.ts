import { isDeepStrictEqual } from "node:util";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { QueryLine } from "../../engine/generated/query.js";
import { many } from "../../engine/lib/words.js";
import { queriesName } from "../project-files/layout.js";
import { loggedLine } from "../project-files/logs/query-log.js";
import type { Change, Fold } from "../project-files/research.js";
import type { ProjectUpdate, Rrd } from "../generated/rrd.js";
import type { ReportModel } from "../report/model.js";
import { oldestFirst } from "../papers/dedup/companions.js";
import { flat } from "../project-files/markdown.js";
import { progressEntry } from "../project-files/progress-log.js";
import { changeOf } from "../units/judged-result.js";
import { withChecks } from "../units/retractions.js";
import type { Came } from "./new-and-changed.js";
import type { Window } from "./window.js";
import { namesIn } from "../papers/paper-keys.js";

/** An update of this window, as it is asked: nothing has come yet. */
export function askedUpdate(
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

/** The state with an update open for what came. */
export function openedFor(
  rrd: Rrd,
  update: ProjectUpdate,
  came: Came,
  before: NonNullable<ProjectUpdate["before"]>,
): Rrd {
  const changed = new Map(came.changed.map((paper) => [paper.id, paper]));
  const checked = withChecks(rrd, { checks: came.checks }).rrd;
  const papers_pool = checked.papers_pool.map((paper) => {
    const { set, corrections = [] } = changed.get(paper.id) ?? {};
    const updates = oldestFirst([...(paper.updates ?? []), ...corrections.map((each) => ({ ...each }))]);
    return { ...paper, ...(corrections.length === 0 ? {} : { updates }), ...set };
  });
  const failed = Object.fromEntries([...came.failed].map(([source, { since }]) => [source, since]));
  return withOpen(
    { ...checked, papers_pool },
    {
      ...update,
      works: came.works,
      changed: came.changed.map(({ id, says, text, compared }) => ({
        id,
        says,
        read_again: text !== undefined,
        ...(compared === "unknown" ? { compared: false } : {}),
      })),
      retracted: [...came.retracted],
      before,
      ...(came.failed.size === 0 ? {} : { failed }),
    },
  );
}

/**
 * The fold that opens an update, an iteration of no agent, with the questions that were asked for it: a kill leaves all
 * of it or nothing.
 */
export function openingFold(
  rrd: Rrd,
  opened: Rrd,
  came: Came,
  questions: readonly QueryLine[],
): Fold & { readonly iteration: number } {
  const { id, at, since, until, iteration = 1 } = opened.updates?.at(-1) ?? missing();
  const top = ["phase", "updates", "statistics"] as const;
  const fieldsOf = (state: Rrd) => Object.fromEntries(top.map((name) => [name, state[name]]));
  const papers = opened.papers_pool.flatMap((paper, index): Change[] => {
    const before = rrd.papers_pool[index];
    const set = Object.fromEntries(
      Object.entries(paper).filter(([field, value]) => !isDeepStrictEqual(value, before?.[field])),
    );
    return before === undefined || Object.keys(set).length === 0 ? [] : [changeOf(before, set)];
  });
  const said = cameText(came);
  const names = namesIn(rrd);
  const lines = [
    ...came.titles.map((title) => `- new: ${title}`),
    ...came.changed.map((paper) => `- changed: ${names.get(paper.id) ?? paper.id}: ${paper.says}`),
    ...came.retracted.map((paper) => `- retracted: ${names.get(paper) ?? paper}`),
    ...[...came.failed].map(([source, { reason }]) => `- ${source} was not asked in full: ${reason}`),
  ].map(flat);
  return {
    iteration,
    at,
    message: `${id}: ${said}`,
    changes: [{ in: "rrd", set: fieldsOf(opened), was: fieldsOf(rrd) }, ...papers],
    progress: progressEntry(
      `## ${at.slice(0, 10)} - Update: ${id}, ${since} to ${until}\n\n${[`**Came:** ${said}`, ...lines].join("\n")}`,
      iteration,
    ),
    ledger: { iteration, at, unit: id, phase: "DISCOVERY", outcome: "accepted", duration_seconds: 0 },
    appends: questions.length === 0 ? [] : [{ name: queriesName, text: questions.map(loggedLine).join("") }],
  };
}

const missing = (): never => {
  throw new Error("no update is open");
};

/** What came, in a few words: "1 new work, 2 papers changed". */
export function cameText({ works, changed, retracted }: Came): string {
  const parts = [
    works === 0 ? "" : many(works, "new work"),
    changed.length === 0 ? "" : `${many(changed.length, "paper")} changed`,
    retracted.length === 0 ? "" : `${retracted.length} retracted`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}
