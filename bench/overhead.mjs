// What the loop costs an iteration: the time from the end of one run of a do-nothing agent to the start of the next.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeAgent, writeResearch } from "./fixture.mjs";
import { cli, inFolder, median, ms, mustRun } from "./measure.mjs";

const iterations = 20;
const folder = "researches/bench-2025-01-01";

/** Milliseconds between each run of the agent and the next. */
function gaps(spans) {
  const runs = readFileSync(spans, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" ").map(Number));
  rmSync(spans);
  return runs.slice(1).map(([start], index) => (start - runs[index][1]) / 1e6);
}

/** Median gap under our loop beside the same agent started in a loop of bare Node, which costs the start of a shell. */
export async function measureOverhead({ git }) {
  return await inFolder(async (cwd) => {
    const agent = writeAgent(cwd);
    const env = { ...process.env, XDG_STATE_HOME: join(cwd, "state"), HOME: cwd };
    writeResearch(join(cwd, folder), { papers: 30, pending: iterations });
    writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ git }));
    if (git) await mustRun("git", ["init", "-q"], { cwd, env });

    const input = '{"unit": "paper_11"}\n';
    for (let index = 0; index < iterations; index++) await mustRun("sh", ["-c", agent.command], { cwd, input });
    const bare = median(gaps(agent.spans));

    const flags = ["run", folder, "--agent", `cmd:${agent.command}`, "--unconfined", "-i", String(iterations)];
    await mustRun(process.execPath, [cli, ...flags], { cwd, env }, [0, 3]);
    const refused = readFileSync(join(cwd, folder, "ledger.jsonl"), "utf8")
      .trim()
      .split("\n")
      .find((line) => JSON.parse(line).outcome !== "accepted");
    if (refused !== undefined) throw new Error(`an iteration was not accepted: ${refused}`);
    const found = gaps(agent.spans);
    if (found.length !== iterations - 1) throw new Error(`the agent ran ${found.length + 1} times, not ${iterations}`);
    const ours = median(found);
    return { bare: ms(bare), ours: `${ms(ours - bare)} (${ms(ours)} less the agent's start)` };
  });
}
