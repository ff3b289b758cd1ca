// Generated from schemas/config.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * Keys of ralph.config.* that the wing 'research' reads.
 */
export interface ResearchConfig {
  /**
   * Number of papers that a new project should hold.
   */
  papers?: number;
  /**
   * ask: learned patterns wait for 'patterns --accept'. auto: they go into AGENTS.md automatically.
   */
  learn?: "ask" | "auto";
  /**
   * Agents that screen the same records, each alone, separated by commas: two readers, such as 'claude,codex'; a third one is asked where 'screening_conflicts' is third. Not set: one agent screens.
   */
  screeners?: string;
  /**
   * An agent that fills in the form of each paper too, alone and without what the first gave; where the two differ, a person decides. Not set: one agent does.
   */
  second_reader?: string;
  /**
   * What becomes of a record on which two readers disagree. include: it goes on to full text. third: a third reader decides (the third of 'screeners', otherwise the run's agent). person: it waits for 'research-ralph decide'.
   */
  screening_conflicts?: "include" | "third" | "person";
  /**
   * Who holds the sentences of a report against the passages that they rest on. Not set: the second of several agents (claude,codex), otherwise the same agent in a fresh context, once a model has written the report. all: also every claim of a reading, and every answer to a question. false: nobody.
   */
  check?:
    | (false | "false" | "all")
    | {
        /**
         * Agent that checks, a name as for 'agent'.
         */
        agent?: string;
        /**
         * Two agents that check the same sentences, each alone; where they disagree, nobody can tell.
         *
         * @minItems 2
         * @maxItems 2
         */
        agents?: string[];
        /**
         * Check every claim of a reading too, and every answer to a question.
         */
        all?: boolean;
      };
  /**
   * E-mail address that is sent to scholarly APIs in the User-Agent, as they ask. It is never invented.
   */
  contact?: string;
  /**
   * Settings of the scholarly services by name: arxiv, openalex, semanticscholar, crossref and others.
   */
  sources?: {
    [k: string]: {
      /**
       * Base address to use instead of the service's own: a mirror, or your own server, which may be in your own network.
       */
      endpoint?: string;
      /**
       * Environment variable that holds the key, if it is not the usual one.
       */
      key_variable?: string;
      /**
       * Minimum milliseconds between two requests to 'endpoint'. By default the service's own rate limit applies.
       */
      interval_ms?: number;
      /**
       * Never ask this service.
       */
      off?: boolean;
    };
  };
}
