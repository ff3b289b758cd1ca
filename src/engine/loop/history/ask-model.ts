import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { historianFolderPrefix } from "../../lib/layout.js";
import type { Redact } from "../../lib/redact.js";
import { estimateTokens } from "../../lib/tokens.js";
import { newRun, withEvent } from "../run-record/agent-run.js";
import { type SummaryAnswer, summaryTemperature, summaryTokens } from "./summarise.js";
import type { Agent, Brief } from "../types.js";
import type { Clock } from "../../lib/clock.js";
import { withoutUndefined } from "../../lib/without-undefined.js";

/** The time limit of an agent for one summary, in milliseconds. */
export const maxSummaryMs = 300_000;

/**
 * Environment variables for an agent that writes summaries: the maximum number of tokens of its answer, and the
 * temperature. Claude Code reads the first; the others are for commands of the user. If a CLI ignores all, the maximum
 * length of a summary still applies.
 */
export const summaryEnv = {
  CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(summaryTokens),
  RESEARCH_RALPH_MAX_TOKENS: String(summaryTokens),
  RESEARCH_RALPH_TEMPERATURE: String(summaryTemperature),
} as const;

/**
 * Asks an agent for a summary: its final message. The agent works in an empty folder in `stateDir`, which is deleted
 * afterwards. A failure of the agent is returned, not thrown. `redact` removes the user's secrets from the summary.
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
  const workspace = await mkdtemp(historianFolderPrefix(stateDir));
  try {
    // Not an iteration: its number is 0, and its transcript is not kept with those of the project.
    const brief: Brief = {
      iteration: 0,
      text,
      tokens: estimateTokens(text),
      workspace,
      access: { web: false, read: false, everything: false },
    };
    let run = newRun(agent, brief, clock.now());
    for await (const event of agent.run(brief, { signal })) run = withEvent(run, event);
    const { usage, cost_usd, estimated } = run;
    const modelUsage = { tokens: usage.input + usage.output, ...withoutUndefined({ cost_usd, estimated }) };
    if (run.failure !== undefined) return { reason: run.failure.message, ...modelUsage };
    if (run.message.trim() === "") return { reason: `${agent.name} said nothing.`, ...modelUsage };
    return { summary: redact(run.message), ...modelUsage };
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}
