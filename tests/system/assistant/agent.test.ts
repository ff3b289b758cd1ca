import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { main as assistant } from "../../../src/assistant/main.js";
import { configKeys, resolveConfig } from "../../../src/compose/config.js";
import { toolsOf } from "../../../src/compose/tools.js";
import type { AgentDefinition } from "../../../src/engine/agents/definition.js";
import { agentFrom } from "../../../src/engine/agents/run-agent.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import type { AgentEvent, Brief } from "../../../src/engine/loop/types.js";
import { main } from "../../../src/commands/main.js";
import { ralph } from "../../../src/engine/agents/ralph.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { runProcess } from "../../../src/engine/process/run-process.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { type Answer, type FakeLlm, type ModelRequest, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { run } from "../../support/processes/built.js";
import { ioIn } from "../../support/processes/in-process.js";
import { paper, reading } from "../../support/projects/research.js";
import { concise, facts, smallProject } from "../../support/projects/small-project.js";
import { besideModel } from "../../support/network/beside-model.js";
import { outsideAlone } from "../../assistant/nothing-handed.js";

const here = besideModel("assistant");

/** A project whose agent `ralph` asks the scripted server, as a user configures it. */
async function prepared(answer: (request: ModelRequest) => Answer, path = "/v1/chat/completions"): Promise<string> {
  here.server = await startFakeLlm(answer, { countsAll: true });
  const home = join(here.folder, "home");
  mkdirSync(home);
  const args = ["--api-url", `${here.server.url}${path}`, "--model", "gpt-4o-mini"];
  return await smallProject(here.folder, {
    ralph: { args, env: { HOME: home, OPENAI_API_KEY: "dummy-key-of-a-test" } },
  });
}

interface Said {
  readonly role: string;
  readonly content: string;
}

const cli = (root: string, ...args: string[]) =>
  run(process.execPath, [join(here.built, "dist", "cli.js"), ...args], root);
const stateOf = (root: string) =>
  JSON.parse(readFileSync(join(root, "researches/small-matter/rrd.json"), "utf8")) as Rrd;
const ledgerOf = (root: string) =>
  readFileSync(join(root, "researches/small-matter/ledger.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LedgerLine);

describe("a project with the agent ralph and no CLI", () => {
  test("ends COMPLETE with every quote found, one request an iteration and one line before each brief", async () => {
    const root = await prepared(concise);
    const { code, out, err } = await cli(root, "run", "small-matter", "--agent", "ralph");
    expect(err).not.toContain("refused");
    expect([code, out.trim().split("\n").at(-1)]).toEqual([0, "<promise>COMPLETE</promise>"]);
    for (const paper of stateOf(root).papers_pool)
      expect(paper.analysis?.evidence?.map(({ status }) => status)).toEqual(facts.map(() => "verified"));
    for (const line of ledgerOf(root))
      expect(line).toMatchObject({
        agent: "ralph",
        confinement: "workspace",
        model: "gpt-4o-mini",
        tokens: { input: 1000, cached: 200, output: 50, requests: 1 },
      });
    expect(here.server.requests).toHaveLength(5);
    for (const { body } of here.server.requests) {
      const [system, user, ...more] = body["messages"];
      expect(more).toEqual([]);
      expect(system.content.length).toBeLessThan(200);
      expect(user.content).toContain("<unit>");
    }
  });

  test("goes on where a service was busy twice", async () => {
    let asked = 0;
    const root = await prepared((request) => {
      asked += 1;
      return asked <= 2 ? { status: 429, headers: { "retry-after": "1" } } : concise(request);
    });
    expect((await cli(root, "run", "small-matter", "--agent", "ralph")).code).toBe(0);
    expect(asked).toBe(7);
  });

  test("ends blocked with the key that was refused, and asks once", async () => {
    const root = await prepared(() => ({ status: 401, message: "Incorrect API key provided." }));
    const { code, err } = await cli(root, "run", "small-matter", "--agent", "ralph");
    expect(code).toBe(5);
    expect(err).toContain("refused the key in OPENAI_API_KEY");
    expect(here.server.requests).toHaveLength(1);
  });
});

describe("each protocol", () => {
  test.each([
    ["Anthropic", "https://api.anthropic.com/v1/messages", "claude-sonnet-5-5", { ANTHROPIC_API_KEY: "k-123456789" }],
    ["OpenAI", "https://api.openai.com/v1/chat/completions", "gpt-5.5", { OPENAI_API_KEY: "k-123456789" }],
    [
      "Google",
      "https://generativelanguage.googleapis.com/v1beta",
      "gemini-2.5-flash",
      { GOOGLE_API_KEY: "k-123456789" },
    ],
    ["a compatible server", "http://127.0.0.1:1234/v1/chat/completions", "gpt-4o-mini", {}],
  ])("%s finishes the project", async (_, address, model, keys) => {
    here.server = await startFakeLlm(concise, { countsAll: true });
    const { url } = here.server;
    const home = join(here.folder, "home");
    mkdirSync(home);
    const args = ["--api-url", address, "--model", model];
    const root = await smallProject(here.folder, { ralph: { args } });
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const meant = new URL(String(input));
      return await globalThis.fetch(`${url}${meant.pathname}${meant.search}`, init);
    };
    // The agent's own program runs in this process, so that its requests can be led to the scripted server.
    const io = ioIn(
      root,
      { HOME: home, ...keys },
      {
        async *runProgram(request) {
          const at = request.args.indexOf("--headless");
          if (at === -1) return yield* runProcess(request);
          const inner = fakeIo({ cwd: request.cwd, env: request.env, stdin: stdinOf(request.stdin) });
          const exitCode = await assistant(
            request.args.slice(at),
            inner,
            { version: "0.0.0", keys: configKeys, otherCommands: new Set() },
            { ...outsideAlone, fetch },
          );
          yield* inner.out().trimEnd().split("\n");
          return { cause: "exited", exitCode, stderr: inner.err() };
        },
      },
    );
    expect(await main(["run", "small-matter", "--agent", "ralph"], io, "0.0.0"), io.err()).toBe(0);
    expect(stateOf(root).phase).toBe("COMPLETE");
    expect(here.server.requests).toHaveLength(5);
  });
});

/** Runs one brief as the loop would, in the agent's own confined process. */
async function briefed(root: string, access: Brief["access"]): Promise<{ events: AgentEvent[]; last: AgentEvent }> {
  const workspace = join(here.folder, "workspace");
  mkdirSync(workspace);
  const home = join(here.folder, "home");
  const args = ["--api-url", `${here.server.url}/v1/chat/completions`, "--model", "gpt-4o-mini"];
  const agent = agentFrom(inBuild(ralph), {
    name: "ralph",
    options: { args },
    settings: {
      iterationMs: 60_000,
      idleMs: 0,
      unconfined: false,
      classic: false,
      stateDir: join(here.folder, "state"),
      exec: runProcess,
      transcript: () => undefined,
      adapters: [],
      secrets: [],
      agents: {},
      cwd: root,
      env: {
        HOME: home,
        PATH: process.env["PATH"],
        RESEARCH_RALPH_TRUST: "true",
        OPENAI_API_KEY: "dummy-key-of-a-test",
      },
    },
  });
  const events: AgentEvent[] = [];
  const brief = { iteration: 1, text: "Use your tools.", tokens: 4, workspace, access };
  for await (const event of agent.run(brief, { signal: new AbortController().signal })) events.push(event);
  return { events, last: events.at(-1) as AgentEvent };
}

/** The same agent as the built package starts it. */
const inBuild = (definition: AgentDefinition): AgentDefinition => ({
  ...definition,
  invoke(...given) {
    const invocation = definition.invoke(...given);
    if ("kind" in invocation) return invocation;
    const own = packageFile();
    return {
      ...invocation,
      args: invocation.args.flatMap((arg) =>
        arg.includes(`=${own}`) && here.built !== own
          ? [arg, arg.replace(own, here.built)]
          : [arg.replace(own, here.built)],
      ),
    };
  },
});

describe("the tools of a brief, in the agent's confined process", () => {
  test("read the project's texts and ask sources at the pace of their hosts", async () => {
    const root = await prepared(concise);
    expect((await cli(root, "run", "small-matter", "--agent", "ralph")).code).toBe(0);
    await here.server.close();
    const research = join(root, "researches/small-matter");
    const [paper] = stateOf(root).papers_pool;
    const config = JSON.parse(readFileSync(join(root, "ralph.config.json"), "utf8")) as object;
    const arxiv = createServer((_request, response) => response.writeHead(503).end());
    await new Promise<void>((resolve) => arxiv.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(arxiv.address() as AddressInfo).port}`;
    const sources = Object.fromEntries(
      ["arxiv", "openalex", "semantic_scholar"].map((name) => [name, { endpoint, interval_ms: 20 }]),
    );
    writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ ...config, sources }));
    const calls = [
      { name: "outline", input: { id: paper?.id } },
      { name: "find_quote", input: { id: paper?.id, quote: facts[0] } },
      { name: "search_papers", input: { query: "small matter" } },
      { name: "fetch_url", input: { url: "http://127.0.0.1:8080/page" } },
    ];
    here.server = await startFakeLlm(
      ({ results }) => (results.length === 0 ? { tools: calls } : { text: JSON.stringify(results) }),
      { countsAll: true },
    );
    const env = { HOME: join(here.folder, "home"), PATH: process.env["PATH"], RESEARCH_RALPH_TRUST: "true" };
    const serve = toolsOf([research], await resolveConfig({ env, cwd: root }), env);
    const names = ["outline", "find_quote", "search_papers"];
    const access = { web: true, read: false, everything: false, tools: serve(names) };
    const { events, last } = await briefed(root, access);
    arxiv.close();
    arxiv.closeAllConnections();
    expect(last).toMatchObject({ type: "end" });
    const [outline = "", quote = "", search = "", page = ""] = JSON.parse(
      (last as { message?: string }).message ?? "[]",
    ) as string[];
    expect(JSON.parse(outline)).toMatchObject({ success: true });
    expect(JSON.parse(quote)).toMatchObject({ success: true, content: expect.stringContaining("87.5 percent") });
    // Nobody answered of all who were asked.
    expect(JSON.parse(search)).toMatchObject({ code: "RESEARCH_ERROR_UNANSWERED" });
    expect(JSON.parse(page)).toMatchObject({ code: "NETWORK_ERROR_BLOCKED" });
    expect(readdirSync(join(here.folder, "state/hosts")).length).toBeGreaterThan(0);
    expect(events).toContainEqual(expect.objectContaining({ type: "tool", name: "outline" }));
  });
});

describe.skipIf(noBubblewrap !== undefined)(`in bubblewrap${skippedFor(noBubblewrap)}`, () => {
  test("its key stays outside, and goes with its requests all the same", async () => {
    const key = "sk-kept-outside-0123456789";
    here.server = await startFakeLlm(concise, { countsAll: true });
    const home = join(here.folder, "home");
    mkdirSync(home);
    const args = ["--api-url", `${here.server.url}/v1/chat/completions`, "--model", "gpt-4o-mini"];
    const root = await smallProject(here.folder, { ralph: { args, env: { HOME: home, OPENAI_API_KEY: key } } });
    const { code, err } = await cli(root, "run", "small-matter", "--agent", "ralph", "--sandbox", "bubblewrap");
    expect(code, err).toBe(0);
    expect(here.server.requests.length).toBeGreaterThanOrEqual(5);
    for (const { headers } of here.server.requests) expect(headers["authorization"]).toBe(`Bearer ${key}`);
  });

  test.each<[string, (url: string) => { env?: Record<string, string>; mine?: object; folder?: object }]>([
    ["the user's file", (url) => ({ mine: { api_url: `${url}/v1/chat/completions`, model: "qwen3" } })],
    ["the folder's file", (url) => ({ folder: { api_url: `${url}/v1/chat/completions`, model: "qwen3" } })],
    ["OLLAMA_HOST", (url) => ({ env: { OLLAMA_HOST: url } })],
    ["ANTHROPIC_BASE_URL", (url) => ({ env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: "gk-0123456789" } })],
  ])("a local model that %s names is reached", async (_, named) => {
    here.server = await startFakeLlm(concise, { countsAll: true });
    const { env = {}, mine, folder } = named(here.server.url);
    const root = await smallProject(here.folder, {});
    const home = join(here.folder, "home");
    mkdirSync(join(home, ".local/ralph"), { recursive: true });
    if (mine !== undefined) writeFileSync(join(home, ".local/ralph/config.json"), JSON.stringify(mine));
    const path = join(root, "ralph.config.json");
    if (folder !== undefined)
      writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, "utf8")) as object), ...folder }));
    const args = [
      "run",
      "small-matter",
      "--agent",
      "ralph",
      "--model",
      "gpt-4o-mini",
      "-i",
      "1",
      "--sandbox",
      "bubblewrap",
    ];
    const cliFile = join(here.built, "dist", "cli.js");
    const { err } = await run(process.execPath, [cliFile, ...args], root, { HOME: home, ...env });
    expect(here.server.requests.length, err).toBeGreaterThanOrEqual(1);
    const [first] = here.server.requests;
    expect(JSON.stringify(first?.headers)).not.toContain("kept-outside");
    if ("ANTHROPIC_AUTH_TOKEN" in env) expect(first?.headers["authorization"]).toBe("Bearer gk-0123456789");
    expect(ledgerOf(root).at(-1)).toMatchObject({ outcome: "accepted", confinement: "sandbox" });
  });

  test("a paper too long for its brief is read with the tools of a server that runs outside", async () => {
    const trial = (index: number) => `In trial ${index} the left gripper held ${(index * 13) % 997} of 1000 objects.`;
    const quotes = [7, 2500, 3900].map(trial);
    const root = await prepared((request) =>
      request.results.length === 0
        ? {
            tools: [
              { name: "read_section", input: { section: /^(@\d+): /m.exec(request.user)?.[1] } },
              { name: "find_quote", input: { quote: quotes[1] } },
              { name: "find_quote", input: {} },
            ],
          }
        : { text: JSON.stringify(reading("trials", { evidence: quotes.map((quote) => ({ claim: "Held.", quote })) })) },
    );
    const path = join(here.folder, "trials.md");
    const series = Array.from({ length: 10 }, (_, part) => {
      const sentences = Array.from({ length: 700 }, (__, each) => trial(part * 700 + each));
      return `## ${part + 1} Series\n\n${sentences.join(" ")}\n`;
    });
    writeFileSync(path, `# On trials\n\n${series.join("\n")}`);
    const state = join(root, "researches/small-matter/rrd.json");
    const pool = [{ ...paper("trials", { url: pathToFileURL(path).href }) }];
    writeFileSync(state, JSON.stringify({ ...stateOf(root), phase: "ANALYSIS", papers_pool: pool }));
    const { err } = await cli(root, "run", "small-matter", "--agent", "ralph", "-i", "1", "--sandbox", "bubblewrap");
    const results = here.server.requests
      .at(-1)
      ?.body["messages"].flatMap(({ role, content }: Said) => (role === "tool" ? [JSON.parse(content) as object] : []));
    expect(results, err).toMatchObject([
      { success: true, content: expect.stringContaining(trial(7)) },
      { success: true, content: expect.stringContaining("Found at") },
      { success: false, code: "TOOL_ERROR_INVALID_ARGUMENTS" },
    ]);
    expect(ledgerOf(root).at(-1)).toMatchObject({ outcome: "accepted", confinement: "sandbox" });
    expect(stateOf(root).papers_pool[0]?.analysis?.evidence?.map(({ status }) => status)).toEqual(
      quotes.map(() => "verified"),
    );
  });

  test("its environment names no key of any maker", () => {
    const keys = { OPENAI_API_KEY: "sk-1234567", ANTHROPIC_API_KEY: "sk-ant-1234567", GEMINI_API_KEY: "g-1234567" };
    const { env, keys: routes } = ralph.processAccess(
      { name: "ralph", options: {}, settings: { env: keys, cwd: here.folder, agents: {} } as never },
      { web: true, read: true, everything: false },
    );
    here.server = { close: async () => undefined } as unknown as FakeLlm;
    for (const [name, secret] of Object.entries(keys)) {
      expect(env[name]).toBe("kept-outside-the-sandbox");
      expect(JSON.stringify(env)).not.toContain(secret);
      expect(JSON.stringify(routes)).toContain(secret);
    }
  });
});

