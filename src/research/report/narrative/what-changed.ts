import type { ProjectUpdate, Rrd } from "../../generated/rrd.js";
import type { PaperRow } from "../papers.js";
import type { Strength } from "../strength.js";
import type { StoredSentence } from "../statements.js";

/** The change of a finding in an update. `reworded`: the same strength in other words. */
export type Move = "new" | "stronger" | "weaker" | "reworded" | "kept" | "gone";

/** The label of each change. */
export const moveWords: Readonly<Record<Move, string>> = {
  gone: "Gone",
  weaker: "Weaker",
  stronger: "Stronger",
  new: "New",
  reworded: "Reworded",
  kept: "Kept",
};

/** A present finding, or an earlier one if it was removed. */
export interface MovedFinding {
  readonly move: Move;
  readonly text: string;
  /** The earlier text, if it was reworded. */
  readonly before?: string;
  /** Strength before and after the update, 0 to 5. */
  readonly from?: number;
  readonly to?: number;
}

/** The changes of the last update of a project. */
export interface WhatChanged {
  readonly since: string;
  readonly until: string;
  /** True if an agent wrote the report again. Otherwise no finding could change. */
  readonly isWritten: boolean;
  readonly new: readonly PaperRow[];
  readonly changed: readonly {
    readonly paper: PaperRow;
    /** What changed, one clause; and whether the paper was read again, another clause. */
    readonly says: string;
    readonly reading: string;
  }[];
  readonly retracted: readonly PaperRow[];
  /** Changed findings first, unchanged ones last. */
  readonly findings: readonly MovedFinding[];
  /** Sources whose part of the time window was not completely searched. */
  readonly failed: readonly string[];
}

interface FindingNow {
  readonly text: string;
  readonly strength: Pick<Strength, "level">;
}

const order: readonly Move[] = ["gone", "weaker", "stronger", "new", "reworded", "kept"];

/** The changes of the last update; undefined if there was none, or if its report is not written yet. Pure. */
export function whatChanged(
  { updates, papers_pool }: Pick<Rrd, "updates" | "papers_pool">,
  sentences: readonly (StoredSentence & { readonly was?: string })[],
  findings: readonly FindingNow[],
  row: (id: string) => PaperRow | undefined,
): WhatChanged | undefined {
  const update = updates?.at(-1);
  if (update?.closed_at === undefined) return undefined;
  const rows = (ids: readonly string[] = []) => ids.flatMap((id) => row(id) ?? []);
  return {
    since: update.since,
    until: update.until,
    isWritten: update.report !== "rendered",
    new: rows(update.new),
    changed: (update.changed ?? []).flatMap(({ id, says, read_again: isOther, compared }) => {
      const paper = row(id);
      const { iteration = 0 } = papers_pool.find((each) => each.id === id) ?? {};
      const isRead = iteration > (update.iteration ?? 0);
      const reading = isOther
        ? isRead
          ? "read again"
          : "it could not be read again"
        : compared === false
          ? "its text could not be compared"
          : "the same text";
      return paper === undefined ? [] : [{ paper, says, reading }];
    }),
    retracted: rows(update.retracted),
    findings: movesOf(update, sentences, findings),
    failed: Object.keys(update.failed ?? {}),
  };
}

function movesOf(
  { before = [], report }: ProjectUpdate,
  sentences: readonly { readonly was?: string }[],
  findings: readonly FindingNow[],
): MovedFinding[] {
  const remaining = new Map(before.map((finding) => [finding.id, finding]));
  const moves = findings.map(({ text, strength }, index): MovedFinding => {
    // A report that was only rendered again has the same findings in the same places.
    const was = report === "rendered" ? `f${index + 1}` : sentences[index]?.was;
    const claimed = before.find(({ id }) => id === was);
    // Two papers may say the same in the same words; each finding continues only one of them.
    const isSame = (each: { readonly id: string; readonly text: string }) =>
      remaining.has(each.id) && each.text === text;
    const former = claimed !== undefined && remaining.has(claimed.id) ? claimed : (before.find(isSame) ?? claimed);
    if (former === undefined) return { move: "new", text, to: strength.level };
    remaining.delete(former.id);
    const [from, to] = [former.level, strength.level];
    const move = to > from ? "stronger" : to < from ? "weaker" : former.text === text ? "kept" : "reworded";
    return { move, text, from, to, ...(move === "reworded" ? { before: former.text } : {}) };
  });
  const removed = [...remaining.values()].map(({ text, level }): MovedFinding => ({ move: "gone", text, from: level }));
  return [...moves, ...removed].toSorted((a, b) => order.indexOf(a.move) - order.indexOf(b.move));
}

/** The number of findings for each change: "1 new, 2 kept". */
export function movesText(findings: readonly MovedFinding[]): string {
  const counts = order.map((move) => ({ move, count: findings.filter((each) => each.move === move).length }));
  return counts.flatMap(({ move, count }) => (count === 0 ? [] : [`${count} ${move}`])).join(", ");
}
