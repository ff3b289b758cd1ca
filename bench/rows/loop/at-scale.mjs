import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cpuMs } from "../../cpu.mjs";
import { writeResearch } from "../../fixture.mjs";
import { inFolder, median, ms, rounds, size, thousands } from "../../measure.mjs";
import { openRun } from "../../research-run.mjs";

const papers = size(10_000, 30);

export const row = {
  name: "at-scale",
  what: `a run over ${thousands(papers)} papers, in this process: CPU of a load from the disk and of one within a run, a brief, and a fold with what is judged before it, each beside parsing the same file`,
  hold: "stated",
  command: "npm run bench -- at-scale",
  async run() {
    return await inFolder(async (cwd) => {
      const folder = join(cwd, "researches/bench-2025-01-01");
      writeResearch(folder, { papers, pending: 20 });
      execFileSync("git", ["init", "-q"], { cwd });
      const path = join(folder, "rrd.json");
      const taken = { load: [], again: [], brief: [], together: [] };
      const parse = [];
      const run = await openRun(cwd, folder, { iterations: rounds(7) });
      const { readResearch } = run.modules.research;
      for (let round = 0; round < rounds(5); round++) taken.load.push((await cpuMs(() => readResearch(folder))).ms);
      const timed = (name, kept = name) => {
        const work = run.workflow[name];
        return async (...args) => {
          const { value, ms: took } = await cpuMs(() => work.apply(run.workflow, args));
          taken[kept].push(took);
          if (name === "together") parse.push((await cpuMs(() => JSON.parse(readFileSync(path, "utf8")))).ms);
          return value;
        };
      };
      // What `accept` changes is written at the end of `together`.
      const workflow = {
        ...run.workflow,
        load: timed("load", "again"),
        brief: timed("brief"),
        together: timed("together"),
      };
      const verdict = await run.loop(workflow, {});
      if (verdict.verdict !== "limit") throw new Error(`the run ended otherwise: ${verdict.reason}`);
      const bare = median(parse);
      const show = (name) => `${ms(median(taken[name]))} (${(median(taken[name]) / bare).toFixed(2)} ×)`;
      const megabytes = (readFileSync(path).length / 1e6).toFixed(1);
      return {
        bare: `${ms(bare)} (parsing ${megabytes} MB)`,
        ours: `load ${show("load")}, in a run ${show("again")}; brief ${show("brief")}; fold ${show("together")}`,
      };
    });
  },
};
