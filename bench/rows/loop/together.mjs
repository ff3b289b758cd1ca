// What forty agents that end in the same moment cost the loop at 10,000 papers, compared with one that ends alone:
// judged, journalled, folded in, written and told. Both in one run of the loop, with agents in this process.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { abstractReading, writeResearch } from "../../fixture.mjs";
import { inFolder, median, ms, size, thousands } from "../../measure.mjs";
import { parts, workflowOn } from "../../research-run.mjs";

const papers = Number(process.env.BENCH_PAPERS ?? size(10_000, 200));
const agents = 40;
const alone = 3;

export const row = {
  name: "together",
  what: `${agents} results that wait at the same time, folded in at ${thousands(papers)} papers, compared with one alone`,
  hold: "≤ 2 × one",
  command: "npm run bench -- together",
  run: () => inFolder(measure),
};

async function measure(cwd) {
  const folder = join(cwd, "researches", "bench-2025-01-01");
  const pending = alone + 2 * agents;
  writeResearch(folder, { papers, pending });
  const line = (number) => ({
    ...{ iteration: number, at: new Date(number * 60_000).toISOString(), unit: `paper_${number}` },
    ...{ phase: "ANALYSIS", outcome: "accepted", agent: "waiting", duration_seconds: 50 },
  });
  const lines = Array.from({ length: papers - pending }, (_, index) => `${JSON.stringify(line(index + 1))}\n`);
  writeFileSync(join(folder, "ledger.jsonl"), lines.join(""));
  const modules = await load({ loop: "src/engine/loop/run-loop.ts", ...parts });
  const { defaultHistoryLimits: memory } = modules.limits;
  const derive = (rrd, ledger) => modules.derive.derive(rrd, ledger, memory);
  const deriveBetween = (rrd, ledger) => modules.derive.deriveBetween(rrd, ledger, memory);
  const options = { derive, deriveBetween, git: false, notify: () => undefined };
  const research = await modules.research.openResearch(folder, options);
  const clock = { now: Date.now, sleep: async () => undefined };
  const workflow = workflowOn(modules, cwd, folder, research, { ...clock, render: async () => [] });
  const { agent, letGo } = waitingAgent();
  const stopping = new AbortController();
  const took = { alone: [] };
  let left = 0;
  let from = 0;
  const go = (count) => {
    left = count;
    from = performance.now();
    letGo(count);
  };
  const told = async (event) => {
    if (
      event.type === "iteration-started" &&
      event.iteration >= papers - pending + agents &&
      left === 0 &&
      took.together === undefined
    )
      // Once the loop waits for agents again.
      setTimeout(() => go(took.alone.length < alone ? 1 : agents), 200);
    if (event.type !== "iteration-ended") return;
    if (event.outcome.outcome !== "accepted") throw new Error(JSON.stringify(event.outcome));
    left -= 1;
    if (left > 0) return;
    const time = performance.now() - from;
    if (took.alone.length < alone) took.alone.push(time);
    else {
      took.together = time;
      stopping.abort();
      letGo(agents);
    }
  };
  const stop = () => (stopping.signal.aborted ? { verdict: "limit", reason: "It was measured." } : undefined);
  await modules.loop.runLoop(workflow, agent, {
    tell: told,
    stopConditions: [stop],
    choose: () => ({ agent }),
    watches: [],
    reviews: [],
    jobs: agents,
    clock,
    finish: new AbortController().signal,
    abort: stopping.signal,
  });
  const one = median(took.alone);
  return { bare: `${ms(one)} (one alone)`, ours: `${ms(took.together)}, ${(took.together / one).toFixed(1)} ×` };
}

/** An agent whose runs end, with a reading, when they are let go. */
function waitingAgent() {
  const waiting = [];
  const agent = {
    name: "waiting",
    confinement: "workspace",
    async *run({ text, workspace }) {
      const unit = /"unit": *"([^"]*)"/.exec(text)[1];
      writeFileSync(join(workspace, "result.json"), JSON.stringify(abstractReading(unit)));
      yield { type: "usage", usage: { input: 1000, cached: 0, output: 50, requests: 1 } };
      await new Promise((resolve) => waiting.push(resolve));
      yield { type: "end", message: "Done." };
    },
  };
  return { agent, letGo: (count) => waiting.splice(0, count).forEach((end) => end()) };
}
