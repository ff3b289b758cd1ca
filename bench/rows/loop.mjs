import { measureOverhead } from "../overhead.mjs";

export const row = {
  name: "loop",
  what: "loop overhead an iteration, 180 KB `rrd.json`",
  hold: "≤ 15 ms",
  command: "research-ralph run <folder> --agent cmd:./nothing.sh --unconfined",
  run: async () => await measureOverhead({ git: false }),
};
