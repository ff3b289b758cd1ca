// Real agent CLIs that talk to the scripted model server of the tests.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { cli, inFolder, mustRun, root } from "./measure.mjs";

/** The research of a bench, in the folder it runs in. */
export const folder = "researches/bench-2025-01-01";

/**
 * What `measure` finds of each CLI, on one line. It is given the agent's name, its program and what starts a scripted
 * model server.
 */
export async function ofEachCli(measure) {
  const { startFakeLlm } = await modelServer();
  const found = [];
  for (const agent of ["claude", "codex", "ralph"]) {
    // The assistant of this package needs no CLI.
    const program = agent === "ralph" ? cli : installedCli(agent);
    found.push(
      program === undefined
        ? `${agent}: not measured, 'npm run test:e2e' installs it`
        : await measure({ agent, program, startFakeLlm }),
    );
  }
  return found.join("; ");
}

/**
 * Tokens (o200k) of the bodies of all requests of one iteration, which must be accepted. `config`: further settings of
 * ralph.config.json.
 */
export async function tokensOfIteration(cwd, { agent, program, server, config = {} }) {
  const agents = { [agent]: { ...(agent !== "ralph" && { command: program }), ...settings(agent, server, cwd) } };
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ git: false, agents, ...config }));
  const env = { ...process.env, HOME: cwd, XDG_STATE_HOME: join(cwd, "state") };
  await mustRun(process.execPath, [cli, "run", folder, "--agent", agent, "-i", "1"], { cwd, env }, [3]);
  const lines = readFileSync(join(cwd, folder, "ledger.jsonl"), "utf8")
    .trim()
    .split("\n");
  const last = JSON.parse(lines.at(-1));
  if (last.outcome !== "accepted") throw new Error(`${agent}: ${last.outcome}, ${last.reasons?.[0]}`);
  return server.requests.reduce((sum, { body }) => sum + countTokens(JSON.stringify(body)), 0);
}

/** Where the end-to-end tests have installed a CLI; undefined where they have not. */
function installedCli(agent) {
  const program = join(root, ".e2e/clis/node_modules/.bin", agent);
  return existsSync(program) ? program : undefined;
}

/** The scripted model server of the tests is TypeScript, which Node 20 does not read. */
async function modelServer() {
  return await inFolder(async (out) => {
    writeFileSync(join(out, "package.json"), '{ "type": "module" }');
    const options = [
      "--outDir",
      out,
      "--module",
      "nodenext",
      "--target",
      "es2023",
      "--skipLibCheck",
      "--types",
      "node",
      "--ignoreConfig",
    ];
    await mustRun(
      process.execPath,
      ["node_modules/typescript/bin/tsc", ...options, "tests/fixtures/fake-llm/server.ts"],
      { cwd: root },
    );
    return await import(pathToFileURL(join(out, "server.js")).href);
  });
}

/** What makes the CLI talk to the scripted server, without any login. */
export function settings(agent, { url }, home) {
  if (agent === "claude") {
    return {
      env: {
        HOME: home,
        CLAUDE_CONFIG_DIR: join(home, ".claude"),
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "dummy",
      },
    };
  }
  if (agent === "ralph") {
    const args = ["--api-url", `${url}/v1/chat/completions`, "--model", "gpt-5.5"];
    return { args, env: { HOME: home, OPENAI_API_KEY: "dummy" } };
  }
  const provider = ['name="fake"', `base_url="${url}/v1"`, 'env_key="FAKE_KEY"', 'wire_api="responses"'].map(
    (setting) => `model_providers.fake.${setting}`,
  );
  const args = ['model_provider="fake"', 'model="gpt-5.5"', ...provider].flatMap((setting) => ["-c", setting]);
  return { args, env: { HOME: home, FAKE_KEY: "dummy" } };
}
