// Preloaded into a run (node --import): writes the CPU time of this very process, in milliseconds and without its
// children's, to the file that RR_CPU names.
import { writeFileSync } from "node:fs";

const target = process.env.RR_CPU;
process.once("exit", () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(target, String((user + system) / 1000));
});
