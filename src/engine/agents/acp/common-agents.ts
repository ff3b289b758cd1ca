import type { KnownAgent } from "../definition.js";

/** An agent that speaks the Agent Client Protocol, and how it is started and set. */
export interface AcpAgent extends KnownAgent {
  /** What makes it speak the protocol. */
  readonly args: readonly string[];
  /** The flag that chooses its model. Absent: the session is asked to change it. */
  readonly modelFlag?: string;
  /** How to get it. */
  readonly install: string;
  /** How it is let in. */
  readonly login: string;
  /** The service of its model, where that is one. `baseVariable`: names another address for it. */
  readonly service?: { readonly address: string; readonly baseVariable: string; readonly keyHeader: string };
  /** The variable that names a file for its log, where it keeps its stderr to itself until it ends. */
  readonly logVariable?: string;
  /** Environment it is started with. */
  readonly env?: Readonly<Record<string, string>>;
  /** The same where it works in a workspace of research-ralph, and not in a folder of the user's. */
  readonly envInWorkspace?: Readonly<Record<string, string>>;
}

/**
 * Agents that are known by name. The first two were driven by tests; the others stand here as their makers' pages
 * describe them (November 2026).
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
    setBy: /^(?:GEMINI|GOOGLE)_/,
    service: {
      address: "https://generativelanguage.googleapis.com",
      baseVariable: "GOOGLE_GEMINI_BASE_URL",
      keyHeader: "x-goog-api-key",
    },
    // While its service refuses it, it says so in its log alone, and no setting bounds its tries.
    logVariable: "GEMINI_DEBUG_LOG_FILE",
    env: { GEMINI_CLI_NO_RELAUNCH: "true" },
    // It gives tools to a model only where it trusts the folder; the workspace of a unit is ours and empty.
    envInWorkspace: { GEMINI_CLI_TRUST_WORKSPACE: "true" },
  },
  {
    // https://opencode.ai/docs/acp
    name: "opencode",
    program: "opencode",
    args: ["acp"],
    install: "npm install -g opencode-ai",
    login: "Run `opencode auth login`, or name a provider in its configuration.",
    setBy: /^OPENCODE_/,
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
