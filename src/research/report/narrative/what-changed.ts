import type { ProjectUpdate, Rrd } from "../../generated/rrd.js";
import type { PaperRow } from "../papers.js";
import type { Strength } from "../strength.js";
import type { SaidSentence } from "../statements.js";

/** What became of a finding in an update. `reworded`: as strong as before, in other words. */
export type Move = "new" | "stronger" | "weaker" | "reworded" | "kept" | "gone";

/** Each as a label. */
export const moveWords: Readonly<Record<Move, string>> = {
  gone: "Gone",
  weaker: "Weaker",
  stronger: "Stronger",
  new: "New",
  reworded: "Reworded",
  kept: "Kept",
};

/** A finding of now, or of before where it is gone. */
export interface MovedFinding {
  readonly move: Move;
  readonly text: string;
  /** How it was worded before, where it is reworded. */
  readonly before?: string;
  /** Strength before and now, 0 to 5. */
  readonly from?: number;
  readonly to?: number;
}

/** What the last update of a project has changed. */
export interface WhatChanged {
  readonly since: string;
  readonly until: string;
  /** An agent wrote the report anew; otherwise no finding could move. */
  readonly isWritten: boolean;
  readonly new: readonly PaperRow[];
  readonly changed: readonly {
    readonly paper: PaperRow;
    /** What changed, as one clause, and whether it was read again for it, as another. */
    readonly says: string;
    readonly reading: string;
  }[];
  readonly retracted: readonly PaperRow[];
  /** What moved first, what was kept last. */
  readonly findings: readonly MovedFinding[];
  /** Sources whose part of the window is still to be asked. */
  readonly failed: readonly string[];
}

interface FindingNow {
  readonly text: string;
  readonly strength: Pick<Strength, "level">;
}

const order: readonly Move[] = ["gone", "weaker", "stronger", "new", "reworded", "kept"];

/** What the last update changed; undefined where there was none, or its report is not written yet. Pure. */
export function whatChanged(
  { updates, papers_pool }: Pick<Rrd, "updates" | "papers_pool">,
  said: readonly (SaidSentence & { readonly was?: string })[],
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
    findings: movesOf(update, said, findings),
    failed: Object.keys(update.failed ?? {}),
  };
}

function movesOf(
  { before = [], report }: ProjectUpdate,
  said: readonly { readonly was?: string }[],
  findings: readonly FindingNow[],
): MovedFinding[] {
  const left = new Map(before.map((finding) => [finding.id, finding]));
  const moved = findings.map(({ text, strength }, index): MovedFinding => {
    // A report that was only rendered again has its findings where they were.
    const was = report === "rendered" ? `f${index + 1}` : said[index]?.was;
    const named = before.find(({ id }) => id === was);
    // Two papers may say the same in the same words: then each finding continues one.
    const isSame = (each: { readonly id: string; readonly text: string }) => left.has(each.id) && each.text === text;
    const former = named !== undefined && left.has(named.id) ? named : (before.find(isSame) ?? named);
    if (former === undefined) return { move: "new", text, to: strength.level };
    left.delete(former.id);
    const [from, to] = [former.level, strength.level];
    const move = to > from ? "stronger" : to < from ? "weaker" : former.text === text ? "kept" : "reworded";
    return { move, text, from, to, ...(move === "reworded" ? { before: former.text } : {}) };
  });
  const gone = [...left.values()].map(({ text, level }): MovedFinding => ({ move: "gone", text, from: level }));
  return [...moved, ...gone].toSorted((a, b) => order.indexOf(a.move) - order.indexOf(b.move));
}

/** How many findings moved which way: "1 new, 2 kept". */
export function movesText(findings: readonly MovedFinding[]): string {
  const counts = order.map((move) => ({ move, count: findings.filter((each) => each.move === move).length }));
  return counts.flatMap(({ move, count }) => (count === 0 ? [] : [`${count} ${move}`])).join(", ");
}
