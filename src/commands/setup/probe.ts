import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import type { AgentSettings } from "../../engine/agents/definition.js";
import { createAgent } from "../../engine/agents/registry.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import type { Usage } from "../../engine/loop/types.js";
import { shortDuration } from "../../engine/lib/words.js";
import { usageParts, tokensOf } from "../../engine/ui/terminal/tally.js";
import { resultName } from "../../engine/lib/layout.js";
import { makeTemporaryFolder } from "../../engine/storage/regular-file.js";
import { saveAnswer } from "../../engine/storage/result-file.js";

/** The result of sending one word to an agent. */
export interface Probe {
  readonly ok: boolean;
  /** One sentence: the answer, the time and the cost, or the problem. */
  readonly detail: string;
  readonly seconds: number;
  readonly usage?: Usage;
  readonly cost_usd?: number;
}

const unit = { kind: "requirements", unit: "requirements", topic: "pong" };

/**
 * The smallest possible iteration: the agent gets a brief, writes one file and answers one word. The unit is included
 * for agents that read only the unit.
 */
const briefText = `This is a test of the connection; no research is done.

<unit>
${JSON.stringify(unit)}
</unit>

Write a file named result.json in your working directory that holds exactly {"word":"pong"}.
Then answer with the one word pong.
`;

/**
 * Runs the agent once in a new folder. As in an iteration, its result is the file that it wrote, otherwise the JSON in
 * its message. An agent with neither would fail every iteration, although its exit code is 0: for example a CLI that
 * may not write files unless a user allows it.
 */
export async function probeAgent(spec: string, settings: AgentSettings, now: () => number): Promise<Probe> {
  const agent = createAgent(spec, settings);
  const workspace = makeTemporaryFolder("probe");
  const startedMs = now();
  let usage: Usage | undefined;
  let cost_usd: number | undefined;
  let lastEvent = { message: "", failure: undefined as string | undefined };
  const brief = {
    iteration: 1,
    text: briefText,
    tokens: estimateTokens(briefText),
    workspace,
    access: { web: false, read: false, everything: false },
  };
  try {
    for await (const event of agent.run(brief, { signal: new AbortController().signal })) {
      if (event.type === "usage") {
        usage = event.usage;
        cost_usd = event.cost_usd ?? cost_usd;
      }
      if (event.type === "end") lastEvent = { message: event.message, failure: event.failure?.message };
    }
    const durationMs = now() - startedMs;
    const numbers = { seconds: durationMs / 1000, usage, cost_usd };
    if (lastEvent.failure !== undefined)
      return {
        ok: false,
        detail: `${spec} failed after ${shortDuration(durationMs)}: ${lastEvent.failure}`,
        ...numbers,
      };
    const readResult = () => readFile(join(workspace, resultName), "utf8").catch(() => undefined);
    const hasWrittenFile = (await readResult()) !== undefined;
    await saveAnswer(workspace, lastEvent.message);
    if ((await readResult()) === undefined) {
      return {
        ok: false,
        detail: `${spec} answered in ${shortDuration(durationMs)} but gave no result: its message contains no JSON, and it wrote no file. It may lack permission to write, or it did not follow the instructions.`,
        ...numbers,
      };
    }
    const usageTexts = usageParts(usage === undefined ? 0 : tokensOf(usage), cost_usd);
    return {
      ok: true,
      detail: `${spec} answered ${hasWrittenFile ? "and wrote its file" : "with its result"} in ${[shortDuration(durationMs), ...usageTexts].join(", ")}.`,
      ...numbers,
    };
  } finally {
    await agent.close?.();
    await rm(workspace, { recursive: true, force: true });
  }
}
