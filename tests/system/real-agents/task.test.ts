import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findBubblewrap } from "../../../src/engine/sandbox/bubblewrap.js";
import { run } from "../../support/processes/built.js";
import { type Answer, type Cli, type ModelRequest, optionsFor, startFakeLlm, writeCall } from "./support/agents.js";
import { freePort } from "../../support/network/free-port.js";
import { installed } from "./support/install.js";

const port = await freePort();
import { besideModel } from "../../support/network/beside-model.js";

const here = besideModel("task");

/** A repository with this task, and both CLIs configured to talk to the scripted server. */
function prepare(task: object): string {
  const root = join(here.folder, "repo");
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "ralph.json"), JSON.stringify(task));
  execFileSync("git", ["init", "-q", root]);
  return root;
}

async function runTask(cli: Cli, root: string, ...args: string[]) {
  const home = join(here.folder, "home");
  mkdirSync(join(home, ".local", "ralph"), { recursive: true });
  const agents = { [cli]: optionsFor(cli, here.server, home) };
  writeFileSync(
    join(home, ".local", "ralph", "config.json"),
    JSON.stringify({ agents, state_dir: join(here.folder, "state") }),
  );
  const program = [join(here.built, "dist/cli.js"), "task", "--agent", cli, "--json", ...args];
  const { code, out, err } = await run(process.execPath, program, root, { HOME: home });
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { code, err, last: lines.at(-1), lines };
}

/** A model that writes these files in turn, one for each iteration: it knows its iteration by the attempts left. */
const writing =
  (cli: Cli, root: string, ...files: readonly (readonly [path: string, content: string])[]) =>
  ({ results, user }: ModelRequest): Answer => {
    const left = Number(/one of at most (\d+) further/.exec(user)?.[1]);
    const [path, content] = files[3 - left] ?? ["", ""];
    return results.length === 0 && path !== ""
      ? { text: "Working.", tools: [writeCall(cli, root, path, content)] }
      : { text: "I wrote the file." };
  };

const task = (path: string, more: object[] = []) => ({
  task: "Create a hello.txt file with content 'Hello from Ralph'",
  acceptance_criteria: [{ type: "file_exists", path }, ...more],
  max_iterations: 3,
  budget: { max_tokens: 10_000 },
});

for (const cli of ["claude", "codex"] as const) {
  const found = installed(cli);
  const reason = "problem" in found ? ` (skipped: ${found.problem})` : "";
  describe.skipIf("problem" in found)(`a task with the real ${cli} on the host${reason}`, () => {
    it("is complete in one iteration", async () => {
      const root = join(here.folder, "repo");
      here.server = await startFakeLlm((request) => writing(cli, root, ["hello.txt", "Hello from Ralph"])(request));
      prepare(task(join(root, "hello.txt")));
      const { code, last, err } = await runTask(cli, root, "--sandbox", "host");
      expect(err).toBe("");
      expect(last).toMatchObject({ status: "success", verdict: "complete", iterations: 1 });
      expect(code).toBe(0);
      expect(readFileSync(join(root, "hello.txt"), "utf8").trim()).toBe("Hello from Ralph");
      const status = execFileSync("git", ["-C", root, "status", "--short"], { encoding: "utf8" });
      expect(status.trim().split("\n").toSorted()).toEqual(["?? hello.txt", "?? ralph.json"]);
    });

    it("ends with the budget where both budget and iterations are used up, and checks its criteria all the same", async () => {
      const root = join(here.folder, "repo");
      here.server = await startFakeLlm(writing(cli, root, ["other.txt", "x"]));
      prepare({ ...task("hello.txt"), max_iterations: 3, budget: { max_tokens: 100 } });
      const { code, last, lines } = await runTask(cli, root, "--sandbox", "host");
      expect([code, last.status, last.cause, last.iterations]).toEqual([3, "budget_exhausted", "tokens", 1]);
      const ended = lines.findIndex(({ type }) => type === "iteration-ended");
      expect(lines.slice(0, ended).filter(({ type }) => type === "checked")).toHaveLength(2);
    });

    it("is tried again after a wrong attempt, which the brief tells of", async () => {
      const root = join(here.folder, "repo");
      const wrong = ["hello.txt", "Good bye"] as const;
      const right = ["right.txt", "Hello from Ralph"] as const;
      here.server = await startFakeLlm((request) => writing(cli, root, wrong, right)(request));
      const contains = { type: "contains_text", path: "right.txt", text: "Hello from Ralph" };
      prepare(task("hello.txt", [contains]));
      const { code, last } = await runTask(cli, root, "--sandbox", "host");
      expect(last).toMatchObject({ status: "success", iterations: 2 });
      expect(code).toBe(0);
      const second = here.server.requests.find(({ user }) => user.includes("at most 2 further"));
      expect(second?.user).toContain("There is no file right.txt.");
      expect(existsSync(join(root, ".ralph", "transcripts", "2.jsonl"))).toBe(true);
    });
  });
}

/** A model that runs this command first, then says so. */
const running =
  (cli: Cli, command: string) =>
  ({ results }: ModelRequest): Answer => {
    if (results.length > 0) return { text: "Done." };
    const call =
      cli === "claude" ? { name: "Bash", input: { command } } : { name: "exec_command", input: { cmd: command } };
    return { text: "Working.", tools: [call] };
  };

