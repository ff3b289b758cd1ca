import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Change } from "../project-files/research.js";
import type { ProductIdeas } from "../generated/product-ideas.js";
import type { ReportFile } from "../generated/report.js";
import type { Paper, Rrd } from "../generated/rrd.js";

/**
 * The changes of an accepted result. engine/storage/state/fold.ts writes them in this order: a journal entry, rrd.json,
 * the entry in progress.txt and the ledger line, whole files, the journal's end mark. Then git commits them.
 */
export interface Acceptance {
  readonly changes: readonly Change[];
  /** Entry for progress.txt, without the line about the iteration. */
  readonly progress: string;
  readonly files?: readonly { readonly name: string; readonly text: string }[];
  /** What the pages and documents must show now: the state with these changes, and other parts of the result. */
  readonly toRender?: { readonly rrd: Rrd; readonly narrative?: ReportFile; readonly ideas?: ProductIdeas };
  /** One line for the screen and the commit. */
  readonly summary: string;
  readonly ledger?: Partial<LedgerLine>;
  /** A message for the user. */
  readonly notice?: { readonly level: "info" | "warning"; readonly message: string };
}

/** The reasons why a result is refused, for the next attempt. */
export interface Rejection {
  readonly reasons: readonly string[];
}

/** What a second agent checks: the sentences of reports and the claims that they cite, or also all other claims. */
export type CheckScope = "reports" | "all";

/** The data that are needed to judge a result, in addition to the state. */
export interface JudgingContext {
  readonly iteration: number;
  /** Name of the agent, for the report. */
  readonly agent: string;
  /** Time of the acceptance. */
  readonly at: Date;
  /** What a second agent must check. */
  readonly check?: CheckScope;
  /** True if a second agent fills in the form of each paper. */
  readonly second?: boolean;
  /** True if something like a secret of the user was removed from the result. */
  readonly redacted?: boolean;
}

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The change of these fields in a paper's record. */
export const changeOf = (paper: Paper, set: Partial<Paper>): Change => ({
  in: "papers_pool",
  id: paper.id,
  set,
  was: Object.fromEntries(Object.keys(set).map((field) => [field, paper[field]])),
});
