import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ReportFile } from "../../../src/research/generated/report.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import type { Verdict } from "../../../src/engine/loop/types.js";
import { endLines } from "../../../src/commands/run/end-of-run.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, line, makeResearch, paper } from "../../support/projects/research-folder.js";

const complete = { verdict: "complete", reason: "Done." } as const;

const settled: Parameters<typeof endLines>[2] = { agent: "claude", jobs: 1, unconfined: false, origins: {} };

async function linesAt(columns: number, color: boolean, verdict: Verdict = complete, typed: typeof settled = settled) {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "a-rather-long-name-2026-03-01");
  const report = join(folder, "research-report.md");
  writeFileSync(report, "# Report\n");
  return {
    report,
    lines: await endLines(folder, verdict, typed, { ...fakeIo({ cwd, env: { HOME: cwd } }), columns, color }),
  };
}

test("the report's path is whole: behind its label where it fits, else on a line of its own below it", async () => {
  const wide = await linesAt(300, false);
  expect(wide.lines[0]).toBe(`  Report  ${wide.report}`);
  const narrow = await linesAt(60, false);
  expect(narrow.lines.slice(0, 2)).toEqual(["  Report", `    ${narrow.report}`]);
});

test("a terminal that shows links is given a short one that leads to the whole path", async () => {
  const { report, lines } = await linesAt(80, true);
  expect(lines[0]).toContain(`file://${report}`);
  expect(lines[0]?.split("\u001b\\")[1]).toMatch(/^researches\/a-rather-long-name-2026-03-01\/research-report\.md/);
});

test("what was typed for this run alone stands in the command that continues it", async () => {
  const origins = { agent: "--agent", jobs: "--jobs", unconfined: "--unconfined" };
  const { lines } = await linesAt(80, false, { ...complete, verdict: "blocked" } as unknown as Verdict, {
    agent: "cmd:my agent",
    jobs: 3,
    unconfined: true,
    origins,
  });
  expect(lines.at(-1)).toMatch(
    /^ *research-ralph run a-rather-long-name-2026-03-01 --agent "cmd:my agent" --jobs 3 --unconfined$/,
  );
});

test("a complete project says its answer, of a long one the first sentences, each of them whole", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "grasping-2026-03-01");
  const sample = "sample-sim2real-transfer-dexterous-manipulation-2026-11-22";
  for (const file of ["report.json", "rrd.json"])
    cpSync(join(packageFile("researches"), sample, file), join(folder, file));
  const lines = await endLines(folder, complete, settled, { ...fakeIo({ cwd, env: { HOME: cwd } }), columns: 600 });
  expect(lines[0]).toMatch(/^ {2}Answer {2}A shared calibration platform makes .{170,400}\.(?: …)?$/);
  expect(lines[0]?.length).toBeLessThan(430);
});

test("a sentence of the answer that fails a check has the marks of the report behind it", async () => {
  const cwd = freshFolder();
  const analysis = { evidence: [{ claim: "a", quote: "The loss was 3 percent.", status: "verified" as const }] };
  const folder = makeResearch(cwd, "loss-2026-03-01", { papers_pool: [paper("x", "presented", { analysis })] });
  const answer = [
    { text: "Pupils lost 99 percent of what they knew.", rests_on: ["x#1"] },
    { text: "The loss was 3 percent.", rests_on: ["x#1"] },
  ];
  const others = { findings: [], agreed: [], disputed: [], gaps: [], themes: [], recommendations: [], quotes: {} };
  const report = { written_at: "2026-03-02T00:00:00.000Z", question: "How much?", answer, ...others };
  writeFileSync(join(folder, "report.json"), JSON.stringify(report));
  const lines = await endLines(folder, complete, settled, { ...fakeIo({ cwd, env: { HOME: cwd } }), columns: 600 });
  expect(lines[0]).toBe(
    "  Answer  Pupils lost 99 percent of what they knew. [number not in the passage: 99 percent] The loss was 3 percent.",
  );
});

test("a report that lacks a later reading is said to be older than it", async () => {
  const cwd = freshFolder();
  const ageOf = async (name: string, ...units: string[]) => {
    const ledger = units.map((unit, index) => line(index + 1, unit));
    const folder = makeResearch(cwd, name, { papers_pool: [paper("p1", "presented")] }, ledger);
    writeFileSync(join(folder, "research-report.md"), "# Report\n");
    const lines = await endLines(folder, complete, settled, fakeIo({ cwd, env: { HOME: cwd } }));
    return lines.filter((text) => text.includes("older"));
  };
  expect(await ageOf("fresh-2026-03-01", "p1", "report")).toEqual([]);
  expect(await ageOf("old-2026-03-01", "report", "p1")).toEqual([
    "          The report is older than 1 reading; the next run writes it again.",
  ]);
});

test("what to type next is a line of its own, never broken, whatever the verdict and the width", async () => {
  const verdicts: Verdict[] = [
    complete,
    ...(["stuck", "failed", "blocked", "interrupted", "limit"] as const).map(
      (verdict) => ({ verdict, reason: "So.", code: 130, limit: "iterations" }) as unknown as Verdict,
    ),
  ];
  for (const columns of [20, 40, 60, 80, 200])
    for (const verdict of verdicts) {
      const { lines } = await linesAt(columns, false, verdict);
      const commands = lines.filter((line) => line.includes("research-ralph "));
      expect(commands.length).toBeGreaterThan(0);
      for (const line of commands)
        expect(line).toMatch(
          /^ *research-ralph (?:doctor(?: --agent \S+)?|(?:show|run|steer) a-rather-long-name-2026-03-01(?: "…")?)$/,
        );
    }
});

test("a complete project names a command that shows one of its papers, and the claims that are not supported", async () => {
  const cwd = freshFolder();
  const rate = { asked: 20, right: 20 };
  const check = { verdict: "not-supported" as const, by: ["codex"] };
  const analysis = { evidence: [{ claim: "a", quote: "b", status: "verified" as const, check }] };
  const folder = makeResearch(cwd, "grasping-2026-03-01", {
    papers_pool: [paper("x", "presented", { key: "lee2024", analysis })],
    meaning: { checkers: { codex: { borne_out: rate, not_borne_out: rate } } },
  } as Partial<Rrd>);
  const sample = "sample-sim2real-transfer-dexterous-manipulation-2026-11-22";
  const report = JSON.parse(readFileSync(join(packageFile("researches"), sample, "report.json"), "utf8")) as ReportFile;
  const answer = report.answer.map((each) => ({ ...each, check: { verdict: "supported", by: ["codex"] } }));
  writeFileSync(
    join(folder, "report.json"),
    JSON.stringify({ ...report, answer, check: { at: "2026-03-01T10:00:00.000Z", by: ["codex"] } }),
  );
  const lines = await endLines(folder, complete, settled, { ...fakeIo({ cwd, env: { HOME: cwd } }), columns: 400 });
  expect(lines.at(-1)).toMatch(/^ *research-ralph show grasping\S* lee2024$/);
  expect(lines.join("\n")).toContain("Not supported: 1 claim of the readings of lee2024.");
});
