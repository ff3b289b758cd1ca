import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { folder, ofEachCli, tokensOfIteration } from "../../agent-clis.mjs";
import { writeNewResearch } from "../../fixture.mjs";
import { inFolder, thousands } from "../../measure.mjs";
import { serveScholars, services } from "../../scholars.mjs";

export const row = {
  name: "screening-tokens",
  what: "tokens of a DISCOVERY iteration a screened paper with its title and abstract: all requests of the real CLIs, and what the model answers",
  hold: "≤ 600; the abstract of one is some 250",
  command: "research-ralph run <folder> -i 1 --agent claude|codex|ralph",
  async run() {
    return { ours: await ofEachCli((means) => inFolder((cwd) => oneIteration(cwd, means))) };
  },
};

/** One accepted batch by a real CLI whose model keeps every third candidate, with a reason for each. */
async function oneIteration(cwd, { agent, program, startFakeLlm }) {
  writeNewResearch(join(cwd, folder), {
    keywords: ["tactile sensing", "slip detection"],
    sources: services.map(({ name }) => name),
    wanted: 30,
  });
  let said = "";
  let candidates = [];
  const server = await startFakeLlm(({ user, results }) => {
    if (results.length > 0) return { text: "Done." };
    const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(user)[1]);
    candidates = unit.candidates;
    const isKept = (_, index) => index % 3 === 0;
    said = JSON.stringify({
      unit: unit.unit,
      kept: candidates
        .filter(isKept)
        .map(({ id }) => ({ id, priority: 4, reason: "It measures slip at the fingertip." })),
      dropped: candidates
        .filter((each, index) => !isKept(each, index))
        .map(({ id }) => ({ id, reason: "It is about planning, without touch." })),
      papers: [],
      sources: [],
    });
    return { text: said };
  });
  const scholars = await serveScholars();
  try {
    const endpoints = services.map(({ path }) => [path, { endpoint: `${scholars.origin}/${path}`, interval_ms: 0 }]);
    const read = await tokensOfIteration(cwd, {
      agent,
      program,
      server,
      config: { sources: Object.fromEntries(endpoints) },
    });
    const each = (read + countTokens(said)) / candidates.length;
    return `${agent} ${thousands(each)} (${thousands(read)} in and ${thousands(countTokens(said))} out for ${candidates.length} papers, ${server.requests.length} requests)`;
  } finally {
    await server.close();
    await scholars.close();
  }
}