const bubblewrap = await findBubblewrap(process.env);
for (const cli of ["claude", "codex"] as const) {
  const found = installed(cli);
  const why = "problem" in found ? found.problem : "problem" in bubblewrap ? bubblewrap.problem : undefined;
  describe.skipIf(why !== undefined)(
    `a task with the real ${cli} in bubblewrap${why === undefined ? "" : ` (skipped: ${why})`}`,
    () => {
      it("is complete in one iteration, with a path that exists in the sandbox alone", async () => {
        const path = "/home/daytona/hello.txt";
        here.server = await startFakeLlm(
          running(cli, `mkdir -p /home/daytona && printf 'Hello from Ralph' > ${path} && ls -d .git > seen.txt`),
        );
        const root = prepare(task(path, [{ type: "contains_text", path, text: "Hello from Ralph" }]));
        const { code, last, err } = await runTask(cli, root, "--sandbox", "bubblewrap");
        expect(err).toBe("");
        expect(last).toMatchObject({ status: "success", verdict: "complete", iterations: 1 });
        expect(code).toBe(0);
        expect(existsSync(path)).toBe(false);
        expect(readFileSync(join(root, "seen.txt"), "utf8")).toBe(".git\n");
      });

      it("can change neither the task, its state nor git", async () => {
        const plant = [
          "echo x > ralph.json",
          "echo '{}' > ralph.state.json",
          "echo x > .git/hooks/pre-commit",
          "git config core.fsmonitor ./evil",
          "echo x > .ralph/journal/9.json",
          "echo 'hooks: []' > ralph.config.yaml",
          "echo done > done.txt",
        ].join("; ");
        here.server = await startFakeLlm(running(cli, plant));
        const root = prepare(task("done.txt"));
        const before = readFileSync(join(root, "ralph.json"), "utf8");
        const { last } = await runTask(cli, root, "--sandbox", "bubblewrap");
        expect(last).toMatchObject({ status: "success", iterations: 1 });
        expect(readFileSync(join(root, "ralph.json"), "utf8")).toBe(before);
        expect(existsSync(join(root, ".git/hooks/pre-commit"))).toBe(false);
        expect(readFileSync(join(root, ".git/config"), "utf8")).not.toContain("fsmonitor");
        expect(existsSync(join(root, ".ralph/journal/9.json"))).toBe(false);
        expect(existsSync(join(root, "ralph.config.yaml"))).toBe(false);
        expect(JSON.parse(readFileSync(join(root, "ralph.state.json"), "utf8"))).toMatchObject({ done: true });
      });
    },
  );
}

/** For each criterion: the files that are there, and the one file by which an agent meets it. */
const perCriterion: readonly {
  readonly criterion: { readonly type: string } & Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly writes: readonly [path: string, content: string];
}[] = [
  { criterion: { type: "command_succeeds", command: "grep -q yes a.txt" }, writes: ["a.txt", "yes"] },
  {
    criterion: { type: "tests_pass" },
    files: {
      "package.json": '{"private":true,"scripts":{"test":"node --test"}}',
      "a.test.mjs":
        'import assert from "node:assert";\nimport { test } from "node:test";\nimport { two } from "./two.mjs";\ntest("two", () => assert.equal(two, 2));\n',
    },
    writes: ["two.mjs", "export const two = 2;"],
  },
  { criterion: { type: "no_type_errors", command: "node --check a.mjs" }, writes: ["a.mjs", "export const a = 1;"] },
  {
    criterion: { type: "lint_clean" },
    files: { "package.json": '{"private":true,"scripts":{"lint":"node --check a.mjs"}}' },
    writes: ["a.mjs", "export const a = 1;"],
  },
  { criterion: { type: "contains_text", path: "a.txt", pattern: "^Hello", flags: "m" }, writes: ["a.txt", "Hello"] },
  { criterion: { type: "json_valid", path: "a.json" }, writes: ["a.json", '{"a": 1}'] },
  {
    criterion: { type: "http_ok", url: `http://127.0.0.1:${port}/`, start: "node server.cjs" },
    writes: ["server.cjs", `require("http").createServer((q, r) => r.end("ok")).listen(${port}, "127.0.0.1");`],
  },
  {
    criterion: {
      type: "all_of",
      criteria: [
        {
          type: "any_of",
          criteria: [
            { type: "file_exists", path: "no" },
            { type: "file_exists", path: "a.txt" },
          ],
        },
        { type: "not", criterion: { type: "file_exists", path: "b.txt" } },
      ],
    },
    writes: ["a.txt", "a"],
  },
];

const places = ["host", ...("problem" in bubblewrap ? [] : ["bubblewrap"])];
for (const cli of ["claude", "codex"] as const)
  for (const place of places)
    describe.skipIf("problem" in installed(cli))(`the real ${cli} meets each criterion, ${place}`, () => {
      it.each(perCriterion.map((each) => [each.criterion.type, each] as const))("%s", async (_, each) => {
        const root = join(here.folder, "repo");
        const [path, content] = each.writes;
        here.server = await startFakeLlm((request) => writing(cli, root, [path, content])(request));
        prepare({ task: `Meet it by ${path}`, acceptance_criteria: [each.criterion], max_iterations: 3 });
        for (const [name, text] of Object.entries(each.files ?? {})) writeFileSync(join(root, name), text);
        const { code, last } = await runTask(cli, root, "--sandbox", place);
        expect(last).toMatchObject({ status: "success", iterations: 1 });
        expect(code).toBe(0);
      });
    });
