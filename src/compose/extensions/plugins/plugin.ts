// What a plugin is written against: types alone. docs/plugins.md shows how.
import type { LoopEvent } from "../../../engine/generated/event.js";
import type { BriefDraft, AgentOutput } from "../../../engine/points/points.js";
import type { Changed, SourcePage, SourceRequest } from "../../../engine/generated/plugin.js";

export type { BriefDraft, AgentOutput, MadeFile } from "../../../engine/points/points.js";
export type {
  Changed,
  ChangedFile,
  SourcePage,
  SourceRecord,
  SourceRequest,
} from "../../../engine/generated/plugin.js";

/** What a module exports as its default to be a plugin. */
export interface Plugin {
  /** Letters, digits and `_ @ . / -`, at most 80. */
  readonly name: string;
  readonly version: string;
  readonly hooks?: PluginHooks;
  readonly sources?: readonly PluginSource[];
}

/** What a plugin gets with each call besides what the call is about. */
export interface PluginContext {
  /** `config` of its entry in the configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The project's folder, which it may read. */
  readonly folder?: string;
}

type Answer<Value> = Value | undefined | void | Promise<Value | undefined | void>;

/**
 * What a plugin may do at points of a run; each call has ten seconds and a process of its own. A hook that answers with
 * `unknown` is not listened to; it is waited for.
 */
export interface PluginHooks {
  /** Before an agent starts. Answers with what is added to its brief: at most 4,000 characters. */
  onBeforeGen?(made: BriefDraft, context: PluginContext): Answer<string>;
  /**
   * After an agent has ended, before its work is checked. Of work on a folder it answers with the files whose text is
   * to be another; of a result with fields that are kept beside it.
   */
  onAfterGen?(made: AgentOutput, context: PluginContext): Answer<Changed>;
  /** A check of a task has found failing tests. */
  onTestFail?(checked: Extract<LoopEvent, { type: "checked" }>, context: PluginContext): unknown;
  /**
   * The work is about to be complete. A text vetoes that and says why, which the next brief repeats; so does `false`,
   * without a reason.
   */
  onBeforeSuccess?(proposal: Proposal, context: PluginContext): Answer<boolean | string>;
  /** The work is complete. */
  onSuccess?(ended: Extract<LoopEvent, { type: "run-ended" }>, context: PluginContext): unknown;
  /** The reading of a paper was accepted; `paper` is its record in rrd.json. */
  onReading?(reading: { readonly iteration: number; readonly paper: PaperRead }, context: PluginContext): unknown;
  /** The report was written; `path`: of research-report.md. */
  onReport?(report: { readonly iteration: number; readonly path: string }, context: PluginContext): unknown;
}

/** What is about to complete the work. */
export interface Proposal {
  readonly unit: string;
  readonly phase: string;
  readonly title: string;
  /** Of a research project; a task has its criteria met. */
  readonly summary?: string;
}

/** The record of a paper, as schemas/rrd.schema.json has it. */
export interface PaperRead {
  readonly id: string;
  readonly title: string;
  readonly [field: string]: unknown;
}

/**
 * A scholarly service. The plugin says what to ask and reads the answers; the asking itself is ours, so that it has the
 * pace, the cache and the log of every other source.
 */
export interface PluginSource {
  /** As `--source` and reports name it: letters, digits, `_` and `-`. */
  readonly id: string;
  /** Base address of the service, whose host has to be among `allow.hosts`. */
  readonly endpoint: string;
  /** What to ask for one page of results. `next`: what the page before named, absent for the first. */
  search(search: SourceSearch, context: PluginContext): SourceRequest | Promise<SourceRequest>;
  /** Reads the answer to that. */
  read(answer: SourceAnswer, context: PluginContext): SourcePage | Promise<SourcePage>;
}

/** What is searched for. */
export interface SourceSearch {
  /** Words that should occur together. */
  readonly terms: string;
  /** First and last day of publication, YYYY-MM-DD. */
  readonly from?: string;
  readonly until?: string;
  /** Maximum number of records that are wanted. */
  readonly most: number;
  readonly next?: string | number;
}

/** What a service has answered. */
export interface SourceAnswer {
  /** The body, decoded. */
  readonly text: string;
  readonly search: SourceSearch;
}
