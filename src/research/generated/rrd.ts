// Generated from schemas/rrd.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { HistoryMetrics, Observation, Steering } from "../../engine/generated/memory.js";

/**
 * How papers are judged. Absent in the oldest files, which used only the execution rubric.
 */
export type Mission = {
  /**
   * true: both rubrics, out of 50. false: only the execution rubric, out of 30.
   */
  blue_ocean_scoring?: boolean;
  /**
   * Minimum strategic points at which a paper below the combined threshold is kept for its insights.
   */
  min_blue_ocean_score?: number;
  /**
   * Minimum points of both rubrics together at which a paper is included.
   */
  min_combined_score?: number;
  /**
   * Weights. market_creation counts market_creation twice; defensibility counts first_mover_window and network_effects twice; speed counts time_to_poc and strategic_clarity twice. Totals are scaled back to 30 and 20.
   */
  strategic_focus?: "balanced" | "market_creation" | "defensibility" | "speed";
  /**
   * Whether a paper of which only the abstract was read may be included by its points.
   */
  present_abstract_only?: boolean;
  [k: string]: unknown;
} | null;
/**
 * Search terms; five to eight work best.
 */
export type Strings = string[];
/**
 * The phase of the project. The report is written at the end of ANALYSIS.
 */
export type Phase = "DISCOVERY" | "ANALYSIS" | "IDEATION" | "COMPLETE";
/**
 * Start, end and duration of each phase; derived by the orchestrator.
 */
