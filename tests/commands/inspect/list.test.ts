import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { statusCommand } from "../../../src/commands/inspect/status.js";
import { listCommand } from "../../../src/commands/inspect/list.js";
import { stateVersion } from "../../../src/engine/storage/state/format-version.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, line, makeResearch, paper } from "../../support/projects/research-folder.js";

async function list(cwd: string, json = false, tableWidth = 80) {
  const io = fakeIo({ cwd, tableWidth });
  const exitCode = await listCommand({ json }, io);
  return { exitCode, lines: io.out().split("\n"), out: io.out(), err: io.err() };
}

test("every research is a line with phase, progress, presented papers and the time that agents worked", async () => {
  const cwd = freshFolder();
  const pool = [paper("a", "presented"), paper("b", "rejected"), paper("c", "pending"), paper("d", "pending")];
  const folder = makeResearch(cwd, "grasping-2026-03-01", { papers_pool: pool }, [
    line(1, "a", { duration_seconds: 60 }),
    line(2, "b", { duration_seconds: 65 }),
  ]);
  appendFileSync(join(folder, "ledger.jsonl"), '{"iteration":3,"torn');
  makeResearch(cwd, "older-2026-01-14", { phase: "COMPLETE", papers_pool: [paper("a", "presented")] });
  const { exitCode, lines } = await list(cwd);
  expect(exitCode).toBe(0);
  expect(lines).toEqual([
    "NAME                 PHASE     PAPERS          INCLUDED  TIME",
    "grasping-2026-03-01  ANALYSIS  █████░░░░░ 2/4  1         2m 05s",
    "older-2026-01-14     COMPLETE  ██████████ 1/1  1         –",
    "",
    "2 projects",
    "",
  ]);
});

test.each([30, 40, 50, 60])(
  "in %i columns whole columns give way, and the name and how far it is stay",
  async (tableWidth) => {
    const cwd = freshFolder();
    makeResearch(cwd, "grasping-with-many-fingers-2026-03-01", {
      papers_pool: [paper("a", "presented"), paper("b", "pending")],
    });
    const { lines } = await list(cwd, false, tableWidth);
    expect(Math.max(...lines.map((each) => each.length))).toBeLessThan(Math.max(tableWidth, 36));
    expect(lines[1]).toMatch(/^gras.*…-2026-03-01 .*█████░░░░░ 1\/2/);
  },
);

test("a research in an older shape is listed as it is meant", async () => {
  const cwd = freshFolder();
  const odd = {
    phase: "analysis",
    requirements: { target_papers: "4" },
    papers_pool: [{ id: "a", status: "Presented" }, { id: "b", status: "analyzed", decision: "REJECT" }, { id: "c" }],
    timing: { analysis: { duration_seconds: "125" } },
  };
  makeResearch(cwd, "odd-2026-01-14", odd as never);
  expect(JSON.parse((await list(cwd, true)).out)).toMatchObject([
    { phase: "ANALYSIS", done: 2, total: 3, presented: 1, seconds: 125 },
  ]);
});

test("a research that can't be read is listed as broken, and the others all the same", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "whole-2026-03-01");
  for (const [name, text] of [
    ["syntax", "{ not json"],
    ["shape", '{"papers_pool": 5}'],
    ["nothing", "null"],
    ["nested", `{"papers_pool": [], "requirements": {}, "project": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`],
  ]) {
    mkdirSync(join(cwd, "researches", name!), { recursive: true });
    writeFileSync(join(cwd, "researches", name!, "rrd.json"), text!);
  }
  mkdirSync(join(cwd, "researches", "folder", "rrd.json"), { recursive: true });
  const wrong = makeResearch(cwd, "wrong");
  const state = JSON.parse(readFileSync(join(wrong, "rrd.json"), "utf8"));
  writeFileSync(join(wrong, "rrd.json"), JSON.stringify({ ...state, requirements: { target_papers: "many" } }));
  // Read, it would be waited for without an end.
  mkdirSync(join(cwd, "researches", "pipe"));
  execFileSync("mkfifo", [join(cwd, "researches", "pipe", "rrd.json")]);
  const { out, exitCode } = await list(cwd);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^folder +broken: rrd\.json is a folder where a file belongs/m);
  expect(out).toMatch(/^wrong +broken: rrd\.json is not valid; 'research-ralph/m);
  expect(out).toMatch(/^pipe +broken: rrd\.json is not a regular file/m);
  expect(out).toMatch(/^nothing +broken: /m);
  expect(out).toMatch(/^nested +broken: rrd\.json is nested deeper than 100 levels$/m);
  expect(out).toMatch(/^shape +broken: rrd\.json is not /m);
  expect(out).toMatch(/^syntax +broken: rrd\.json:\d+:\d+: /m);
  expect(out).toMatch(/^whole-2026-03-01 +ANALYSIS/m);
  expect(out).toContain("8 projects, 7 broken");
});

