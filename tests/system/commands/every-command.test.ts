import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, describe, expect, test } from "vitest";
import { oldNames, summaries } from "../../../src/commands/help-text.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { withUnitAgent } from "../../support/processes/command-agents.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";
import { atom, hand, scholarly, works } from "../../support/network/scholarly.js";

// The rules of each command are tested in process, in tests/commands; here each is started once as people start it.
let program: string;
beforeAll(async () => {
  program = join(await sharedPackage(), "dist/cli.js");
});
const cli = (args: readonly string[], cwd: string) => run(process.execPath, [program, ...args], cwd);

/** What each command prints, on stdout or stderr, in a folder with a finished research. */
const commands: readonly [name: string, args: readonly string[], said: RegExp][] = [
  ["run", ["grasping-2026-03-01", "--quiet"], /^\S+\/report\.html\n<promise>COMPLETE<\/promise>\n$/],
  ["read", ["sample:sample_01.md", "--quiet", ...withUnitAgent], /^One Calibration Platform/],
  [
    "new",
    ["sim2real transfer for dexterous manipulation", "--agent", "baseline", "--no-git", "--quiet"],
    /^researches\/\S+\n$/,
  ],
  [
    "begin",
    ["does it transfer at all?", "--source", "samples", "--agent", "baseline", "--no-git", "--yes", "--quick"],
    /^Plan: {2}search samples/m,
  ],
  ["list", [], /grasping-2026-03-01/],
  ["status", ["grasping-2026-03-01"], /grasping-2026-03-01/],
  ["show", ["grasping", "sample_01"], /^One Calibration Platform/],
  ["add", ["grasping", "sample:sample_01.md", "--no-git"], /already there: sampleauthor2026/],
  ["approve", ["grasping-2026-03-01"], /\S/],
  ["trust", ["--json"], /"trusted"/],
  ["skill", [], /rrd/],
  ["completion", ["fish"], /^complete -c research-ralph/],
  ["status", ["grasping-2026-03-01", "--cost"], /tokens/],
  ["show", ["grasping-2026-03-01", "patterns"], /A pattern from sample_/],
  ["cost", ["grasping-2026-03-01"], /tokens/],
  [
    "decide",
    ["grasping-2026-03-01", "sample_01", "include", "It belongs.", "--no-git"],
    /^sampleauthor2026 is included/,
  ],
  ["join", ["grasping-2026-03-01", "--all"], /duplicate/],
  ["duplicates", ["grasping-2026-03-01"], /duplicate/],
  ["steer", ["grasping-2026-03-01", "Look at fingertips."], /\S/],
  ["pause", ["grasping-2026-03-01"], /\S/],
  ["stop", ["grasping-2026-03-01"], /\S/],
  ["resume", ["grasping-2026-03-01"], /\S/],
  ["validate", ["grasping-2026-03-01"], /\S/],
  ["verify", ["grasping-2026-03-01"], /0 fail, 0 could not be checked/],
  ["verify", ["grasping-2026-03-01", "--search"], /^The listing is identical: 12 documents of samples/],
  ["replay", ["grasping-2026-03-01"], /^The listing is identical: 12 documents of samples/],
  [
    "ask",
    ["grasping-2026-03-01", "Which distillation teaches a policy?", "--agent", "baseline", "--no-git"],
    /\[1\] [a-z]+|No passage found/,
  ],
  ["answers", ["grasping-2026-03-01"], /Which distillation teaches a policy/],
  // The decision above came after the report.
  ["run", ["grasping-2026-03-01", "--quiet", ...withUnitAgent], /\/report\.html\n<promise>COMPLETE<\/promise>$/m],
  ["update", ["grasping-2026-03-01", "--since", "2026-01-01", "--no-git"], /nothing new from 2026-01-01/],
  ["report", ["grasping-2026-03-01"], /^Written in \S+: research-report\.md,\s+references\.bib,\s+report\.html$/m],
  ["export", ["grasping-2026-03-01", "--as", "ris"], /^TY {2}- /],
  ["task", ["Do nothing more", "--check", "true", "--unconfined", "--agent", "cmd:true"], /1 of 1 met/],
  ["brief", ["grasping-2026-03-01"], /No agent would be started/],
  ["patterns", ["grasping-2026-03-01"], /A pattern from sample_/],
  ["config", ["papers"], /^30\n$/],
  ["init", [], /\S/],
  ["mcp", ["outline", "--research", "grasping-2026-03-01", "--paper", "sample_01"], /§/],
  ["mcp", ["--list"], /^outline /m],
  ["mcp", ["outline", "--help"], /research-ralph mcp outline --json/],
  ["tool", ["outline", "--research", "grasping-2026-03-01", "--paper", "sample_01"], /§/],
  ["reset", ["grasping-2026-03-01", "--no-git"], /\S/],
];

describe("the built command", () => {
  test("runs every command that ends by itself", async () => {
    const cwd = freshFolder();
    sampleResearch(cwd);
    writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ papers: 30 }));
    expect((await cli(["run", ...withUnitAgent], cwd)).code).toBe(0);
    for (const [name, args, said] of commands) {
      // No task is worked on in the user's home.
      const home: Record<string, string> = name === "task" ? { HOME: `${cwd}-home` } : {};
      const ended = await run(process.execPath, [program, name, ...args], cwd, home);
      expect([name, ended.code, ended.out + ended.err]).toEqual([name, 0, expect.stringMatching(said)]);
    }
  });

  test("asks the services for search, checks for doctor, and follows for watch until it is interrupted", async () => {
    const place = await scholarly(atom, works);
    expect((await cli(["search", "shape of tools"], place.cwd)).out).toContain(hand.title);
    expect(JSON.parse((await cli(["doctor", "--json"], place.cwd)).out)).toMatchObject({ findings: expect.any(Array) });
    const cwd = freshFolder();
    sampleResearch(cwd);
    for (const spelling of ["status --watch", "watch"]) {
      const watch = `"${process.execPath}" "${program}" ${spelling} 2> told & while ! grep -q grasping told; do sleep 0.1; done; kill -INT $!; wait $!; code=$?; cat told >&2; exit $code`;
      // It follows once it has shown what is there; then it listens for signals too.
      expect(await run("/bin/sh", ["-c", watch], cwd)).toMatchObject({
        code: 0,
        err: expect.stringContaining("grasping-2026-03-01"),
      });
    }
  });

  test("serves tools to an official MCP client that starts it as a child", async () => {
    const cwd = freshFolder();
    sampleResearch(cwd);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, "mcp", "--research", "grasping-2026-03-01"],
      cwd,
      env: { PATH: process.env["PATH"] ?? "", HOME: cwd, RESEARCH_RALPH_CHECK: "false" },
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    expect((await client.listTools()).tools).toHaveLength(8);
    await client.close();
  });

  test("no command is without a built run", () => {
    const here: string[] = commands.map(([name]) => name);
    // screen has its rules in tests/commands/steer; extract and settle have their walk beside this file. Five have
    // files of their own: tests/system/walks/demo.test.ts, tests/page/live.test.ts, tests/system/{code,fleet}.
    here.push("search", "doctor", "screen", "extract", "settle", "demo", "web", "code", "worker");
    // part has its rules in tests/commands/steer, and fleet those of worker --list.
    here.push("watch", "part", "fleet");
    expect([...new Set(here)].toSorted()).toEqual(Object.keys({ ...summaries, ...oldNames }).toSorted());
  });
});
