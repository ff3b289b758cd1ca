import { basename } from "node:path";
import type { LedgerLine } from "../generated/ledger.js";
import { oneLine } from "../lib/sanitise.js";
import { type Standing, progressText, stateText } from "./state-text.js";
import { bar } from "./terminal/format.js";
import { tableLines } from "./terminal/table.js";
import { partText } from "./terminal/tally.js";

/** An event of a project or task between two checks. */
export type StateChange =
  | { readonly type: "started" | "stopped" | "crashed" | "gone" | "broken"; readonly work: Standing }
  | { readonly type: "iteration"; readonly work: Standing; readonly line: LedgerLine };

/** The events between two checks; at the first check, only whether a run is under way. Pure. */
export function changesOf(previous: Standing | undefined, current: Standing | undefined): StateChange[] {
  if (current === undefined) return previous === undefined ? [] : [{ type: "gone", work: previous }];
  if (current.broken !== undefined) return previous?.broken === undefined ? [{ type: "broken", work: current }] : [];
  if (previous?.broken !== undefined) return changesOf(undefined, current);
  const oldIterations = new Set((previous ?? current).ledger.map(({ iteration }) => iteration));
  const newLines = current.ledger.filter(({ iteration }) => !oldIterations.has(iteration));
  return [
    ...(current.running && previous?.running !== true ? [{ type: "started" as const, work: current }] : []),
    ...newLines.map((line) => ({ type: "iteration" as const, work: current, line })),
    ...(previous?.running === true && !current.running
      ? [{ type: current.abandoned ? ("crashed" as const) : ("stopped" as const), work: current }]
      : []),
  ];
}

/**
 * A table of at most `columns` columns with all projects and tasks. If it is too wide, cost and last activity are
 * omitted before names are cut.
 */
export const watchTable = (standings: readonly Standing[], now: number, columns: number): string[] =>
  tableLines(
    [{ cut: "before-date" }, {}, { drop: 3 }, {}, { drop: 2 }, { drop: 1 }],
    standings.map((work) => {
      const name = oneLine(basename(work.folder));
      if (work.broken !== undefined) return [name, `broken: ${oneLine(work.broken)}`];
      const { headline, doing, cost } = stateText(work, now);
      const { done, total } = work.progress;
      const lastActivity = work.running ? doing.join(", ") : (work.lastRun?.verdict ?? "");
      return [
        name,
        headline,
        bar(done, total, 10),
        `${done}/${total}`,
        oneLine(lastActivity),
        cost ?? "nothing recorded",
      ];
    }),
    columns - 1,
  );

/** An event in one line: "grasping: #5 p3 accepted (3 of 12 papers done)". */
export function changeLine(change: StateChange, now: number): string {
  const { work } = change;
  const name = oneLine(basename(work.folder));
  if (change.type === "broken") return `${name}: broken: ${oneLine(work.broken ?? "")}`;
  if (change.type === "iteration") return `${name}: ${iterationText(change.line, work.names)} (${progressText(work)})`;
  if (change.type === "started") return `${name}: a run is under way`;
  if (change.type === "gone") return `${name}: deleted`;
  const { cost } = stateText(work, now);
  const endText =
    change.type === "crashed"
      ? "its run was killed; the next run continues from there"
      : work.lastRun === undefined
        ? "the run ended"
        : `the run ended: ${work.lastRun.verdict}: ${oneLine(work.lastRun.reason).replace(/\.$/, "")}`;
  return `${name}: ${endText}; ${cost === undefined ? "its cost is not recorded" : `total cost ${cost}`}`;
}

/** An ended iteration: "#5 critic p3 refused: no quote was found". */
export const iterationText = (
  { iteration, role, round, unit, outcome, reasons = [] }: LedgerLine,
  names?: Standing["names"],
): string =>
  oneLine(
    `#${iteration} ${role === undefined ? "" : `${partText(role, round)} `}${names?.get(unit) ?? unit} ${outcome}${
      outcome === "accepted" || reasons[0] === undefined ? "" : `: ${reasons[0]}`
    }`,
  );
