import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { cpuOf, interleavedCpu, seconds } from "../../cpu.mjs";
import { writeResearch } from "../../fixture.mjs";
import { cli, inFolder, ms, mustRun, size } from "../../measure.mjs";

const count = size(200, 2);
const readAll = `for (const name of fs.readdirSync("researches")) JSON.parse(fs.readFileSync("researches/" + name + "/rrd.json", "utf8"))`;

export const row = {
  name: "list",
  what: `\`status --all\` over ${count} projects of 180 KB less \`--version\`, in CPU seconds, compared with a bare Node that only parses them`,
  was: "2.27 × (commit ac64460, Node 20.20.2, 2026-11-22)",
  hold: "≤ 1.3 ×",
  command: "research-ralph status --all",
  async run() {
    return await inFolder(async (cwd) => {
      for (let index = 0; index < count; index++) writeResearch(join(cwd, `researches/bench-${index}-2025-01-01`));
      const [parse, version, list] = await interleavedCpu(7, [
        () => cpuOf(process.execPath, ["-e", readAll], { cwd }),
        () => cpuOf(process.execPath, [cli, "--version"], { cwd }),
        () => cpuOf(process.execPath, [cli, "status", "--all"], { cwd }),
      ]);
      const first = join(cwd, "researches", readdirSync(join(cwd, "researches"))[0], "rrd.json");
      const size = Math.round(statSync(first).size / 1000);
      const ratio = ((list - version) / parse).toFixed(2);
      return {
        bare: seconds(parse),
        rival: await rival(cwd),
        ours: `${ratio} × (${seconds(list)} less ${seconds(version)}, ${size} KB each)`,
      };
    });
  },
};

/** The original's ralph.sh, where RALPH_SH names it. It takes half a minute: once is enough. */
async function rival(cwd) {
  if (process.env.RALPH_SH === undefined) return undefined;
  const { took } = await mustRun("bash", [process.env.RALPH_SH, "--list"], { cwd });
  return ms(took);
}
