import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { randomFrom } from "../crash/random.js";
import { gitIsIdle } from "../crash/runs.js";
import { compileEntries } from "../../support/processes/compiled.js";
import {
  git,
  read,
  readRrd,
  repository,
  researchFolder,
  researchIn,
  sampleRrd,
  temporaryFolder,
} from "../../support/folders.js";

/**
 * Folds one iteration after another, each reading one paper and finding the next, and says each number once it is
 * folded.
 */
const folder = (store: string, research: string, withGit: boolean) => `
  import { openResearch } from ${JSON.stringify(join(store, "research.js"))};
  const derive = (rrd, ledger) => ({ ...rrd, statistics: { total_discovered: rrd.papers_pool.length, lines: ledger.length } });
  process.stdout.write("0\\n");
  const research = await openResearch(${JSON.stringify(research)}, { derive, git: ${withGit}, notify: () => undefined });
  for (;;) {
    const { rrd } = await research.load();
    const iteration = research.nextIteration();
    const id = rrd.papers_pool.find((paper) => paper.status === "pending").id;
    const at = new Date().toISOString();
    await research.fold({
      iteration, at, message: "analysis: " + id,
      changes: [
        { in: "papers_pool", id, set: { status: "presented", iteration } },
        { in: "papers_pool", id: "found_" + iteration, set: { id: "found_" + iteration, title: "Found", status: "pending" }, was: null },
        { in: "insights", id: "insight_" + iteration, set: { paper_id: id, insight: "x" }, was: null },
      ],
      progress: "\\n## Iteration " + iteration + ".\\n" + "A line of the log.\\n".repeat(20) + "\\n---\\n",
      ledger: { iteration, at, unit: id, phase: "ANALYSIS", outcome: "accepted" },
      files: [{ name: "research-report.md", text: "Report " + iteration + "\\n" }],
    });
    process.stdout.write(iteration + "\\n");
  }`;

const seed = Number(process.env["RR_SEED"] ?? Date.now() % 2 ** 31);
const random = randomFrom(seed);
beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.error(`RR_SEED=${seed} repeats these random numbers.`));
});

/**
 * Waits until it opens the research, or has folded once, kills its whole group at a random instant after, and returns
 * the last number it said.
 */
async function killOnce(script: string, after: "opening" | "a fold"): Promise<number> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () =>
    child.pid !== undefined &&
    child.exitCode === null &&
    child.signalCode === null &&
    process.kill(-child.pid, "SIGKILL");
  onTestFinished(() => void kill());
  let last = 0;
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stdout });
  const ready = new Promise<void>((resolve) => {
    lines.on("line", (line) => {
      last = Number(line);
      if (after === "opening" || last > 0) resolve();
    });
  });
  await Promise.race([ready, ended.then(() => expect.unreachable("it ended by itself"))]);
  await sleep(random.next() * 40);
  kill();
  await ended;
  return last;
}

/** Nothing lost, nothing doubled: every part tells of the same iterations, each once. */
function expectWhole(research: string, said: number): void {
  const rrd = readRrd(research);
  const lines = read(research, "ledger.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const iterations = lines.map(({ iteration }) => iteration);
  const expected = Array.from({ length: lines.length }, (_, n) => n + 1);
  expect(iterations).toEqual(expected);
  expect(iterations.length).toBeGreaterThanOrEqual(said);
  expect(
    Array.from(
      read(research, "progress.txt").matchAll(/^## Iteration (\d+)\.\n(?:A line of the log\.\n){20}\n---$/gm),
      ([, n]) => Number(n),
    ),
  ).toEqual(expected);
  expect(read(research, "progress.txt").match(/## Iteration/g)).toHaveLength(expected.length);
  expect(rrd.papers_pool.filter(({ status }) => status === "presented").map(({ iteration }) => iteration)).toEqual(
    expected,
  );
  expect(rrd.papers_pool.slice(1).map(({ id }) => id)).toEqual(expected.map((n) => `found_${n}`));
  expect(rrd.insights?.map(({ id }) => id)).toEqual(expected.map((n) => `insight_${n}`));
  expect(rrd.statistics).toEqual({ total_discovered: expected.length + 1, lines: expected.length });
  expect(read(research, "research-report.md")).toBe(`Report ${expected.length}\n`);
}

const finish = (store: string, research: string, withGit: boolean) => `
  import { openResearch } from ${JSON.stringify(join(store, "research.js"))};
  const derive = (rrd, ledger) => ({ ...rrd, statistics: { total_discovered: rrd.papers_pool.length, lines: ledger.length } });
  await (await openResearch(${JSON.stringify(research)}, { derive, git: ${withGit}, notify: () => undefined })).close();`;

async function run(script: string): Promise<void> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  expect((await once(child, "exit"))[0]).toBe(0);
}

it("SIGKILL of the whole group at random instants loses and doubles nothing", async () => {
  const store = await compileEntries(temporaryFolder(), { research: "src/research/project-files/research.ts" });
  const research = researchFolder(sampleRrd(1));
  let said = 0;
  for (let kills = 0; kills < 24; kills++) {
    said = Math.max(said, await killOnce(folder(store, research, false), kills % 3 === 0 ? "opening" : "a fold"));
    // Whoever reads between the kill and the next start finds a whole file.
    expect(readRrd(research).papers_pool.length).toBeGreaterThanOrEqual(said);
  }
  await run(finish(store, research, false));
  expectWhole(research, said);
});

it("with checkpoints git is left without a lock, and the last commit holds the whole of the ledger", async () => {
  const store = await compileEntries(temporaryFolder(), { research: "src/research/project-files/research.ts" });
  const root = repository();
  const research = researchIn(root, sampleRrd(1));
  let said = 0;
  for (let kills = 0; kills < 4; kills++)
    said = Math.max(said, await killOnce(folder(store, research, true), "a fold"));
  // The git that the kill left running ends by itself, and may not have taken its lock yet.
  await gitIsIdle(root);
  expect(existsSync(join(root, ".git/index.lock"))).toBe(false);
  await run(finish(store, research, true));
  expectWhole(research, said);
  writeFileSync(join(research, "progress.txt"), `${read(research, "progress.txt")}\n`);
  await killOnce(folder(store, research, true), "a fold");
  await gitIsIdle(root);
  const committed = git(research, "show", "HEAD:./ledger.jsonl").trim().split("\n").length;
  expect(committed).toBeGreaterThan(said);
});