test("letters of any script, a byte order mark and escape sequences in a project's name do no harm", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "names-2026-03-01");
  const text = JSON.stringify({
    project: "Größe 抓取 \u001b[2J",
    requirements: {},
    phase: "DISCOVERY",
    papers_pool: [],
  });
  writeFileSync(join(folder, "rrd.json"), `\ufeff${text}`);
  const rows = JSON.parse((await list(cwd, true)).out) as { project: string; total: number }[];
  expect(rows).toMatchObject([{ project: "Größe 抓取", phase: "DISCOVERY", done: 0, total: 20, seconds: null }]);
});

test("a long name gives way in the middle on a terminal, and is whole in a pipe", async () => {
  const cwd = freshFolder();
  const name = `${"a-very-long-topic-about-grasping-".repeat(2)}2026-03-01`;
  makeResearch(cwd, name);
  const onTerminal = (await list(cwd, false, 80)).lines;
  expect(Math.max(...onTerminal.map((each) => each.length))).toBeLessThanOrEqual(80);
  expect(onTerminal[1]).toMatch(/^a-very-long-topic.*…-2026-03-01 /);
  expect((await list(cwd, false, Number.POSITIVE_INFINITY)).out).toContain(name);
});

test("where there is none, it says how to make one", async () => {
  const { out, err, exitCode } = await list(freshFolder());
  expect({ out, exitCode }).toEqual({ out: "", exitCode: 0 });
  expect(err).toContain('research-ralph new "<topic>"');
  expect(JSON.parse((await list(freshFolder(), true)).out)).toEqual([]);
});

test("a project in which a later version wrote is listed, and named as one that is only read", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "later-2026-03-01", { format: stateVersion + 1, papers_pool: [paper("a", "presented")] });
  makeResearch(cwd, "line-2026-03-01", { papers_pool: [] }, [line(1, "a", { format: stateVersion + 1 })]);
  makeResearch(cwd, "today-2026-03-01", { format: stateVersion, papers_pool: [] }, [
    line(1, "a", { format: stateVersion }),
  ]);
  const { lines } = await list(cwd);
  expect(lines.filter((text) => text.includes("later version")).map((text) => text.split(" ")[0])).toEqual([
    "later-2026-03-01",
    "line-2026-03-01",
  ]);
  const rows: { later_format?: true }[] = JSON.parse((await list(cwd, true)).out);
  expect(rows.map(({ later_format }) => later_format)).toEqual([true, true, undefined]);
});

test("a project whose rrd.json is gone is listed still, and status says where its last good version is", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "grasping-2026-03-01", { papers_pool: [] });
  mkdirSync(join(folder, ".ralph"), { recursive: true });
  renameSync(join(folder, "rrd.json"), join(folder, ".ralph", "rrd.last-good.json"));
  expect((await list(cwd, false, 120)).lines[1]).toMatch(/^grasping-2026-03-01 +broken: rrd\.json is missing/);
  await expect(statusCommand({ folder: "grasping", json: false }, fakeIo({ cwd }))).rejects.toThrow(
    "rrd.last-good.json, there.",
  );
});

test("a file in the place of the projects' folder is told in a sentence", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "researches"), "");
  await expect(list(cwd)).rejects.toThrow(`${join(cwd, "researches")} is a file where a folder belongs; move it away.`);
});
