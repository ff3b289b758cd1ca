import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { installedCli, modelServer, settings } from "../agent-clis.mjs";
import { writeLongPaper, writeResearch } from "../fixture.mjs";
import { cli, inFolder, mustRun, thousands } from "../measure.mjs";

const folder = "researches/bench-2025-01-01";
const sizes = [30, 10_000];

export const row = {
  name: "analysis-tokens",
  what: "input tokens of a whole ANALYSIS iteration, 15k-token paper, all requests of the real CLIs, at 30 and at 10,000 papers",
  hold: "≤ 45,000, the same at both",
  command: "research-ralph run <folder> -i 1 --agent claude|codex",
  async run() {
    const { startFakeLlm } = await modelServer();
    const found = [];
    for (const agent of ["claude", "codex"]) {
      const program = installedCli(agent);
      if (program === undefined) {
        found.push(`${agent}: not measured, 'npm run test:e2e' installs it`);
        continue;
      }
      const tokens = [];
      for (const papers of sizes) tokens.push(await inFolder((cwd) => oneIteration(cwd, { agent, program, papers, startFakeLlm })));
      const asFile = await inFolder((cwd) => oneIteration(cwd, { agent, program, papers: sizes[0], startFakeLlm, writesFile: true }));
      found.push(`${agent} ${tokens.map(thousands).join(" and ")} (${thousands(asFile)} where the model writes result.json instead)`);
    }
    return { ours: found.join("; ") };
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
    writeFileSync(
      join(cwd, "ralph.config.json"),
      JSON.stringify({ git: false, agents: { [agent]: { command: program, ...settings(agent, server, cwd) } } }),
    );
    const env = { ...process.env, HOME: cwd, XDG_STATE_HOME: join(cwd, "state") };
    await mustRun(process.execPath, [cli, "run", folder, "--agent", agent, "-i", "1"], { cwd, env }, [3]);
    const last = JSON.parse(
      readFileSync(join(cwd, folder, "ledger.jsonl"), "utf8")
        .trim()
        .split("\n")
        .at(-1),
    );
    if (last.outcome !== "accepted") throw new Error(`${agent} at ${papers} papers: ${last.outcome}, ${last.reasons?.[0]}`);
    return server.requests.reduce((sum, { body }) => sum + countTokens(JSON.stringify(body)), 0);
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
