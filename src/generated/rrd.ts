// Generated from schemas/rrd.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * How papers are judged. Absent in the oldest files, which used the execution rubric alone.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "mission".
 */
export type Mission = {
  /**
   * true: both rubrics, out of 50. false: the execution rubric alone, out of 30.
   */
  blue_ocean_scoring?: boolean;
  /**
   * Strategic score from which a paper below the combined threshold still yields insights.
   */
  min_blue_ocean_score?: number;
  /**
   * Combined score from which a paper is presented.
   */
  min_combined_score?: number;
  /**
   * Weights. market_creation counts market_creation twice; defensibility counts first_mover_window and network_effects twice; speed counts time_to_poc and strategic_clarity twice. Totals are scaled back to 30 and 20.
   */
  strategic_focus?: "balanced" | "market_creation" | "defensibility" | "speed";
  /**
   * Whether a paper read from its abstract alone may be presented.
   */
  present_abstract_only?: boolean;
  [k: string]: unknown;
} | null;
/**
 * Search terms; five to eight serve best.
 */
export type Strings = string[];
/**
 * Where to search: 'arXiv', 'Google Scholar', 'web', or 'folder:<path>' for documents of your own.
 */
export type Strings1 = string[];
/**
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "strings".
 */
export type Strings2 = string[];
/**
 * Where the research stands. The report is written at the end of ANALYSIS.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "phase".
 */
export type Phase = "DISCOVERY" | "ANALYSIS" | "IDEATION" | "COMPLETE";
/**
 * Start, end and duration of each phase; derived by the orchestrator.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "timing".
 */
