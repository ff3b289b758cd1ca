import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuOf } from "../../cpu.mjs";
import { writeAgent, writeResearch } from "../../fixture.mjs";
import { cli, inFolder, median, ms, mustRun, root, rounds, size } from "../../measure.mjs";

const [few, many] = [size(2, 1), size(22, 3)];
const folder = "researches/bench-2025-01-01";

export const row = {
  name: "loop",
  what: "the loop's own CPU an iteration, `rrd.json` of 180 KB, an agent that nothing confines, with git, compared with a bare `node -e 0` in the same run; that of git and the agent besides",
  was: "77 ms of 120 ms, a busy machine",
  hold: "≤ 0.8 × bare Node",
  command: "research-ralph run <folder> --agent cmd:./nothing.sh --unconfined",
  async run() {
    const taken = { bare: [], own: [], all: [] };
    for (let round = 0; round < rounds(5); round++) {
      taken.bare.push((await cpuOf(process.execPath, ["-e", "0"])) * 1000);
      const [short, long] = [await runOf(few), await runOf(many)];
      for (const name of ["own", "all"]) taken[name].push((long[name] - short[name]) / (many - few));
    }
    const [bare, own, all] = [taken.bare, taken.own, taken.all].map(median);
    return {
      bare: ms(bare),
      ours: `${(own / bare).toFixed(2)} × (${ms(own)} beside ${ms(bare)}); git and agent ${ms(all - own)}`,
    };
  },
};

/** A run of so many iterations: CPU milliseconds of its process, and of all that it started as well. */
async function runOf(iterations) {
  return await inFolder(async (cwd) => {
    const agent = writeAgent(cwd);
    // What is asked of the network for each paper has limits of its own, and is prepared while agents work.
    const sources = { GitHub: { off: true }, "Hugging Face": { off: true } };
    writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ sources }));
    writeResearch(join(cwd, folder), { papers: 30, pending: many });
    const own = join(cwd, "cpu");
    const env = { ...process.env, XDG_STATE_HOME: join(cwd, "state"), HOME: cwd, RR_CPU: own };
    await mustRun("git", ["init", "-q"], { cwd, env });
    const flags = ["--agent", `cmd:${agent.command}`, "--unconfined", "-i", String(iterations)];
    const all = await cpuOf(
      process.execPath,
      ["--import", join(root, "bench/own-cpu.mjs"), cli, "run", folder, ...flags],
      { cwd, env },
      [0, 3],
    );
    const lines = readFileSync(join(cwd, folder, "ledger.jsonl"), "utf8")
      .trim()
      .split("\n");
    const refused = lines.find((line) => JSON.parse(line).outcome !== "accepted");
    if (refused !== undefined) throw new Error(`an iteration was not accepted: ${refused}`);
    if (lines.length !== iterations) throw new Error(`${lines.length} iterations, not ${iterations}`);
    return { own: Number(readFileSync(own, "utf8")), all: all * 1000 };
  });
}
