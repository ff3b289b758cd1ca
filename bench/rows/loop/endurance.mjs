import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inFolder, size } from "../../measure.mjs";
import { openRun } from "../../research-run.mjs";
import { writeResearch } from "../../fixture.mjs";

const papers = size(1_000, 160);
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
  const briefs = [];
  const rss = [];
  let told = 0;
  let summaries = 0;
  let refused = 0;
  let ended = 0;
  const measureMemory = () => {
    globalThis.gc?.();
    rss.push(Math.round(process.memoryUsage().rss / 1e6));
  };
  const ask = {
    name: "scribe",
    run: async () => ({ summary: "It goes on. ".repeat(100), tokens: tokensOfSummary, cost_usd: 0.001 }),
  };
  const tell = async (event) => {
    if (event.type === "history-compressed") summaries += 1;
    if (event.type === "iteration-ended" && event.outcome.outcome === "refused") refused += 1;
    if (event.type === "iteration-started") briefs.push(event.brief_tokens);
    if (event.type === "iteration-ended") told += event.usage.input + event.usage.output;
    if (event.type === "iteration-ended") ended += 1;
    if (event.type === "iteration-ended" && ended === 100) measureMemory();
  };
  const { workflow, loop, modules } = await openRun(cwd, folder, { iterations: papers, tell });
  const { createSummariser } = modules.summarise;
  const whole = modules.keepHistory.withHistory(workflow, createSummariser({ every: 5, ask, tell, now: Date.now }));
  const { verdict } = await loop(whole, { jobs: 3 });
  measureMemory();
  const { rrd, ledger } = await modules.research.readResearch(folder);
  const commits = Number(execFileSync("git", ["rev-list", "--count", "HEAD"], { cwd, encoding: "utf8" }));
  const booked = ledger.reduce((sum, { tokens }) => sum + (tokens?.input ?? 0) + (tokens?.output ?? 0), 0);
  const account = modules.account.accountOf(rrd, ledger).spent.tokens;
  return { briefs, rss, told, booked, account, summaries, refused, commits, verdict, iterations: ledger.length };
}
