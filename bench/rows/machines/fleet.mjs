import { besideWorkers, coordinating } from "../../fleet.mjs";
import { inFolder, thousands } from "../../measure.mjs";

export const row = {
  name: "fleet",
  what: "agents on other machines: 1,000 iterations of 1 s over 200 places with 80 kB briefs; 10 MB of output to a slow reader; four lanes next to forty on eight places, agents of 0.5 to 1.5 s",
  hold: "≥ 100 iterations/s, ≤ 3 ms CPU of the coordinator each; in order, coordinator ≤ 150 MB, Redis ≤ 20 MB; ≤ 2 × as long as alone",
  command: "research-ralph run --agent fleet:<agent>",
  async run() {
    return await inFolder(async (cwd) => {
      const many = await besideWorkers(cwd, [100, 100], ({ url }) => coordinating("many", url, 200, 1_000));
      const much = await besideWorkers(cwd, [1], ({ url, redis }) => coordinating("much", url, 100_000, redis));
      const { alone, beside } = await besideWorkers(cwd, [8], ({ url }) => coordinating("beside", url));
      return {
        ours: [
          `${thousands(many.rate)}/s, ${many.cpuMs.toFixed(1)} ms, ${many.memory} MB`,
          `${much.inOrder ? "in order" : "OUT OF ORDER"}, coordinator ${much.memory} MB, Redis ${much.redisPeak} MB`,
          `${beside.toFixed(1)} s beside, ${alone.toFixed(1)} s alone (${(beside / alone).toFixed(1)} ×)`,
        ].join("; "),
      };
    });
  },
};
