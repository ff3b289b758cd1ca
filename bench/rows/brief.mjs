import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { writeResearch } from "../fixture.mjs";
import { cli, inFolder, mustRun, thousands } from "../measure.mjs";

export const row = {
  name: "brief",
  what: "the brief without the paper's text, at 30 and at 10,000 papers",
  hold: "≤ 6,000 tokens",
  command: "research-ralph brief <folder>",
  async run() {
    return await inFolder(async (cwd) => {
      const tokens = [];
      for (const papers of [30, 10_000]) {
        const folder = `researches/bench-${papers}-2025-01-01`;
        writeResearch(join(cwd, folder), { papers, pending: papers / 2 });
        const { stdout } = await mustRun(process.execPath, [cli, "brief", folder], { cwd });
        tokens.push(countTokens(stdout.replace(/<untrusted-text [^>]*>.*<\/untrusted-text [^>]*>/s, "")));
      }
      return { ours: tokens.map((count) => `${thousands(count)}`).join(" and ") };
    });
  },
};
