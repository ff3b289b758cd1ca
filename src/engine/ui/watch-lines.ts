import { basename } from "node:path";
import type { LedgerLine } from "../generated/ledger.js";
import { oneLine } from "../lib/sanitise.js";
import { type Standing, progressText, stateText } from "./state-text.js";
import { progressBar } from "./terminal/format.js";
import { type Column, tableLines } from "./terminal/table.js";
import { roleWithRound } from "./terminal/tally.js";

/** A change of a project or task between two checks. `work` is the state of that project or task. */
export type StateChange =
  | { readonly type: "started" | "stopped" | "crashed" | "gone" | "broken"; readonly work: Standing }
  | { readonly type: "iteration"; readonly work: Standing; readonly line: LedgerLine };

/** The changes between two checks. At the first check, the only change is a run that is under way. Pure. */
export function changesOf(previous: Standing | undefined, current: Standing | undefined): StateChange[] {
  if (current === undefined) return previous === undefined ? [] : [{ type: "gone", work: previous }];
  if (current.problem !== undefined) return previous?.problem === undefined ? [{ type: "broken", work: current }] : [];
  // The folder could not be read at the previous check, so this check counts as the first.
  if (previous?.problem !== undefined) return changesOf(undefined, current);
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

const nameColumn: Column = { cut: "before-date" };
const headlineColumn: Column = {};
const barColumn: Column = { dropOrder: 3 };
const progressColumn: Column = {};
const activityColumn: Column = { dropOrder: 2 };
const costColumn: Column = { dropOrder: 1 };

/**
 * A table with all projects and tasks, at most `columns` columns wide. If it is too wide, the cost, the last activity
 * and the progress bar are omitted, in this order. The last column of the terminal stays free, because some terminals
 * wrap a full line.
 */
export const watchTable = (standings: readonly Standing[], now: number, columns: number): string[] =>
  tableLines(
    [nameColumn, headlineColumn, barColumn, progressColumn, activityColumn, costColumn],
    standings.map((work) => {
      const name = oneLine(basename(work.folder));
      if (work.problem !== undefined) return [name, `broken: ${oneLine(work.problem)}`];
      const { headline, doing, cost } = stateText(work, now);
      const { done, total } = work.progress;
      const lastActivity = work.running ? doing.join(", ") : (work.lastRun?.verdict ?? "");
      return [
        name,
        headline,
        progressBar(done, total, 10),
        `${done}/${total}`,
        oneLine(lastActivity),
        cost ?? "nothing recorded",
      ];
    }),
    columns - 1,
  );

/** A change in one line. For a project in the folder `hands`: "hands: #5 p3 accepted (3 of 12 papers done)". */
export function changeLine(change: StateChange, now: number): string {
  const { work } = change;
  const name = oneLine(basename(work.folder));
  if (change.type === "broken") return `${name}: broken: ${oneLine(work.problem ?? "")}`;
  if (change.type === "iteration") return `${name}: ${iterationText(change.line, work.names)} (${progressText(work)})`;
  if (change.type === "started") return `${name}: a run is under way`;
  if (change.type === "gone") return `${name}: deleted`;
  const { cost } = stateText(work, now);
  const endText =
    change.type === "crashed"
      ? "its run was killed; the next run continues its work"
      : work.lastRun === undefined
        ? "the run ended"
        : `the run ended: ${work.lastRun.verdict}: ${oneLine(work.lastRun.reason).replace(/\.$/, "")}`;
  return `${name}: ${endText}; ${cost === undefined ? "its cost is not recorded" : `total cost ${cost}`}`;
}

/**
 * An ended iteration: "#5 critic p3 refused: no quote was found". The role ("critic") and the reason may be absent.
 */
function iterationText(
  { iteration, role, round, unit, outcome, reasons = [] }: LedgerLine,
  unitNames?: Standing["names"],
): string {
  const roleText = role === undefined ? "" : `${roleWithRound(role, round)} `;
  const reasonText = outcome === "accepted" || reasons[0] === undefined ? "" : `: ${reasons[0]}`;
  return oneLine(`#${iteration} ${roleText}${unitNames?.get(unit) ?? unit} ${outcome}${reasonText}`);
}
