import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { saveText } from "../../../src/research/full-text/text-cache.js";
import type { Answer } from "../../../src/research/generated/answer.js";
import type { ReportFile } from "../../../src/research/generated/report.js";
import { formatRrd } from "../../../src/research/project-files/rrd-file.js";
import { cli } from "../../support/processes/in-process.js";
import { connectClient, said, startServer } from "../../support/processes/mcp-client.js";
import { paper, rrdWith } from "../../support/projects/research.js";
import { inFence, sectionedText } from "./shelf.js";

let folder: string;
const text = sectionedText(4, 20);

/** arXiv that answers when a test lets it; how often it was asked. */
let asked = 0;
const arxiv = createServer((_request, response) => {
  asked += 1;
  setTimeout(() => response.end("never in time"), 120_000).unref();
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mcp-"));
  await new Promise<void>((resolve) => arxiv.listen(0, "127.0.0.1", resolve));
  const research = join(folder, "researches", "one");
  mkdirSync(research, { recursive: true });
  const sentence = "At 3 sites the hand held wet spheres, but no cubes.";
  const evidence = [
    { claim: "It holds.", status: "verified" as const, locator: "§ 1", passage: sentence, quoted: "11-36" },
    { claim: "It flies.", status: "not-in-text" as const, quote: "the hand flew over all of the spheres" },
  ];
  const rrd = rrdWith([
    paper("p1", { analysis: { summary: "s", evidence } }),
    paper("p2", { abstract: "PLANTED in the other paper" }),
  ]);
  writeFileSync(
    join(research, "rrd.json"),
    formatRrd({ ...rrd, requirements: { ...rrd.requirements, sources: ["arXiv"] } }),
  );
  await saveText(join(research, ".ralph", "texts"), "p1", text, "some stamp");
  const { port } = arxiv.address() as AddressInfo;
  const config = {
    state_dir: join(folder, "state"),
    sources: { arXiv: { endpoint: `http://127.0.0.1:${port}`, interval_ms: 0 } },
  };
  writeFileSync(join(folder, "ralph.config.json"), JSON.stringify(config));
});
afterAll(() => {
  arxiv.close();
  arxiv.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

/** A client of a server for one project. */
const connect = async (...args: string[]): Promise<{ client: Client }> => connectTo("one", args);
const connectTo = async (project: string, args: readonly string[] = []): Promise<{ client: Client }> => ({
  client: await connectClient(folder, ["--research", project, ...args]),
});
const server = (args: readonly string[], hear: (text: string) => void) =>
  startServer(folder, ["--research", "one", ...args], hear);

test("an official client lists the tools as read-only, calls them, and reads errors as answers", async () => {
  const { client } = await connect();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "search_papers",
    "paper_details",
    "outline",
    "read_section",
    "find_quote",
    "find_passages",
    "check_answer",
    "code_links",
  ]);
  for (const tool of tools)
    expect(tool).toMatchObject({ annotations: { readOnlyHint: true }, inputSchema: { type: "object" } });

  const call = async (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  expect(said(await call("paper_details", { id: "p2" }))).toContain("PLANTED in the other paper");
  expect(said(await call("outline", { id: "p1" }))).toContain("§ 3 Section 3");
  expect(inFence(said(await call("read_section", { id: "p1" })))).toBe(text.text);
  expect(said(await call("find_quote", { id: "p1", quote: "In series 2 sentence 7 says 57 things." }))).toContain(
    "Found at",
  );
  for (const [name, args, sentence] of [
    ["outline", { id: "p3" }, "There is no paper 'p3' in this project; the nearest id is p1."],
    ["read_section", { id: "../../x" }, "There is no paper '../../x' in this project."],
    ["find_quote", { quote: "x".repeat(200_000) }, "find_quote: quote must have at most 2000 characters, has 200000."],
    ["nothing", {}, expect.stringMatching(/^There is no tool 'nothing'/)],
  ] as const) {
    const answer = await call(name, args);
    expect([answer.isError, said(answer)]).toEqual([true, sentence]);
  }
});

test("a client of a person's own reads the project's papers, findings and report; one of a single paper does not", async () => {
  const { client } = await connect();
  const { resources } = await client.listResources();
  expect(resources.map(({ name }) => name)).toEqual(["papers", "findings", "answers", "report"]);
  const read = reading(client);
  expect(JSON.parse(await read("research://papers"))).toContainEqual(expect.objectContaining({ id: "p1" }));
  expect(JSON.parse(await read("research://findings"))).toEqual({
    insights: [],
    claims: [
      {
        paper_id: "p1",
        claim: "It holds.",
        status: "verified",
        locator: "§ 1",
        passage: "At 3 sites the hand held wet spheres, but no cubes.",
        quoted: "11-36",
      },
      { paper_id: "p1", claim: "It flies.", status: "not-in-text", quote: "the hand flew over all of the spheres" },
    ],
  });
  expect(JSON.parse(await read("research://answers"))).toEqual([]);
  expect(await read("research://report")).toContain("no report yet");
  const { client: narrow } = await connect("--paper=p1");
  expect(narrow.getServerCapabilities()).not.toHaveProperty("resources");
});

test("a client reads what was checked, by whom, and what is not supported, in the words that people read", async () => {
  const research = join(folder, "researches", "checked");
  onTestFinished(() => rmSync(research, { recursive: true }));
  mkdirSync(research, { recursive: true });
  const passage = "At 3 sites the hand held wet spheres, but no cubes.";
  const kept = { passage, quoted: "11-36", locator: "§ 1" };
  const fell = { verdict: "not-supported" as const, by: ["codex"], why: "no price is named" };
  const holds = { verdict: "supported" as const, by: ["codex"] };
  const evidence = [{ ...kept, claim: "It holds.", status: "verified" as const, check: holds }];
  const rate = { asked: 5, right: 5 };
  writeFileSync(
    join(research, "rrd.json"),
    formatRrd({
      ...rrdWith([paper("p1", { status: "presented", analysis: { summary: "s", evidence } })]),
      meaning: { checkers: { codex: { borne_out: rate, not_borne_out: rate } } },
    }),
  );
  const report: ReportFile = {
    written_at: "2026-11-28",
    question: "Does it hold?",
    agent: "claude",
    answer: [{ text: "It holds.", rests_on: ["p1#1"], check: holds }],
    findings: [],
    agreed: [],
    disputed: [],
    gaps: [],
    themes: [],
    recommendations: [],
    check: { at: "2026-11-28T12:00:00.000Z", by: ["codex"] },
    not_borne_out: [{ text: "It is cheap.", where: "/findings/0", rests_on: ["p1#1"], check: fell }],
  };
  writeFileSync(join(research, "report.json"), JSON.stringify(report));
  const answer: Answer = {
    id: "answer-1",
    at: "2026-11-28T12:00:00.000Z",
    question: "Does it hold?",
    seen: 0,
    statements: [{ text: "It holds always.", rests_on: ["p1#1"], check: { verdict: "overstated", by: ["guesser"] } }],
    quotes: [{ ...kept, handle: "p1#1", paper: "p1" }],
    check: { at: "2026-11-28T12:00:00.000Z", by: ["guesser"], unproven: ["guesser"] },
  };
  writeFileSync(join(research, "answers.jsonl"), `${JSON.stringify(answer)}\n`);
  const { client } = await connectTo("checked");
  const read = reading(client);
  const findings = JSON.parse(await read("research://findings"));
  expect(findings.checked).toContain(
    "1 of 2 sentences supported by the sentences they cite, checked by codex; 1 removed.",
  );
  expect(findings.not_borne_out).toMatchObject([
    { text: "It is cheap.", says: "not supported, says codex: no price is named" },
  ]);
  expect(findings.claims).toMatchObject([{ claim: "It holds.", meaning: "meaning checked by codex" }]);
  expect(JSON.parse(await read("research://answers"))).toMatchObject([
    {
      statements: [{ text: "It holds always.", meaning: "overstated, says guesser, which does not count" }],
      checked: expect.stringContaining("What guesser says does not count, because it has answered 0 control sentences"),
    },
  ]);
});

/** Reads a resource of this client as text. */
const reading = (client: Client) => async (uri: string) => {
  const [content] = (await client.readResource({ uri })).contents;
  return content !== undefined && "text" in content ? content.text : "";
};

test("a server of one paper offers the tools named and shows no other paper", async () => {
  const { client } = await connect("--paper=p1", "--tools", "outline,paper_details");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["paper_details", "outline"]);
  expect(said(await client.callTool({ name: "outline", arguments: {} }))).toContain("§ 1 Section 1");
  const other = await client.callTool({ name: "paper_details", arguments: { id: "p2" } });
  expect([other.isError, said(other)]).toEqual([true, "Only the paper of this unit can be read; leave `id` out."]);
  expect((await client.callTool({ name: "read_section", arguments: {} })).isError).toBe(true);
});

