import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { historianFolders } from "../../lib/layout.js";
import type { Redact } from "../../lib/redact.js";
import { estimateTokens } from "../../lib/tokens.js";
import { begun, folded } from "../run-record/agent-run.js";
import { type SummaryAnswer, summaryTemperature, summaryTokens } from "./summarise.js";
import type { Agent, Brief } from "../types.js";
import type { Clock } from "../../lib/clock.js";
import { given } from "../../lib/given.js";

/** How long an agent may take over one summary, in milliseconds. */
export const maxSummaryMs = 300_000;

/**
 * The environment of an agent that summarises: how long and how freely it may answer. Claude Code reads the first of
 * them; the others are for a command of the user's. A CLI that can be told neither is bounded by the summary's own
 * limit.
 */
export const summaryEnv = {
  CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(summaryTokens),
  RESEARCH_RALPH_MAX_TOKENS: String(summaryTokens),
  RESEARCH_RALPH_TEMPERATURE: String(summaryTemperature),
} as const;

/**
 * Lets an agent summarise: its final message is the summary. It works in an empty folder below `stateDir`, which goes
 * afterwards. Never throws for its failure. `redact` takes the user's secrets out of the summary.
 */
export async function askForSummary(
  agent: Agent,
  text: string,
  {
    stateDir,
    clock,
    signal,
    redact,
  }: { readonly stateDir: string; readonly clock: Clock; readonly signal: AbortSignal; readonly redact: Redact },
): Promise<SummaryAnswer> {
  await mkdir(stateDir, { recursive: true });
  const workspace = await mkdtemp(historianFolders(stateDir));
  try {
    // Not an iteration: it is numbered 0, and its transcript does not belong to the project's.
    const brief: Brief = {
      iteration: 0,
      text,
      tokens: estimateTokens(text),
      workspace,
      access: { web: false, read: false, everything: false },
    };
    let run = begun(agent, brief, clock.now());
    for await (const event of agent.run(brief, { signal })) run = folded(run, event);
    const { usage, cost_usd, estimated } = run;
    const used = { tokens: usage.input + usage.output, ...given({ cost_usd, estimated }) };
    if (run.failure !== undefined) return { reason: run.failure.message, ...used };
    if (run.message.trim() === "") return { reason: `${agent.name} said nothing.`, ...used };
    return { summary: redact(run.message), ...used };
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}
