import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { markVariable } from "../../../src/engine/process/descendants.js";
import { mcpCommand } from "../../../src/commands/search/mcp.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { cli } from "../../support/processes/in-process.js";
import { connectClient, said } from "../../support/processes/mcp-client.js";
import { unitAgent } from "../../support/processes/command-agents.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

let cwd: string;
let folder: string;
const env = { RESEARCH_RALPH_AGENT: "baseline", RESEARCH_RALPH_GIT: "false" };

beforeAll(async () => {
  cwd = freshFolder();
  folder = sampleResearch(cwd);
  expect((await cli(["run", "--agent", unitAgent, "--unconfined", "--quiet", "--no-git"], cwd)).code).toBe(0);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const answer = await client.callTool({ name, arguments: args });
  return { isError: answer.isError ?? false, text: said(answer), structured: answer.structuredContent };
};

test("in an empty folder the server starts, and says what is missing as an answer", async () => {
  const empty = freshFolder();
  const client = await connectClient(empty, [], env);
  expect(client.getInstructions()).toContain("never report a sentence that is not supported as a finding");
  expect(await call(client, "list")).toEqual({ isError: false, text: '{"work":[]}', structured: { work: [] } });
  for (const name of ["status", "report", "answers", "find_passages"])
    expect(await call(client, name, name === "find_passages" ? { query: "grasping" } : {})).toMatchObject({
      isError: true,
      text: expect.stringContaining("There is no project here; create one"),
    });
  expect((await client.listResources()).resources).toEqual([]);
  expect(readdirSync(empty)).toEqual([]);
});

test("without --write only what reads is served, marked so; with it also what changes and spends", async () => {
  const tools = async (...args: string[]) => (await (await connectClient(cwd, args, env)).listTools()).tools;
  const reading = await tools();
  expect(reading.map(({ name }) => name)).toEqual([
    ...["list", "status", "show", "report", "answers"],
    ...["search_papers", "paper_details", "outline", "read_section", "find_quote"],
    ...["find_passages", "check_answer", "code_links"],
  ]);
  expect(reading.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
  const all = await tools("--write");
  const changing = all.filter(({ annotations }) => annotations?.readOnlyHint !== true);
  expect(changing.map(({ name }) => name)).toEqual(["start", "run", "ask", "add", "steer", "stop", "resume"]);
  expect((await tools("--tools", "status,outline")).map(({ name }) => name)).toEqual(["status", "outline"]);
});

test("a project is read by its name: how it stands, one paper, its report with the path, its papers' text", async () => {
  const client = await connectClient(cwd, [], env);
  const { structured: status } = await call(client, "status");
  expect(status).toMatchObject({ folder, phase: "COMPLETE", finished: true, report: join(folder, "report.html") });
  const [{ key = "" } = {}] = (status as { pool: { key: string }[] }).pool;
  const project = "grasping";
  expect((await call(client, "show", { project, paper: key })).structured).toMatchObject({
    paper: { key, analysis: { evidence: expect.anything() as unknown } },
  });
  expect((await call(client, "report", { project })).structured).toMatchObject({
    answer: expect.stringMatching(/\w/),
    report: join(folder, "report.html"),
    not_borne_out: [],
  });
  expect((await call(client, "outline", { project, id: key })).text).toContain("§");
});

test("the papers and reports of all projects are resources, each with the name of its project", async () => {
  const both = freshFolder();
  mkdirSync(join(both, "researches"));
  for (const name of ["first", "second one"]) cpSync(folder, join(both, "researches", name), { recursive: true });
  const client = await connectClient(both, [], env);
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(
    ["first", "second%20one"].flatMap((name) =>
      ["papers", "findings", "answers", "report"].map((each) => `research://${name}/${each}`),
    ),
  );
  const { contents } = await client.readResource({ uri: "research://second%20one/report" });
  expect(contents).toMatchObject([{ text: readFileSync(join(folder, "research-report.md"), "utf8") }]);
});

test("a question is answered with its quotes and the keys of their papers, with progress while it is", async () => {
  const client = await connectClient(cwd, ["--write"], env);
  const told: { progress: number; message?: string }[] = [];
  const answer = await client.callTool(
    { name: "ask", arguments: { question: "How long does the calibration of a dexterous hand take?" } },
    { onprogress: (come) => told.push(come) },
  );
  const { statements, quotes } = answer.structuredContent as {
    statements: { rests_on: string[] }[];
    quotes: { handle: string; key: string; passage: string }[];
  };
  expect(statements.length).toBeGreaterThan(0);
  const handles = quotes.map(({ handle }) => handle);
  for (const { rests_on } of statements) expect(handles).toEqual(expect.arrayContaining(rests_on));
  for (const { key, passage } of quotes)
    expect([key, passage]).toEqual([expect.stringMatching(/^[a-z]+\d{4}/), expect.stringMatching(/\w/)]);
  expect(told.map(({ message }) => message)).toContain("Question: baseline is working");
  expect(told.map(({ progress }) => progress)).toEqual(told.map((_, index) => index + 1));
  const { structured } = await call(client, "answers");
  expect(structured).toMatchObject({ answers: [{ statements: expect.anything() as unknown }] });
});

test("what is wrong with a call is one sentence, and words of a client are never options", async () => {
  const client = await connectClient(cwd, ["--write"], env);
  const before = readFileSync(join(folder, "rrd.json"), "utf8");
  for (const [name, args, sentence] of [
    ["status", { project: "nobody" }, "There is no project 'nobody'"],
    ["status", { projekt: "x" }, "status: there is no argument 'projekt'; it takes project."],
    ["start", { topic: "grasping" }, "Name a limit for the run: max_usd, max_tokens, max_minutes or iterations."],
    ["start", { topic: "grasping", max_usd: -1 }, "start: max_usd must be above 0, is -1."],
    ["start", { topic: "g", max_usd: 1, sources: ["folder:/etc"] }, "/etc lies outside the folder"],
    ["start", { topic: "g", max_usd: 1, sources: ["list:Embase=/etc/hosts"] }, "/etc/hosts lies outside the folder"],
    ["run", { project: "--unconfined", max_usd: 1 }, "There is no project '--unconfined'"],
    [
      "show",
      { project: "grasping", paper: "--help" },
      "There is no paper, no excluded record and no iteration '--help'",
    ],
    ["add", { project: "grasping", references: ["/etc/passwd"] }, "/etc/passwd lies outside the folder"],
    ["add", { project: "grasping", references: ["nonsense"] }, "'nonsense' is neither an arXiv id"],
    ["ask", { question: "" }, "The question is empty"],
    ["stat", {}, "There is no tool 'stat'; did you mean start?"],
  ] as const) {
    const { isError, text } = await call(client, name, args);
    expect([name, isError, text]).toEqual([name, true, expect.stringContaining(sentence)]);
  }
  expect(readFileSync(join(folder, "rrd.json"), "utf8")).toBe(before);
});

test("instructions are given and taken back, a project is held and let go, a paper is added", async () => {
  const client = await connectClient(cwd, ["--write"], env);
  const project = "grasping";
  expect((await call(client, "steer", { project, text: "--clear" })).structured).toMatchObject({
    steering: ["--clear"],
  });
  expect((await call(client, "steer", { project, clear: true })).structured).toMatchObject({ steering: [] });
  expect((await call(client, "stop", { project })).structured).toMatchObject({ running: false });
  expect((await call(client, "resume", { project })).structured).toMatchObject({ lifted: ["STOP"] });
  writeFileSync(join(cwd, "note.md"), "# Worn fingertips\n\nThe fingertips wore after nine days.\n");
  expect((await call(client, "add", { project, references: ["note.md"] })).structured).toMatchObject({
    papers: [{ result: "added", reference: "note.md" }],
  });
});

test("an agent of ours is served nothing that changes, and --write goes with no single project", async () => {
  expect(await cli(["mcp", "--write"], cwd, { [markVariable]: "x.1" })).toMatchObject({ code: 5, out: "" });
  expect(await cli(["mcp", "--write", "--research", "grasping"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("--write is for the whole folder"),
  });
  expect(await cli(["mcp", "--tools", "start"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("start is served only with --write"),
  });
});

test("a tool that there is not is named as wrong before anything is served", async () => {
  const io = fakeIo({ cwd: freshFolder() });
  await expect(mcpCommand({ tools: "outlines", version: "1" }, io, async () => 1)).rejects.toThrow(
    "There is no tool 'outlines'; did you mean outline?",
  );
});
