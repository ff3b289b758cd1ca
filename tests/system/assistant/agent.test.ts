import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { main as assistant } from "../../../src/assistant/main.js";
import { configKeys } from "../../../src/compose/config.js";
import { main } from "../../../src/commands/main.js";
import { ralph } from "../../../src/engine/agents/ralph.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { runProcess } from "../../../src/engine/process/run-process.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { type Answer, type FakeLlm, type ModelRequest, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { run, sharedPackage } from "../../support/built.js";
import { ioIn } from "../../support/in-process.js";
import { concise, facts, smallProject } from "../../support/small-project.js";

let built: string;
let folder: string;
let server: FakeLlm;
beforeAll(async () => {
  built = await sharedPackage();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "assistant-"));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A project whose agent `ralph` asks the scripted server, as a user configures it. */
async function prepared(answer: (request: ModelRequest) => Answer, path = "/v1/chat/completions"): Promise<string> {
  server = await startFakeLlm(answer, { countsAll: true });
  const home = join(folder, "home");
  mkdirSync(home);
  const args = ["--api-url", `${server.url}${path}`, "--model", "gpt-4o-mini"];
  return await smallProject(folder, { ralph: { args, env: { HOME: home, OPENAI_API_KEY: "dummy-key-of-a-test" } } });
}

const cli = (root: string, ...args: string[]) => run(process.execPath, [join(built, "dist", "cli.js"), ...args], root);
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
    expect(server.requests).toHaveLength(5);
    for (const { body } of server.requests) {
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
    expect(server.requests).toHaveLength(1);
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
    server = await startFakeLlm(concise, { countsAll: true });
    const { url } = server;
    const home = join(folder, "home");
    mkdirSync(home);
    const args = ["--api-url", address, "--model", model];
    const root = await smallProject(folder, { ralph: { args } });
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
            { version: "0.0.0", keys: configKeys },
            { fetch },
          );
          yield* inner.out().trimEnd().split("\n");
          return { cause: "exited", exitCode, stderr: inner.err() };
        },
      },
    );
    expect(await main(["run", "small-matter", "--agent", "ralph"], io, "0.0.0"), io.err()).toBe(0);
    expect(stateOf(root).phase).toBe("COMPLETE");
    expect(server.requests).toHaveLength(5);
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
    const workspace = join(folder, "workspace");
    const outside = join(folder, "outside");
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
          stateDir: folder,
          exec: runProcess,
          transcript: () => undefined,
          agents: {},
          cwd: folder,
          env: { HOME: join(folder, "home"), PATH: process.env["PATH"] },
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
