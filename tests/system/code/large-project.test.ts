import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TaskState } from "../../../src/task/generated/ralph-state.js";
import { type Answer, type ModelRequest, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { besideModel } from "../../support/network/beside-model.js";
import { noBubblewrap } from "../../support/processes/bubblewrap.js";
import { run } from "../../support/processes/built.js";

/**
 * What somebody meets who tries a team on a project of some size with nothing but a local model: 1,400 files of which
 * one has a fault. The model is a script, but it knows nothing of the project: it finds the fault in what its roles are
 * given, and works by the tools of our own agent.
 */
const here = besideModel("large");
const root = () => join(here.folder, "project");
const path = (name: string) => join(root(), name);
const read = (name: string) => readFileSync(path(name), "utf8");
const state = (): TaskState => JSON.parse(read("ralph.state.json"));
const git = (...args: string[]) =>
  execFileSync("git", ["-C", root(), "-c", "user.name=a", "-c", "user.email=a@b", ...args], { encoding: "utf8" });

const modules = 140;
const faulty = "src/part077/steps.mjs";

/** 140 modules of ten files each; each module imports the one before it, and a test for every tenth. */
function project(): Record<string, string> {
  const files: Record<string, string> = {
    "package.json": '{ "name": "large", "private": true, "type": "module", "scripts": { "test": "node --test" } }\n',
  };
  for (let at = 0; at < modules; at += 1) {
    const name = `part${String(at).padStart(3, "0")}`;
    const before =
      at % 10 === 0 ? "" : `export * as before from "../part${String(at - 1).padStart(3, "0")}/index.mjs";\n`;
    const path = (file: string) => `src/${name}/${file}.mjs`;
    files[path("index")] = `export { steps } from "./steps.mjs";\nexport { total } from "./total.mjs";\n${before}`;
    files[path("steps")] =
      `/** The numbers from one up to the last. */\nexport function steps(last) {\n  const all = [];\n  for (let n = 1; n <= last; n += 1) all.push(n);\n  return all;\n}\n`;
    files[path("total")] =
      'import { steps } from "./steps.mjs";\n\nexport const total = (last) => steps(last).reduce((sum, n) => sum + n, 0);\n';
    for (let more = 1; more <= 7; more += 1)
      files[path(`constant${more}`)] =
        `/** Number ${more} of ${name}. */\nexport const constant = ${at * 10 + more};\n`;
  }
  for (let at = 9; at < modules; at += 10) {
    const chain = Array.from({ length: 10 }, (_, back) => `part${"it.before".slice(2).repeat(back)}`);
    files[`test/part${String(at).padStart(3, "0")}.test.mjs`] =
      `import assert from "node:assert";\nimport { test } from "node:test";\nimport * as part from "../src/part${String(at).padStart(3, "0")}/index.mjs";\n` +
      chain.map((each, back) => `test("total ${at - back}", () => assert.equal(${each}.total(4), 10));\n`).join("");
  }
  return files;
}

const fault = { right: "n <= last", wrong: "n < last" };

/** A model without knowledge of the project: it answers each role by what stands in its brief. */
function model({ user, results }: ModelRequest): Answer {
  const role = /# Your role: (\w+)/.exec(user)?.[1];
  if (role === "librarian") {
    // The files that it is shown, in their order; the first with a loop that ends too early is the cause.
    const shown = user.split(/^## /m).find((each) => each.startsWith("src/") && each.includes(fault.wrong));
    const found = shown?.split(" ")[0] ?? "not shown";
    return said({ cause: `${found} leaves the last number out`, files: [{ path: found }], plan: ["Use <=."] });
  }
  if (role === "artisan") {
    const named = /src\/part\d+\/steps\.mjs/.exec(user)?.[0] ?? "";
    const calls = [
      { name: "file_read", input: { file_path: named } },
      {
        name: "file_delta",
        input: { file_path: named, operations: [{ type: "replace", old_text: fault.wrong, content: fault.right }] },
      },
      { name: "shell_execute", input: { command: "node --test 2>&1 | tail -9" } },
    ];
    const call = calls[results.length];
    return call === undefined
      ? said({ hypothesis: "the last number was left out", action_taken: "compared with <=" })
      : { text: "Working.", tools: [call] };
  }
  if (role === "critic") return said({ decision: "approve", findings: [] });
  return said({ tests: [], findings: [] });
}
const said = (answer: object): Answer => ({ text: JSON.stringify(answer) });

const ways = [
  { title: "in bubblewrap", args: ["--sandbox", "bubblewrap"], isHere: noBubblewrap === undefined },
  { title: "without a sandbox", args: ["--sandbox", "host", "--unconfined"], isHere: true },
];

describe("a team in a project of 1,400 files, with a local model alone", () => {
  it.each(ways.filter(({ isHere }) => isHere))(
    "mends the fault $title, undoes it, and mends it again",
    async ({ args }) => {
      here.server = await startFakeLlm(model, { countsAll: true });
      const files = project();
      expect(Object.keys(files).length).toBeGreaterThan(1_400);
      files[faulty] = (files[faulty] ?? "").replace(fault.right, fault.wrong);
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(path(name)), { recursive: true });
        writeFileSync(path(name), text);
      }
      git("init", "-q");
      git("add", "--all");
      git("commit", "-qm", "first");
      const program = join(here.built, "dist/cli.js");
      const env = { HOME: join(here.folder, "home"), OLLAMA_HOST: `127.0.0.1:${here.server.port}` };
      const start = (...words: string[]) => run(process.execPath, [program, ...words], root(), env);
      const words = [
        "task",
        "Make all tests pass",
        "--tests",
        "--team",
        "--agent",
        "ralph",
        "--model",
        "qwen3",
        ...args,
      ];

      const first = await start(...words);
      expect(first.code, first.err).toBe(0);
      expect(git("diff", "--name-only").trim()).toBe(faulty);
      expect(read(faulty)).toContain(fault.right);
      // Of 1,400 files the librarian was shown what stands around the failure.
      const [asked] = here.server.requests;
      expect(asked?.user.length).toBeLessThan(200_000);
      expect(asked?.user).toContain(`## ${faulty} `);
      const [, , , tested] = here.server.requests.filter(({ user }) => user.includes("role: artisan"));
      expect(tested?.results.at(-1)).toContain("fail 0");

      const undo = /task --undo (\d+)/.exec(first.err)?.[1] ?? "";
      const undone = await start("task", "--undo", undo);
      expect(undone.code, undone.err).toBe(0);
      expect(git("status", "--porcelain").trim()).toBe("");
      expect(read(faulty)).toContain(fault.wrong);

      const count = here.server.requests.length;
      const again = await start(...words);
      expect(again.code, again.err).toBe(0);
      expect(read(faulty)).toContain(fault.right);
      expect(state().rounds?.at(-1)?.tests).toMatchObject({ failing: 0, passed: modules });
      // The same fault again: what mended it stands in the brief.
      const fixes = "# Fixes that helped against errors like these";
      expect(asked?.user).not.toContain(fixes);
      expect(here.server.requests[count]?.user).toMatch(new RegExp(`${fixes}[^#]*${faulty}#steps`));
    },
  );
});
