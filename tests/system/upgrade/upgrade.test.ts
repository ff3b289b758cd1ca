import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { stateVersion } from "../../../src/engine/storage/state/format-version.js";
import type { JournalEntry } from "../../../src/engine/generated/journal.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { parseRrd } from "../../../src/research/project-files/rrd-file.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { sharedPackage } from "../../support/processes/built.js";
import { temporaryFolder } from "../../support/folders.js";
import { randomFrom } from "../crash/random.js";
import { startRun } from "../crash/runs.js";
import type { World } from "../crash/world.js";

// The version at hand goes on with projects that earlier states of it began: tests/fixtures/formats/make.mjs froze
// them.
const fixtures = packageFile("tests/fixtures/formats");
const formats = readdirSync(fixtures).filter((name) => !name.includes("."));
const seed = Number(process.env["RR_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const random = randomFrom(seed);

let cli: string;
beforeAll(async () => {
  cli = join(await sharedPackage(), "dist/cli.js");
  console.log(`RR_SEED=${seed} repeats the kills.`);
});

interface Project extends World {
  /** The state as it was frozen, with the paths of this copy. */
  readonly before: Rrd;
}

/** A frozen folder where it can be worked on, or as one that was moved, with the texts that it was begun with. */
function thawed(format: string, state: string, isMoved = false): Project {
  const root = temporaryFolder();
  const folder = join(root, "researches", "grasping-2026-11-22");
  mkdirSync(join(root, "researches"));
  cpSync(join(fixtures, format, state), folder, { recursive: true });
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    // A folder that was moved with its documents holds the paths of before.
    if (entry.isFile() && !path.endsWith(".gz") && !isMoved)
      writeFileSync(path, readFileSync(path, "utf8").replaceAll("/project-root", root));
  }
  cpSync(packageFile("demo/corpus"), join(root, "texts"), {
    recursive: true,
    filter: (path) => !path.endsWith(".pdf"),
  });
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ git: false }));
  return {
    root,
    folder,
    env: { PATH: process.env["PATH"], HOME: root, RESEARCH_RALPH_CHECK: "false", XDG_STATE_HOME: join(root, "state") },
    jobs: 1,
    args: ["run", folder, "--json", "-i", "50", "--agent", "baseline"],
    remove: () => undefined,
    before: JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")),
  };
}

const text = ({ folder }: Project, name: string): string => readFileSync(join(folder, name), "utf8");
const linesOf = (project: Project): LedgerLine[] =>
  text(project, "ledger.jsonl")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const call = ({ root, env }: Project, ...args: string[]) =>
  spawnSync(process.execPath, [cli, ...args], { cwd: root, env, encoding: "utf8" });

/** Two kills at random instants, then a run to the end. */
async function finishWithKills(project: Project): Promise<void> {
  for (const ended of [0, 1])
    await startRun(cli, project, { ended, delayMs: Math.floor(random.next() * 150), gitToo: false });
  const { code, stderr } = await startRun(cli, project);
  expect([code, stderr], `RR_SEED=${seed}`).toEqual([0, expect.any(String)]);
}

/** What every finished project of these holds, each once. */
function expectWhole(project: Project, format = stateVersion): Rrd {
  const { ok: rrd, problems } = parseRrd(text(project, "rrd.json"), "rrd.json");
  if (rrd === undefined) throw new Error(JSON.stringify(problems));
  expect([rrd.phase, rrd.format, rrd["custom"]]).toEqual(["COMPLETE", format, { kept: "a field that nobody knows" }]);
  expect(rrd.papers_pool.map(({ id }) => id)).toEqual(project.before.papers_pool.map(({ id }) => id));
  for (const { id, status, analysis, score, retracted } of rrd.papers_pool) {
    expect(["presented", "rejected", "insights_extracted"], id).toContain(status);
    // What was found retracted before it was read is not read.
    const isUnread = retracted === true && analysis == null;
    expect([id, analysis == null, score == null]).toEqual([id, isUnread, isUnread]);
  }
  const insights = (rrd.insights ?? []).map(({ paper_id, insight }) => `${paper_id} ${insight}`);
  expect(new Set(insights).size).toBe(insights.length);
  expect(new Set((rrd.insights ?? []).map(({ id }) => id)).size).toBe(insights.length);
  expect(rrd.statistics?.total_analyzed).toBe(5);
  for (const name of ["research-report.md", "references.bib", "product-ideas.json"])
    expect(existsSync(join(project.folder, name)), name).toBe(true);
  expect(readdirSync(join(project.folder, ".ralph", "journal"))).toEqual(["done"]);
  expect(readdirSync(project.folder).filter((name) => /edited|broken|tmp/.test(name))).toEqual([]);
  return rrd;
}

