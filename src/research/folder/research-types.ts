import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../generated/rrd.js";
import type { Change } from "../../engine/storage/records/record-merge.js";
import type { Document } from "./logs/output-files.js";

/** Everything one iteration leaves behind. */
export interface Fold {
  readonly iteration: number;
  /** End of the iteration, ISO 8601 in UTC. */
  readonly at: string;
  /** Subject of the git commit. */
  readonly message: string;
  /** Commit it with the next one: a service that is away for hours must not fill the history. */
  readonly later?: boolean;
  readonly changes: readonly Change[];
  /** What is added to progress.txt, line feed included. It must differ from every other entry, as one with the time or a paper's id does. */
  readonly progress?: string;
  readonly ledger: LedgerLine;
  /** Whole files of the research folder to write, such as the report, or to take away. */
  readonly files?: readonly Document[];
}

export interface ResearchOptions {
  /** Statistics, timing and phase from the records; pure. Applied to every state before it is written. */
  readonly derive: (rrd: Rrd, ledger: readonly LedgerLine[]) => Rrd;
  /** Whether to commit checkpoints; without git or a repository there are none, silently. */
  readonly git: boolean;
  readonly notify: (level: "info" | "warning", message: string) => void;
  /** Aborted when the run ends at once: a git that hangs is then no longer waited for. */
  readonly abort?: AbortSignal;
}

/** A research folder that this process alone writes. */
export interface Research {
  readonly folder: string;
  /**
   * The state as it stands on the disk; papers that an editor's stale save took back are restored first.
   * @throws ExpectedError for an invalid rrd.json; it is never overwritten.
   */
  load(): Promise<{ readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] }>;
  /**
   * Changes the state outside of any iteration, as a person would, and returns it. `change` is pure: it may be asked again where the
   * file is saved by hand in this very moment. The next checkpoint commits it; with `commits` there is one at the end at the latest.
   * @throws ExpectedError as load.
   */
  edit(change: (rrd: Rrd) => Rrd, commits?: boolean): Promise<Rrd>;
  /** A number for the iteration that begins now: one above all that were folded, journalled or given since this was opened. */
  nextIteration(): number;
  /**
   * Merges an iteration into the files. Once the journal holds it, no kill loses any part of it; folding an iteration that is
   * in the ledger already does nothing.
   * @throws ExpectedError where a person has to mend something first (invalid rrd.json, full disk); the fold is made up for then.
   */
  fold(fold: Fold): Promise<void>;
  /** Commits what has no checkpoint yet and gives the folder up. */
  close(): Promise<void>;
}
