import { measureCommits } from "../../overhead.mjs";

export const row = {
  name: "loop-with-git",
  what: "what the git commit adds to an iteration, 180 KB `rrd.json`",
  was: "69 ms for the iteration and its commit (commit ac64460, 2026-11-22)",
  hold: "≤ 1.5 × a bare commit",
  command: "research-ralph run <folder> --agent claude",
  run: measureCommits,
};
