import type { KnownAgent } from "../definition.js";

/** An agent that speaks the Agent Client Protocol (ACP), and how it is started and configured. */
export interface AcpAgent extends KnownAgent {
  /** Arguments that start the agent in ACP mode. */
  readonly args: readonly string[];
  /** The flag that chooses the model. If absent, a request in the session sets the model. */
  readonly modelFlag?: string;
  /** How the user installs the agent; shown to the user. */
  readonly install: string;
  /** How the user logs in to it; shown to the user. */
  readonly login: string;
  /** The service of its models, if it has exactly one. `baseVariable`: the variable that replaces the address. */
  readonly service?: { readonly address: string; readonly baseVariable: string; readonly keyHeader: string };
  /** The variable that names its log file. Needed if the agent prints its errors only when it ends. */
  readonly logVariable?: string;
  /** Environment variables that the agent is started with. */
  readonly env?: Readonly<Record<string, string>>;
  /** More environment variables, only in a workspace of research-ralph and not in a folder of the user. */
  readonly envInWorkspace?: Readonly<Record<string, string>>;
}

/**
 * Agents that are known by name. The first two are tested; the others follow the vendors' documentation (November
 * 2026).
 */
export const commonAgents: readonly AcpAgent[] = [
  {
    // https://geminicli.com/docs: `--acp`
    name: "gemini",
    program: "gemini",
    args: ["--acp"],
    modelFlag: "--model",
    families: ["gemini"],
    install: "npm install -g @google/gemini-cli",
    login: "Set GEMINI_API_KEY, or run `gemini` once and log in.",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    settingVariables: /^(?:GEMINI|GOOGLE)_/,
    service: {
      address: "https://generativelanguage.googleapis.com",
      baseVariable: "GOOGLE_GEMINI_BASE_URL",
      keyHeader: "x-goog-api-key",
    },
    // If the service refuses requests, Gemini reports that only in its log, and it retries without limit.
    logVariable: "GEMINI_DEBUG_LOG_FILE",
    env: { GEMINI_CLI_NO_RELAUNCH: "true" },
    // Gemini gives the model tools only in a trusted folder. The workspace of a unit can be trusted: research-ralph
    // created it empty.
    envInWorkspace: { GEMINI_CLI_TRUST_WORKSPACE: "true" },
  },
  {
    // https://opencode.ai/docs/acp
    name: "opencode",
    program: "opencode",
    args: ["acp"],
    install: "npm install -g opencode-ai",
    login: "Run `opencode auth login`, or name a provider in its configuration.",
    settingVariables: /^OPENCODE_/,
    env: { OPENCODE_DISABLE_AUTOUPDATE: "1" },
  },
  {
    // https://docs.augmentcode.com/cli/acp
    name: "auggie",
    program: "auggie",
    args: ["--acp"],
    install: "npm install -g @augmentcode/auggie",
    login: "Run `auggie login`.",
  },
  {
    // https://block.github.io/goose
    name: "goose",
    program: "goose",
    args: ["acp"],
    install: "see https://block.github.io/goose",
    login: "Run `goose configure`.",
  },
  {
    // https://moonshotai.github.io/kimi-cli
    name: "kimi",
    program: "kimi",
    args: ["acp"],
    install: "uv tool install kimi-cli",
    login: "Run `kimi` once and log in.",
  },
];
