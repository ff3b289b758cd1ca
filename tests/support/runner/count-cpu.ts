import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { byWing, cpuLines, farOver, type FileCpu } from "./cpu.js";

/**
 * CPU seconds that each wing of `npm test` may use on a usual machine, its child processes included: 240 in all, which
 * two cores do in under three minutes.
 */
const budgets = {
  engine: 50,
  research: 66,
  commands: 48,
  compose: 1,
  task: 10,
  code: 3,
  assistant: 13,
  web: 2,
  house: 9,
  fuzz: 20,
  runner: 18,
};

/**
 * Counts the CPU seconds of a run of the tests and prints them a wing, beside the budget where the whole of `npm test`
 * was run. A wing over its budget is a warning, as machines differ; one at three times its budget fails the run.
 */
export default function countCpu({ config }: { readonly config: { readonly name?: string } }): () => void {
  const file = join(tmpdir(), `cpu-${process.pid}.jsonl`);
  process.env["RR_CPU_FILE"] = file;
  return () => {
    delete process.env["RR_CPU_FILE"];
    if (!existsSync(file)) return;
    const files = readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as FileCpu);
    const used = byWing(files);
    // The process that transforms the files and starts the others; its children are counted above.
    const { user, system } = process.cpuUsage();
    used.set("runner", (user + system) / 1e6);
    const known = config.name === "system" ? {} : budgets;
    console.log(`CPU seconds a wing, children included:\n${cpuLines(used, known).join("\n")}`);
    if (process.env["RR_CPU_FILES"] !== undefined)
      for (const each of files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 60))
        console.log(`${each.seconds.toFixed(2).padStart(8)} ${each.file}`);
    for (const wing of farOver(used, known)) {
      console.error(`The tests of ${wing} used more than three times their budget of CPU seconds.`);
      process.exitCode = 1;
    }
  };
}
