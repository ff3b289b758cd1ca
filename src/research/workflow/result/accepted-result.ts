import type { LedgerLine } from "../../../engine/generated/ledger.js";
import type { Change } from "../../folder/research.js";

/**
 * What is folded in when a result is accepted. engine/storage/records/fold.ts writes it, in this order: an entry of the journal, rrd.json,
 * the entry of progress.txt and the ledger's line, whole files, the journal's mark; then git commits them.
 */
export interface Acceptable {
  readonly changes: readonly Change[];
  /** Entry for progress.txt, without the iteration's line. */
  readonly progress: string;
  readonly files?: readonly { readonly name: string; readonly text: string }[];
  /** One line for the screen and the commit. */
  readonly summary: string;
  readonly ledger?: Partial<LedgerLine>;
}

/** Why a result is refused, for the next attempt to read. */
export interface Unacceptable {
  readonly reasons: readonly string[];
}

/** What judging a result needs besides the state. */
export interface Judging {
  readonly iteration: number;
  /** Name of the agent, for the report. */
  readonly agent: string;
  /** Time of the acceptance. */
  readonly at: Date;
  /** Something that looks like a secret of the user's was taken out of the result. */
  readonly redacted?: boolean;
}

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
