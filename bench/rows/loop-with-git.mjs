import { measureOverhead } from "../overhead.mjs";

export const row = {
  name: "loop-with-git",
  what: "loop overhead an iteration, 180 KB `rrd.json`, with the git commit",
  hold: "≤ 45 ms",
  command: "research-ralph run <folder> --agent cmd:./nothing.sh --unconfined",
  run: async () => await measureOverhead({ git: true }),
};
