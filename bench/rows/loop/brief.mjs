import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { writeResearch } from "../../fixture.mjs";
import { cli, inFolder, mustRun, size, thousands } from "../../measure.mjs";

export const row = {
  name: "brief",
  what: "the brief without the paper's text, at 30 and at 10,000 papers",
  hold: "≤ 6,000 tokens",
  command: "research-ralph show <folder> next",
  async run() {
    return await inFolder(async (cwd) => {
      const tokens = [];
      writeFileSync(
        join(cwd, "AGENTS.md"),
        "A sentence of an AGENTS.md that has grown too long to be shown whole.\n".repeat(1_000),
      );
      for (const papers of [30, size(10_000, 60)]) {
        const folder = `researches/bench-${papers}-2025-01-01`;
        writeResearch(join(cwd, folder), { papers, pending: papers / 2 });
        const { stdout } = await mustRun(process.execPath, [cli, "brief", folder], { cwd });
        tokens.push(countTokens(withoutPaper(stdout)));
      }
      return { ours: tokens.map((count) => `${thousands(count)}`).join(" and ") };
    });
  },
};

/**
 * What is fenced under "# The paper" goes; other fenced parts (patterns, AGENTS.md, related papers) are the brief's
 * own.
 */
function withoutPaper(brief) {
  const at = brief.indexOf("\n# The paper\n");
  if (at < 0) throw new Error("the brief has no part '# The paper'");
  return (
    brief.slice(0, at) + brief.slice(at).replace(/<untrusted-text sha256="(\w+)">.*<\/untrusted-text sha256="\1">/s, "")
  );
}