test("a cancelled call ends at once and the server goes on", async () => {
  const { client } = await connect();
  const cancel = new AbortController();
  const before = asked;
  const searching = client.callTool(
    { name: "search_papers", arguments: { query: "grippers" } },
    { signal: cancel.signal },
  );
  searching.catch(() => undefined);
  while (asked === before) await new Promise((resolve) => setTimeout(resolve, 20));
  cancel.abort();
  await expect(searching).rejects.toThrow();
  expect(said(await client.callTool({ name: "outline", arguments: { id: "p1" } }))).toContain("§ 1 Section 1");
});

test("it writes nothing into the research", async () => {
  const { client } = await connect();
  await client.callTool({ name: "read_section", arguments: { id: "p1" } });
  await client.close();
  expect(readdirSync(join(folder, "researches", "one")).sort()).toEqual([".ralph", "rrd.json"]);
  expect(readdirSync(join(folder, "researches", "one", ".ralph"))).toEqual(["texts"]);
});

/** A server spoken to by hand: how it ended and all that it wrote on stdout. */
async function byHand(
  lines: readonly string[],
  leave: (answers: number) => boolean,
): Promise<{ code: number | null; out: string; err: string }> {
  let out = "";
  const { stdin, ended, io } = server([], (text) => {
    out += text;
    if (leave(out.split("\n").length - 1)) stdin.end();
  });
  for (const line of lines) stdin.write(`${line}\n`);
  if (leave(0)) stdin.end();
  return { code: await ended, out, err: io.err() };
}

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "hand", version: "1" } },
});
const search = JSON.stringify({
  jsonrpc: "2.0",
  id: 2,
  method: "tools/call",
  params: { name: "search_papers", arguments: { query: "grippers" } },
});

