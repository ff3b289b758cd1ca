import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { inFolder } from "../../measure.mjs";
import { writeResearch } from "../../fixture.mjs";

const papers = 1_000;
const tokensOfSummary = 900;

export const row = {
  name: "endurance",
  what: `a run of ${papers.toLocaleString("en")} iterations as a user's is, three at a time: real store, git, summaries of the history, stop conditions against loops, one in nine refused; brief and memory at its end beside those after 100, ledger and the project's account against what was told`,
  hold: "both flat, the ledger adds up",
  command: "npm run bench -- endurance",
  async run() {
    return await inFolder(async (cwd) => {
      const folder = join(cwd, "researches/bench-2025-01-01");
      const abstract = "word7 word14 word21 word28 word35 word42.";
      const more = Array.from({ length: papers - 1 }, (_, index) => ({
        id: `other_${index}`,
        title: `Paper ${index}`,
        abstract,
        status: "pending",
      }));
      writeResearch(folder, { papers: 1, pending: 1, more });
      writeFileSync(join(folder, "progress.txt"), "");
      execFileSync("git", ["init", "-q"], { cwd });
      const seen = await runAll(cwd, folder);
      const grown = seen.rss.at(-1) - seen.rss[0];
      const brief = Math.max(...seen.briefs.slice(-100)) / Math.max(...seen.briefs.slice(50, 150));
      const adds = seen.told === seen.booked && seen.told + seen.summaries * tokensOfSummary === seen.account;
      const sums = adds
        ? "adds up"
        : `told ${seen.told} tokens and ${seen.summaries} summaries, booked ${seen.booked}, account ${seen.account}`;
      const { iterations, refused, summaries, commits, verdict } = seen;
      return {
        ours: `brief × ${brief.toFixed(2)}, memory ${grown >= 0 ? "+" : ""}${grown} MB (to ${seen.rss.at(-1)} MB), ${iterations} iterations (${refused} refused, ${summaries} summaries, ${commits} commits, ${verdict}): ${sums}`,
      };
    });
  },
};

/** The run in this process, with an agent that answers at once. */
async function runAll(cwd, folder) {
  // Built together, so that they share their state.
  const loaded = await load({
    keepHistory: "src/engine/loop/history/keep-history.ts",
    summarise: "src/engine/loop/history/summarise.ts",
    detection: "src/engine/loop/stop-conditions/stuck.ts",
    account: "src/research/workflow/statistics-and-steering/forecast.ts",
    runLoop: "src/engine/loop/run-loop.ts",
    rules: "src/engine/loop/rules-of-run.ts",
    research: "src/research/project-files/research.ts",
    words: "src/research/project-files/words.ts",
    workflow: "src/research/workflow/workflow.ts",
    workspace: "src/research/workflow/workspace.ts",
    prompt: "src/research/workflow/agent-brief/prompt-file.ts",
    statistics: "src/research/workflow/statistics-and-steering/statistics.ts",
    clock: "src/engine/lib/clock.ts",
    limits: "src/engine/lib/history-limits.ts",
    redact: "src/engine/lib/redact.ts",
    render: "src/research/report/documents/documents.ts",
  });
  const { withHistory } = loaded.keepHistory;
  const { summariser } = loaded.summarise;
  const { stopWhenStuck, stopWithoutResult } = loaded.detection;
  const { accountOf } = loaded.account;
  const { runLoop } = loaded.runLoop;
  const { rulesFor } = loaded.rules;
  const { openResearch, readResearch } = loaded.research;
  const { researchWords } = loaded.words;
  const { researchWorkflow } = loaded.workflow;
  const { workspacesOf } = loaded.workspace;
  const { loadPrompt } = loaded.prompt;
  const { derive } = loaded.statistics;
  const { systemClock } = loaded.clock;
  const { defaultHistoryLimits: memory } = loaded.limits;
  const { redactFor } = loaded.redact;
  const { renderFor } = loaded.render;
  const agent = answering();
  const never = new AbortController().signal;
  const research = await openResearch(folder, {
    derive: (rrd, ledger) => derive(rrd, ledger, memory),
    git: true,
    notify: () => {},
  });
  const rules = rulesFor({
    agents: [agent],
    iterations: papers,
    budget: { usd: 1e6 },
    patienceMs: 0,
    finish: never,
    words: researchWords,
    more: [stopWhenStuck(researchWords), stopWithoutResult(researchWords)],
  });
  const briefs = [];
  const rss = [];
  let told = 0;
  let summaries = 0;
  let refused = 0;
  const ask = {
    name: "scribe",
    run: async () => ({ summary: "It goes on. ".repeat(100), tokens: tokensOfSummary, cost_usd: 0.001 }),
  };
  const tell = async (event) => {
    if (event.type === "history-compressed") summaries += 1;
    if (event.type === "iteration-ended" && event.outcome.outcome === "refused") refused += 1;
    if (event.type === "iteration-started") briefs.push(event.brief_tokens);
    if (event.type === "iteration-ended") told += event.usage.input + event.usage.output;
    if (event.type === "iteration-ended" && briefs.length % 100 === 0) {
      globalThis.gc?.();
      rss.push(Math.round(process.memoryUsage().rss / 1e6));
    }
  };
  const workflow = researchWorkflow({
    research,
    library: async () => ({
      serves: () => false,
      candidates: async () => [],
      text: async () => ({ unavailable: "The bench has none." }),
      services: () => [],
      substitution: () => undefined,
      search: async () => {
        throw new Error("the bench searched although every paper is there");
      },
      updates: async () => new Map(),
      about: async () => ({ code: [], unchecked: [] }),
    }),
    workspaces: workspacesOf(join(cwd, "state"), folder),
    prompt: await loadPrompt(cwd),
    root: cwd,
    ...systemClock,
    tell,
    learn: false,
    memory,
    redact: redactFor({}),
    experience: { takes: {}, from: "" },
    render: renderFor,
    veto: async () => [],
    close: research.close,
  });
  const whole = withHistory(workflow, summariser({ every: 5, ask, tell, now: Date.now }));
  const { verdict } = await runLoop(whole, agent, {
    ...rules,
    tell,
    jobs: 3,
    clock: systemClock,
    finish: never,
    abort: never,
  });
  const { rrd, ledger } = await readResearch(folder);
  const commits = Number(execFileSync("git", ["rev-list", "--count", "HEAD"], { cwd, encoding: "utf8" }));
  const booked = ledger.reduce((sum, { tokens }) => sum + (tokens?.input ?? 0) + (tokens?.output ?? 0), 0);
  const account = accountOf(rrd, ledger).spent.tokens;
  return { briefs, rss, told, booked, account, summaries, refused, commits, verdict, iterations: ledger.length };
}

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
