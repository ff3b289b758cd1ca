import { measureOverhead } from "../../overhead.mjs";

export const row = {
  name: "loop",
  what: "loop overhead an iteration, 180 KB `rrd.json`, compared with a bare write, fsync and rename of the same bytes",
  was: "unconfined 50 ms (commit ac64460, 2026-11-22)",
  hold: "≤ 3 × confined, ≤ 6 × unconfined",
  command: "research-ralph run <folder> --agent cmd:./nothing.sh --unconfined",
  run: measureOverhead,
};
