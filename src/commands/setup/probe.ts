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
import { keepAnswer } from "../../engine/storage/result-file.js";

/** How one real word went through an agent. */
export interface Probe {
  readonly ok: boolean;
  /** One sentence: what came back, how long it took and what it cost, or what is wrong. */
  readonly detail: string;
  readonly seconds: number;
  readonly usage?: Usage;
  readonly cost_usd?: number;
}

const unit = { kind: "requirements", unit: "requirements", topic: "pong" };

/**
 * The smallest whole iteration: a brief on stdin, one file written, one word said. The unit is there for agents that
 * read nothing else.
 */
const text = `This is a test of the connection; no research is done.

<unit>
${JSON.stringify(unit)}
</unit>

Write a file named result.json in your working directory that holds exactly {"word":"pong"}.
Then answer with the one word pong.
`;

/**
 * Runs the agent once in a fresh folder. Its result is what an iteration would take for one: the file it wrote, else
 * the JSON of its message. With neither it would fail every iteration, with exit code 0; a CLI that refuses to write
 * when nobody is there to allow it does so.
 */
export async function probeAgent(spec: string, settings: AgentSettings, now: () => number): Promise<Probe> {
  const agent = createAgent(spec, settings);
  const workspace = makeTemporaryFolder("probe");
  const started = now();
  let usage: Usage | undefined;
  let cost_usd: number | undefined;
  let end = { message: "", failure: undefined as string | undefined };
  const brief = {
    iteration: 1,
    text,
    tokens: estimateTokens(text),
    workspace,
    access: { web: false, read: false, everything: false },
  };
  try {
    for await (const event of agent.run(brief, { signal: new AbortController().signal })) {
      if (event.type === "usage") {
        usage = event.usage;
        cost_usd = event.cost_usd ?? cost_usd;
      }
      if (event.type === "end") end = { message: event.message, failure: event.failure?.message };
    }
    const ms = now() - started;
    const numbers = { seconds: ms / 1000, usage, cost_usd };
    if (end.failure !== undefined)
      return { ok: false, detail: `${spec} failed after ${shortDuration(ms)}: ${end.failure}`, ...numbers };
    const result = () => readFile(join(workspace, resultName), "utf8").catch(() => undefined);
    const written = (await result()) !== undefined;
    await keepAnswer(workspace, end.message);
    if ((await result()) === undefined) {
      return {
        ok: false,
        detail: `${spec} answered in ${shortDuration(ms)} but gave no result: its message contains no JSON, and it wrote no file. It may lack permission to write, or it did not follow the instructions.`,
        ...numbers,
      };
    }
    const cost = usageParts(usage === undefined ? 0 : tokensOf(usage), cost_usd);
    return {
      ok: true,
      detail: `${spec} answered ${written ? "and wrote its file" : "with its result"} in ${[shortDuration(ms), ...cost].join(", ")}.`,
      ...numbers,
    };
  } finally {
    await agent.close?.();
    await rm(workspace, { recursive: true, force: true });
  }
}
