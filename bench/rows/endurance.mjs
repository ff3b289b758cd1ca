import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inFolder, root } from "../measure.mjs";
import { writeResearch } from "../fixture.mjs";

const papers = 1_000;

export const row = {
  name: "endurance",
  what: `a run of ${papers.toLocaleString("en")} iterations with the real store, three at a time: brief and memory at its end beside those after 100, ledger against what was told`,
  hold: "both flat, the ledger adds up",
  command: "npm run bench -- endurance",
  async run() {
    return await inFolder(async (cwd) => {
      const folder = join(cwd, "researches/bench-2025-01-01");
      const abstract = "word7 word14 word21 word28 word35 word42.";
      const more = Array.from({ length: papers - 1 }, (_, index) => ({ id: `other_${index}`, title: `Paper ${index}`, abstract, status: "pending" }));
      writeResearch(folder, { papers: 1, pending: 1, more });
      writeFileSync(join(folder, "progress.txt"), "");
      const seen = await runAll(cwd, folder);
      const grown = seen.rss.at(-1) - seen.rss[0];
      const brief = Math.max(...seen.briefs.slice(-100)) / Math.max(...seen.briefs.slice(50, 150));
      const sums = seen.told === seen.booked ? "adds up" : `told ${seen.told} tokens, booked ${seen.booked}`;
      return {
        ours: `brief × ${brief.toFixed(2)}, memory ${grown >= 0 ? "+" : ""}${grown} MB (to ${seen.rss.at(-1)} MB), ${seen.iterations} iterations: ${sums}`,
      };
    });
  },
};

/** The run in this process, with an agent that answers at once. */
async function runAll(cwd, folder) {
  const load = (path) => import(join(root, "dist", path));
  const [
    { runLoop },
    { rulesFor },
    { openResearch, readResearch },
    { researchWorkflow },
    { workspacesOf },
    { loadPrompt },
    { derive },
    { systemClock },
  ] = await Promise.all(
    [
      "loop/run-loop.js",
      "loop/rules.js",
      "store/research.js",
      "workflows/research/workflow.js",
      "workflows/research/workspace.js",
      "workflows/research/prompt.js",
      "workflows/research/statistics.js",
      "lib/clock.js",
    ].map(load),
  );
  const agent = answering();
  const never = new AbortController().signal;
  const research = await openResearch(folder, { derive, git: false, notify: () => {} });
  const workflow = researchWorkflow({
    research,
    library: { serves: () => false, candidates: async () => [], text: async () => ({ unavailable: "The bench has none." }) },
    workspaces: workspacesOf(join(cwd, "state"), folder),
    prompt: await loadPrompt(cwd),
    root: cwd,
    ...systemClock,
    signal: never,
    learn: false,
    notices: [],
  });
  const rules = rulesFor({ agents: [agent], iterations: papers, budget: {}, patienceMs: 0, finish: never });
  const briefs = [];
  const rss = [];
  let told = 0;
  for await (const event of runLoop(workflow, agent, { ...rules, jobs: 3, clock: systemClock, finish: never, abort: never })) {
    if (event.type === "iteration-started") briefs.push(event.briefTokens);
    if (event.type === "iteration-ended") told += event.usage.input + event.usage.output;
    if (event.type === "iteration-ended" && briefs.length % 100 === 0) {
      globalThis.gc?.();
      rss.push(Math.round(process.memoryUsage().rss / 1e6));
    }
  }
  await research.close();
  const { ledger } = await readResearch(folder);
  const booked = ledger.reduce((sum, { tokens }) => sum + (tokens?.input ?? 0) + (tokens?.output ?? 0), 0);
  return { briefs, rss, told, booked, iterations: ledger.length };
}

function answering() {
  const points = { novelty: 3, feasibility: 4, time_to_poc: 3, value_market: 3, defensibility: 2, adoption: 3 };
  const strategic = { market_creation: 2, first_mover_window: 2, network_effects: 2, strategic_clarity: 3 };
  return {
    name: "bench",
    confinement: "workspace",
    async *run({ text, workspace, iteration }) {
      const unit = /"unit": "([^"]+)"/.exec(text)?.[1];
      const prose = { summary: "It works.", methodology: "Measured.", results: "Good.", limitations: "Few." };
      const evidence = [{ claim: "The first words.", quote: "word7 word14 word21 word28" }];
      const result = {
        unit,
        ...prose,
        implementations_found: [],
        commercialized: null,
        scores: { execution: points, blue_ocean: strategic },
        evidence,
        insights: [],
        notes: "",
      };
      mkdirSync(workspace, { recursive: true });
      writeFileSync(join(workspace, "result.json"), JSON.stringify(result));
      yield { type: "usage", usage: { input: 5_000 + iteration, cached: 0, output: 300, requests: 2, largest: 5_200 }, costUsd: 0.01, final: true };
      yield { type: "end", message: "Done." };
    },
  };
}
