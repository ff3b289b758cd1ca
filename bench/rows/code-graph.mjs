import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../scripts/bundle.mjs";
import { inFolder } from "../measure.mjs";

/** 8 KB of exports. */
const filler = Array.from({ length: 40 }, (_, at) => `export const v${at} = "${"x".repeat(170)}";`).join("\n");

export const row = {
  name: "code-graph",
  what: "import graph of TypeScript: 100 files of 8 KB; 1,000 read before, of which one has changed",
  hold: "≤ 150 ms; ≤ 60 ms",
  command: "readGraph(folder), its libraries loaded before",
  async run() {
    const { graph } = await load({ graph: "src/code/graph/graph.ts" });
    // The libraries are loaded once a process.
    await inFolder((folder) => timed(graph, project(folder, 2)));
    const few = await inFolder((folder) => timed(graph, project(folder, 100)));
    const many = await inFolder(async (folder) => {
      const cold = await timed(graph, project(folder, 1_000));
      const warm = [];
      for (let at = 0; at < 7; at += 1) {
        appendFileSync(join(folder, "src/m3.ts"), "\n");
        warm.push(await timed(graph, folder));
      }
      return { cold, warm: warm.toSorted((a, b) => a - b)[3] };
    });
    const ms = (value) => `${Math.round(value)} ms`;
    return { ours: `${ms(few)}; ${ms(many.warm)} (1,000 for the first time: ${ms(many.cold)})` };
  },
};

function project(folder, files) {
  execFileSync("git", ["init", "-q", folder]);
  for (const name of [".ralph", "src"]) mkdirSync(join(folder, name), { recursive: true });
  for (let at = 0; at < files; at += 1) {
    const imports = `import { v1 } from "./m${(at * 7 + 1) % files}.js";\nimport { v2 } from "./m${(at * 13 + 5) % files}";`;
    writeFileSync(join(folder, `src/m${at}.ts`), `${imports}\n${filler}\n`);
  }
  return folder;
}

async function timed(graph, folder) {
  const begun = performance.now();
  await graph.readGraph(folder);
  return performance.now() - begun;
}