export type Timing = {
  research_started_at?: IsoTime;
  discovery?: PhaseTiming;
  analysis?: PhaseTiming;
  ideation?: PhaseTiming;
  /**
   * The end of the project.
   */
  complete?: {
    ended_at?: IsoTime;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
} | null;
/**
 * ISO 8601 time in UTC, or null if it has not happened yet.
 */
export type IsoTime = string | null;
/**
 * When the phase began and ended, and how long it took.
 */
export type PhaseTiming = {
  started_at?: IsoTime;
  ended_at?: IsoTime;
  duration_seconds?: Seconds;
  /**
   * The end and duration of this phase as another program recorded them, before it was taken up again here. duration_seconds holds both.
   */
  earlier?: {
    ended_at?: IsoTime;
    duration_seconds?: Seconds;
    [k: string]: unknown;
  } | null;
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
 */
export type Seconds = number | null;
/**
 * The IDEATION phase.
 */
export type ProductIdeation = {
  /**
   * Whether ideas follow the report.
   */
  enabled?: boolean;
  /**
   * Minimum number of ideas.
   */
  min_ideas?: number;
  /**
   * Maximum number of ideas.
   */
  max_ideas?: number;
  /**
   * Name from the original tool; product-ideas.json.
   */
  output_filename?: string;
  /**
   * How the ideas are ranked; given to the agent unchanged.
   */
  ranking_goal?: string;
  /**
   * Team size, horizon and the like; given to the agent unchanged.
   */
  assumed_constraints?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
} | null;
/**
 * 0 to 5 points.
 */
export type Point = number;
/**
 * What the paper says about this: a text or a list of points.
 */
export type Prose = (string | null) | Strings;
/**
 * The paper's own sentence or sentences around the quoted words, on one line; of a table the row, below its caption and head, a line each. […] stands where a long one was cut.
 */
export type Passage = string;
/**
 * Where the quoted words stand in the passage: from and to, in UTF-16 units, such as 21-37; of a quote with … each fragment, such as 0-12, 40-61.
 */
export type Quoted = string;
/**
 * How a sentence stands to its passages.
 */
export type MeaningVerdict = "supported" | "overstated" | "not-supported" | "contradicted" | "cannot-tell";
/**
 * Where several agents screen: what each of them decided on the record, alone.
 */
export type Readings = Reading[];
/**
 * Counts and averages, derived from the records after every iteration.
 */
export type Statistics = {
  /**
   * Papers in the pool.
   */
  total_discovered?: number | null;
  /**
   * Papers with a decision.
   */
  total_analyzed?: number | null;
  /**
   * Papers whose decision is PRESENT.
   */
  total_presented?: number | null;
  /**
   * Papers whose decision is REJECT.
   */
  total_rejected?: number | null;
  /**
   * Papers whose decision is EXTRACT_INSIGHTS.
   */
  total_insights_extracted?: number | null;
  /**
   * Papers of which nothing could be read; absent where it is 0.
   */
  total_not_retrieved?: number | null;
  /**
   * Papers that wait for a person's decision on eligibility; absent without criteria.
   */
  total_waiting?: number | null;
  /**
   * How far two agents that screened the same records agree, over the records that both judged; absent where they judged none.
   */
  screening_agreement?: {
    readers: Strings;
    /**
     * Records that both judged.
     */
    judged: number;
    /**
     * Records that both readers include.
     */
    both_include: number;
    /**
     * Records that both readers exclude.
     */
    both_exclude: number;
    /**
     * Records that only the first reader would include.
     */
    only_first: number;
    /**
     * Records that only the second reader would include.
     */
    only_second: number;
    /**
     * Share of the records on which they agree.
     */
    agreement: number;
    /**
     * Cohen's kappa: agreement beyond chance. Null where both always gave the same one answer, so that chance alone explains all of it.
     */
    kappa: number | null;
    /**
     * Its 95 % confidence interval.
     */
    kappa_interval: number[] | null;
    /**
     * Records on which they disagree.
     */
    conflicts: number;
    /**
     * Of these, those that wait for a person.
     */
    open: number;
    [k: string]: unknown;
  };
  /**
   * Entries of the insights array.
   */
  total_insights?: number | null;
  /**
   * Papers of the pool that were retracted or withdrawn.
   */
  total_retracted?: number | null;
  /**
   * Averages and counts that the file stated before this program derived its own, where they differ.
   */
  stated?: {
    [k: string]: unknown;
  };
  /**
   * The last check for retractions over included papers and papers with insights.
   */
  retraction_check?: {
    at?: IsoTime;
    /**
     * Papers that at least one service answered for.
     */
    checked?: number;
    /**
     * Papers that could not be checked. It does not mean that they were not retracted.
     */
    not_checked?: number;
    demoted?: Strings;
    [k: string]: unknown;
  } | null;
  /**
   * Counts of the search.
   */
  discovery_metrics?: {
    /**
     * Every source that was asked.
     */
    sources_tried?: Strings | null;
    /**
     * Sources that answered.
     */
    sources_successful?: Strings | null;
    /**
     * Sources in blocked_sources.
     */
    sources_blocked?: unknown[] | null;
    /**
     * The reason of the last failure, by source.
     */
    source_failure_reasons?: {
      [k: string]: unknown;
    } | null;
    /**
     * Sources that the agent of the last batch could not search.
     */
    sources_skipped?: string[];
    /**
     * Failures in a row, by source; after three the source goes to blocked_sources.
     */
    failures_in_a_row?: {
      [k: string]: number;
    };
    /**
     * Accepted discovery batches.
     */
    batches?: number;
    /**
     * Number of batches in a row, up to the last one, that brought no new paper.
     */
    batches_without_new?: number;
    /**
     * Sources that programs may not ask or that are blocked, and the sources that replaced them.
     */
    substitutions?: {
      [k: string]: string;
    };
    /**
     * The search, round by round, so that 'replay' can repeat it with the stored answers.
     */
    rounds?: Step[];
    /**
     * Hash of the ranked candidates after these rounds.
     */
    pool_sha256?: string;
    /**
     * Each screened batch: how many records were screened and included, after how many rounds.
     */
    screening?: {
      /**
       * Records screened.
       */
      screened: number;
      /**
       * Of these, records included.
       */
      kept: number;
      /**
       * Number of rounds before the batch.
       */
      rounds: number;
      /**
       * Where requirements.screening asks for a recall: the share of the relevant records kept by then, at least, at its confidence.
       */
      recall_at_least?: number;
      /**
       * The p value of the stopping rule after the batch.
       */
      risk?: number;
      [k: string]: unknown;
    }[];
    /**
     * What may be claimed of the recall that requirements.screening asks for. Its curve is in 'screening'.
     */
    recall?: {
      /**
       * Share of the relevant records that was kept at least, at the confidence asked for.
       */
      at_least: number;
      /**
       * The chance of the last batches if the recall were below the target.
       */
      risk: number;
      /**
       * Whether the rule ended screening or would end it.
       */
      reached: boolean;
      /**
       * The claim in one sentence.
       */
      says: string;
      [k: string]: unknown;
    };
    /**
     * The check of recall by seeds: how many of them the search found by itself.
     */
    seeds?: {
      /**
       * Seeds of the project.
       */
      given: number;
      /**
       * Of these, those among the records that the search found.
       */
      found: number;
      references: Strings;
      [k: string]: unknown;
    };
    /**
     * Hash of the records that sources without a search, such as folders, listed for the last batch.
     */
    listed_sha256?: string;
    /**
     * Why the search is over: discovery then ends, unless agents search too.
     */
    exhausted?: string;
    keywords_not_searched?: Strings;
    flow?: Flow;
    /**
     * Hash of target, sources, keywords, field and date ranges at the last batch. If they change, the count of empty batches starts again.
     */
    searched_for?: string;
    [k: string]: unknown;
  } | null;
  /**
   * Counts of the reading.
   */
  analysis_metrics?: {
    [k: string]: unknown;
  } | null;
  /**
   * Counts of the ideas.
   */
  ideation_metrics?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
} | null;
/**
 * One round of the search. It names everything that is asked, so that the round can be repeated with the stored answers.
 */
export type Step = SearchStep | SnowballStep;
/**
 * What the loop remembers between iterations.
 */
export type Loop = {
  /**
   * The last iteration folded in.
   */
  iteration?: number;
  /**
   * Whether the project is complete.
   */
  done?: boolean;
  /**
   * Why the last run ended, if it ended with a problem.
   */
  error?: string | null;
  /**
   * How the last run ended.
   */
  last_run?: {
    /**
     * ISO 8601 time in UTC.
     */
    at: string;
    /**
     * complete, limit, stuck, blocked, failed or interrupted.
     */
    verdict: string;
    /**
     * One sentence for a person.
     */
    reason: string;
    /**
     * Of limit: what is used up: iterations, tokens, usd or minutes.
     */
    cause?: string;
    [k: string]: unknown;
  } | null;
  /**
   * Kind of loop that the last iterations show two or more times in a row: identical-answers, redundant-writes, read-loop, planning-loop, command-loop or oscillation.
   */
  loop_type?: string | null;
  /**
   * Outcomes of the last iterations, oldest first; ten unless configured otherwise. Once a summary covers them, only the last three keep their digest.
   */
  observations?: Observation[];
  /**
   * Summary of earlier iterations for later ones, at most 2,000 characters.
   */
  history_summary?: string | null;
  /**
   * Repetitions of one kind of loop in a row, over all runs since a person last acted; 0 below two. At 'stagnation_limit' (5) a run ends as stuck. An accepted result, a reset, steering, a raised limit, another agent or --force restarts the count.
   */
  stagnation_count?: number;
  /**
   * The iteration after which a person last acted: repetitions and iterations without a result count from then on.
   */
  stagnation_since?: number;
  /**
   * Budget and target at the last iteration without an accepted result. The difference shows that a person has raised one of them.
   */
  limits?: {
    /**
     * Value of budget.max_usd then.
     */
    max_usd?: number;
    /**
     * Value of budget.max_tokens then.
     */
    max_tokens?: number;
    /**
     * Value of budget.max_minutes then.
     */
    max_minutes?: number;
    /**
     * Value of budget.max_iterations then.
     */
    max_iterations?: number;
    /**
     * Value of requirements.target_papers then.
     */
    target_papers?: number;
    [k: string]: unknown;
  };
  rch_metrics?: HistoryMetrics;
  /**
   * The user's steering text, from 'research-ralph steer'. It stands in every brief until it is cleared.
   */
  steering?: Steering[];
  [k: string]: unknown;
} | null;

/**
 * Research Requirements Document: the whole state of one project. You may edit it by hand, also during a run; unknown fields are kept.
 */
export interface Rrd {
  /**
   * Address of this schema, by which an editor checks the file and completes what you type. It has no effect otherwise.
   */
  $schema?: string;
  /**
   * How the file is written; absent: 1. A file of a later format than the program knows is only read. Written by the program.
   */
  format?: number;
  /**
   * Name of the project, three to six words, by convention after 'Research: '.
   */
  project: string;
  /**
   * A field of the original tool. It is kept and never used: no branch is ever switched.
   */
  branchName?: string | null;
  /**
   * What you asked, in your own words; the report shows it as it stands here. Written by 'new'.
   */
  question?: string | null;
  /**
   * What the project looks for and why, in a few sentences.
   */
  description?: string | null;
  mission?: Mission;
  /**
   * Which points papers get. original: those of the two rubrics of the mission; with eligibility criteria they only order. none: no points; each reading is included, unless a criterion excludes it or is unclear. An object: those of a rubric of one's own. Absent: those of the mission's rubrics, whose points decide on what the criteria let through.
   */
  rubric?: ("original" | "none") | OwnRubric;
  requirements: Requirements;
  /**
   * Terms of the field, included in every brief.
   */
  domain_glossary?: {
    /**
     * Whether the terms are included.
     */
    enabled?: boolean;
    /**
     * Term to meaning.
     */
    terms?: {
      [k: string]: string | null;
    } | null;
    [k: string]: unknown;
  } | null;
  /**
   * Questions that the topic leaves open. They are shown; they are asked only with --ask.
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
   * Every paper of the project, in the order of discovery.
   */
  papers_pool: Paper[];
  /**
   * Findings worth keeping, including those of rejected papers.
   */
  insights?: Insight[] | null;
  /**
   * Pages that agents opened.
   */
  visited_urls?:
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | null;
  /**
   * Sources that failed three times in a row or refused access, each with its reason. Remove a source from the list to try it again.
   */
  blocked_sources?:
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | null;
  /**
   * Records that were excluded, with the reason, so that no later batch offers them again.
   */
  excluded?: Exclusion[];
  /**
   * Updates of the finished project, oldest first; the last one is open until its report is accepted. Written by 'research-ralph update'.
   */
  updates?: ProjectUpdate[];
  /**
   * Pairs of ids that are different works although they look like one. Add a pair to undo a merge: the id of the paper that stayed and the id of the record that was merged into it.
   */
  apart?: string[][];
  /**
   * Papers that surely belong, as a person named them: examples for the order of screening, starting points for snowballing, and a check of recall. By hand, a reference alone will do, such as "10.1000/x".
   */
  seeds?: (string | Seed)[] | null;
  statistics?: Statistics;
  loop?: Loop;
  /**
   * Lifetime budget of the project, all runs together. It is read before every iteration, so you can raise it during a run.
   */
  budget?: {
    /**
     * US dollars, as reported by the agents or estimated.
     */
    max_usd?: number;
    /**
     * Tokens in and out, including cached ones.
     */
    max_tokens?: number;
    /**
     * Minutes in which agents worked; the sum if several worked at the same time.
     */
    max_minutes?: number;
    /**
     * Iterations, including refused and failed ones.
     */
    max_iterations?: number;
    [k: string]: unknown;
  } | null;
  meaning?: Meaning;
  /**
   * Refused results of units that are not papers (a discovery batch, the report, the ideas).
   */
  refusals?: Refusal[];
  [k: string]: unknown;
}
/**
 * A rubric of one's own: 0 to 5 points for each dimension. With eligibility criteria, or without 'present', the points only order.
 */
export interface OwnRubric {
  /**
   * What gets points.
   *
   * @minItems 1
   * @maxItems 10
   */
  dimensions: {
    /**
     * Letters, digits and hyphens; what results call it.
     */
    id: string;
    /**
     * What the report calls it.
     */
    name: string;
    /**
     * What 0 to 5 points mean, as far as it says.
     */
    levels?: {
      [k: string]: string;
    };
    [k: string]: unknown;
  }[];
  /**
   * From so many points a paper is included; absent: the points only order.
   */
  present?: number;
  /**
   * From so many points it is kept for its insights; absent: not below 'present'.
   */
  insights?: number;
  [k: string]: unknown;
}
/**
 * What to look for: the inclusion criteria of the search.
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
   * Maximum age in days of older work.
   */
  historical_lookback_days?: number | null;
  /**
   * Earliest date of publication, YYYY-MM-DD. With it or 'published_until' the two windows do not bound the search.
   */
  published_from?: string | null;
  /**
   * Latest date of publication, YYYY-MM-DD.
   */
  published_until?: string | null;
  /**
   * Number of papers that the pool should hold.
   */
  target_papers?: number;
  sources?: Strings;
  columns?: Columns;
  /**
   * The recall that screening has to reach. Screening then ends by a stopping rule, or once every record is screened; target_papers still ends it. Absent: it ends when little is found.
   */
  screening?: {
    /**
     * Share of the relevant records among those that the search found, such as 0.95.
     */
    target_recall: number;
    /**
     * How sure the rule has to be of it, such as 0.95.
     */
    confidence: number;
    [k: string]: unknown;
  };
  /**
   * Minimum execution points at which a paper is included if blue_ocean_scoring is off.
   */
  min_score_to_present?: number | null;
  /**
   * Eligibility criteria. Each screened record and each paper that is read answers all of them, and the answers decide what is included. Absent or empty: agents screen by the requirements alone.
   *
   * @maxItems 20
   */
  criteria?: Criterion[];
  /**
   * The form: what each reading extracts from its paper for the table of the report.
   *
   * @maxItems 30
   */
  fields?: Field[];
  [k: string]: unknown;
}
/**
 * Columns of CSV files whose header is not known: field and header, such as title and Name.
 */
export interface Columns {
  [k: string]: string;
}
/**
 * One eligibility criterion.
 */
export interface Criterion {
  /**
   * Unique among the criteria, such as c1. Answers name it, so keep it when you change the text.
   */
  id: string;
  /**
   * The criterion as a statement that is true of a paper or not, such as 'randomised controlled trial'.
   */
  text: string;
  /**
   * include: a paper of which it is not true is excluded. exclude: a paper of which it is true is excluded.
   */
  kind: "include" | "exclude";
  [k: string]: unknown;
}
/**
 * One field of the form that readings fill in.
 */
export interface Field {
  /**
   * Unique among the fields, such as sample-size. What was extracted names it, so keep it when you change the words.
   */
  id: string;
  /**
   * What the column is called.
   */
  name: string;
  /**
   * What to extract, such as 'how many participants, per arm'.
   */
  ask?: string;
  /**
   * What a value is. Absent: text.
   */
  type?: "text" | "number" | "choice" | "date" | "list";
  /**
   * The unit in which a number is given, such as mg.
   */
  unit?: string;
  /**
   * The values that a choice may have.
   *
   * @minItems 2
   * @maxItems 20
   */
  choices?: string[];
  [k: string]: unknown;
}
export interface OpenQuestion {
  /**
   * The field of this file that the answer would change.
   */
  field?: string | null;
  /**
   * The question, for a person to read.
   */
  question: string;
  options?: Strings;
  /**
   * The assumption until somebody answers.
   */
  current_default?: string | number | boolean | unknown[] | null;
  [k: string]: unknown;
}
export interface Paper {
  /**
   * Unique in the pool, such as arxiv_2401.12345, doi_10.1000_x, scholar_<hash> or sample_<n>.
   */
  id: string;
  /**
   * What people call it, such as lo2020: letters, digits and _ : . -, at most 40 characters. The key of its entry in the file that it came from, else made once of surname and year. Commands take it in place of the id.
   */
  key?: string;
  /**
   * The key of its entry in the file that it came from, where that can't be its key.
   */
  source_key?: string;
  /**
   * Title of the paper.
   */
  title: string;
  /**
   * Address of the paper's page.
   */
  url?: string | null;
  /**
   * Address of its full text, if known.
   */
  pdf_url?: string | null;
  /**
   * Authors in order, as a list or one line.
   */
  authors?: Strings | (string | null);
  /**
   * Day of publication, YYYY-MM-DD where known.
   */
  date?: string | null;
  /**
   * The source that found it.
   */
  source?: string | null;
  /**
   * Abstract, as the source gave it.
   */
  abstract?: string | null;
  identifiers?: Identifiers;
  /**
   * The same work under another DOI: the preprint of an article that was published since.
   */
  other_versions?: {
    /**
     * What the other one is.
     */
    relation: "preprint" | "published";
    /**
     * Its DOI.
     */
    doi: string;
    [k: string]: unknown;
  }[];
  /**
   * Journal, conference or repository.
   */
  venue?: string | null;
  /**
   * Volume of the journal.
   */
  volume?: string | null;
  /**
   * Issue of the volume.
   */
  issue?: string | null;
  /**
   * First and last page, or the article's number.
   */
  pages?: string | null;
  publication?: Publication;
  /**
   * What the source calls it, such as journal-article.
   */
  publication_type?: string | null;
  /**
   * Categories on arXiv, such as cs.RO; the primary one first.
   */
  categories?: string[];
  /**
   * The authors' comment on arXiv.
   */
  comment?: string | null;
  /**
   * Licence of its text: an address or a short name.
   */
  license?: string | null;
  /**
   * Number of citations when it was found.
   */
  citations?: {
    /**
     * How often it was cited.
     */
    count: number;
    /**
     * Who counted.
     */
    source: string;
    [k: string]: unknown;
  };
  document?: Document;
  found?: Found;
  /**
   * A person added it to the pool, past screening.
   */
  added?: boolean;
  /**
   * 1 to 5; 5 is read first.
   */
  priority?: number | null;
  /**
   * waiting: it was read, a criterion is still unclear, and a person decides ('research-ralph screen'). not_retrieved: nothing of it but its title could be had, so nobody read it. An interrupted run of the original leaves 'analyzing'; it is read as pending.
   */
  status: "pending" | "analyzing" | "presented" | "rejected" | "insights_extracted" | "waiting" | "not_retrieved";
  /**
   * Combined total, or the execution total if blue_ocean_scoring is off.
   */
  score?: number | null;
  /**
   * Points by dimension; null until it was read.
   */
  score_breakdown?: OwnScores | NestedScores | FlatScores | null;
  /**
   * What the paper says; null until it was read.
   */
  analysis?: Analysis | null;
  /**
   * PRESENT, EXTRACT_INSIGHTS or REJECT; derived from the points.
   */
  decision?: string | null;
  /**
   * Why this decision.
   */
  notes?: string | null;
  /**
   * How much of the text was available when the paper was judged.
   */
  read_depth?: "full" | "partial" | "abstract";
  /**
   * Hash of the text that the evidence was checked against.
   */
  text_sha256?: string;
  /**
   * Where the full text came from, with its address, such as 'arXiv HTML, https://arxiv.org/html/2401.12345'.
   */
  text_from?: string;
  /**
   * Where only the abstract was read: the attempts to get the text. With another file on this machine, the next run reads the paper again.
   */
  text_tried?: string;
  not_retrieved?: NotRetrieved;
  /**
   * A retraction notice was found. Never included.
   */
  retracted?: boolean;
  /**
   * Notices about the paper after its publication, oldest first.
   */
  updates?: Update[];
  updates_check?: UpdatesCheck;
  /**
   * The answers to the eligibility criteria, those of screening first.
   */
  answers?: Answer[];
  /**
   * What readings extracted for the fields of the form.
   */
  extracted?: Extracted[];
  /**
   * What a second agent extracted for them, alone.
   */
  extracted_again?: Extracted[];
  /**
   * What a person decided where the two differ.
   */
  settled?: Settled[];
  /**
   * Whose fields of the form are still to be filled in from the text: 'extract' opened it, or a second reader that was asked for.
   */
  fill_form?: ("first" | "second")[] | null;
  /**
   * The points of the reading while the paper is excluded or waits: they count for nothing until a person includes it.
   */
  held_scores?: OwnScores | NestedScores | FlatScores | null;
  /**
   * Id of the criterion that excluded the paper after its full text was read.
   */
  excluded_by?: string | null;
  readings?: Readings;
  override?: Override;
  warnings?: Strings;
  /**
   * The iteration whose result was folded in.
   */
  iteration?: number;
  /**
   * Fields that plugins have put beside the reading, by the name of the plugin.
   */
  plugins?: {
    [k: string]: {
      [k: string]: unknown;
    };
  };
  /**
   * Refused results, the newest last; after three in a row the paper is skipped. 'reset --paper <key>' clears them.
   */
  refusals?: Refusal[];
  [k: string]: unknown;
}
/**
 * Identifiers known for this work.
 */
export interface Identifiers {
  /**
   * DOI without the resolver's address.
   */
  doi?: string;
  /**
   * arXiv identifier without its version.
   */
  arxiv?: string;
  /**
   * PubMed identifier.
   */
  pmid?: string;
  /**
   * PubMed Central identifier.
   */
  pmcid?: string;
  /**
   * OpenAlex identifier.
   */
  openalex?: string;
  /**
   * Semantic Scholar's identifier.
   */
  s2?: string;
  [k: string]: unknown;
}
/**
 * What citing the work may need besides, as its source writes it.
 */
export interface Publication {
  /**
   * Of a thesis its school, of a report its institution.
   */
  publisher?: string;
  /**
   * Where it was published.
   */
  place?: string;
  /**
   * Editors of the book that it stands in.
   */
  editors?: string[];
  /**
   * Authors and editors that are groups by their source, though their names could be those of persons.
   */
  groups?: string[];
  /**
   * Which edition it is.
   */
  edition?: string;
  /**
   * The series that the book belongs to.
   */
  series?: string;
  /**
   * ISBN of the book.
   */
  isbn?: string;
  /**
   * ISSN of the journal.
   */
  issn?: string;
  /**
   * Its language.
   */
  language?: string;
  /**
   * Its keywords.
   */
  keywords?: string[];
  /**
   * A note of the file that it was imported from.
   */
  note?: string;
  /**
   * Its number in the database that it came from.
   */
  accession?: string;
  [k: string]: unknown;
}
/**
 * By what a document of a folder is known again, wherever it lies.
 */
export interface Document {
  /**
   * From the project's folder.
   */
  path: string;
  /**
   * Hash of the text of its first pages; absent where it has none that can be read.
   */
  sha256?: string;
  [k: string]: unknown;
}
/**
 * Provenance: where code found the paper, and which records were merged into it.
 */
export interface Found {
  sources: Strings;
  /**
   * Reasons for the priority that code proposed.
   */
  why: string;
  cites?: Strings;
  cited_by?: Strings;
  /**
   * Records of other sources or other versions that were merged into it.
   */
  merged?: {
    /**
     * Id of the record.
     */
    id: string;
    /**
     * The source of the record.
     */
    source: string;
    /**
     * Address of the record.
     */
    url?: string;
    /**
     * Why it describes the same work.
     */
    why: string;
    [k: string]: unknown;
  }[];
  /**
   * Works of the search that look like it and were kept apart, at most ten.
   */
  apart?: {
    /**
     * Id of the other work.
     */
    id: string;
    /**
     * What tells the two apart.
     */
    why: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * Points by the dimensions of the project's own rubric.
 */
export interface OwnScores {
  /**
   * 0 to 5 by the id of the dimension.
   */
  points: {
    [k: string]: Point;
  };
  [k: string]: unknown;
}
/**
 * Both rubrics. Totals are derived.
 */
export interface NestedScores {
  execution: ExecutionScores;
  /**
   * The strategic rubric; null if blue_ocean_scoring is off.
   */
  blue_ocean?: StrategicScores | null;
  /**
   * Execution total of 30, weighted by strategic_focus; derived.
   */
  execution_total?: number | null;
  /**
   * Strategic total of 20, weighted by strategic_focus; derived.
   */
  blue_ocean_total?: number | null;
  /**
   * Sum of both totals; derived.
   */
  combined_total?: number | null;
  [k: string]: unknown;
}
/**
 * The execution rubric: six dimensions, 30 points.
 */
export interface ExecutionScores {
  /**
   * 0 to 5 points.
   */
  novelty?: number;
  /**
   * 0 to 5 points.
   */
  feasibility?: number;
  /**
   * 0 to 5 points.
   */
  time_to_poc?: number;
  /**
   * 0 to 5 points.
   */
  value_market?: number;
  /**
   * 0 to 5 points.
   */
  defensibility?: number;
  /**
   * 0 to 5 points.
   */
  adoption?: number;
  [k: string]: unknown;
}
/**
 * The strategic rubric: four dimensions, 20 points.
 */
export interface StrategicScores {
  /**
   * 0 to 5 points.
   */
  market_creation?: number;
  /**
   * 0 to 5 points.
   */
  first_mover_window?: number;
  /**
   * 0 to 5 points.
   */
  network_effects?: number;
  /**
   * 0 to 5 points.
   */
  strategic_clarity?: number;
  [k: string]: unknown;
}
/**
 * The oldest shape: the six execution dimensions side by side.
 */
export interface FlatScores {
  /**
   * 0 to 5 points.
   */
  novelty?: number;
  /**
   * 0 to 5 points.
   */
  feasibility?: number;
  /**
   * 0 to 5 points.
   */
  time_to_poc?: number;
  /**
   * 0 to 5 points.
   */
  value_market?: number;
  /**
   * 0 to 5 points.
   */
  defensibility?: number;
  /**
   * 0 to 5 points.
   */
  adoption?: number;
  [k: string]: unknown;
}
/**
 * What the paper says, as an agent read it.
 */
export interface Analysis {
  summary?: Prose;
  methodology?: Prose;
  results?: Prose;
  limitations?: Prose;
  /**
   * Addresses of repositories with code.
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
  /**
   * Who sells it, when somebody does.
   */
  commercialized_by?: string | null;
  /**
   * Market classification: blue, purple or red.
   */
  market?: string | null;
  /**
   * The numbers of the results, and whether a quote that was found has them.
   */
  numbers?: CheckedNumber[];
  /**
   * The claims with their quotes.
   */
  evidence?: Evidence[];
  [k: string]: unknown;
}
/**
 * A number of the results, and what code found of it.
 */
export interface CheckedNumber {
  /**
   * As it is written, with its unit.
   */
  number: string;
  /**
   * verified: a quote that was found has it. near: in another unit or rounded. in-text: it stands elsewhere in the paper, which is only a hint.
   */
  status: "verified" | "near" | "in-text" | "not-in-text" | "could-not-check";
  /**
   * What differs, or where it stands.
   */
  reason?: string | null;
  [k: string]: unknown;
}
/**
 * A claim, and the place of the paper that its quote points at, where code found it.
 */
export interface Evidence {
  /**
   * One claim, in the agent's words.
   */
  claim: string;
  passage?: Passage;
  quoted?: Quoted;
  /**
   * The quote as the agent gave it, where it was not found; in records of earlier versions also where it was.
   */
  quote?: string;
  /**
   * Numbers of the claim that the quoted words do not hold.
   */
  numbers?: ClaimedNumber[];
  /**
   * near: the text has the words with a number in another unit or rounded, which is not proof. could-not-check: there was no text to check against. It does not mean false.
   */
  status: "verified" | "near" | "not-in-text" | "could-not-check";
  /**
   * What differs where it is near; why it counts for nothing where it is not in the text.
   */
  reason?: string | null;
  /**
   * Where the quote stands, such as 'p. 4' or '§ 3 Method'.
   */
  locator?: string | null;
  /**
   * Hash of the text that was searched.
   */
  text_sha256?: string | null;
  check?: Checked;
  about?: Outcome;
  [k: string]: unknown;
}
export interface ClaimedNumber {
  /**
   * As the claim writes it.
   */
  number: string;
  /**
   * in-passage: in the sentence, outside the quoted words. nowhere: not in the passage.
   */
  stands: "in-passage" | "nowhere";
  [k: string]: unknown;
}
/**
 * What another reader says of a sentence, held against the passages that it rests on and nothing else.
 */
export interface Checked {
  verdict: MeaningVerdict;
  /**
   * The agents that judged it.
   *
   * @minItems 1
   */
  by: string[];
  /**
   * In at most 20 words.
   */
  why?: string;
  /**
   * Of an overstated one: what the passages do not carry.
   */
  too_much?: string;
  /**
   * Of an overstated one: a sentence that its reader would call supported.
   */
  better?: string;
  /**
   * Of a contradicted one: id of the paper whose passage says otherwise.
   */
  against?: string;
  /**
   * The sentence as it stood before it was mended.
   */
  was?: string;
  /**
   * What each of two readers said, where they disagree.
   */
  said?: {
    /**
     * The agent.
     */
    by: string;
    verdict: MeaningVerdict;
    /**
     * In at most 20 words.
     */
    why?: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * What a quote reports, where it compares two things on one outcome; said by the agent that read the paper.
 */
export interface Outcome {
  /**
   * What was measured.
   */
  outcome: string;
  /**
   * What with what: 'A against B'.
   */
  compared: string;
  /**
   * What the outcome does under A; none: no significant difference.
   */
  direction: "up" | "down" | "none";
  [k: string]: unknown;
}
/**
 * Why nothing of a paper could be read. While 'tried' holds, no run tries it again; 'reset --paper <id>' does.
 */
export interface NotRetrieved {
  /**
   * What was wrong, one or two sentences.
   */
  reason: string;
  /**
   * What a person can do about it, one sentence.
   */
  cure: string;
  /**
   * The addresses that were tried, or the names and sizes of the files.
   */
  tried: string;
  [k: string]: unknown;
}
/**
 * A retraction, correction or the like.
 */
export interface Update {
  /**
   * retraction, withdrawal, concern, correction, addendum or version. Only the first two exclude a paper.
   */
  type: string;
  /**
   * Day of the notice, YYYY-MM-DD where known.
   */
  date?: string;
  /**
   * The service that reports it.
   */
  source: string;
  /**
   * DOI or address of the notice.
   */
  notice?: string;
  [k: string]: unknown;
}
/**
 * The last check for retractions and corrections, with the services that could not be asked.
 */
export interface UpdatesCheck {
  /**
   * ISO 8601 in UTC.
   */
  at: string;
  checked_by: Strings;
  unchecked: Strings;
  /**
   * The paper's status until a check found it retracted.
   */
  demoted_from?: string;
  /**
   * How title, authors and year stand to the records of the services that answered.
   */
  citation?: {
    matched_by: Strings;
    differs: Strings;
    unknown_to: Strings;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The answer to one criterion, and the quote that code found for it.
 */
export interface Answer {
  /**
   * Id of the criterion.
   */
  criterion: string;
  /**
   * Stands for the kind and text of the criterion when it was answered. Where they are others now, the report and 'run' warn. Absent: what it says now.
   */
  asked?: string;
  /**
   * screening: from title and abstract. full_text: from the paper's text.
   */
  stage: "screening" | "full_text";
  /**
   * Whether the criterion is true of the paper. An answer whose quote code did not find is unclear.
   */
  answer: "yes" | "no" | "unclear";
  passage?: Passage;
  quoted?: Quoted;
  /**
   * The quote as the agent gave it, where it was not found; in records of earlier versions also where it was.
   */
  quote?: string;
  /**
   * Where the quote stands: title, abstract, or a place in the text.
   */
  locator?: string | null;
  /**
   * What the agent answered, where the answer counts as unclear.
   */
  said?: "yes" | "no";
  /**
   * Why the answer is unclear.
   */
  reason?: string;
  [k: string]: unknown;
}
/**
 * What one reading gave for one field, with the passages that code found for it.
 */
export interface Extracted {
  /**
   * Id of the field.
   */
  field: string;
  /**
   * The value, as the agent gave it; of a list each item. Absent where the paper does not report it.
   */
  value?: string | string[];
  /**
   * verified: a quote was found and holds the numbers of the value. near: a number differs in unit or rounding. not-in-text: no quote bears it out, so it is shown nowhere. not-reported: the agent says that the paper does not report it. not-answered: the reading left it out.
   */
  status: "verified" | "near" | "not-in-text" | "could-not-check" | "not-reported" | "not-answered";
  /**
   * Why the value does not count, or what differs.
   */
  reason?: string;
  /**
   * Its quotes.
   */
  evidence?: Evidence[];
  /**
   * Name of the agent.
   */
  by?: string;
  /**
   * Stands for what the field asked. Where its words, type, unit or choices are others now, the value is not shown, and 'extract' asks again. Absent: what it asks now.
   */
  asked?: string;
  /**
   * The iteration in which it was extracted.
   */
  iteration?: number;
  [k: string]: unknown;
}
/**
 * Which of two agents a person follows, where they gave different values; or the person's own value.
 */
export interface Settled {
  /**
   * Id of the field.
   */
  field: string;
  /**
   * Whose value counts.
   */
  take: "first" | "second" | "own";
  own?: Extracted;
  /**
   * In the person's words.
   */
  why?: string;
  /**
   * When, ISO 8601 in UTC.
   */
  at: string;
  [k: string]: unknown;
}
/**
 * What one of the agents that screened a record decided on it.
 */
export interface Reading {
  /**
   * reader-3 was asked because the other two disagreed.
   */
  role: "reader-1" | "reader-2" | "reader-3";
  /**
   * Name of the agent.
   */
  by: string;
  /**
   * What this reader decided.
   */
  decision: "include" | "exclude";
  /**
   * What it said.
   */
  reason?: string;
  /**
   * The iteration in which this reader judged.
   */
  iteration?: number;
  [k: string]: unknown;
}
/**
 * A person's decision on eligibility, from 'research-ralph decide' or written by hand. It beats the criteria and is an example for the order of what is left.
 */
export interface Override {
  /**
   * include: the paper is included, or is read first if it was not. exclude: it is rejected. not_retrieved: its text was sought and could not be had, so it is not assessed.
   */
  decision: "include" | "exclude" | "not_retrieved";
  /**
   * The reason, for people.
   */
  why: string;
  /**
   * Id of the criterion by which a person excluded it. Absent: for another reason.
   */
  criterion?: string;
  /**
   * When, ISO 8601 in UTC.
   */
  at?: string;
  [k: string]: unknown;
}
export interface Refusal {
  /**
   * The unit, if it is not a paper.
   */
  unit?: string;
  /**
   * The iteration that was refused.
   */
  iteration: number;
  /**
   * When, ISO 8601 in UTC.
   */
  at: string;
  reasons: Strings;
  /**
   * Of a paper: how much of it the refused brief showed. A repair of its result is of that depth.
   */
  read_depth?: "full" | "partial" | "abstract";
  [k: string]: unknown;
}
export interface Insight {
  /**
   * insight_001 and so on.
   */
  id?: string | null;
  /**
   * The paper it comes from.
   */
  paper_id?: string | null;
  /**
   * The finding, in a sentence or two.
   */
  insight: string;
  /**
   * Words to group it by.
   */
  tags?: Strings | null;
  /**
   * Ids of the papers that it connects.
   */
  cross_refs?: Strings | null;
  /**
   * Field of the original tool: the group of papers it connects to.
   */
  cross_cluster?: string | null;
  /**
   * Field of the original tool: the papers it draws on.
   */
  papers?: Strings | null;
  [k: string]: unknown;
}
/**
 * A record that was excluded.
 */
export interface Exclusion {
  /**
   * Id of the record.
   */
  id: string;
  /**
   * What people call it, as a paper's key.
   */
  key?: string;
  /**
   * The key of its entry in the file that it came from, where that can't be its key.
   */
  source_key?: string;
  /**
   * Title of the document.
   */
  title?: string | null;
  /**
   * Reason for the exclusion.
   */
  reason: string;
  /**
   * Stage of the exclusion: duplicate, screened out, retracted, older than the lookback (window), or a notice about another work. Absent in older files.
   */
  stage?: "duplicate" | "screened" | "retracted" | "window" | "notice";
  /**
   * The same work: a paper of the pool, or a record that was left out before.
   */
  duplicate_of?: string;
  /**
   * Of a duplicate that a person has joined: the paper or the excluded record as it was, for 'research-ralph join --part'. Of a record that a person includes: all that the search knows of it.
   */
  before?: {
    [k: string]: unknown;
  };
  /**
   * Id of the criterion that excluded the record.
   */
  criterion?: string;
  /**
   * The answers to the criteria.
   */
  answers?: Answer[];
  /**
   * Address of the record.
   */
  url?: string | null;
  identifiers?: Identifiers;
  /**
   * Who describes the record, as a paper's source. Absent in older files.
   */
  source?: string;
  /**
   * Year of publication, where known.
   */
  year?: number;
  /**
   * The first author, where known.
   */
  first_author?: string;
  /**
   * Of a document of the user's folders: its other fields as of a paper, such as authors, date and abstract. The stored search has them of all other records.
   */
  record?: {
    [k: string]: unknown;
  };
  document?: Document;
  override?: Override;
  readings?: Readings;
  [k: string]: unknown;
}
/**
 * One update of a finished project: what came since its last search.
 */
export interface ProjectUpdate {
  /**
   * update-1, update-2, …
   */
  id: string;
  /**
   * First day of publication that was asked for, YYYY-MM-DD.
   */
  since: string;
  /**
   * Last day that was asked for: the day of the update, YYYY-MM-DD.
   */
  until: string;
  /**
   * When it was opened, ISO 8601 in UTC.
   */
  at: string;
  /**
   * The iteration that opened it; what came has later ones.
   */
  iteration?: number;
  /**
   * When its report was accepted, ISO 8601 in UTC. Absent: it is open.
   */
  closed_at?: string;
  /**
   * written: an agent wrote the report anew; rendered: no finding lost its ground, so code made it again.
   */
  report?: "written" | "rendered";
  /**
   * First day asked for of the sources that had failed before and whose window is wider.
   */
  sources?: {
    [k: string]: string;
  };
  /**
   * Sources that failed this time, with the first day of their window, which stays open.
   */
  failed?: {
    [k: string]: string;
  };
  /**
   * New works that waited to be judged when it was opened.
   */
  works?: number;
  new?: Strings;
  /**
   * Papers of the pool that changed since they were read.
   */
  changed?: {
    /**
     * Id of the paper.
     */
    id: string;
    /**
     * What changed, as one clause.
     */
    says: string;
    /**
     * Its text is another one, so it is read again.
     */
    read_again: boolean;
    /**
     * false: its text could not be had, so nobody knows whether it is another one; the next update tries again.
     */
    compared?: boolean;
    [k: string]: unknown;
  }[];
  retracted?: Strings;
  /**
   * The findings of the report before the update.
   */
  before?: {
    /**
     * f1, f2, …
     */
    id: string;
    /**
     * The finding.
     */
    text: string;
    rests_on?: Strings;
    /**
     * Its strength then.
     */
    level: number;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * A paper that surely belongs.
 */
export interface Seed {
  /**
   * What the person wrote: a DOI, an arXiv id, an address, a document; of an entry in a file without one, its key in the file.
   */
  reference: string;
  /**
   * Title of the paper.
   */
  title?: string | null;
  authors?: Strings;
  /**
   * YYYY, YYYY-MM or YYYY-MM-DD.
   */
  date?: string | null;
  /**
   * Journal or conference.
   */
  venue?: string | null;
  /**
   * Abstract, at most 2,000 characters.
   */
  abstract?: string | null;
  identifiers?: Identifiers;
  /**
   * The file that named it.
   */
  from?: string;
  /**
   * Why no source could describe it.
   */
  not_known?: string;
  [k: string]: unknown;
}
/**
 * A round of queries.
 */
export interface SearchStep {
  /**
   * Sources are searched for words.
   */
  kind: "search";
  /**
   * Id of the update that asked it; absent: the first search.
   */
  update?: string;
  sources: Strings;
  /**
   * The queries to each of them.
   */
  queries: {
    /**
     * Words that should occur together; empty for a list, which is read whole.
     */
    terms: string;
    columns?: Columns;
    /**
     * First day of publication, YYYY-MM-DD.
     */
    from?: string;
    /**
     * Last day of publication, YYYY-MM-DD.
     */
    until?: string;
    /**
     * Maximum number of records.
     */
    most: number;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * A round of snowballing.
 */
export interface SnowballStep {
  /**
   * Sources are asked for references and citations of papers.
   */
  kind: "snowball";
  /**
   * Id of the update that asked it; absent: the first search.
   */
  update?: string;
  /**
   * Which links are followed; absent: both.
   */
  directions?: ("references" | "citations")[];
  /**
   * First day of publication of what cites them, YYYY-MM-DD.
   */
  from?: string;
  sources: Strings;
  /**
   * Papers whose references and citations are followed.
   */
  seeds: {
    /**
     * Id of the paper.
     */
    id: string;
    identifiers: Identifiers;
    [k: string]: unknown;
  }[];
  /**
   * Maximum number of references, and of citations, per paper.
   */
  most: number;
  [k: string]: unknown;
}
/**
 * The counts of a PRISMA flow diagram; derived.
 */
export interface Flow {
  /**
   * Records identified, by source.
   */
  identified?: {
    [k: string]: number;
  };
  /**
   * Duplicates removed: records of works that another record describes too.
   */
  duplicates_removed?: number;
  /**
   * Records screened by title and abstract.
   */
  screened?: number;
  /**
   * Records excluded, by stage.
   */
  excluded?: {
    [k: string]: number;
  };
  /**
   * Papers in the pool, without those that wait for a person's decision and those that are not eligible.
   */
  included?: number;
  /**
   * Papers in the pool that wait for a person's decision; absent where none does.
   */
  waiting?: number;
  /**
   * Papers in the pool that a criterion or a person excluded after they came into it; absent where it is 0.
   */
  ineligible?: number;
  /**
   * Records identified and not screened: the target was reached, or nothing new was found.
   */
  not_screened?: number;
  /**
   * Where there are eligibility criteria: screening by title and abstract. 'screened' is 'passed', 'waiting' and all of 'excluded' together.
   */
  screening?: {
    /**
     * Records that a search found and somebody screened.
     */
    screened?: number;
    excluded?: Reasons;
    /**
     * Records on which two readers disagree, for a person to decide; absent where it is 0.
     */
    waiting?: number;
    /**
     * Records that went to full text.
     */
    passed?: number;
    [k: string]: unknown;
  };
  /**
   * Where there are eligibility criteria: reading of the full texts. 'sought' is what passed screening and 'added', and it is 'not_read', 'not_retrieved', all of 'excluded', 'waiting' and 'included' together.
   */
  full_text?: {
    /**
     * Papers that came another way than by the search.
     */
    added?: number;
    /**
     * Papers in the pool on which no readers disagree by title and abstract.
     */
    sought?: number;
    /**
     * Papers still to be read.
     */
    not_read?: number;
    /**
     * Papers of which nothing could be read; absent where it is 0.
     */
    not_retrieved?: number;
    excluded?: Reasons;
    /**
     * Papers that wait for a person's decision.
     */
    waiting?: number;
    /**
     * Papers that meet the criteria, whatever their points.
     */
    included?: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Number of exclusions by reason: the id of a criterion, 'person' for a person's decision, 'retracted', or 'other'.
 */
export interface Reasons {
  [k: string]: number;
}
/**
 * The second reading: whether sentences follow from the passages that they rest on. Absent: nobody was asked.
 */
export interface Meaning {
  /**
   * By agent: how its answers to controls, whose answer is known, came out over the whole project.
   */
  checkers?: {
    [k: string]: CheckerRate;
  };
  /**
   * With 'check: all': handles of claims of readings that wait to be checked.
   */
  claims?: string[];
  open?: OpenCheck;
  [k: string]: unknown;
}
export interface CheckerRate {
  borne_out: AnsweredControls;
  not_borne_out: AnsweredControls;
  [k: string]: unknown;
}
/**
 * Of sentences that are surely supported.
 */
export interface AnsweredControls {
  /**
   * How many it has answered.
   */
  asked: number;
  /**
   * How many of them rightly.
   */
  right: number;
  [k: string]: unknown;
}
/**
 * A check under way. What is answered stays answered when a run is killed.
 */
export interface OpenCheck {
  /**
   * The iteration that wrote the report.
   */
  report: number;
  /**
   * What is done now: all sentences are checked, those that are not supported are mended, the mended ones are checked again.
   */
  step: "check" | "mend" | "again";
  /**
   * The sentences of the report that rest on passages.
   */
  sentences: {
    /**
     * JSON pointer into report.json.
     */
    where: string;
    /**
     * The sentence as it stands now.
     */
    text: string;
    /**
     * Handles of quotes.
     */
    rests_on: string[];
    /**
     * The sentence as it stood before it was mended.
     */
    was?: string;
    check?: Checked;
    [k: string]: unknown;
  }[];
  /**
   * Handles of the claims of readings that are checked with it.
   */
  claims: string[];
  /**
   * Why one of its two checkers can't be had; a clause.
   */
  unheard?: string;
  /**
   * Sentences that were mended because one of their papers says otherwise, as they stood: the two go to what is disputed.
   */
  contradicted?: {
    /**
     * The sentence.
     */
    text: string;
    /**
     * Handles of quotes.
     */
    rests_on: string[];
    /**
     * Id of the paper whose passage says otherwise.
     */
    against: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
