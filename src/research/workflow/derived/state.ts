import type { LedgerLine } from "../../../engine/generated/ledger.js";
import type { Paper, Refusal, Rrd } from "../../generated/rrd.js";
import type { Unit } from "../../../engine/loop/types.js";
import type { AboutPaper } from "../../paper-services/about-paper.js";
import type { PaperText } from "../../../engine/documents/text/paper-text.js";
import type { UpdateCheck } from "../../paper-services/kept-retraction-checks.js";
import type { KeptAnswers } from "../../paper-services/kept-answers.js";
import type { SearchSession } from "../discovery/search-session.js";
import { type ProjectStatus, unitRefusals } from "../decisions/status.js";
import type { NamedPaper, PaperRecord } from "../../papers/paper-record.js";

/** What the workflow reads off the disk before each iteration. */
export interface ResearchState {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  readonly status: ProjectStatus;
}

/** A unit of a project. */
export interface ResearchUnit extends Unit {
  readonly kind: "discovery" | "paper" | "report" | "ideas";
}

/** Every kind of unit; in classic mode there is only that one. */
export type UnitKind = ResearchUnit["kind"] | "classic";

/** What the world outside offers to a project. Injected: a source layer fills it, tests and the demo bring their own. */
export interface Library {
  /** Whether code, not an agent, searches this source. */
  serves(source: string): boolean;
  /** Everything the source offers, in a stable order. Throws ExpectedError when it can't be reached. */
  candidates(source: string): Promise<readonly PaperRecord[]>;
  text(paper: Paper): Promise<TextAnswer>;
  /** The scholarly services that a name in `sources` leads to, by their own names; none where it is left to the agent. */
  services(source: string): readonly string[];
  /** What is asked in place of a source that programs may not ask, as one sentence. */
  substitution(source: string): string | undefined;
  /** Searches these services until there is enough to judge: found, deduplicated and ranked. Never throws for what a network does. */
  search(rrd: Rrd, services: readonly string[]): Promise<SearchSession>;
  /** What happened to papers since they were published, by id; bounded in time. Never throws for what a network does. */
  updates(papers: readonly NamedPaper[], within?: number): Promise<ReadonlyMap<string, UpdateCheck>>;
  /** The code of a paper and how often it was cited; bounded in time. Never throws for what a network does. */
  about(paper: Paper): Promise<AboutPaper>;
}

/** What is on the disk of all this. It asks nobody and writes nothing, and names who would be asked first. */
export interface KeptLibrary extends Pick<Library, "serves" | "candidates" | "services" | "substitution">, KeptAnswers {
  search(
    rrd: Rrd,
    services: readonly string[],
  ): Promise<{ readonly session: SearchSession; readonly asks: readonly string[] }>;
}

/** A paper's text, or the sentence that says why there is none. `transient`: it may be had in some minutes or hours. */
export type TextAnswer = { readonly text: PaperText } | { readonly unavailable: string; readonly transient?: true };

/** The refusals of a unit since it was last accepted, the oldest first. */
export const refusalsOf = ({ rrd, ledger }: ResearchState, unit: ResearchUnit): readonly Refusal[] =>
  unit.kind === "paper" ? (paperOf(rrd, unit.id)?.refusals ?? []) : unitRefusals(rrd, ledger, unit.id);

export const paperOf = (rrd: Rrd, id: string): Paper | undefined => rrd.papers_pool.find((paper) => paper.id === id);
