import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ToolCall } from "../../fixtures/fake-llm/said.js";
import { type Answer, type ModelRequest, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { besideModel } from "../../support/network/beside-model.js";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { run } from "../../support/processes/built.js";

const here = besideModel("work");
const root = () => join(here.folder, "repo");
const home = () => join(here.folder, "home");
const file = (name: string) => readFileSync(join(root(), name), "utf8");

/** Runs a command with the agent `ralph`, whose scripted model a settings file of the user's names. */
async function worked(answer: (request: ModelRequest) => Answer, files: Record<string, string>, args: string[]) {
  here.server = await startFakeLlm(answer, { countsAll: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root(), name, ".."), { recursive: true });
    writeFileSync(join(root(), name), text);
  }
  mkdirSync(join(home(), ".local/ralph"), { recursive: true });
  const api_url = `${here.server.url}/v1/chat/completions`;
  writeFileSync(
    join(home(), ".local/ralph/config.json"),
    JSON.stringify({ api_url, model: "qwen3", context_window: 60_000, state_dir: join(here.folder, "state") }),
    { mode: 0o600 },
  );
  execFileSync("git", ["init", "-q", root()]);
  const [command = "", ...more] = args;
  const all = [join(here.built, "dist/cli.js"), command, "--agent", "ralph", ...more];
  return await run(process.execPath, all, root(), { HOME: home() });
}

/** A model that makes these calls in turn, and then says that it is done. */
const calling =
  (...calls: readonly ToolCall[]) =>
  ({ results }: ModelRequest): Answer => {
    const call = calls[results.length];
    return call === undefined ? { text: "I did it." } : { text: "Working.", tools: [call] };
  };
const shell = (command: string): ToolCall => ({ name: "shell_execute", input: { command } });
const results = () => (here.server.requests.at(-1)?.results ?? []).map((text) => JSON.parse(text) as object);

/** The task of the specification, byte for byte. */
const specification = `{
	"task": "Create a hello.txt file with content 'Hello from Ralph'",
	"acceptance_criteria": [
		{
			"type": "file_exists",
			"path": "/home/daytona/hello.txt"
		}
	],
	"max_iterations": 3,
	"budget": {
		"max_tokens": 10000
	}
}
`;

const project = {
  "package.json": '{ "private": true, "type": "module", "scripts": { "test": "node --test" } }',
  "src/range.mjs":
    "export function range(a, b) {\n  const out = [];\n  for (let i = a; i < b; i++) out.push(i);\n  return out;\n}\n",
  "test/range.test.mjs":
    'import assert from "node:assert";\nimport { test } from "node:test";\nimport { range } from "../src/range.mjs";\ntest("both ends", () => assert.deepEqual(range(1, 3), [1, 2, 3]));\n',
};

/** Looks at the test and the source, mends it and runs the tests. */
const mending = [
  { name: "file_read", input: { file_path: "src/range.mjs" } },
  {
    name: "file_delta",
    input: { file_path: "src/range.mjs", operations: [{ type: "replace", old_text: "i < b", content: "i <= b" }] },
  },
  shell("node --test"),
];

describe.skipIf(noBubblewrap !== undefined)(`the agent ralph in bubblewrap${skippedFor(noBubblewrap)}`, () => {
  it("passes the task of the specification", async () => {
    const model = calling(shell("mkdir -p /home/daytona && printf 'Hello from Ralph' > /home/daytona/hello.txt"));
    const { code, err } = await worked(model, { "ralph.json": specification }, ["task", "--sandbox", "bubblewrap"]);
    expect(code, err).toBe(0);
    expect(here.server.requests).toHaveLength(2);
  });

  it("mends a failing test with its tools, and runs it", async () => {
    const words = ["task", "Make all tests pass", "--tests", "--sandbox", "bubblewrap"];
    const files = { ...project, "CLAUDE.md": "Indent by two." };
    const { code, err, out } = await worked(calling(...mending), files, words);
    expect(here.server.requests[0]?.user).toContain('<instructions file="CLAUDE.md">\nIndent by two.\n');
    expect(results(), out).toMatchObject([
      { success: true },
      { success: true },
      { success: true, stdout: expect.stringContaining("pass 1") },
    ]);
    expect(code, err).toBe(0);
    expect(file("src/range.mjs")).toContain("i <= b");
  });

  it("repairs in every role of a team", async () => {
    const answers: Readonly<Record<string, object>> = {
      librarian: { cause: "off by one", files: [{ path: "src/range.mjs" }], plan: ["use <="] },
      critic: { decision: "approve", findings: [] },
      adversary: { tests: [], findings: [] },
      artisan: { hypothesis: "off by one", action_taken: "used <=" },
    };
    const play = (request: ModelRequest): Answer => {
      const role = /# Your role: (\w+)/.exec(request.user)?.[1] ?? "";
      const said = role === "artisan" ? calling(...mending)(request) : undefined;
      return said !== undefined && typeof said === "object" && "tools" in said
        ? said
        : { text: JSON.stringify(answers[role]) };
    };
    const files = { ...project, "AGENTS.md": "Indent by two." };
    const { code, err } = await worked(play, files, ["code", "--sandbox", "bubblewrap"]);
    expect(code, err).toBe(0);
    for (const { user } of here.server.requests) expect(user.match(/Indent by two\./g)).toHaveLength(1);
    // That of each role reaches the model.
    for (const { body } of here.server.requests) expect(body["temperature"]).toBeTypeOf("number");
    expect(file("src/range.mjs")).toContain("i <= b");
  });

  it("can neither see nor change what lies outside of the project", async () => {
    const secret = join(here.folder, "secret.txt");
    writeFileSync(secret, "kept");
    const model = calling(
      shell(`echo > ${secret}.new; cat ${secret}`),
      { name: "file_write", input: { file_path: "../out.txt", content: "x" } },
      { name: "file_write", input: { file_path: "in.txt", content: "x" } },
    );
    const task = { task: "x", acceptance_criteria: [{ type: "file_exists", path: "in.txt" }], max_iterations: 1 };
    const { code, err } = await worked(model, { "ralph.json": JSON.stringify(task) }, [
      "task",
      "--sandbox",
      "bubblewrap",
    ]);
    expect(code, err).toBe(0);
    expect(readFileSync(secret, "utf8")).toBe("kept");
    expect(results()).toMatchObject([
      { success: false },
      { code: "FILE_ERROR_INVALID_PATH" },
      { success: true, created: true },
    ]);
    expect(readdirSync(here.folder)).not.toContain("out.txt");
  });
});

describe("the agent ralph without a sandbox", () => {
  const task = JSON.stringify({
    task: "x",
    acceptance_criteria: [{ type: "file_exists", path: "a.txt" }],
    max_iterations: 1,
  });

  it("works on no files before its user allows it", async () => {
    const { code, err } = await worked(calling(), { "ralph.json": task }, ["task", "--sandbox", "host"]);
    expect([code, here.server.requests.length]).toEqual([2, 0]);
    expect(err).toMatch(/Nothing confines the agent ralph: .*--sandbox bubblewrap.*--unconfined/);
  });

  it("works with --unconfined, and says so", async () => {
    const args = ["task", "--sandbox", "host", "--unconfined"];
    const { code, err, out } = await worked(calling(shell("touch a.txt")), { "ralph.json": task }, args);
    expect(code, err).toBe(0);
    expect(`${out}${err}`).toContain("ralph runs unconfined");
    expect(existsSync(join(root(), "a.txt"))).toBe(true);
  });
});