export type Timing = {
  research_started_at?: IsoTime;
  discovery?: PhaseTiming;
  analysis?: PhaseTiming;
  ideation?: PhaseTiming;
  complete?: {
    ended_at?: IsoTime;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
} | null;
/**
 * ISO 8601 time in UTC, or null when it has not happened.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "isoTime".
 */
export type IsoTime = string | null;
/**
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "phaseTiming".
 */
export type PhaseTiming = {
  started_at?: IsoTime;
  ended_at?: IsoTime;
  duration_seconds?: Seconds;
  /**
   * Papers with a decision (analysis only).
   */
  papers_analyzed?: number | null;
  /**
   * Seconds.
   */
  avg_seconds_per_paper?: number | null;
  [k: string]: unknown;
} | null;
/**
 * Seconds.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "seconds".
 */
export type Seconds = number | null;
/**
 * The IDEATION phase.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "productIdeation".
 */
export type ProductIdeation = {
  enabled?: boolean;
  min_ideas?: number;
  max_ideas?: number;
  /**
   * Name from the original tool; product-ideas.json.
   */
  output_filename?: string;
  ranking_goal?: string;
  /**
   * Team size, horizon and the like, told to the agent as they stand.
   */
  assumed_constraints?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
} | null;
/**
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "prose".
 */
export type Prose = (string | null) | Strings2;
/**
 * What a reader should know, such as instructions to reviewers hidden in the text.
 */
export type Strings3 = string[];
/**
 * Counts and averages, derived from the records after every iteration.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "statistics".
 */
export type Statistics = {
  total_discovered?: number | null;
  total_analyzed?: number | null;
  total_presented?: number | null;
  total_rejected?: number | null;
  /**
   * Papers whose decision is EXTRACT_INSIGHTS.
   */
  total_insights_extracted?: number | null;
  /**
   * Entries of the insights array.
   */
  total_insights?: number | null;
  discovery_metrics?: {
    sources_tried?: Strings2 | null;
    sources_successful?: Strings2 | null;
    sources_blocked?: unknown[] | null;
    source_failure_reasons?: {
      [k: string]: unknown;
    } | null;
    /**
     * Accepted discovery batches.
     */
    batches?: number;
    /**
     * How many of the last batches in a row brought no new paper.
     */
    batches_without_new?: number;
    [k: string]: unknown;
  } | null;
  analysis_metrics?: {
    [k: string]: unknown;
  } | null;
  ideation_metrics?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
} | null;
/**
 * What the loop remembers between iterations.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "loop".
 */
export type Loop = {
  /**
   * The last iteration folded in.
   */
  iteration?: number;
  done?: boolean;
  error?: string | null;
  loop_type?: string | null;
  observations?: unknown[];
  history_summary?: string | null;
  stagnation_count?: number;
  rch_metrics?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
} | null;
/**
 * 0 to 5 points.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "point".
 */
export type Point = number;

/**
 * Research Requirements Document: the whole state of one research. People may edit it by hand, also during a run; unknown fields are kept.
 */
export interface Rrd {
  /**
   * Name of the research, three to six words, by convention after 'Research: '.
   */
  project: string;
  /**
   * Name from the original tool. Kept, never used: no branch is ever switched.
   */
  branchName?: string | null;
  /**
   * What is sought and why, in a few sentences.
   */
  description?: string | null;
  mission?: Mission;
  requirements: Requirements;
  /**
   * Terms of the field that every agent is told.
   */
  domain_glossary?: {
    /**
     * Whether the terms go into briefs.
     */
    enabled?: boolean;
    /**
     * Term to meaning.
     */
    terms?: {
      [k: string]: string;
    };
    [k: string]: unknown;
  } | null;
  /**
   * What the topic leaves open. Shown to the person; asked only with --ask.
   */
  open_questions?: (string | OpenQuestion)[] | null;
  phase: Phase;
  timing?: Timing;
  /**
   * What follows the report.
   */
  handoff?: {
    product_ideation?: ProductIdeation;
    [k: string]: unknown;
  } | null;
  /**
   * Every paper of the research, in the order of its discovery.
   */
  papers_pool: Paper[];
  /**
   * Findings worth keeping, also of rejected papers.
   */
  insights?: Insight[] | null;
  /**
   * Pages that agents opened.
   */
  visited_urls?: string[] | null;
  /**
   * Sources that failed three times in a row or refused access. Edit it to try one again.
   */
  blocked_sources?:
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | null;
  statistics?: Statistics;
  loop?: Loop;
  /**
   * Refused results of units that are not papers (a discovery batch, the report, the ideas).
   */
  refusals?: Refusal[];
  [k: string]: unknown;
}
/**
 * What to look for.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "requirements".
 */
export interface Requirements {
  /**
   * The field, in a word or two.
   */
  focus_area?: string | null;
  keywords?: Strings;
  /**
   * Age in days up to which a paper counts as recent.
   */
  time_window_days?: number | null;
  /**
   * Age in days up to which older work is admitted.
   */
  historical_lookback_days?: number | null;
  /**
   * How many papers the pool should hold.
   */
  target_papers?: number;
  sources?: Strings1;
  /**
   * Execution score from which a paper is presented where blue_ocean_scoring is off.
   */
  min_score_to_present?: number | null;
  [k: string]: unknown;
}
/**
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "openQuestion".
 */
export interface OpenQuestion {
  /**
   * The field of this file that the answer would change.
   */
  field?: string | null;
  question: string;
  options?: Strings2;
  /**
   * What is assumed until somebody answers.
   */
  current_default?: string | number | boolean | null;
  [k: string]: unknown;
}
/**
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "paper".
 */
export interface Paper {
  /**
   * Unique in the pool, such as arxiv_2401.12345, doi_10.1000_x, scholar_<hash> or sample_<n>.
   */
  id: string;
  title: string;
  url?: string | null;
  pdf_url?: string | null;
  authors?: Strings2 | (string | null);
  /**
   * Day of publication, YYYY-MM-DD where known.
   */
  date?: string | null;
  /**
   * Which source brought it.
   */
  source?: string | null;
  abstract?: string | null;
  /**
   * Identifiers known for this work.
   */
  identifiers?: {
    doi?: string;
    arxiv?: string;
    pmid?: string;
    [k: string]: unknown;
  };
  /**
   * 5 is read first.
   */
  priority?: number | null;
  /**
   * analyzing is what an interrupted run of the original leaves; it is read as pending.
   */
  status: "pending" | "analyzing" | "presented" | "rejected" | "insights_extracted";
  /**
   * Combined total, or the execution total where blue_ocean_scoring is off.
   */
  score?: number | null;
  score_breakdown?: NestedScores | FlatScores | null;
  analysis?: Analysis | null;
  /**
   * PRESENT, EXTRACT_INSIGHTS or REJECT; derived from the scores.
   */
  decision?: string | null;
  /**
   * Why this decision.
   */
  notes?: string | null;
  /**
   * How much of the text was at hand when it was judged.
   */
  read_depth?: "full" | "partial" | "abstract";
  /**
   * Hash of the text that the evidence was checked against.
   */
  text_sha256?: string;
  /**
   * A retraction notice was found. Never presented.
   */
  retracted?: boolean;
  warnings?: Strings3;
  /**
   * The iteration whose result was folded in.
   */
  iteration?: number;
  /**
   * Results that were refused, the newest last; three in a row and the paper is skipped. 'reset --paper <id>' clears them.
   */
  refusals?: Refusal[];
  [k: string]: unknown;
}
/**
 * Both rubrics. Totals are derived.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "nestedScores".
 */
export interface NestedScores {
  execution: ExecutionScores;
  blue_ocean?: StrategicScores | null;
  execution_total?: number | null;
  blue_ocean_total?: number | null;
  combined_total?: number | null;
  [k: string]: unknown;
}
/**
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "executionScores".
 */
export interface ExecutionScores {
  /**
   * How new is it?
   */
  novelty: number;
  /**
   * Can a small team build it?
   */
  feasibility: number;
  /**
   * How soon is there a prototype?
   */
  time_to_poc: number;
  /**
   * Is there a clear demand?
   */
  value_market: number;
  /**
   * What keeps others from copying it?
   */
  defensibility: number;
  /**
   * How easily is it deployed?
   */
  adoption: number;
  [k: string]: unknown;
}
/**
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "strategicScores".
 */
export interface StrategicScores {
  /**
   * A new market, or a saturated one?
   */
  market_creation: number;
  /**
   * Time until others replicate it.
   */
  first_mover_window: number;
  /**
   * Does value grow with use?
   */
  network_effects: number;
  /**
   * How focused is the opportunity?
   */
  strategic_clarity: number;
  [k: string]: unknown;
}
/**
 * The oldest shape: the six execution dimensions side by side.
 */
export interface FlatScores {
  /**
   * How new is it?
   */
  novelty: number;
  /**
   * Can a small team build it?
   */
  feasibility: number;
  /**
   * How soon is there a prototype?
   */
  time_to_poc: number;
  /**
   * Is there a clear demand?
   */
  value_market: number;
  /**
   * What keeps others from copying it?
   */
  defensibility: number;
  /**
   * How easily is it deployed?
   */
  adoption: number;
  [k: string]: unknown;
}
/**
 * What the paper says, as an agent read it.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "analysis".
 */
export interface Analysis {
  summary?: Prose;
  methodology?: Prose;
  results?: Prose;
  limitations?: Prose;
  /**
   * Addresses of code.
   */
  implementations_found?:
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | (string | null);
  /**
   * Whether somebody sells it; null when nobody looked.
   */
  commercialized?: boolean | string | null;
  commercialized_by?: string | null;
  /**
   * Market classification.
   */
  market?: "blue" | "purple" | "red";
  evidence?: Evidence[];
  [k: string]: unknown;
}
/**
 * A claim, the words it rests on, and what code found of them.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "evidence".
 */
export interface Evidence {
  claim: string;
  /**
   * Words of the paper.
   */
  quote: string;
  /**
   * could-not-check: there was no text to look in. It does not mean false.
   */
  status: "verified" | "not-in-text" | "could-not-check";
  /**
   * Where it stands, such as 'p. 4' or '§ 3 Method'.
   */
  locator?: string | null;
  /**
   * Hash of the text that was searched.
   */
  text_sha256?: string | null;
  [k: string]: unknown;
}
/**
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "refusal".
 */
export interface Refusal {
  /**
   * The unit, where it is no paper.
   */
  unit?: string;
  iteration: number;
  at: string;
  reasons: Strings2;
  /**
   * Where the refused result was kept.
   */
  workspace?: string | null;
  [k: string]: unknown;
}
/**
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "insight".
 */
export interface Insight {
  /**
   * insight_001 and on.
   */
  id?: string | null;
  paper_id?: string | null;
  insight: string;
  tags?: Strings2 | null;
  /**
   * Papers it connects.
   */
  cross_refs?: Strings2 | null;
  cross_cluster?: string | null;
  papers?: Strings2 | null;
  [k: string]: unknown;
}
/**
 * The oldest shape: the six execution dimensions side by side.
 *
 * This interface was referenced by `Rrd`'s JSON-Schema
 * via the `definition` "flatScores".
 */
export interface ExecutionScores1 {
  /**
   * How new is it?
   */
  novelty: number;
  /**
   * Can a small team build it?
   */
  feasibility: number;
  /**
   * How soon is there a prototype?
   */
  time_to_poc: number;
  /**
   * Is there a clear demand?
   */
  value_market: number;
  /**
   * What keeps others from copying it?
   */
  defensibility: number;
  /**
   * How easily is it deployed?
   */
  adoption: number;
  [k: string]: unknown;
}
