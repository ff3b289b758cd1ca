// A run of a research project in this process as a user's is, with the real store and git, and an agent that answers at
// once.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../scripts/bundle.mjs";

/**
 * The workflow of the project in `folder`, and `loop(workflow, options)`, which runs it for `iterations`. `modules`: of
 * research-ralph, built together with it.
 */
export async function openRun(cwd, folder, { iterations, tell = async () => {} }) {
  // Built together, so that they share their state.
  const modules = await load({
    keepHistory: "src/engine/loop/history/keep-history.ts",
    summarise: "src/engine/loop/history/summarise.ts",
    detection: "src/engine/loop/stop-conditions/stuck.ts",
    account: "src/research/workflow/forecast.ts",
    runLoop: "src/engine/loop/run-loop.ts",
    rules: "src/engine/loop/rules-of-run.ts",
    ...parts,
    words: "src/research/project-files/words.ts",
    prompt: "src/research/workflow/brief/prompt-file.ts",
    redact: "src/engine/lib/redact.ts",
    render: "src/research/report/documents/documents.ts",
  });
  const memory = modules.limits.defaultHistoryLimits;
  const { researchWords: words } = modules.words;
  const agent = answering();
  const research = await modules.research.openResearch(folder, {
    derive: (rrd, ledger) => modules.derive.derive(rrd, ledger, memory),
    git: true,
    notify: () => {},
  });
  const workflow = workflowOn(modules, cwd, folder, research, {
    prompt: await modules.prompt.loadPrompt(cwd),
    tell,
    redact: modules.redact.redactFor({}),
    render: modules.render.renderFor,
  });
  const more = [modules.detection.stopWhenStuck(words)];
  const rules = modules.rules.rulesFor({ agents: [agent], iterations, budget: { usd: 1e6 }, words, more });
  const loop = (workflow, options) => modules.runLoop.runLoop(workflow, agent, { ...rules, tell, ...options });
  return { workflow, loop, modules };
}

/** What `workflowOn` needs of research-ralph besides its workflow. */
export const parts = {
  research: "src/research/project-files/research.ts",
  workflow: "src/research/workflow/workflow.ts",
  workspace: "src/research/workflow/workspace.ts",
  derive: "src/research/workflow/derive.ts",
  limits: "src/engine/lib/history-limits.ts",
  clock: "src/engine/lib/clock.ts",
};

/** The workflow of a project whose papers are all there; nothing is asked of the network. `textOf`: a paper's text, by id. */
export function workflowOn({ workflow, workspace, limits, clock }, cwd, folder, research, { textOf, ...options }) {
  return workflow.researchWorkflow({
    research,
    library: async () => ({
      serves: () => false,
      candidates: async () => [],
      text: async ({ id }) => (textOf === undefined ? { unavailable: "The bench has none." } : { text: textOf(id) }),
      services: () => [],
      substitution: () => undefined,
      search: async () => {
        throw new Error("the bench searched although every paper is there");
      },
      updates: async () => new Map(),
      about: async () => ({ code: [], unchecked: [] }),
    }),
    workspaces: workspace.workspacesOf(join(cwd, "state"), folder),
    root: cwd,
    ...clock.systemClock,
    learn: false,
    redact: (text) => text,
    experience: { usage: {}, from: "" },
    memory: limits.defaultHistoryLimits,
    veto: async () => [],
    close: research.close,
    ...options,
  });
}

/** How the loop runs for an agent of the bench: one at a time, without limits. An iteration that ends otherwise is a bug. */
export const oneAfterAnother = (agent, clock, fine = ["accepted"]) => ({
  tell: async (event) => {
    if (event.type === "iteration-ended" && !fine.includes(event.outcome.outcome))
      throw new Error(`${event.unit} was ${event.outcome.outcome}: ${JSON.stringify(event.outcome)}`);
  },
  ...{ stopConditions: [], choose: () => ({ agent }), watches: [], reviews: [], jobs: 1 },
  ...{ clock, finish: new AbortController().signal, abort: new AbortController().signal },
});

/** One in nine is refused: it gives more points than there are. */
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
      const execution = iteration % 9 === 0 ? { ...points, novelty: 9 } : points;
      const result = {
        unit,
        ...prose,
        implementations_found: [],
        commercialized: null,
        scores: { execution, blue_ocean: strategic },
        evidence,
        insights: [],
        notes: "Judged by the bench.",
      };
      mkdirSync(workspace, { recursive: true });
      writeFileSync(join(workspace, "result.json"), JSON.stringify(result));
      yield {
        type: "usage",
        usage: { input: 5_000 + iteration, cached: 0, output: 300, requests: 2, largest: 5_200 },
        cost_usd: 0.01,
        final: true,
      };
      yield { type: "end", message: "Done." };
    },
  };
}
