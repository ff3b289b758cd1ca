import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { installedCli, modelServer, settings } from "../agent-clis.mjs";
import { writeNewResearch } from "../fixture.mjs";
import { cli, inFolder, mustRun, thousands } from "../measure.mjs";
import { serveScholars, services } from "../scholars.mjs";

const folder = "researches/bench-2025-01-01";

export const row = {
  name: "screening-tokens",
  what: "tokens of a DISCOVERY iteration a screened paper with its title and abstract: all requests of the real CLIs, and what the model answers",
  hold: "≤ 600; the abstract of one is some 250",
  command: "research-ralph run <folder> -i 1 --agent claude|codex",
  async run() {
    const { startFakeLlm } = await modelServer();
    const found = [];
    for (const agent of ["claude", "codex"]) {
      const program = installedCli(agent);
      found.push(
        program === undefined
          ? `${agent}: not measured, 'npm run test:e2e' installs it`
          : await inFolder((cwd) => oneIteration(cwd, { agent, program, startFakeLlm })),
      );
    }
    return { ours: found.join("; ") };
  },
};

/** One accepted batch by a real CLI whose model keeps every third candidate, with a reason for each. */
async function oneIteration(cwd, { agent, program, startFakeLlm }) {
  writeNewResearch(join(cwd, folder), { keywords: ["tactile sensing", "slip detection"], sources: services.map(({ name }) => name), wanted: 30 });
  let said = "";
  let candidates = [];
  const server = await startFakeLlm(({ user, results }) => {
    if (results.length > 0) return { text: "Done." };
    const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(user)[1]);
    candidates = unit.candidates;
    const isKept = (_, index) => index % 3 === 0;
    said = JSON.stringify({
      unit: unit.unit,
      kept: candidates.filter(isKept).map(({ id }) => ({ id, priority: 4, reason: "It measures slip at the fingertip." })),
      dropped: candidates.filter((each, index) => !isKept(each, index)).map(({ id }) => ({ id, reason: "It is about planning, without touch." })),
      papers: [],
      sources: [],
    });
    return { text: said };
  });
  const scholars = await serveScholars();
  try {
    const endpoints = services.map(({ path }) => [path, { endpoint: `${scholars.origin}/${path}`, interval_ms: 0 }]);
    const agents = { [agent]: { command: program, ...settings(agent, server, cwd) } };
    writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ git: false, agents, sources: Object.fromEntries(endpoints) }));
    const env = { ...process.env, HOME: cwd, XDG_STATE_HOME: join(cwd, "state") };
    await mustRun(process.execPath, [cli, "run", folder, "--agent", agent, "-i", "1"], { cwd, env }, [3]);
    const last = JSON.parse(
      readFileSync(join(cwd, folder, "ledger.jsonl"), "utf8")
        .trim()
        .split("\n")
        .at(-1),
    );
    if (last.outcome !== "accepted") throw new Error(`${agent}: ${last.outcome}, ${last.reasons?.[0]}`);
    const read = server.requests.reduce((sum, { body }) => sum + countTokens(JSON.stringify(body)), 0);
    const each = (read + countTokens(said)) / candidates.length;
    return `${agent} ${thousands(each)} (${thousands(read)} in and ${thousands(countTokens(said))} out for ${candidates.length} papers, ${server.requests.length} requests)`;
  } finally {
    await server.close();
    await scholars.close();
  }
}
