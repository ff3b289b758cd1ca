// Prints the table of numbers the project holds itself to, as Markdown: ours next to bare Node and, where present, a
// rival. `npm run bench` runs every row; `npm run bench -- version list` only those. `--data <folder>` names the
// recorded data that the rows need which measure on it, `--agent <name>` the agent that `judges` measures, with
// `--unconfined` also one that nothing confines. `--record` keeps the results in bench/results.json, from which
// docs/how-well-it-works.md is generated. `--rehearse` runs the rows once with their smallest sizes, without `--data` on
// a few made-up papers, and ends with exit code 1 where one of them is broken.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import fastGlob from "fast-glob";
import { row as analysisTokens } from "./rows/documents/analysis-tokens.mjs";
import { row as atScale } from "./rows/loop/at-scale.mjs";
import { row as ask } from "./rows/documents/ask.mjs";
import { row as arxivFeed } from "./rows/papers/arxiv-feed.mjs";
import { row as assistant } from "./rows/assistant/assistant.mjs";
import { row as brief } from "./rows/loop/brief.mjs";
import { row as check } from "./rows/loop/check.mjs";
import { row as codeGraph } from "./rows/code/code-graph.mjs";
import { row as codeTokens } from "./rows/code/code-tokens.mjs";
import { row as codeVault } from "./rows/code/code-vault.mjs";
import { row as crash } from "./rows/loop/crash.mjs";
import { row as dedupe } from "./rows/papers/dedupe.mjs";
import { row as importRecords } from "./rows/papers/import-records.mjs";
import { row as discoveryTime } from "./rows/papers/discovery-time.mjs";
import { row as documents } from "./rows/documents/documents.mjs";
import { row as endurance } from "./rows/loop/endurance.mjs";
import { row as evidence } from "./rows/documents/evidence.mjs";
import { row as fixes } from "./rows/code/fixes.mjs";
import { row as fleet } from "./rows/machines/fleet.mjs";
import { row as git } from "./rows/loop/git.mjs";
import { row as graphRecall } from "./rows/code/graph-recall.mjs";
import { row as growth } from "./rows/documents/growth.mjs";
import { row as history } from "./rows/loop/history.mjs";
import { row as install } from "./rows/start/install.mjs";
import { row as judges } from "./rows/papers/judges.mjs";
import { row as list } from "./rows/start/list.mjs";
import { row as livePage } from "./rows/pages/live-page.mjs";
import { row as loop } from "./rows/loop/loop.mjs";
import { row as memory } from "./rows/loop/memory.mjs";
import { row as merge } from "./rows/loop/merge.mjs";
import { row as recall } from "./rows/assistant/recall.mjs";
import { row as reading } from "./rows/documents/reading.mjs";
import { row as sandbox } from "./rows/machines/sandbox.mjs";
import { row as reportPage } from "./rows/pages/report-page.mjs";
import { row as sandboxDocker } from "./rows/machines/sandbox-docker.mjs";
import { row as screening } from "./rows/papers/screening.mjs";
import { row as screeningTokens } from "./rows/papers/screening-tokens.mjs";
import { row as start } from "./rows/start/start.mjs";
import { row as together } from "./rows/loop/together.mjs";
import { row as think } from "./rows/loop/think.mjs";
import { row as update } from "./rows/papers/update.mjs";
import { row as version } from "./rows/start/version.mjs";
import { Absent, cli, inFolder, root } from "./measure.mjs";
import { writeSampleData } from "./sample-data.mjs";

const rows = [
  version,
  codeGraph,
  graphRecall,
  codeTokens,
  codeVault,
  fixes,
  start,
  install,
  assistant,
  list,
  loop,
  atScale,
  memory,
  recall,
  together,
  merge,
  dedupe,
  importRecords,
  screening,
  sandbox,
  sandboxDocker,
  brief,
  history,
  think,
  check,
  analysisTokens,
  reading,
  reportPage,
  livePage,
  screeningTokens,
  judges,
  ask,
  update,
  arxivFeed,
  discoveryTime,
  documents,
  endurance,
  evidence,
  fleet,
  git,
  growth,
  crash,
];
const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    agent: { type: "string" },
    data: { type: "string" },
    record: { type: "boolean", default: false },
    rehearse: { type: "boolean" },
    unconfined: { type: "boolean" },
  },
});
// Rows write the settings that they run by.
process.env.RESEARCH_RALPH_TRUST = "true";
// Sentences are checked where a bench is about that.
process.env.RESEARCH_RALPH_CHECK ??= "false";
const unknown = wanted.filter((name) => !rows.some((row) => row.name === name));

async function measure(row) {
  try {
    if (!options.rehearse || options.data !== undefined) return await row.run(options);
    return await inFolder(async (data) => {
      writeSampleData(data);
      return await row.run({ ...options, data });
    });
  } catch (error) {
    // In a rehearsal a row may fail for want of data, a program or a service, and for nothing else.
    const isBroken = options.rehearse && !(error instanceof Absent);
    if (isBroken) process.exitCode = 1;
    return { ours: `${isBroken ? "broken" : "not measured"}: ${error.message.split("\n")[0]}` };
  }
}

function record({ name, what, hold, command }, ours, rival) {
  const path = join(root, "bench/results.json");
  const all = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  const date = new Date().toISOString().slice(0, 10);
  all[name] = { date, node: process.version, what, hold, command, ours, ...(rival === "–" ? {} : { rival }) };
  const sorted = Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => a.localeCompare(b)));
  writeFileSync(path, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** What was built of older sources measures as well, and says nothing of today's. */
function isStale() {
  const built = statSync(cli).mtimeMs;
  return fastGlob.sync("src/**", { cwd: root, stats: true }).some(({ stats }) => stats.mtimeMs > built);
}

if (unknown.length > 0) {
  console.error(`No such row: ${unknown.join(", ")}. There are ${rows.map((row) => row.name).join(", ")}.`);
  process.exitCode = 2;
} else if (existsSync(cli) && process.env.BENCH_DIST === undefined && isStale()) {
  console.error("dist/ is older than src/: run 'npm run build' first.");
  process.exitCode = 1;
} else if (existsSync(cli)) {
  console.log(
    `Node ${process.version}, ${process.platform} ${process.arch}; medians; ours and what it is compared with in one run.\n`,
  );
  console.log("| what | bare Node | rival | was | ours | to hold | command |");
  console.log("| --- | --- | --- | --- | --- | --- | --- |");
  for (const row of rows.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    const { bare = "–", rival = "–", ours } = await measure(row);
    // A row that could not be measured keeps its last figures.
    if (options.record && !ours.startsWith("not measured")) record(row, ours, rival);
    console.log(
      `| ${[row.what, bare, rival, row.was ?? "–", ours, row.hold, `\`${row.command}\``].map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`,
    );
  }
} else {
  console.error("There is no dist/ to measure: run 'npm run build' first.");
  process.exitCode = 1;
}