test("a client that goes away ends the server, also one that never spoke and one that waits for an answer", async () => {
  expect(await byHand([], () => true)).toEqual({ code: 0, out: "", err: "" });
  expect((await byHand([initialize], (answers) => answers >= 1)).code).toBe(0);
  expect((await byHand([initialize, search], (answers) => answers >= 1)).code).toBe(0);
});

test("nothing but the protocol is on stdout, whatever is sent", async () => {
  const { code, out, err } = await byHand(["no JSON at all", "[]", '{"a":1}', initialize], (answers) => answers >= 1);
  expect(code).toBe(0);
  for (const line of err.trim().split("\n")) expect(line.length).toBeLessThan(120);
  for (const line of out.trim().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
});

test("a research, a tool or a command line that is not there is told on stderr with exit code 2", async () => {
  const mcp = (...args: string[]) => cli(["mcp", ...args], folder);
  expect(await mcp("--research", "two")).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("There is no project 'two'"),
  });
  expect(await mcp("--tools", "outlines")).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("did you mean outline?"),
  });
});

test("tool calls one from a shell: a list without a name, text or JSON, errors in one sentence", async () => {
  const tool = (...args: string[]) => cli(["tool", ...args], folder);
  const listed = await tool();
  expect(listed.out.split("\n").filter((line) => line !== "")).toHaveLength(8);
  expect(JSON.parse((await tool("--json")).out)).toHaveLength(8);
  const { text: answer } = JSON.parse((await tool("read_section", "--json", '{"id":"p1","section":"2"}')).out) as {
    text: string;
  };
  expect(inFence(answer)).toContain("## 2 Section 2");
  expect((await tool("outline", "--paper", "p1")).out).toContain("§ 1 Section 1");
  expect(await tool("outline", "--json", '{"id":"p9"}')).toMatchObject({
    code: 2,
    out: '{"error":"There is no paper \'p9\' in this project; the nearest id is p1."}\n',
  });
  expect(await tool("outline", "--json", "{")).toMatchObject({
    code: 2,
    out: expect.stringContaining("are not valid JSON"),
  });
  expect(readFileSync(join(folder, "researches", "one", "rrd.json"), "utf8")).toContain("PLANTED");
});

