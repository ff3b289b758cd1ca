import { basename } from "node:path";
import type { LedgerLine } from "../generated/ledger.js";
import { oneLine } from "../lib/sanitise.js";
import { type Standing, progressText, wordsOf } from "./standing.js";
import { bar } from "./terminal/format.js";
import { tableLines } from "./terminal/table.js";
import { partText } from "./terminal/tally.js";

/** Something that happened to a piece of work since it was last looked at. */
export type Change =
  | { readonly type: "started" | "stopped" | "crashed" | "gone" | "broken"; readonly work: Standing }
  | { readonly type: "iteration"; readonly work: Standing; readonly line: LedgerLine };

/** What happened between two looks; nothing at the first, but that it is being worked on. Pure. */
export function changesOf(before: Standing | undefined, after: Standing | undefined): Change[] {
  if (after === undefined) return before === undefined ? [] : [{ type: "gone", work: before }];
  if (after.broken !== undefined) return before?.broken === undefined ? [{ type: "broken", work: after }] : [];
  if (before?.broken !== undefined) return changesOf(undefined, after);
  const known = new Set((before ?? after).ledger.map(({ iteration }) => iteration));
  const fresh = after.ledger.filter(({ iteration }) => !known.has(iteration));
  return [
    ...(after.running && before?.running !== true ? [{ type: "started" as const, work: after }] : []),
    ...fresh.map((line) => ({ type: "iteration" as const, work: after, line })),
    ...(before?.running === true && !after.running
      ? [{ type: after.abandoned ? ("crashed" as const) : ("stopped" as const), work: after }]
      : []),
  ];
}

/** All work as a table that fits `room` columns; what each did last and cost gives way before its name. */
export const watchTable = (all: readonly Standing[], now: number, room: number): string[] =>
  tableLines(
    [{ cut: "before-date" }, {}, { drop: 3 }, {}, { drop: 2 }, { drop: 1 }],
    all.map((work) => {
      const name = oneLine(basename(work.folder));
      if (work.broken !== undefined) return [name, `broken: ${oneLine(work.broken)}`];
      const { headline, doing, cost } = wordsOf(work, now);
      const { done, total } = work.progress;
      const last = work.running ? doing.join(", ") : (work.lastRun?.verdict ?? "");
      return [name, headline, bar(done, total, 10), `${done}/${total}`, oneLine(last), cost ?? "nothing recorded"];
    }),
    room - 1,
  );

/** A change in one line: "grasping: #5 p3 accepted (3 of 12 papers decided)". */
export function changeLine(change: Change, now: number): string {
  const { work } = change;
  const name = oneLine(basename(work.folder));
  if (change.type === "broken") return `${name}: broken: ${oneLine(work.broken ?? "")}`;
  if (change.type === "iteration") return `${name}: ${iterationText(change.line, work.names)} (${progressText(work)})`;
  if (change.type === "started") return `${name}: a run is under way`;
  if (change.type === "gone") return `${name}: deleted`;
  const { cost } = wordsOf(work, now);
  const how =
    change.type === "crashed"
      ? "its run was killed; the next run continues from there"
      : work.lastRun === undefined
        ? "the run ended"
        : `the run ended: ${work.lastRun.verdict}: ${oneLine(work.lastRun.reason).replace(/\.$/, "")}`;
  return `${name}: ${how}; ${cost === undefined ? "its cost is not recorded" : `total cost ${cost}`}`;
}

/** An iteration that has ended: "#5 critic p3 refused: no quote was found". */
export const iterationText = (
  { iteration, role, round, unit, outcome, reasons = [] }: LedgerLine,
  names?: Standing["names"],
): string =>
  oneLine(
    `#${iteration} ${role === undefined ? "" : `${partText(role, round)} `}${names?.get(unit) ?? unit} ${outcome}${
      outcome === "accepted" || reasons[0] === undefined ? "" : `: ${reasons[0]}`
    }`,
  );
