import { measureCommits } from "../overhead.mjs";

export const row = {
  name: "loop-with-git",
  what: "what the git commit adds to an iteration, 180 KB `rrd.json`",
  hold: "≤ 1.5 × a bare commit",
  command: "research-ralph run <folder> --agent claude",
  run: measureCommits,
};