const stdinOf = (text: string): Readable => Readable.from([Buffer.from(text)]);

describe("what confines the agent ralph", () => {
  // Node follows a link that leads out of what it may read: the tools ask for real paths, and nothing here makes links.
  const tries = {
    "read a file outside": "fs.readFileSync(process.env.SECRET, 'utf8')",
    "read its own environment": "fs.readFileSync('/proc/self/environ', 'utf8')",
    "list a folder outside": "fs.readdirSync(require('path').dirname(process.env.SECRET))",
    "write outside": "fs.writeFileSync(process.env.SECRET + '.new', 'x')",
    "make a link in the workspace": "fs.symlinkSync(process.env.SECRET, 'another')",
    "start a program": "require('child_process').execFileSync('true')",
    "start a worker": "new (require('worker_threads').Worker)('1', { eval: true })",
    "load native code": "process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6')",
  };

  test.each(Object.entries(tries))("it can't %s", (_, code) => {
    const workspace = join(here.folder, "workspace");
    const outside = join(here.folder, "outside");
    mkdirSync(workspace);
    mkdirSync(outside);
    const secret = join(outside, "secret.txt");
    writeFileSync(secret, "planted secret");
    const probe = join(workspace, "probe.cjs");
    writeFileSync(
      probe,
      `const fs = require("fs"); try { console.log("DONE", String(${code})); } catch (error) { console.log(error.code); }`,
    );
    const invocation = ralph.invoke(
      { iteration: 1, text: "", tokens: 0, workspace, access: { web: false, read: true, everything: false } },
      {
        name: "ralph",
        options: {},
        settings: {
          iterationMs: 60_000,
          idleMs: 0,
          unconfined: false,
          classic: false,
          stateDir: here.folder,
          exec: runProcess,
          transcript: () => undefined,
          adapters: [],
          secrets: [],
          agents: {},
          cwd: here.folder,
          env: { HOME: join(here.folder, "home"), PATH: process.env["PATH"], RESEARCH_RALPH_TRUST: "true" },
        },
      },
    );
    if ("kind" in invocation) throw new Error(invocation.message);
    const flags = invocation.args.slice(
      0,
      invocation.args.findIndex((arg) => arg.endsWith("ralph.js")),
    );
    const { stdout, stderr } = spawnSync(invocation.command, [...flags, probe], {
      cwd: workspace,
      env: { PATH: process.env["PATH"], SECRET: secret },
      encoding: "utf8",
    });
    expect(`${stdout}${stderr}`).not.toContain("planted secret");
    expect(stdout, stderr).not.toContain("DONE");
    expect(existsSync(`${secret}.new`)).toBe(false);
  });
});
