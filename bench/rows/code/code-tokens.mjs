import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { ofEachCli, settings } from "../../agent-clis.mjs";
import { cli, inFolder, mustRun, thousands } from "../../measure.mjs";

const files = 20;
const mend = "sed -i 's/i < b/i <= b/' src/m0.mjs";

export const row = {
  name: "code-tokens",
  what: `input tokens of a repair (o200k_base) in a project of ${files} files of 4 KB: by roles, compared with one agent of a task that looks at two files, mends one and runs the tests, on the same scripted model`,
  hold: "stated, also where roles cost more",
  command: "research-ralph code; research-ralph task 'Make all tests pass' --tests",
  run: async () => ({
    ours: await ofEachCli(async ({ agent, program, startFakeLlm }) => {
      const tokens = (words) => inFolder((cwd) => repaired(cwd, { agent, program, startFakeLlm, words }));
      const [roles, one] = [await tokens(["code"]), await tokens(["task", "Make all tests pass", "--tests"])];
      return `${agent}: ${thousands(roles)} by roles, ${thousands(one)} by one agent`;
    }),
  }),
};

/** Tokens of the bodies of all requests of a run, which must be complete. */
async function repaired(cwd, { agent, program, startFakeLlm, words }) {
  const server = await startFakeLlm(play);
  try {
    const folder = join(cwd, "project");
    project(folder);
    const agents = { [agent]: { ...(agent !== "ralph" && { command: program }), ...settings(agent, server, cwd) } };
    writeFileSync(join(folder, "ralph.config.json"), JSON.stringify({ agents }));
    const env = { ...process.env, HOME: cwd, XDG_STATE_HOME: join(cwd, "state") };
    await mustRun(process.execPath, [cli, ...words, "--agent", agent, "--sandbox", "bubblewrap"], { cwd: folder, env });
    return server.requests.reduce((sum, { body }) => sum + countTokens(JSON.stringify(body)), 0);
  } finally {
    await server.close();
  }
}

/** The model in every role; without one it looks around first, as an agent does that is told nothing. */
function play({ api, user, results }) {
  const answers = {
    librarian: { cause: "off by one", files: [{ path: "src/m0.mjs" }], plan: ["use <="] },
    critic: { decision: "approve", findings: [] },
    adversary: { tests: [], findings: [] },
    artisan: { hypothesis: "off by one", action_taken: "used <=" },
  };
  const role = /# Your role: (\w+)/.exec(user)?.[1];
  const steps = role === undefined ? ["ls", "cat test/m0.test.mjs", "cat src/m0.mjs", mend, "node --test"] : [mend];
  const next = role === undefined || role === "artisan" ? steps[results.length] : undefined;
  if (next === undefined) return { text: role === undefined ? "I mended it." : JSON.stringify(answers[role]) };
  const calls = {
    anthropic: { name: "Bash", input: { command: next } },
    responses: { name: "exec_command", input: { cmd: next } },
    chat: { name: "shell_execute", input: { command: next } },
  };
  return { text: "Working.", tools: [calls[api]] };
}

function project(folder) {
  for (const name of ["src", "test"]) mkdirSync(join(folder, name), { recursive: true });
  const scripts = { test: "node --test" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", scripts }));
  const filler = Array.from({ length: 40 }, (_, at) => `export const name${at} = (value) => value.total + ${at};`);
  for (let at = 0; at < files; at += 1) {
    const other = at === 0 ? [] : [`import { range } from "./m${Math.floor((at - 1) / 3)}.mjs";`, "export { range };"];
    const own =
      at === 0
        ? [
            "export function range(a, b) {\n  const out = [];\n  for (let i = a; i < b; i++) out.push(i);\n  return out;\n}",
          ]
        : [];
    writeFileSync(
      join(folder, `src/m${at}.mjs`),
      [...other, ...own, ...filler, ...filler.map((line) => `// ${line}`), ""].join("\n"),
    );
  }
  writeFileSync(
    join(folder, "test/m0.test.mjs"),
    'import assert from "node:assert";\nimport { test } from "node:test";\nimport { range } from "../src/m0.mjs";\ntest("both ends", () => assert.deepEqual(range(1, 3), [1, 2, 3]));\n',
  );
  execFileSync("git", ["init", "-q", folder]);
}
