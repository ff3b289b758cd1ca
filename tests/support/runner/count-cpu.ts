import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { byWing, calibrate, cpuLines, cpuSeconds, type FileCpu } from "./cpu.js";

/** How many times the CPU of a bare `node -e 0` the whole of `npm test` should take at most; told, and no more. */
const hold = 1_500;

/**
 * Counts the CPU seconds of a run of the tests, child processes included, and prints them a wing beside what this machine
 * takes for a bare `node -e 0`. It never fails a run, as machines differ. RR_CPU_FILES also prints the dearest files.
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
    used.set("runner", cpuSeconds().own);
    console.log(cpuLines(used, calibrate(), config.name === "unit" ? hold : undefined).join("\n"));
    if (process.env["RR_CPU_FILES"] !== undefined)
      for (const each of files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 60))
        console.log(`${each.seconds.toFixed(2).padStart(8)} ${each.file}`);
  };
}
