import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Change } from "../project-files/research.js";
import type { ProductIdeas } from "../generated/product-ideas.js";
import type { ReportFile } from "../generated/report.js";
import type { Paper, Rrd } from "../generated/rrd.js";

/**
 * What is folded in when a result is accepted. engine/storage/state/fold.ts writes it, in this order: an entry of the
 * journal, rrd.json, the entry of progress.txt and the ledger's line, whole files, the journal's mark; then git commits
 * them.
 */
export interface Acceptable {
  readonly changes: readonly Change[];
  /** Entry for progress.txt, without the iteration's line. */
  readonly progress: string;
  readonly files?: readonly { readonly name: string; readonly text: string }[];
  /** What has to be shown to people anew: the state with these changes, and what else the result holds. */
  readonly shows?: { readonly rrd: Rrd; readonly narrative?: ReportFile; readonly ideas?: ProductIdeas };
  /** One line for the screen and the commit. */
  readonly summary: string;
  readonly ledger?: Partial<LedgerLine>;
  /** What a person has to know of it. */
  readonly notice?: { readonly level: "info" | "warning"; readonly message: string };
}

/** Why a result is refused, for the next attempt to read. */
export interface Unacceptable {
  readonly reasons: readonly string[];
}

/** What a second reader checks: the sentences of reports with the claims that they cite, or every claim too. */
export type CheckWish = "reports" | "all";

/** What judging a result needs besides the state. */
export interface Judging {
  readonly iteration: number;
  /** Name of the agent, for the report. */
  readonly agent: string;
  /** Time of the acceptance. */
  readonly at: Date;
  /** What of it a second reader is to check: the sentences of a report, or claims of readings too. */
  readonly check?: CheckWish;
  /** A second agent fills in the form of each paper that is read. */
  readonly second?: boolean;
  /** Something that looks like a secret of the user's was taken out of the result. */
  readonly redacted?: boolean;
}

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The change of a paper's record to these fields. */
export const changeOf = (paper: Paper, set: Partial<Paper>): Change => ({
  in: "papers_pool",
  id: paper.id,
  set,
  was: Object.fromEntries(Object.keys(set).map((field) => [field, paper[field]])),
});
