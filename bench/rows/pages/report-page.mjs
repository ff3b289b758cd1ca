// report.html of projects of 30, 1,000 and 10,000 papers, each a copy of a paper of the sample with eight quotes: its
// size, the processor time and the memory it takes to make, and how quick a browser is with the largest.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundle } from "../../../scripts/bundle.mjs";
import { inFolder, mustRun, root, size } from "../../measure.mjs";

const counts = size([30, 1000, 10_000], [30]);
const times = size(3, 1);

export const row = {
  name: "report-page",
  what: "`report.html` of 30, 1,000 and 10,000 papers with 8 quotes each: size, CPU and memory to make it; and Chromium at 10,000",
  hold: "≤ 300 KB, 0.2 s; 5 MB, 0.8 s, 180 MB; 10 MB, 2.5 s, 1.4 × the memory of parsing; first paint ≤ 0.5 s, ready ≤ 5 s, filter ≤ 0.3 s",
  command: "research-ralph report <folder>",
  async run() {
    return await inFolder(async (cwd) => {
      writeFileSync(join(cwd, "make.ts"), program);
      writeFileSync(join(cwd, "all.ts"), command);
      await bundle({ input: { make: join(cwd, "make.ts"), all: join(cwd, "all.ts") }, outDir: join(cwd, "dist") });
      writeFileSync(join(cwd, "package.json"), '{ "type": "module", "version": "0.0.0" }');
      for (const name of ["schemas", "node_modules", "bin"]) symlinkSync(join(root, name), join(cwd, name));
      const parts = [];
      for (const papers of counts) {
        const folder = join(cwd, String(papers));
        writeProject(folder, papers);
        const made = [];
        for (let time = 0; time < times; time++) made.push(await numbersOf([join(cwd, "dist/make.js"), folder]));
        const parsed = await numbersOf(["-e", parse, folder]);
        const all = await numbersOf([join(cwd, "dist/all.js"), folder]);
        const least = made.toSorted((a, b) => a.cpu - b.cpu)[0];
        const size = statSync(join(folder, "report.html")).size;
        const state = statSync(join(folder, "rrd.json")).size;
        parts.push(
          `${papers.toLocaleString("en")} (${megabytes(state)} of state): ${megabytes(size)}, ${least.cpu.toFixed(2)} CPU s, ` +
            `${Math.round(least.rss / 1e6)} MB = ${(least.rss / parsed.rss).toFixed(2)} × parsing ` +
            `(with the Markdown and the BibTeX, under the lock: ${all.cpu.toFixed(2)} CPU s, ${Math.round(all.rss / 1e6)} MB)`,
        );
      }
      const browser = await inBrowser(join(cwd, String(counts.at(-1)), "report.html"));
      return { ours: [...parts, browser].join("; ") };
    });
  },
};

/** What makes a page: reads a folder and writes report.html, as the command does. */
const program = `
import { join } from "node:path";
import { writePiecesAtomic } from ${JSON.stringify(join(root, "src/engine/storage/atomic-file.ts"))};
import { reportModel } from ${JSON.stringify(join(root, "src/research/report/model.ts"))};
import { contextOf } from ${JSON.stringify(join(root, "src/research/report/page/context.ts"))};
import { reportPage } from ${JSON.stringify(join(root, "src/research/report/page/page.ts"))};
import { readReportInput } from ${JSON.stringify(join(root, "src/research/report/read-report.ts"))};
const folder = process.argv[2] as string;
const { input } = await readReportInput(folder, new Date());
await writePiecesAtomic(join(folder, "report.html"), reportPage(await contextOf(reportModel(input))));
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ cpu: (user + system) / 1e6, rss: process.resourceUsage().maxRSS * 1024 }));
`;

