// Generated from schemas/config.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * Keys of ralph.config.* that the wing 'research' reads.
 */
export interface ResearchConfig {
  /**
   * Papers that a new project should hold.
   */
  papers?: number;
  /**
   * ask: learned patterns wait for 'show patterns --accept'. auto: they go into AGENTS.md.
   */
  learn?: "ask" | "auto";
  /**
   * Agents that screen the same records, each alone: 'claude,codex', and a third for 'screening_conflicts: third'. Not set: one agent screens.
   */
  screeners?: string;
  /**
   * An agent that fills in each paper's form too, alone; if the two differ, a person decides.
   */
  second_reader?: string;
  /**
   * A record on which two readers disagree. include: it goes on to full text. third: a third reader decides (the third of 'screeners', otherwise the run's agent). person: it waits for 'research-ralph screen'.
   */
  screening_conflicts?: "include" | "third" | "person";
  /**
   * Who checks the sentences of a report against their passages. Not set: the second of several agents, otherwise the same agent in a fresh context. all: also claims of readings and answers. false: nobody.
   */
  check?:
    | (false | "false" | "all")
    | {
        /**
         * Agent that checks, a name as for 'agent'.
         */
        agent?: string;
        /**
         * Two agents that check the same sentences, each alone; if they disagree, nobody can tell.
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
   * Ask services about papers of your own files: for the record, corrections, code and citations of a DOI or arXiv id that one prints. false: nothing of your files goes to a service.
   */
  lookups?: boolean;
  /**
   * Settings of the scholarly services by name: arxiv, openalex, semanticscholar, crossref and others.
   */
  sources?: {
    [k: string]: {
      /**
       * Base address instead of the service's own: a mirror, or a server in your own network.
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
