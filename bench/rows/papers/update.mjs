// What an update of a large project costs: first nothing is new, then ten works and a retraction came.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { writeResearch } from "../../fixture.mjs";
import { cli, inFolder, mustRun, size, thousands } from "../../measure.mjs";

const papers = Number(process.env.BENCH_PAPERS ?? size(3_000, 30));
const fresh = 10;
const sources = ["arXiv", "OpenAlex", "Crossref"];

export const row = {
  name: "update",
  what: `an update of a finished project of ${thousands(papers)} papers over ${sources.length} sources (copies on 127.0.0.1, without their limits)`,
  hold: "≤ 3 requests a paper",
  command: "research-ralph update <folder> --agent baseline",
  run: () => inFolder(measure),
};

const parts = [
  "Learning,Planning,Sensing,Modelling,Testing,Teaching,Tuning,Mapping,Tracking,Folding,Sorting,Packing,Cutting,Pouring,Lifting,Turning",
  "Gloves,Bins,Cloth,Ropes,Doors,Tools,Fruit,Cables,Bottles,Boxes,Springs,Drawers,Buttons,Zippers,Plates,Needles",
  "Warehouses,Kitchens,Clinics,Orchards,Foundries,Bakeries,Laundries,Shipyards,Libraries,Garages,Quarries,Vineyards,Stables,Bathrooms,Archives,Attics",
].map((words) => words.split(","));
const titled = (number) =>
  `${parts[0][number % 16]} ${parts[1][(number >> 4) % 16]} by Touch in ${parts[2][(number >> 8) % 16]}`;

/** Half of the papers are articles with a DOI, half preprints of arXiv. */
function invented(number, date) {
  const isArticle = number % 2 === 0;
  return {
    key: `b${number}`,
    title: titled(number),
    abstract: `We study ${titled(number).toLowerCase()}. In ${number} trials the method succeeds in ${number % 100} percent of cases.`,
    authors: [`Ada Bench${number}`, `Bo Sample${number * 7}`],
    date,
    ...(isArticle
      ? { doi: `10.5555/bench.${number}`, venue: "Journal of Benchmarks" }
      : { arxiv: `2501.${String(number).padStart(5, "0")}` }),
    openalex: `W7${String(number).padStart(9, "0")}`,
    s2: String(number).padStart(40, "0"),
    cited: 10 * number,
    cites: [],
    knownTo: isArticle ? ["openalex", "crossref"] : ["arxiv", "openalex"],
  };
}

async function measure(cwd) {
  const { scholars } = await load({ scholars: "tests/fixtures/scholar-server.ts" });
  const day = (ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const works = Array.from({ length: papers }, (_, index) => invented(index + 1, "2025-01-01"));
  const server = await scholars.serveScholars(undefined, works);
  try {
    const folder = join(cwd, "researches/bench-2025-01-01");
    writeFinished(folder, works, new Date(Date.now() - 7 * 86_400_000).toISOString());
    mkdirSync(join(cwd, "home"));
    writeFileSync(
      join(cwd, "ralph.config.json"),
      JSON.stringify({ state_dir: join(cwd, "state"), sources: server.sources }),
    );
    const git = (...args) => execFileSync("git", args, { cwd, encoding: "utf8" });
    git("init", "-q");
    git("add", "researches");
    git("-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "finished");
    const head = git("rev-parse", "HEAD");

    const none = await update(cwd, folder, server);
    if (!none.out.includes("nothing new")) throw new Error(none.out);
    if (git("rev-parse", "HEAD") !== head || git("status", "--porcelain", "researches") !== "")
      throw new Error("an update with nothing new has changed what git sees");
    works.push(...Array.from({ length: fresh }, (_, index) => invented(papers + index + 1, day(index + 1))));
    works[1] = { ...works[1], retracted: true };
    const some = await update(cwd, folder, server);
    const [change] = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")).updates;
    if (change.new.length !== fresh || change.retracted.length !== 1) throw new Error(JSON.stringify(change));
    const told = ({ cpu, mb, requests }) =>
      `${cpu.toFixed(1)} CPU s, ${mb} MB, ${thousands(requests)} requests (${(requests / papers).toFixed(2)} a paper)`;
    return { ours: `nothing new: ${told(none)}; ${fresh} works and a retraction: ${told(some)}` };
  } finally {
    await server.close();
  }
}

function writeFinished(folder, works, at) {
  writeResearch(folder, { papers });
  const path = join(folder, "rrd.json");
  const rrd = JSON.parse(readFileSync(path, "utf8"));
  rrd.phase = "COMPLETE";
  Object.assign(rrd.requirements, { sources, focus_area: "touch", keywords: ["trials", "percent of cases"] });
  rrd.papers_pool = rrd.papers_pool.map((paper, index) => {
    const { title, authors, date, doi, arxiv, openalex } = works[index];
    return { ...paper, title, authors, date, identifiers: { openalex, ...(doi ? { doi } : { arxiv }) } };
  });
  writeFileSync(path, JSON.stringify(rrd));
  const line = (iteration, unit, phase) =>
    `${JSON.stringify({ iteration, at, unit, phase, outcome: "accepted", agent: "bench", duration_seconds: 1 })}\n`;
  const lines = rrd.papers_pool.map(({ id }, index) => line(index + 2, id, "ANALYSIS"));
  writeFileSync(
    join(folder, "ledger.jsonl"),
    [line(1, "discovery-1", "DISCOVERY"), ...lines, line(papers + 2, "report", "ANALYSIS")].join(""),
  );
}

/** Processor time and peak memory of our process, and what was asked of the services. */
async function update(cwd, folder, server) {
  const before = server.requests.length;
  const report = `process.on("exit", () => { const { userCPUTime: u, systemCPUTime: s, maxRSS: m } = process.resourceUsage(); require("fs").writeFileSync(${JSON.stringify(join(cwd, "usage.json"))}, JSON.stringify({ cpu: (u + s) / 1e6, mb: Math.round(m / 1000) })); })`;
  const hook = join(cwd, "usage.cjs");
  writeFileSync(hook, report);
  const env = { PATH: process.env.PATH, HOME: join(cwd, "home"), RESEARCH_RALPH_TRUST: "true" };
  const { stdout } = await mustRun(
    process.execPath,
    ["--require", hook, cli, "update", folder, "--agent", "baseline", "--quiet"],
    { cwd, env },
  );
  const { cpu, mb } = JSON.parse(readFileSync(join(cwd, "usage.json"), "utf8"));
  return { out: stdout, cpu, mb, requests: server.requests.length - before, urls: server.requests.slice(before) };
}