describe.each(formats)("a project of format %s", (format) => {
  it.each(["begun", "killed"])(
    "that was %s goes on where it stood, kills included: nothing is lost or doubled",
    async (state) => {
      const project = thawed(format, state);
      const logs = ["ledger.jsonl", "progress.txt", "queries.jsonl"].map(
        (name) => [name, text(project, name)] as const,
      );
      const pending =
        state === "killed" ? (JSON.parse(text(project, ".ralph/journal/4.json")) as JournalEntry) : undefined;
      await finishWithKills(project);

      const rrd = expectWhole(project);
      for (const [name, old] of logs) expect(text(project, name).startsWith(old), name).toBe(true);
      const lines = linesOf(project);
      expect(lines.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 8 }, () => "accepted"));
      expect(new Set(lines.map(({ iteration }) => iteration)).size).toBe(8);
      expect(lines.map(({ unit }) => unit).toSorted()).toEqual(
        ["discovery-1", "ideas", "report", ...project.before.papers_pool.map(({ id }) => id)].toSorted(),
      );
      const entries = Array.from(text(project, "progress.txt").matchAll(/^Iteration: (\d+)$/gm), ([, n]) => Number(n));
      expect(entries).toEqual(lines.map(({ iteration }) => iteration));
      // What earlier versions accepted stands as they left it.
      const done = project.before.papers_pool.filter(({ status }) => status !== "pending");
      expect(done).toHaveLength(2);
      expect(rrd.papers_pool).toEqual(expect.arrayContaining(done.map((paper) => expect.objectContaining(paper))));
      expect(rrd.insights).toEqual(expect.arrayContaining([...(project.before.insights ?? [])]));
      if (pending !== undefined) {
        expect(lines.find(({ iteration }) => iteration === 4)).toEqual(JSON.parse(pending.ledger.text));
        expect(text(project, "progress.txt")).toContain(pending.progress?.text);
        const { set } = pending.changes.find(({ id }) => id === "sample_08") ?? { set: undefined };
        expect(rrd.papers_pool.find(({ id }) => id === "sample_08")).toMatchObject(set ?? {});
      }
    },
  );

  it("that was moved with its documents goes on with them, each known by its path from the folder", async () => {
    const project = thawed(format, "begun", true);
    const { code } = await startRun(cli, project);
    expect(code).toBe(0);
    const rrd = expectWhole(project);
    // Without its document a paper is read from its abstract.
    for (const { id, read_depth, retracted } of rrd.papers_pool)
      if (retracted !== true) expect([id, read_depth]).toEqual([id, "full"]);
    expect(linesOf(project).filter(({ phase }) => phase === "DISCOVERY")).toHaveLength(1);
  });

  it("that is complete stays as it is, takes back what its own journal holds, and is finished again", async () => {
    const project = thawed(format, "complete");
    const before = text(project, "ledger.jsonl");
    const { code, events } = await startRun(cli, project);
    expect([code, events.filter(({ type }) => type === "iteration-started")]).toEqual([0, []]);
    expect(text(project, "ledger.jsonl")).toBe(before);
    expect(expectWhole(project).loop?.steering).toMatchObject([{ text: "Prefer results on real hardware." }]);

    expect(call(project, "reset", project.folder, "--to", "3").status).toBe(0);
    const reset = JSON.parse(text(project, "rrd.json")) as Rrd;
    expect([reset.phase, reset.papers_pool.filter(({ status }) => status !== "pending").length]).toEqual([
      "ANALYSIS",
      2,
    ]);
    expect(existsSync(join(project.folder, "research-report.md"))).toBe(false);
    await finishWithKills(project);
    expectWhole(project);
    // Code may settle a unit while an agent is at work, whose number is then lower, or lost with a kill.
    const numbers = linesOf(project).map(({ iteration }) => iteration);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(text(project, "ledger.jsonl").startsWith(before)).toBe(true);
    expect(call(project, "validate", project.folder).status).toBe(0);
  });
});

it("a project of a later format is told of by every command that would write, exit 5, and stays as it is", () => {
  const project = thawed("1", "complete");
  writeFileSync(
    join(project.folder, "rrd.json"),
    text(project, "rrd.json").replace('"format": 1', `"format": ${stateVersion + 1}`),
  );
  const files = () =>
    readdirSync(project.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), "utf8")]);
  const before = files();
  const { folder } = project;
  for (const args of [
    ["run", folder, "--agent", "baseline"],
    ["run", folder, "--agent", "baseline", "-p", "20", "--force"],
    ["steer", folder, "Look at hands."],
    ["steer", folder, "--clear"],
    ["reset", folder],
    ["reset", folder, "--to", "2"],
    ["pause", folder],
    ["stop", folder],
    ["resume", folder],
  ]) {
    const { status, stderr } = call(project, ...args);
    expect([args[0], status, stderr]).toEqual([
      args[0],
      5,
      expect.stringMatching(new RegExp(`format ${stateVersion + 1} .*update research-ralph`)),
    ]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  }
  for (const args of [["status", folder], ["list"], ["validate", folder], ["cost", folder], ["steer", folder]])
    expect([args[0], call(project, ...args).status]).toEqual([args[0], 0]);
  expect(files()).toEqual(before);
});
