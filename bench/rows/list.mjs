import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeResearch } from "../fixture.mjs";
import { cli, inFolder, interleaved, ms, mustRun } from "../measure.mjs";

const count = 200;
const readAll = `for (const name of fs.readdirSync("researches")) JSON.parse(fs.readFileSync("researches/" + name + "/rrd.json", "utf8"))`;

export const row = {
  name: "list",
  what: `\`list\` over ${count} researches of 180 KB`,
  hold: "≤ 500 ms",
  command: "research-ralph list",
  async run() {
    return await inFolder(async (cwd) => {
      for (let index = 0; index < count; index++) writeResearch(join(cwd, `researches/bench-${index}-2025-01-01`));
      const [bare, ours] = await interleaved(5, [
        () => mustRun(process.execPath, ["-e", readAll], { cwd }),
        () => mustRun(process.execPath, [cli, "list"], { cwd }),
      ]);
      const first = join(cwd, "researches", readdirSync(join(cwd, "researches"))[0], "rrd.json");
      const size = Math.round(statSync(first).size / 1000);
      return { bare: `${ms(bare)} (only parses them)`, rival: await rival(cwd), ours: `${ms(ours)} (${size} KB each)` };
    });
  },
};

/** The original's ralph.sh, where RALPH_SH names it. It takes half a minute: once is enough. */
async function rival(cwd) {
  if (process.env.RALPH_SH === undefined) return undefined;
  const { took } = await mustRun("bash", [process.env.RALPH_SH, "--list"], { cwd });
  return ms(took);
}
