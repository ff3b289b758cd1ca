import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { main } from "../../../src/commands/main.js";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import { lockFile } from "../../../src/engine/lib/layout.js";
import { lastGoodFile } from "../../../src/research/project-files/layout.js";
import type { ReportFile } from "../../../src/research/generated/report.js";
import type { Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { withUnitAgent } from "../../support/processes/command-agents.js";
import { cli, ioIn } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

const quoted = (id: string, ...quotes: string[]): Paper =>
  paper(id, "presented", {
    authors: [`Ada ${id}`],
    date: "2025-02-03",
    read_depth: "full",
    score: 30,
    analysis: {
      summary: `About ${id}.`,
      evidence: quotes.map((quote) => ({ claim: quote, quote, status: "verified" })),
    },
  });
const said = (over: Partial<ReportFile> = {}): ReportFile => ({
  written_at: "2026-03-02T00:00:00.000Z",
  question: "How long does it take?",
  answer: [{ text: "It takes 14 minutes.", rests_on: ["one#1"] }],
  findings: [{ text: "It takes 14 minutes.", rests_on: ["one#1"] }],
  agreed: [],
  disputed: [],
  gaps: [],
  themes: [],
  recommendations: [],
  quotes: { "one#1": "It needs 14 minutes." },
  ...over,
});
const name = "a-2026-03-01";

function project(file: ReportFile | undefined, over: Partial<Rrd> = {}) {
  const cwd = freshFolder();
  const papers_pool = [
    quoted("one", "It needs 14 minutes.", "It costs 5 euros."),
    quoted("two", "It needs 20 minutes."),
  ];
  const folder = makeResearch(cwd, name, { phase: "COMPLETE", papers_pool, ...over });
  if (file !== undefined) writeFileSync(join(folder, "report.json"), JSON.stringify(file));
  const run = async (...args: string[]) => {
    const io = ioIn(cwd);
    const exitCode = await main(["report", name, "--no-git", ...args], io, "0.0.0");
    return { exitCode, out: io.out(), err: io.err() };
  };
  const read = (file: string) => readFileSync(join(folder, file), "utf8");
  return { cwd, folder, run, read };
}

describe("report", () => {
  test("renders the report from the state, again and again the same, and names what it wrote", async () => {
    const { run, read } = project(said());
    const { exitCode, out } = await run();
    expect([exitCode, out]).toEqual([
      0,
      expect.stringMatching(/2 papers read in full · 2 included[^]*research-report\.md/),
    ]);
    expect(out).toMatch(
      /How long does it take\?\nAnswer: It takes 14 minutes\.\n1\. [^]*\[1 quote: one 2025\]\n[^]*How sure: \w+: no finding rests/,
    );
    expect(out).not.toContain("0 cross-references");
    const first = read("research-report.md");
    expect(first).toContain("It takes 14 minutes. ([one 2025 ✓](#one-1))");
    await run();
    expect(read("research-report.md")).toBe(first);
  });

  test("marks a sentence of the answer and a finding that fail a check, as the report does", async () => {
    const findings = [
      { text: "It takes 15 minutes.", rests_on: ["one#1"] },
      { text: "It is good.", rests_on: [] },
    ];
    const answer = [{ text: "It takes 99 minutes.", rests_on: ["one#1"] }, ...(said().answer ?? [])];
    const { run } = project(said({ answer, findings }));
    const text = (await run()).out.replace(/\s+/g, " ");
    expect(text).toContain(
      "Answer: It takes 99 minutes. [number not in the passage: 99 minutes] It takes 14 minutes. 1. It takes 15 minutes. [number not in the passage: 15 minutes] [1 quote: one 2025] 2. It is good. [it names no source] [no quote]",
    );
    const { doubts } = JSON.parse((await run("--json")).out) as { doubts: { text: string }[] };
    expect(doubts.map((doubt) => doubt.text)).toContain("It takes 99 minutes.");
  });

  test("--json says the same to a program", async () => {
    const { run } = project(said());
    expect(JSON.parse((await run("--json")).out)).toMatchObject({
      question: "How long does it take?",
      figures: { papers: "2", quotes: "3/3" },
      written: expect.arrayContaining(["research-report.md", "references.bib"]),
    });
  });

  test("--json holds the figures as numbers, and each value that a quote supports", async () => {
    const fields = [
      { id: "minutes", name: "minutes", type: "number" as const },
      { id: "cost", name: "cost" },
      { id: "tools", name: "tools", type: "list" as const },
    ];
    const extracted = [
      { field: "minutes", value: "14", status: "verified" as const },
      { field: "cost", value: "9 euros", status: "not-in-text" as const },
      { field: "tools", value: ["hands", "eyes"], status: "near" as const },
    ];
    const { run } = project(said(), {
      requirements: { keywords: [], fields },
      papers_pool: [{ ...quoted("one", "It needs 14 minutes."), extracted }, quoted("two", "It needs 20 minutes.")],
    } as Partial<Rrd>);
    const none = { value: null, status: "not-answered" };
    expect(JSON.parse((await run("--json")).out)).toMatchObject({
      numbers: { papers_read: 2, papers: 2, presented: 2, quotes_found: 2, quotes: 2 },
      extracted: [
        {
          id: "one",
          label: "one 2025",
          values: {
            minutes: { value: 14, status: "verified" },
            cost: { value: null, status: "not-in-text" },
            tools: { value: ["hands", "eyes"], status: "near" },
          },
        },
        { id: "two", values: { minutes: none, cost: none, tools: none } },
      ],
    });
  });

  test("keeps the words of a report from before report.json, and what a person wrote there", async () => {
    const { folder, run, read } = project(undefined);
    const old = "# Report\n\n## Executive Summary\n\nIt is quick.\n\n### Key Findings\n\n- It is cheap. (one)\n";
    writeFileSync(join(folder, "research-report.md"), old);
    await run();
    const narrative = JSON.parse(read("report.json")) as ReportFile;
    expect(narrative).toMatchObject({
      taken_from: "research-report.md",
      findings: [{ text: "It is cheap.", papers: ["one"] }],
    });
    const first = read("research-report.md");
    expect(first).toMatch(/## Answer\n\nIt is quick\.[^]*## Findings\n\n- It is cheap\. \(\[one 2025\]\(#one\)\)/);
    const [kept = ""] = readdirSync(folder).filter((each) => each.startsWith("research-report.md.edited-"));
    expect(read(kept)).toBe(old);
    await run();
    expect(read("research-report.md")).toBe(first);
  });

  test("is made from the last good version of a broken rrd.json, and says so", async () => {
    const { folder, run, read } = project(said());
    mkdirSync(join(folder, ".ralph"), { recursive: true });
    copyFileSync(join(folder, "rrd.json"), lastGoodFile(folder));
    writeFileSync(join(folder, "rrd.json"), '{"project": }');
    const { exitCode, err } = await run();
    expect([exitCode, err]).toEqual([0, expect.stringContaining("made from its last good version")]);
    expect(read("research-report.md")).toContain("It takes 14 minutes.");
    expect(read("rrd.json")).toBe('{"project": }');
  });

  test("shows the report and checks it while a run works on the project, which then writes the files", async () => {
    const { cwd, folder, run, read } = project(said());
    mkdirSync(join(folder, ".ralph"), { recursive: true });
    const lock = await acquireLock(lockFile(folder), { subject: "The test" });
    const shown = await run();
    expect([shown.exitCode, shown.out]).toEqual([0, expect.stringContaining("Answer: It takes 14 minutes.")]);
    expect(shown.out).not.toContain("Written in");
    expect(shown.err.replace(/\s+/g, " ")).toContain("A run is under way. It will write the documents");
    expect(JSON.parse((await run("--json")).out)).toMatchObject({ written: [] });
    expect(existsSync(join(folder, "research-report.md"))).toBe(false);
    expect((await run("--check")).exitCode).toBe(0);
    await lock.release();
    const { err } = await cli(["run", name, ...withUnitAgent, "-i", "1"], cwd);
    expect(err).toContain("Written as a person asked: research-report.md, references.bib.");
    expect(read("research-report.md")).toContain("It takes 14 minutes.");
    expect(readdirSync(join(folder, ".ralph", "inbox"))).toEqual([]);
  });

  test.each([
    ["no papers", { papers_pool: [] }],
    ["papers without scores, dates or authors", { papers_pool: [paper("x", "presented"), paper("y", "rejected")] }],
    [
      "a title of 3,000 characters, an Arabic one, and a date to come",
      {
        papers_pool: [
          paper("x", "presented", { title: "x".repeat(3000), date: "2999-13-45" }),
          paper("y", "pending", { title: "التعلم العميق </script>", url: "javascript:alert(1)" }),
        ],
      },
    ],
  ])("takes a project with %s", async (_, over) => {
    const { run, read } = project(undefined, over as Partial<Rrd>);
    expect((await run()).exitCode).toBe(0);
    expect(read("research-report.md")).toContain("## Method and limits");
    expect(read("research-report.md")).not.toMatch(/<\/script>|\]\(<?javascript/);
  });
});

describe("report --check", () => {
  test("is clean where every number and source is carried", async () => {
    const { folder, run } = project(said());
    expect(await run("--check")).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining("A quote supports every number"),
    });
    expect(existsSync(join(folder, "research-report.md"))).toBe(false);
  });

  test.each([
    [
      "a number that no quote holds",
      { findings: [{ text: "It takes 15 minutes.", rests_on: ["one#1"] }] },
      "number not in the passage: 15 minutes",
    ],
    [
      "a handle that leads nowhere",
      { gaps: [{ text: "Who pays?", rests_on: ["one#9"] }] },
      "the paper one has 2 quotes",
    ],
    ["a finding that names nothing", { findings: [{ text: "It is good." }] }, "it names no source"],
    ["a quote that was changed since", { quotes: { "one#1": "It needs 10 minutes." } }, "its quote has changed"],
    [
      "a number in a table",
      {
        comparison: {
          approaches: ["a", "b"],
          rows: [{ aspect: "time", cells: [{ text: "99 s", rests_on: ["one#1"] }, { text: "–" }] }],
        },
      },
      "number not in the passage: 99 s",
    ],
  ])("lists %s, with exit code 1", async (_, over, reason) => {
    const { run } = project(said(over as Partial<ReportFile>));
    const { exitCode, out } = await run("--check");
    expect([exitCode, out.replace(/\s+/g, " ")]).toEqual([1, expect.stringContaining(reason)]);
    const { doubts } = JSON.parse((await run("--check", "--json")).out) as { doubts: object[] };
    expect(doubts.length).toBeGreaterThan(0);
  });

  test("has nothing to check before a report is written", async () => {
    expect(await project(undefined).run("--check")).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining("No report"),
    });
  });
});

test("a report.json that can't be used is named, and the report is made without it", async () => {
  const { folder, run } = project(said());
  for (const [text, why] of [
    ["{", "is not valid JSON"],
    ['{"question": 1}', "is not valid at"],
    [JSON.stringify(said({ format: 99 })), "was written by a later version"],
  ] as const) {
    writeFileSync(join(folder, "report.json"), text);
    const { exitCode, err } = await run("--check");
    expect([exitCode, err]).toEqual([0, expect.stringContaining(why)]);
  }
});
