import { readdirSync } from "node:fs";
import { join } from "node:path";
import { folder, ofEachCli, tokensOfIteration } from "../../agent-clis.mjs";
import { writeLongPaper, writeResearch } from "../../fixture.mjs";
import { inFolder, size, thousands } from "../../measure.mjs";

const sizes = [30, size(10_000, 60)];

export const row = {
  name: "analysis-tokens",
  what: "input tokens of a whole ANALYSIS iteration, 15k-token paper, all requests of the real CLIs, at 30 and at 10,000 papers",
  hold: "≤ 45,000, the same at both",
  command: "research-ralph run <folder> -i 1 --agent claude|codex|ralph",
  async run() {
    const ours = await ofEachCli(async (means) => {
      const tokens = [];
      for (const papers of sizes) tokens.push(await inFolder((cwd) => oneIteration(cwd, { ...means, papers })));
      if (means.agent === "ralph") return `${means.agent} ${tokens.map(thousands).join(" and ")}`;
      const asFile = await inFolder((cwd) => oneIteration(cwd, { ...means, papers: sizes[0], writesFile: true }));
      return `${means.agent} ${tokens.map(thousands).join(" and ")} (${thousands(asFile)} where the model writes result.json instead)`;
    });
    return { ours };
  },
};

/** Input tokens (o200k, of the request bodies) of one accepted reading by a real CLI whose model answers at once. */
async function oneIteration(cwd, { agent, program, papers, startFakeLlm, writesFile = false }) {
  const { record, result } = writeLongPaper(cwd);
  writeResearch(join(cwd, folder), { papers, more: [record] });
  const text = JSON.stringify(result);
  const server = await startFakeLlm(({ api, results }) => {
    if (!writesFile) return { text };
    if (results.length > 0) return { text: "Done." };
    const write = { name: "Write", input: { file_path: join(workspaceOf(cwd), "result.json"), content: text } };
    const shell = { name: "exec_command", input: { cmd: `cat > result.json <<'END'\n${text}\nEND` } };
    return { tools: [api === "anthropic" ? write : shell] };
  });
  try {
    return await tokensOfIteration(cwd, { agent, program, server });
  } finally {
    await server.close();
  }
}

/** Claude's Write wants an absolute path: the only folder of the only research's workspaces. */
function workspaceOf(cwd) {
  const workspaces = join(cwd, "state/research-ralph/workspaces");
  const research = join(workspaces, readdirSync(workspaces)[0]);
  return join(research, readdirSync(research)[0]);
}
