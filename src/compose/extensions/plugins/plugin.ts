// The types for authors of plugins. docs/plugins.md explains how to write one.
import type { LoopEvent } from "../../../engine/generated/event.js";
import type { BriefDraft, AgentOutput } from "../../../engine/points/points.js";
import type { Changed } from "../../../engine/generated/plugin.js";
import type { SourcePage, SourceRequest } from "../../../research/sources/generated/plugin.js";

export type { BriefDraft, AgentOutput, MadeFile } from "../../../engine/points/points.js";
export type { Changed, ChangedFile } from "../../../engine/generated/plugin.js";
export type { SourcePage, SourceRecord, SourceRequest } from "../../../research/sources/generated/plugin.js";

/** The default export of a plugin's module. */
export interface Plugin {
  /** Letters, digits and `_ @ . / -`, at most 80. */
  readonly name: string;
  readonly version: string;
  readonly hooks?: PluginHooks;
  readonly sources?: readonly PluginSource[];
}

/** The last argument of every call of a plugin. */
export interface PluginContext {
  /** `config` of its entry in the configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The project's folder, which it may read. */
  readonly folder?: string;
}

type Answer<Value> = Value | undefined | void | Promise<Value | undefined | void>;

/**
 * Functions that are called at points of a run. Each call runs in a separate process and may take ten seconds. If a
 * hook returns `unknown`, the run waits for it and ignores its result.
 */
export interface PluginHooks {
  /** Before an agent starts. Returns a text to add to its brief: at most 4,000 characters. */
  onBeforeGen?(made: BriefDraft, context: PluginContext): Answer<string>;
  /**
   * After an agent has ended, before its work is checked. For work on a folder, returns the files to change with their
   * new text; for a result, returns fields that are stored beside it.
   */
  onAfterGen?(made: AgentOutput, context: PluginContext): Answer<Changed>;
  /** A check of a task has found failing tests. */
  onTestFail?(checked: Extract<LoopEvent, { type: "checked" }>, context: PluginContext): unknown;
  /**
   * The work is about to be complete. A returned text vetoes that and gives the reason, which the next brief repeats;
   * `false` vetoes without a reason.
   */
  onBeforeSuccess?(proposal: Proposal, context: PluginContext): Answer<boolean | string>;
  /** The work is complete. */
  onSuccess?(ended: Extract<LoopEvent, { type: "run-ended" }>, context: PluginContext): unknown;
  /** The reading of a paper was accepted; `paper` is its record in rrd.json. */
  onReading?(reading: { readonly iteration: number; readonly paper: PaperRead }, context: PluginContext): unknown;
  /** The report was written; `path` is the path of research-report.md. */
  onReport?(report: { readonly iteration: number; readonly path: string }, context: PluginContext): unknown;
}

/** The result that would complete the work. */
export interface Proposal {
  readonly unit: string;
  readonly phase: string;
  readonly title: string;
  /** Only for a research project; a task is complete when its criteria are met. */
  readonly summary?: string;
}

/** The record of a paper, as schemas/rrd.schema.json has it. */
export interface PaperRead {
  readonly id: string;
  readonly title: string;
  readonly [field: string]: unknown;
}

/**
 * A scholarly service. The plugin makes the requests and reads the answers; research-ralph sends the requests, with the
 * same pace, cache and log as for every other source.
 */
export interface PluginSource {
  /** The name in `--source` and in reports: letters, digits, `_` and `-`. */
  readonly id: string;
  /** Base address of the service. Its host must be in `allow.hosts`. */
  readonly endpoint: string;
  /** The request for one page of results. `next`: the value from the previous page; absent for the first. */
  search(search: SourceSearch, context: PluginContext): SourceRequest | Promise<SourceRequest>;
  /** Reads the answer to the request. */
  read(answer: SourceAnswer, context: PluginContext): SourcePage | Promise<SourcePage>;
}

/** What is searched for. */
export interface SourceSearch {
  /** Words that should occur together. */
  readonly terms: string;
  /** First and last day of publication, YYYY-MM-DD. */
  readonly from?: string;
  readonly until?: string;
  /** Maximum number of records. */
  readonly most: number;
  readonly next?: string | number;
}

/** The answer of a service. */
export interface SourceAnswer {
  /** The body, decoded. */
  readonly text: string;
  readonly search: SourceSearch;
}
