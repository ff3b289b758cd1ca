// Generated from schemas/config.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * When a hook runs: before or after an iteration, when its result is accepted or refused, when the phase changes, when a run ends with a verdict.
 *
 * This interface was referenced by `WrittenConfig`'s JSON-Schema
 * via the `definition` "hookPoint".
 */
export type HookPoint =
  | "before-iteration"
  | "after-iteration"
  | "accepted"
  | "refused"
  | "phase-changed"
  | "complete"
  | "limit"
  | "stuck"
  | "blocked"
  | "failed"
  | "interrupted";

/**
 * ralph.config.yaml or ralph.config.json. A flag beats the environment, which beats ./ralph.config.*, which beats ~/.local/ralph/config.*, which beats the default.
 */
export interface WrittenConfig {
  /**
   * Agent to use: claude, codex, amp, baseline, a name under 'agents', or 'cmd:<command>'. Of several, with commas between them, the first that can work: 'claude,codex'.
   */
  agent?: string;
  /**
   * Papers that are read at the same time, each by an agent of its own.
   */
  jobs?: number;
  /**
   * Target of a new research.
   */
  papers?: number;
  /**
   * Most iterations a run. Default: papers + 6.
   */
  iterations?: number;
  /**
   * Most wall time of a run, in minutes. No limit by default.
   */
  max_minutes?: number;
  /**
   * Most US dollars of a run. No limit by default. What a research may cost in its whole life stands in its rrd.json, under 'budget'.
   */
  max_usd?: number;
  /**
   * Most tokens of a run, in and out, cached ones included. No limit by default.
   */
  max_tokens?: number;
  /**
   * From the original: after how many iterations an agent's context was emptied. It is overridden: every iteration has a fresh context, and one that fills too far is closed.
   */
  context_reset_frequency?: number;
  /**
   * Most wall time of one iteration, in minutes.
   */
  iteration_minutes?: number;
  /**
   * Silence after which an agent is taken for hung, in minutes; 0 turns it off. Agents are silent while they think.
   */
  idle_minutes?: number;
  /**
   * How long to wait for a network or a model service that does not answer.
   */
  patience_minutes?: number;
  /**
   * Allow agents that nothing confines (amp, command agents).
   */
  unconfined?: boolean;
  /**
   * Commit the research folder after every accepted iteration.
   */
  git?: boolean;
  /**
   * auto: learned patterns go into AGENTS.md by themselves.
   */
  learn?: "ask" | "auto";
  /**
   * Where workspaces live. Default: $XDG_STATE_HOME/research-ralph or ~/.local/state/research-ralph.
   */
  state_dir?: string;
  /**
   * Iterations from one summary of the history to the next; 0 makes none. Ten are remembered at most, so more would be lost.
   */
  history_every?: number;
  /**
   * Agent that summarises the history, a name as for 'agent'. By default code does, which costs nothing; it also steps in where the agent fails.
   */
  historian?: string;
  /**
   * E-mail address told to scholarly APIs in the User-Agent, as they ask. Never invented.
   */
  contact?: string;
  /**
   * Settings of the scholarly services by name: arxiv, openalex, semanticscholar, crossref and so on.
   */
  sources?: {
    [k: string]: {
      /**
       * Base address to ask in place of the service's own: a mirror, or a server of yours, which may lie in your own network.
       */
      endpoint?: string;
      /**
       * Environment variable that holds the key, where it is not the usual one.
       */
      key_variable?: string;
      /**
       * Least milliseconds between two requests to 'endpoint'. By default the service's own rule holds there too.
       */
      interval_ms?: number;
      /**
       * Never ask this service.
       */
      off?: boolean;
    };
  };
  /**
   * Your own commands, run at points of a run with what happens as JSON on stdin. Ten seconds each. Never read from a research's folder.
   */
  hooks?: Hook[];
  /**
   * Your own agents by name, or settings for the known ones.
   */
  agents?: {
    [k: string]: {
      /**
       * Which adapter; by default the one of the same name, else command.
       */
      type?: "claude" | "codex" | "amp" | "command";
      /**
       * The program to run: a shell command line for 'command', a path for the others.
       */
      command?: string;
      /**
       * Model to ask for, in the CLI's own words.
       */
      model?: string;
      /**
       * More arguments, put before the prompt's.
       */
      args?: string[];
      /**
       * More environment variables.
       */
      env?: {
        [k: string]: string;
      };
      /**
       * Let the CLI load your own settings, instructions and servers.
       */
      user_settings?: boolean;
    };
  };
}
/**
 * This interface was referenced by `WrittenConfig`'s JSON-Schema
 * via the `definition` "hook".
 */
export interface Hook {
  /**
   * The points at which it runs.
   *
   * @minItems 1
   */
  on: HookPoint[];
  /**
   * A shell command line, run where you started.
   */
  run: string;
  /**
   * At 'accepted' or 'complete' only: asked before the result is folded in. A line 'veto: <reason>' on its stdout refuses the result. One that fails or takes too long vetoes nothing.
   */
  veto?: boolean;
  /**
   * More environment variables.
   */
  env?: {
    [k: string]: string;
  };
}