/** All that the command does, without git. */
const command = `
import { renderProject } from ${JSON.stringify(join(root, "src/research/report/documents/render-project.ts"))};
await renderProject(process.argv[2] as string, { git: false, now: Date.now, notify: () => undefined });
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ cpu: (user + system) / 1e6, rss: process.resourceUsage().maxRSS * 1024 }));
`;

const parse = `
const state = JSON.parse(require("node:fs").readFileSync(process.argv[1] + "/rrd.json", "utf8"));
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ papers: state.papers_pool.length, cpu: (user + system) / 1e6, rss: process.resourceUsage().maxRSS * 1024 }));
`;

/** A child of a small process: the peak of a child's memory begins with what its parent had. */
const numbersOf = async (args) => {
  const script = 'said=$("$@") && echo "$said"';
  const { stdout } = await mustRun("bash", ["-c", script, "bash", process.execPath, ...args]);
  return JSON.parse(stdout.trim().split("\n").at(-1));
};

const megabytes = (bytes) => (bytes < 1e6 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`);

/**
 * A project of copies of the sample's papers that were read, each with eight quotes, an address and a title of its own.
 */
export function writeProject(folder, count) {
  const [sample] = readdirSync(join(root, "researches"));
  const rrd = JSON.parse(readFileSync(join(root, "researches", sample, "rrd.json"), "utf8"));
  const read = rrd.papers_pool.filter(({ analysis, retracted }) => (analysis?.evidence?.length ?? 0) > 0 && !retracted);
  const insights = rrd.insights.filter(({ insight }) => insight.length > 0);
  const papers = Array.from({ length: count }, (_, index) => {
    const paper = read[index % read.length];
    const evidence = Array.from({ length: 8 }, (_, at) => paper.analysis.evidence[at % paper.analysis.evidence.length]);
    return {
      ...paper,
      id: `arxiv_2601.${10_000 + index}`,
      title: `${paper.title} – ${index}`,
      url: `https://arxiv.org/abs/2601.${10_000 + index}`,
      pdf_url: `https://arxiv.org/pdf/2601.${10_000 + index}`,
      source: "arXiv",
      analysis: { ...paper.analysis, evidence },
    };
  });
  mkdirSync(folder, { recursive: true });
  const state = {
    ...rrd,
    papers_pool: papers,
    insights: papers.map(({ id }, index) => ({
      ...insights[index % insights.length],
      id: `insight_${index}`,
      paper_id: id,
      tags: [`tag ${index % 7}`, `rare ${index % Math.max(5, Math.round(count / 5))}`],
    })),
  };
  writeFileSync(join(folder, "rrd.json"), `${JSON.stringify(state, null, 2)}\n`);
}

/** First paint, time until the page is whole, and time until a filter shows, in a real Chromium; where there is one. */
async function inBrowser(path) {
  const executablePath = [process.env.CHROME_PATH ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
    (each) => each !== "" && existsSync(each),
  );
  if (executablePath === undefined) return "no Chromium here";
  const { chromium } = await import("playwright-core");
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const all = [];
    for (let time = 0; time < times; time++) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      await page.goto(pathToFileURL(path).href, { waitUntil: "load", timeout: 120_000 });
      all.push(await page.evaluate(timesInPage));
      await page.close();
    }
    const least = (name) => Math.min(...all.map((each) => each[name]));
    return `Chromium: first paint ${seconds(least("paint"))}, ready ${seconds(least("ready"))}, filter ${seconds(least("filter"))}`;
  } finally {
    await browser.close();
  }
}

const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

/** Runs in the page. Two frames after a change it has been painted. */
async function timesInPage() {
  const { document, performance, requestAnimationFrame, Event } = globalThis;
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await painted();
  const ready = performance.now();
  const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? ready;
  const box = document.getElementById("find");
  const started = performance.now();
  box.value = "tactile";
  box.dispatchEvent(new Event("input", { bubbles: true }));
  while (!document.getElementById("shown").textContent.includes(" of ")) await painted();
  await painted();
  return { paint, ready, filter: performance.now() - started };
}