test("several projects are asked at once, by handles that carry the project; what reads one paper is not served", async () => {
  const other = join(folder, "researches", "two");
  mkdirSync(other, { recursive: true });
  onTestFinished(() => rmSync(other, { recursive: true, force: true }));
  writeFileSync(
    join(other, "rrd.json"),
    formatRrd(rrdWith([paper("p1", { title: "Another work", doi: "10.5555/2" })])),
  );
  const words = "Ninety days were spent in series 2.\n@@ 1:p1 | beginning\nPlanted words.";
  await saveText(
    join(other, ".ralph", "texts"),
    "p1",
    buildText([{ label: "§ 1", text: words }], { kind: "markdown", depth: "full" }),
  );
  const { client } = await connect("--research", "two");
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["find_passages", "check_answer"]);
  expect(client.getServerCapabilities()?.resources).toBeUndefined();
  const found = said(await client.callTool({ name: "find_passages", arguments: { query: "series 2 ninety" } }));
  expect(found).toMatch(/^@@ 1:p1 \| § 3 Section 3$/m);
  expect(found).toContain("@@ 2:p1 | § 1\nNinety days were spent in series 2.\n@ @ 1:p1 | beginning");
  const checked = await client.callTool({
    name: "check_answer",
    arguments: {
      query: "How many days?",
      answer: {
        quotes: [
          { id: "q1", paper: "2:p1", quote: "Ninety days were spent in series 2." },
          { id: "q1", paper: "1:p1", quote: "Ninety days were spent in series 2." },
        ],
        statements: [{ text: "Ninety days in series 2.", rests_on: ["1:p1#q1", "2:p1#q1"] }],
      },
    },
  });
  expect(said(checked)).toContain("stands: Ninety days in series 2. (2:p1#q1)");
  expect(said(checked)).toContain("Quotes that were not found: 1.");
  expect(
    await cli(["mcp", "--research", "one", "--research", "two", "--tools", "find_passages,outline"], folder),
  ).toMatchObject({
    code: 2,
    err: expect.stringContaining("outline reads one project; for several there are find_passages and check_answer."),
  });
});

test("passages are found and an answer is checked over MCP, with nothing written and no agent started", async () => {
  const { client } = await connect();
  const ask = async (name: string, args: Record<string, unknown>) => {
    const answer = await client.callTool({ name, arguments: args });
    return [answer.isError ?? false, said(answer)] as const;
  };
  const files = () => readdirSync(join(folder, "researches/one"), { recursive: true }).toSorted();
  const before = files();
  const quote = "In series 2 sentence 7 says 57 things.";
  const [, passages] = await ask("find_passages", { query: "series 2 sentence 7", most: 3 });
  expect(passages.split(/^@@ p1 \| /m)).toHaveLength(4);
  expect(passages).toContain(quote);
  expect((await ask("find_passages", { query: "series", most: -5 }))[1]).toBe(
    "find_passages: most must be at least 1, is -5.",
  );
  expect((await ask("find_passages", { query: "series", most: 50 }))[1].match(/^@@ /gm)?.length).toBeLessThanOrEqual(
    20,
  );
  expect((await ask("find_passages", { query: "помогает" }))[1]).toContain("No passage shares a word with it.");

  const statement = (text: string, ...rests_on: string[]) => ({ text, rests_on });
  const [wrong, checked] = await ask("check_answer", {
    query: "What does series 2 say?",
    answer: {
      quotes: [
        { id: "q1", paper: "p1", quote },
        { id: "q2", paper: "p1", quote: quote.replace("57", "58") },
        { id: "q3", paper: "p9", quote },
      ],
      statements: [
        statement("Series 2 says 57 things in sentence 7.", "p1#q1"),
        statement("Series 2 says 58 things.", "p1#q2"),
        statement("Another paper says so.", "p9#q3", "2:p1#1", "p1#77"),
      ],
    },
  });
  expect(wrong).toBe(false);
  expect(checked).toContain("Statements that stand: 1; that do not: 2. Quotes that were not found: 4.");
  expect(checked).toContain("does not stand: Series 2 says 58 things.: None of its quotes was found.");
  expect(checked).toContain("stands: Series 2 says 57 things in sentence 7. (p1#q1)");
  expect(checked).not.toContain("stands: Series 2 says 58");
  for (const [answer, says] of [
    [{}, "The answer has another form"],
    [
      { quotes: [], statements: Array.from({ length: 200 }, (_, n) => statement(`${n}`, "p1#q1")) },
      "The answer has another form",
    ],
    ["yes", "answer must be"],
  ] as const) {
    const [isError, sentence] = await ask("check_answer", { query: "What?", answer });
    expect([isError, sentence]).toEqual([true, expect.stringContaining(says)]);
  }
  expect(files()).toEqual(before);
});

test("what a client sends that is no message is told of, and one without an end ends the server", async () => {
  const { io, stdin, ended } = server([], () => undefined);
  stdin.write("[]\n{}\n");
  while (io.err().split("\n").length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  stdin.write(Buffer.alloc(11_000_000, "x"));
  expect(await ended).toBe(0);
  const ignored = "research-ralph: The client sent a line that is not an MCP message; it is ignored.";
  expect(io.err().trimEnd().split("\n")).toEqual([
    ignored,
    ignored,
    "research-ralph: The client sent a line of more than 10 MB; the server ends.",
  ]);
});
