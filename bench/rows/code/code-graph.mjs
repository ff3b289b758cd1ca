import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { inFolder } from "../../measure.mjs";

/** 8 KB of exports. */
const filler = Array.from({ length: 40 }, (_, at) => `export const v${at} = "${"x".repeat(170)}";`).join("\n");

export const row = {
  name: "code-graph",
  what: "import graph of TypeScript, CPU time: 100 files of 8 KB; 1,000 read before, of which one has changed; compared with parsing the 100 alone",
  hold: "≤ 150 ms; ≤ 60 ms",
  command: "readGraph(folder), its libraries loaded before",
  async run() {
    const { graph } = await load({ graph: "src/code/graph/graph.ts" });
    const { parseSync } = await import("oxc-parser");
    // The libraries are loaded once a process.
    await inFolder((folder) => timed(graph, project(folder, 2)));
    const [few, parsed] = await inFolder(async (folder) => {
      const taken = [];
      for (let at = 0; at < 7; at += 1) {
        rmSync(join(project(folder, 100), ".ralph"), { recursive: true });
        mkdirSync(join(folder, ".ralph"));
        const text = readFileSync(join(folder, "src/m1.ts"), "utf8");
        const alone = await cpu(() => {
          for (let time = 0; time < 100; time += 1) void parseSync("m1.ts", text).module.staticImports;
        });
        taken.push([await timed(graph, folder), alone]);
      }
      return [0, 1].map((which) => taken.map((pair) => pair[which]).toSorted((a, b) => a - b)[3]);
    });
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
    const ratio = (few / parsed).toFixed(1);
    return {
      ours: `${ms(few)}; ${ms(many.warm)}; ${ratio} times parsing (1,000 for the first time: ${ms(many.cold)})`,
    };
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

const timed = (graph, folder) => cpu(() => graph.readGraph(folder));

/** CPU milliseconds of this process: other work on the machine does not count. */
async function cpu(work) {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}
